/* oversized-partition: each task of a stage has far more data than a task should, and it shows. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/stage_tasks.h"

#define MIB (1024.0 * 1024)

enum { BYTES, HUGE_BYTES, SPILL_SHARE, GC_SHARE, LONG_MS, TARGET, TOTAL_MS };
static const struct pyro_threshold thresholds[] = {
    [BYTES] = {"bytes_min", 200 * MIB, "bytes",
               "Minimum size that the median task reads; Spark splits files at 128 MiB"},
    [HUGE_BYTES] = {"huge_bytes", 1024 * MIB, "bytes", "At this size the partition counts even without consequences"},
    [SPILL_SHARE] = {"spill_share_min", 0.2, "share",
                     "Consequence: bytes spilled to disk, as a share of the bytes read"},
    [GC_SHARE] = {"gc_share_min", 0.15, "share", "Consequence: garbage collection, as a share of the run time"},
    [LONG_MS] = {"task_ms_min", 180000, "ms", "Consequence: duration of the median task; a failure repeats all of it"},
    [TARGET] = {"target_bytes", 128 * MIB, "bytes",
                "Recommendation: partitions of this size, which is Spark's default"},
    [TOTAL_MS] = {"stage_ms_min", 5000, "ms", "Quiet if the stage is shorter"},
};

/* Spilled bytes are written and read again at some 200 MB/s for one task, and serialized at 400 MB/s (see disk-spill);
 * of garbage collection a twentieth is usual. */
#define DISK_BYTES_PER_MS   200e3
#define SERIAL_BYTES_PER_MS 400e3
#define GC_USUAL            0.05

enum { MEDIAN_BYTES, WANTED, SPILL, GC, WASTE };

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, size_t row)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, row, NULL, &tasks))
        return;
    double bytes = tasks.median_bytes, median = tasks.median_ms;
    pyro_stage_tasks_done(context, &tasks);
    double read = fmax(pyro_stage_read_bytes(stage), 1), disk = pyro_real(stage->disk_spill_bytes);
    double run = fmax(pyro_real(stage->run_ms), 1), gc = pyro_real(stage->gc_ms);
    bool shows = disk >= pyro_limit(context, SPILL_SHARE) * read || gc >= pyro_limit(context, GC_SHARE) * run ||
                 median >= pyro_limit(context, LONG_MS);
    if (bytes < pyro_limit(context, BYTES) || (!shows && bytes < pyro_limit(context, HUGE_BYTES)))
        return;
    struct pyro_case *found = pyro_cases_add(context, cases, row);
    if (!found)
        return;
    double work = fmax(pyro_real(stage->task_ms), 1), slots = pyro_stage_slots(app, stage);
    double wanted = fmax(ceil(read / pyro_limit(context, TARGET)), pyro_real(stage->partitions) + 1);
    double waste = 2 * disk / DISK_BYTES_PER_MS + pyro_real(stage->memory_spill_bytes) / SERIAL_BYTES_PER_MS +
                   fmax(0, gc - GC_USUAL * run);
    waste = fmin(waste, work / 2);
    found->value[MEDIAN_BYTES] = bytes;
    found->value[WANTED] = fmin(ceil(wanted / ceil(slots)) * ceil(slots), 100000); /* whole waves */
    found->value[SPILL] = disk;
    found->value[GC] = gc / run;
    found->value[WASTE] = waste;
    double begin = pyro_real(pyro_stage_begin(stage)), end = pyro_real(stage->completed_ms);
    double better = begin + fmax((work - waste) / slots, 1);
    pyro_case_saves(context, found, fmin(better, end), end, 0.6);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    const char *verify = "In the next run the median of \"Shuffle Read Size\" or \"Input Size\" (Spark UI, stage page, "
                         "summary metrics) is about 128 MiB.";
    bool sql = pyro_stage_is_sql(stage);
    double target = pyro_limit(context, TARGET) / MIB;
    struct pyro_slice number = pyro_say(context, "%.0f", found->value[WANTED]);
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context, "Split the data of this stage into about %s partitions instead of %lld.",
                                     number.ptr, (long long)stage->partitions),
                            verify);
    if (advice)
        advice->code = pyro_say(context, "%s.repartition(%s%s)", sql ? "df" : "rdd", number.ptr,
                                stage->shuffle_read_bytes > 0 && sql ? ", \"key\"" : "");
    if (stage->shuffle_read_bytes > 0 && sql) {
        double configured = pyro_sql_shuffle_partitions(app, stage->sql);
        if (configured < found->value[WANTED])
            pyro_advice_set(context, advice, "spark.sql.shuffle.partitions", number);
        else if (pyro_stage_was_coalesced(app, stage))
            pyro_advice_set(context, advice, "spark.sql.adaptive.advisoryPartitionSizeInBytes",
                            pyro_say(context, "%.0fm", fmax(floor(target / 2), 1)));
    } else if (sql && stage->input_bytes > 0) {
        pyro_advice_set(context, advice, "spark.sql.files.maxPartitionBytes",
                        pyro_say(context, "%.0fm", fmax(target, 1)));
    } else if (stage->shuffle_read_bytes > 0) {
        pyro_advice_set(context, advice, "spark.default.parallelism", number);
    }
    if (stage->shuffle_read_bytes > 0)
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("If a key has too few values for more partitions (the PARTITION BY of a "
                                               "window, a groupBy), add a column to the key or drop columns before."),
                            verify);
    else
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("First write files that cannot be split (gzip, one row group) again as smaller files."),
            verify);
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    const double *value = found->value;
    const char *bytes = pyro_say_bytes(context, value[MEDIAN_BYTES]);
    const char *spill =
        value[SPILL] > 0 ? pyro_say(context, ", spilled %s to disk", pyro_say_bytes(context, value[SPILL])).ptr : "";
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    pyro_finding_at_stage(context, finding, found->stage);
    finding->cause = pyro_say(
        context, "%s: each of %lld tasks read %s (median)%s, and garbage collection took %.0f %% of their time.%s",
        pyro_say_stage(context, found->stage), (long long)stage->partitions, bytes, spill, 100 * value[GC], more);
    pyro_finding_evidence(context, finding, "bytes_per_task", value[MEDIAN_BYTES], pyro_limit(context, TARGET),
                          "bytes");
    pyro_finding_evidence(context, finding, "partitions", pyro_real(stage->partitions), value[WANTED], "count");
    pyro_finding_evidence(context, finding, "median_task_ms", pyro_real(stage->duration_median), (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "disk_spill_bytes", value[SPILL], 0, "bytes");
    pyro_finding_evidence(context, finding, "gc_share", value[GC], GC_USUAL, "share");
    pyro_case_take_stages(context, finding, found);
    advise(context, finding, found);
    /* Tasks that do not fit into memory fail when the data grows; with a gibibyte each they are near that. */
    bool risky = value[SPILL] > 0 || value[MEDIAN_BYTES] >= pyro_limit(context, HUGE_BYTES);
    finding->failure_risk = risky ? 0.2 : 0;
    finding->confidence *= 0.85;
    if (found->merged == 1)
        pyro_remedy_repartition(context, finding, found->stage, pyro_whole(value[WANTED]));
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pyro_cases cases = {0};
    bool any = false;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double read = pyro_stage_read_bytes(stage), tasks = fmax(pyro_real(stage->tasks), 1);
        any |= read > 0;
        /* One task alone is a matter of too few partitions. The median is at most twice the mean, unless half of the
         * tasks read nothing. */
        if (pyro_stage_is_compared(stage) && stage->partitions > 1 && read / tasks * 2 >= pyro_limit(context, BYTES) &&
            pyro_stage_length(stage) >= pyro_limit(context, TOTAL_MS))
            examine(context, &cases, i);
    }
    pyro_cases_merge(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++)
        report(context, &cases.list.items[i]);
    pyro_cases_done(context, &cases);
    return any ? PYRO_VERDICT_QUIET : PYRO_VERDICT_NOT_APPLICABLE;
}

const struct pyro_rule pyro_rule_oversized_partition = {
    .id = "oversized-partition",
    .category = "parallelism",
    .title = "Partitions too large",
    .summary =
        "Each task of a stage has too much data: it spills, spends time in garbage collection, or takes minutes.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew", "unsplittable-input", "global-window"},
    .evaluate = evaluate,
};
