/* What people said of earlier findings, applied to a new diagnosis (docs/feedback.md has the formula). */
#ifndef PYRO_ADVICE_FEEDBACK_H
#define PYRO_ADVICE_FEEDBACK_H

#include "rules/rule.h"

/* Verdicts on findings of one rule: right is confirmed or fixed, wrong is false-positive. */
struct pyro_votes {
    const struct pyro_rule *rule;
    double right_here, wrong_here;           /* for this application */
    double right_elsewhere, wrong_elsewhere; /* for all others */
};

/* A finding that was judged for this application. */
struct pyro_judged {
    struct pyro_slice finding;
    enum pyro_feedback_verdict verdict;
    struct pyro_slice note;
    int64_t time_ms;
};

/* How sure to be of a rule that is `prior` sure by itself, 0..1. */
double pyro_calibrated(double prior, const struct pyro_votes *votes);
/* Calibrates confidences, marks judged findings and folds those marked false; settings are resolved again without
 * them. Texts are copied. */
enum pyro_status pyro_diagnosis_judge(struct pyro_diagnosis *diagnosis, const struct pyro_votes *votes,
                                      size_t vote_count, const struct pyro_judged *judged, size_t judged_count,
                                      struct pyro_error *error);

#endif
