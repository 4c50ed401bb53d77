/* slow-read: tasks wait for the place they read from, or the driver for lists of files. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"

/* What one stream of a healthy object store gives at the least, in bytes a millisecond. */
#define FAIR_RATE 20000.0

enum {
    BYTES_MIN,
    SCAN_SHARE,
    CPU_SHARE,
    RATE_MAX,
    ROW_BYTES_MIN,
    ROW_WAIT_SHARE,
    ROW_RATE_MAX,
    PEER_TIMES,
    LISTING_MS,
    LISTING_SHARE,
    PROCESSOR_SHARE,
    SAVING_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [BYTES_MIN] = {"bytes_min", 32.0 * 1024 * 1024, "bytes", "Minimum input of a stage to judge its rate"},
    [SCAN_SHARE] = {"scan_share_min", 0.5, "share", "Minimum share of a stage's run time in a columnar reader"},
    [CPU_SHARE] = {"cpu_share_max", 0.5, "share", "Quiet if a stage computes for a larger share: it does not wait"},
    [RATE_MAX] = {"bytes_per_ms_max", 4096, "bytes",
                  "Maximum rate of a columnar reader, per millisecond: healthy storage gives a task at least 20 MB/s"},
    [ROW_BYTES_MIN] = {"row_bytes_min", 64.0 * 1024 * 1024, "bytes",
                       "Minimum input for readers without a metric of their time"},
    [ROW_WAIT_SHARE] = {"row_wait_share_min", 0.7, "share",
                        "Minimum share of such a stage's run time that is neither computing nor shuffling"},
    [ROW_RATE_MAX] = {"row_bytes_per_ms_max", 2048, "bytes",
                      "Maximum rate of a waiting task in such a stage, per millisecond"},
    [PEER_TIMES] = {"peer_ratio_min", 8, "ratio",
                    "If the scan is at least this many times slower than another scan of the run, four times the rate "
                    "counts as slow too"},
    [LISTING_MS] = {"listing_ms_min", 5000, "ms",
                    "Quiet if listing files takes less: this is normal when a session starts"},
    [LISTING_SHARE] = {"listing_share_min", 0.1, "share", "Minimum share of the wall time for listing files"},
    [PROCESSOR_SHARE] = {"processor_share_min", 0.1, "share",
                         "Minimum CPU share of task deserialization, which is only computing: with less the host is "
                         "overloaded, and waiting says nothing about files"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { MS, RATE, BYTES, FACTOR, SCAN_MS };

/* Bytes that the stage's tasks read: Spark 4 reads Parquet in a way that the task metric misses. */
static double bytes_of(const struct pyro_file_scans *scans, const struct pyro_app *app, size_t row)
{
    double input = pyro_real(app->stages.items[row].input_bytes);
    return input > 0 && !pyro_app_spark_at_least(app, 4, 0) ? input : fmax(input, scans->bytes[row]);
}

static double rate_of(const struct pyro_file_scans *scans, const struct pyro_app *app, size_t row)
{
    return scans->timed[row] && bytes_of(scans, app, row) >= 32.0 * 1024 * 1024
               ? bytes_of(scans, app, row) / fmax(scans->scan_ms[row], 1)
               : 0;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_file_scans *scans,
                    size_t row, double best_rate)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double run = fmax(pyro_real(stage->run_ms), 1), bytes = bytes_of(scans, app, row);
    if (bytes < pyro_limit(context, BYTES_MIN) || pyro_real(stage->cpu_ms) > pyro_limit(context, CPU_SHARE) * run)
        return;
    struct pyro_stage_wait wait;
    pyro_stage_wait(scans, app, row, &wait);
    double waited, limit;
    if (wait.scan_timed) {
        waited = wait.scan_ms;
        limit = pyro_limit(context, RATE_MAX);
        if (best_rate > pyro_limit(context, PEER_TIMES) * bytes / fmax(waited, 1))
            limit *= 4;
        if (waited < pyro_limit(context, SCAN_SHARE) * run)
            return;
    } else {
        waited = wait.wait_ms;
        limit = pyro_limit(context, ROW_RATE_MAX);
        if (scans->processor_share < pyro_limit(context, PROCESSOR_SHARE) || wait.python || scans->scan_ms[row] > 0 ||
            bytes < pyro_limit(context, ROW_BYTES_MIN) || stage->output_bytes > 0 ||
            waited < pyro_limit(context, ROW_WAIT_SHARE) * run)
            return;
    }
    double rate = bytes / fmax(waited, 1);
    if (rate >= limit)
        return;
    struct pyro_spot *spot = pyro_spots_add(context, spots, row);
    if (!spot)
        return;
    double share = waited / run * (1 - rate / FAIR_RATE);
    double spread = fmax(fmin(pyro_stage_slots(app, stage), pyro_real(stage->partitions)), 1);
    spot->weight = spot->value[MS] = share * run / spread;
    spot->value[RATE] = rate * 1000;
    spot->value[BYTES] = bytes;
    spot->value[FACTOR] = 1 - share;
    spot->value[SCAN_MS] = waited;
}

/* Its settings do not help runs that read from elsewhere. */
static bool reads_s3(const struct pyro_file_scans *scans, size_t stage)
{
    for (size_t i = 0; i < scans->list.count; i++) {
        const struct pyro_file_scan *scan = &scans->list.items[i];
        if (scan->stage == (ptrdiff_t)stage &&
            pyro_slice_find(pyro_op_metadata(scan->plan, scan->op, "Location"), "s3a://"))
            return true;
    }
    return false;
}

static void report(struct pyro_rule_context *context, const struct pyro_file_scans *scans,
                   const struct pyro_spots *spots, size_t first, size_t end, double best_rate)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_stage *stage = &context->app->stages.items[spot->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_slow_read);
    if (!finding)
        return;
    double run = fmax(pyro_real(stage->run_ms), 1), cpu = pyro_real(stage->cpu_ms) / run;
    bool peer = best_rate * 1000 > 5 * spot->value[RATE];
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(
        context, "%s read %s at %s per second and task, and waited for the data for %.0f %% of its run time%s.%s",
        pyro_say_stage(context, spot->stage), pyro_say_bytes(context, spot->value[BYTES]),
        pyro_say_bytes(context, spot->value[RATE]), 100 * fmin(spot->value[SCAN_MS] / run, 1),
        peer ? pyro_say(context, "; another scan of this run got %s", pyro_say_bytes(context, best_rate * 1000)).ptr
             : "",
        end - first > 1 ? pyro_say(context, " This applies to %zu scans at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "bytes_per_task_second", spot->value[RATE],
                          peer ? best_rate * 1000 : FAIR_RATE * 1000, "bytes");
    pyro_finding_evidence(context, finding, "read_bytes", spot->value[BYTES], (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "waiting_share", fmin(spot->value[SCAN_MS] / run, 1), (double)NAN, "share");
    pyro_finding_evidence(context, finding, "cpu_share", cpu, (double)NAN, "share");
    pyro_finding_merged(context, finding, "scans", end - first);
    const char *verify = "In the next run \"scan time\" of this scan (Spark UI, SQL page) or the stage's run time is a "
                         "fraction of this, for the same size of files.";
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Check the storage: throttling (HTTP 503, SlowDown) of one prefix or "
                                           "bucket, a bucket in another region, an overloaded datanode or disk, too "
                                           "few connections (fs.s3a.connection.maximum) for the tasks of an executor."),
                        verify);
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Hide the latency: let the reader fetch larger ranges and read ahead, "
                                               "and cache data that is read again on the disks of the executors."),
                            verify);
    if (reads_s3(scans, spot->stage)) {
        pyro_advice_set(context, advice, "spark.hadoop.fs.s3a.experimental.input.fadvise",
                        PYRO_SLICE_LITERAL("random"));
        pyro_advice_set(context, advice, "spark.hadoop.fs.s3a.readahead.range", PYRO_SLICE_LITERAL("4M"));
    }
    finding->confidence *= peer ? 0.85 : stage->sql == PYRO_NONE ? 0.6 : 0.7;
    for (size_t i = first; i < end; i++)
        pyro_remedy_stage(context, finding, spots->list.items[i].stage, spots->list.items[i].value[FACTOR]);
}

/* Listing on the driver is a metric of the scan; beyond 32 folders Spark lists in jobs of its own. */
static bool report_listing(struct pyro_rule_context *context, const struct pyro_file_scans *scans)
{
    const struct pyro_app *app = context->app;
    double driver = 0, jobs = 0, files = 0;
    ptrdiff_t worst = -1;
    double worst_ms = 0;
    for (size_t i = 0; i < scans->list.count; i++) {
        const struct pyro_file_scan *scan = &scans->list.items[i];
        driver += scan->metadata_ms;
        files += scan->files;
        if (scan->metadata_ms > worst_ms && scan->stage >= 0) {
            worst = scan->stage;
            worst_ms = scan->metadata_ms;
        }
    }
    struct pyro_finding *finding = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < app->stages.count; i++) {
            const struct pyro_stage *stage = &app->stages.items[i];
            if (!pyro_stage_lists_files(app, stage))
                continue;
            if (pass)
                pyro_remedy_stage(context, finding, i, 0.2);
            else
                jobs += pyro_stage_length(stage);
            if (!pass && pyro_stage_length(stage) > worst_ms) {
                worst = (ptrdiff_t)i;
                worst_ms = pyro_stage_length(stage);
            }
        }
        if (pass)
            break;
        if (driver + jobs <
                fmax(pyro_limit(context, LISTING_MS), pyro_limit(context, LISTING_SHARE) * pyro_app_judged_wall(app)) ||
            worst < 0)
            return false;
        finding = pyro_finding_add(context, &pyro_rule_slow_read);
        if (!finding)
            return false;
        pyro_finding_at_stage(context, finding, (size_t)worst);
    }
    for (size_t i = 0; i < scans->list.count; i++) {
        const struct pyro_file_scan *scan = &scans->list.items[i];
        if (scan->metadata_ms < 100 || scan->stage < 0)
            continue;
        double from = pyro_real(scan->plan->sql->submitted_ms);
        double to = fmin(from + scan->metadata_ms, pyro_real(app->stages.items[scan->stage].submitted_ms));
        if (to > from)
            pyro_remedy_driver(context, finding, pyro_whole(from), pyro_whole(to), 0.2);
    }
    finding->title = PYRO_SLICE_LITERAL("Slow file listing");
    finding->cause =
        pyro_say(context,
                 "Before the run read any data, listing files took %s: %s on the driver and %s in Spark's own jobs "
                 "(\"Listing leaf files and directories\").",
                 pyro_say_ms(context, driver + jobs), pyro_say_ms(context, driver), pyro_say_ms(context, jobs));
    pyro_finding_evidence(context, finding, "listing_ms", driver + jobs, pyro_limit(context, LISTING_MS), "ms");
    pyro_finding_evidence(context, finding, "listing_jobs_ms", jobs, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "files", files, (double)NAN, "count");
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Register the table in a catalog, or use a table format that knows its files (Hive "
                           "metastore with partitions, Delta Lake, Iceberg). Read the table once and keep the "
                           "DataFrame instead of reading the path each time. Use fewer folders and files."),
        "In the next run the \"metadata time\" of the scans and the jobs named \"Listing leaf files and directories\" "
        "are short.");
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("events = spark.table(\"db.events\")  # once, instead of spark.read.parquet(path) "
                               "for each query");
    finding->confidence *= 0.8;
    return true;
}

/* The fastest scan that is large enough to be compared with. */
static double best_of(const struct pyro_file_scans *scans, const struct pyro_app *app)
{
    double best = 0;
    for (size_t i = 0; i < app->stages.count; i++)
        best = fmax(best, rate_of(scans, app, i));
    return best;
}

static bool any_cached(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->rdds.count; i++)
        if (app->rdds.items[i].cached > 0)
            return true;
    return false;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    if (app->numbers.input_bytes <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!pyro_file_scans_load(context, &scans))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = PYRO_VERDICT_QUIET;
    double best = best_of(&scans, app), least = pyro_limit(context, SAVING_SHARE) * pyro_app_judged_wall(app);
    bool cached = any_cached(app); /* blocks of cached RDDs count as input */
    for (size_t i = 0; i < app->stages.count && !context->failed; i++)
        if (scans.bytes[i] > 0 || (!cached && app->stages.items[i].input_bytes > 0))
            examine(context, &spots, &scans, i, best);
    pyro_spots_group(context, &spots);
    for (size_t i = 0, end; i < spots.list.count && !context->failed; i = end) {
        end = pyro_spots_end(&spots, i);
        if (pyro_spots_weight(&spots, i, end) < least)
            continue;
        report(context, &scans, &spots, i, end, best);
        verdict = PYRO_VERDICT_FINDING;
    }
    if (report_listing(context, &scans))
        verdict = PYRO_VERDICT_FINDING;
    pyro_spots_done(context, &spots);
    pyro_file_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_slow_read = {
    .id = "slow-read",
    .category = "io",
    .title = "Slow reading",
    .summary = "Tasks wait for the data source far longer than they compute, or the driver waits for lists of files.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"small-input-files", "unsplittable-input"},
    .evaluate = evaluate,
};
