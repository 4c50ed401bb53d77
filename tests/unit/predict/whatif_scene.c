#include "whatif_scene.h"

#include <stdio.h>
#include <string.h>

enum { STAGES = 16, QUESTIONS = 8 };
static const int64_t ids[STAGES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
/* Of the answers that are computed by hand, whatever recorded runs make of fitted.def. */
static const double constants[PYRO_CONSTANTS] = {
    [PYRO_CONSTANT_BLOCK_MS] = 0.025,
    [PYRO_CONSTANT_WRITE_MS] = 45,
    [PYRO_CONSTANT_FILE_MS] = 15,
    [PYRO_CONSTANT_COLUMNS_FILE_MS] = 15,
    [PYRO_CONSTANT_PYTHON_MS] = 40,
    [PYRO_CONSTANT_PYTHON_FIXED_MS] = 100,
    [PYRO_CONSTANT_COLD_TIMES] = 1.5,
    [PYRO_CONSTANT_WARM_TASKS] = 250,
    [PYRO_CONSTANT_FLOOR_CPU_MS] = 6,
    [PYRO_CONSTANT_FIXED_CPU_MAX_MS] = 14,
    [PYRO_CONSTANT_BLOCK_CPU_MS] = 0.02,
    [PYRO_CONSTANT_DRIVER_MS] = 3,
    [PYRO_CONSTANT_ADDED_MS] = 15,
    [PYRO_CONSTANT_SORT_WRITE_MS] = 13e-6,
    [PYRO_CONSTANT_DISK_BYTES_A_MS] = 200e3,
    [PYRO_CONSTANT_SERIALIZED_A_MS] = 200e3,
    [PYRO_CONSTANT_JOIN_SPARED] = 0.7,
    [PYRO_CONSTANT_WRITE_SPARED] = 0.15,
    [PYRO_CONSTANT_BUILD_MS] = 2e-3,
};
static char texts[QUESTIONS][128], refusal[1024];

struct whatif_scene whatif_scene(int64_t ms)
{
    return (struct whatif_scene){.app = fixture_app(WHATIF_START, WHATIF_START + ms)};
}

void whatif_stage(struct whatif_scene *scene, int64_t from, int64_t to)
{
    int64_t id = (int64_t)scene->app->stages.count;
    assert_true(id < STAGES);
    fixture_job(scene->app, id, WHATIF_START + from, WHATIF_START + to, ids + id, 1);
    fixture_stage(scene->app, id, WHATIF_START + from, WHATIF_START + to);
}

void whatif_query(struct whatif_scene *scene, const char *node)
{
    struct pyro_sql_node *only = pyro_vec_push(&scene->app->sql_nodes, NULL);
    struct pyro_sql_execution *query = pyro_vec_push(&scene->app->sql, NULL);
    assert_non_null(only);
    assert_non_null(query);
    pyro_row_init(PYRO_TABLE_sql_nodes, only);
    pyro_row_init(PYRO_TABLE_sql, query);
    query->id = only->sql = only->node = 0;
    only->name = pyro_slice_from(node);
}

struct fixture_task whatif_task(struct whatif_scene *scene, int64_t from, int64_t to)
{
    int64_t stage = (int64_t)scene->app->stages.count - 1;
    struct fixture_task task = fixture_task(scene->app, stage, "1", WHATIF_START + from, WHATIF_START + to);
    task.row[PYRO_TASK_index] = (int64_t)scene->app->tasks.count;
    return task;
}

static size_t split(const char *set, const char **ret)
{
    size_t count = 0;
    while (set && *set) {
        size_t len = strcspn(set, " ");
        assert_true(count < QUESTIONS && len < sizeof(texts[0]));
        memcpy(texts[count], set, len);
        texts[count][len] = '\0';
        ret[count] = texts[count];
        count++;
        set += len + (set[len] == ' ');
    }
    return count;
}

static enum pyro_status ask(struct whatif_scene *scene, const char *set, const char *sweep, struct pyro_error *error)
{
    const char *sets[QUESTIONS];
    size_t count = split(set, sets);
    if (!scene->analyzed) {
        fixture_analyze(scene->app);
        scene->analyzed = true;
    } else {
        pyro_predict_done(&scene->whatif.run);
        pyro_arena_done(&scene->whatif.arena);
    }
    scene->whatif = (struct pyro_whatif){.run = {.constants = constants}};
    pyro_arena_init(&scene->whatif.arena, NULL);
    return pyro_whatif_ask(&scene->whatif, sets, count, &sweep, sweep != NULL, error);
}

const struct pyro_scenario *whatif_answer(struct whatif_scene *scene, const char *set, const char *sweep)
{
    struct pyro_error error = {.size = sizeof(error)};
    if (ask(scene, set, sweep, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    struct pyro_whatif *whatif = &scene->whatif;
    assert_int_equal(pyro_predict_prepare(&whatif->run, scene->app, true, NULL), PYRO_OK);
    for (size_t i = 0; i < whatif->scenario_count; i++) {
        struct pyro_scenario *scenario = &whatif->scenarios[i];
        assert_int_equal(pyro_predict(&whatif->run, whatif->run.replay, &whatif->arena, scenario, NULL), PYRO_OK);
        assert_true(scenario->wall_low_ms <= scenario->wall_expected_ms);
        assert_true(scenario->wall_expected_ms <= scenario->wall_high_ms);
        assert_true(scenario->wall_low_ms >= 0);
    }
    return whatif->scenarios;
}

const char *whatif_refusal(struct whatif_scene *scene, const char *set, const char *sweep)
{
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(ask(scene, set, sweep, &error), PYRO_ERROR_ARGUMENT);
    snprintf(refusal, sizeof(refusal), "%s", error.message);
    return refusal;
}

double whatif_doubt(const struct whatif_scene *scene, const struct pyro_scenario *scenario, enum pyro_model_id model,
                    bool longer)
{
    double tasks = (double)(scenario->wall_expected_ms - scene->app->numbers.driver_ms);
    for (size_t i = 0; i < scenario->effect_count; i++)
        if (scenario->effects[i].model == model)
            return (double)(longer ? scenario->effects[i].high_ms : scenario->effects[i].low_ms) / tasks;
    fail_msg("nothing of %s", pyro_model_name(model));
    return 0;
}

void whatif_free(struct whatif_scene *scene)
{
    if (scene->analyzed) {
        pyro_predict_done(&scene->whatif.run);
        pyro_arena_done(&scene->whatif.arena);
    }
    pyro_app_release(scene->app);
}
