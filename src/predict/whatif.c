/* Scenarios answered side by side: each thread has its own fork of the replay and takes the next scenario. */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/stop.h"
#include "base/thread.h"
#include "predict/predict.h"

enum { THREADS_MAX = 64 };

/* Threads write the scenarios that they took, and nothing else of the whole. */
struct crew {
    struct pyro_whatif *whatif;
    const struct pyro_options *options;
    pthread_mutex_t mutex; /* guards what follows */
    size_t next;
    struct pyro_error error;
    bool stopped;
};

/* Asked by the thread that called the library; the others look at what came of it. */
static bool is_stopped(void *context)
{
    struct crew *crew = context;
    pthread_mutex_lock(&crew->mutex);
    bool stopped = crew->stopped;
    pthread_mutex_unlock(&crew->mutex);
    return stopped;
}

struct worker {
    struct crew *crew;
    struct pyro_replay *replay;
    struct pyro_arena *arena;
    struct pyro_thread thread;
    bool calling; /* the thread that called the library: it reports progress */
};

static bool take(struct crew *crew, size_t *ret)
{
    pthread_mutex_lock(&crew->mutex);
    bool any = !crew->stopped && crew->next < crew->whatif->scenario_count;
    *ret = any ? crew->next++ : 0;
    pthread_mutex_unlock(&crew->mutex);
    return any;
}

/* The first failure is the one that is told. */
static void stop(struct crew *crew, const struct pyro_error *error)
{
    pthread_mutex_lock(&crew->mutex);
    if (!crew->stopped)
        crew->error = *error;
    crew->stopped = true;
    pthread_mutex_unlock(&crew->mutex);
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct crew *crew = worker->crew;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_progress progress = {.size = sizeof(progress), .path = ""};
    size_t index;
    while (take(crew, &index)) {
        if (worker->calling && crew->options->progress &&
            crew->options->progress(crew->options->progress_context, &progress) != 0) {
            pyro_error_set(&error, PYRO_ERROR_CANCELLED, "stopped");
            stop(crew, &error);
        } else if (pyro_predict(&crew->whatif->run, worker->replay, worker->arena, &crew->whatif->scenarios[index],
                                &error) != PYRO_OK) {
            stop(crew, &error);
        }
    }
    return NULL;
}

/* Threads beyond the calling one; where one cannot start, the others do its work. */
static enum pyro_status answer(struct pyro_whatif *whatif, const struct pyro_options *options, unsigned threads,
                               struct pyro_error *error)
{
    struct crew crew = {.whatif = whatif, .options = options};
    const struct pyro_stop stopped = {is_stopped, &crew};
    struct worker workers[THREADS_MAX] = {{0}};
    unsigned started = 0;
    pthread_mutex_init(&crew.mutex, NULL);
    for (unsigned i = 1; i < threads; i++) {
        struct worker *worker = &workers[started + 1];
        *worker = (struct worker){.crew = &crew, .arena = &whatif->arenas[started + 1]};
        if (pyro_replay_fork(whatif->run.replay, &worker->replay, NULL) != PYRO_OK)
            break;
        pyro_replay_stop_by(worker->replay, &stopped);
        if (!pyro_thread_start(&worker->thread, work, worker)) {
            pyro_replay_free(worker->replay);
            break;
        }
        started++;
    }
    workers[0] =
        (struct worker){.crew = &crew, .replay = whatif->run.replay, .arena = &whatif->arenas[0], .calling = true};
    work(&workers[0]);
    for (unsigned i = 1; i <= started; i++) {
        pyro_thread_join(&workers[i].thread);
        pyro_replay_free(workers[i].replay);
    }
    pthread_mutex_destroy(&crew.mutex);
    if (crew.stopped)
        pyro_error_copy(error, &crew.error);
    return crew.stopped ? crew.error.code : PYRO_OK;
}

static enum pyro_status read_goal(const struct pyro_whatif_options *asked, struct pyro_goal *ret,
                                  struct pyro_error *error)
{
    bool cost = asked->optimize && strcmp(asked->optimize, "cost") == 0;
    *ret = (struct pyro_goal){asked->optimize != NULL, cost, asked->deadline_ms, asked->max_cost};
    if (asked->optimize && !cost && strcmp(asked->optimize, "time") != 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the goal of the search is time or cost");
    if (asked->deadline_ms < 0 || !(asked->max_cost >= 0))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a limit of a search is 0 or more");
    if (!asked->optimize && (asked->deadline_ms > 0 || asked->max_cost > 0))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a deadline and a maximum cost are limits of a search");
    return PYRO_OK;
}

static enum pyro_status leave_out(const struct pyro_whatif_options *asked, uint32_t *ret, struct pyro_error *error)
{
    for (size_t i = 0; i < asked->without_count; i++) {
        unsigned model = 0;
        while (model < PYRO_MODELS && strcmp(asked->without[i], pyro_model_name((enum pyro_model_id)model)) != 0)
            model++;
        if (model == PYRO_MODELS)
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no model called '%.60s'", asked->without[i]);
        *ret |= UINT32_C(1) << model;
    }
    return PYRO_OK;
}

/* A setting whose model is left out would be passed over in silence. */
static enum pyro_status check_asked(const struct pyro_whatif *whatif, struct pyro_error *error)
{
    for (size_t i = 0; i < whatif->scenario_count; i++)
        for (unsigned k = 0; k < PYRO_PREDICTED_SETTINGS; k++) {
            const struct pyro_predicted_setting *setting = &pyro_predicted_settings[k];
            if (whatif->scenarios[i].given[k].ptr && whatif->run.without >> setting->model & 1)
                return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the model '%s' is left out, but %s needs it",
                                      pyro_model_name(setting->model), setting->key);
        }
    return PYRO_OK;
}

static enum pyro_status run(struct pyro_whatif *whatif, const pyro_diagnosis *diagnosis,
                            const struct pyro_whatif_options *asked, const struct pyro_options *options,
                            struct pyro_error *error)
{
    unsigned threads = options->threads < THREADS_MAX ? options->threads : THREADS_MAX;
    whatif->most_scenarios = asked->most_scenarios;
    PYRO_TRY(pyro_whatif_ask(whatif, asked->set, asked->set_count, asked->sweep, asked->sweep_count, error));
    PYRO_TRY(read_goal(asked, &whatif->goal, error));
    PYRO_TRY(pyro_predict_prepare(whatif, diagnosis, error));
    const struct pyro_stop stop = {pyro_stop_by_progress, (void *)options}; /* which it only reads */
    pyro_replay_stop_by(whatif->run.replay, &stop);
    PYRO_TRY(leave_out(asked, &whatif->run.without, error));
    PYRO_TRY(check_asked(whatif, error));
    PYRO_TRY(pyro_predict_take_prices(&whatif->run, asked->prices, asked->instance, asked->region, error));
    if (whatif->goal.asked)
        PYRO_TRY(pyro_predict_optimise(whatif, &whatif->goal, error));
    whatif->run.judges = pyro_predict_judges(whatif);
    if (threads > whatif->scenario_count)
        threads = (unsigned)whatif->scenario_count;
    threads = threads > 0 ? threads : 1;
    whatif->arenas = pyro_arena_array(&whatif->arena, threads, sizeof(*whatif->arenas));
    if (!whatif->arenas)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    whatif->arena_count = threads;
    for (unsigned i = 0; i < threads; i++)
        pyro_arena_init(&whatif->arenas[i], whatif->arena.allocator);
    enum pyro_status status = answer(whatif, options, threads, error);
    pyro_replay_stop_by(whatif->run.replay, NULL);
    return status;
}

enum pyro_status pyro_whatif_run(const pyro_diagnosis *diagnosis, const struct pyro_whatif_options *asked,
                                 const struct pyro_options *options, pyro_whatif **ret, struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_whatif_options question = {.size = sizeof(question)};
    pyro_error_clear(error);
    if (!diagnosis || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the diagnosis is missing");
    PYRO_TRY(PYRO_TAKE(&question, asked, error));
    if ((question.set_count > 0 && !question.set) || (question.sweep_count > 0 && !question.sweep) ||
        (question.without_count > 0 && !question.without))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_whatif_options.size is not a size that this library knows");
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    struct pyro_whatif *whatif = pyro_allocate(own.allocator, sizeof(*whatif));
    if (!whatif)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    *whatif = (struct pyro_whatif){0};
    pyro_arena_init(&whatif->arena, own.allocator);
    enum pyro_status status = run(whatif, diagnosis, &question, &own, error);
    if (status == PYRO_OK)
        *ret = whatif;
    else
        pyro_whatif_free(whatif);
    return status;
}

void pyro_whatif_free(pyro_whatif *whatif)
{
    if (!whatif)
        return;
    const struct pyro_allocator *allocator = whatif->arena.allocator;
    pyro_predict_done(&whatif->run);
    for (unsigned i = 0; i < whatif->arena_count; i++)
        pyro_arena_done(&whatif->arenas[i]);
    pyro_arena_done(&whatif->arena);
    pyro_release(allocator, whatif);
}

size_t pyro_whatif_scenario_count(const pyro_whatif *whatif)
{
    return whatif->scenario_count;
}

static int64_t known(int64_t value)
{
    return value == PYRO_NONE ? -1 : value;
}

enum pyro_status pyro_whatif_scenario(const pyro_whatif *whatif, size_t index, struct pyro_scenario_info *ret)
{
    if (index >= whatif->scenario_count)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_scenario *scenario = &whatif->scenarios[index];
    const struct pyro_scenario_info info = {.executors = known(scenario->executors),
                                            .cores_per_executor = known(scenario->cores_per_executor),
                                            .memory_bytes = known(scenario->memory_bytes),
                                            .wall_low_ms = scenario->wall_low_ms,
                                            .wall_expected_ms = scenario->wall_expected_ms,
                                            .wall_high_ms = scenario->wall_high_ms,
                                            .core_ms = scenario->core_ms,
                                            .utilization = scenario->utilization,
                                            .cost = scenario->cost};
    return PYRO_GIVE(ret, &info);
}

size_t pyro_whatif_setting_count(void)
{
    return PYRO_PREDICTED_SETTINGS;
}

enum pyro_status pyro_whatif_setting(size_t index, struct pyro_whatif_setting_info *ret)
{
    if (index >= PYRO_PREDICTED_SETTINGS)
        return PYRO_ERROR_ARGUMENT;
    const struct pyro_predicted_setting *setting = &pyro_predicted_settings[index];
    const struct pyro_whatif_setting_info info = {sizeof(info), setting->key, setting->alias,
                                                  pyro_model_name(setting->model), setting->doc};
    return PYRO_GIVE(ret, &info);
}
