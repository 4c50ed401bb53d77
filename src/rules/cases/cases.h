/* Stages that show one fault: collected first, then merged, so that a loop over the same code is one finding. */
#ifndef PYRO_RULES_CASES_CASES_H
#define PYRO_RULES_CASES_CASES_H

#include "rules/rule.h"

struct pyro_case_stage {
    size_t row; /* in app->stages */
    struct pyro_case_stage *next;
};

struct pyro_case {
    size_t stage;               /* row in app->stages */
    double low, expected, high; /* wall ms that fixing this stage saves */
    double value[8];            /* the rule's own numbers */
    size_t merged;              /* stages that this case stands for, itself included */
    double sum_low, sum_expected, sum_high;
    struct pyro_case_remedy *remedies; /* of those stages */
    struct pyro_case_stage *stages;    /* themselves */
};

struct pyro_cases {
    PYRO_VEC(struct pyro_case) list;
};

struct pyro_case *pyro_cases_add(struct pyro_rule_context *context, struct pyro_cases *cases, size_t stage_row);
/* Sorts by expected saving, the largest first, and folds cases of the same site into the largest, adding savings. */
void pyro_cases_merge(struct pyro_rule_context *context, struct pyro_cases *cases);
/* Takes what fixing this stage changes in the run, by the functions of remedy.h; NULL without memory. */
struct pyro_finding *pyro_case_remedy(struct pyro_rule_context *context, struct pyro_case *found);
/* Gives a finding the remedies of all stages that its case stands for. */
void pyro_case_take_remedies(struct pyro_rule_context *context, struct pyro_finding *finding,
                             const struct pyro_case *found);
/* Gives a finding the stages that its case stands for, and says in its evidence how many they are. */
void pyro_case_take_stages(struct pyro_rule_context *context, struct pyro_finding *finding,
                           const struct pyro_case *found);
/* What most rules do with their cases in the end: merges them, hands those that are expected to save at least `least`
 * ms to `report`, and frees them. */
void pyro_cases_report(struct pyro_rule_context *context, struct pyro_cases *cases, double least,
                       void (*report)(struct pyro_rule_context *context, const struct pyro_case *found));
void pyro_cases_done(struct pyro_rule_context *context, struct pyro_cases *cases);

/* What makes a stage "the same" in this and the next run: its call site, and where that is one of Spark's own lines
 * (PySpark's NativeMethodAccessorImpl) the description of its job or query as well. In the arena. */
struct pyro_slice pyro_stage_site(struct pyro_rule_context *context, size_t stage_row);

/* Milliseconds of [from, to) in which no other stage than row `stage_row` had work: what shortening this stage there
 * gives the application for certain. */
double pyro_alone_ms(struct pyro_rule_context *context, size_t stage_row, double from, double to);

/* Saved wall time when the part [from, to) of the stage's run is not needed: all of it where the stage was alone, none
 * (low), a third (expected) or all (high) of it where other stages used the time as well: they may have been the ones
 * to wait for. `sure` scales the expected and low values. */
void pyro_case_saves(struct pyro_rule_context *context, struct pyro_case *found, double from, double to, double sure);

#endif
