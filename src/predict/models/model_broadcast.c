/* Joins whose smaller side would be broadcast instead of sorted. */
#include <math.h>

#include "predict/cut_tasks.h"

/* Of the time in tasks: what a join costs without sorting, and what the broadcast costs instead, is not in the log. */
#define DOUBT 0.25
/* Of a task's time, what sorting, writing and fetching may take at most. */
#define LOST_MAX 0.95
static void shorten(struct pyro_predict_change *change, size_t row, double lost_ms)
{
    double all = (double)change->run->app->stages.items[row].task_ms;
    struct pyro_scenario_tasks *tasks = lost_ms > 0 && all > 0 ? pyro_change_tasks(change, row) : NULL;
    if (!tasks)
        return;
    double factor = 1 - fmin(lost_ms / all, LOST_MAX);
    for (uint32_t i = 0; i < tasks->count; i++)
        tasks->ms[i] *= factor;
}

static void later(struct pyro_predict_change *change, size_t row, double ms)
{
    struct pyro_edit *edit = pyro_vec_push(&change->edits, change->run->app->allocator);
    change->failed |= !edit;
    if (edit)
        *edit = (struct pyro_edit){.kind = PYRO_EDIT_LATER, .row = row, .ms = ms};
}

void pyro_model_broadcast(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_app *app = run->app;
    if (!pyro_asks(change, PYRO_PREDICTED_BROADCAST) || !run->stages)
        return;
    double now = change->scenario->values[PYRO_PREDICTED_BROADCAST], lost = 0;
    size_t joins = 0;
    for (size_t s = 0; s < app->stages.count && !change->failed; s++) {
        const struct pyro_stage *stage = &app->stages.items[s];
        const struct pyro_stage_facts *facts = &run->stages[s];
        if (!facts->sides || !(facts->smaller_bytes <= now) ||
            !(facts->smaller_bytes > pyro_sql_setting(app, stage->sql, PYRO_PREDICTED_BROADCAST)))
            continue;
        double fixed = (double)facts->fixed_ms * facts->count;
        double sorts = facts->sort_ms, fetch = (double)stage->fetch_wait_ms,
               write = (double)app->stages.items[facts->larger].shuffle_write_ms;
        double joining = fmax(sorts + fetch, fixed + run->constants[PYRO_CONSTANT_JOIN_SPARED] *
                                                         fmax((double)stage->task_ms - fixed, 0)),
               writing = fmax(write, run->constants[PYRO_CONSTANT_WRITE_SPARED] *
                                         (double)app->stages.items[facts->larger].task_ms);
        shorten(change, s, joining);
        shorten(change, facts->larger, writing);
        later(change, s,
              run->constants[PYRO_CONSTANT_BUILD_MS] *
                  fmax((double)app->stages.items[facts->smaller].shuffle_write_records, 0));
        lost += joining + writing;
        joins++;
    }
    if (joins > 0)
        pyro_effect(change, PYRO_MODEL_broadcast, DOUBT, DOUBT,
                    "%zu sort-merge join%s broadcast%s a side: this saves %.1f s of task time for sorting, writing and "
                    "fetching",
                    joins, joins == 1 ? "" : "s", joins == 1 ? "s" : "", lost / 1000);
    else if (now < pyro_run_setting(app, PYRO_PREDICTED_BROADCAST))
        pyro_effect(change, PYRO_MODEL_broadcast, 0, DOUBT,
                    "a lower threshold replaces broadcasts by sorts and shuffles that the log does not have: this is "
                    "not counted");
    else
        pyro_effect(change, PYRO_MODEL_broadcast, 0, 0,
                    "no sort-merge join of this run has a side with a size between the two thresholds");
}
