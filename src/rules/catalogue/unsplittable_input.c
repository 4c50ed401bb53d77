/* unsplittable-input: large files that only one task each can read, while other slots are idle. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"

enum { SPLIT_RATIO, RDD_BYTES, TASK_MS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [SPLIT_RATIO] =
        {"split_ratio_min", 1.5, "ratio",
         "Minimum input of the largest task as a multiple of Spark's split size: Spark could not split the file"},
    [RDD_BYTES] = {"rdd_task_bytes_min", 192.0 * 1024 * 1024, "bytes",
                   "The same for RDDs, whose splits are blocks of the file system: at most 128 MiB by default"},
    [TASK_MS] = {"task_ms_min", 3000, "ms", "Quiet if the task is shorter"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { FILES, BYTES, LARGEST, SPLIT, TASKS, SLOTS, GAIN, FORMAT, GZIP };

static double largest_input(const struct pyro_app *app, const struct pyro_stage *stage)
{
    double most = 0;
    for (int64_t i = 0; i < stage->tasks; i++)
        most = fmax(most, pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_input_bytes,
                                                  app->tasks_by_stage[stage->first_task + (size_t)i])));
    return most;
}

/* Wall time that even pieces on all slots would save. */
static double gain(const struct pyro_app *app, const struct pyro_stage *stage)
{
    return pyro_stage_length(stage) - pyro_real(stage->task_ms) / fmax(pyro_stage_slots(app, stage), 1);
}

static void add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t row, const double *value)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double saved = gain(app, stage);
    if (saved <= 0 || pyro_real(stage->duration_max) < pyro_limit(context, TASK_MS))
        return;
    struct pyro_spot *spot = pyro_spots_add(context, spots, row);
    if (!spot)
        return;
    for (size_t i = 0; i < 10; i++)
        spot->value[i] = value[i];
    spot->value[TASKS] = pyro_real(stage->partitions);
    spot->value[SLOTS] = floor(pyro_stage_slots(app, stage) + 0.5);
    spot->weight = spot->value[GAIN] = saved;
}

/* Tasks were joined after the scan, so that one reads several files. */
static bool coalesced(const struct pyro_plan_tree *plan)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->ops[i].class == PYRO_OPERATOR_COALESCE)
            return true;
    return false;
}

/* What Spark cuts splittable files into: FilePartition.maxSplitBytes. */
static double split_bytes(const struct pyro_app *app, const struct pyro_stage *stage, const struct pyro_file_scan *scan)
{
    double most = pyro_real(pyro_sql_property_size(app, stage->sql, "spark.sql.files.maxPartitionBytes", 1, 128 << 20));
    double open = pyro_real(pyro_sql_property_size(app, stage->sql, "spark.sql.files.openCostInBytes", 1, 4 << 20));
    double slots = fmax(floor(pyro_stage_slots(app, stage) + 0.5), 1);
    slots = pyro_real(pyro_sql_property_int(app, stage->sql, "spark.sql.files.minPartitionNum", pyro_whole(slots)));
    return fmin(most, fmax(open, (scan->bytes + scan->files * open) / fmax(slots, 1)));
}

static void examine_scan(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_file_scan *scan)
{
    const struct pyro_app *app = context->app;
    if (scan->stage < 0 || scan->files < 1 || scan->format == PYRO_FILE_SCAN_PARQUET ||
        scan->format == PYRO_FILE_SCAN_ORC || scan->format == PYRO_FILE_SCAN_AVRO || coalesced(scan->plan))
        return;
    const struct pyro_stage *stage = &app->stages.items[scan->stage];
    double split = split_bytes(app, stage, scan), largest = largest_input(app, stage);
    /* Readers of whole documents may not count what they read: then the tasks must be as many as the files. */
    if (largest < scan->bytes / scan->files / 4 && fabs(pyro_real(stage->partitions) - scan->files) < 0.5)
        largest = scan->bytes / scan->files;
    if (largest < pyro_limit(context, SPLIT_RATIO) * split)
        return;
    struct pyro_slice place = pyro_op_metadata(scan->plan, scan->op, "Location");
    bool gzip = pyro_slice_find(place, ".gz") || pyro_slice_find(scan->plan->ops[scan->op].node->detail, ".gz");
    add(context, spots, (size_t)scan->stage,
        (double[10]){scan->files, scan->bytes, largest, split, 0, 0, 0, (double)scan->format, gzip});
}

/* "file:/logs/2024.csv.gz MapPartitionsRDD": text RDDs are called by their path. */
static void examine_rdds(struct pyro_rule_context *context, struct pyro_spots *spots)
{
    const struct pyro_app *app = context->app;
    bool *gzip = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(bool));
    bool *joined = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(bool));
    if (!gzip || !joined) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < app->stages.count; i++)
        gzip[i] = joined[i] = false;
    for (size_t i = 0; i < app->rdds.count; i++) {
        ptrdiff_t row = pyro_app_find_stage(app, app->rdds.items[i].stage, 0);
        if (row >= 0 && pyro_slice_find(app->rdds.items[i].name, ".gz"))
            gzip[row] = true;
        if (row >= 0 && (pyro_slice_is(app->rdds.items[i].name, "CoalescedRDD") || app->rdds.items[i].cached > 0))
            joined[row] = true;
    }
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->sql != PYRO_NONE || pyro_real(stage->input_bytes) <= 0 || joined[i])
            continue;
        double largest = largest_input(app, stage),
               mean = pyro_real(stage->input_bytes) / fmax(pyro_real(stage->partitions), 1);
        double slots = pyro_stage_slots(app, stage);
        bool named = gzip[i] && pyro_real(stage->partitions) < slots && largest > 16.0 * 1024 * 1024;
        if (largest < pyro_limit(context, RDD_BYTES) && !named)
            continue;
        add(context, spots, i,
            (double[10]){pyro_real(stage->partitions), pyro_real(stage->input_bytes), largest,
                         fmin(mean, pyro_limit(context, RDD_BYTES) / 1.5), 0, 0, 0, PYRO_FILE_SCAN_TEXT, gzip[i]});
    }
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot)
{
    const char *verify =
        "In the next run the stage that reads this has at least as many tasks as slots, with even durations.";
    enum pyro_file_scan_format format = (enum pyro_file_scan_format)spot->value[FORMAT];
    bool sql = pyro_stage_is_sql(&context->app->stages.items[spot->stage]);
    double wanted = fmax(fmax(spot->value[SLOTS], ceil(spot->value[BYTES] / fmax(spot->value[SPLIT], 1))), 2);
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Use a splittable format: Parquet or ORC (with internal compression), %s. Or use "
                                     "at least %.0f smaller files instead of %.0f.",
                                     spot->value[GZIP] > 0           ? "bzip2 or zstd blocks instead of gzip"
                                     : format == PYRO_FILE_SCAN_JSON ? "one JSON document per line instead of multiLine"
                                     : format == PYRO_FILE_SCAN_CSV  ? "CSV without gzip and without multiLine"
                                                                     : "text without gzip",
                                     wanted, spot->value[FILES]),
                            verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("spark.read.csv(path).write.option(\"compression\", \"zstd\").parquet(copy)  # "
                               "once; later read the copy");
    advice = pyro_finding_advise(context, finding,
                                 pyro_say(context,
                                          "Until then call repartition() directly after reading, so that at least the "
                                          "following steps use all %.0f slots.",
                                          spot->value[SLOTS]),
                                 verify);
    if (advice)
        advice->code = pyro_say(context, "%s.repartition(%.0f)", sql ? "spark.read.csv(path)" : "sc.textFile(path)",
                                fmax(2 * spot->value[SLOTS], 2));
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_app *app = context->app;
    const struct pyro_spot *spot = &spots->list.items[first];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_unsplittable_input);
    if (!finding)
        return;
    const struct pyro_stage *stage = &app->stages.items[spot->stage];
    bool sql = pyro_stage_is_sql(stage);
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(
        context,
        "%s read %s%s in %s, up to %s in one task. Spark splits splittable files into parts of %s. The longest task "
        "took %s while %.0f slots were available.%s",
        pyro_say_stage(context, spot->stage),
        sql ? pyro_say(context, "%s of ",
                       spot->value[GZIP] > 0 ? pyro_say_count(context, spot->value[FILES], "gzip file", "gzip files")
                                             : pyro_say_count(context, spot->value[FILES], "file", "files"))
                  .ptr
            : "",
        pyro_say_bytes(context, spot->value[BYTES]), pyro_say_count(context, spot->value[TASKS], "task", "tasks"),
        pyro_say_bytes(context, spot->value[LARGEST]), pyro_say_bytes(context, spot->value[SPLIT]),
        pyro_say_ms(context, pyro_real(stage->duration_max)), spot->value[SLOTS],
        end - first > 1 ? pyro_say(context, " This applies to %zu scans at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "files", spot->value[FILES], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "tasks", spot->value[TASKS], spot->value[SLOTS], "count");
    pyro_finding_evidence(context, finding, "largest_task_bytes", spot->value[LARGEST], spot->value[SPLIT], "bytes");
    pyro_finding_evidence(context, finding, "longest_task_ms", pyro_real(stage->duration_max), (double)NAN, "ms");
    pyro_finding_merged(context, finding, "scans", end - first);
    advise(context, finding, spot);
    finding->confidence *= sql ? 0.9 : spot->value[GZIP] > 0 ? 0.85 : 0.6;
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        double count = fmax(one->value[SLOTS], ceil(one->value[BYTES] / fmax(one->value[SPLIT], 1)));
        count = fmin(fmax(count, one->value[TASKS]), 100000);
        count = ceil(count / fmax(one->value[SLOTS], 1)) * fmax(one->value[SLOTS], 1); /* files of one size, in waves */
        pyro_remedy_split(context, finding, one->stage, pyro_whole(count));
    }
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    if (context->app->numbers.input_bytes <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!pyro_file_scans_load(context, &scans))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = PYRO_VERDICT_QUIET;
    for (size_t i = 0; i < scans.list.count && !context->failed; i++)
        examine_scan(context, &spots, &scans.list.items[i]);
    examine_rdds(context, &spots);
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_file_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_unsplittable_input = {
    .id = "unsplittable-input",
    .category = "io",
    .effort = PYRO_EFFORT_DATA,
    .title = "Unsplittable input",
    .summary = "Large files that only one task can read (gzip, multi-line CSV or JSON), while other slots are idle.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
