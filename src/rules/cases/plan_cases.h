/* Operators that show one fault: collected first, then merged by site, so that a loop over the same query is one
 * finding. The saving of all of them is said in edits of the stages that ran them. */
#ifndef PYRO_RULES_CASES_PLAN_CASES_H
#define PYRO_RULES_CASES_PLAN_CASES_H

#include "rules/plans/plans.h"

enum { PYRO_RELIEFS_MAX = 4, PYRO_PLAN_VALUES = 6, PYRO_PLAN_CASES_MAX = 500 };

/* Task time that a stage would be spared. */
struct pyro_relief {
    size_t stage; /* row of app->stages */
    double ms;
};

struct pyro_plan_case {
    const struct pyro_plan_tree *plan;
    uint32_t op;
    size_t stage;                   /* where the finding is placed */
    double value[PYRO_PLAN_VALUES]; /* the rule's own numbers */
    struct pyro_relief relief[PYRO_RELIEFS_MAX];
    size_t relief_count;
    double worth;           /* sum of the reliefs */
    struct pyro_slice site; /* null: that of the stage; the cases before it in the list decide: */
    bool folded;            /* an earlier one has the same site */
    size_t merged;          /* cases that this one stands for, itself included */
};

struct pyro_plan_cases {
    PYRO_VEC(struct pyro_plan_case) list;
};

typedef bool pyro_plan_filter(const struct pyro_plan_op *op);
typedef void pyro_plan_examine(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                               const struct pyro_plan_tree *plan, uint32_t op);
typedef void pyro_plan_report(struct pyro_rule_context *context, const struct pyro_plan_cases *cases,
                              const struct pyro_plan_case *found);

/* Has `examine` look at all operators that `filter` lets pass, and reports each site that would be spared `least_ms` of
 * task time. Not applicable: there is no such operator. A site that `examine` set itself stays: cases with one cure are
 * one finding wherever they are. */
enum pyro_verdict pyro_plan_cases_evaluate(struct pyro_rule_context *context, pyro_plan_filter *filter,
                                           pyro_plan_examine *examine, double least_ms, pyro_plan_report *report);

/* NULL without memory, beyond PYRO_PLAN_CASES_MAX cases, and for an operator that no stage ran. */
struct pyro_plan_case *pyro_plan_cases_add(struct pyro_rule_context *context, struct pyro_plan_cases *cases,
                                           const struct pyro_plan_tree *plan, uint32_t op);
/* `share` of the operator's time is spared, in the stages that ran it. */
void pyro_plan_case_spare(struct pyro_plan_case *found, uint32_t op, double share);
/* Task ms that the case and those folded into it would be spared. */
double pyro_plan_case_worth(const struct pyro_plan_cases *cases, const struct pyro_plan_case *found);
/* Place, execution and edits of a finding about the case and those folded into it. */
void pyro_plan_case_apply(struct pyro_rule_context *context, struct pyro_finding *finding,
                          const struct pyro_plan_cases *cases, const struct pyro_plan_case *found);
void pyro_plan_cases_done(struct pyro_rule_context *context, struct pyro_plan_cases *cases);

#endif
