/* Loads logs by the public calls and asks the simulator about them. */
#include "fleet/suggest/simulate_logs.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCALE_EQUAL 0.01

void pyro_replays_init(struct pyro_replays *replays, const struct pyro_suggest_history *history,
                       const struct pyro_options *options)
{
    *replays = (struct pyro_replays){.history = history, .options = options};
    pyro_arena_init(&replays->arena, options->allocator);
}

static void close_log(struct pyro_replay_log *log)
{
    if (log->run)
        pyro_predict_done(&log->predicted);
    pyro_app_release(log->app);
    *log = (struct pyro_replay_log){0};
}

void pyro_replays_done(struct pyro_replays *replays)
{
    for (int i = 0; i < PYRO_REPLAY_OPEN; i++)
        close_log(&replays->open[i]);
    pyro_arena_done(&replays->arena);
}

/* A file or folder of this machine that is not too large to be read now. */
static bool is_readable(struct pyro_slice path)
{
    struct stat found;
    if (!path.ptr || path.ptr[0] != '/' || path.len >= 4096 || stat(path.ptr, &found) != 0)
        return false;
    return found.st_size <= PYRO_REPLAY_BYTES && access(path.ptr, R_OK) == 0;
}

static bool has_log(void *context, size_t run)
{
    const struct pyro_replays *replays = context;
    const struct pyro_suggest_history *history = replays->history;
    size_t newer = 0;
    for (size_t i = run + 1; i < history->count && newer < PYRO_REPLAY_LOGS; i++)
        newer += is_readable(history->runs[i]->path);
    return newer < PYRO_REPLAY_LOGS && is_readable(history->runs[run]->path);
}

static enum pyro_status load(struct pyro_replays *replays, struct pyro_replay_log *log,
                             const struct pyro_suggest_run *run, struct pyro_error *error)
{
    pyro_inputs *inputs = NULL;
    const char *path = run->path.ptr;
    enum pyro_status status = pyro_inputs_open(&path, 1, replays->load, replays->options, &inputs, error);
    if (status == PYRO_OK && pyro_inputs_count(inputs) != 1)
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "the path leads to more than one log, or to none");
    if (status == PYRO_OK)
        status = pyro_app_load(inputs, 0, replays->load, replays->options, &log->app, error);
    pyro_inputs_close(inputs);
    PYRO_TRY(status);
    /* Another run may have taken the place of the log. */
    if (!pyro_slice_eq(log->app->application.id, run->app_id))
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the log is of another application by now");
    log->run = run;
    PYRO_TRY(pyro_predict_prepare(&log->predicted, log->app, true, error));
    return pyro_predict_take_prices(&log->predicted, replays->prices, replays->instance, replays->region, error);
}

/* The loaded log of a run; the one that was used least recently makes room. */
static enum pyro_status open_log(struct pyro_replays *replays, const struct pyro_suggest_run *run,
                                 struct pyro_replay_log **ret, struct pyro_error *error)
{
    struct pyro_replay_log *oldest = &replays->open[0];
    for (int i = 0; i < PYRO_REPLAY_OPEN; i++) {
        struct pyro_replay_log *log = &replays->open[i];
        if (log->run == run) {
            log->used = ++replays->uses;
            *ret = log;
            return PYRO_OK;
        }
        if (log->used < oldest->used)
            oldest = log;
    }
    close_log(oldest);
    enum pyro_status status = load(replays, oldest, run, error);
    if (status != PYRO_OK) {
        close_log(oldest);
        /* What the simulator cannot replay is like a log that cannot be read. */
        return status == PYRO_ERROR_ARGUMENT ? PYRO_ERROR_INPUT : status;
    }
    oldest->used = ++replays->uses;
    *ret = oldest;
    return PYRO_OK;
}

static bool set(struct pyro_replays *replays, struct pyro_scenario *scenario, const char *key, double value)
{
    struct pyro_slice text = pyro_arena_printf(&replays->arena, "%.6g", value);
    return text.ptr && pyro_scenario_set(scenario, pyro_slice_from(key), text);
}

static bool is_own(struct pyro_slice key)
{
    return pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_INSTANCES]) ||
           pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_CORES]) ||
           pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_DYNAMIC_MOST]);
}

static enum pyro_status simulate(void *context, size_t run, const struct pyro_fleet_question *asked,
                                 const struct pyro_suggest_setting *settings, size_t count, struct pyro_simulated *ret,
                                 struct pyro_error *error)
{
    struct pyro_replays *replays = context;
    const struct pyro_suggest_run *history = replays->history->runs[run];
    struct pyro_replay_log *log = NULL;
    struct pyro_scenario scenario = {.brief = true};
    PYRO_TRY(open_log(replays, history, &log, error));
    pyro_arena_reset(&replays->arena);
    bool ok = set(replays, &scenario, pyro_suggest_keys[PYRO_KEY_INSTANCES], asked->executors);
    if (ok && fabs(asked->cores - history->cores) > 0)
        ok = set(replays, &scenario, pyro_suggest_keys[PYRO_KEY_CORES], asked->cores);
    double scale = asked->input_bytes / history->input_bytes;
    if (ok && scale > 0 && isfinite(scale) && fabs(scale - 1) > SCALE_EQUAL)
        ok = set(replays, &scenario, "scale-input", scale);
    for (size_t i = 0; ok && i < count; i++)
        if (!is_own(settings[i].key) && pyro_predicted_is_known(settings[i].key))
            ok = pyro_scenario_set(&scenario, settings[i].key, settings[i].value);
    if (!ok)
        return replays->arena.failed
                   ? pyro_no_memory(error)
                   : pyro_error_set(error, PYRO_ERROR_INPUT, "the simulator does not take this value");
    PYRO_TRY(pyro_predict(&log->predicted, log->predicted.replay, &replays->arena, &scenario, error));
    *ret = (struct pyro_simulated){(double)scenario.wall_expected_ms, (double)scenario.core_ms,
                                   pyro_scenario_cost(&log->predicted, &scenario)};
    return PYRO_OK;
}

struct pyro_suggest_simulator pyro_replays_simulator(struct pyro_replays *replays)
{
    return (struct pyro_suggest_simulator){simulate, has_log, replays, replays->prices != NULL};
}
