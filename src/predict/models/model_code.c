/* Changes of the program: a scenario brings them as edits of the run that was, on top of what its settings change. */
#include <math.h>

#include "predict/cut_tasks.h"

/* How much less, and how much more than the replay shows, such a change may save: a changed program does not do exactly
 * what its edits say, and what the fault cost in addition is not in them. Of ten recorded repairs of programs five
 * saved 1.4 to 2.4 times that (docs/accuracy.md); but the rest of the run stays. */
#define DOUBT_LESS     0.4
#define DOUBT_MORE     0.9
#define DOUBT_OF_OTHER 0.35

/* More tasks than a stage's input has parts need a shuffle before them, which the program adds, unless its input is
 * written otherwise (factor of the edit): what it makes of the time of these tasks. */
#define SHUFFLED 1.3

static size_t stage_of(const struct pyro_app *app, const struct pyro_edit *edit)
{
    if (edit->kind == PYRO_EDIT_TASK)
        return edit->row < app->tasks.count ? (size_t)pyro_task_get(&app->tasks, PYRO_TASK_stage_row, edit->row)
                                            : SIZE_MAX;
    return edit->kind == PYRO_EDIT_TASKS ? edit->row : SIZE_MAX;
}

/* Edits of tasks that are not there any more, or of when executors came, say nothing of the changed run. */
static bool applies(const struct pyro_predict_change *change, const struct pyro_edit *edit)
{
    const struct pyro_app *app = change->run->app;
    size_t stage = stage_of(app, edit);
    if (stage < app->stages.count && change->stages && change->stages[stage].recut)
        return false;
    bool executors = edit->kind == PYRO_EDIT_EXECUTORS || edit->kind == PYRO_EDIT_EXECUTOR;
    return !executors || (!change->replay.executors && !change->replay.allocation);
}

/* Where an edit gives what it takes from some tasks to all of a stage: the same work, without what was first. */
static double factor_without_firsts(const struct pyro_predicted_run *run, const struct pyro_edit *edit)
{
    if (edit->row >= run->app->stages.count)
        return edit->factor;
    double work = (double)run->app->stages.items[edit->row].task_ms, given = work * (1 - 1 / edit->factor);
    double left = work - (double)run->stages[edit->row].extra_ms;
    return left > given && given > 0 ? left / (left - given) : edit->factor;
}

void pyro_change_cut_by_code(struct pyro_predict_change *change)
{
    const struct pyro_scenario *scenario = change->scenario;
    for (size_t i = 0; i < scenario->code_count && change->run->stages; i++) {
        const struct pyro_edit *edit = &scenario->code[i];
        if (edit->kind != PYRO_EDIT_REPARTITION || edit->row >= change->run->app->stages.count)
            continue;
        struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, edit->row);
        uint32_t count = (uint32_t)fmin((double)edit->count, PYRO_REPLAY_PARTITIONS), before = tasks ? tasks->count : 0;
        pyro_change_recut(change, edit->row, count);
        for (uint32_t t = 0; tasks && count > before && t < tasks->count; t++)
            tasks->ms[t] *= edit->factor > 0 ? edit->factor : SHUFFLED;
    }
}

void pyro_model_code(struct pyro_predict_change *change)
{
    struct pyro_scenario *scenario = change->scenario;
    scenario->code_applies = true;
    if (scenario->code_count == 0)
        return;
    if (!pyro_vec_reserve(&change->edits, scenario->code_count, change->run->app->allocator)) {
        change->failed = true;
        return;
    }
    for (size_t i = 0; i < scenario->code_count; i++) {
        struct pyro_edit edit = scenario->code[i];
        if (edit.kind == PYRO_EDIT_REPARTITION)
            continue;
        if (!applies(change, &edit)) {
            scenario->code_applies = false;
            continue;
        }
        /* Where the replay adds what first tasks take longer, the edit does not. */
        if (change->replay.first_ms && edit.kind == PYRO_EDIT_STAGE && edit.factor > 1)
            edit.factor = factor_without_firsts(change->run, &edit);
        else if (change->replay.first_ms && edit.kind == PYRO_EDIT_TASK)
            edit.ms -= fmin(pyro_first_ms(change->run, edit.row), edit.ms);
        change->edits.items[change->edits.count++] = edit;
    }
    pyro_effect(change, PYRO_MODEL_code, 0, 0, "%zu task%s, stage%s or driver times change as the findings say%s",
                scenario->code_count, scenario->code_count == 1 ? "" : "s", scenario->code_count == 1 ? "" : "s",
                scenario->code_applies ? ""
                                       : "; some of these changes do not fit the changed settings and are left out");
}

void pyro_code_doubt(const struct pyro_predict_change *change, double *low_ms, double *high_ms)
{
    const struct pyro_scenario *scenario = change->scenario;
    double saved = (double)change->run->base.wall_ms - (double)scenario->wall_expected_ms;
    bool asked = scenario->code_count > 0 && saved > 0;
    *low_ms = asked ? fmin(DOUBT_MORE * saved, DOUBT_OF_OTHER * (double)scenario->wall_expected_ms) : 0;
    *high_ms = asked ? DOUBT_LESS * saved : 0;
}
