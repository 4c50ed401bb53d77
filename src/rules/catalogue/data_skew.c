/* data-skew: a few tasks of a stage got much more data than the others, and their time follows it. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/slow_tasks.h"

/* Advice to salt assumes that spreading is not perfect. */
#define SPREAD_WELL 0.85

enum {
    HEAVY_RATIO,
    FOLLOWS,
    PLAIN_RATIO,
    BATCH_RATIO,
    BATCH_TIME_RATIO,
    TASKS_MIN,
    MIXED_SHARE,
    LARGE_RECORDS,
    MANY_HEAVY,
    SAVING_MIN_MS,
    SAVING_MIN_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [HEAVY_RATIO] = {"ratio_min", 2, "ratio",
                     "A task is heavy if it has at least this many times the time and the data of its peers. Hashing a "
                     "few hundred keys varies by less"},
    [FOLLOWS] = {"follows_min", 0.25, "ratio",
                 "Data explains time if the growth in data is at least this share of the growth in time. Hot join keys "
                 "cost more than their share (both sides multiply), warm-up and reading cost less"},
    [PLAIN_RATIO] = {"plain_ratio_min", 4, "ratio",
                     "With at least this many times the data, a slow task needs no other explanation"},
    [BATCH_RATIO] = {"batch_ratio_min", 1.5, "ratio",
                     "The largest task of an RDD stage is heavy at this ratio: Python sends compressed batches, which "
                     "hide a part of a hot key"},
    [BATCH_TIME_RATIO] = {"batch_time_ratio_min", 3, "ratio",
                          "... if it computed for at least this many times the median"},
    [TASKS_MIN] = {"tasks_min", 3, "count", "Minimum number of tasks: a median needs at least three"},
    [MIXED_SHARE] = {"heavy_share_max", 0.4, "share",
                     "If a larger share of the tasks is heavy, the stage has two kinds of input, not skew"},
    [LARGE_RECORDS] = {"large_records_ratio", 1.5, "ratio",
                       "Recommendation: records are larger, not more, if a task has less than this many times the "
                       "median records but twice that in bytes"},
    [MANY_HEAVY] = {"many_heavy", 4, "count",
                    "Recommendation: this many heavy partitions indicate an uneven distribution of keys"},
    [SAVING_MIN_MS] = {"saving_ms_min", 1000, "ms", "Quiet below: the saving is too small to act on"},
    [SAVING_MIN_SHARE] = {"saving_share_min", 0.01, "share", "Quiet below this share of the application"},
};

enum { SLOWEST_MS, MEDIAN_MS, DATA_RATIO, HEAVY, HEAVY_SHARE, SLOWEST_BYTES, MEDIAN_BYTES, RECORD_RATIO };

/* Heavy tasks take what the median takes, and what they had more is shared by all of the stage. */
static void spread(struct pyro_rule_context *context, struct pyro_case *found, const struct pyro_stage_tasks *tasks)
{
    struct pyro_finding *remedy = pyro_case_remedy(context, found);
    double excess = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct pyro_stage_task *task = &tasks->items[i];
        if (!(task->cap < task->duration))
            continue;
        excess += task->duration - task->cap;
        pyro_remedy_task(context, remedy, task->row, task->cap);
    }
    if (tasks->work_ms > excess)
        pyro_remedy_stage(context, remedy, found->stage, tasks->work_ms / (tasks->work_ms - excess));
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, size_t row)
{
    const struct pyro_stage *stage = &context->app->stages.items[row];
    const struct pyro_heavy_limits limits = {pyro_limit(context, HEAVY_RATIO),      pyro_limit(context, FOLLOWS),
                                             pyro_limit(context, PLAIN_RATIO),      pyro_limit(context, BATCH_RATIO),
                                             pyro_limit(context, BATCH_TIME_RATIO), pyro_limit(context, SAVING_MIN_MS)};
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, row, NULL, &tasks))
        return;
    double heavy = 0, heavy_bytes = 0, all_bytes = 0, heavy_records = 0, all_records = 0;
    const struct pyro_stage_task *slowest = NULL;
    for (size_t i = 0; i < tasks.count; i++) {
        struct pyro_stage_task *task = &tasks.items[i];
        all_bytes += task->read_bytes;
        all_records += task->read_records;
        double data = pyro_stage_task_data_ratio(&tasks, task);
        if (!pyro_task_is_heavy(context->app, &limits, stage, &tasks, task, data))
            continue;
        heavy++;
        heavy_bytes += task->read_bytes;
        heavy_records += task->read_records;
        task->cap = tasks.median_ms;
        if (!slowest || task->duration > slowest->duration)
            slowest = task;
    }
    if (slowest && heavy <= pyro_limit(context, MIXED_SHARE) * (double)tasks.count) {
        /* The work stays: it spreads over the slots, so that the stage cannot end before work / slots. */
        double slots = pyro_stage_slots(context->app, stage);
        double end = fmax(pyro_stage_tasks_capped_end(&tasks), tasks.begin + tasks.work_ms / slots);
        struct pyro_case *found = end < tasks.end ? pyro_cases_add(context, cases, row) : NULL;
        if (found) {
            pyro_case_saves(context, found, end, tasks.end, SPREAD_WELL);
            spread(context, found, &tasks);
            found->value[SLOWEST_MS] = slowest->duration;
            found->value[MEDIAN_MS] = tasks.median_ms;
            found->value[DATA_RATIO] = pyro_stage_task_data_ratio(&tasks, slowest);
            found->value[HEAVY] = heavy;
            found->value[HEAVY_SHARE] = all_bytes > 0     ? heavy_bytes / all_bytes
                                        : all_records > 0 ? heavy_records / all_records
                                                          : (double)NAN;
            found->value[SLOWEST_BYTES] = slowest->read_bytes;
            found->value[MEDIAN_BYTES] = tasks.median_bytes;
            found->value[RECORD_RATIO] = tasks.median_records > 0 ? slowest->read_records / tasks.median_records : 0;
        }
    }
    pyro_stage_tasks_done(context, &tasks);
}

/* Adaptive execution splits partitions of sort-merge and shuffled hash joins only: whether the stage's query has one.
 */
static bool joins_by_shuffle(const struct pyro_app *app, const struct pyro_stage *stage)
{
    for (size_t i = 0; i < app->sql_nodes.count; i++) {
        const struct pyro_sql_node *node = &app->sql_nodes.items[i];
        if (node->sql == stage->sql && (pyro_slice_starts_with(node->name, "SortMergeJoin") ||
                                        pyro_slice_starts_with(node->name, "ShuffledHashJoin")))
            return true;
    }
    return false;
}

static double pieces(const struct pyro_case *found)
{
    return fmin(fmax(ceil(found->value[DATA_RATIO]), 2), 64);
}

static const char *const verify_text = "In the next run compare the slowest task of this stage with the median task "
                                       "(Spark UI, stage page, summary metrics): below 2 x the stage is balanced.";

/* No key is hot where a stage reads its input: the files or their pieces are uneven. */
static void advise_input(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Split the uneven input: this stage reads files, and one task reads %s where the "
                                     "median task reads %s. Write files that cannot be split (gzip, one large row "
                                     "group) again, in a splittable format or with even sizes.",
                                     pyro_say_bytes(context, found->value[SLOWEST_BYTES]),
                                     pyro_say_bytes(context, found->value[MEDIAN_BYTES])),
                            verify_text);
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Until then call repartition() directly after reading, before the expensive "
                                           "steps. Then only the reading itself stays uneven."),
                        verify_text);
    if (advice)
        advice->code = pyro_say(context, "%s.repartition(%.0f)", pyro_stage_is_sql(stage) ? "df" : "rdd",
                                fmax(pyro_real(stage->partitions), 2));
}

static void advise_adaptive(struct pyro_rule_context *context, struct pyro_finding *finding,
                            const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const char *threshold_key = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
    int64_t sql = app->stages.items[found->stage].sql;
    bool on =
        pyro_sql_adaptive(app, sql) && pyro_sql_property_bool(app, sql, "spark.sql.adaptive.skewJoin.enabled", true);
    double bytes = found->value[SLOWEST_BYTES];
    double limit = pyro_real(pyro_sql_property_size(app, sql, threshold_key, 1, 256 * 1048576));
    /* Above its limit Spark had its reasons not to split: the type of join, or a step above that needs the keys. */
    if (on && bytes >= limit)
        return;
    /* A partition is split when it is larger than factor x median and than the threshold; half of what was found lets
     * both hold. The advisory size is that of the splits; it is also the one up to which all partitions of the run are
     * read together, so that smaller ones compete in the simulation. */
    static const char advisory_key[] = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
    static const double splits[] = {4, 8, 16};
    double threshold = fmax(floor(bytes / 2 / 1048576), 1);
    double advisory = pyro_real(pyro_sql_property_size(app, sql, advisory_key, 1, 64 * 1048576));
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        double size = fmax(floor(bytes / splits[i] / 1048576), 1);
        bool smaller = size * 1048576 < advisory;
        const char *into =
            smaller ? pyro_say(context, " into parts of %s", pyro_say_bytes(context, size * 1048576)).ptr : "";
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            on ? pyro_say(context,
                          "Let adaptive execution split partitions of at least %s%s. The current threshold is %s, and "
                          "the largest partition of this join has %s.",
                          pyro_say_bytes(context, threshold * 1048576), into, pyro_say_bytes(context, limit),
                          pyro_say_bytes(context, bytes))
               : pyro_say(context,
                          "Enable adaptive execution with skew join: Spark then splits the heavy partition (%s) of "
                          "this join%s.",
                          pyro_say_bytes(context, bytes), into),
            verify_text);
        if (!on) {
            pyro_advice_set(context, advice, "spark.sql.adaptive.enabled", PYRO_SLICE_LITERAL("true"));
            pyro_advice_set(context, advice, "spark.sql.adaptive.skewJoin.enabled", PYRO_SLICE_LITERAL("true"));
        }
        if (bytes > 0 && bytes < limit)
            pyro_advice_set(context, advice, threshold_key, pyro_say(context, "%.0fm", threshold));
        if (smaller)
            pyro_advice_set(context, advice, advisory_key, pyro_say(context, "%.0fm", size));
        if (i > 0)
            pyro_advice_competes(advice);
        if (!smaller || size <= 1)
            break;
    }
}

/* The slow partition has hardly more records than others, but larger ones: no key is hot. Only SQL counts rows; the
 * records of Python's RDDs are batches of them. */
static bool has_large_records(const struct pyro_rule_context *context, const struct pyro_case *found)
{
    double ratio = pyro_limit(context, LARGE_RECORDS);
    return pyro_stage_is_sql(&context->app->stages.items[found->stage]) && found->value[RECORD_RATIO] > 0 &&
           found->value[RECORD_RATIO] < ratio &&
           found->value[SLOWEST_BYTES] >= 2 * ratio * fmax(found->value[MEDIAN_BYTES], 1);
}

static void advise_large_records(struct pyro_rule_context *context, struct pyro_finding *finding,
                                 const struct pyro_case *found)
{
    pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Check the largest records of this partition: it has %.1f x the records of the median but %.1f x the "
                 "bytes. Drop or shorten long texts and arrays before the shuffle. Salting keys does not help.",
                 found->value[RECORD_RATIO], found->value[SLOWEST_BYTES] / fmax(found->value[MEDIAN_BYTES], 1)),
        verify_text);
}

/* One heavy partition is one hot key; several are many keys that share them, which more partitions separate. */
static void advise_many(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    double partitions = pyro_real(context->app->stages.items[found->stage].partitions);
    if (found->value[HEAVY] < pyro_limit(context, MANY_HEAVY))
        return;
    pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "%.0f partitions are heavy: the cause can be the distribution of the keys instead of a few hot keys. "
                 "First try another number of partitions (such as %.0f instead of %.0f) or another key.",
                 found->value[HEAVY], 2 * partitions + 1, partitions),
        verify_text);
}

static void advise_sql(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    bool joins = joins_by_shuffle(app, &app->stages.items[found->stage]);
    if (joins && pyro_app_spark_at_least(app, 3, 0))
        advise_adaptive(context, finding, found);
    double n = pieces(found);
    struct pyro_advice *salt = pyro_finding_advise(
        context, finding,
        joins ? pyro_say(context,
                         "Salt the hot key with about %.0f values, so that its rows spread over several tasks. Or "
                         "aggregate before the shuffle, or broadcast the small side.",
                         n)
              : pyro_say(context,
                         "Salt the hot key with about %.0f values and aggregate twice. If the key is the PARTITION BY "
                         "of a window, add a column to it.",
                         n),
        verify_text);
    if (salt && joins)
        salt->code = pyro_say(context,
                              "big = big.withColumn(\"salt\", (F.rand() * %.0f).cast(\"int\"))\n"
                              "salts = F.array(*map(F.lit, range(%.0f)))\n"
                              "small = small.withColumn(\"salt\", F.explode(salts))\n"
                              "big.join(small, [\"key\", \"salt\"])",
                              n, n);
    else if (salt)
        salt->code = pyro_say(context,
                              "df = df.withColumn(\"salt\", (F.rand() * %.0f).cast(\"int\"))\n"
                              "part = df.groupBy(\"key\", \"salt\").agg(F.sum(\"v\").alias(\"v\"))\n"
                              "part.groupBy(\"key\").agg(F.sum(\"v\"))",
                              n);
}

static void advise_rdd(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    double n = pieces(found);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Salt the hot key with about %.0f values and reduce twice. Or use reduceByKey/aggregateByKey instead "
                 "of groupByKey, so that Spark combines values before the shuffle.",
                 n),
        verify_text);
    if (advice)
        advice->code = pyro_say(context,
                                "rdd.map(lambda kv: ((kv[0], random.randrange(%.0f)), kv[1])).reduceByKey(f)\n"
                                "   .map(lambda kv: (kv[0][0], kv[1])).reduceByKey(f)",
                                n);
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_data_skew);
    if (!finding)
        return;
    const double *value = found->value;
    double time = value[SLOWEST_MS] / fmax(value[MEDIAN_MS], 1);
    pyro_finding_at_stage(context, finding, found->stage);
    const char *share = isfinite(value[HEAVY_SHARE])
                            ? pyro_say(context, "%.0f %% of the data processed by ", 100 * value[HEAVY_SHARE]).ptr
                            : "more data in ";
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    bool shuffled = stage->shuffle_read_bytes > 0;
    const char *kind = !shuffled                           ? ""
                       : has_large_records(context, found) ? " It has larger records, not more records."
                       : value[HEAVY] < 2 ? " Only one partition is heavy: the cause is most likely one hot key."
                                          : "";
    finding->cause = pyro_say(context,
                              "%s: %s%.0f of %lld tasks; the slowest took %s, %.1f x the median, with %.1f x its "
                              "data.%s%s",
                              pyro_say_stage(context, found->stage), share, value[HEAVY], (long long)stage->tasks,
                              pyro_say_ms(context, value[SLOWEST_MS]), time, value[DATA_RATIO], kind, more);
    pyro_finding_evidence(context, finding, "slowest_task_ms", value[SLOWEST_MS], value[MEDIAN_MS], "ms");
    pyro_finding_evidence(context, finding, "slowest_to_median_time", time, pyro_limit(context, HEAVY_RATIO), "ratio");
    pyro_finding_evidence(context, finding, "slowest_to_median_data", value[DATA_RATIO],
                          pyro_limit(context, HEAVY_RATIO), "ratio");
    pyro_finding_evidence(context, finding, "slowest_task_read_bytes", value[SLOWEST_BYTES], value[MEDIAN_BYTES],
                          "bytes");
    pyro_finding_evidence(context, finding, "heavy_tasks", value[HEAVY], 0, "count");
    pyro_finding_evidence(context, finding, "heavy_tasks_data_share", value[HEAVY_SHARE],
                          value[HEAVY] / fmax(pyro_real(stage->tasks), 1), "share");
    pyro_case_take_stages(context, finding, found);
    if (stage->shuffle_read_bytes <= 0 && stage->input_bytes > 0)
        advise_input(context, finding, found);
    else if (has_large_records(context, found))
        advise_large_records(context, finding, found);
    else if (pyro_stage_is_sql(stage))
        advise_sql(context, finding, found);
    else
        advise_rdd(context, finding, found);
    if (stage->shuffle_read_bytes > 0 && !has_large_records(context, found))
        advise_many(context, finding, found);
    /* Surer the clearer time follows data. */
    finding->confidence *= value[DATA_RATIO] >= pyro_limit(context, PLAIN_RATIO)   ? 0.95
                           : value[DATA_RATIO] >= pyro_limit(context, HEAVY_RATIO) ? 0.8
                                                                                   : 0.65;
    pyro_case_take_remedies(context, finding, found);
    pyro_remedy_partly(finding, SPREAD_WELL);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    double least =
        fmax(pyro_limit(context, SAVING_MIN_MS), pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app));
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double spread = pyro_real(stage->duration_max) - pyro_real(stage->duration_median);
        if (pyro_stage_is_compared(stage) &&
            (double)(stage->tasks - stage->failed_tasks) >= pyro_limit(context, TASKS_MIN) &&
            spread >= pyro_limit(context, SAVING_MIN_MS) &&
            pyro_real(stage->duration_max) >= pyro_limit(context, HEAVY_RATIO) * pyro_real(stage->duration_median))
            examine(context, &cases, i);
    }
    pyro_cases_report(context, &cases, least, report);
    return PYRO_VERDICT_QUIET; /* the engine makes it a finding where one was added */
}

const struct pyro_rule pyro_rule_data_skew = {
    .id = "data-skew",
    .category = "skew",
    .title = "Data skew",
    .summary = "A few tasks of a stage get much more data than the other tasks, and the stage waits for them.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
