/* Whether applied suggestions keep their promise: docs/suggestions.md. */
#ifndef PYRO_FLEET_SUGGEST_REVIEW_H
#define PYRO_FLEET_SUGGEST_REVIEW_H

#include "fleet/adoption/adoption.h"
#include "fleet/suggest/keep_suggestions.h"

enum pyro_review_action {
    PYRO_REVIEW_WAIT,      /* too few runs have the settings */
    PYRO_REVIEW_KEEP,      /* three or more runs, and no harm */
    PYRO_REVIEW_ROLL_BACK, /* the settings do harm */
    PYRO_REVIEW_CHANGED    /* another process changed the file */
};
const char *pyro_review_action_name(enum pyro_review_action action);

struct pyro_review {
    const struct pyro_kept_suggestion *kept;
    enum pyro_review_action action;
    const char *reason;
    size_t runs; /* that have the settings, failed ones included */
    bool has_realised;
    struct pyro_realised realised;
    bool rolled_back;
};

/* One run of the application since the suggestion, or before it. */
struct pyro_reviewed_run {
    int64_t start_ms;
    struct pyro_adoption_run run;
    bool adopts;     /* all settings */
    bool died_of_it; /* it failed for memory or a limit of results */
};
/* Judges by the runs, ascending by start. False: no memory. */
bool pyro_review_judge(const struct pyro_reviewed_run *runs, size_t count, struct pyro_arena *scratch,
                       struct pyro_review *review);

#endif
