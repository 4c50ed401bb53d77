/* too-many-partitions: so many tiny tasks that starting them costs more than their work. */
#include <math.h>

#include "rules/cases.h"
#include "rules/facts.h"
#include "rules/finding.h"

/* Starting and ending a task costs some 5-20 ms on driver and executor; below 100 ms a task that is a good part. */
#define TINY_MS 100.0
/* On a busy host, and with Python workers, the same costs 250 ms: taken for overhead only where a task reads next to
 * nothing. Of such a task at most TINY_MS count as needless. */
#define SLOW_TINY_MS    250.0
#define SLOW_TINY_BYTES (64.0 * 1024)
/* Without a shuffle to read, so many tasks that hardly use the CPU are overhead as well. */
#define MANY_TASKS 1000.0
/* Up to a few waves and some hundred tasks nothing is lost by tiny ones. */
#define TASKS_MIN 100.0
#define WAVES_MIN 4.0
/* A task should work at least for a second, or hold 64 MiB; fewer than two waves would leave slots empty at the end. */
#define TARGET_MS    1000.0
#define TARGET_BYTES (64.0 * 1024 * 1024)
#define TARGET_WAVES 2.0
/* Quiet below a second and 2 % of the application. */
#define SAVING_MIN_MS    1000.0
#define SAVING_MIN_SHARE 0.02

enum { MEDIAN_MS, OVERHEAD_SHARE, WANTED, FIXED_MS };

/* Input of many small files is the matter of small-input-files. */
static bool is_candidate(const struct pyro_app *app, const struct pyro_stage *stage)
{
    double tasks = pyro_real(stage->tasks) - pyro_real(stage->failed_tasks), bytes = pyro_stage_read_bytes(stage);
    double median = pyro_real(stage->duration_median), shuffled = pyro_real(stage->shuffle_read_bytes);
    bool computes = pyro_real(stage->cpu_ms) * 2 >= pyro_real(stage->run_ms);
    if (median >= TINY_MS && (median >= SLOW_TINY_MS || bytes / tasks >= SLOW_TINY_BYTES ||
                              (shuffled <= 0 && (computes || tasks < MANY_TASKS))))
        return false;
    return tasks >= TASKS_MIN && tasks >= WAVES_MIN * pyro_stage_slots(app, stage) && bytes / tasks < TARGET_BYTES &&
           pyro_real(stage->input_bytes) <= pyro_real(stage->shuffle_read_bytes) && stage->completed_ms != PYRO_NONE;
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double tasks = pyro_real(stage->tasks), slots = pyro_stage_slots(app, stage);
    double work = fmax(pyro_real(stage->task_ms), 1), run = pyro_real(stage->run_ms);
    double wanted = fmax(ceil(fmax(run / TARGET_MS, pyro_stage_read_bytes(stage) / TARGET_BYTES)), 1);
    wanted = fmax(wanted, ceil(TARGET_WAVES * slots));
    if (wanted >= tasks / 2)
        return;
    struct pyro_case *found = pyro_cases_add(context, cases, row);
    if (!found)
        return;
    /* What a task costs that does nothing: the fastest ones of this stage are nearly that. */
    double fixed = fmin(fmin(pyro_real(stage->duration_p25), work / tasks), TINY_MS);
    double least = fmin(pyro_real(stage->duration_min), fixed);
    double begin = (double)pyro_stage_begin(stage), end = (double)stage->completed_ms;
    double fewer = (tasks - wanted) / tasks;
    pyro_case_saves(context, found, begin, end, 1);
    /* `found` now holds the whole stage; of it the fixed cost of the tasks that are not needed goes. */
    found->low *= fewer * least * tasks / work;
    found->expected *= fewer * fixed * tasks / work;
    found->high *= fewer;
    found->value[MEDIAN_MS] = pyro_real(stage->duration_median);
    found->value[OVERHEAD_SHARE] = fmax(0, 1 - run / work);
    found->value[WANTED] = wanted;
    found->value[FIXED_MS] = fixed;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    const char *verify =
        "In the next run the median task of this stage works for a second or so, and the stage is shorter.";
    struct pyro_slice number = pyro_say(context, "%.0f", found->value[WANTED]);
    bool sql = pyro_stage_is_sql(stage);
    if (sql && stage->shuffle_read_bytes > 0 && pyro_app_spark_at_least(app, 3, 0) &&
        (!pyro_app_adaptive(app) ||
         !pyro_app_property_bool(app, "spark.sql.adaptive.coalescePartitions.enabled", true))) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding, PYRO_SLICE_LITERAL("Let adaptive execution join small shuffle partitions by itself."),
            verify);
        pyro_advice_set(context, advice, "spark.sql.adaptive.enabled", PYRO_SLICE_LITERAL("true"));
        pyro_advice_set(context, advice, "spark.sql.adaptive.coalescePartitions.enabled", PYRO_SLICE_LITERAL("true"));
    }
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "%s %s partitions instead of %lld (at least %.0f waves, and a second of work or 64 MiB each).",
                 sql ? "Use" : "Make", number.ptr, (long long)stage->partitions, TARGET_WAVES),
        verify);
    if (sql)
        pyro_advice_set(context, advice, "spark.sql.shuffle.partitions", number);
    else if (stage->shuffle_read_bytes > 0)
        pyro_advice_set(context, advice, "spark.default.parallelism", number);
    if (advice && !sql)
        advice->code =
            pyro_say(context, "rdd.coalesce(%s)  # or the numPartitions argument of the shuffle operation", number.ptr);
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_too_many_partitions);
    if (!finding)
        return;
    const double *value = found->value;
    double tasks = fmax(pyro_real(stage->tasks), 1);
    pyro_finding_at_stage(context, finding, found->stage);
    const char *more =
        found->merged > 1 ? pyro_say(context, " %zu stages of this place are like this.", found->merged).ptr : "";
    double bytes = pyro_stage_read_bytes(stage) / tasks;
    const char *reads = bytes > 0 ? pyro_say(context, ", which read %s each", pyro_say_bytes(context, bytes)).ptr : "";
    finding->cause = pyro_say(
        context, "%s: %.0f tasks of %s each (median)%s; starting and ending such a task may cost %s of that.%s",
        pyro_say_stage(context, found->stage), tasks, pyro_say_ms(context, value[MEDIAN_MS]), reads,
        pyro_say_ms(context, value[FIXED_MS]), more);
    pyro_finding_evidence(context, finding, "tasks", tasks, value[WANTED], "count");
    pyro_finding_evidence(context, finding, "median_task_ms", value[MEDIAN_MS], TARGET_MS, "ms");
    if (bytes > 0)
        pyro_finding_evidence(context, finding, "bytes_per_task", bytes, TARGET_BYTES, "bytes");
    pyro_finding_evidence(context, finding, "overhead_share", value[OVERHEAD_SHARE], (double)NAN, "share");
    pyro_finding_merged(context, finding, "stages", found->merged);
    advise(context, finding, found);
    finding->confidence *= value[MEDIAN_MS] < TINY_MS ? 0.9 : 0.75;
    pyro_finding_saves(context, finding, found->sum_low, found->sum_expected, found->sum_high);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    double least = fmax(SAVING_MIN_MS, SAVING_MIN_SHARE * pyro_app_wall(app));
    for (size_t i = 0; i < app->stages.count && !context->failed; i++)
        if (is_candidate(app, &app->stages.items[i]))
            examine(context, &cases, i);
    pyro_cases_merge(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++)
        if (cases.list.items[i].sum_expected >= least)
            report(context, &cases.list.items[i]);
    pyro_cases_done(context, &cases);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_too_many_partitions = {
    .id = "too-many-partitions",
    .category = "parallelism",
    .title = "Too many partitions",
    .summary = "So many tiny tasks that starting them costs more than their work.",
    .evaluate = evaluate,
};
