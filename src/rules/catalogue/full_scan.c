/* full-scan: a partitioned table is read in full although the query throws most of its rows away. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/plans/file_scans.h"

/* What a scan that reads a tenth still costs: listing, footers, start of tasks. */
#define REST 0.1

enum { PARTITIONS_MIN, KEPT_MAX, BYTES_MIN, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [PARTITIONS_MIN] = {"partitions_min", 10, "count",
                        "Minimum number of partitions (directories) that are read: with fewer there is little to skip"},
    [KEPT_MAX] = {"kept_rows_share_max", 0.2, "share",
                  "Quiet if the filter keeps a larger share of the rows: the query needs most of the table"},
    [BYTES_MIN] = {"bytes_min", 32.0 * 1024 * 1024, "bytes", "Quiet if the table is smaller: reading it is quick"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the saving is a smaller share of the wall time"},
};

enum { PARTITIONS, FILES, BYTES, KEPT, FACTOR, FILTER, PYTHON };

/* The first filter above the scan that sees its rows one by one. */
static uint32_t filter_above(const struct pyro_plan_tree *plan, uint32_t scan, bool *python)
{
    *python = false;
    for (uint32_t i = pyro_op_consumer(plan, scan); i != PYRO_NO_OP; i = pyro_op_consumer(plan, i)) {
        enum pyro_operator_class class = plan->ops[i].class;
        if (class == PYRO_OPERATOR_FILTER)
            return i;
        *python |= class == PYRO_OPERATOR_PYTHON;
        if (class != PYRO_OPERATOR_PROJECT && class != PYRO_OPERATOR_TRANSITION && class != PYRO_OPERATOR_PYTHON)
            return PYRO_NO_OP;
    }
    return PYRO_NO_OP;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, const struct pyro_file_scan *scan)
{
    const struct pyro_app *app = context->app;
    struct pyro_slice pruning = pyro_op_metadata(scan->plan, scan->op, "PartitionFilters");
    bool pruned = pruning.ptr && !pyro_slice_is(pruning, "[]");
    if (scan->stage < 0 || pruned || scan->partitions < pyro_limit(context, PARTITIONS_MIN) ||
        scan->bytes < pyro_limit(context, BYTES_MIN) || scan->rows < 1)
        return;
    bool python;
    uint32_t filter = filter_above(scan->plan, scan->op, &python);
    int64_t left = filter == PYRO_NO_OP ? PYRO_NONE : pyro_op_metric(scan->plan, filter, PYRO_METRIC_ROWS);
    double kept = left == PYRO_NONE ? 1 : pyro_real(left) / scan->rows;
    if (kept > pyro_limit(context, KEPT_MAX))
        return;
    const struct pyro_stage *stage = &app->stages.items[scan->stage];
    struct pyro_spot *spot = pyro_spots_add(context, spots, (size_t)scan->stage);
    if (!spot)
        return;
    double share = (1 - REST) * (1 - fmax(kept, 1 / scan->partitions));
    spot->about = scan;
    spot->value[PARTITIONS] = scan->partitions;
    spot->value[FILES] = scan->files;
    spot->value[BYTES] = scan->bytes;
    spot->value[KEPT] = kept;
    spot->value[FACTOR] = 1 - share;
    spot->value[FILTER] = (double)filter;
    spot->value[PYTHON] = python;
    spot->weight = share * pyro_stage_length(stage);
}

/* A column of "FileScan parquet [id#36L,at#39,day#40]" that the files do not hold (ReadSchema) comes from the names of
 * directories. */
static const char *partition_column(struct pyro_rule_context *context, const struct pyro_file_scan *scan)
{
    struct pyro_slice detail = scan->plan->ops[scan->op].node->detail;
    struct pyro_slice schema = pyro_op_metadata(scan->plan, scan->op, "ReadSchema");
    const char *open = detail.ptr ? memchr(detail.ptr, '[', detail.len) : NULL;
    if (!open || !schema.ptr)
        return "";
    const char *end = detail.ptr + detail.len, *found = NULL;
    size_t length = 0;
    for (const char *at = open + 1; at < end && *at != ']';) {
        const char *stop = at;
        while (stop < end && *stop != '#' && *stop != ',' && *stop != ']')
            stop++;
        if (stop < end && *stop == '#' && stop > at) {
            const char *name =
                pyro_say(context, "%s:", pyro_say_text(context, (struct pyro_slice){at, (size_t)(stop - at)}, 80)).ptr;
            if (!pyro_slice_find(schema, name ? name : ":")) {
                found = at;
                length = (size_t)(stop - at);
            }
        }
        while (stop < end && *stop != ',' && *stop != ']')
            stop++;
        at = stop < end && *stop == ',' ? stop + 1 : stop;
    }
    return found ? pyro_say_text(context, (struct pyro_slice){found, length}, 80) : "";
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_file_scan *scan = spot->about;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_full_scan);
    if (!finding)
        return;
    const char *column = partition_column(context, scan);
    const struct pyro_sql_node *filter = scan->plan->ops[(uint32_t)spot->value[FILTER]].node;
    bool python = spot->value[PYTHON] > 0;
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause = pyro_say(
        context,
        "%s read all %.0f partitions of a table (%s in %.0f files) and kept %.1f %% of the rows: its filter%s does not "
        "let Spark prune partitions.%s",
        pyro_say_stage(context, spot->stage), spot->value[PARTITIONS], pyro_say_bytes(context, spot->value[BYTES]),
        spot->value[FILES], 100 * spot->value[KEPT], python ? ", a Python function," : "",
        end - first > 1 ? pyro_say(context, " This applies to %zu scans at this call site.", end - first).ptr : "");
    pyro_finding_evidence(context, finding, "partitions_read", spot->value[PARTITIONS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "rows_kept_share", spot->value[KEPT], (double)NAN, "share");
    pyro_finding_evidence(context, finding, "read_bytes", spot->value[BYTES], (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "files", spot->value[FILES], (double)NAN, "count");
    pyro_finding_merged(context, finding, "scans", end - first);
    const char *verify = "In the next run PartitionFilters of the scan (Spark UI, SQL page, details) is not empty, and "
                         "\"number of partitions read\" is smaller.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        python
            ? pyro_say(context,
                       "Write the filter with operators and built-in functions on the partition column%s%s: Spark "
                       "cannot look into a Python function.",
                       *column ? " " : "", column)
            : pyro_say(context,
                       "Add a filter on the partition column%s%s that is equivalent to %s. A function or cast on "
                       "another column cannot prune partitions.",
                       *column ? " " : "", column,
                       filter->detail.len ? pyro_say(context, "\"%s\"", pyro_say_text(context, filter->detail, 120)).ptr
                                          : "the filter above the scan"),
        verify);
    if (advice)
        advice->code = pyro_say(context, "df.where((F.col(\"%s\") == \"2024-01-21\") & ...)", *column ? column : "day");
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("If queries usually use this filter, partition the table by its column, or "
                                           "cluster it (Z-order, bucketing, sorted files)."),
                        verify);
    finding->confidence *= python ? 0.8 : 0.7;
    pyro_remedy_partly(finding, 0.7);
    for (size_t i = first; i < end; i++)
        pyro_remedy_stage(context, finding, spots->list.items[i].stage, spots->list.items[i].value[FACTOR]);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_file_scans scans;
    struct pyro_spots spots = {0};
    if (!pyro_file_scans_load(context, &scans))
        return PYRO_VERDICT_QUIET;
    enum pyro_verdict verdict = PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < scans.list.count && !context->failed; i++) {
        if (scans.list.items[i].partitions > 0)
            verdict = PYRO_VERDICT_QUIET;
        examine(context, &spots, &scans.list.items[i]);
    }
    if (pyro_spots_report(context, &spots, pyro_limit(context, SAVING_SHARE), report))
        verdict = PYRO_VERDICT_FINDING;
    pyro_file_scans_done(context, &scans);
    return verdict;
}

const struct pyro_rule pyro_rule_full_scan = {
    .id = "full-scan",
    .category = "io",
    .title = "Full scan",
    .summary = "A query reads a partitioned table in full although it discards most of the rows.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
