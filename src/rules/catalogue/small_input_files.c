/* small-input-files: the input lies in so many small files that opening them costs more than reading. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MIB (1024.0 * 1024)
/* Opening a small file and reading its footer: some 10 ms on HDFS and local disks, 50 ms and more on object stores. */
#define OPEN_MS      10.0
#define OPEN_FAST_MS 3.0
#define OPEN_SLOW_MS 50.0

enum { SMALL_BYTES, FILES_MIN, HARM_FILES, SAVING_MIN_SHARE, TARGET_FILE_BYTES };
static const struct pyro_threshold thresholds[] = {
    [SMALL_BYTES] =
        {"mean_bytes_max", 4.0 * 1024 * 1024, "bytes",
         "Maximum mean file size: smaller files cost more to open than to read by Spark's estimate (openCostInBytes)"},
    [FILES_MIN] = {"files_min", 100, "count", "Quiet with fewer small files"},
    [HARM_FILES] = {"harm_files_min", 1000, "count",
                    "At this number, the small files of a scan are a load for the file system and all its readers"},
    [SAVING_MIN_SHARE] =
        {"saving_share_min", 0.02, "share",
         "Quiet if the saving is a smaller share of the wall time, unless the number of files is harmful"},
    [TARGET_FILE_BYTES] = {"target_bytes", 128.0 * 1024 * 1024, "bytes", "Recommendation: files of this size"},
};

enum { FILES, BYTES, SCANS, TASKS_EACH };

static double metric(const struct pyro_app *app, size_t first, size_t end, const char *name)
{
    for (size_t i = first; i < end; i++)
        if (pyro_slice_is(app->sql_metrics.items[i].name, name))
            return pyro_real(app->sql_metrics.items[i].value);
    return 0;
}

/* First stage of a SQL execution that reads input, or -1. */
static ptrdiff_t reading_stage(const struct pyro_app *app, int64_t sql)
{
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].sql == sql && app->stages.items[i].input_bytes > 0)
            return (ptrdiff_t)i;
    return -1;
}

/* The wall time that opening `files` files instead of few cost this stage. */
static void price(struct pyro_rule_context *context, struct pyro_case *found, double files, double bytes)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    double needless = fmax(0, files - ceil(bytes / pyro_limit(context, TARGET_FILE_BYTES)));
    double run = fmax(pyro_real(stage->run_ms), 1), begin = (double)pyro_stage_begin(stage);
    double end = stage->completed_ms == PYRO_NONE ? begin : (double)stage->completed_ms;
    pyro_case_saves(context, found, begin, end, 1);
    double whole = found->expected;
    /* Never more than most of the time that the reading tasks ran. */
    double low = fmin(needless * OPEN_FAST_MS / run, 0.5), expected = fmin(needless * OPEN_MS / run, 0.8),
           high = fmin(needless * OPEN_SLOW_MS / run, 0.95);
    found->low = whole * low;
    found->expected = whole * expected;
    found->high = whole * high;
    pyro_remedy_stage(context, pyro_case_remedy(context, found), found->stage, 1 - high);
    found->value[FILES] = files;
    found->value[BYTES] = bytes;
    found->value[SCANS] = 1;
    found->value[TASKS_EACH] = pyro_real(stage->tasks);
}

/* Scans of SQL plans say themselves how many files they read. */
static void examine_sql(struct pyro_rule_context *context, struct pyro_cases *cases)
{
    const struct pyro_app *app = context->app;
    const struct pyro_sql_metric *metrics = app->sql_metrics.items;
    for (size_t i = 0, end; i < app->sql_metrics.count && !context->failed; i = end) {
        for (end = i + 1; end < app->sql_metrics.count && metrics[end].sql == metrics[i].sql &&
                          metrics[end].node == metrics[i].node;)
            end++;
        double files = metric(app, i, end, "number of files read");
        double bytes = metric(app, i, end, "size of files read");
        if (files < pyro_limit(context, FILES_MIN) || bytes / files >= pyro_limit(context, SMALL_BYTES))
            continue;
        ptrdiff_t row = reading_stage(app, metrics[i].sql);
        struct pyro_case *found = row >= 0 ? pyro_cases_add(context, cases, (size_t)row) : NULL;
        if (found)
            price(context, found, files, bytes);
    }
}

static bool any_cached(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->rdds.count; i++)
        if (app->rdds.items[i].cached > 0)
            return true;
    return false;
}

/* RDDs read one file or more a task; tasks that read almost nothing show it. Cached blocks count as input too, so that
 * an application that caches is left alone. */
static void examine_rdds(struct pyro_rule_context *context, struct pyro_cases *cases)
{
    const struct pyro_app *app = context->app;
    if (any_cached(app))
        return;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double tasks = pyro_real(stage->tasks);
        if (stage->sql != PYRO_NONE || tasks < pyro_limit(context, FILES_MIN) ||
            pyro_real(stage->input_bytes) < tasks ||
            pyro_real(stage->input_bytes) / tasks >= pyro_limit(context, SMALL_BYTES) ||
            tasks < 4 * pyro_stage_slots(app, stage))
            continue;
        struct pyro_case *found = pyro_cases_add(context, cases, i);
        if (found)
            price(context, found, tasks, pyro_real(stage->input_bytes));
    }
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const struct pyro_stage *stage = &context->app->stages.items[found->stage];
    const char *verify = "In the next run \"number of files read\" of the scan (Spark UI, SQL page), or the number of "
                         "tasks of this stage, is far smaller.";
    double wanted = fmax(ceil(found->value[BYTES] / pyro_limit(context, TARGET_FILE_BYTES)), 1);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Write this input as %.0f file%s of up to 128 MiB: repartition before writing it, or compact it "
                 "regularly (OPTIMIZE for Delta, rewrite_data_files for Iceberg).",
                 wanted, wanted > 1 ? "s" : ""),
        verify);
    if (advice)
        advice->code = pyro_say(context, "df.repartition(%.0f).write...", wanted);
    if (!pyro_stage_is_sql(stage)) {
        advice =
            pyro_finding_advise(context, finding,
                                PYRO_SLICE_LITERAL("Until then read several files in one task: wholeTextFiles with "
                                                   "few partitions, or the DataFrame reader, which packs files."),
                                verify);
        if (advice)
            advice->code = PYRO_SLICE_LITERAL("spark.read.text(path)  # instead of sc.textFile(path)");
    } else if (found->value[FILES] / fmax(found->value[TASKS_EACH], 1) < 4) {
        advice = pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Until then read more files per task: set the cost of opening a file to 1 MiB instead of 4."),
            verify);
        pyro_advice_set(context, advice, "spark.sql.files.openCostInBytes", PYRO_SLICE_LITERAL("1m"));
    }
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_small_input_files);
    if (!finding)
        return;
    const double *value = found->value;
    bool sql = pyro_stage_is_sql(&context->app->stages.items[found->stage]);
    double mean = value[BYTES] / fmax(value[FILES], 1);
    pyro_finding_at_stage(context, finding, found->stage);
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu scans at this call site.", found->merged).ptr : "";
    finding->cause =
        pyro_say(context, "%s: %.0f %s, %s on average, %s in total. Opening a file costs as much as reading 4 MiB.%s",
                 pyro_say_stage(context, found->stage), value[FILES],
                 sql ? "files were read" : "tasks each read one small part of a file", pyro_say_bytes(context, mean),
                 pyro_say_bytes(context, value[BYTES]), more);
    pyro_finding_evidence(context, finding, "files", value[FILES],
                          fmax(ceil(value[BYTES] / pyro_limit(context, TARGET_FILE_BYTES)), 1), "count");
    pyro_finding_evidence(context, finding, "mean_file_bytes", mean, pyro_limit(context, TARGET_FILE_BYTES), "bytes");
    pyro_finding_evidence(context, finding, "read_bytes", value[BYTES], (double)NAN, "bytes");
    pyro_finding_merged(context, finding, "scans", found->merged);
    advise(context, finding, found);
    finding->harm = value[FILES] >= pyro_limit(context, HARM_FILES) ? 0.2 : 0.1;
    finding->confidence *= sql ? 0.95 : 0.75;
    pyro_case_take_remedies(context, finding, found);
    double high = fmax(found->sum_high, 1);
    pyro_remedy_partly(finding, found->sum_expected / high);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->numbers.input_bytes <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    double least = pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app);
    examine_sql(context, &cases);
    examine_rdds(context, &cases);
    pyro_cases_merge(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++)
        if (cases.list.items[i].sum_expected >= least ||
            cases.list.items[i].value[FILES] >= pyro_limit(context, HARM_FILES))
            report(context, &cases.list.items[i]);
    pyro_cases_done(context, &cases);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_small_input_files = {
    .id = "small-input-files",
    .category = "io",
    .effort = PYRO_EFFORT_DATA,
    .title = "Small input files",
    .summary = "The input is in so many small files that opening them costs more than reading them.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
