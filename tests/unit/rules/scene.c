#include "scene.h"

#include <stdio.h>

#include "base/intern.h"

enum { WARM_UP_MS = 2000 };

struct scene scene_new(unsigned executors, unsigned cores)
{
    struct scene scene = {.app = fixture_app(SCENE_START, SCENE_START + 1), .executors = executors, .cores = cores};
    scene.app->application.spark_version = PYRO_SLICE_LITERAL("3.5.6");
    scene.app->application.master = PYRO_SLICE_LITERAL("yarn");
    scene.now = SCENE_START + 2000;
    for (unsigned i = 0; i < executors; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", i + 1);
        struct pyro_executor *executor = fixture_executor(scene.app, id, cores, scene.now, PYRO_NONE);
        executor->host = pyro_intern_slice(scene.app->strings, executor->id);
    }
    for (unsigned i = 0; i < executors * cores; i++)
        scene.free_at[i] = scene.now;
    const int64_t ms = WARM_UP_MS;
    scene_stage(&scene, executors * cores, &ms, 1, NULL, NULL);
    return scene;
}

struct pyro_stage *scene_stage(struct scene *scene, unsigned count, const int64_t *ms, unsigned kinds,
                               scene_change change, void *context)
{
    int64_t id = (int64_t)scene->app->stages.count, end = scene->now;
    unsigned slots = scene->executors * scene->cores;
    struct pyro_stage *stage = fixture_stage(scene->app, id, scene->now, PYRO_NONE);
    stage->partitions = count;
    stage->status = PYRO_SLICE_LITERAL("succeeded");
    stage->call_site = pyro_intern_slice(scene->app->strings, id == 0 ? PYRO_SLICE_LITERAL("warm at up.py:1")
                                                                      : PYRO_SLICE_LITERAL("join at etl.py:88"));
    for (unsigned i = 0; i < count; i++) {
        unsigned slot = 0;
        for (unsigned k = 1; k < slots; k++)
            if (scene->free_at[k] < scene->free_at[slot])
                slot = k;
        int64_t launch = scene->free_at[slot] > scene->now ? scene->free_at[slot] : scene->now;
        char executor[16];
        snprintf(executor, sizeof(executor), "%u", slot / scene->cores + 1);
        struct fixture_task task = fixture_task(scene->app, id, executor, launch, launch + ms[i % kinds]);
        task.row[PYRO_TASK_host] = task.row[PYRO_TASK_executor];
        task.row[PYRO_TASK_index] = i;
        task.row[PYRO_TASK_reason] = pyro_intern(scene->app->strings, PYRO_SLICE_LITERAL("Success"));
        if (change)
            change(&task, i, context);
        fixture_add(scene->app, &task);
        scene->free_at[slot] = launch + ms[i % kinds];
        end = scene->free_at[slot] > end ? scene->free_at[slot] : end;
    }
    scene->app->stages.items[id].completed_ms = end;
    scene->now = end;
    return &scene->app->stages.items[id];
}

void scene_end(struct scene *scene)
{
    scene->app->application.end_ms = scene->now;
    scene->app->application.duration_ms = scene->now - scene->app->application.start_ms;
    fixture_analyze(scene->app);
    struct pyro_error error;
    assert_int_equal(pyro_rules_evaluate(scene->app, NULL, NULL, &scene->diagnosis, &error), PYRO_OK);
    assert_non_null(scene->diagnosis);
}

void scene_free(struct scene *scene)
{
    pyro_diagnosis_free(scene->diagnosis);
    pyro_app_release(scene->app);
}

const struct pyro_finding *scene_finding(const struct scene *scene, const char *rule)
{
    for (size_t i = 0; i < scene->diagnosis->finding_count; i++)
        if (strcmp(scene->diagnosis->findings[i].rule->id, rule) == 0)
            return &scene->diagnosis->findings[i];
    return NULL;
}

enum pyro_verdict scene_verdict(const struct scene *scene, const char *rule)
{
    for (size_t i = 0; i < pyro_rule_count; i++)
        if (strcmp(scene->diagnosis->outcomes[i].rule->id, rule) == 0)
            return scene->diagnosis->outcomes[i].verdict;
    fail_msg("no rule %s", rule);
    return PYRO_VERDICT_QUIET;
}

const char *scene_setting(const struct pyro_finding *finding, const char *key)
{
    for (size_t i = 0; i < finding->advice_count; i++)
        for (size_t k = 0; k < finding->advice[i].setting_count; k++)
            if (pyro_slice_is(finding->advice[i].settings[k].key, key))
                return finding->advice[i].settings[k].value.ptr;
    return "";
}
