/* Advice: what of all that rules suggest is worth doing, and what it saves.
 *
 * Rules state faults, evidence and ways to fix them. This layer asks the simulator (predict/) for the run with each of
 * them, and fills savings, severities, the order of findings and the recommended settings. */
#ifndef PYRO_ADVICE_ADVICE_H
#define PYRO_ADVICE_ADVICE_H

#include "base/phase_times.h"
#include "predict/predict.h"
#include "rules/rule.h"

/* How to judge an application; zeroed except `threads`. */
struct pyro_judging {
    const struct pyro_config *config;
    const struct pyro_cost *cost; /* its bill, priced; NULL: there is none */
    unsigned threads;             /* at most; at least 1 */
    const struct pyro_allocator *allocator;
    const struct pyro_stop *stop; /* asked by the calling thread only */
    struct pyro_phases phases;
    bool unsound_too; /* savings also where the replay does not tell the run: for runs that tests made by hand */
};

/* A finding of this failure risk made the application fail: docs/severity.md. */
#define PYRO_FAILED_RISK 0.9

/* Judges an application by all rules, and says what to do. */
enum pyro_status pyro_diagnosis_new(struct pyro_app *app, const struct pyro_judging *judging,
                                    struct pyro_diagnosis **ret, struct pyro_error *error);

/* docs/severity.md: from shares of wall and core time saved, failure risk and harm. */
enum pyro_severity pyro_finding_severity(const struct pyro_app *app, const struct pyro_finding *finding);
/* Whether a finding of a log that holds only part of a run would not be of low severity in a run twice as long. */
bool pyro_finding_matters_in_part(const struct pyro_app *app, const struct pyro_finding *finding);
/* Final order: most wall time saved, then core time, then severity, rule, id. For qsort. */
int pyro_finding_compare(const void *left, const void *right);
/* Puts findings that others follow from before them, and names them there. False: no memory. */
bool pyro_findings_lead_by_roots(struct pyro_arena *arena, struct pyro_finding *findings, size_t count);
/* Whether both are about one stage; one that names none is about all. Both lists are in the order of app->stages. */
bool pyro_findings_share_stage(const struct pyro_finding *a, const struct pyro_finding *b);
/* Makes the actions of what findings advise and the plans took. Without `run` nothing is simulated. */
enum pyro_status pyro_actions_make(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run,
                                   struct pyro_error *error);
/* Makes the recommended configuration of what findings advise, conflicts resolved, and the plans: all of it simulated
 * together; and the actions. Without `run` nothing is simulated, and there is no plan. */
enum pyro_status pyro_plan_make(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run,
                                struct pyro_error *error);
/* Fills diagnosis->configuration from the changes and from what the run says of all other properties of interest.
 * False: no memory. */
bool pyro_advise_configuration(struct pyro_diagnosis *diagnosis);

#endif
