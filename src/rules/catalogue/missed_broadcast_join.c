/* missed-broadcast-join: both sides of a join were shuffled and sorted though one would have fitted into every
 * executor. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MIB (1024.0 * 1024)

enum { OTHERS_MAX = 3 };
/* A cheap join raises the threshold for no other one. */
#define WORTH_RAISING 0.1
static const char threshold_key[] = "spark.sql.autoBroadcastJoinThreshold";

enum { SIDE_BYTES_MAX, HEAP_SHARE_MAX, EXPANSION, OTHER_SIDE_MIN, RATIO_MIN, WORTH_SHARE_MIN };
static const struct pyro_threshold thresholds[] = {
    [SIDE_BYTES_MAX] = {"side_bytes_max", 64 * MIB, "bytes",
                        "Maximum data size of the side to broadcast; Spark's default is 10 MiB"},
    [HEAP_SHARE_MAX] = {"heap_share_max", 0.1, "share",
                        "Maximum share of the heap of an executor and of the driver that the broadcast side may take"},
    [EXPANSION] = {"expansion", 3, "ratio", "Size of a hash table as a multiple of the data size of its rows"},
    [OTHER_SIDE_MIN] = {"other_side_bytes_min", 32 * MIB, "bytes",
                        "Quiet if the other side is smaller: shuffling it costs almost nothing"},
    [RATIO_MIN] = {"ratio_min", 5, "ratio", "Minimum ratio of the other side to this side"},
    [WORTH_SHARE_MIN] = {"task_share_min", 0.01, "share",
                         "Quiet if the saving is a smaller share of the application's task time"},
};

enum { SMALL_BYTES, LARGE_BYTES, SMALL_ROWS, LARGE_ROWS, SPENT_MS, HINTED };

/* Which sides may be broadcast without changing the result: bit 0 the left one, bit 1 the right one. */
static unsigned broadcastable(const struct pyro_plan_tree *plan, uint32_t join)
{
    if (pyro_op_says(plan, join, ", Inner") || pyro_op_says(plan, join, ", Cross"))
        return 3;
    if (pyro_op_says(plan, join, ", RightOuter"))
        return 1;
    if (pyro_op_says(plan, join, ", LeftOuter") || pyro_op_says(plan, join, ", LeftSemi") ||
        pyro_op_says(plan, join, ", LeftAnti") || pyro_op_says(plan, join, ", ExistenceJoin"))
        return 2;
    return 0;
}

/* Nothing up to the next exchange relies on the join's output being partitioned by its key: it would have to be
 * shuffled nevertheless. */
static bool shuffle_is_for_the_join(const struct pyro_plan_tree *plan, uint32_t join)
{
    bool aggregated = false;
    for (uint32_t op = pyro_op_consumer(plan, join); op != PYRO_NO_OP; op = pyro_op_consumer(plan, op)) {
        enum pyro_operator_class class = plan->ops[op].class;
        if (pyro_class_is_exchange(class))
            return true; /* an aggregate before it was a partial one */
        if (class == PYRO_OPERATOR_WINDOW || class == PYRO_OPERATOR_SORT_MERGE_JOIN ||
            class == PYRO_OPERATOR_SHUFFLED_HASH_JOIN || class == PYRO_OPERATOR_UNKNOWN)
            return false;
        aggregated |= class == PYRO_OPERATOR_AGGREGATE;
    }
    return !aggregated;
}

/* The shuffle that feeds a side for this join alone, or PYRO_NO_OP. */
static uint32_t side_shuffle(const struct pyro_plan_tree *plan, uint32_t join, unsigned side)
{
    uint32_t input = pyro_op_input(plan, join, side);
    uint32_t shuffle = pyro_op_feed(plan, input, PYRO_OPERATOR_SHUFFLE);
    if (shuffle == PYRO_NO_OP)
        shuffle = pyro_op_exchange(plan, pyro_op_feed(plan, input, PYRO_OPERATOR_REUSED));
    return shuffle;
}

static double most_bytes(const struct pyro_rule_context *context)
{
    double heap = fmin(pyro_app_heap_bytes(context->app), pyro_app_driver_heap_bytes(context->app));
    return fmin(pyro_limit(context, SIDE_BYTES_MAX),
                heap * pyro_limit(context, HEAP_SHARE_MAX) / pyro_limit(context, EXPANSION));
}

/* The threshold with which Spark broadcasts a side of that size by itself; 0: no other one would. */
static double threshold_for(const struct pyro_rule_context *context, int64_t sql, double small)
{
    int64_t limit = pyro_sql_property_size(context->app, sql, threshold_key, 1, 10 << 20);
    /* Spark's own estimates may be twice the size; but no side may be broadcast that this rule holds for too large. */
    double wanted = 10 * MIB, most = floor(most_bytes(context) / MIB) * MIB;
    while (wanted < 2 * small)
        wanted *= 2;
    wanted = fmin(wanted, most);
    bool helps = wanted >= small && wanted > (double)limit && (limit < 0 || (double)limit < 2 * small);
    return helps ? wanted : 0;
}

static void examine(struct pyro_rule_context *context, struct pyro_plan_cases *cases, const struct pyro_plan_tree *plan,
                    uint32_t join)
{
    unsigned allowed = broadcastable(plan, join);
    uint32_t shuffles[2] = {side_shuffle(plan, join, 0), side_shuffle(plan, join, 1)};
    double bytes[2] = {pyro_op_amount(plan, shuffles[0], PYRO_METRIC_DATA_SIZE),
                       pyro_op_amount(plan, shuffles[1], PYRO_METRIC_DATA_SIZE)};
    unsigned small = bytes[0] < bytes[1] ? 0 : 1, large = 1 - small;
    if (!(allowed & 1u << small) || bytes[small] <= 0 || bytes[small] > most_bytes(context) ||
        bytes[large] < pyro_limit(context, OTHER_SIDE_MIN) ||
        bytes[large] < bytes[small] * pyro_limit(context, RATIO_MIN) || plan->ops[shuffles[large]].repeated ||
        pyro_op_says(plan, shuffles[large], "REPARTITION") || !shuffle_is_for_the_join(plan, join))
        return;
    struct pyro_plan_case *found = pyro_plan_cases_add(context, cases, plan, join);
    if (!found)
        return;
    for (unsigned side = 0; side < 2; side++) {
        uint32_t input = pyro_op_input(plan, join, side);
        if (side == large || !plan->ops[shuffles[side]].repeated)
            pyro_plan_case_spare(found, shuffles[side], 1);
        pyro_plan_case_spare(found, pyro_op_feed(plan, input, PYRO_OPERATOR_SORT), 1);
    }
    pyro_plan_case_spare(found, join, 0.5); /* looking up in a hash table costs about half of merging */
    found->value[SMALL_BYTES] = bytes[small];
    found->value[LARGE_BYTES] = bytes[large];
    found->value[SMALL_ROWS] = pyro_real(pyro_op_rows(plan, shuffles[small]));
    found->value[LARGE_ROWS] = pyro_real(pyro_op_rows(plan, shuffles[large]));
    if (threshold_for(context, plan->sql->id, bytes[small]) > 0)
        found->site = pyro_slice_from(threshold_key); /* one threshold for all of them */
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_plan_case *found,
                   double small)
{
    const char *verify = "In the next run the query's plan (Spark UI, SQL page) has a BroadcastHashJoin here and one "
                         "Exchange less.";
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        found->merged > 1
            ? pyro_say(context,
                       "Broadcast the small side of each of the %zu joins, %s at most: add broadcast hints to the "
                       "queries, and remove merge hints.",
                       found->merged, pyro_say_bytes(context, small))
            : pyro_say(context, "Broadcast the side of %s: add a broadcast hint to the query, and remove a merge hint.",
                       pyro_say_bytes(context, small)),
        verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("large.join(F.broadcast(small), key)   # SQL: SELECT /*+ BROADCAST(small) */ ...");
    double threshold = threshold_for(context, finding->sql, small);
    if (threshold <= 0)
        return;
    int64_t limit = pyro_sql_property_size(context->app, finding->sql, threshold_key, 1, 10 << 20);
    advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Or let Spark broadcast tables of this size automatically: now %s.",
                 limit < 0 ? "this is disabled"
                           : pyro_say(context, "the limit is %s", pyro_say_bytes(context, (double)limit)).ptr),
        verify);
    pyro_advice_set(context, advice, threshold_key, pyro_say(context, "%.0fm", threshold / MIB));
}

/* " Also: Stage 9 (...), Stage 14 (...).": where the others are, each stage once; or "". */
static const char *say_others(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                              const struct pyro_plan_case *found)
{
    const char *text = "";
    size_t shown[OTHERS_MAX], count = 0, hidden = 0;
    for (size_t i = 0; i < cases->list.count && !context->failed; i++) {
        const struct pyro_plan_case *other = &cases->list.items[i];
        bool had = !pyro_slice_eq(other->site, found->site) || other->stage == found->stage;
        for (size_t k = 0; k < count && !had; k++)
            had = shown[k] == other->stage;
        if (had)
            continue;
        if (count == OTHERS_MAX) {
            hidden++;
            continue;
        }
        text = pyro_say(context, "%s%s%s", text, count ? ", " : "", pyro_say_stage(context, other->stage)).ptr;
        shown[count++] = other->stage;
    }
    if (count == 0 || context->failed)
        return "";
    const char *more = hidden ? pyro_say(context, " and %zu more", hidden).ptr : "";
    return pyro_say(context, " Also: %s%s.", text, more).ptr;
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                   const struct pyro_plan_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_missed_broadcast_join);
    if (!finding)
        return;
    const double *value = found->value;
    double small = 0;
    for (size_t i = 0; i < cases->list.count; i++) {
        const struct pyro_plan_case *other = &cases->list.items[i];
        if (pyro_slice_eq(other->site, found->site) && other->worth >= WORTH_RAISING * found->worth)
            small = fmax(small, other->value[SMALL_BYTES]);
    }
    pyro_plan_case_apply(context, finding, cases, found);
    finding->cause =
        pyro_say(context,
                 "%s is a sort-merge join: Spark shuffled and sorted %s of rows to join them with a side "
                 "of %s (%.0f rows), which fits in every executor.%s",
                 pyro_say_stage(context, found->stage), pyro_say_bytes(context, value[LARGE_BYTES]),
                 pyro_say_bytes(context, value[SMALL_BYTES]), value[SMALL_ROWS], say_others(context, cases, found));
    pyro_finding_evidence(context, finding, "small_side_bytes", value[SMALL_BYTES], most_bytes(context), "bytes");
    pyro_finding_evidence(context, finding, "large_side_bytes", value[LARGE_BYTES], (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "small_side_rows", value[SMALL_ROWS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "spent_task_ms", pyro_plan_case_worth(cases, found), 0, "ms");
    pyro_finding_merged(context, finding, "joins", found->merged);
    advise(context, finding, found, small);
    finding->confidence *= 0.9;
    pyro_remedy_partly(finding, 0.7);
}

static bool is_judged(const struct pyro_plan_op *op)
{
    return op->class == PYRO_OPERATOR_SORT_MERGE_JOIN;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    double least = pyro_limit(context, WORTH_SHARE_MIN) * pyro_real(context->app->numbers.task_ms);
    return pyro_plan_cases_evaluate(context, is_judged, examine, least, report);
}

const struct pyro_rule pyro_rule_missed_broadcast_join = {
    .id = "missed-broadcast-join",
    .category = "plan",
    .title = "Missed broadcast join",
    .summary = "Spark shuffles and sorts both sides of a join although one of them fits in every executor.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew"},
    .needs_settings = true,
    .evaluate = evaluate,
};
