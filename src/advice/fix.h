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
/* Puts what the settings of a finding do, where no model knows them, into a scenario. False: no memory. */
bool pyro_fix_edits(const struct pyro_finding *finding, struct pyro_arena *arena, struct pyro_scenario *scenario);
/* The advice of such a finding all of whose settings are among these; NULL: there is none. And whether there is one. */
const struct pyro_advice *pyro_fix_done_by(const struct pyro_finding *finding, const struct pyro_setting *settings,
                                           size_t count);
bool pyro_fix_is_edits(const struct pyro_finding *finding, const struct pyro_setting *settings, size_t count);
/* Puts all settings that are recommended into a scenario. */
enum pyro_status pyro_plan_apply(const struct pyro_diagnosis *diagnosis, struct pyro_arena *arena,
                                 struct pyro_scenario *scenario, struct pyro_error *error);
/* Puts what was chosen to fix a finding into a scenario. *ret_applied: something was. */
enum pyro_status pyro_fix_apply(const struct pyro_app *app, const struct pyro_finding *finding,
                                struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                struct pyro_error *error);
/* Puts the settings of an action, or the changes of the program that cure its findings, into a scenario.
 * *ret_applied: something of it changes time. */
enum pyro_status pyro_action_apply(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action,
                                   struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                   struct pyro_error *error);
/* The first action that cures a finding; NULL: none does. */
const struct pyro_action *pyro_action_of(const struct pyro_diagnosis *diagnosis, const struct pyro_finding *finding);

/* Says in place of an advice what its settings are: "Set A=1 and B=2." False: no memory. */
bool pyro_advice_restate(struct pyro_advice *advice, struct pyro_arena *arena);
/* The text of an advice that comes first: without "Or". Null: no memory. */
struct pyro_slice pyro_advice_first(struct pyro_slice text, struct pyro_arena *arena);

#endif
