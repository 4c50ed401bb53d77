/* Dynamic allocation: on, off, or with other limits. */
#include <math.h>

#include "analyze/app_facts.h"
#include "predict/model.h"

/* What waits as long as this waits without limit. */
#define DAY_MS INT64_C(86400000)

/* Of the time in tasks: how long an executor takes to start depends on what else the cluster does just then; and
 * executors that come and go have less behind them. Beyond their first tasks, too, recorded runs with them took 8 to
 * 12 % more time in the same tasks, and no single run tells how much of that is its own. */
#define DOUBT 0.12

static const enum pyro_predicted knobs[] = {
    PYRO_PREDICTED_DYNAMIC,           PYRO_PREDICTED_DYNAMIC_LEAST,   PYRO_PREDICTED_DYNAMIC_MOST,
    PYRO_PREDICTED_DYNAMIC_INITIAL,   PYRO_PREDICTED_DYNAMIC_RATIO,   PYRO_PREDICTED_DYNAMIC_BACKLOG,
    PYRO_PREDICTED_DYNAMIC_SUSTAINED, PYRO_PREDICTED_DYNAMIC_IDLE,    PYRO_PREDICTED_DYNAMIC_CACHED,
    PYRO_PREDICTED_DYNAMIC_TRACKING,  PYRO_PREDICTED_DYNAMIC_SHUFFLE,
};

static int64_t whole(const struct pyro_predict_change *change, enum pyro_predicted setting)
{
    return (int64_t)pyro_scenario_setting(change, setting);
}

/* Without a service that keeps shuffle output, executors keep it, and stay for it. */
static bool keeps_shuffles(const struct pyro_predict_change *change)
{
    const struct pyro_app *app = change->run->app;
    bool service = pyro_app_property_bool(app, "spark.shuffle.service.enabled", false);
    return !service && pyro_scenario_setting(change, PYRO_PREDICTED_DYNAMIC_TRACKING) != 0;
}

static void allocate(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct pyro_scenario *scenario = change->scenario;
    struct pyro_replay_allocation *allocation = pyro_arena_alloc(&change->scratch, sizeof(*allocation));
    change->failed |= !allocation;
    if (!allocation)
        return;
    int64_t least = whole(change, PYRO_PREDICTED_DYNAMIC_LEAST), most = whole(change, PYRO_PREDICTED_DYNAMIC_MOST),
            initial = whole(change, PYRO_PREDICTED_DYNAMIC_INITIAL),
            cores = scenario->cores_per_executor > 0 ? scenario->cores_per_executor : 1;
    /* Spark starts with the largest of these three. */
    int64_t instances = pyro_asks(change, PYRO_PREDICTED_EXECUTORS)
                            ? (int64_t)scenario->values[PYRO_PREDICTED_EXECUTORS]
                            : pyro_app_property_int(run->app, "spark.executor.instances", 0);
    initial = initial > least ? initial : least;
    initial = initial > instances ? initial : instances;
    most = most > least ? most : least;
    initial = initial < most ? initial : most;
    int64_t idle = whole(change, PYRO_PREDICTED_DYNAMIC_IDLE), cached = whole(change, PYRO_PREDICTED_DYNAMIC_CACHED),
            shuffle = whole(change, PYRO_PREDICTED_DYNAMIC_SHUFFLE);
    /* Cached blocks stay with their executors: then these wait for the longer time-out. */
    if (pyro_app_caches(run->app) && cached > idle)
        idle = cached >= DAY_MS ? PYRO_NONE : cached;
    *allocation = (struct pyro_replay_allocation){
        .least = least,
        .most = most,
        .initial = initial,
        .cores = cores,
        .resource_profile = run->profile,
        .backlog_ms = whole(change, PYRO_PREDICTED_DYNAMIC_BACKLOG),
        .sustained_ms =
            pyro_asks(change, PYRO_PREDICTED_DYNAMIC_SUSTAINED) ||
                    pyro_app_property(run->app, "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout").ptr
                ? whole(change, PYRO_PREDICTED_DYNAMIC_SUSTAINED)
                : whole(change, PYRO_PREDICTED_DYNAMIC_BACKLOG),
        .idle_ms = idle,
        .shuffle_idle_ms = !keeps_shuffles(change)                  ? idle
                           : shuffle >= DAY_MS || idle == PYRO_NONE ? PYRO_NONE
                           : shuffle > idle                         ? shuffle
                                                                    : idle,
        .first_ms = run->delay_count > 0 ? run->delays[0] : 0,
        .start_ms = run->start_ms,
        .ratio = pyro_scenario_setting(change, PYRO_PREDICTED_DYNAMIC_RATIO),
    };
    change->replay.allocation = allocation;
    change->replay.executors = NULL;
    change->replay.executor_count = 0;
    pyro_effect(
        change, PYRO_MODEL_allocation, DOUBT, DOUBT,
        "%lld to %lld executors of %lld core%s, initially %lld; each starts %.1f s after its request, as in the run%s",
        (long long)least, (long long)most, (long long)cores, cores == 1 ? "" : "s", (long long)initial,
        (double)run->start_ms / 1000,
        allocation->shuffle_idle_ms == PYRO_NONE && allocation->idle_ms != PYRO_NONE
            ? "; executors with shuffle output stay"
            : "");
}

void pyro_model_allocation(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    bool asked = false, differs = false;
    for (size_t i = 0; i < sizeof(knobs) / sizeof(*knobs); i++) {
        asked = asked || pyro_asks(change, knobs[i]);
        differs = differs || (pyro_asks(change, knobs[i]) &&
                              change->scenario->values[knobs[i]] != pyro_run_setting(run->app, knobs[i]));
    }
    bool on = pyro_scenario_setting(change, PYRO_PREDICTED_DYNAMIC) != 0;
    bool on_asked = pyro_asks(change, PYRO_PREDICTED_DYNAMIC) && on;
    bool fixed = pyro_asks(change, PYRO_PREDICTED_EXECUTORS) && !on_asked; /* --executors alone: this number,
                                                                            * throughout */
    bool others = pyro_asks(change, PYRO_PREDICTED_CORES) && change->scenario->cores_per_executor != run->cores;
    if (fixed && run->allocates)
        pyro_effect(change, PYRO_MODEL_allocation, DOUBT, DOUBT, "off: the number of executors is fixed");
    else if (!asked && !(run->allocates && others && !fixed))
        return;
    else if (!on && run->allocates) {
        pyro_predict_fixed(change, pyro_app_property_int(run->app, "spark.executor.instances", 2));
        pyro_effect(change, PYRO_MODEL_allocation, DOUBT, DOUBT, "off: the number of executors is fixed");
    } else if (on && (differs || others || on_asked) && !(differs == false && run->allocates && !others))
        allocate(change);
    else
        pyro_effect(change, PYRO_MODEL_allocation, 0, 0, "unchanged");
}
