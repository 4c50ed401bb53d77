#include "scene.h"

#include <stdio.h>

#include "base/numbers/varint.h"
#include "base/strings/intern.h"

enum { WARM_UP_MS = 2000 };

struct scene scene_cold(unsigned executors, unsigned cores)
{
    struct scene scene = {.app = fixture_app(SCENE_START, SCENE_START + 1), .executors = executors, .cores = cores};
    scene.app->application.spark_version = PYRO_SLICE_LITERAL("3.5.6");
    scene.app->application.master = PYRO_SLICE_LITERAL("yarn");
    scene.app->integrity.lines = 1000000; /* a whole log, although some scenes have only the tasks that matter */
    scene.now = SCENE_START + 2000;
    for (unsigned i = 0; i < executors; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", i + 1);
        struct pyro_executor *executor = fixture_executor(scene.app, id, cores, scene.now, PYRO_NONE);
        executor->host = pyro_intern_slice(scene.app->strings, executor->id);
    }
    for (unsigned i = 0; i < executors * cores; i++)
        scene.free_at[i] = scene.now;
    return scene;
}

struct scene scene_new(unsigned executors, unsigned cores)
{
    struct scene scene = scene_cold(executors, cores);
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

struct pyro_sql_execution *scene_query(struct scene *scene, int64_t sql)
{
    struct pyro_sql_execution *row = pyro_vec_push(&scene->app->sql, scene->app->allocator);
    assert_non_null(row);
    pyro_row_init(PYRO_TABLE_sql, row);
    row->id = sql;
    row->submitted_ms = scene->now;
    row->status = PYRO_SLICE_LITERAL("succeeded");
    return row;
}

void scene_node(struct scene *scene, int64_t parent, const char *name, const char *detail, const char *metadata)
{
    struct pyro_app *app = scene->app;
    struct pyro_sql_node *node = pyro_vec_push(&app->sql_nodes, app->allocator);
    assert_non_null(node);
    pyro_row_init(PYRO_TABLE_sql_nodes, node);
    int64_t sql = app->sql.items[app->sql.count - 1].id, count = 0;
    for (size_t i = 0; i + 1 < app->sql_nodes.count; i++) {
        count += app->sql_nodes.items[i].sql == sql;
        if (app->sql_nodes.items[i].sql == sql && app->sql_nodes.items[i].node == parent)
            node->depth = app->sql_nodes.items[i].depth + 1;
    }
    node->sql = sql;
    node->node = count;
    node->parent = parent < 0 ? PYRO_NONE : parent;
    if (parent < 0)
        node->depth = 0;
    node->name = pyro_slice_from(name);
    node->detail = detail ? pyro_slice_from(detail) : PYRO_SLICE_NULL;
    node->metadata = metadata ? pyro_slice_from(metadata) : PYRO_SLICE_NULL;
    node->known = pyro_operator_find(node->name);
}

/* Adds an accumulator to those that a stage updated; ids ascend. */
static void update(struct scene *scene, struct pyro_stage *stage, int64_t accumulator)
{
    struct pyro_slice held = stage->accumulators;
    int64_t last = 0;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    while (pyro_varint_take(&held, &last)) {
    }
    pyro_strbuf_add(&text, stage->accumulators.ptr, stage->accumulators.len);
    pyro_varint_put(&text, &last, accumulator);
    stage->accumulators = pyro_intern_slice(scene->app->strings, (struct pyro_slice){text.data, text.len});
    pyro_strbuf_done(&text);
}

void scene_metric(struct scene *scene, int64_t stage, const char *name, int64_t value)
{
    struct pyro_app *app = scene->app;
    struct pyro_sql_metric *metric = pyro_vec_push(&app->sql_metrics, app->allocator);
    assert_non_null(metric);
    pyro_row_init(PYRO_TABLE_sql_metrics, metric);
    const struct pyro_sql_node *node = &app->sql_nodes.items[app->sql_nodes.count - 1];
    metric->sql = node->sql;
    metric->node = node->node;
    metric->name = pyro_intern_slice(app->strings, pyro_slice_from(name));
    metric->type = PYRO_SLICE_LITERAL("sum");
    metric->value = value;
    metric->accumulator = 100 + (int64_t)app->sql_metrics.count;
    if (stage >= 0)
        update(scene, &app->stages.items[stage], metric->accumulator);
}

void scene_end(struct scene *scene)
{
    scene->app->application.end_ms = scene->now;
    for (size_t i = 0; i < scene->app->sql.count; i++)
        if (scene->app->sql.items[i].completed_ms == PYRO_NONE)
            scene->app->sql.items[i].completed_ms = scene->now;
    scene->app->application.duration_ms = scene->now - scene->app->application.start_ms;
    fixture_analyze(scene->app);
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_diagnosis_new(scene->app, &(struct pyro_judging){.threads = 1, .unsound_too = true},
                                        &scene->diagnosis, &error),
                     PYRO_OK);
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

void scene_judge(struct scene *scene, const char *rule, bool finds, const char *what)
{
    scene_end(scene);
    if ((scene_finding(scene, rule) != NULL) != finds)
        fail_msg("%s: %s near %s", rule, finds ? "quiet" : "a finding", what);
    scene_free(scene);
}

/* Settings without a model are in the code of their advice. */
static const char *suggested(const struct pyro_advice *advice, const char *key)
{
    static char value[256];
    char option[128];
    int len = snprintf(option, sizeof(option), "--conf %s=", key);
    const char *at = advice->code.ptr ? pyro_slice_find(advice->code, option) : NULL;
    if (!at)
        return NULL;
    at += len;
    size_t size = 0;
    const char *end = advice->code.ptr + advice->code.len;
    while (at + size < end && at[size] != '\n' && size + 1 < sizeof(value))
        size++;
    memcpy(value, at, size);
    value[size] = '\0';
    return value;
}

const char *scene_setting(const struct pyro_finding *finding, const char *key)
{
    for (size_t i = 0; i < finding->all_advice_count; i++) {
        const struct pyro_advice *advice = &finding->all_advice[i];
        for (size_t k = 0; k < advice->asked_count; k++)
            if (pyro_slice_is(advice->asked[k].key, key))
                return advice->asked[k].value.ptr;
        const char *value = suggested(advice, key);
        if (value)
            return value;
    }
    return "";
}
