/* What to do: the advice of all findings as actions, each simulated once. docs/severity.md */
#include <math.h>
#include <string.h>

#include "advice/advice.h"
#include "advice/findings_by_action.h"
#include "advice/fix.h"
#include "advice/price.h"
#include "analyze/settings/spark_settings.h"
#include "base/error.h"

enum { TITLE_MAX = 160 /* bytes */, ACTIONS_MAX = 1000 };

struct acting {
    struct pyro_diagnosis *diagnosis;
    const struct pyro_predicted_run *run; /* NULL: nothing is simulated */
    size_t *group;                        /* of each finding: the first one that shares its settings */
    bool *set, *cured;                    /* each finding: settings of it are taken; an action cures it */
};

static bool counts(const struct pyro_finding *finding)
{
    return !finding->folded && finding->severity > PYRO_SEVERITY_LOW;
}

/* The first sentence, without its full stop and without what is said of settings that are not taken. */
static struct pyro_slice first_sentence(struct pyro_slice text)
{
    size_t len = 0;
    while (len < text.len && !((text.ptr[len] == '.' || text.ptr[len] == ':') &&
                               (len + 1 == text.len || text.ptr[len + 1] == ' ' || text.ptr[len + 1] == '\n')))
        len++;
    if (len > TITLE_MAX) {
        len = TITLE_MAX;
        while (len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80)
            len--;
    }
    return (struct pyro_slice){text.ptr, len};
}

static struct pyro_action *add(struct acting *acting, const char *kind, size_t finding,
                               const struct pyro_advice *advice)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    struct pyro_action *action = &diagnosis->actions[diagnosis->action_count];
    struct pyro_slice id = diagnosis->findings[finding].id, text = pyro_advice_first(advice->text, &diagnosis->arena);
    if (!text.ptr)
        return NULL;
    *action = (struct pyro_action){.title = first_sentence(text),
                                   .text = text,
                                   .code = advice->code,
                                   .check = advice->verify,
                                   .effort = PYRO_EFFORT_CODE,
                                   .saves = {.core_ms = PYRO_NONE, .stage_share = NAN, .cost = NAN}};
    action->id = pyro_arena_printf(&diagnosis->arena, "%s:%.*s", kind, (int)id.len, id.ptr);
    if (!action->id.ptr)
        return NULL;
    diagnosis->action_count++;
    return action;
}

/* False: no memory. */
static bool cure(struct acting *acting, struct pyro_action *action, size_t finding)
{
    size_t room = action->cure_count;
    if ((room & (room - 1)) == 0) { /* full at each power of two */
        size_t *more = pyro_arena_array(&acting->diagnosis->arena, room ? 2 * room : 1, sizeof(*more));
        if (!more)
            return false;
        if (room > 0)
            memcpy(more, action->cures, room * sizeof(*more));
        action->cures = more;
    }
    action->cures[action->cure_count++] = finding;
    acting->cured[finding] = true;
    return true;
}

/* ---- settings ---- */

static size_t first_of(size_t *group, size_t finding)
{
    while (group[finding] != finding)
        finding = group[finding] = group[group[finding]];
    return finding;
}

static void join(size_t *group, size_t a, size_t b)
{
    size_t one = first_of(group, a), other = first_of(group, b);
    group[one > other ? one : other] = one < other ? one : other;
}

/* Settings that are set elsewhere are not among those of an advice any more. */
static bool sets(const struct pyro_advice *advice, const struct pyro_change *change)
{
    const struct pyro_setting *settings = change->elsewhere ? advice->asked : advice->settings;
    size_t count = change->elsewhere ? advice->asked_count : advice->setting_count;
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(settings[i].key, change->key) &&
            pyro_setting_same(pyro_setting_find(change->key), settings[i].value, change->value))
            return true;
    return false;
}

/* Findings that need one setting are one group. */
static void group_findings(struct acting *acting)
{
    const struct pyro_diagnosis *diagnosis = acting->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        acting->group[i] = i;
    for (size_t c = 0; c < diagnosis->change_count; c++) {
        const struct pyro_change *change = &diagnosis->changes[c];
        acting->set[change->finding] = true;
        for (size_t i = 0; i < diagnosis->finding_count; i++) {
            const struct pyro_finding *finding = &diagnosis->findings[i];
            for (size_t k = 0; k < finding->advice_count && counts(finding); k++)
                if (sets(&finding->advice[k], change)) {
                    acting->set[i] = true;
                    join(acting->group, i, change->finding);
                }
        }
    }
}

/* The advice that says what the settings are for: the chosen one, else the first one whose settings are taken. */
static const struct pyro_advice *leading_advice(const struct acting *acting, size_t finding)
{
    const struct pyro_diagnosis *diagnosis = acting->diagnosis;
    const struct pyro_finding *own = &diagnosis->findings[finding];
    const struct pyro_advice *first = NULL;
    for (size_t k = 0; k < own->advice_count; k++) {
        const struct pyro_advice *advice = &own->advice[k];
        bool taken = advice->setting_count > 0;
        for (size_t c = 0; c < diagnosis->change_count && !taken; c++)
            taken = diagnosis->changes[c].finding == finding && diagnosis->changes[c].advice == k;
        if (taken && own->fix && advice->asked == own->fix)
            return advice;
        if (taken && !first)
            first = advice;
    }
    return first ? first : &own->advice[0];
}

static void take_settings(const struct acting *acting, size_t group, struct pyro_action *action)
{
    const struct pyro_diagnosis *diagnosis = acting->diagnosis;
    bool elsewhere = false, at_start = false, program = false;
    for (size_t c = 0; c < diagnosis->change_count; c++) {
        const struct pyro_change *change = &diagnosis->changes[c];
        if (first_of(acting->group, change->finding) != group)
            continue;
        const struct pyro_setting_row *row = pyro_setting_find(change->key);
        const struct pyro_setting setting = {change->key, change->value};
        if (change->elsewhere)
            action->elsewhere[action->elsewhere_count++] = setting;
        else
            action->settings[action->setting_count++] = setting;
        elsewhere |= change->elsewhere && !change->current.ptr;
        program |= change->current.ptr != NULL;
        at_start |= !row || row->at_start;
    }
    action->by_settings = true;
    action->effort = elsewhere ? PYRO_EFFORT_CLUSTER : program ? PYRO_EFFORT_CODE : PYRO_EFFORT_SETTING;
    action->risk = at_start || elsewhere ? PYRO_RISK_MEDIUM : PYRO_RISK_LOW;
}

static bool add_settings(struct acting *acting)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    group_findings(acting);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (!acting->set[i] || first_of(acting->group, i) != i || diagnosis->findings[i].advice_count == 0)
            continue;
        /* One whose rule says why, not only what is set. */
        size_t leading = i;
        for (size_t k = i; k < diagnosis->finding_count && leading_advice(acting, leading)->restated; k++)
            if (acting->set[k] && first_of(acting->group, k) == i && !leading_advice(acting, k)->restated)
                leading = k;
        struct pyro_action *action = add(acting, "settings", i, leading_advice(acting, leading));
        if (!action)
            return false;
        action->settings = pyro_arena_array(&diagnosis->arena, diagnosis->change_count, sizeof(*action->settings));
        action->elsewhere = pyro_arena_array(&diagnosis->arena, diagnosis->change_count, sizeof(*action->elsewhere));
        if (!action->settings || !action->elsewhere)
            return false;
        take_settings(acting, i, action);
        for (size_t k = i; k < diagnosis->finding_count; k++)
            if (acting->set[k] && first_of(acting->group, k) == i && !cure(acting, action, k))
                return false;
    }
    return true;
}

/* ---- changes of the program, and everything else ---- */

static const struct pyro_advice *code_advice(const struct pyro_finding *finding)
{
    const struct pyro_advice *first = NULL;
    for (size_t k = 0; k < finding->advice_count; k++) {
        const struct pyro_advice *advice = &finding->advice[k];
        if (advice->setting_count > 0 || advice->asked_count > 0)
            continue;
        if (advice->code.len)
            return advice;
        if (!first)
            first = advice;
    }
    return first ? first : finding->advice_count > 0 ? &finding->advice[0] : NULL;
}

static struct pyro_action *find_same(const struct acting *acting, const struct pyro_advice *advice)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    for (size_t i = 0; i < diagnosis->action_count; i++)
        if (!diagnosis->actions[i].by_settings && pyro_slice_eq(diagnosis->actions[i].text, advice->text) &&
            pyro_slice_eq(diagnosis->actions[i].code, advice->code))
            return &diagnosis->actions[i];
    return NULL;
}

static bool add_code(struct acting *acting, size_t finding)
{
    const struct pyro_finding *own = &acting->diagnosis->findings[finding];
    const struct pyro_advice *advice = code_advice(own);
    if (!advice || acting->diagnosis->action_count == ACTIONS_MAX)
        return true;
    struct pyro_action *action = find_same(acting, advice);
    if (!action) {
        action = add(acting, "code", finding, advice);
        if (!action)
            return false;
        action->effort = own->rule->effort;
        action->risk = own->rule->effort == PYRO_EFFORT_DATA ? PYRO_RISK_HIGH : PYRO_RISK_MEDIUM;
    }
    return cure(acting, action, finding);
}

static bool cures(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action, struct pyro_slice id)
{
    for (size_t i = 0; i < action->cure_count; i++)
        if (pyro_slice_eq(diagnosis->findings[action->cures[i]].id, id))
            return true;
    return false;
}

/* Settings fix the finding, but those of others do it as well: the action that saves most where the finding is. NULL:
 * no settings are taken, or none that change the time. */
static struct pyro_action *find_enough(const struct acting *acting, size_t finding)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    struct pyro_action *best = NULL;
    int64_t most = -1;
    bool near = false;
    for (size_t a = 0; a < diagnosis->action_count; a++) {
        struct pyro_action *action = &diagnosis->actions[a];
        for (size_t i = 0; i < action->cure_count && action->by_settings; i++) {
            const struct pyro_finding *cured = &diagnosis->findings[action->cures[i]];
            bool same = pyro_findings_share_stage(cured, &diagnosis->findings[finding]);
            if (cured->own.basis != PYRO_BASIS_SETTINGS || (near && !same) ||
                (near == same && cured->own.wall_expected_ms <= most))
                continue;
            best = action;
            near = same;
            most = cured->own.wall_expected_ms;
        }
    }
    return best;
}

static bool follows_from_another(const struct pyro_diagnosis *diagnosis, size_t finding)
{
    const struct pyro_finding *own = &diagnosis->findings[finding];
    const struct pyro_finding *root = own->root.ptr ? pyro_finding_by_id(diagnosis, own->root) : NULL;
    return root && root != own && counts(root);
}

/* What follows from a cured finding is cured as well; what nothing cures yet is done by what its rule says. */
static bool add_rest(struct acting *acting)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (counts(&diagnosis->findings[i]) && diagnosis->findings[i].own.basis == PYRO_BASIS_CODE &&
            !follows_from_another(diagnosis, i) && !add_code(acting, i))
            return false;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (acting->cured[i] || !counts(finding))
            continue;
        struct pyro_action *enough = finding->own.basis == PYRO_BASIS_SETTINGS ? find_enough(acting, i) : NULL;
        if (enough && !cure(acting, enough, i))
            return false;
        for (size_t a = 0; a < diagnosis->action_count && finding->root.ptr && !acting->cured[i]; a++)
            if (cures(diagnosis, &diagnosis->actions[a], finding->root) && !cure(acting, &diagnosis->actions[a], i))
                return false;
        if (!acting->cured[i] && !add_code(acting, i))
            return false;
    }
    return true;
}

/* ---- what they save ---- */

static bool among(const struct pyro_setting *one, const struct pyro_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(one->key, settings[i].key) && pyro_slice_eq(one->value, settings[i].value))
            return true;
    return false;
}

/* The cured finding that was simulated with just this; NULL: none was. */
static const struct pyro_finding *simulated_alone(const struct pyro_diagnosis *diagnosis,
                                                  const struct pyro_action *action)
{
    for (size_t i = 0; i < action->cure_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[action->cures[i]];
        if (!action->by_settings && finding->own.basis == PYRO_BASIS_CODE) {
            size_t others = 0; /* their edits make another scenario */
            for (size_t k = 0; k < action->cure_count; k++)
                others += k != i && diagnosis->findings[action->cures[k]].own.basis == PYRO_BASIS_CODE;
            return others == 0 ? finding : NULL;
        }
        bool same = finding->own.basis == PYRO_BASIS_SETTINGS &&
                    finding->fix_count == action->setting_count + action->elsewhere_count;
        for (size_t k = 0; k < finding->fix_count && same; k++)
            same = among(&finding->fix[k], action->settings, action->setting_count) ||
                   among(&finding->fix[k], action->elsewhere, action->elsewhere_count);
        if (same)
            return finding;
    }
    return NULL;
}

static const struct pyro_finding *most_saving(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action)
{
    const struct pyro_finding *most = NULL;
    for (size_t i = 0; i < action->cure_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[action->cures[i]];
        if (finding->own.basis == (action->by_settings ? PYRO_BASIS_SETTINGS : PYRO_BASIS_CODE) &&
            (!most || finding->own.wall_expected_ms > most->own.wall_expected_ms))
            most = finding;
    }
    return most;
}

static enum pyro_status price(struct acting *acting, struct pyro_action *action, double *spent,
                              struct pyro_error *error)
{
    const struct pyro_diagnosis *diagnosis = acting->diagnosis;
    const struct pyro_finding *known = simulated_alone(diagnosis, action);
    double tasks = (double)diagnosis->app->tasks.count + 1000;
    struct pyro_scenario scenario = {.brief = true};
    bool asks = false;
    if (diagnosis->savings_unknown)
        return PYRO_OK;
    if (!known && acting->run)
        PYRO_TRY(pyro_action_apply(diagnosis, action, &acting->diagnosis->arena, &scenario, &asks, error));
    if (asks && *spent + tasks <= PYRO_PRICED_TASKS_MAX) {
        *spent += tasks;
        PYRO_TRY(pyro_predict(acting->run, acting->run->replay, &acting->diagnosis->arena, &scenario, error));
        action->saves =
            pyro_fix_saving(acting->run, &scenario, action->by_settings ? PYRO_BASIS_SETTINGS : PYRO_BASIS_CODE);
        return PYRO_OK;
    }
    if (!known)
        known = most_saving(diagnosis, action);
    if (known)
        action->saves = pyro_saving_anywhere(known->own);
    return PYRO_OK;
}

/* All actions together: what both plans say, simulated once. */
static enum pyro_status price_together(struct acting *acting, struct pyro_error *error)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    const struct pyro_recommended_plan *settings = &diagnosis->settings_plan, *code = &diagnosis->code_plan;
    diagnosis->together = settings->made ? *settings : *code;
    diagnosis->together.findings = NULL;
    diagnosis->together.finding_count = 0;
    diagnosis->together.made = diagnosis->together.made && !diagnosis->savings_unknown;
    if (!acting->run || !settings->made || !code->made)
        return PYRO_OK;
    struct pyro_scenario all = {.brief = true};
    PYRO_TRY(pyro_plan_apply(diagnosis, &diagnosis->arena, &all, error));
    for (size_t i = 0; i < code->finding_count; i++) {
        bool applied;
        PYRO_TRY(pyro_fix_apply(diagnosis->app, &diagnosis->findings[code->findings[i]], &diagnosis->arena, &all,
                                &applied, error));
    }
    PYRO_TRY(pyro_predict(acting->run, acting->run->replay, &diagnosis->arena, &all, error));
    pyro_plan_take(&all, &diagnosis->together);
    return PYRO_OK;
}

/* ---- their order ---- */

/* Of the cured findings: the highest risk that the application fails, and the highest severity. */
static double failure_risk(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action)
{
    double most = 0;
    for (size_t i = 0; i < action->cure_count; i++)
        most = fmax(most, diagnosis->findings[action->cures[i]].failure_risk);
    return most >= PYRO_FAILED_RISK ? most : 0;
}

static int severity(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action)
{
    int most = PYRO_SEVERITY_LOW;
    for (size_t i = 0; i < action->cure_count; i++)
        if ((int)diagnosis->findings[action->cures[i]].severity > most)
            most = (int)diagnosis->findings[action->cures[i]].severity;
    return most;
}

/* Milliseconds of wall time by which it is ranked: what it saves, and where no model knows that, what the findings
 * cost that it cures. */
static int64_t weight(const struct pyro_diagnosis *diagnosis, const struct pyro_action *action)
{
    int64_t most = action->saves.wall_expected_ms;
    for (size_t i = 0; i < action->cure_count && action->saves.basis == PYRO_BASIS_NONE && action->by_settings; i++) {
        int64_t cost = diagnosis->findings[action->cures[i]].full_costs.wall_ms;
        most = cost > most ? cost : most; /* unknown: the smallest number of all */
    }
    return most;
}

/* What ended the application comes first, causes before consequences; then what saves most. */
static bool comes_before(const struct pyro_diagnosis *diagnosis, const struct pyro_action *a,
                         const struct pyro_action *b)
{
    double risk = failure_risk(diagnosis, a) - failure_risk(diagnosis, b);
    if (risk > 0 || risk < 0)
        return risk > 0;
    int64_t one = weight(diagnosis, a), other = weight(diagnosis, b);
    if (one != other)
        return one > other;
    if (a->by_settings != b->by_settings && (a->saves.basis == PYRO_BASIS_NONE || b->saves.basis == PYRO_BASIS_NONE))
        return a->by_settings; /* of two cures of one finding the one that is tried more easily */
    int more = severity(diagnosis, a) - severity(diagnosis, b);
    if (more)
        return more > 0;
    return a->saves.core_ms > b->saves.core_ms;
}

static void sort(struct pyro_diagnosis *diagnosis)
{
    for (size_t i = 1; i < diagnosis->action_count; i++) {
        struct pyro_action moved = diagnosis->actions[i];
        size_t to = i;
        for (; to > 0 && comes_before(diagnosis, &moved, &diagnosis->actions[to - 1]); to--)
            diagnosis->actions[to] = diagnosis->actions[to - 1];
        diagnosis->actions[to] = moved;
    }
}

/* ---- all of it ---- */

static enum pyro_status make(struct acting *acting, struct pyro_predicted_run *run, struct pyro_error *error)
{
    struct pyro_diagnosis *diagnosis = acting->diagnosis;
    double spent = 0;
    if (!add_settings(acting) || !add_rest(acting))
        return pyro_no_memory(error);
    if (run && diagnosis->change_count > 0)
        PYRO_TRY(pyro_predict_prepare_tasks(run, error));
    for (size_t i = 0; i < diagnosis->action_count; i++)
        PYRO_TRY(price(acting, &diagnosis->actions[i], &spent, error));
    sort(diagnosis);
    PYRO_TRY(price_together(acting, error));
    if (!pyro_findings_follow_actions(diagnosis))
        return pyro_no_memory(error);
    return PYRO_OK;
}

enum pyro_status pyro_actions_make(struct pyro_diagnosis *diagnosis, struct pyro_predicted_run *run,
                                   struct pyro_error *error)
{
    struct pyro_arena *arena = &diagnosis->arena;
    size_t most = diagnosis->finding_count + 1;
    struct acting acting = {.diagnosis = diagnosis, .run = run};
    diagnosis->action_count = 0;
    diagnosis->together = (struct pyro_recommended_plan){0};
    diagnosis->actions = pyro_arena_array(arena, most + ACTIONS_MAX, sizeof(*diagnosis->actions));
    acting.group = pyro_arena_array(arena, most, sizeof(*acting.group));
    acting.set = pyro_arena_array(arena, most, sizeof(*acting.set));
    acting.cured = pyro_arena_array(arena, most, sizeof(*acting.cured));
    if (!diagnosis->actions || !acting.group || !acting.set || !acting.cured)
        return pyro_no_memory(error);
    return make(&acting, run, error);
}
