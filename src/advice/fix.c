#include "advice/fix.h"

#include <string.h>

#include "base/error.h"

size_t pyro_fix_settings(const struct pyro_app *app, const struct pyro_setting *settings, size_t count,
                         struct pyro_scenario *scenario)
{
    size_t put = 0;
    for (size_t i = 0; i < count; i++)
        put += pyro_scenario_set(scenario, settings[i].key, settings[i].value) &&
               pyro_predicted_takes_time(app, settings[i].key);
    return put;
}

/* False: no memory. */
static bool add_code(const struct pyro_edit *edits, size_t count, struct pyro_arena *arena,
                     struct pyro_scenario *scenario)
{
    struct pyro_edit *all = pyro_arena_array(arena, scenario->code_count + count, sizeof(*all));
    if (!all)
        return false;
    if (scenario->code_count > 0)
        memcpy(all, scenario->code, scenario->code_count * sizeof(*all));
    if (count > 0)
        memcpy(all + scenario->code_count, edits, count * sizeof(*all));
    scenario->code = all;
    scenario->code_count += count;
    return true;
}

enum pyro_status pyro_fix_apply(const struct pyro_app *app, const struct pyro_finding *finding,
                                struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                struct pyro_error *error)
{
    if (finding->saves.basis == PYRO_BASIS_CODE && !add_code(finding->edits, finding->edit_count, arena, scenario))
        return pyro_no_memory(error);
    *ret_applied = finding->saves.basis == PYRO_BASIS_CODE ||
                   (finding->saves.basis == PYRO_BASIS_SETTINGS &&
                    pyro_fix_settings(app, finding->fix, finding->fix_count, scenario) > 0);
    return PYRO_OK;
}

void pyro_plan_take(const struct pyro_scenario *scenario, struct pyro_recommended_plan *plan)
{
    plan->made = true;
    plan->wall_low_ms = scenario->wall_low_ms;
    plan->wall_expected_ms = scenario->wall_expected_ms;
    plan->wall_high_ms = scenario->wall_high_ms;
    plan->core_ms = scenario->core_ms;
    plan->cost = scenario->cost;
}
