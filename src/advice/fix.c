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

/* All settings of the advice are among these, and no model knows one of them. */
static bool is_done_by(const struct pyro_advice *advice, const struct pyro_setting *settings, size_t count)
{
    const struct pyro_setting *own = advice->asked ? advice->asked : advice->settings;
    size_t own_count = advice->asked ? advice->asked_count : advice->setting_count, same = 0;
    for (size_t i = 0; i < own_count; i++)
        if (pyro_predicted_is_known(own[i].key))
            return false;
    for (size_t i = 0; i < own_count; i++)
        for (size_t k = 0; k < count; k++)
            same += pyro_slice_eq(own[i].key, settings[k].key) && pyro_slice_eq(own[i].value, settings[k].value);
    return own_count > 0 && same == own_count;
}

const struct pyro_advice *pyro_fix_done_by(const struct pyro_finding *finding, const struct pyro_setting *settings,
                                           size_t count)
{
    for (size_t i = 0; i < finding->advice_count && finding->edit_count > 0; i++)
        if ((finding->advice[i].edits || (i == 0 && finding->by_settings)) &&
            is_done_by(&finding->advice[i], settings, count))
            return &finding->advice[i];
    return NULL;
}

bool pyro_fix_is_edits(const struct pyro_finding *finding, const struct pyro_setting *settings, size_t count)
{
    return pyro_fix_done_by(finding, settings, count) != NULL;
}

bool pyro_fix_edits(const struct pyro_finding *finding, struct pyro_arena *arena, struct pyro_scenario *scenario)
{
    return add_code(finding->edits, finding->edit_count, arena, scenario);
}

enum pyro_status pyro_plan_apply(const struct pyro_diagnosis *diagnosis, struct pyro_arena *arena,
                                 struct pyro_scenario *scenario, struct pyro_error *error)
{
    pyro_fix_settings(diagnosis->app, diagnosis->config_changes, diagnosis->config_change_count, scenario);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (pyro_fix_is_edits(finding, diagnosis->config_changes, diagnosis->config_change_count) &&
            !pyro_fix_edits(finding, arena, scenario))
            return pyro_no_memory(error);
    }
    return PYRO_OK;
}

enum pyro_status pyro_fix_apply(const struct pyro_app *app, const struct pyro_finding *finding,
                                struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                struct pyro_error *error)
{
    if (finding->own.basis == PYRO_BASIS_CODE && !add_code(finding->edits, finding->edit_count, arena, scenario))
        return pyro_no_memory(error);
    bool edits =
        finding->own.basis == PYRO_BASIS_SETTINGS && pyro_fix_is_edits(finding, finding->fix, finding->fix_count);
    if (edits && !pyro_fix_edits(finding, arena, scenario))
        return pyro_no_memory(error);
    *ret_applied = finding->own.basis == PYRO_BASIS_CODE || edits ||
                   (finding->own.basis == PYRO_BASIS_SETTINGS &&
                    pyro_fix_settings(app, finding->fix, finding->fix_count, scenario) > 0);
    return PYRO_OK;
}

enum pyro_status pyro_action_apply(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action,
                                   struct pyro_arena *arena, struct pyro_scenario *scenario, bool *ret_applied,
                                   struct pyro_error *error)
{
    size_t put = pyro_fix_settings(diagnosis->app, action->settings, action->setting_count, scenario);
    put += pyro_fix_settings(diagnosis->app, action->elsewhere, action->elsewhere_count, scenario);
    *ret_applied = put > 0;
    for (size_t i = 0; i < action->cure_count && action->by_settings; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[action->cures[i]];
        if (!pyro_fix_is_edits(finding, action->settings, action->setting_count) &&
            !pyro_fix_is_edits(finding, action->elsewhere, action->elsewhere_count))
            continue;
        if (!pyro_fix_edits(finding, arena, scenario))
            return pyro_no_memory(error);
        *ret_applied = true;
    }
    for (size_t i = 0; i < action->cure_count && !action->by_settings; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[action->cures[i]];
        bool applied = false;
        if (finding->own.basis == PYRO_BASIS_CODE)
            PYRO_TRY(pyro_fix_apply(diagnosis->app, finding, arena, scenario, &applied, error));
        *ret_applied |= applied;
    }
    return PYRO_OK;
}

struct pyro_slice pyro_advice_first(struct pyro_slice text, struct pyro_arena *arena)
{
    static const char or [] = "Or ";
    if (!pyro_slice_starts_with(text, or) || text.len == sizeof(or) - 1)
        return text;
    pyro_slice_drop(&text, sizeof(or) - 1);
    char first = text.ptr[0] >= 'a' && text.ptr[0] <= 'z' ? (char)(text.ptr[0] - 'a' + 'A') : text.ptr[0];
    return pyro_arena_printf(arena, "%c%.*s", first, (int)text.len - 1, text.ptr + 1);
}

const struct pyro_action *pyro_action_of(const struct pyro_diagnosis *diagnosis, const struct pyro_finding *finding)
{
    for (size_t a = 0; a < diagnosis->action_count; a++)
        for (size_t i = 0; i < diagnosis->actions[a].cure_count; i++)
            if (&diagnosis->findings[diagnosis->actions[a].cures[i]] == finding)
                return &diagnosis->actions[a];
    return NULL;
}

bool pyro_advice_restate(struct pyro_advice *advice, struct pyro_arena *arena)
{
    struct pyro_slice text = PYRO_SLICE_LITERAL("");
    for (size_t i = 0; i < advice->setting_count; i++) {
        struct pyro_slice key = advice->settings[i].key, value = advice->settings[i].value;
        const char *before = i == 0 ? "Set " : i + 1 == advice->setting_count ? " and " : ", ";
        text = pyro_arena_printf(arena, "%.*s%s%.*s=%.*s%s", (int)text.len, text.ptr, before, (int)key.len, key.ptr,
                                 (int)value.len, value.ptr, i + 1 == advice->setting_count ? "." : "");
        if (!text.ptr)
            return false;
    }
    advice->text = text;
    advice->restated = true;
    return true;
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
