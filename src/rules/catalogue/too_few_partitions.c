/* too-few-partitions: a stage has fewer long tasks than there are slots. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/stage_tasks.h"

/* Cutting finer is nearly but not wholly free. */
#define SURE 0.8

enum {
    LONG_TASK_MS,
    SET_TASK_MS,
    COLD_TASK_MS,
    USED_SHARE,
    EVEN,
    TARGET_BYTES,
    TARGET_WAVES,
    SAVING_MIN_MS,
    SAVING_MIN_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [LONG_TASK_MS] = {"task_ms_min", 5000, "ms",
                      "Minimum duration of the median task: splitting shorter tasks saves little"},
    [SET_TASK_MS] = {"set_task_ms_min", 1000, "ms",
                     "The same if a property sets the number of partitions: another value costs nothing"},
    [COLD_TASK_MS] = {"cold_task_ms_min", 20000, "ms",
                      "The same if all tasks are the first of their executors: more partitions do not split the time "
                      "to load classes and start workers"},
    [USED_SHARE] = {"used_share_max", 0.75, "share",
                    "Maximum share of the slots that have a task: above this the saving is within noise"},
    [EVEN] = {"even_ratio_min", 0.3, "ratio",
              "Minimum ratio of the median to the longest task: below this the cause is skew, and more partitions do "
              "not help"},
    [TARGET_BYTES] = {"target_bytes", 128.0 * 1024 * 1024, "bytes",
                      "Recommendation: partitions of this size, which is Spark's default"},
    [TARGET_WAVES] = {"target_waves", 2, "ratio", "... in at least this many waves over the slots"},
    [SAVING_MIN_MS] = {"saving_ms_min", 1000, "ms", "Quiet below"},
    [SAVING_MIN_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { SLOTS, WANTED, BYTES };

/* Whether every task is among the first of its executor. */
static bool is_cold(struct pyro_rule_context *context, const struct pyro_cold *cold, size_t row)
{
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, row, cold, &tasks))
        return false;
    bool all = tasks.count > 0;
    for (size_t i = 0; i < tasks.count; i++)
        all = all && tasks.items[i].cold;
    pyro_stage_tasks_done(context, &tasks);
    return all;
}

/* The number is set, and this stage has it. */
static bool is_set(const struct pyro_app *app, const struct pyro_stage *stage)
{
    const char *key = pyro_stage_is_sql(stage) ? "spark.sql.shuffle.partitions" : "spark.default.parallelism";
    int64_t set = pyro_sql_property_int(app, stage->sql, key, PYRO_NONE);
    return stage->shuffle_read_bytes > 0 && set != PYRO_NONE && stage->partitions == set;
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, const struct pyro_cold *cold,
                    size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double partitions = fmax(pyro_real(stage->partitions), 1), tasks = fmax(pyro_real(stage->tasks), 1);
    double bytes = pyro_stage_read_bytes(stage) / partitions, median = pyro_real(stage->duration_median);
    if (median < fmin(pyro_limit(context, SET_TASK_MS), pyro_limit(context, LONG_TASK_MS)) ||
        median < pyro_limit(context, EVEN) * pyro_real(stage->duration_max))
        return;
    double slots = floor(pyro_slots_between(app, stage, pyro_stage_begin(stage), stage->completed_ms) + 0.5);
    if (partitions > pyro_limit(context, USED_SHARE) * slots)
        return;
    bool set = is_set(app, stage);
    if (median < pyro_limit(context, set ? SET_TASK_MS : LONG_TASK_MS))
        return;
    if (!set && median < pyro_limit(context, COLD_TASK_MS) && is_cold(context, cold, row))
        return;
    struct pyro_case *found = pyro_cases_add(context, cases, row);
    if (!found)
        return;
    double begin = (double)pyro_stage_begin(stage), end = (double)stage->completed_ms;
    double used = fmin(slots, partitions), work = pyro_real(stage->task_ms) * partitions / fmax(tasks, partitions);
    pyro_case_saves(context, found, fmin(end, begin + fmax(work / fmax(slots, used), 1)), end, SURE);
    found->value[SLOTS] = slots;
    double wanted = fmax(pyro_limit(context, TARGET_WAVES) * slots,
                         ceil(pyro_stage_read_bytes(stage) / pyro_limit(context, TARGET_BYTES)));
    /* Not finer than a second a task. */
    wanted = fmax(fmin(wanted, ceil(work / 1000)), slots);
    found->value[WANTED] = fmax(wanted, partitions + 1);
    pyro_remedy_repartition(context, pyro_case_remedy(context, found), row, pyro_whole(found->value[WANTED]));
    found->value[BYTES] = bytes;
}

/* A single task that writes, or that only collects: the user may have wanted one file or one order. */
static bool may_be_wanted(const struct pyro_stage *stage)
{
    return stage->partitions == 1;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    const char *verify =
        "In the next run this stage has as many tasks as slots or more (Spark UI, Stages, Tasks column) and "
        "is shorter.";
    struct pyro_slice number = pyro_say(context, "%.0f", found->value[WANTED]);
    bool sql = pyro_stage_is_sql(stage);
    double partitions = fmax(pyro_real(stage->partitions), 1);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Use about %s partitions for this stage instead of %.0f%s.", number.ptr, partitions,
                 may_be_wanted(stage) && stage->output_bytes > 0
                     ? "; if you need one output file, sort and aggregate before coalesce(1), or combine the files in "
                       "a last small step"
                     : ""),
        verify);
    if (advice)
        advice->code =
            sql ? pyro_say(context, "df.repartition(%s)  # instead of coalesce() or a smaller repartition()",
                           number.ptr)
                : pyro_say(context,
                           "rdd.repartition(%s)  # or numSlices, minPartitions, numPartitions where it is made",
                           number.ptr);
    double configured = pyro_sql_shuffle_partitions(app, stage->sql);
    /* A single task may read all of an aggregate without keys, but if one partition is configured it reads that. */
    if (stage->shuffle_read_bytes > 0 && sql && (partitions > 1 || configured <= 1)) {
        if (configured < found->value[WANTED]) {
            pyro_advice_set(context, advice, "spark.sql.shuffle.partitions", number);
        } else if (partitions < configured && pyro_stage_was_coalesced(app, stage)) {
            double size = floor(pyro_real(stage->shuffle_read_bytes) / fmax(found->value[WANTED], 1) / 1048576);
            struct pyro_advice *joined =
                pyro_finding_advise(context, finding,
                                    PYRO_SLICE_LITERAL("If adaptive execution coalesced the partitions, let it create "
                                                       "smaller ones: its advisory size counts compressed bytes."),
                                    verify);
            pyro_advice_set(context, joined, "spark.sql.adaptive.advisoryPartitionSizeInBytes",
                            pyro_say(context, "%.0fm", fmax(size, 1)));
        }
    } else if (stage->input_bytes > 0 && sql && stage->shuffle_read_bytes <= 0) {
        double size = floor(pyro_real(stage->input_bytes) / fmax(found->value[WANTED], 1) / 1048576);
        struct pyro_advice *cut =
            pyro_finding_advise(context, finding,
                                PYRO_SLICE_LITERAL("Use smaller input splits. First write files that cannot be split "
                                                   "(gzip, one row group) again in a splittable format."),
                                verify);
        pyro_advice_set(context, cut, "spark.sql.files.maxPartitionBytes", pyro_say(context, "%.0fm", fmax(size, 1)));
    } else if (stage->shuffle_read_bytes > 0 && !sql) {
        pyro_advice_set(context, advice, "spark.default.parallelism", number);
    }
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_too_few_partitions);
    if (!finding)
        return;
    const double *value = found->value;
    double median = pyro_real(stage->duration_median);
    pyro_finding_at_stage(context, finding, found->stage);
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    const char *bytes = value[BYTES] > 0 ? pyro_say(context, " and %s", pyro_say_bytes(context, value[BYTES])).ptr : "";
    finding->cause = pyro_say(context, "%s: %lld task%s of %s%s%s, while %.0f slots were available.%s",
                              pyro_say_stage(context, found->stage), (long long)stage->partitions,
                              stage->partitions == 1 ? "" : "s", pyro_say_ms(context, median), bytes,
                              stage->partitions == 1 ? "" : " each (median)", value[SLOTS], more);
    pyro_finding_evidence(context, finding, "partitions", pyro_real(stage->partitions), value[WANTED], "count");
    pyro_finding_evidence(context, finding, "slots", value[SLOTS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "median_task_ms", median, (double)NAN, "ms");
    if (value[BYTES] > 0)
        pyro_finding_evidence(context, finding, "bytes_per_task", value[BYTES], pyro_limit(context, TARGET_BYTES),
                              "bytes");
    pyro_case_take_stages(context, finding, found);
    advise(context, finding, found);
    finding->confidence *= may_be_wanted(stage) ? 0.6 : 0.9;
    pyro_case_take_remedies(context, finding, found);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0 || app->executors.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE; /* without executors the number of slots is not known */
    struct pyro_cases cases = {0};
    struct pyro_cold cold;
    if (!pyro_cold_load(context, &cold))
        return PYRO_VERDICT_NOT_APPLICABLE;
    double least =
        fmax(pyro_limit(context, SAVING_MIN_MS), pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app));
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (pyro_stage_is_compared(stage) && stage->partitions > 0 &&
            stage->tasks > stage->failed_tasks + stage->killed_tasks && /* else no duration is that of its work */
            stage->completed_ms != PYRO_NONE && pyro_stage_begin(stage) != PYRO_NONE &&
            pyro_real(stage->duration_max) > 0)
            examine(context, &cases, &cold, i);
    }
    pyro_cases_report(context, &cases, least, report);
    pyro_cold_done(context, &cold);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_too_few_partitions = {
    .id = "too-few-partitions",
    .category = "parallelism",
    .title = "Too few partitions",
    .summary = "A stage has fewer tasks than slots, and the tasks are long.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"unsplittable-input", "global-window"},
    .needs_settings = true,
    .evaluate = evaluate,
};
