/* What fixing each finding saves. */
#ifndef PYRO_ADVICE_PRICE_H
#define PYRO_ADVICE_PRICE_H

#include "predict/predict.h"
#include "rules/rule.h"

/* What is worth advising: the run is shorter by this time, or no longer and cheaper by this share. */
enum { PYRO_GAIN_MIN_MS = 50, PYRO_GAIN_MIN_PARTS = 1000, PYRO_GAIN_CORE_PARTS = 100 };
/* Times that differ by less than such a share of the run are alike: the cheaper run is better then. */
enum { PYRO_ALIKE_PARTS = 200 };
/* Tasks that may be replayed for all candidates, and again for the plan; the first candidate of each finding is
 * replayed whatever it takes. Not a time, so that every machine says the same. */
#define PYRO_PRICED_TASKS_MAX 4e6
/* Whether the second scenario is better than the first one; NULL: than the unchanged run. */
bool pyro_fix_gains(const struct pyro_predicted_run *run, const struct pyro_scenario *from,
                    const struct pyro_scenario *to);
/* What a scenario that fixes something saves. */
struct pyro_saving pyro_fix_saving(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario,
                                   enum pyro_basis basis);
/* The same as a share of the stage that a finding names, where it names one and it is not more than that stage; or of
 * none. */
struct pyro_saving pyro_saving_of_stage(const struct pyro_app *app, const struct pyro_finding *finding,
                                        struct pyro_saving saves);
struct pyro_saving pyro_saving_anywhere(struct pyro_saving saves);

/* Chooses how each finding is fixed, and fills its `own` and `saves`. On at most `threads` threads.
 * PYRO_ERROR_CANCELLED: stopped. */
enum pyro_status pyro_findings_price(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run, unsigned threads,
                                     const struct pyro_stop *stop, struct pyro_finding_list *findings,
                                     struct pyro_error *error);

#endif
