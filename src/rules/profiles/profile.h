/* Profiles: the verdicts that another tool would give on this run, by its own formulas, names and thresholds, beside
 * Pyrometer's findings and without influence on them. For those who come from there. */
#ifndef PYRO_RULES_PROFILES_PROFILE_H
#define PYRO_RULES_PROFILES_PROFILE_H

#include "rules/rule.h"

struct pyro_peer_verdict {
    const char *heuristic;   /* the peer's own name */
    const char *severity;    /* the peer's own word */
    double value, threshold; /* the number it judges and the limit that counts; NaN where there is none */
    struct pyro_slice detail;
};

struct pyro_profile {
    const char *name, *title;
    /* Calls pyro_profile_say() for each verdict, those that find nothing included. */
    void (*judge)(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis);
};

extern const struct pyro_profile *const pyro_profiles[];
extern const size_t pyro_profile_count;

enum { PYRO_PEER_VERDICTS_MAX = 256 };
/* A verdict more; beyond the maximum they are left out. */
void pyro_profile_say(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, const char *heuristic,
                      const char *severity, double value, double threshold, struct pyro_slice detail);
/* Time of Resubmitted records: they repeat a task that ended before, so that Pyrometer does not count it again, but the
 * History Server does. Added to `by_executor`, which has a number for each row of app->executors, unless that is NULL.
 */
double pyro_profile_repeated_ms(const struct pyro_app *app, double *by_executor);
/* How the History Server counts tasks of each row of app->stages: Resubmitted ones fail, denied commits are killed. */
struct pyro_peer_tasks {
    double done, failed;
};
/* In the context's arena; NULL when there is no memory. */
struct pyro_peer_tasks *pyro_profile_stage_tasks(struct pyro_rule_context *context);
/* Runs diagnosis->profile. False: no memory. */
bool pyro_profile_run(struct pyro_diagnosis *diagnosis);

#endif
