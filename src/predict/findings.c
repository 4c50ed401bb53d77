/* Findings judged on the changed run: what each one's remedy would save there, put on the same scale of severities.
 *
 * A finding vanishes where that makes it `low`, and appears where it was `low` and is no more. Faults that the run did
 * not have at all cannot be told: nothing in its log is about them. */
#include <math.h>

#include "base/saturate.h"
#include "predict/tasks.h"
#include "rules/engine.h"

/* Replays of tasks that may be spent on all findings of all scenarios. */
#define TASKS_MAX 12e6

static size_t stage_of(const struct pyro_app *app, const struct pyro_edit *edit)
{
    if (edit->kind == PYRO_EDIT_TASK)
        return edit->row < app->tasks.count ? (size_t)pyro_task_get(&app->tasks, PYRO_TASK_stage_row, edit->row)
                                            : SIZE_MAX;
    bool stage = edit->kind == PYRO_EDIT_STAGE || edit->kind == PYRO_EDIT_REPARTITION || edit->kind == PYRO_EDIT_TASKS;
    return stage ? edit->row : SIZE_MAX;
}

/* A remedy that speaks of tasks that are not there any more, or of when executors came, says nothing here. */
static bool can_judge(const struct pyro_predict_change *change, const struct pyro_finding *finding)
{
    const struct pyro_app *app = change->run->app;
    bool other_executors = change->replay.executors || change->replay.allocation;
    for (size_t i = 0; i < finding->edit_count; i++) {
        size_t stage = stage_of(app, &finding->edits[i]);
        if (stage < app->stages.count && change->stages && change->stages[stage].recut)
            return false;
        if (finding->edits[i].kind == PYRO_EDIT_EXECUTORS && other_executors)
            return false;
    }
    return finding->edit_count > 0;
}

/* Where a remedy gives what it takes from some tasks to all of a stage: the same work, without what was first. */
static double factor_without_firsts(const struct pyro_predicted_run *run, const struct pyro_edit *edit)
{
    if (edit->row >= run->app->stages.count)
        return edit->factor;
    double work = (double)run->app->stages.items[edit->row].task_ms, given = work * (1 - 1 / edit->factor);
    double left = work - (double)run->stages[edit->row].extra_ms;
    return left > given && given > 0 ? left / (left - given) : edit->factor;
}

/* Its severity where its edits come on top of the scenario's. */
static enum pyro_status judge(struct pyro_predict_change *change, struct pyro_replay *replay,
                              const struct pyro_finding *finding, enum pyro_severity *ret, int64_t *ret_ms,
                              struct pyro_error *error)
{
    const struct pyro_app *app = change->run->app;
    const struct pyro_scenario *scenario = change->scenario;
    struct pyro_replay_change mended = change->replay;
    struct pyro_replay_result result;
    struct pyro_finding copy = *finding;
    size_t own = change->edits.count;
    if (!pyro_vec_reserve(&change->edits, finding->edit_count, app->allocator))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the findings");
    memcpy(change->edits.items + own, finding->edits, finding->edit_count * sizeof(*finding->edits));
    /* Where the replay adds what first tasks take longer, remedies do not. */
    for (size_t i = own; change->replay.first_ms && i < own + finding->edit_count; i++) {
        struct pyro_edit *edit = &change->edits.items[i];
        if (edit->kind == PYRO_EDIT_STAGE && edit->factor > 1)
            edit->factor = factor_without_firsts(change->run, edit);
        else if (edit->kind == PYRO_EDIT_TASK)
            edit->ms -= fmin(pyro_first_ms(change->run, edit->row), edit->ms);
    }
    mended.edits = change->edits.items;
    mended.edit_count = own + finding->edit_count;
    mended.jobs = NULL;
    PYRO_TRY(pyro_replay_run(replay, &mended, &result, error));
    double wall = (double)(pyro_sub_saturating(scenario->wall_expected_ms, result.wall_ms)) * finding->sure[1],
           core = (double)(pyro_sub_saturating(scenario->core_ms, result.core_ms)) * finding->sure[1];
    wall = wall > 0 ? wall : 0;
    core = core > 0 ? core : 0;
    *ret_ms = (int64_t)wall;
    /* Severities are shares of the run that was. */
    double of_wall = scenario->wall_expected_ms > 0
                         ? (double)app->numbers.wall_total_ms / (double)scenario->wall_expected_ms
                         : 1,
           of_core = scenario->core_ms > 0 ? (double)app->numbers.core_total_ms / (double)scenario->core_ms : 1;
    copy.saves.wall_expected_ms = (int64_t)(wall * of_wall);
    copy.saves.core_ms = (int64_t)(core * of_core);
    *ret = pyro_finding_severity(app, &copy);
    return PYRO_OK;
}

enum pyro_status pyro_predict_findings(struct pyro_predict_change *change, struct pyro_replay *replay,
                                       struct pyro_error *error)
{
    const struct pyro_diagnosis *diagnosis = change->run->diagnosis;
    struct pyro_scenario *scenario = change->scenario;
    if (!change->run->judges || diagnosis->finding_count == 0)
        return PYRO_OK;
    scenario->findings = pyro_arena_array(change->arena, diagnosis->finding_count, sizeof(*scenario->findings));
    if (!scenario->findings)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the findings");
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        struct pyro_judged *judged = &scenario->findings[scenario->finding_count++];
        *judged = (struct pyro_judged){.finding = finding, .severity = finding->severity};
        if (!can_judge(change, finding))
            continue;
        judged->known = true;
        PYRO_TRY(judge(change, replay, finding, &judged->severity, &judged->saves_ms, error));
    }
    return PYRO_OK;
}

bool pyro_predict_judges(const struct pyro_whatif *whatif)
{
    double tasks = (double)whatif->run.app->tasks.count + 1000;
    return tasks * (double)whatif->run.diagnosis->finding_count * (double)whatif->scenario_count <= TASKS_MAX;
}
