/* Findings judged on the changed run: what fixing each one would save there, on the same scale of severities.
 *
 * A finding is dropped if that makes it `low`, and added if it was `low` and no longer is. Faults that the run did not
 * have at all cannot be predicted: nothing in its log is about them. */
#include <math.h>

#include "advice/advice.h"
#include "advice/fix.h"
#include "advice/whatif_api.h"
#include "base/numbers/saturate.h"

/* Replays of tasks that may be spent on all findings of all scenarios. */
#define TASKS_MAX 12e6

/* Severities are shares of the run that was. */
static enum pyro_severity severity_of(const struct pyro_app *app, const struct pyro_scenario *scenario,
                                      const struct pyro_finding *finding, int64_t wall_ms, int64_t core_ms)
{
    struct pyro_finding copy = *finding;
    double of_wall = scenario->wall_expected_ms > 0
                         ? (double)app->numbers.wall_total_ms / (double)scenario->wall_expected_ms
                         : 1,
           of_core = scenario->core_ms > 0 ? (double)app->numbers.core_total_ms / (double)scenario->core_ms : 1;
    copy.saves.wall_expected_ms = (int64_t)((double)wall_ms * of_wall);
    copy.saves.core_ms = (int64_t)((double)core_ms * of_core);
    if (copy.full_costs.wall_ms != PYRO_NONE)
        copy.full_costs.wall_ms = (int64_t)((double)copy.full_costs.wall_ms * of_wall);
    if (copy.full_costs.core_ms != PYRO_NONE)
        copy.full_costs.core_ms = (int64_t)((double)copy.full_costs.core_ms * of_core);
    return pyro_finding_severity(app, &copy);
}

static enum pyro_status judge(const struct pyro_whatif *whatif, struct pyro_replay *replay, struct pyro_arena *arena,
                              const struct pyro_scenario *scenario, struct pyro_scenario_finding *judged,
                              struct pyro_error *error)
{
    struct pyro_scenario fixed = {.brief = true};
    memcpy(fixed.given, scenario->given, sizeof(fixed.given));
    memcpy(fixed.full, scenario->full, sizeof(fixed.full));
    memcpy(fixed.values, scenario->values, sizeof(fixed.values));
    bool applied;
    PYRO_TRY(pyro_fix_apply(whatif->run.app, judged->finding, arena, &fixed, &applied, error));
    if (!applied)
        return PYRO_OK;
    PYRO_TRY(pyro_predict(&whatif->run, replay, arena, &fixed, error));
    if (!fixed.code_applies)
        return PYRO_OK;
    int64_t wall = pyro_sub_saturating(scenario->wall_expected_ms, fixed.wall_expected_ms),
            core = pyro_sub_saturating(scenario->core_ms, fixed.core_ms);
    judged->known = true;
    judged->saves_ms = wall > 0 ? wall : 0;
    judged->severity = severity_of(whatif->run.app, scenario, judged->finding, judged->saves_ms, core > 0 ? core : 0);
    return PYRO_OK;
}

enum pyro_status pyro_whatif_answer(const struct pyro_whatif *whatif, struct pyro_replay *replay,
                                    struct pyro_arena *arena, struct pyro_scenario *scenario, struct pyro_error *error)
{
    const struct pyro_diagnosis *diagnosis = whatif->diagnosis;
    PYRO_TRY(pyro_predict(&whatif->run, replay, arena, scenario, error));
    if (!whatif->judges || diagnosis->finding_count == 0)
        return PYRO_OK;
    scenario->findings = pyro_arena_array(arena, diagnosis->finding_count, sizeof(*scenario->findings));
    if (!scenario->findings)
        return pyro_no_memory(error);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct pyro_scenario_finding *judged = &scenario->findings[scenario->finding_count++];
        *judged = (struct pyro_scenario_finding){.finding = &diagnosis->findings[i],
                                                 .severity = diagnosis->findings[i].severity};
        PYRO_TRY(judge(whatif, replay, arena, scenario, judged, error));
    }
    return PYRO_OK;
}

bool pyro_whatif_judges(const struct pyro_whatif *whatif)
{
    double tasks = (double)whatif->run.app->tasks.count + 1000;
    return tasks * (double)whatif->diagnosis->finding_count * (double)whatif->scenario_count <= TASKS_MAX;
}
