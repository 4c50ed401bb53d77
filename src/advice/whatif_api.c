/* Scenarios answered side by side: each thread has its own fork of the replay and takes the next scenario. */
#include "advice/whatif_api.h"

#include <string.h>

#include "advice/fix.h"
#include "base/error.h"
#include "base/options.h"
#include "base/threads/crew.h"

/* Threads write the scenarios that they took, and nothing else of the whole. */
struct answering {
    struct pyro_whatif *whatif;
    struct pyro_replay *replays[PYRO_CREW_MOST];
};

static enum pyro_status answer_one(void *context, unsigned worker, size_t index, const struct pyro_stop *stop,
                                   struct pyro_error *error)
{
    struct answering *answering = context;
    struct pyro_whatif *whatif = answering->whatif;
    struct pyro_replay *replay = answering->replays[worker];
    pyro_replay_stop_by(replay, stop);
    enum pyro_status status =
        pyro_whatif_answer(whatif, replay, &whatif->arenas[worker], &whatif->scenarios[index], error);
    pyro_replay_stop_by(replay, NULL);
    return status;
}

static enum pyro_status answer(struct pyro_whatif *whatif, unsigned threads, const struct pyro_stop *stop,
                               struct pyro_error *error)
{
    struct answering answering = {.whatif = whatif, .replays = {whatif->run.replay}};
    const struct pyro_crew_work work = {whatif->scenario_count, answer_one, &answering, stop};
    unsigned forks = 1;
    while (forks < threads && pyro_replay_fork(whatif->run.replay, &answering.replays[forks], NULL) == PYRO_OK)
        forks++;
    enum pyro_status status = pyro_crew_run(forks, &work, error);
    for (unsigned i = 1; i < forks; i++)
        pyro_replay_free(answering.replays[i]);
    return status;
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

/* A setting whose model is left out would be ignored without a message. */
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

static const struct pyro_action *find_action(const pyro_diagnosis *diagnosis, const char *id)
{
    for (size_t i = 0; i < diagnosis->action_count; i++)
        if (pyro_slice_is(diagnosis->actions[i].id, id))
            return &diagnosis->actions[i];
    return NULL;
}

static enum pyro_status refuse_finding(struct pyro_whatif *whatif, const char *id, struct pyro_error *error)
{
    const pyro_diagnosis *diagnosis = whatif->diagnosis;
    size_t count = diagnosis->finding_count + diagnosis->action_count;
    const char **ids = pyro_arena_array(&whatif->arena, count + 1, sizeof(*ids));
    if (!ids)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    for (size_t i = 0; i < count; i++)
        ids[i] = i < diagnosis->finding_count ? diagnosis->findings[i].id.ptr
                                              : diagnosis->actions[i - diagnosis->finding_count].id.ptr;
    const char *nearest = pyro_nearest(id, ids, count);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "no finding or action of this run has the id '%.80s'%s%s%s", id,
                          nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A setting that was asked for by itself must not be changed by a fix. */
static enum pyro_status check_clash(const struct pyro_scenario *asked, const struct pyro_scenario *fixed,
                                    const char *what, struct pyro_error *error)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (asked->given[i].ptr && asked->values[i] != fixed->values[i])
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s=%.*s contradicts %s, which sets %.*s",
                                  pyro_predicted_settings[i].key, (int)asked->given[i].len, asked->given[i].ptr, what,
                                  (int)fixed->given[i].len, fixed->given[i].ptr);
    return PYRO_OK;
}

/* What `--fix` names: an action, or a finding, which stands for the action that cures it. One without an action is
 * fixed as was chosen for it. */
struct fix {
    const struct pyro_action *action;
    const struct pyro_finding *finding;
};

static struct fix find_fix(const pyro_diagnosis *diagnosis, const char *id)
{
    struct fix fix = {find_action(diagnosis, id), pyro_finding_by_id(diagnosis, pyro_slice_from(id))};
    if (fix.finding)
        fix.action = pyro_action_of(diagnosis, fix.finding);
    return fix;
}

static enum pyro_status fix_one(struct pyro_whatif *whatif, const char *id, const struct fix *fix,
                                struct pyro_scenario *scenario, struct pyro_error *error)
{
    const pyro_diagnosis *diagnosis = whatif->diagnosis;
    struct pyro_scenario before = *scenario;
    bool applied = false;
    if (fix->action && fix->action->saves.basis != PYRO_BASIS_NONE)
        PYRO_TRY(pyro_action_apply(diagnosis, fix->action, &whatif->arena, scenario, &applied, error));
    else if (!fix->action)
        PYRO_TRY(pyro_fix_apply(diagnosis->app, fix->finding, &whatif->arena, scenario, &applied, error));
    if (!applied)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "nothing that fixes the finding '%.80s' changes the time of the run in a simulation", id);
    return check_clash(&before, scenario, id, error);
}

/* All that is to be fixed, each action once. */
static enum pyro_status fix_all(struct pyro_whatif *whatif, const struct pyro_whatif_options *asked,
                                const struct fix *fixes, struct pyro_scenario *scenario, struct pyro_error *error)
{
    for (size_t k = 0; k < asked->fix_count; k++) {
        bool had = false;
        for (size_t i = 0; i < k && !had; i++)
            had = fixes[k].action ? fixes[i].action == fixes[k].action : fixes[i].finding == fixes[k].finding;
        if (!had)
            PYRO_TRY(fix_one(whatif, asked->fix[k], &fixes[k], scenario, error));
    }
    return PYRO_OK;
}

/* Every scenario has what fixes the findings that were named, and the plan where that was asked. */
static enum pyro_status apply_fixes(struct pyro_whatif *whatif, const struct pyro_whatif_options *asked,
                                    struct pyro_error *error)
{
    const pyro_diagnosis *diagnosis = whatif->diagnosis;
    if (asked->plan && diagnosis->config_change_count == 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "no settings are recommended for this run: there is no plan");
    whatif->needs_tasks = whatif->needs_tasks || asked->plan || asked->fix_count > 0;
    whatif->fixes = pyro_arena_array(&whatif->arena, asked->fix_count + 1, sizeof(*whatif->fixes));
    struct fix *fixes = pyro_arena_array(&whatif->arena, asked->fix_count + 1, sizeof(*fixes));
    if (!whatif->fixes || !fixes)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    for (size_t i = 0; i < asked->fix_count; i++) {
        const char *id = asked->fix[i] ? asked->fix[i] : "";
        fixes[i] = find_fix(diagnosis, id);
        if (!fixes[i].action && !fixes[i].finding)
            return refuse_finding(whatif, id, error);
        whatif->fixes[whatif->fix_count++] = fixes[i].finding ? fixes[i].finding->id : fixes[i].action->id;
    }
    for (size_t i = 0; i < whatif->scenario_count; i++) {
        struct pyro_scenario *scenario = &whatif->scenarios[i], before = *scenario;
        if (asked->plan) {
            PYRO_TRY(pyro_plan_apply(diagnosis, &whatif->arena, scenario, error));
            PYRO_TRY(check_clash(&before, scenario, "the plan", error));
        }
        PYRO_TRY(fix_all(whatif, asked, fixes, scenario, error));
    }
    return PYRO_OK;
}

/* A setting without a model, from "key=value"; a null key: a model knows it, or it is none. */
static struct pyro_setting unmodelled(const char *text)
{
    struct pyro_slice whole = pyro_slice_from(text ? text : "");
    const char *equals = pyro_slice_find(whole, "=");
    struct pyro_setting setting = {{whole.ptr, equals ? (size_t)(equals - whole.ptr) : whole.len}, PYRO_SLICE_NULL};
    if (!equals || pyro_predicted_is_known(setting.key))
        return (struct pyro_setting){PYRO_SLICE_NULL, PYRO_SLICE_NULL};
    setting.value = (struct pyro_slice){equals + 1, whole.len - setting.key.len - 1};
    return setting;
}

/* Settings without a model are asked as the findings that measured them, where there are some. */
static enum pyro_status take_measured(struct pyro_whatif *whatif, const pyro_diagnosis *diagnosis,
                                      struct pyro_whatif_options *asked, struct pyro_error *error)
{
    const char **set = pyro_arena_array(&whatif->arena, asked->set_count + 1, sizeof(*set));
    const char **fix = pyro_arena_array(&whatif->arena, asked->fix_count + diagnosis->finding_count + 1, sizeof(*fix));
    struct pyro_setting *settings = pyro_arena_array(&whatif->arena, asked->set_count + 1, sizeof(*settings));
    bool *taken = pyro_arena_array(&whatif->arena, asked->set_count + 1, sizeof(*taken));
    size_t set_count = 0, fix_count = asked->fix_count;
    if (!set || !fix || !settings || !taken)
        return pyro_no_memory(error);
    for (size_t i = 0; i < asked->fix_count; i++)
        fix[i] = asked->fix[i];
    for (size_t i = 0; i < asked->set_count; i++)
        settings[i] = unmodelled(asked->set[i]);
    for (size_t f = 0; f < diagnosis->finding_count; f++) {
        const struct pyro_advice *advice = pyro_fix_done_by(&diagnosis->findings[f], settings, asked->set_count);
        if (!advice)
            continue;
        fix[fix_count++] = diagnosis->findings[f].id.ptr;
        for (size_t i = 0; i < asked->set_count; i++)
            for (size_t k = 0; k < advice->asked_count; k++)
                taken[i] |= settings[i].key.ptr && pyro_slice_eq(settings[i].key, advice->asked[k].key);
    }
    for (size_t i = 0; i < asked->set_count; i++)
        if (!taken[i])
            set[set_count++] = asked->set[i];
    asked->set = set;
    asked->set_count = set_count;
    asked->fix = fix;
    asked->fix_count = fix_count;
    return PYRO_OK;
}

static enum pyro_status run(struct pyro_whatif *whatif, const pyro_diagnosis *diagnosis,
                            struct pyro_whatif_options *asked, struct pyro_options *options, struct pyro_error *error)
{
    unsigned threads = options->threads < PYRO_CREW_MOST ? options->threads : PYRO_CREW_MOST;
    whatif->most_scenarios = asked->most_scenarios;
    PYRO_TRY(take_measured(whatif, diagnosis, asked, error));
    PYRO_TRY(pyro_whatif_ask(whatif, asked->set, asked->set_count, asked->sweep, asked->sweep_count, error));
    PYRO_TRY(read_goal(asked, &whatif->goal, error));
    whatif->diagnosis = diagnosis;
    PYRO_TRY(apply_fixes(whatif, asked, error));
    PYRO_TRY(pyro_predict_prepare(&whatif->run, diagnosis->app,
                                  whatif->needs_tasks || whatif->goal.asked || diagnosis->finding_count > 0, error));
    const struct pyro_stop stop = {pyro_stop_by_progress, options};
    pyro_replay_stop_by(whatif->run.replay, &stop);
    PYRO_TRY(leave_out(asked, &whatif->run.without, error));
    PYRO_TRY(check_asked(whatif, error));
    PYRO_TRY(pyro_predict_take_prices(&whatif->run, asked->prices, asked->instance, asked->region, error));
    if (whatif->goal.asked)
        PYRO_TRY(pyro_predict_optimise(whatif, &whatif->goal, error));
    whatif->judges = pyro_whatif_judges(whatif);
    if (threads > whatif->scenario_count)
        threads = (unsigned)whatif->scenario_count;
    threads = threads > 0 ? threads : 1;
    whatif->arenas = pyro_arena_array(&whatif->arena, threads, sizeof(*whatif->arenas));
    if (!whatif->arenas)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the scenarios");
    whatif->arena_count = threads;
    for (unsigned i = 0; i < threads; i++)
        pyro_arena_init(&whatif->arenas[i], whatif->arena.allocator);
    pyro_replay_stop_by(whatif->run.replay, NULL);
    return answer(whatif, threads, &stop, error);
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
        (question.without_count > 0 && !question.without) || (question.fix_count > 0 && !question.fix))
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
