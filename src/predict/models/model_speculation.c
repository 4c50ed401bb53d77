/* Speculative copies of slow tasks. */
#include <math.h>

#include "analyze/task_rows.h"
#include "base/numbers/order.h"
#include "predict/cut_tasks.h"

/* Spark looks for slow tasks so often; half of it passes on average. */
#define INTERVAL_MS 100.0
/* Of the time in tasks: copies take slots that the simulator leaves to others, and may meet the same trouble. */
#define DOUBT_ON 0.05
/* Without copies, tasks that were killed for them would have run on for an unknown time. */
#define DOUBT_OFF 0.15

/* A copy of a task that reads more than others takes as much longer: it reads the same. */
static size_t cap(struct pyro_predict_change *change, size_t row, double multiplier, double quantile, double least)
{
    struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, row);
    if (!tasks || tasks->count < 2)
        return 0;
    size_t count = tasks->count, capped = 0, ended = (size_t)fmax(floor(quantile * (double)count), 1);
    double *ms = pyro_arena_array(&change->scratch, count, sizeof(*ms)),
           *load = pyro_arena_array(&change->scratch, count, sizeof(*load));
    change->failed |= !ms || !load;
    if (!ms || !load)
        return 0;
    memcpy(ms, tasks->ms, count * sizeof(*ms));
    memcpy(load, tasks->load, count * sizeof(*load));
    double median = pyro_median(ms, count), usual = pyro_median(load, count);
    /* Where all run at once, copies begin when enough have ended. */
    double slots = (double)change->scenario->executors * (double)change->scenario->cores_per_executor;
    double begin = (double)count <= slots ? pyro_select_real(ms, count, ended - 1) : 0;
    begin = fmax(begin, fmax(multiplier * median, least)) + INTERVAL_MS / 2;
    for (size_t i = 0; i < count; i++) {
        double more = usual > 0 ? fmax(tasks->load[i] / usual, 1) : 1, end = begin + median * more;
        if (tasks->ms[i] <= end)
            continue;
        tasks->ms[i] = end;
        capped++;
    }
    return capped;
}

/* Copies that lost did nothing; without speculation they do not run. */
static size_t drop_lost_copies(struct pyro_predict_change *change)
{
    const struct pyro_app *app = change->run->app;
    int64_t values[2][PYRO_READ_ROWS];
    size_t dropped = 0;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_speculative, first, count, values[0]);
        pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, values[1]);
        for (size_t i = 0; i < count; i++) {
            if (values[0][i] <= 0 || values[1][i] == PYRO_TASK_SUCCESS)
                continue;
            struct pyro_edit *edit = pyro_vec_push(&change->edits, app->allocator);
            change->failed |= !edit;
            if (!edit)
                return dropped;
            *edit = (struct pyro_edit){.kind = PYRO_EDIT_NO_TASK, .row = first + i, .count = 1};
            dropped++;
        }
    }
    return dropped;
}

void pyro_model_speculation(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    bool asked = pyro_asks(change, PYRO_PREDICTED_SPECULATION) || pyro_asks(change, PYRO_PREDICTED_MULTIPLIER) ||
                 pyro_asks(change, PYRO_PREDICTED_QUANTILE) || pyro_asks(change, PYRO_PREDICTED_MIN_RUNTIME);
    bool was = pyro_run_setting(run->app, PYRO_PREDICTED_SPECULATION) != 0,
         now = pyro_scenario_setting(change, PYRO_PREDICTED_SPECULATION) != 0;
    size_t capped = 0;
    if (!asked || !run->stages)
        return;
    if (was && !now) {
        size_t dropped = drop_lost_copies(change);
        pyro_effect(change, PYRO_MODEL_speculation, 0, DOUBT_OFF,
                    "off: %zu cop%s that did not finish first do not run; the other tasks end as they did with copies, "
                    "because the log does not say how long the originals take",
                    dropped, dropped == 1 ? "y" : "ies");
        return;
    }
    if (!now) {
        pyro_effect(change, PYRO_MODEL_speculation, 0, 0, "off, unchanged");
        return;
    }
    /* Spark 4 asks for more before it copies a task. */
    bool four = pyro_slice_starts_with(run->app->application.spark_version, "4.");
    double multiplier = pyro_scenario_setting(change, PYRO_PREDICTED_MULTIPLIER),
           quantile = pyro_scenario_setting(change, PYRO_PREDICTED_QUANTILE);
    if (four && !pyro_asks(change, PYRO_PREDICTED_MULTIPLIER) &&
        !pyro_app_property(run->app, "spark.speculation.multiplier").ptr)
        multiplier = 3;
    if (four && !pyro_asks(change, PYRO_PREDICTED_QUANTILE) &&
        !pyro_app_property(run->app, "spark.speculation.quantile").ptr)
        quantile = 0.9;
    size_t dropped = was ? drop_lost_copies(change) : 0; /* copies that start later, or for fewer tasks, are these */
    for (size_t i = 0; i < run->app->stages.count && !change->failed; i++)
        capped += cap(change, i, multiplier, quantile, pyro_scenario_setting(change, PYRO_PREDICTED_MIN_RUNTIME));
    pyro_effect(
        change, PYRO_MODEL_speculation, capped > 0 ? DOUBT_ON : 0, capped > 0 ? DOUBT_ON : 0,
        "Spark copies tasks that take more than %.3g times the median after %.0f %% have ended: %zu task%s "
        "end%s sooner; a copy takes the median time, or more in proportion to the data of its task; copies of the "
        "run that did not finish first and do not run: %zu",
        multiplier, quantile * 100, capped, capped == 1 ? "" : "s", capped == 1 ? "s" : "", dropped);
}
