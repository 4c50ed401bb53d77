#include "rules/timing/activity.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"

/* A stage began or ended: what holds from here to the next point. */
struct point {
    double at;
    int64_t running;  /* while sorting: +1 or -1 */
    double none, one; /* ms before this point with that many stages running */
};

struct pyro_activity {
    size_t count;
    struct point *points;
};

double pyro_stage_from(const struct pyro_stage *stage)
{
    int64_t begin = stage->tasks > 0 ? pyro_stage_begin(stage) : PYRO_NONE;
    return begin != PYRO_NONE ? (double)begin : INFINITY;
}

double pyro_stage_to(const struct pyro_app *app, const struct pyro_stage *stage)
{
    if (isinf(pyro_stage_from(stage)))
        return -INFINITY;
    int64_t end = stage->completed_ms != PYRO_NONE ? stage->completed_ms : app->application.end_ms;
    return end != PYRO_NONE ? (double)end : -INFINITY;
}

static int by_time(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

struct pyro_activity *pyro_activity_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct pyro_activity *activity = pyro_arena_alloc(arena, sizeof(*activity));
    struct point *points = pyro_arena_array(arena, 2 * app->stages.count + 1, sizeof(*points));
    size_t count = 0;
    if (!activity || !points)
        return NULL;
    for (size_t i = 0; i < app->stages.count; i++) {
        double from = pyro_stage_from(&app->stages.items[i]), to = pyro_stage_to(app, &app->stages.items[i]);
        if (to <= from)
            continue;
        points[count++] = (struct point){.at = from, .running = 1};
        points[count++] = (struct point){.at = to, .running = -1};
    }
    if (count > 1)
        qsort(points, count, sizeof(*points), by_time);
    for (size_t i = 1; i < count; i++) {
        const struct point *before = &points[i - 1];
        double length = points[i].at - before->at;
        points[i].none = before->none + (before->running == 0 ? length : 0);
        points[i].one = before->one + (before->running == 1 ? length : 0);
        points[i].running += before->running;
    }
    *activity = (struct pyro_activity){count, points};
    return activity;
}

/* The last point at or before `at`, or NULL. */
static const struct point *point_before(const struct pyro_activity *activity, double at)
{
    size_t low = 0, high = activity->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (activity->points[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &activity->points[low - 1] : NULL;
}

static double none_before(const struct pyro_activity *activity, double at)
{
    const struct point *point = point_before(activity, at);
    if (!point) /* before the first stage; differences are all that counts */
        return activity->count ? at - activity->points[0].at : at;
    return point->none + (point->running == 0 ? at - point->at : 0);
}

static double one_before(const struct pyro_activity *activity, double at)
{
    const struct point *point = point_before(activity, at);
    return point ? point->one + (point->running == 1 ? at - point->at : 0) : 0;
}

double pyro_activity_none(const struct pyro_activity *activity, double from, double to)
{
    return to > from ? none_before(activity, to) - none_before(activity, from) : 0;
}

double pyro_activity_one(const struct pyro_activity *activity, double from, double to)
{
    return to > from ? one_before(activity, to) - one_before(activity, from) : 0;
}
