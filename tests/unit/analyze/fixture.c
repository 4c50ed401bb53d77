#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/strings/intern.h"

struct pyro_app *fixture_app(int64_t start_ms, int64_t end_ms)
{
    struct pyro_app *app = pyro_app_new(NULL);
    assert_non_null(app);
    app->application.start_ms = start_ms;
    app->application.end_ms = end_ms;
    app->application.status = PYRO_SLICE_LITERAL("completed");
    return app;
}

struct pyro_stage *fixture_stage(struct pyro_app *app, int64_t id, int64_t submitted_ms, int64_t completed_ms)
{
    struct pyro_stage *stage = pyro_vec_push(&app->stages, app->allocator);
    assert_non_null(stage);
    pyro_row_init(PYRO_TABLE_stages, stage);
    stage->id = id;
    stage->attempt = 0;
    stage->submitted_ms = submitted_ms;
    stage->completed_ms = completed_ms;
    return stage;
}

struct pyro_executor *fixture_executor(struct pyro_app *app, const char *id, int64_t cores, int64_t added_ms,
                                       int64_t removed_ms)
{
    struct pyro_executor *executor = pyro_vec_push(&app->executors, app->allocator);
    assert_non_null(executor);
    pyro_row_init(PYRO_TABLE_executors, executor);
    executor->id = pyro_intern_slice(app->strings, pyro_slice_from(id));
    executor->cores = cores;
    executor->added_ms = added_ms;
    executor->removed_ms = removed_ms;
    return executor;
}

struct pyro_job *fixture_job(struct pyro_app *app, int64_t id, int64_t submitted_ms, int64_t completed_ms,
                             const int64_t *stage_ids, uint32_t stage_id_count)
{
    struct pyro_job *job = pyro_vec_push(&app->jobs, app->allocator);
    assert_non_null(job);
    pyro_row_init(PYRO_TABLE_jobs, job);
    job->id = id;
    job->submitted_ms = submitted_ms;
    job->completed_ms = completed_ms;
    job->status = completed_ms == PYRO_NONE ? PYRO_SLICE_LITERAL("running") : PYRO_SLICE_LITERAL("succeeded");
    job->stage_ids = stage_ids;
    job->stage_id_count = stage_id_count;
    return job;
}

void fixture_parents(struct pyro_app *app, int64_t stage, const int64_t *parents, uint32_t count)
{
    ptrdiff_t row = pyro_app_find_stage(app, stage, 0);
    assert_true(row >= 0);
    app->stages.items[row].parent_ids = parents;
    app->stages.items[row].parent_count = count;
}

void fixture_property(struct pyro_app *app, const char *kind, const char *key, const char *value)
{
    struct pyro_property property = {pyro_slice_from(kind), pyro_slice_from(key), pyro_slice_from(value)};
    assert_non_null(pyro_vec_push(&app->properties, app->allocator));
    size_t place = app->properties.count - 1;
    for (; place > 0; place--) {
        const struct pyro_property *before = &app->properties.items[place - 1];
        int order = pyro_slice_compare(before->kind, property.kind);
        if (order < 0 || (order == 0 && pyro_slice_compare(before->key, property.key) < 0))
            break;
        app->properties.items[place] = *before;
    }
    app->properties.items[place] = property;
}

struct fixture_task fixture_task(struct pyro_app *app, int64_t stage, const char *executor, int64_t launch_ms,
                                 int64_t finish_ms)
{
    struct fixture_task task = {0};
    task.row[PYRO_TASK_id] = (int64_t)app->tasks.count;
    task.row[PYRO_TASK_stage] = stage;
    task.row[PYRO_TASK_executor] = pyro_intern(app->strings, pyro_slice_from(executor));
    task.row[PYRO_TASK_launch_ms] = launch_ms;
    task.row[PYRO_TASK_finish_ms] = finish_ms;
    task.row[PYRO_TASK_has_metrics] = 1;
    if (launch_ms > 0 && finish_ms > launch_ms)
        task.row[PYRO_TASK_run_ms] = finish_ms - launch_ms;
    return task;
}

void fixture_add(struct pyro_app *app, const struct fixture_task *task)
{
    assert_true(pyro_task_table_append(&app->tasks, task->row));
}

void fixture_run(struct pyro_app *app, int64_t stage, const char *executor, int64_t launch_ms, int64_t finish_ms)
{
    struct fixture_task task = fixture_task(app, stage, executor, launch_ms, finish_ms);
    fixture_add(app, &task);
}

void fixture_analyze(struct pyro_app *app)
{
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_analyze(app, &error), PYRO_OK);
    assert_true(app->sealed);
    int64_t wall = 0, core = 0;
    for (unsigned i = 0; i < PYRO_WALL_PARTS; i++) {
        assert_true(app->numbers.wall_ms[i] >= 0);
        wall += app->numbers.wall_ms[i];
    }
    for (unsigned i = 0; i < PYRO_CORE_PARTS; i++) {
        assert_true(app->numbers.core_ms[i] >= 0);
        core += app->numbers.core_ms[i];
    }
    assert_int_equal(wall, app->numbers.wall_total_ms);
    assert_int_equal(core, app->numbers.core_total_ms);
}
