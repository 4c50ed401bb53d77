/* One scenario: its models make the change, the replay runs it, and what is not sure makes the interval. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyze/app_facts.h"
#include "predict/cut_tasks.h"

/* One in ten runs may lie outside. */
#define DEVIATIONS 1.645

/* How far equal runs differ, as a share of their duration: another start of executors, another state of caches. Median
 * of the programs of corpus/loop that ran twice without a change. */
#define EQUAL_RUNS 0.03

/* How far what a change saves or costs may be off, as a share of it: nine in ten recorded pairs lie inside. */
#define OFF_BY 0.3

static pyro_model *const models[PYRO_MODELS] = {
#define PYRO_MODEL(name, doc) pyro_model_##name,
#include "predict/models.def"
#undef PYRO_MODEL
};

const char *pyro_model_name(enum pyro_model_id model)
{
    static const char *const names[PYRO_MODELS] = {
#define PYRO_MODEL(name, doc) #name,
#include "predict/models.def"
#undef PYRO_MODEL
    };
    return names[model];
}

double pyro_sql_scenario_setting(const struct pyro_predict_change *change, int64_t sql, enum pyro_predicted setting)
{
    return pyro_asks(change, setting) ? change->scenario->values[setting]
                                      : pyro_sql_setting(change->run->app, sql, setting);
}

double pyro_scenario_setting(const struct pyro_predict_change *change, enum pyro_predicted setting)
{
    return pyro_sql_scenario_setting(change, PYRO_NONE, setting);
}

void pyro_effect(struct pyro_predict_change *change, enum pyro_model_id model, double low, double high,
                 const char *format, ...)
{
    struct pyro_scenario *scenario = change->scenario;
    va_list arguments;
    if (scenario->effect_count == PYRO_EFFECTS_MAX)
        return;
    struct pyro_predicted_effect *effect = &scenario->effects[scenario->effect_count];
    change->doubt_low[scenario->effect_count] = low;
    change->doubt_high[scenario->effect_count] = high;
    effect->model = model;
    va_start(arguments, format);
    effect->text = pyro_arena_vprintf(change->arena, format, arguments);
    va_end(arguments);
    change->failed |= !effect->text.ptr;
    scenario->effect_count++;
}

static int64_t rounded(double ms)
{
    return ms < 0 ? 0 : ms < 9e18 ? (int64_t)floor(ms + 0.5) : INT64_MAX;
}

/* Independent reasons to be wrong add up as squares. */
static void find_interval(const struct pyro_predict_change *change)
{
    struct pyro_scenario *scenario = change->scenario;
    const struct pyro_predicted_run *run = change->run;
    double expected = (double)scenario->wall_expected_ms;
    double error = isfinite(run->check.error_share) ? run->check.error_share * expected : 0;
    double chance = run->chance * expected * DEVIATIONS, code_low, code_high;
    bool same = scenario->wall_expected_ms == run->base.wall_ms; /* as the unchanged replay, to the millisecond */
    double equal = same ? 0 : EQUAL_RUNS * expected;
    double off = OFF_BY * (expected - (double)run->base.wall_ms);
    pyro_code_doubt(change, &code_low, &code_high);
    double low = chance * chance + error * error + equal * equal + off * off, high = low;
    double tasks = expected - (double)run->app->numbers.driver_ms;
    tasks = tasks > 0 ? tasks : 0;
    for (size_t i = 0; i < scenario->effect_count; i++) {
        bool code = scenario->effects[i].model == PYRO_MODEL_code;
        double less = code ? code_low : change->doubt_low[i] * tasks,
               more = code ? code_high : change->doubt_high[i] * tasks;
        scenario->effects[i].low_ms = rounded(less);
        scenario->effects[i].high_ms = rounded(more);
        low += less * less;
        high += more * more;
    }
    scenario->wall_low_ms = rounded(expected - sqrt(low));
    scenario->wall_high_ms = rounded(expected + sqrt(high));
    /* The same tasks never take less than their critical path; executors that come and go may change them. */
    bool same_tasks = change->edits.count == 0 && !change->replay.allocation && !run->allocates;
    int64_t least = same_tasks ? run->critical_path_ms : PYRO_NONE;
    if (least != PYRO_NONE && scenario->wall_low_ms < least)
        scenario->wall_low_ms = least;
    if (scenario->wall_low_ms > scenario->wall_expected_ms)
        scenario->wall_low_ms = scenario->wall_expected_ms;
}

/* The same work with a slot for every task from the start. */
static enum pyro_status find_critical_path(struct pyro_predict_change *change, struct pyro_replay *replay,
                                           struct pyro_error *error)
{
    const struct pyro_app *app = change->run->app;
    struct pyro_replay_change endless = change->replay;
    struct pyro_replay_result result;
    struct pyro_replay_executor *executors =
        pyro_arena_array(&change->scratch, app->executors.count + 1, sizeof(*executors));
    if (!executors)
        return pyro_no_memory(error);
    for (size_t i = 0; i <= app->executors.count; i++)
        executors[i] = (struct pyro_replay_executor){
            .removed_ms = PYRO_NONE,
            .cores = INT32_MAX,
            .resource_profile = i < app->executors.count ? app->executors.items[i].resource_profile : 0};
    endless.executors = executors;
    endless.allocation = NULL;
    endless.locality = NULL;
    endless.endless = true;
    endless.executor_count = app->executors.count + 1;
    endless.first_ms = NULL; /* some executor might know every stage */
    endless.jobs = NULL;
    PYRO_TRY(pyro_replay_run(replay, &endless, &result, error));
    change->scenario->critical_path_ms = result.wall_ms;
    return PYRO_OK;
}

/* Spark fails the job of a barrier stage that cannot launch all of its tasks at once, and of any barrier stage under
 * dynamic allocation. */
static void find_refused(struct pyro_predict_change *change, const struct pyro_replay_result *result)
{
    const struct pyro_predicted_run *run = change->run;
    if (change->replay.allocation && pyro_app_barrier_tasks(run->app) > 0) {
        change->scenario->fails = true;
        pyro_effect(change, PYRO_MODEL_safety, 0, 0,
                    "Spark fails the jobs of barrier stages: it does not run them with dynamic allocation");
    } else if (result->short_of_slots && !run->base.short_of_slots) {
        const struct pyro_stage *stage = &run->app->stages.items[result->short_stage];
        change->scenario->fails = true;
        pyro_effect(change, PYRO_MODEL_safety, 0, 0,
                    "Spark fails the job of stage %lld: a barrier stage launches its %lld tasks at the same time, and "
                    "there are fewer slots",
                    (long long)stage->id, (long long)stage->partitions);
    }
}

static enum pyro_status answer(struct pyro_predict_change *change, struct pyro_replay *replay, struct pyro_error *error)
{
    struct pyro_scenario *scenario = change->scenario;
    struct pyro_replay_result result;
    scenario->executors = change->run->executors;
    scenario->cores_per_executor = change->run->cores;
    scenario->memory_bytes = change->run->memory_bytes;
    for (unsigned i = 0; i < PYRO_MODELS && !change->failed; i++) {
        if (i == PYRO_MODEL_code) { /* what the program changes comes on top of what settings do */
            pyro_change_cut_by_code(change);
            pyro_change_emit(change);
        }
        if (!(change->run->without >> i & 1))
            models[i](change);
    }
    change->replay.edits = change->edits.items;
    change->replay.edit_count = change->edits.count;
    if (!scenario->brief) {
        scenario->jobs = pyro_arena_array(change->arena, change->run->app->jobs.count, sizeof(*scenario->jobs));
        change->failed |= !scenario->jobs;
    }
    change->replay.jobs = scenario->jobs;
    if (change->failed)
        return pyro_no_memory(error);
    PYRO_TRY(pyro_replay_run(replay, &change->replay, &result, error));
    find_refused(change, &result);
    if (change->failed)
        return pyro_no_memory(error);
    scenario->wall_expected_ms = result.wall_ms;
    scenario->executors = result.executors > 0 ? result.executors : scenario->executors;
    scenario->core_ms = result.core_ms;
    scenario->busy_ms = result.busy_ms;
    scenario->utilization = result.utilization;
    scenario->critical_path_ms = change->run->critical_path_ms;
    if (!scenario->brief && (change->edits.count > 0 || change->run->critical_path_ms == PYRO_NONE))
        PYRO_TRY(find_critical_path(change, replay, error));
    find_interval(change);
    scenario->cost = pyro_scenario_cost(change->run, scenario);
    return PYRO_OK;
}

enum pyro_status pyro_predict(const struct pyro_predicted_run *run, struct pyro_replay *replay,
                              struct pyro_arena *arena, struct pyro_scenario *scenario, struct pyro_error *error)
{
    struct pyro_predict_change change = {.run = run, .scenario = scenario, .arena = arena};
    pyro_arena_init(&change.scratch, run->app->allocator);
    enum pyro_status status = answer(&change, replay, error);
    pyro_vec_done(&change.edits, run->app->allocator);
    pyro_arena_done(&change.scratch);
    return status;
}

enum pyro_status pyro_predict_critical_path(struct pyro_predicted_run *run, struct pyro_error *error)
{
    struct pyro_scenario scenario = {0};
    struct pyro_predict_change change = {.run = run, .scenario = &scenario};
    pyro_arena_init(&change.scratch, run->app->allocator);
    run->critical_path_ms = PYRO_NONE;
    enum pyro_status status = find_critical_path(&change, run->replay, error);
    pyro_arena_done(&change.scratch);
    run->critical_path_ms = scenario.critical_path_ms;
    return status;
}
