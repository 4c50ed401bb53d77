/* Copies of an application that is still being built: snapshots of growing logs. */
#include "base/strings/intern.h"
#include "model/app.h"

#define COPY_VEC(to, from, allocator)                                                                                  \
    (pyro_vec_reserve((to), (from)->count, (allocator)) &&                                                             \
     copy_items((to)->items, (from)->items, (from)->count, sizeof(*(from)->items), &(to)->count))

static bool copy_items(void *to, const void *from, size_t count, size_t size, size_t *ret_count)
{
    if (count)
        memcpy(to, from, count * size);
    *ret_count = count;
    return true;
}

static bool copy_tables(struct pyro_app *to, const struct pyro_app *from)
{
    const struct pyro_allocator *allocator = from->allocator;
    return COPY_VEC(&to->jobs, &from->jobs, allocator) && COPY_VEC(&to->stages, &from->stages, allocator) &&
           COPY_VEC(&to->unfinished_tasks, &from->unfinished_tasks, allocator) &&
           COPY_VEC(&to->executors, &from->executors, allocator) && COPY_VEC(&to->sql, &from->sql, allocator) &&
           COPY_VEC(&to->sql_nodes, &from->sql_nodes, allocator) &&
           COPY_VEC(&to->earlier_plans, &from->earlier_plans, allocator) &&
           COPY_VEC(&to->earlier_nodes, &from->earlier_nodes, allocator) &&
           COPY_VEC(&to->sql_metrics, &from->sql_metrics, allocator) && COPY_VEC(&to->rdds, &from->rdds, allocator) &&
           COPY_VEC(&to->exclusions, &from->exclusions, allocator) &&
           COPY_VEC(&to->operations, &from->operations, allocator) &&
           COPY_VEC(&to->processes, &from->processes, allocator) && COPY_VEC(&to->streams, &from->streams, allocator) &&
           COPY_VEC(&to->failures, &from->failures, allocator) &&
           COPY_VEC(&to->properties, &from->properties, allocator) &&
           COPY_VEC(&to->rejects, &from->rejects, allocator) &&
           COPY_VEC(&to->integrity.events, &from->integrity.events, allocator) &&
           COPY_VEC(&to->integrity.notes, &from->integrity.notes, allocator);
}

struct pyro_app *pyro_app_copy(const struct pyro_app *app)
{
    struct pyro_app *copy = pyro_app_new(app->allocator);
    if (!copy)
        return NULL;
    pyro_string_pool_release(copy->strings);
    copy->strings = pyro_string_pool_retain(app->strings);
    copy->redaction = app->redaction;
    copy->path = app->path;
    copy->codec = app->codec;
    copy->application = app->application;
    copy->repeats = app->repeats;
    struct pyro_integrity integrity = app->integrity;
    memset(&integrity.events, 0, sizeof(integrity.events));
    memset(&integrity.notes, 0, sizeof(integrity.notes));
    copy->integrity = integrity;
    if (!copy_tables(copy, app) || !pyro_task_table_snapshot(&app->tasks, &copy->tasks)) {
        pyro_app_release(copy);
        return NULL;
    }
    return copy;
}
