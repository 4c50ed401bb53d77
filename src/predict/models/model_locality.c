/* How long tasks wait for a slot near their data: Spark's delay scheduling with other waits. */
#include <math.h>

#include "base/numbers/saturate.h"
#include "predict/model.h"

/* Of the time of tasks in stages that waited: how much longer tasks take away from their data, where the run says what
 * its own took, and where it does not; and where data is that tasks would wait longer for. */
#define DOUBT       0.15
#define DOUBT_BLIND 0.30
/* Tasks do not take longer away from their data than this, nor are they quicker there. */
#define FARTHER_MAX 5.0

static const enum pyro_predicted levels[PYRO_LOCALITY_WAITS] = {PYRO_PREDICTED_WAIT_PROCESS, PYRO_PREDICTED_WAIT_NODE,
                                                                PYRO_PREDICTED_WAIT_RACK};

/* What is not said of a level is said of all. */
static int64_t wait_of(const struct pyro_predict_change *change, unsigned level, bool scenario)
{
    const struct pyro_app *app = change->run->app;
    if (scenario && pyro_asks(change, levels[level]))
        return (int64_t)change->scenario->values[levels[level]];
    if (pyro_app_property(app, pyro_predicted_settings[levels[level]].key).ptr)
        return (int64_t)pyro_run_setting(app, levels[level]);
    return (int64_t)(scenario ? pyro_scenario_setting(change, PYRO_PREDICTED_WAIT)
                              : pyro_run_setting(app, PYRO_PREDICTED_WAIT));
}

static bool is_asked(const struct pyro_predict_change *change)
{
    bool asked = pyro_asks(change, PYRO_PREDICTED_WAIT);
    for (unsigned i = 0; i < PYRO_LOCALITY_WAITS; i++)
        asked = asked || pyro_asks(change, levels[i]);
    return asked;
}

/* Nothing waited: shorter waits change nothing, and of longer ones the log says little. */
static void say_unchanged(struct pyro_predict_change *change, const struct pyro_replay_waits *waits, int64_t longer_ms)
{
    double task_ms = fmax((double)change->run->app->numbers.task_ms, 1);
    double slots = fmax((double)change->run->executors * (double)change->run->cores, 1);
    if (longer_ms <= 0 || waits->unsure == 0) {
        pyro_effect(change, PYRO_MODEL_locality, 0, 0, "no stage of this run waited for locality: %s",
                    longer_ms > 0 ? "all tasks ran near their data, or had no preferred location"
                                  : "there is no wait to shorten");
        return;
    }
    double high = fmin((double)waits->unsure * (double)longer_ms * slots / task_ms, 1);
    pyro_effect(change, PYRO_MODEL_locality, 0, high,
                "no stage of this run waited for locality; tasks of %zu stage%s did not run near their data and can "
                "wait longer, or had no preferred location: this is not counted",
                waits->unsure, waits->unsure == 1 ? "" : "s");
}

void pyro_model_locality(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct pyro_replay_waits waits;
    bool differs = false;
    int64_t longer_ms = 0;
    if (!is_asked(change))
        return;
    struct pyro_replay_locality *locality = pyro_arena_alloc(&change->scratch, sizeof(*locality));
    change->failed |= !locality || pyro_replay_waits(run->replay, &waits, NULL) != PYRO_OK;
    if (change->failed)
        return;
    for (unsigned i = 0; i < PYRO_LOCALITY_WAITS; i++) {
        int64_t was = wait_of(change, i, false);
        locality->wait_ms[i] = wait_of(change, i, true);
        int64_t more_ms = pyro_sub_saturating(locality->wait_ms[i], was);
        longer_ms = more_ms > longer_ms ? more_ms : longer_ms;
        differs = differs || locality->wait_ms[i] != was;
    }
    if (!differs) {
        pyro_effect(change, PYRO_MODEL_locality, 0, 0, "unchanged");
        return;
    }
    if (waits.stages == 0) {
        say_unchanged(change, &waits, longer_ms);
        return;
    }
    double share = fmin((double)waits.task_ms / fmax((double)run->app->numbers.task_ms, 1), 1);
    if (change->replay.executors || change->replay.allocation) {
        pyro_effect(
            change, PYRO_MODEL_locality, DOUBT_BLIND * share, DOUBT_BLIND * share,
            "%zu stage%s waited for locality; the location of the data on other executors is unknown: no task waits",
            waits.stages, waits.stages == 1 ? "" : "s");
        return;
    }
    bool known = isfinite(waits.farther);
    locality->farther = known ? fmin(fmax(waits.farther, 1), FARTHER_MAX) : 1;
    change->replay.locality = locality;
    double doubt = (known ? DOUBT : DOUBT_BLIND) * share;
    pyro_effect(change, PYRO_MODEL_locality, doubt, doubt,
                "%zu stage%s waited for locality, %zu task%s without success: all of them wait as long as the setting "
                "says; a task that does not run near its data takes %.2f times as long%s",
                waits.stages, waits.stages == 1 ? "" : "s", waits.tasks, waits.tasks == 1 ? "" : "s", locality->farther,
                known ? " (medians of this run)" : "");
}
