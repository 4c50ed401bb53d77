/* Judging the rules by a corpus of labeled runs: what was found against what was planted. */
#ifndef PYRO_EVALUATE_EVALUATE_H
#define PYRO_EVALUATE_EVALUATE_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "report/report.h"

enum pyro_outcome { PYRO_OUTCOME_RIGHT, PYRO_OUTCOME_WRONG, PYRO_OUTCOME_MISSED, PYRO_OUTCOME_ALLOWED, PYRO_OUTCOMES };

/* One rule's outcome on one run. */
struct pyro_judged_rule {
    const char *rule; /* as labeled: it may be one that this build does not have */
    enum pyro_outcome outcome;
};

struct pyro_judged_run {
    const char *file;   /* as the manifest names it; of feedback: the application */
    const char *split;  /* or NULL */
    const char *reason; /* why it could not be judged, or NULL */
    bool feedback, healthy;
    PYRO_VEC(struct pyro_judged_rule) rules;
    /* Where the corpus has the repaired run: what the findings of the planted rules said it would save, and what it
     * did save; PYRO_NONE where it has not. */
    int64_t predicted_low_ms, predicted_ms, predicted_high_ms, saved_ms, duration_ms;
};

struct pyro_evaluation {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_judged_run) runs;
};

/* Counts of one rule, or of all. */
struct pyro_rule_score {
    const char *rule;
    size_t count[PYRO_OUTCOMES];
};

/* NaN where nothing was found, or nothing was to be found. */
double pyro_score_precision(const struct pyro_rule_score *score);
double pyro_score_recall(const struct pyro_rule_score *score);

void pyro_evaluation_write(const struct pyro_evaluation *evaluation, enum pyro_format format,
                           struct pyro_output *output);

#endif
