/* row-explosion: an operator puts out many times the rows that it got, and what comes after it pays for them. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { GROWTH_MIN, ROWS_MIN, TASK_SHARE_MIN, SPARED_SHARE };
static const struct pyro_threshold thresholds[] = {
    [GROWTH_MIN] = {"growth_min", 10, "ratio", "Minimum ratio of output rows to input rows"},
    [ROWS_MIN] = {"rows_min", 5e6, "count", "Quiet with fewer output rows: processing them is quick"},
    [TASK_SHARE_MIN] = {"task_share_min", 0.1, "share",
                        "Quiet if creating and processing them takes a smaller share of the application's task time"},
    [SPARED_SHARE] = {"spared_share", 0.5, "share", "Share of that time that aggregating or filtering before saves"},
};

enum { ROWS_IN, ROWS_OUT, GROWTH };

static double largest_input(const struct pyro_plan_tree *plan, uint32_t op)
{
    double rows = 0;
    unsigned inputs = pyro_op_input_count(plan, op);
    for (unsigned i = 0; i < inputs; i++)
        rows = fmax(rows, pyro_real(pyro_op_rows(plan, pyro_op_input(plan, op, i))));
    return rows;
}

static void examine(struct pyro_rule_context *context, struct pyro_plan_cases *cases, const struct pyro_plan_tree *plan,
                    uint32_t op)
{
    double in = largest_input(plan, op), out = pyro_real(pyro_op_rows(plan, op));
    if (in < 1 || out < pyro_limit(context, ROWS_MIN) || out < in * pyro_limit(context, GROWTH_MIN))
        return;
    struct pyro_plan_case *found = pyro_plan_cases_add(context, cases, plan, op);
    if (!found)
        return;
    /* The operator and all that handles its rows, up to where they have become few again. */
    double share = pyro_limit(context, SPARED_SHARE);
    for (uint32_t at = op; at != PYRO_NO_OP; at = pyro_op_consumer(plan, at)) {
        pyro_plan_case_spare(found, at, share);
        if (pyro_real(pyro_op_rows(plan, at)) < out / 2)
            break;
    }
    found->value[ROWS_IN] = in;
    found->value[ROWS_OUT] = out;
    found->value[GROWTH] = out / in;
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                   const struct pyro_plan_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_row_explosion);
    if (!finding)
        return;
    const double *value = found->value;
    enum pyro_operator_class class = found->plan->ops[found->op].class;
    bool join = pyro_class_is_join(class);
    const char *what = join                              ? "a join"
                       : class == PYRO_OPERATOR_GENERATE ? "an explode"
                                                         : "an expansion of grouping sets";
    const char *verify = "In the next run this operator has far fewer output rows (Spark UI, SQL page).";
    pyro_plan_case_apply(context, finding, cases, found);
    finding->cause = pyro_say(
        context,
        "%s: %s created %.3g rows from %.3g, %.0f for each row, and the following operators processed all of them.",
        pyro_say_stage(context, found->stage), what, value[ROWS_OUT], value[ROWS_IN], value[GROWTH]);
    pyro_finding_evidence(context, finding, "rows_out", value[ROWS_OUT], value[ROWS_IN], "count");
    pyro_finding_evidence(context, finding, "rows_in", value[ROWS_IN], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "growth", value[GROWTH], 1, "ratio");
    pyro_finding_evidence(context, finding, "handling_task_ms",
                          pyro_plan_case_worth(cases, found) / fmax(pyro_limit(context, SPARED_SHARE), 0.01),
                          (double)NAN, "ms");
    pyro_finding_merged(context, finding, "operators", found->merged);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        join ? PYRO_SLICE_LITERAL("Join on the complete key, or aggregate one side to one row per key before the join: "
                                  "the key repeats on both sides.")
             : PYRO_SLICE_LITERAL(
                   "Filter and aggregate before the rows multiply, and keep only the columns that you need."),
        verify);
    if (advice)
        advice->code = join ? PYRO_SLICE_LITERAL("small = b.groupBy('key').agg(...)\na.join(small, 'key')")
                            : PYRO_SLICE_LITERAL(
                                  "df.groupBy('key').agg(F.count('*').alias('n')).select('key', 'n', F.explode(...))");
    finding->confidence *= 0.7;
    pyro_remedy_partly(finding, 0.6);
}

static bool is_judged(const struct pyro_plan_op *op)
{
    /* Joins without an equality are another rule's. */
    bool grows = op->class == PYRO_OPERATOR_GENERATE || op->class == PYRO_OPERATOR_EXPAND ||
                 (pyro_class_is_join(op->class) && op->class != PYRO_OPERATOR_CARTESIAN &&
                  op->class != PYRO_OPERATOR_NESTED_LOOP_JOIN);
    return grows && !op->cached;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    double least = pyro_limit(context, TASK_SHARE_MIN) * pyro_limit(context, SPARED_SHARE) *
                   pyro_real(context->app->numbers.task_ms);
    return pyro_plan_cases_evaluate(context, is_judged, examine, least, report);
}

const struct pyro_rule pyro_rule_row_explosion = {
    .id = "row-explosion",
    .category = "plan",
    .title = "Row explosion",
    .summary = "A join, explode or expansion creates many rows from each row, and the following operators process all "
               "of them.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"cartesian-product"},
    .evaluate = evaluate,
};
