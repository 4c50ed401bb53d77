#include "rules/cases/plan_cases.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

struct pyro_plan_case *pyro_plan_cases_add(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                                           const struct pyro_plan_tree *plan, uint32_t op)
{
    const struct pyro_plan_op *node = &plan->ops[op];
    if (node->stage_count == 0 || cases->list.count >= PYRO_PLAN_CASES_MAX || context->failed)
        return NULL;
    struct pyro_plan_case *found = pyro_vec_push(&cases->list, context->app->allocator);
    if (!found) {
        context->failed = true;
        return NULL;
    }
    found->plan = plan;
    found->op = op;
    found->stage = plan->stages[node->first_stage + node->stage_count - 1];
    found->merged = 1;
    return found;
}

void pyro_plan_case_spare(struct pyro_plan_case *found, uint32_t op, double share)
{
    if (!found || op == PYRO_NO_OP)
        return;
    const struct pyro_plan_tree *plan = found->plan;
    const struct pyro_plan_op *node = &plan->ops[op];
    const struct pyro_stage *stages = plan->plans->app->stages.items;
    double all = 0, time = share * pyro_real(node->time_ms);
    for (uint32_t i = 0; i < node->stage_count; i++)
        all += pyro_real(stages[plan->stages[node->first_stage + i]].run_ms);
    for (uint32_t i = 0; i < node->stage_count && all > 0; i++) {
        size_t row = plan->stages[node->first_stage + i];
        double ms = time * pyro_real(stages[row].run_ms) / all;
        size_t k = 0;
        while (k < found->relief_count && found->relief[k].stage != row)
            k++;
        if (k == PYRO_RELIEFS_MAX)
            continue;
        if (k == found->relief_count)
            found->relief[found->relief_count++] = (struct pyro_relief){row, 0};
        ms = fmin(ms, pyro_real(stages[row].task_ms) - found->relief[k].ms);
        found->relief[k].ms += fmax(ms, 0);
        found->worth += fmax(ms, 0);
    }
}

static int dearest_first(const void *left, const void *right)
{
    const struct pyro_plan_case *a = left, *b = right;
    if (a->worth != b->worth)
        return a->worth > b->worth ? -1 : 1;
    if (a->plan != b->plan)
        return a->plan < b->plan ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

/* The case worth most comes first; those of the same site are folded into it. */
static void merge(struct pyro_rule_context *context, struct pyro_plan_cases *cases)
{
    size_t count = cases->list.count;
    if (count > 1)
        qsort(cases->list.items, count, sizeof(*cases->list.items), dearest_first);
    for (size_t i = 0; i < count && !context->failed; i++) {
        struct pyro_plan_case *found = &cases->list.items[i];
        if (!found->site.ptr)
            found->site = pyro_stage_site(context, found->stage);
        for (size_t k = 0; k < i && !found->folded; k++) {
            struct pyro_plan_case *first = &cases->list.items[k];
            if (first->folded || !pyro_slice_eq(first->site, found->site))
                continue;
            found->folded = true;
            first->merged++;
        }
    }
}

double pyro_plan_case_worth(const struct pyro_plan_cases *cases, const struct pyro_plan_case *found)
{
    double worth = 0;
    for (size_t i = 0; i < cases->list.count; i++)
        if (pyro_slice_eq(cases->list.items[i].site, found->site))
            worth += cases->list.items[i].worth;
    return worth;
}

void pyro_plan_case_apply(struct pyro_rule_context *context, struct pyro_finding *finding,
                          const struct pyro_plan_cases *cases, const struct pyro_plan_case *found)
{
    const struct pyro_app *app = context->app;
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, found->stage);
    finding->sql = found->plan->sql->id;
    for (size_t i = 0; i < cases->list.count; i++) {
        const struct pyro_plan_case *member = &cases->list.items[i];
        for (size_t k = 0; k < member->relief_count && pyro_slice_eq(member->site, found->site); k++) {
            double all = pyro_real(app->stages.items[member->relief[k].stage].task_ms);
            if (all > 0 && member->relief[k].ms > 0)
                pyro_remedy_stage(context, finding, member->relief[k].stage,
                                  fmax(0.01, 1 - member->relief[k].ms / all));
        }
    }
}

void pyro_plan_cases_done(struct pyro_rule_context *context, struct pyro_plan_cases *cases)
{
    pyro_vec_done(&cases->list, context->app->allocator);
}

enum pyro_verdict pyro_plan_cases_evaluate(struct pyro_rule_context *context, pyro_plan_filter *filter,
                                           pyro_plan_examine *examine, double least_ms, pyro_plan_report *report)
{
    const struct pyro_plans *plans = pyro_rule_plans(context);
    struct pyro_plan_cases cases = {0};
    bool any = false;
    for (size_t q = 0; plans && q < plans->count; q++)
        for (uint32_t i = 0; i < plans->items[q].count; i++) {
            const struct pyro_plan_op *op = &plans->items[q].ops[i];
            if (op->repeated || !filter(op))
                continue;
            any = true;
            examine(context, &cases, &plans->items[q], i);
        }
    merge(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++) {
        const struct pyro_plan_case *found = &cases.list.items[i];
        if (!found->folded && pyro_plan_case_worth(&cases, found) >= least_ms)
            report(context, &cases, found);
    }
    pyro_plan_cases_done(context, &cases);
    return any ? PYRO_VERDICT_QUIET : PYRO_VERDICT_NOT_APPLICABLE;
}
