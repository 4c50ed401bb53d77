/* aqe-disabled: adaptive execution, or its joining of partitions, was off where this run would have gained by it. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/affected.h"
#include "rules/finding.h"
#include "rules/plans/plans.h"

#define MIB (1024.0 * 1024)

enum { TASKS_MIN, TIMES_MIN, TASK_MS_MAX, TARGET_BYTES, LEAST_BYTES, RATE_MIN, TASK_SHARE_MIN };
static const struct pyro_threshold thresholds[] = {
    [TASKS_MIN] = {"tasks_min", 50, "count", "Stages with fewer tasks are ignored: the tasks start quickly"},
    [TIMES_MIN] = {"tasks_ratio_min", 4, "ratio",
                   "Minimum ratio of the tasks that ran to the tasks that adaptive execution would create"},
    [TASK_MS_MAX] = {"task_ms_max", 500, "ms",
                     "Stages whose median task takes longer are ignored: the time is mostly work"},
    [TARGET_BYTES] = {"partition_bytes", 64 * MIB, "bytes",
                      "Adaptive execution coalesces partitions up to this size (advisoryPartitionSizeInBytes)"},
    [LEAST_BYTES] = {"partition_bytes_min", 1 * MIB, "bytes",
                     "... and at least to this size where slots would be idle (minPartitionSize)"},
    [RATE_MIN] = {"bytes_per_ms_min", 1000, "ratio",
                  "A task processes at least this much shuffled data per millisecond, even when the work is slow"},
    [TASK_SHARE_MIN] = {"task_share_min", 0.03, "share",
                        "Quiet if the saving is a smaller share of the application's task time"},
};

static const char adaptive_key[] = "spark.sql.adaptive.enabled",
                  coalesce_key[] = "spark.sql.adaptive.coalescePartitions.enabled";

struct gain {
    size_t first, stages;
    double tasks, wanted, bytes, spared_ms;
};

/* Tasks that adaptive execution would have run instead. */
static double tasks_wanted(const struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    double bytes = pyro_real(stage->shuffle_read_bytes), slots = pyro_stage_slots(context->app, stage);
    double target = fmin(pyro_limit(context, TARGET_BYTES), fmax(pyro_limit(context, LEAST_BYTES), bytes / slots));
    return fmax(1, ceil(bytes / target));
}

/* The user asked for these partitions: adaptive execution leaves them. */
static bool is_asked_for(const struct pyro_plan_tree *plan, size_t stage)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pyro_plan_op *op = &plan->ops[i];
        bool here = false;
        for (uint32_t s = 0; s < op->stage_count && op->class == PYRO_OPERATOR_SHUFFLE; s++)
            here |= plan->stages[op->first_stage + s] == stage;
        if (here && (pyro_op_says(plan, i, "REPARTITION_BY_NUM") || pyro_op_says(plan, i, "REPARTITION_WITH_NUM")))
            return true;
    }
    return false;
}

static bool gains(const struct pyro_rule_context *context, const struct pyro_plan_tree *plan, size_t row)
{
    const struct pyro_stage *stage = &context->app->stages.items[row];
    double tasks = pyro_real(stage->tasks);
    return stage->shuffle_read_bytes > 0 && stage->input_bytes == 0 && tasks >= pyro_limit(context, TASKS_MIN) &&
           pyro_real(stage->duration_median) <= pyro_limit(context, TASK_MS_MAX) &&
           tasks >= pyro_limit(context, TIMES_MIN) * tasks_wanted(context, stage) && !is_asked_for(plan, row);
}

/* What the tasks of a stage did beside starting and ending: what they took beyond most of the median, and not more than
 * their data can have asked for. */
static double work_ms(const struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    double start = 0.8 * pyro_real(stage->duration_median) * pyro_real(stage->tasks);
    return fmin(fmax(0, pyro_real(stage->task_ms) - start),
                pyro_real(stage->shuffle_read_bytes) / fmax(pyro_limit(context, RATE_MIN), 1));
}

/* What is off for a SQL execution, in Spark's defaults or by the program; NULL: nothing. */
static const char *what_is_off(const struct pyro_app *app, int64_t sql)
{
    if (!pyro_sql_adaptive(app, sql))
        return adaptive_key;
    return pyro_sql_property_bool(app, sql, coalesce_key, true) ? NULL : coalesce_key;
}

static struct gain measure(struct pyro_rule_context *context, const struct pyro_plans *plans, const char *key,
                           struct pyro_finding *finding)
{
    const struct pyro_app *app = context->app;
    struct gain gain = {0};
    double most = -1;
    const char *usual = what_is_off(app, PYRO_NONE);
    for (size_t q = 0; q < plans->count; q++) {
        const struct pyro_sql_execution *sql = plans->items[q].sql;
        bool off = (sql->modified_configs.ptr ? what_is_off(app, sql->id) : usual) == key;
        for (uint32_t s = 0; s < plans->items[q].own_stage_count && off; s++) {
            size_t row = plans->items[q].own_stages[s];
            const struct pyro_stage *stage = &app->stages.items[row];
            if (!gains(context, &plans->items[q], row))
                continue;
            double tasks = pyro_real(stage->tasks), wanted = tasks_wanted(context, stage);
            double work = work_ms(context, stage);
            double start = fmax(0, pyro_real(stage->task_ms) - work) / fmax(tasks, 1);
            if (pyro_real(stage->task_ms) > most) {
                most = pyro_real(stage->task_ms);
                gain.first = row;
            }
            gain.stages++;
            if (finding)
                pyro_affected_add(context, finding, row);
            gain.tasks += tasks;
            gain.wanted += wanted;
            gain.bytes += pyro_real(stage->shuffle_read_bytes);
            gain.spared_ms += (tasks - wanted) * start;
        }
    }
    return gain;
}

static void report(struct pyro_rule_context *context, const struct pyro_plans *plans, const char *key)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_aqe_disabled);
    if (!finding)
        return;
    struct gain gain = measure(context, plans, key, finding);
    finding->id = PYRO_SLICE_LITERAL("aqe-disabled");
    finding->cause = pyro_say(
        context,
        "%s is off: %s ran %.0f tasks for %s of shuffled data, %s each; adaptive execution would run about %.0f tasks.",
        key, pyro_say_count(context, (double)gain.stages, "stage", "stages"), gain.tasks,
        pyro_say_bytes(context, gain.bytes), pyro_say_bytes(context, gain.bytes / fmax(gain.tasks, 1)), gain.wanted);
    pyro_finding_evidence(context, finding, "stages", (double)gain.stages, 0, "count");
    pyro_finding_evidence(context, finding, "tasks", gain.tasks, gain.wanted, "count");
    pyro_finding_evidence(context, finding, "shuffled_bytes", gain.bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "spared_task_ms", gain.spared_ms, 0, "ms");
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Enable adaptive execution: Spark then coalesces small partitions. Without it, "
                                     "this data needs %.0f partitions.",
                                     ceil(gain.wanted / fmax((double)gain.stages, 1))),
                            "In the next run the plans contain a coalesced AQEShuffleRead (CustomShuffleReader before "
                            "Spark 3.2), and these stages have far fewer tasks.");
    pyro_advice_set(context, advice, key, PYRO_SLICE_LITERAL("true"));
    finding->confidence *= 0.9;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    /* Streams have no adaptive execution before Spark 4; what cannot be switched on is not a fault. */
    if (app->sql.count == 0 || !pyro_app_spark_at_least(app, 3, 0) || pyro_app_is_streaming(app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    const struct pyro_plans *plans = pyro_rule_plans(context);
    static const char *const keys[] = {adaptive_key, coalesce_key};
    for (size_t i = 0; plans && i < sizeof(keys) / sizeof(keys[0]); i++) {
        double spared = measure(context, plans, keys[i], NULL).spared_ms;
        if (spared > 0 && spared >= pyro_limit(context, TASK_SHARE_MIN) * pyro_real(app->numbers.task_ms)) {
            report(context, plans, keys[i]);
            break; /* one finding an application */
        }
    }
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_aqe_disabled = {
    .id = "aqe-disabled",
    .category = "plan",
    .title = "Adaptive execution is off",
    .summary = "Adaptive execution, or its coalescing of partitions, is off, and this run would be faster with it.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
