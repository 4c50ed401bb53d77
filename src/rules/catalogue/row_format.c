/* row-format: CSV, JSON, XML or text parsed again and again where columnar files would be read; output whose
 * compression is missing or slow. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"
#include "rules/plans/write_codec.h"

#define MIB (1024.0 * 1024)

enum {
    BYTES_MIN,
    CSV_MS,
    JSON_MS,
    XML_MS,
    TEXT_MS,
    SAVING_SHARE,
    PLAIN_BYTES,
    PLAIN_TEXT_BYTES,
    HEAVY_BYTES,
    SLOW_MS,
    SLOWEST_MS
};
static const struct pyro_threshold thresholds[] = {
    [BYTES_MIN] = {"bytes_min", 32.0 * 1024 * 1024, "bytes", "Quiet below: parsing smaller files is quick"},
    [CSV_MS] = {"csv_ms_per_mib", 15, "ms", "Task time to parse 1 MiB of CSV; the rest is other work of the query"},
    [JSON_MS] = {"json_ms_per_mib", 20, "ms", "The same for JSON"},
    [XML_MS] = {"xml_ms_per_mib", 40, "ms", "The same for XML"},
    [TEXT_MS] = {"text_ms_per_mib", 5, "ms", "The same for lines of text"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
    [PLAIN_BYTES] = {"plain_bytes_min", 256.0 * 1024 * 1024, "bytes",
                     "Minimum size of columnar output without compression, which is not the default"},
    [PLAIN_TEXT_BYTES] =
        {"plain_text_bytes_min", 1024.0 * 1024 * 1024, "bytes",
         "Minimum size of text output without compression, which is Spark's default and practical for small files"},
    [HEAVY_BYTES] = {"heavy_bytes_min", 10.0 * 1024 * 1024 * 1024, "bytes",
                     "At this size uncompressed output is a burden for its readers"},
    [SLOW_MS] = {"slow_ms_per_mib", 100, "ms",
                 "Extra task time of gzip, deflate and brotli over zstd for 1 MiB of output, as measured (corpus/loop, "
                 "extract)"},
    [SLOWEST_MS] = {"slowest_ms_per_mib", 250, "ms", "The same for bzip2 and xz"},
};

enum { BYTES, FORMAT, MS, FACTOR, INFERENCE, COLUMNS };
enum { PARSED, WRITTEN_PLAIN, WRITTEN_SLOWLY }; /* kinds of spots */

static double parse_ms(const struct pyro_rule_context *context, enum pyro_file_scan_format format, double bytes)
{
    double each = format == PYRO_FILE_SCAN_CSV    ? pyro_limit(context, CSV_MS)
                  : format == PYRO_FILE_SCAN_JSON ? pyro_limit(context, JSON_MS)
                  : format == PYRO_FILE_SCAN_XML  ? pyro_limit(context, XML_MS)
                                                  : pyro_limit(context, TEXT_MS);
    return bytes / MIB * each;
}

/* Reading to write it all elsewhere, once, is how data gets out of CSV. */
static bool writes(const struct pyro_plan_tree *plan)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->ops[i].class == PYRO_OPERATOR_WRITE)
            return true;
    return false;
}

static double columns_of(const struct pyro_file_scan *scan)
{
    struct pyro_slice schema = pyro_op_metadata(scan->plan, scan->op, "ReadSchema");
    double count = 0;
    int depth = 0;
    for (size_t i = 0; i < schema.len; i++) {
        depth += schema.ptr[i] == '<' || schema.ptr[i] == '(';
        depth -= schema.ptr[i] == '>' || schema.ptr[i] == ')';
        count += depth == 1 && schema.ptr[i] == ':';
    }
    return count;
}

struct table {
    struct pyro_slice place;
    const struct pyro_file_scan *scan;
};

static int by_place(const void *left, const void *right)
{
    const struct table *a = left, *b = right;
    int order = pyro_slice_compare(a->place, b->place);
    if (order)
        return order;
    return a->scan < b->scan ? -1 : a->scan > b->scan;
}

static void add(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_file_scan *scan)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[scan->stage];
    double run = fmax(pyro_real(stage->run_ms), 1), bytes = scan->bytes;
    /* A limit may have stopped it early. */
    if (stage->input_bytes > 0)
        bytes = fmin(bytes, pyro_real(stage->input_bytes));
    double ms = fmin(parse_ms(context, scan->format, bytes), 0.9 * run);
    struct pyro_spot *spot =
        bytes >= pyro_limit(context, BYTES_MIN) ? pyro_spots_add(context, spots, (size_t)scan->stage) : NULL;
    if (!spot)
        return;
    spot->value[BYTES] = bytes;
    spot->value[FORMAT] = (double)scan->format;
    spot->value[MS] = ms;
    spot->value[FACTOR] = 1 - ms / run;
    spot->value[COLUMNS] = columns_of(scan);
    spot->weight = ms / fmax(fmin(pyro_stage_slots(app, stage), pyro_real(stage->partitions)), 1);
}

/* Scans of one place count when it is read again, or by a query that does not store what it read. */
static void examine_scans(struct pyro_rule_context *context, struct pyro_spots *spots,
                          const struct pyro_file_scans *scans)
{
    struct table *tables = pyro_arena_array(context->arena, scans->list.count + 1, sizeof(*tables));
    size_t count = 0;
    if (!tables) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < scans->list.count; i++) {
        const struct pyro_file_scan *scan = &scans->list.items[i];
        if (pyro_file_scan_is_rows(scan->format) && scan->stage >= 0)
            tables[count++] = (struct table){pyro_op_metadata(scan->plan, scan->op, "Location"), scan};
    }
    if (count > 1)
        qsort(tables, count, sizeof(*tables), by_place);
    for (size_t i = 0, end; i < count && !context->failed; i = end) {
        for (end = i + 1; end < count && pyro_slice_eq(tables[end].place, tables[i].place);)
            end++;
        for (size_t k = i; k < end; k++) {
            const struct pyro_file_scan *scan = tables[k].scan;
            bool once = end - i == 1;
            if (once && (scan->format == PYRO_FILE_SCAN_TEXT || writes(scan->plan)))
                continue;
            add(context, spots, scan);
        }
    }
}

static enum pyro_file_scan_format inferred(const struct pyro_stage *stage)
{
    return pyro_slice_starts_with(stage->name, "csv at ")    ? PYRO_FILE_SCAN_CSV
           : pyro_slice_starts_with(stage->name, "json at ") ? PYRO_FILE_SCAN_JSON
           : pyro_slice_starts_with(stage->name, "xml at ")  ? PYRO_FILE_SCAN_XML
                                                             : PYRO_FILE_SCAN_OTHER;
}

/* A pass over the input that only finds out its types: a job called by the reader itself. */
static void examine_inference(struct pyro_rule_context *context, struct pyro_spots *spots)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        enum pyro_file_scan_format format = inferred(stage);
        if (format == PYRO_FILE_SCAN_OTHER || pyro_real(stage->input_bytes) < pyro_limit(context, BYTES_MIN) ||
            stage->output_bytes > 0 || stage->shuffle_write_bytes > 0)
            continue;
        struct pyro_spot *spot = pyro_spots_add(context, spots, i);
        if (!spot)
            return;
        spot->value[BYTES] = pyro_real(stage->input_bytes);
        spot->value[FORMAT] = (double)format;
        spot->value[MS] = pyro_real(stage->run_ms);
        spot->value[INFERENCE] = 1;
        spot->weight = pyro_stage_length(stage);
    }
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, double inference, double reads,
                   const char *format)
{
    if (inference > 0) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context,
                     "Give the schema to the reader. Then Spark does not read the input an extra time to infer it%s.",
                     inference > 1 ? pyro_say(context, " (%.0f times in this run)", inference).ptr : ""),
            "In the next run no job named \"csv at ...\" or \"json at ...\" reads the whole input.");
        if (advice)
            advice->code =
                PYRO_SLICE_LITERAL("spark.read.schema(\"id BIGINT, day DATE, price DECIMAL(9,2)\").csv(path)");
    }
    if (reads <= 0)
        return;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Store the data once as Parquet (or ORC, Delta, Iceberg) and read that. Spark then reads only the "
                 "columns that a query needs, and does not parse text. Use %s for exchange between programs.",
                 format),
        "In the next run the plan has \"Scan parquet\" with a fraction of this input size, and the stage is shorter.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("spark.read.schema(...).csv(path).write.option(\"compression\", \"zstd\")"
                                          ".parquet(copy)");
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_row_format);
    if (!finding)
        return;
    double inference = pyro_spots_sum(spots, first, end, INFERENCE), reads = (double)(end - first) - inference;
    double bytes = pyro_spots_sum(spots, first, end, BYTES), ms = pyro_spots_sum(spots, first, end, MS);
    const char *format = pyro_file_scan_format_name((enum pyro_file_scan_format)spot->value[FORMAT]);
    pyro_finding_at_stage(context, finding, spot->stage);
    const char *what =
        inference > 0 && reads > 0
            ? pyro_say(context, "read %.0f times, and %.0f more times to infer the schema", reads, inference).ptr
        : inference > 0
            ? pyro_say(context, "read %s only to infer the schema", pyro_say_count(context, inference, "time", "times"))
                  .ptr
        : reads > 1 ? pyro_say(context, "parsed %.0f times", reads).ptr
                    : "parsed";
    finding->cause = pyro_say(
        context, "%s: %s of %s were %s, which took about %s of task time%s.", pyro_say_stage(context, spot->stage),
        pyro_say_bytes(context, bytes), format, what, pyro_say_ms(context, ms),
        spot->value[COLUMNS] > 0 ? pyro_say(context, "; the query used %s of it",
                                            pyro_say_count(context, spot->value[COLUMNS], "column", "columns"))
                                       .ptr
                                 : "");
    pyro_finding_evidence(context, finding, "parsed_bytes", bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "parse_ms", ms, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "reads", reads, 0, "count");
    pyro_finding_evidence(context, finding, "inference_passes", inference, 0, "count");
    if (spot->value[COLUMNS] > 0)
        pyro_finding_evidence(context, finding, "columns_used", spot->value[COLUMNS], (double)NAN, "count");
    advise(context, finding, inference, reads, format);
    finding->confidence *= inference > 0 || reads > 1 ? 0.85 : 0.7;
    pyro_remedy_partly(finding, 0.8);
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        if (one->value[INFERENCE] > 0)
            pyro_remedy_skip(context, finding, one->stage);
        else
            pyro_remedy_stage(context, finding, one->stage, one->value[FACTOR]);
    }
}

static void examine_write(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_write *write,
                          struct pyro_write_format *format)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[write->stage];
    pyro_write_format(app, write, format);
    bool plain = format->codec == PYRO_CODEC_NONE;
    double least = pyro_limit(context, pyro_file_scan_is_rows(format->format) ? PLAIN_TEXT_BYTES : PLAIN_BYTES);
    if (format->format == PYRO_FILE_SCAN_OTHER || format->codec == PYRO_CODEC_UNKNOWN ||
        format->codec == PYRO_CODEC_FAST || (plain && write->bytes < least))
        return;
    double each = pyro_limit(context, format->codec == PYRO_CODEC_SLOWEST ? SLOWEST_MS : SLOW_MS);
    double run = fmax(pyro_real(stage->run_ms), 1), ms = plain ? 0 : fmin(write->bytes / MIB * each, 0.6 * run);
    struct pyro_spot *spot = pyro_spots_add(context, spots, write->stage);
    if (!spot)
        return;
    spot->kind = plain ? WRITTEN_PLAIN : WRITTEN_SLOWLY;
    spot->about = format;
    spot->value[BYTES] = write->bytes;
    spot->value[FORMAT] = (double)format->format;
    spot->value[MS] = ms;
    spot->value[FACTOR] = 1 - ms / run;
    spot->weight = ms / fmax(fmin(pyro_stage_slots(app, stage), pyro_real(stage->partitions)), 1);
}

static void advise_codec(struct pyro_rule_context *context, struct pyro_finding *finding,
                         const struct pyro_write_format *format, bool plain)
{
    const char *verify =
        plain ? "In the next run the output of the stage has a half to a fifth of this size."
              : "In the next run the stage that writes is shorter, and its output has about the same size.";
    bool rows = pyro_file_scan_is_rows(format->format);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        rows ? PYRO_SLICE_LITERAL("Write Parquet or ORC with zstd: it is smaller than compressed text, and readers can "
                                  "split it and read single columns.")
        : format->from_option
            ? PYRO_SLICE_LITERAL("Remove the compression option of the writer, or set it to zstd.")
            : PYRO_SLICE_LITERAL("Compress with zstd: almost as small as gzip, almost as fast as no compression."),
        verify);
    if (!advice)
        return;
    if (rows || format->from_option)
        advice->code = rows ? PYRO_SLICE_LITERAL("df.write.option(\"compression\", \"zstd\").parquet(path)")
                            : PYRO_SLICE_LITERAL("df.write.option(\"compression\", \"zstd\")");
    else {
        pyro_advice_set(context, advice, format->key, PYRO_SLICE_LITERAL("zstd"));
        advice->edits = true;
    }
}

static void report_write(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_write_format *format = spot->about;
    bool plain = spot->kind == WRITTEN_PLAIN;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_row_format);
    if (!finding)
        return;
    double bytes = pyro_spots_sum(spots, first, end, BYTES), ms = pyro_spots_sum(spots, first, end, MS);
    const char *name = pyro_file_scan_format_name((enum pyro_file_scan_format)spot->value[FORMAT]);
    finding->title = plain ? PYRO_SLICE_LITERAL("Output not compressed") : PYRO_SLICE_LITERAL("Slow compression");
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause =
        plain ? pyro_say(context,
                         "%s: %s of %s were written without compression. Storing and reading them takes two to five "
                         "times the bytes.",
                         pyro_say_stage(context, spot->stage), pyro_say_bytes(context, bytes), name)
              : pyro_say(context,
                         "%s: %s of %s were compressed with %.*s, which takes about %s of task time more than zstd.",
                         pyro_say_stage(context, spot->stage), pyro_say_bytes(context, bytes), name,
                         (int)format->name.len, format->name.ptr, pyro_say_ms(context, ms));
    pyro_finding_evidence(context, finding, "written_bytes", bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "writes", (double)(end - first), (double)NAN, "count");
    if (!plain)
        pyro_finding_evidence(context, finding, "compress_ms", ms, 0, "ms");
    finding->confidence *= pyro_file_scan_is_rows(format->format) ? 0.6 : 0.8;
    if (plain)
        finding->harm = bytes >= pyro_limit(context, HEAVY_BYTES) ? 0.5 : 0.2;
    advise_codec(context, finding, format, plain);
    pyro_remedy_partly(finding, 0.8);
    for (size_t i = first; !plain && i < end; i++)
        pyro_remedy_stage(context, finding, spots->list.items[i].stage, spots->list.items[i].value[FACTOR]);
}

static bool judge_writes(struct pyro_rule_context *context)
{
    struct pyro_writes writes;
    struct pyro_spots spots = {0};
    if (!pyro_writes_load(context, &writes))
        return false;
    struct pyro_write_format *formats = pyro_arena_array(context->arena, writes.list.count + 1, sizeof(*formats));
    context->failed |= !formats;
    for (size_t i = 0; i < writes.list.count && !context->failed; i++)
        examine_write(context, &spots, &writes.list.items[i], &formats[i]);
    pyro_spots_group(context, &spots);
    double least = pyro_limit(context, SAVING_SHARE) * pyro_app_judged_wall(context->app);
    bool found = false;
    for (size_t i = 0, end; i < spots.list.count && !context->failed; i = end) {
        end = pyro_spots_end(&spots, i);
        if (spots.list.items[i].kind != WRITTEN_PLAIN && pyro_spots_weight(&spots, i, end) < least)
            continue;
        report_write(context, &spots, i, end);
        found = true;
    }
    pyro_spots_done(context, &spots);
    pyro_writes_done(context, &writes);
    return found;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    if (context->app->numbers.input_bytes <= 0 && context->app->numbers.output_bytes <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    enum pyro_verdict verdict = judge_writes(context) ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
    if (context->failed || !pyro_file_scans_load(context, &scans))
        return verdict;
    examine_scans(context, &spots, &scans);
    examine_inference(context, &spots);
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_file_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_row_format = {
    .id = "row-format",
    .category = "io",
    .effort = PYRO_EFFORT_DATA,
    .title = "Row format",
    .summary = "The run parses CSV, JSON, XML or text instead of reading columnar files, or reads it an extra time to "
               "infer the schema. Or it writes output without compression, or with a slow codec.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
