/* row-format: CSV, JSON, XML or text parsed again and again where columnar files would be read. */
#include <math.h>
#include <stdlib.h>

#include "rules/facts.h"
#include "rules/finding.h"
#include "rules/remedy.h"
#include "rules/scans.h"
#include "rules/sites.h"

#define MIB (1024.0 * 1024)

enum { BYTES_MIN, CSV_MS, JSON_MS, XML_MS, TEXT_MS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [BYTES_MIN] = {"bytes_min", 32.0 * 1024 * 1024, "bytes", "Smaller files are parsed in a moment"},
    [CSV_MS] = {"csv_ms_per_mib", 15, "ms",
                "Of a task, parsing 1 MiB of CSV; what goes beyond is the query's own work"},
    [JSON_MS] = {"json_ms_per_mib", 20, "ms", "The same for JSON"},
    [XML_MS] = {"xml_ms_per_mib", 40, "ms", "The same for XML"},
    [TEXT_MS] = {"text_ms_per_mib", 5, "ms", "The same for lines of text"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet below this share of the application"},
};

enum { BYTES, FORMAT, MS, FACTOR, INFERENCE, COLUMNS };

static double parse_ms(const struct pyro_rule_context *context, enum pyro_scan_format format, double bytes)
{
    double each = format == PYRO_SCAN_CSV    ? pyro_limit(context, CSV_MS)
                  : format == PYRO_SCAN_JSON ? pyro_limit(context, JSON_MS)
                  : format == PYRO_SCAN_XML  ? pyro_limit(context, XML_MS)
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

static double columns_of(const struct pyro_scan *scan)
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
    const struct pyro_scan *scan;
};

static int by_place(const void *left, const void *right)
{
    const struct table *a = left, *b = right;
    int order = pyro_slice_compare(a->place, b->place);
    if (order)
        return order;
    return a->scan < b->scan ? -1 : a->scan > b->scan;
}

static void add(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_scan *scan)
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
static void examine_scans(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_scans *scans)
{
    struct table *tables = pyro_arena_array(context->arena, scans->list.count + 1, sizeof(*tables));
    size_t count = 0;
    if (!tables) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < scans->list.count; i++) {
        const struct pyro_scan *scan = &scans->list.items[i];
        if (pyro_scan_is_rows(scan->format) && scan->stage >= 0)
            tables[count++] = (struct table){pyro_op_metadata(scan->plan, scan->op, "Location"), scan};
    }
    if (count > 1)
        qsort(tables, count, sizeof(*tables), by_place);
    for (size_t i = 0, end; i < count && !context->failed; i = end) {
        for (end = i + 1; end < count && pyro_slice_eq(tables[end].place, tables[i].place);)
            end++;
        for (size_t k = i; k < end; k++) {
            const struct pyro_scan *scan = tables[k].scan;
            bool once = end - i == 1;
            if (once && (scan->format == PYRO_SCAN_TEXT || writes(scan->plan)))
                continue;
            add(context, spots, scan);
        }
    }
}

static enum pyro_scan_format inferred(const struct pyro_stage *stage)
{
    return pyro_slice_starts_with(stage->name, "csv at ")    ? PYRO_SCAN_CSV
           : pyro_slice_starts_with(stage->name, "json at ") ? PYRO_SCAN_JSON
           : pyro_slice_starts_with(stage->name, "xml at ")  ? PYRO_SCAN_XML
                                                             : PYRO_SCAN_OTHER;
}

/* A pass over the input that only finds out its types: a job called by the reader itself. */
static void examine_inference(struct pyro_rule_context *context, struct pyro_spots *spots)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        enum pyro_scan_format format = inferred(stage);
        if (format == PYRO_SCAN_OTHER || pyro_real(stage->input_bytes) < pyro_limit(context, BYTES_MIN) ||
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
            pyro_say(context, "Give the reader the schema: it then does not read everything once more to guess it%s.",
                     inference > 1 ? pyro_say(context, " (%.0f times in this run)", inference).ptr : ""),
            "In the next run there is no job called \"csv at ...\" or \"json at ...\" that reads the whole input.");
        if (advice)
            advice->code =
                PYRO_SLICE_LITERAL("spark.read.schema(\"id BIGINT, day DATE, price DECIMAL(9,2)\").csv(path)");
    }
    if (reads <= 0)
        return;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "Store it once as Parquet (or ORC, Delta, Iceberg) and read that: columns that a query does not name "
                 "are not read at all, and nothing is parsed. %s is for exchange between programs.",
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
    const char *format = pyro_scan_format_name((enum pyro_scan_format)spot->value[FORMAT]);
    pyro_finding_at_stage(context, finding, spot->stage);
    const char *what =
        inference > 0 && reads > 0
            ? pyro_say(context, "read %.0f times and once more %.0f times to guess its types", reads, inference).ptr
        : inference > 0
            ? pyro_say(context, "read %s only to guess its types", pyro_say_count(context, inference, "time", "times"))
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
    pyro_remedy_sure(finding, 0.4, 0.8, 1);
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *one = &spots->list.items[i];
        if (one->value[INFERENCE] > 0)
            pyro_remedy_skip(context, finding, one->stage);
        else
            pyro_remedy_stage(context, finding, one->stage, one->value[FACTOR]);
    }
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_scans scans;
    struct pyro_spots spots = {0};
    if (context->app->numbers.input_bytes <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    if (!pyro_scans_load(context, &scans))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = PYRO_VERDICT_QUIET;
    examine_scans(context, &spots, &scans);
    examine_inference(context, &spots);
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_row_format = {
    .id = "row-format",
    .category = "io",
    .title = "Row format",
    .summary = "CSV, JSON, XML or text is parsed where columnar files would be read, or read once more to guess its "
               "types.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
