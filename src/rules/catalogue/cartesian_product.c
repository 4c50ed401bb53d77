/* cartesian-product: every row of one side was compared with every row of the other. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/plan_cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { PAIRS_MIN, SIDE_ROWS_MIN, TASK_SHARE_MIN, HARM_ROWS, HARM_GROWTH };
static const struct pyro_threshold thresholds[] = {
    [PAIRS_MIN] = {"pairs_min", 20e6, "count", "Quiet below: comparing fewer pairs takes a second or two"},
    [SIDE_ROWS_MIN] = {"side_rows_min", 20, "count", "Quiet if a side has fewer rows (a total, a parameter)"},
    [TASK_SHARE_MIN] = {"task_share_min", 0.03, "share",
                        "Quiet if the join has a smaller share of the application's task time"},
    [HARM_ROWS] = {"harm_rows_min", 100e6, "count", "More output rows than this slow down everything that reads them"},
    [HARM_GROWTH] = {"harm_growth_min", 20, "ratio",
                     "... if the output has at least this many times the rows of the input"},
};

enum { PAIRS, LEFT_ROWS, RIGHT_ROWS, OUTPUT_ROWS };

static void examine(struct pyro_rule_context *context, struct pyro_plan_cases *cases, const struct pyro_plan_tree *plan,
                    uint32_t join)
{
    double left = pyro_real(pyro_op_rows(plan, pyro_op_input(plan, join, 0)));
    double right = pyro_real(pyro_op_rows(plan, pyro_op_input(plan, join, 1)));
    if (fmin(left, right) < pyro_limit(context, SIDE_ROWS_MIN) || left * right < pyro_limit(context, PAIRS_MIN))
        return;
    struct pyro_plan_case *found = pyro_plan_cases_add(context, cases, plan, join);
    pyro_plan_case_spare(found, join, 0.9);
    if (!found)
        return;
    found->value[PAIRS] = left * right;
    found->value[LEFT_ROWS] = left;
    found->value[RIGHT_ROWS] = right;
    found->value[OUTPUT_ROWS] = pyro_real(pyro_op_rows(plan, join));
}

static void report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                   const struct pyro_plan_case *found)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_cartesian_product);
    if (!finding)
        return;
    const double *value = found->value;
    bool product = found->plan->ops[found->op].class == PYRO_OPERATOR_CARTESIAN;
    /* Where all pairs are the result there is nothing to look up faster. */
    double kept = value[OUTPUT_ROWS] / fmax(value[PAIRS], 1);
    bool explodes = value[OUTPUT_ROWS] >= pyro_limit(context, HARM_ROWS) &&
                    value[OUTPUT_ROWS] >= pyro_limit(context, HARM_GROWTH) * fmax(value[LEFT_ROWS], value[RIGHT_ROWS]);
    const char *verify =
        "In the next run the plan has no CartesianProduct or BroadcastNestedLoopJoin here, or one of far fewer "
        "rows.";
    pyro_plan_case_apply(context, finding, cases, found);
    finding->cause = pyro_say(
        context, "%s compares each of %.0f rows with each of %.0f rows: %.3g pairs in a %s, of which %.3g are kept.",
        pyro_say_stage(context, found->stage), value[LEFT_ROWS], value[RIGHT_ROWS], value[PAIRS],
        product ? "Cartesian product" : "nested loop", value[OUTPUT_ROWS]);
    pyro_finding_evidence(context, finding, "pairs", value[PAIRS], value[LEFT_ROWS] + value[RIGHT_ROWS], "count");
    pyro_finding_evidence(context, finding, "output_rows", value[OUTPUT_ROWS], (double)NAN, "count");
    pyro_finding_evidence(context, finding, "task_ms", pyro_plan_case_worth(cases, found) / 0.9, (double)NAN, "ms");
    pyro_finding_merged(context, finding, "joins", found->merged);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Add an equality to the join condition: on the key itself or, for ranges and distances, on "
                           "a coarser key (the hour, the grid cell). Keep the exact condition in addition."),
        verify);
    if (advice)
        advice->code =
            PYRO_SLICE_LITERAL("a.join(b, (a.cell == b.cell) & exact_condition)   # SQL: ON a.cell = b.cell AND ...");
    if (kept > 0.5)
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("If you need every pair, aggregate or filter both sides before the join."), verify);
    finding->harm = explodes ? 0.2 : 0;
    finding->confidence *= 0.9;
    if (kept > 0.5)
        pyro_remedy_partly(finding, 0.3);
    else
        pyro_remedy_partly(finding, 0.7);
}

static bool is_judged(const struct pyro_plan_op *op)
{
    return op->class == PYRO_OPERATOR_CARTESIAN || op->class == PYRO_OPERATOR_NESTED_LOOP_JOIN;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    double least = pyro_limit(context, TASK_SHARE_MIN) * pyro_real(context->app->numbers.task_ms);
    return pyro_plan_cases_evaluate(context, is_judged, examine, least, report);
}

const struct pyro_rule pyro_rule_cartesian_product = {
    .id = "cartesian-product",
    .category = "plan",
    .title = "Join without an equality",
    .summary = "A join compares every row of one side with every row of the other side.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
