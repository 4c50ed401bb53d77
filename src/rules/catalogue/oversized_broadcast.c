/* oversized-broadcast: a broadcast table takes much of the memory of every executor, or of the driver that builds it.
 */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"

#define MIB (1024.0 * 1024)

enum { BYTES_MIN, EXECUTOR_SHARE, EXECUTOR_NEAR, DRIVER_SHARE, DRIVER_NEAR, COPIES };
static const struct pyro_threshold thresholds[] = {
    [BYTES_MIN] = {"bytes_min", 96 * MIB, "bytes",
                   "Quiet below: Spark reports 32 MiB even for a hash table with a few rows"},
    [EXECUTOR_SHARE] = {"executor_share_min", 0.25, "share",
                        "Share of an executor's memory for Spark at which tasks and caches lack memory"},
    [EXECUTOR_NEAR] = {"executor_share_near", 0.8, "share", "... and at which the broadcast barely fits"},
    [DRIVER_SHARE] = {"driver_share_min", 0.35, "share",
                      "Share of the driver's heap, for rows and hash table together"},
    [DRIVER_NEAR] = {"driver_share_near", 0.8, "share", "... and at which the broadcast barely fits"},
    [COPIES] = {"copies", 2, "ratio",
                "Memory on the driver as a multiple of the data size: the collected rows and the hash table"},
};

enum { BYTES, ROWS, BUILD_MS, EXECUTOR_PART, DRIVER_PART };

static void examine(struct pyro_rule_context *context, struct pyro_plan_cases *cases, const struct pyro_plan_tree *plan,
                    uint32_t op)
{
    const struct pyro_app *app = context->app;
    double bytes = pyro_op_amount(plan, op, PYRO_METRIC_DATA_SIZE);
    double usable = fmax(0, pyro_app_heap_bytes(app) - 300 * MIB) * pyro_app_memory_fraction(app);
    double executor = usable > 0 ? bytes / usable : 0;
    double driver = bytes * pyro_limit(context, COPIES) / fmax(pyro_app_driver_heap_bytes(app), 1);
    if (bytes < pyro_limit(context, BYTES_MIN) ||
        (executor < pyro_limit(context, EXECUTOR_SHARE) && driver < pyro_limit(context, DRIVER_SHARE)))
        return;
    uint32_t join = pyro_op_consumer(plan, op); /* whose stage has the site */
    struct pyro_plan_case *found =
        pyro_plan_cases_add(context, cases, plan, join != PYRO_NO_OP && plan->ops[join].stage_count ? join : op);
    if (!found)
        return;
    found->worth = bytes;
    found->value[BYTES] = bytes;
    found->value[ROWS] = pyro_real(pyro_op_rows(plan, op));
    found->value[BUILD_MS] = pyro_op_amount(plan, op, PYRO_METRIC_COLLECT_TIME) +
                             pyro_op_amount(plan, op, PYRO_METRIC_BUILD_TIME) +
                             pyro_op_amount(plan, op, PYRO_METRIC_BROADCAST_TIME);
    found->value[EXECUTOR_PART] = executor;
    found->value[DRIVER_PART] = driver;
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                   const struct pyro_plan_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_oversized_broadcast);
    if (!finding)
        return;
    const struct pyro_app *app = context->app;
    const double *value = found->value;
    double build = 0;
    for (size_t i = 0; i < cases->list.count; i++)
        if (pyro_slice_eq(cases->list.items[i].site, found->site))
            build += cases->list.items[i].value[BUILD_MS];
    pyro_finding_at_stage(context, finding, found->stage);
    finding->sql = found->plan->sql->id;
    finding->cause = pyro_say(context,
                              "%s joins with a broadcast of %s (%.0f rows). This takes %.0f %% of an executor's memory "
                              "for Spark, and about %.0f %% of the driver's heap while the driver builds it.",
                              pyro_say_stage(context, found->stage), pyro_say_bytes(context, value[BYTES]), value[ROWS],
                              100 * value[EXECUTOR_PART], 100 * value[DRIVER_PART]);
    pyro_finding_evidence(context, finding, "broadcast_bytes", value[BYTES], 10 * MIB, "bytes");
    pyro_finding_evidence(context, finding, "broadcast_rows", value[ROWS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "executor_share", value[EXECUTOR_PART], pyro_limit(context, EXECUTOR_SHARE),
                          "share");
    pyro_finding_evidence(context, finding, "driver_share", value[DRIVER_PART], pyro_limit(context, DRIVER_SHARE),
                          "share");
    pyro_finding_evidence(context, finding, "build_ms", build, (double)NAN, "ms");
    pyro_finding_merged(context, finding, "broadcasts", found->merged);
    const char *verify = "In the next run the plan has a SortMergeJoin or ShuffledHashJoin here, or the \"data size\" "
                         "of the BroadcastExchange is small.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Let this join shuffle: remove the broadcast hint, or broadcast fewer rows and columns."),
        verify);
    int64_t limit = pyro_sql_property_size(app, finding->sql, "spark.sql.autoBroadcastJoinThreshold", 1, 10 << 20);
    if ((double)limit > 64 * MIB)
        pyro_advice_set(context, advice, "spark.sql.autoBroadcastJoinThreshold", PYRO_SLICE_LITERAL("10m"));
    pyro_advice_prevents(advice, "executors and drivers that run out of memory");
    bool near = value[EXECUTOR_PART] >= pyro_limit(context, EXECUTOR_NEAR) ||
                value[DRIVER_PART] >= pyro_limit(context, DRIVER_NEAR);
    finding->failure_risk = near ? 0.5 : 0.2;
    finding->confidence *= 0.9;
}

static bool is_judged(const struct pyro_plan_op *op)
{
    return op->class == PYRO_OPERATOR_BROADCAST;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_plan_cases_evaluate(context, is_judged, examine, 0, report);
}

const struct pyro_rule pyro_rule_oversized_broadcast = {
    .id = "oversized-broadcast",
    .category = "plan",
    .title = "Oversized broadcast",
    .summary = "A broadcast table takes a large part of the memory of every executor, or of the driver that builds it.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
