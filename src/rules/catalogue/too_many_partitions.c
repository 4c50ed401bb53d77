/* too-many-partitions: so many tiny tasks that starting them costs more than their work. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum {
    TINY_MS,
    SLOW_TINY_MS,
    SLOW_TINY_BYTES,
    MANY_TASKS,
    TASKS_MIN,
    WAVES_MIN,
    TARGET_MS,
    TARGET_BYTES,
    TARGET_WAVES,
    PARTS_MIN,
    COMMIT_SHARE,
    SAVING_MIN_MS,
    SAVING_MIN_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [TINY_MS] = {"tiny_ms", 100, "ms",
                 "Maximum duration of the median task: starting and ending a task costs about 5-20 ms"},
    [SLOW_TINY_MS] = {"slow_tiny_ms", 250, "ms",
                      "The same on a busy host or with Python workers, if a task reads almost nothing"},
    [SLOW_TINY_BYTES] = {"slow_tiny_bytes", 64.0 * 1024, "bytes",
                         "Almost nothing: the maximum size that such a task reads"},
    [MANY_TASKS] = {"many_tasks", 1000, "count",
                    "Without a shuffle to read: minimum number of tasks that barely use the CPU"},
    [TASKS_MIN] = {"tasks_min", 100, "count", "Minimum number of tasks: fewer tiny tasks cost almost nothing"},
    [WAVES_MIN] = {"waves_min", 4, "ratio", "... and minimum number of waves over the slots"},
    [TARGET_MS] = {"target_ms", 1000, "ms", "Recommendation: a task works at least this time"},
    [TARGET_BYTES] = {"target_bytes", 64.0 * 1024 * 1024, "bytes",
                      "... or has at least this much data; stages whose tasks read more get no finding"},
    [TARGET_WAVES] = {"target_waves", 2, "ratio", "... in at least this many waves: fewer leave slots idle at the end"},
    [PARTS_MIN] = {"parts_min", 2, "ratio",
                   "Without a shuffle to read: minimum number of tasks per file. Many whole files belong to "
                   "small-input-files"},
    [COMMIT_SHARE] =
        {"commit_share", 0.25, "share",
         "Storing the state of a stream: minimum share of the stage's run time at which its tasks count as "
         "tiny, however long they take"},
    [SAVING_MIN_MS] = {"saving_ms_min", 1000, "ms", "Quiet below"},
    [SAVING_MIN_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { MEDIAN_MS, OVERHEAD_SHARE, WANTED, FIXED_MS, COMMIT_MS };

#define SPLIT        "spark.sql.files.maxPartitionBytes"
#define LEAST_SPLITS "spark.sql.files.minPartitionNum"
#define SPLIT_BYTES  (128.0 * 1024 * 1024) /* Spark's default */

/* Sum of a metric of a query; these are in the order of queries. 0: the plan does not say. */
static double metric_of(const struct pyro_app *app, int64_t sql, const char *name)
{
    const struct pyro_sql_metric *metrics = app->sql_metrics.items;
    size_t low = 0, high = app->sql_metrics.count;
    double sum = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (metrics[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < app->sql_metrics.count && metrics[low].sql == sql; low++)
        if (pyro_slice_is(metrics[low].name, name))
            sum += fmax(pyro_real(metrics[low].value), 0);
    return sum;
}

/* Time in which the tasks of a stage stored a stream's state: a file for each partition of it and each batch. 0: none.
 */
static double commit_ms(const struct pyro_app *app, const struct pyro_stage *stage)
{
    return pyro_stage_is_sql(stage) && stage->shuffle_read_bytes > 0
               ? fmin(metric_of(app, stage->sql, "time to commit changes"), fmax(pyro_real(stage->run_ms), 0))
               : 0;
}

static bool reads_files(const struct pyro_stage *stage)
{
    return pyro_real(stage->input_bytes) > 0 && pyro_real(stage->shuffle_read_bytes) <= 0;
}

/* Its tasks read parts of files, made small by a setting. Input of many small files is the matter of small-input-files,
 * and where every setting is Spark's own, the parts are as large as the slots need them. */
static bool cuts_files(struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    const struct pyro_app *app = context->app;
    if (!pyro_stage_is_sql(stage) || !reads_files(stage))
        return false;
    if (!pyro_sql_property(app, stage->sql, SPLIT).ptr && !pyro_sql_property(app, stage->sql, LEAST_SPLITS).ptr)
        return false;
    double files = metric_of(app, stage->sql, "number of files read");
    return files > 0 && pyro_real(stage->tasks) >= pyro_limit(context, PARTS_MIN) * files;
}

static bool is_candidate(struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    double tasks = pyro_real(stage->tasks) - pyro_real(stage->failed_tasks), bytes = pyro_stage_read_bytes(stage);
    double median = pyro_real(stage->duration_median), shuffled = pyro_real(stage->shuffle_read_bytes);
    bool computes = pyro_real(stage->cpu_ms) * 2 >= pyro_real(stage->run_ms);
    double commit = commit_ms(context->app, stage);
    bool stores = commit > 0 && commit >= pyro_limit(context, COMMIT_SHARE) * pyro_real(stage->run_ms);
    if (!stores && median >= pyro_limit(context, TINY_MS) &&
        (median >= pyro_limit(context, SLOW_TINY_MS) || bytes / tasks >= pyro_limit(context, SLOW_TINY_BYTES) ||
         (shuffled <= 0 && (computes || tasks < pyro_limit(context, MANY_TASKS)))))
        return false;
    return !stage->barrier && (stores || tasks >= pyro_limit(context, TASKS_MIN)) &&
           tasks >= pyro_limit(context, WAVES_MIN) * pyro_stage_slots(context->app, stage) &&
           bytes / tasks < pyro_limit(context, TARGET_BYTES) && stage->completed_ms != PYRO_NONE &&
           (pyro_real(stage->input_bytes) <= pyro_real(stage->shuffle_read_bytes) || cuts_files(context, stage));
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double tasks = pyro_real(stage->tasks), slots = pyro_stage_slots(app, stage);
    double work = fmax(pyro_real(stage->task_ms), 1), commit = commit_ms(app, stage);
    double run = pyro_real(stage->run_ms) - commit;
    double wanted = fmax(ceil(fmax(run / pyro_limit(context, TARGET_MS),
                                   pyro_stage_read_bytes(stage) / pyro_limit(context, TARGET_BYTES))),
                         1);
    wanted = fmax(wanted, ceil(pyro_limit(context, TARGET_WAVES) * slots));
    if (wanted >= tasks / 2)
        return;
    struct pyro_case *found = pyro_cases_add(context, cases, row);
    if (!found)
        return;
    /* What a task costs that does nothing: the fastest ones of this stage are nearly that. */
    double fixed =
        fmin(fmin(pyro_real(stage->duration_p25), work / tasks), fmax(pyro_limit(context, TINY_MS), commit / tasks));
    double least = fmin(pyro_real(stage->duration_min), fixed);
    double begin = (double)pyro_stage_begin(stage), end = (double)stage->completed_ms;
    double fewer = (tasks - wanted) / tasks;
    pyro_case_saves(context, found, begin, end, 1);
    /* `found` now holds the whole stage; of it the fixed cost of the tasks that are not needed goes. */
    found->low *= fewer * least * tasks / work;
    found->expected *= fewer * fixed * tasks / work;
    found->high *= fewer;
    pyro_remedy_repartition(context, pyro_case_remedy(context, found), row, pyro_whole(wanted));
    found->value[MEDIAN_MS] = pyro_real(stage->duration_median);
    found->value[OVERHEAD_SHARE] = fmax(0, 1 - run / work);
    found->value[COMMIT_MS] = commit / tasks;
    found->value[WANTED] = wanted;
    found->value[FIXED_MS] = fixed;
}

/* What made the parts of its files small. */
static void advise_splits(struct pyro_rule_context *context, struct pyro_finding *finding, const char *number,
                          const char *verify)
{
    const struct pyro_app *app = context->app;
    double split = pyro_real(pyro_sql_property_size(app, finding->sql, SPLIT, 1, (int64_t)SPLIT_BYTES));
    if (split < SPLIT_BYTES) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context, "Let a task read up to 128 MiB of files, Spark's default, instead of %s: about %s tasks.",
                     pyro_say_bytes(context, split), number),
            verify);
        pyro_advice_set(context, advice, SPLIT, PYRO_SLICE_LITERAL("128m"));
    }
    struct pyro_slice least = pyro_sql_property(app, finding->sql, LEAST_SPLITS);
    if (least.ptr) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context, "Do not ask for more parts of files than that: %s is " LEAST_SPLITS " now.",
                     pyro_say_text(context, least, 20)),
            verify);
        pyro_advice_set(context, advice, LEAST_SPLITS, pyro_slice_from(number));
    }
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    const char *verify =
        "In the next run the median task of this stage works for about a second, and the stage is shorter.";
    if (pyro_stage_is_sql(stage) && reads_files(stage)) {
        advise_splits(context, finding, pyro_say(context, "%.0f", found->value[WANTED]).ptr, verify);
        return;
    }
    struct pyro_slice number = pyro_say(context, "%.0f", found->value[WANTED]);
    bool sql = pyro_stage_is_sql(stage);
    /* Spark turns adaptive execution off for streaming queries. */
    if (sql && stage->shuffle_read_bytes > 0 && pyro_app_spark_at_least(app, 3, 0) && !pyro_app_is_streaming(app) &&
        (!pyro_sql_adaptive(app, stage->sql) ||
         !pyro_sql_property_bool(app, stage->sql, "spark.sql.adaptive.coalescePartitions.enabled", true))) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding, PYRO_SLICE_LITERAL("Let adaptive execution coalesce small shuffle partitions."), verify);
        pyro_advice_set(context, advice, "spark.sql.adaptive.enabled", PYRO_SLICE_LITERAL("true"));
        pyro_advice_set(context, advice, "spark.sql.adaptive.coalescePartitions.enabled", PYRO_SLICE_LITERAL("true"));
    }
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "%s %s partitions instead of %lld (at least %.0f waves, and a second of work or 64 MiB per task).%s",
                 sql ? "Use" : "Make", number.ptr, (long long)stage->partitions, pyro_limit(context, TARGET_WAVES),
                 found->value[COMMIT_MS] > 0
                     ? " A stream keeps the number that its checkpoint began with: this needs a "
                       "new checkpoint."
                     : ""),
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
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    double bytes = pyro_stage_read_bytes(stage) / tasks;
    const char *stores = value[COMMIT_MS] > 0
                             ? pyro_say(context, " Storing its partition of the stream's state takes %s of each.",
                                        pyro_say_ms(context, value[COMMIT_MS]))
                                   .ptr
                             : "";
    const char *reads =
        bytes > 0 ? pyro_say(context, ", each of which reads %s", pyro_say_bytes(context, bytes)).ptr : "";
    finding->cause = pyro_say(
        context, "%s: %.0f tasks of %s each (median)%s. Starting and ending such a task can cost %s of that.%s%s",
        pyro_say_stage(context, found->stage), tasks, pyro_say_ms(context, value[MEDIAN_MS]), reads,
        pyro_say_ms(context, value[FIXED_MS]), stores, more);
    pyro_finding_evidence(context, finding, "tasks", tasks, value[WANTED], "count");
    pyro_finding_evidence(context, finding, "median_task_ms", value[MEDIAN_MS], pyro_limit(context, TARGET_MS), "ms");
    if (bytes > 0)
        pyro_finding_evidence(context, finding, "bytes_per_task", bytes, pyro_limit(context, TARGET_BYTES), "bytes");
    pyro_finding_evidence(context, finding, "overhead_share", value[OVERHEAD_SHARE], (double)NAN, "share");
    if (value[COMMIT_MS] > 0)
        pyro_finding_evidence(context, finding, "commit_ms_per_task", value[COMMIT_MS], (double)NAN, "ms");
    pyro_case_take_stages(context, finding, found);
    advise(context, finding, found);
    finding->confidence *= value[MEDIAN_MS] < pyro_limit(context, TINY_MS) ? 0.9 : 0.75;
    pyro_case_take_remedies(context, finding, found);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    double least =
        fmax(pyro_limit(context, SAVING_MIN_MS), pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app));
    /* Other settings cut files than shuffles, also where both are at one call site. */
    struct pyro_cases files = {0};
    for (size_t i = 0; i < app->stages.count && !context->failed; i++)
        if (is_candidate(context, &app->stages.items[i]))
            examine(context, reads_files(&app->stages.items[i]) ? &files : &cases, i);
    pyro_cases_report(context, &cases, least, report);
    pyro_cases_report(context, &files, least, report);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_too_many_partitions = {
    .id = "too-many-partitions",
    .category = "parallelism",
    .title = "Too many partitions",
    .summary = "A stage has so many tiny tasks that starting them costs more than their work.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"small-input-files"},
    .needs_settings = true,
    .evaluate = evaluate,
};
