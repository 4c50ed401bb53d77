/* repeated-scan: the same files were read again and again with the same filters. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { SCANS_MIN, BYTES_MIN, TASK_SHARE_MIN, MEMORY_SHARE_MAX };
static const struct pyro_threshold thresholds[] = {
    [SCANS_MIN] = {"scans_min", 3, "count", "Minimum number of scans: for two scans a cache rarely pays off"},
    [BYTES_MIN] = {"scan_bytes_min", 32.0 * 1024 * 1024, "bytes", "Quiet below: reading less is quick"},
    [TASK_SHARE_MIN] = {"task_share_min", 0.03, "share",
                        "Quiet if the scans after the first take a smaller share of the application's task time"},
    [MEMORY_SHARE_MAX] = {"memory_share_max", 1, "share",
                          "Maximum share of the executors' memory for Spark that the data may take in a cache"},
};

/* One scan; those of the same files with the same filters are adjacent once sorted. */
struct scan {
    const struct pyro_plan_tree *plan;
    uint32_t op;
    struct pyro_slice location, pushed, partitions;
};

static int compare(const void *left, const void *right)
{
    const struct scan *a = left, *b = right;
    int order = pyro_slice_compare(a->location, b->location);
    if (!order)
        order = pyro_slice_compare(a->pushed, b->pushed);
    return order ? order : pyro_slice_compare(a->partitions, b->partitions);
}

static int in_order(const void *left, const void *right)
{
    const struct scan *a = left, *b = right;
    int order = compare(left, right);
    if (!order)
        order = a->plan < b->plan ? -1 : a->plan > b->plan;
    return order ? order : a->op < b->op ? -1 : a->op > b->op;
}

static double memory_of_executors(const struct pyro_app *app)
{
    double heap = pyro_app_heap_bytes(app), executors = fmax(1, pyro_real(app->numbers.executors));
    return executors * fmax(0, heap - 300.0 * 1024 * 1024) * pyro_app_memory_fraction(app);
}

/* Time of a scan with the step that turns its columns into rows. */
static void spare(struct pyro_plan_case *found, const struct pyro_plan_tree *plan, uint32_t op)
{
    pyro_plan_case_spare(found, op, 0.9);
    uint32_t above = pyro_op_consumer(plan, op);
    if (above != PYRO_NO_OP && plan->ops[above].class == PYRO_OPERATOR_TRANSITION)
        pyro_plan_case_spare(found, above, 0.5);
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases, const struct scan *scans,
                   size_t count, double bytes)
{
    const struct pyro_plan_case *first = &cases->list.items[0];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_repeated_scan);
    if (!finding)
        return;
    double worth = 0;
    size_t queries = 1;
    for (size_t i = 1; i < count; i++)
        queries += scans[i].plan != scans[i - 1].plan;
    for (size_t i = 0; i < cases->list.count; i++)
        worth += cases->list.items[i].worth;
    pyro_plan_case_apply(context, finding, cases, first);
    finding->cause =
        pyro_say(context, "%s, %s, was read %zu times with the same filters by %s, and nothing was cached.",
                 pyro_say_text(context, scans[0].location, 120), pyro_say_bytes(context, bytes), count,
                 pyro_say_count(context, (double)queries, "query", "queries"));
    pyro_finding_evidence(context, finding, "scans", (double)count, 1, "count");
    pyro_finding_evidence(context, finding, "queries", (double)queries, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "scan_bytes", bytes, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "repeated_task_ms", worth, 0, "ms");
    const char *verify =
        "In the next run the plans of the later queries (Spark UI, SQL page) read an InMemoryTableScan, or one "
        "scan feeds several branches.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        queries > 1 ? PYRO_SLICE_LITERAL(
                          "Cache the filtered table for the SQL executions that share it, and unpersist it after them.")
                    : PYRO_SLICE_LITERAL("Read the table once: compute the aggregates together, or cache the filtered "
                                         "rows for this SQL execution."),
        verify);
    if (advice)
        advice->code = queries > 1
                           ? PYRO_SLICE_LITERAL("shared = spark.read...where(...).cache()\n...\nshared.unpersist()")
                           : PYRO_SLICE_LITERAL("df.groupBy(F.grouping_sets...)   # SQL: GROUP BY GROUPING SETS (...)");
    finding->confidence *= 0.8;
    pyro_remedy_partly(finding, 0.6);
}

/* Scans [0, count) are of the same files with the same filters. */
static void judge(struct pyro_rule_context *context, const struct scan *scans, size_t count)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes = fmax(bytes, pyro_op_amount(scans[i].plan, scans[i].op, PYRO_METRIC_FILE_BYTES));
    if ((double)count < pyro_limit(context, SCANS_MIN) || bytes < pyro_limit(context, BYTES_MIN) ||
        bytes > pyro_limit(context, MEMORY_SHARE_MAX) * memory_of_executors(context->app))
        return;
    struct pyro_plan_cases cases = {0};
    double worth = 0;
    for (size_t i = 1; i < count; i++) { /* the first has to be */
        struct pyro_plan_case *found = pyro_plan_cases_add(context, &cases, scans[i].plan, scans[i].op);
        if (!found)
            break;
        spare(found, scans[i].plan, scans[i].op);
        worth += found->worth;
    }
    if (cases.list.count > 0 && worth >= pyro_limit(context, TASK_SHARE_MIN) * pyro_real(context->app->numbers.task_ms))
        report(context, &cases, scans, count, bytes);
    pyro_plan_cases_done(context, &cases);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    const struct pyro_allocator *allocator = context->app->allocator;
    PYRO_VEC(struct scan) scans = {0};
    for (size_t q = 0; plans && q < plans->count && !context->failed; q++) {
        const struct pyro_plan_tree *plan = &plans->items[q];
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct pyro_plan_op *op = &plan->ops[i];
            struct pyro_slice location = pyro_op_metadata(plan, i, "Location");
            if (op->class != PYRO_OPERATOR_SCAN || op->repeated || op->cached || op->stage_count == 0 || !location.ptr)
                continue;
            struct scan *scan = pyro_vec_push(&scans, allocator);
            context->failed |= !scan;
            if (scan)
                *scan = (struct scan){plan, i, location, pyro_op_metadata(plan, i, "PushedFilters"),
                                      pyro_op_metadata(plan, i, "PartitionFilters")};
        }
    }
    if (scans.count > 1)
        qsort(scans.items, scans.count, sizeof(*scans.items), in_order);
    bool streams = pyro_app_is_streaming(context->app); /* each batch reads other files of one folder */
    for (size_t i = 0, end; i < scans.count && !context->failed && !streams; i = end) {
        for (end = i + 1; end < scans.count && compare(&scans.items[i], &scans.items[end]) == 0;)
            end++;
        judge(context, scans.items + i, end - i);
    }
    bool any = scans.count > 0 && !streams;
    pyro_vec_done(&scans, allocator);
    return any ? PYRO_VERDICT_QUIET : PYRO_VERDICT_NOT_APPLICABLE;
}

const struct pyro_rule pyro_rule_repeated_scan = {
    .id = "repeated-scan",
    .category = "plan",
    .title = "Repeated scan",
    .summary = "Spark reads the same files repeatedly with the same filters, and nothing is cached.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
