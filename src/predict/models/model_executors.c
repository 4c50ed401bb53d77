/* Other executors: as many as asked, each with its cores, all of them as soon as the run's own first ones were
 * available.
 */
#include <math.h>

#include "analyze/accounts/marks.h"
#include "analyze/task_slots.h"
#include "predict/model.h"

/* How far tasks may slow down or speed up where twice as many run at once, or half: what they share (disks, network,
 * memory bandwidth, the services they read) is not in the log. Cores of one executor share more than executors do. */
#define DOUBT_SLOTS 0.10
#define DOUBT_CORES 0.05
#define DOUBT_MAX   0.25

static double doublings(int64_t before, int64_t after)
{
    return before > 0 && after > 0 ? log2((double)after / (double)before) : 0;
}

/* `count` executors of the scenario's cores, throughout. */
void pyro_predict_fixed(struct pyro_predict_change *change, int64_t count)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_app *app = run->app;
    int64_t cores = change->scenario->cores_per_executor > 0 ? change->scenario->cores_per_executor : 1;
    count = count > 0 ? count : 1;
    change->scenario->executors = count;
    size_t others = 0, at = (size_t)count;
    for (size_t i = 0; i < app->executors.count; i++)
        others += !pyro_is_of_main_profile(run, &app->executors.items[i]);
    struct pyro_replay_executor *executors =
        pyro_arena_array(&change->scratch, (size_t)count + others, sizeof(*executors));
    change->failed |= !executors;
    if (!executors)
        return;
    for (size_t i = 0; i < (size_t)count; i++) {
        size_t like = i < run->delay_count ? i : run->delay_count - 1;
        executors[i] = (struct pyro_replay_executor){.added_ms = run->delay_count > 0 ? run->delays[like] : 0,
                                                     .removed_ms = PYRO_NONE,
                                                     .cores = cores,
                                                     .resource_profile = run->profile};
    }
    struct pyro_window window = pyro_app_window(app);
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *row = &app->executors.items[i];
        uint64_t from, to;
        if (pyro_is_of_main_profile(run, row))
            continue;
        pyro_executor_interval(&window, row, &from, &to);
        executors[at++] =
            (struct pyro_replay_executor){.added_ms = (int64_t)from,
                                          .removed_ms = row->removed_ms == PYRO_NONE ? PYRO_NONE : (int64_t)to,
                                          .cores = (int64_t)pyro_executor_cores(row),
                                          .resource_profile = row->resource_profile};
    }
    change->replay.executors = executors;
    change->replay.executor_count = at;
    double slots = doublings(run->executors * run->cores, count * cores), wider = doublings(run->cores, cores);
    double doubt = fmin(DOUBT_SLOTS * fabs(slots) + DOUBT_CORES * fabs(wider), DOUBT_MAX);
    pyro_effect(
        change, PYRO_MODEL_executors, doubt, doubt,
        "%lld executor%s of %lld core%s instead of %lld of %lld, available after %.1f s like the first ones of the run",
        (long long)count, count == 1 ? "" : "s", (long long)cores, cores == 1 ? "" : "s", (long long)run->executors,
        (long long)run->cores, run->delay_count > 0 ? (double)run->delays[0] / 1000 : 0.0);
}

void pyro_model_executors(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct pyro_scenario *scenario = change->scenario;
    bool asks = pyro_asks(change, PYRO_PREDICTED_EXECUTORS), asks_cores = pyro_asks(change, PYRO_PREDICTED_CORES);
    if (!asks && !asks_cores)
        return;
    int64_t count = asks ? (int64_t)scenario->values[PYRO_PREDICTED_EXECUTORS] : run->executors;
    int64_t cores = asks_cores ? (int64_t)scenario->values[PYRO_PREDICTED_CORES] : run->cores;
    count = count > 0 ? count : 1;
    cores = cores > 0 ? cores : 1;
    scenario->executors = count;
    scenario->cores_per_executor = cores;
    if (count == run->executors && cores == run->cores && !(asks && run->allocates)) {
        pyro_effect(change, PYRO_MODEL_executors, 0, 0, "%lld executor%s of %lld core%s, unchanged", (long long)count,
                    count == 1 ? "" : "s", (long long)cores, cores == 1 ? "" : "s");
        return;
    }
    pyro_predict_fixed(change, count);
}
