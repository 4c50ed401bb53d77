/* Rows by what Spark calls them. */
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "model/app.h"

static int compare(const struct pyro_place *a, const struct pyro_place *b)
{
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static int by_place(const void *left, const void *right)
{
    const struct pyro_place *a = left, *b = right;
    int order = compare(a, b);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static bool make(struct pyro_places *places, const struct pyro_allocator *allocator, size_t count)
{
    pyro_release(allocator, places->items);
    *places = (struct pyro_places){0};
    if (count > SIZE_MAX / sizeof(*places->items) - 1)
        return false;
    places->items = pyro_allocate(allocator, (count + 1) * sizeof(*places->items));
    places->count = places->items ? count : 0;
    return places->items != NULL;
}

static void sort(struct pyro_places *places)
{
    for (size_t i = 1; i < places->count; i++)
        if (by_place(&places->items[i - 1], &places->items[i]) > 0) { /* Spark counts upwards: most logs need no sort */
            qsort(places->items, places->count, sizeof(*places->items), by_place);
            return;
        }
}

bool pyro_app_index(struct pyro_app *app)
{
    if (!make(&app->stage_places, app->allocator, app->stages.count) ||
        !make(&app->job_places, app->allocator, app->jobs.count) ||
        !make(&app->sql_places, app->allocator, app->sql.count))
        return false;
    for (size_t i = 0; i < app->stages.count; i++)
        app->stage_places.items[i] = (struct pyro_place){app->stages.items[i].id, app->stages.items[i].attempt, i};
    for (size_t i = 0; i < app->jobs.count; i++)
        app->job_places.items[i] = (struct pyro_place){app->jobs.items[i].id, 0, i};
    for (size_t i = 0; i < app->sql.count; i++)
        app->sql_places.items[i] = (struct pyro_place){app->sql.items[i].id, 0, i};
    sort(&app->stage_places);
    sort(&app->job_places);
    sort(&app->sql_places);
    return true;
}

/* The first row of that name, or -1. */
static ptrdiff_t find(const struct pyro_places *places, int64_t id, int64_t attempt)
{
    const struct pyro_place wanted = {id, attempt, 0};
    size_t low = 0, high = places->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&places->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < places->count && compare(&places->items[low], &wanted) == 0 ? (ptrdiff_t)places->items[low].row : -1;
}

ptrdiff_t pyro_app_find_stage(const struct pyro_app *app, int64_t id, int64_t attempt)
{
    if (app->stage_places.count == app->stages.count)
        return find(&app->stage_places, id, attempt);
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].id == id && app->stages.items[i].attempt == attempt)
            return (ptrdiff_t)i;
    return -1;
}

ptrdiff_t pyro_app_find_job(const struct pyro_app *app, int64_t id)
{
    if (app->job_places.count == app->jobs.count)
        return find(&app->job_places, id, 0);
    for (size_t i = 0; i < app->jobs.count; i++)
        if (app->jobs.items[i].id == id)
            return (ptrdiff_t)i;
    return -1;
}

ptrdiff_t pyro_app_find_sql(const struct pyro_app *app, int64_t id)
{
    if (app->sql_places.count == app->sql.count)
        return find(&app->sql_places, id, 0);
    for (size_t i = 0; i < app->sql.count; i++)
        if (app->sql.items[i].id == id)
            return (ptrdiff_t)i;
    return -1;
}
