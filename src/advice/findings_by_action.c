/* Findings as their actions have them: what these save, a severity that follows from it, and their order. */
#include "advice/findings_by_action.h"

#include <stdlib.h>

#include "advice/fix.h"
#include "advice/price.h"

static void note_places(struct pyro_diagnosis *diagnosis)
{
    diagnosis->placed = true;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        diagnosis->findings[i].place = i;
        diagnosis->findings[i].own_severity = diagnosis->findings[i].severity;
    }
}

static int by_place(const void *left, const void *right)
{
    const struct pyro_finding *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

void pyro_findings_put_back(struct pyro_diagnosis *diagnosis)
{
    if (!diagnosis->placed) {
        note_places(diagnosis);
        return;
    }
    if (diagnosis->finding_count > 1)
        qsort(diagnosis->findings, diagnosis->finding_count, sizeof(*diagnosis->findings), by_place);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct pyro_finding *finding = &diagnosis->findings[i];
        finding->severity = finding->own_severity;
        finding->saves = finding->own;
        if (finding->all_advice) {
            finding->advice = finding->all_advice;
            finding->advice_count = finding->all_advice_count;
        }
    }
}

struct ranked {
    const struct pyro_finding *finding;
    size_t action; /* the first one that cures it; as many as there are: none does */
};

static bool ended_the_run(const struct pyro_finding *finding)
{
    return !finding->folded && finding->failure_risk >= PYRO_FAILED_RISK;
}

static int descending(int64_t a, int64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* What ended the run, then in the order of their actions; those of one action by what they cost, then as before. */
static int by_action(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = (int)ended_the_run(b->finding) - (int)ended_the_run(a->finding);
    if (!order)
        order = (a->action > b->action) - (a->action < b->action);
    if (!order)
        order = descending(a->finding->full_costs.wall_ms, b->finding->full_costs.wall_ms);
    return order ? order : by_place(a->finding, b->finding);
}

/* What a finding follows from comes before it. More moves than findings: they follow from each other. */
static void lead_by_roots(struct ranked *ranked, size_t count)
{
    for (size_t i = 0, moves = 0; i < count && moves < count; i++) {
        size_t root = i;
        for (size_t k = i + 1; k < count && ranked[i].finding->root.ptr && root == i; k++)
            if (pyro_slice_eq(ranked[k].finding->id, ranked[i].finding->root))
                root = k;
        if (root == i)
            continue;
        struct ranked moved = ranked[root];
        for (size_t k = root; k > i; k--)
            ranked[k] = ranked[k - 1];
        ranked[i] = moved;
        moves++;
        i--; /* the root may itself follow from another one */
    }
}

static void move_places(size_t *places, size_t count, const size_t *to)
{
    for (size_t i = 0; i < count; i++)
        places[i] = to[places[i]];
}

static int compare_places(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static void move_all(struct pyro_diagnosis *diagnosis, const size_t *to)
{
    struct pyro_recommended_plan *plans[] = {&diagnosis->settings_plan, &diagnosis->code_plan};
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        move_places(plans[i]->findings, plans[i]->finding_count, to);
        if (plans[i]->finding_count > 1)
            qsort(plans[i]->findings, plans[i]->finding_count, sizeof(size_t), compare_places);
    }
    for (size_t i = 0; i < diagnosis->action_count; i++) {
        struct pyro_action *action = &diagnosis->actions[i];
        move_places(action->cures, action->cure_count, to);
        if (action->cure_count > 1)
            qsort(action->cures, action->cure_count, sizeof(size_t), compare_places);
    }
    for (size_t i = 0; i < diagnosis->change_count; i++)
        diagnosis->changes[i].finding = to[diagnosis->changes[i].finding];
}

/* The advice that is shown. Where others do all of it: what the action says; where none does, what its rule says. */
static bool show_advice(struct pyro_arena *arena, struct pyro_finding *finding, const struct pyro_action *action)
{
    size_t count = 0;
    finding->all_advice = finding->advice;
    finding->all_advice_count = finding->advice_count;
    for (size_t i = 0; i < finding->all_advice_count; i++)
        count += !finding->all_advice[i].dropped;
    if (count == finding->all_advice_count || (count == 0 && !action))
        return true;
    finding->advice = pyro_arena_array(arena, count + 1, sizeof(*finding->advice));
    if (!finding->advice)
        return false;
    finding->advice_count = 0;
    for (size_t i = 0; i < finding->all_advice_count; i++)
        if (!finding->all_advice[i].dropped)
            finding->advice[finding->advice_count++] = finding->all_advice[i];
    if (count > 0)
        finding->advice[0].text = pyro_advice_first(finding->advice[0].text, arena);
    if (count > 0 && !finding->advice[0].text.ptr)
        return false;
    if (count == 0)
        finding->advice[finding->advice_count++] = (struct pyro_advice){.text = action->text,
                                                                        .settings = action->settings,
                                                                        .setting_count = action->setting_count,
                                                                        .code = action->code,
                                                                        .verify = action->check};
    return true;
}

bool pyro_findings_follow_actions(struct pyro_diagnosis *diagnosis)
{
    size_t count = diagnosis->finding_count;
    struct pyro_arena *arena = &diagnosis->arena;
    struct ranked *ranked = pyro_arena_array(arena, count + 1, sizeof(*ranked));
    struct pyro_finding *findings = pyro_arena_array(arena, count + 1, sizeof(*findings));
    size_t *to = pyro_arena_array(arena, count + 1, sizeof(*to));
    if (!ranked || !findings || !to)
        return false;
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){&diagnosis->findings[i], diagnosis->action_count};
    for (size_t a = diagnosis->action_count; a-- > 0;)
        for (size_t i = 0; i < diagnosis->actions[a].cure_count; i++)
            ranked[diagnosis->actions[a].cures[i]].action = a;
    for (size_t i = 0; i < count; i++) {
        struct pyro_finding *finding = &diagnosis->findings[i];
        const struct pyro_action *action =
            ranked[i].action < diagnosis->action_count ? &diagnosis->actions[ranked[i].action] : NULL;
        if (!show_advice(arena, finding, action))
            return false;
        if (!action)
            continue;
        finding->saves = pyro_saving_of_stage(diagnosis->app, finding, action->saves);
        finding->severity = pyro_finding_severity(diagnosis->app, finding);
    }
    if (count > 1)
        qsort(ranked, count, sizeof(*ranked), by_action);
    lead_by_roots(ranked, count);
    for (size_t i = 0; i < count; i++) {
        findings[i] = *ranked[i].finding;
        to[ranked[i].finding - diagnosis->findings] = i;
    }
    /* What is fixed first matters as much as what follows from it. */
    for (size_t i = count; i-- > 0;)
        for (size_t k = 0; k < i && findings[i].root.ptr; k++)
            if (pyro_slice_eq(findings[k].id, findings[i].root) && findings[k].severity < findings[i].severity)
                findings[k].severity = findings[i].severity;
    diagnosis->findings = findings;
    move_all(diagnosis, to);
    return true;
}
