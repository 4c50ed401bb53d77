/* join-strategy: a join shuffles tables that are written in buckets of its keys. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MIB (1024.0 * 1024)

enum { SHUFFLE_BYTES_MIN, WORTH_SHARE_MIN };
static const struct pyro_threshold thresholds[] = {
    [SHUFFLE_BYTES_MIN] = {"shuffle_bytes_min", 32 * MIB, "bytes",
                           "Quiet if less data of tables with buckets is shuffled: that costs almost nothing"},
    [WORTH_SHARE_MIN] = {"task_share_min", 0.03, "share",
                         "Quiet if the saving is a smaller share of the application's task time"},
};

enum { KIND, SPARED_BYTES };
enum { BUCKETING_OFF, BUCKETS_OF_ANOTHER_TYPE };

/* A finding of missed-broadcast-join about this query cures more of it. */
static bool is_broadcast_advised(const struct pyro_rule_context *context, int64_t sql)
{
    for (size_t i = 0; i < context->earlier.count; i++)
        if (context->earlier.items[i].sql == sql)
            return true;
    return false;
}

/* The shuffle that Spark put between a side and the join; PYRO_NO_OP: none, or the user asked for it, or others read
 * it as well. */
static uint32_t own_shuffle(const struct pyro_plan_tree *plan, uint32_t join, unsigned side)
{
    uint32_t shuffle = pyro_op_feed(plan, pyro_op_input(plan, join, side), PYRO_OPERATOR_SHUFFLE);
    return shuffle == PYRO_NO_OP || plan->ops[shuffle].repeated || pyro_op_says(plan, shuffle, "REPARTITION")
               ? PYRO_NO_OP
               : shuffle;
}

/* The table that a shuffle reads has buckets that Spark does not use: the scan says why. -1: it does not say so. */
static int unused_buckets(const struct pyro_plan_tree *plan, uint32_t shuffle)
{
    uint32_t scan =
        shuffle == PYRO_NO_OP ? PYRO_NO_OP : pyro_op_feed(plan, pyro_op_input(plan, shuffle, 0), PYRO_OPERATOR_SCAN);
    if (scan == PYRO_NO_OP)
        return -1;
    bool converted = pyro_op_says(plan, shuffle, "hashpartitioning(cast(");
    if (pyro_op_says(plan, scan, "Bucketed: false (disabled by configuration)"))
        return converted ? -1 : BUCKETING_OFF;
    return converted && pyro_op_says(plan, scan, "Bucketed: false (disabled by query planner)")
               ? BUCKETS_OF_ANOTHER_TYPE
               : -1;
}

static void examine_buckets(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                            const struct pyro_plan_tree *plan, uint32_t join, int kind)
{
    if (is_broadcast_advised(context, plan->sql->id))
        return;
    int kinds[2];
    double bytes = 0;
    uint32_t shuffles[2];
    for (unsigned side = 0; side < 2; side++) {
        shuffles[side] = own_shuffle(plan, join, side);
        kinds[side] = unused_buckets(plan, shuffles[side]);
        if (kinds[side] == kind)
            bytes += pyro_op_amount(plan, shuffles[side], PYRO_METRIC_DATA_SIZE);
    }
    if (bytes < pyro_limit(context, SHUFFLE_BYTES_MIN))
        return;
    /* Where only one side has buckets, they spare its shuffle; where the types differ, the other side has to have them:
     * else making the types equal spares nothing. */
    if (kind == BUCKETS_OF_ANOTHER_TYPE && shuffles[0] != PYRO_NO_OP && shuffles[1] != PYRO_NO_OP)
        return;
    struct pyro_plan_case *found = pyro_plan_cases_add(context, cases, plan, join);
    for (unsigned side = 0; side < 2 && found; side++)
        if (kinds[side] == kind)
            pyro_plan_case_spare(found, shuffles[side], 1);
    if (found) {
        found->value[KIND] = kind;
        found->value[SPARED_BYTES] = bytes;
    }
}

static void examine_disabled(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                             const struct pyro_plan_tree *plan, uint32_t join)
{
    examine_buckets(context, cases, plan, join, BUCKETING_OFF);
}

static void examine_types(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                          const struct pyro_plan_tree *plan, uint32_t join)
{
    examine_buckets(context, cases, plan, join, BUCKETS_OF_ANOTHER_TYPE);
}

static void report_buckets(struct pyro_rule_context *context, struct pyro_finding *finding,
                           const struct pyro_plan_case *found, bool off)
{
    finding->cause =
        pyro_say(context, "%s joins a table with buckets, and Spark shuffled %s of it: %s.",
                 pyro_say_stage(context, found->stage), pyro_say_bytes(context, found->value[SPARED_BYTES]),
                 off ? "the use of buckets is disabled"
                     : "its key has another type than that of the other table, and is converted");
    const char *verify = "In the next run the scan says \"Bucketed: true\" (Spark UI, SQL page), and the join has one "
                         "Exchange less for each of these tables.";
    if (!off) {
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Write both tables with the same type of the key and the same number of "
                                               "buckets: Spark then joins them without a shuffle."),
                            verify);
        return;
    }
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Enable bucketing: if the tables are in buckets of the join's keys, Spark does not shuffle them."),
        verify);
    pyro_advice_set(context, advice, "spark.sql.sources.bucketing.enabled", PYRO_SLICE_LITERAL("true"));
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                   const struct pyro_plan_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_join_strategy);
    if (!finding)
        return;
    int kind = (int)found->value[KIND];
    pyro_plan_case_apply(context, finding, cases, found);
    pyro_finding_evidence(context, finding, "shuffled_bytes", found->value[SPARED_BYTES], 0, "bytes");
    pyro_finding_evidence(context, finding, "spent_task_ms", pyro_plan_case_worth(cases, found), 0, "ms");
    pyro_finding_merged(context, finding, "joins", found->merged);
    report_buckets(context, finding, found, kind == BUCKETING_OFF);
    finding->confidence *= kind == BUCKETING_OFF ? 0.7 : 0.8; /* by which column it has buckets, no log says */
    pyro_remedy_partly(finding, 0.6);
}

static bool is_judged(const struct pyro_plan_op *op)
{
    return op->class == PYRO_OPERATOR_SORT_MERGE_JOIN || op->class == PYRO_OPERATOR_SHUFFLED_HASH_JOIN;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    double least = pyro_limit(context, WORTH_SHARE_MIN) * pyro_real(context->app->numbers.task_ms);
    /* One after the other: what is at one site may need different cures. */
    enum pyro_verdict verdict = pyro_plan_cases_evaluate(context, is_judged, examine_disabled, least, report);
    pyro_plan_cases_evaluate(context, is_judged, examine_types, least, report);
    return verdict;
}

const struct pyro_rule pyro_rule_join_strategy = {
    .id = "join-strategy",
    .category = "plan",
    .title = "Unused buckets in a join",
    .summary = "A join shuffles a table although it is written in buckets.",
    PYRO_THRESHOLDS(thresholds),
    .after = {"missed-broadcast-join"},
    .evaluate = evaluate,
};
