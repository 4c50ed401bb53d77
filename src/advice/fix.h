/* How a finding is fixed, as a change of the run: the settings of one advice, or what the program does otherwise. */
#ifndef PYRO_ADVICE_FIX_H
#define PYRO_ADVICE_FIX_H

#include "predict/predict.h"
#include "rules/rule.h"

/* Puts settings that have a model into a scenario, in place of what it has under these keys. Returns how many of them
 * can change the time of the run. */
size_t pyro_fix_settings(const struct pyro_app *app, const struct pyro_setting *settings, size_t count,
                         struct pyro_scenario *scenario);
/* Takes times and cost of a plan from the scenario that simulated it. */
void pyro_plan_take(const struct pyro_scenario *scenario, struct pyro_recommended_plan *plan);
/* Puts what was chosen to fix a finding into a scenario. *ret_applied: something was. */
enum pyro_status pyro_fix_apply(const struct pyro_app *app, const struct pyro_finding *finding,
                                struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                struct pyro_error *error);

#endif
