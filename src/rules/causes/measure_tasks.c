/* Symptoms in the metrics of tasks. */
#include <math.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/plans/plans.h"

#define MIB 1048576.0
/* Of a stage's time some belongs to what it computes, whatever the cost is estimated to be. */
#define MOST 0.9
/* Waits that the default would have as well. */
#define USUAL_SHARE 0.05
/* A spill writes and reads its rows again: bytes in memory for each second of a task. */
#define SPILLED_PER_SECOND (100 * MIB)
/* What a Python worker takes to start, beyond what a task with a kept one takes: as a fork of a process that has
 * imported Spark's part of Python (to call functions of SQL, and of RDDs: two programs of 120 tasks were as fast either
 * way), and without. */
#define FORK_MS     50.0
#define FORK_RDD_MS 5.0
#define START_MS    1000.0
/* Small tasks: of at most this mean, in at least this many waves. Fewer ones would work this long each; what a task
 * costs that does nothing is at most FIXED_MAX_MS. */
#define SMALL_MS     250.0
#define WAVES_MIN    4.0
#define ENOUGH_MS    1000.0
#define FIXED_MAX_MS 100.0
/* Tasks that use more than one core need more than one. */
#define ONE_CORE 1.1

static void spend(struct pyro_rule_context *context, struct pyro_measured *ret, size_t stage, double ms)
{
    ret->stage_ms[stage] += fmax(fmin(ms, MOST * pyro_real(context->app->stages.items[stage].task_ms)), 0);
}

/* ---- compression ---- */

/* Bytes that one core of a virtual machine compresses in a second, in MiB, measured with rows of texts and numbers;
 * fast machines are twice as fast. */
static double codec_speed(struct pyro_slice codec, double level)
{
    static const double zstd[] = {145, 210, 180, 145, 110, 60,  40, 34,  28,  24, 17, 13,
                                  9.6, 7,   5.5, 4.2, 3,   2.4, 2,  1.6, 1.3, 1,  0.8};
    if (pyro_slice_find(codec, "zstd") || pyro_slice_find(codec, "ZStd"))
        return level < 0 ? 300 : zstd[(size_t)fmin(level, 22)];
    return pyro_slice_find(codec, "lzf") || pyro_slice_find(codec, "LZF") ? 170 : 300;
}

/* Bytes before compression that a stage wrote: what its exchanges say, else what the files hold, twice. */
static double *raw_bytes(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const struct pyro_plans *plans = pyro_rule_plans(context);
    double *raw = pyro_arena_array(context->scratch, app->stages.count + 1, sizeof(*raw));
    context->failed |= !raw;
    if (!raw || !plans)
        return NULL;
    memset(raw, 0, (app->stages.count + 1) * sizeof(*raw));
    for (size_t q = 0; q < plans->count; q++) {
        const struct pyro_plan_tree *plan = &plans->items[q];
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct pyro_plan_op *op = &plan->ops[i];
            double bytes = pyro_op_amount(plan, i, PYRO_METRIC_DATA_SIZE);
            for (uint32_t s = 0; s < op->stage_count && op->class == PYRO_OPERATOR_SHUFFLE && !op->repeated; s++) {
                size_t stage = plan->stages[op->first_stage + s];
                if (app->stages.items[stage].shuffle_write_bytes <= 0)
                    continue;
                raw[stage] += bytes; /* the first of its stages wrote it */
                break;
            }
        }
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        double written = pyro_real(app->stages.items[i].shuffle_write_bytes);
        raw[i] = (raw[i] > 0 ? raw[i] : 2 * written) + pyro_real(app->stages.items[i].memory_spill_bytes);
    }
    return raw;
}

void pyro_measure_compression(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                              struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    struct pyro_slice codec = pyro_setting_current(app, PYRO_SLICE_LITERAL("spark.io.compression.codec"));
    double level = (double)pyro_app_property_int(app, "spark.io.compression.zstd.level", 1);
    double speed = codec_speed(codec, level), usual = codec_speed(codec, 1);
    bool is_codec = pyro_slice_is(pyro_slice_from(suspect->row->key), "spark.io.compression.codec");
    if (is_codec) /* its level is another setting */
        speed = codec_speed(codec, 1), usual = codec_speed(suspect->usual, 1);
    double *raw = speed < usual ? raw_bytes(context) : NULL;
    double all = 0;
    for (size_t i = 0; raw && i < app->stages.count; i++) {
        double ms = 1000 * raw[i] / MIB * (1 / speed - 1 / usual);
        spend(context, ret, i, fmin(ms, MOST * pyro_real(app->stages.items[i].cpu_ms)));
        all += raw[i];
    }
    if (all > 0)
        ret->found = pyro_say(context, "%s before compression", pyro_say_bytes(context, all));
}

/* ---- shuffles ---- */

void pyro_measure_shuffle_write(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                                struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (pyro_suspect_fits(context, suspect, i))
            spend(context, ret, i, pyro_real(stage->shuffle_write_ms) - USUAL_SHARE * pyro_real(stage->task_ms));
    }
}

void pyro_measure_fetch_wait(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                             struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (pyro_suspect_fits(context, suspect, i))
            spend(context, ret, i, pyro_real(stage->fetch_wait_ms) - USUAL_SHARE * pyro_real(stage->task_ms));
    }
}

void pyro_measure_shuffle_size(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    pyro_measure_shuffle_write(context, suspect, ret);
    pyro_measure_fetch_wait(context, suspect, ret);
    ret->found =
        pyro_say(context, "%s written", pyro_say_bytes(context, pyro_real(context->app->numbers.shuffle_write_bytes)));
}

/* ---- sizes of tasks ---- */

/* As in rules/catalogue/too_many_partitions.c, for stages of too few tasks for that rule: a program that runs many of
 * them waits as long. */
void pyro_measure_small_tasks(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                              struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    double all = 0, time = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double tasks = pyro_real(stage->tasks), slots = pyro_stage_slots(app, stage), work = pyro_real(stage->task_ms);
        if (tasks < WAVES_MIN * slots || work > SMALL_MS * tasks || !pyro_suspect_fits(context, suspect, i))
            continue;
        double wanted = fmax(pyro_real(stage->run_ms) / ENOUGH_MS, pyro_stage_read_bytes(stage) / (64 * MIB));
        double fixed = fmin(fmin(pyro_real(stage->duration_p25), work / tasks), FIXED_MAX_MS);
        wanted = fmax(ceil(wanted), 2 * slots);
        if (wanted > tasks / 2)
            continue;
        spend(context, ret, i, (tasks - wanted) * fixed);
        all += tasks;
        time += work;
    }
    if (all > 0)
        ret->found = pyro_say(context, "%.0f tasks of %s on average", all, pyro_say_ms(context, time / all));
}

/* ---- spills ---- */

void pyro_measure_spill(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                        struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    double all = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        double spilled = pyro_real(app->stages.items[i].memory_spill_bytes);
        if (spilled <= 0 || !pyro_suspect_fits(context, suspect, i))
            continue;
        spend(context, ret, i, 1000 * spilled / SPILLED_PER_SECOND);
        all += spilled;
    }
    if (all > 0)
        ret->found = pyro_say(context, "%s of memory spilled", pyro_say_bytes(context, all));
}

/* ---- Python ---- */

enum python { NO_PYTHON, PYTHON_FUNCTIONS, PYTHON_RDD };

static unsigned char *python_stages(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const struct pyro_plans *plans = pyro_rule_plans(context);
    unsigned char *python = pyro_arena_array(context->scratch, app->stages.count + 1, sizeof(*python));
    context->failed |= !python;
    if (!python || !plans)
        return NULL;
    memset(python, 0, (app->stages.count + 1) * sizeof(*python));
    for (size_t q = 0; q < plans->count; q++)
        for (uint32_t i = 0; i < plans->items[q].count; i++) {
            const struct pyro_plan_op *op = &plans->items[q].ops[i];
            for (uint32_t s = 0; s < op->stage_count && op->class == PYRO_OPERATOR_PYTHON; s++)
                python[plans->items[q].stages[op->first_stage + s]] = PYTHON_FUNCTIONS;
        }
    for (size_t i = 0; i < app->rdds.count; i++) {
        ptrdiff_t stage = pyro_slice_is(app->rdds.items[i].name, "PythonRDD")
                              ? pyro_app_find_stage(app, app->rdds.items[i].stage, 0)
                              : -1;
        if (stage >= 0 && python[stage] == NO_PYTHON)
            python[stage] = PYTHON_RDD;
    }
    return python;
}

void pyro_measure_python_start(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    const unsigned char *python = python_stages(context);
    bool daemon = pyro_slice_find(pyro_slice_from(suspect->row->key), ".daemon") != NULL;
    double started = 0;
    for (size_t i = 0; python && i < app->stages.count; i++) {
        double first = pyro_stage_slots(app, &app->stages.items[i]); /* these start in any case */
        double tasks = fmax(pyro_real(app->stages.items[i].tasks) - first, 0);
        double each = daemon ? START_MS : python[i] == PYTHON_RDD ? FORK_RDD_MS : FORK_MS;
        if (python[i] != NO_PYTHON)
            spend(context, ret, i, tasks * each);
        started += python[i] != NO_PYTHON ? tasks : 0;
    }
    if (started > 0)
        ret->found = pyro_say(context, "%.0f tasks started a worker that an earlier one could have left", started);
}

/* ---- cores ---- */

static bool needs_other_resources(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->properties.count; i++)
        if (pyro_slice_starts_with(app->properties.items[i].key, "spark.task.resource.") ||
            pyro_slice_starts_with(app->properties.items[i].key, "spark.rapids."))
            return true;
    return false;
}

void pyro_measure_unused_cores(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                               struct pyro_measured *ret)
{
    const struct pyro_app *app = context->app;
    const unsigned char *python = needs_other_resources(app) ? NULL : python_stages(context);
    double cpus = pyro_setting_magnitude(suspect->row, suspect->value);
    for (size_t i = 0; python && i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double slots = pyro_stage_slots(app, stage), tasks = pyro_real(stage->tasks);
        if (python[i] == NO_PYTHON && tasks > slots && pyro_real(stage->cpu_ms) <= ONE_CORE * pyro_real(stage->run_ms))
            spend(context, ret, i, pyro_real(stage->task_ms) * (1 - slots / fmin(slots * cpus, tasks)));
    }
}
