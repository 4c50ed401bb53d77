/* Life and death of applications. */
#include "model/app.h"

#include <math.h>

#include "base/memory/allocator.h"
#include "base/strings/intern.h"
#include "model/history/history.h"
#include "model/tracks/tracks.h"

/* Every number starts as unknown; the analyses give it a value. */
static void init_numbers(struct pyro_numbers *numbers)
{
    *numbers = (struct pyro_numbers){
        .executor_heap_peak_bytes = PYRO_NONE,
        .executor_heap_limit_bytes = PYRO_NONE,
        .driver_heap_peak_bytes = PYRO_NONE,
        .driver_heap_limit_bytes = PYRO_NONE,
        .storage_peak_bytes = PYRO_NONE,
        .critical_path_ms = PYRO_NONE,
        .ideal_ms = PYRO_NONE,
        .one_core_ms = PYRO_NONE,
        .driver_ms = PYRO_NONE,
        .executor_heap_used_share = (double)NAN,
        .cache_hit_share = (double)NAN,
    };
}

struct pyro_app *pyro_app_new(const struct pyro_allocator *allocator)
{
    struct pyro_app *app = pyro_allocate(allocator, sizeof(*app));
    if (!app)
        return NULL;
    *app = (struct pyro_app){.allocator = allocator, .references = 1};
    app->strings = pyro_string_pool_new(allocator);
    if (!app->strings) {
        pyro_release(allocator, app);
        return NULL;
    }
    pyro_task_table_init(&app->tasks, allocator);
    pyro_row_init(PYRO_TABLE_applications, &app->application);
    app->integrity.confidence = 1;
    init_numbers(&app->numbers);
    return app;
}

static void free_app(struct pyro_app *app)
{
    const struct pyro_allocator *allocator = app->allocator;
    pyro_vec_done(&app->integrity.events, allocator);
    pyro_vec_done(&app->integrity.notes, allocator);
    pyro_vec_done(&app->jobs, allocator);
    pyro_vec_done(&app->stages, allocator);
    pyro_task_table_done(&app->tasks);
    pyro_vec_done(&app->executors, allocator);
    pyro_vec_done(&app->sql, allocator);
    pyro_vec_done(&app->sql_nodes, allocator);
    pyro_vec_done(&app->sql_metrics, allocator);
    pyro_vec_done(&app->earlier_plans, allocator);
    pyro_vec_done(&app->earlier_nodes, allocator);
    pyro_vec_done(&app->rdds, allocator);
    pyro_vec_done(&app->unfinished_tasks, allocator);
    pyro_vec_done(&app->profile_resources, allocator);
    pyro_vec_done(&app->exclusions, allocator);
    pyro_vec_done(&app->operations, allocator);
    pyro_vec_done(&app->processes, allocator);
    pyro_vec_done(&app->streams, allocator);
    pyro_vec_done(&app->failures, allocator);
    pyro_vec_done(&app->properties, allocator);
    pyro_vec_done(&app->rejects, allocator);
    pyro_vec_done(&app->attributes, allocator);
    pyro_history_release(app->history);
    pyro_tracks_free(app->tracks);
    pyro_release(allocator, app->tasks_by_stage);
    pyro_release(allocator, app->stage_places.items);
    pyro_release(allocator, app->job_places.items);
    pyro_release(allocator, app->sql_places.items);
    if (app->strings)
        pyro_string_pool_release(app->strings);
    pyro_release(allocator, app);
}

const char *pyro_app_name(const pyro_app *app)
{
    const struct pyro_application_row *row = &app->application;
    if (row->name.len > 0)
        return row->name.ptr; /* texts of the pool end in NUL */
    if (row->id.len > 0)
        return row->id.ptr;
    return app->path.ptr ? app->path.ptr : "";
}

pyro_app *pyro_app_retain(pyro_app *app)
{
    if (app)
        __atomic_fetch_add(&app->references, 1, __ATOMIC_RELAXED);
    return app;
}

void pyro_app_release(pyro_app *app)
{
    if (app && __atomic_sub_fetch(&app->references, 1, __ATOMIC_ACQ_REL) == 0)
        free_app(app);
}
