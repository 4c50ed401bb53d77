#include "analyze/tracks/logged_waits.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/tracks/task_owners.h"
#include "base/numbers/saturate.h"
#include "model/tracks/tracks.h"

/* Most logs have times in whole seconds: a task may have begun in the second of the message. */
enum { NS_PER_MS = 1000000, SECOND_MS = 1000 };

struct wait {
    size_t executor; /* row of app->executors */
    int64_t start_ms, end_ms;
    int64_t task; /* Spark's id, where the record names it */
};

struct run {
    size_t executor, row;
    int64_t start_ms, end_ms;
    int64_t waited_until_ms;
};

struct matching {
    const struct pyro_app *app;
    struct wait *waits;
    size_t wait_count;
    struct run *runs;
    size_t run_count;
    size_t *active; /* places in `runs` */
    size_t active_count;
    double *ms; /* by task row */
    struct pyro_logged_waits *result;
};

static int compare_waits(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    if (x->executor != y->executor)
        return x->executor < y->executor ? -1 : 1;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    return (x->end_ms > y->end_ms) - (x->end_ms < y->end_ms);
}

static int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->executor != y->executor)
        return x->executor < y->executor ? -1 : 1;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Row of app->executors of a thread, or SIZE_MAX. */
static size_t executor_of(const struct pyro_app *app, int32_t thread)
{
    struct pyro_slice id = pyro_tracks_thread(app->tracks, (size_t)thread)->executor;
    for (size_t i = 0; id.ptr && i < app->executors.count; i++)
        if (pyro_slice_eq(app->executors.items[i].id, id))
            return i;
    return SIZE_MAX;
}

static bool collect_waits(struct matching *matching, struct pyro_arena *arena)
{
    const struct pyro_tracks *tracks = matching->app->tracks;
    size_t spans = pyro_tracks_count(tracks, PYRO_TRACK_SPANS);
    double most = 0;
    for (size_t i = 0; i < spans; i++)
        matching->wait_count += pyro_tracks_span(tracks, i).kind == PYRO_SPAN_LOGGED_WAIT;
    matching->waits = pyro_arena_array(arena, matching->wait_count + 1, sizeof(*matching->waits));
    if (!matching->waits)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < spans; i++) {
        const struct pyro_span_row span = pyro_tracks_span(tracks, i);
        struct pyro_owner_row owner;
        if (span.kind != PYRO_SPAN_LOGGED_WAIT)
            continue;
        double ms = (double)span.duration_ns / NS_PER_MS;
        matching->result->count++;
        matching->result->total_ms += ms;
        if (ms > most) {
            most = ms;
            matching->result->logger = span.name;
        }
        size_t executor = span.thread < 0 ? SIZE_MAX : executor_of(matching->app, span.thread);
        if (executor == SIZE_MAX)
            continue;
        bool owned = pyro_tracks_owner_at(tracks, span.thread, span.start_ns, &owner);
        int64_t start_ms = span.start_ns / NS_PER_MS;
        matching->waits[kept++] =
            (struct wait){executor, start_ms, pyro_add_saturating(start_ms, span.duration_ns / NS_PER_MS),
                          owned ? owner.task : PYRO_NONE};
    }
    matching->wait_count = kept;
    qsort(matching->waits, kept, sizeof(*matching->waits), compare_waits);
    return true;
}

static bool collect_runs(struct matching *matching, struct pyro_arena *arena)
{
    const struct pyro_task_table *tasks = &matching->app->tasks;
    matching->runs = pyro_arena_array(arena, tasks->count + 1, sizeof(*matching->runs));
    matching->active = pyro_arena_array(arena, tasks->count + 1, sizeof(*matching->active));
    matching->ms = pyro_arena_array(arena, tasks->count + 1, sizeof(*matching->ms));
    if (!matching->runs || !matching->active || !matching->ms)
        return false;
    for (size_t i = 0; i < tasks->count; i++) {
        int64_t executor = pyro_task_get(tasks, PYRO_TASK_executor_row, i);
        int64_t start_ms = pyro_task_get(tasks, PYRO_TASK_launch_ms, i);
        int64_t end_ms = pyro_task_get(tasks, PYRO_TASK_finish_ms, i);
        if (executor >= 0 && start_ms != PYRO_NONE && end_ms != PYRO_NONE && end_ms > start_ms)
            matching->runs[matching->run_count++] = (struct run){(size_t)executor, i, start_ms, end_ms, start_ms};
    }
    qsort(matching->runs, matching->run_count, sizeof(*matching->runs), compare_runs);
    return true;
}

/* Which of the active tasks can have waited: the one that the record names, else all. */
static void share_out(struct matching *matching, const struct wait *wait)
{
    const struct pyro_task_table *tasks = &matching->app->tasks;
    size_t named = SIZE_MAX;
    for (size_t i = 0; i < matching->active_count && wait->task != PYRO_NONE; i++)
        if (pyro_task_get(tasks, PYRO_TASK_id, matching->runs[matching->active[i]].row) == wait->task)
            named = i;
    size_t first = named == SIZE_MAX ? 0 : named, end = named == SIZE_MAX ? matching->active_count : named + 1;
    matching->result->alone += end == first + 1;
    matching->result->many += end > first + 1;
    for (size_t i = first; i < end; i++) {
        struct run *run = &matching->runs[matching->active[i]];
        int64_t from = wait->start_ms > run->waited_until_ms ? wait->start_ms : run->waited_until_ms;
        int64_t until = wait->end_ms < run->end_ms ? wait->end_ms : run->end_ms;
        if (until <= from)
            continue;
        run->waited_until_ms = until;
        double ms = (double)(until - from) / (double)(end - first);
        matching->ms[run->row] += ms;
        matching->result->tasks_ms += ms;
    }
}

static void match(struct matching *matching)
{
    size_t next = 0;
    for (size_t i = 0; i < matching->wait_count; i++) {
        const struct wait *wait = &matching->waits[i];
        if (i == 0 || wait->executor != wait[-1].executor)
            matching->active_count = 0;
        while (next < matching->run_count && matching->runs[next].executor < wait->executor)
            next++;
        for (; next < matching->run_count && matching->runs[next].executor == wait->executor &&
               matching->runs[next].start_ms / SECOND_MS * SECOND_MS <= wait->start_ms;
             next++)
            matching->active[matching->active_count++] = next;
        size_t kept = 0;
        for (size_t k = 0; k < matching->active_count; k++)
            if (matching->runs[matching->active[k]].end_ms > wait->start_ms)
                matching->active[kept++] = matching->active[k];
        matching->active_count = kept;
        share_out(matching, wait);
    }
}

static bool keep(struct matching *matching, struct pyro_arena *arena)
{
    struct pyro_logged_waits *result = matching->result;
    size_t tasks = matching->app->tasks.count;
    for (size_t i = 0; i < tasks; i++)
        result->task_count += matching->ms[i] > 0;
    result->tasks = pyro_arena_array(arena, result->task_count + 1, sizeof(*result->tasks));
    if (!result->tasks)
        return false;
    for (size_t i = 0, kept = 0; i < tasks; i++)
        if (matching->ms[i] > 0)
            result->tasks[kept++] = (struct pyro_task_wait){i, matching->ms[i]};
    return true;
}

const struct pyro_logged_waits *pyro_logged_waits_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct matching matching = {.app = app, .result = pyro_arena_alloc(arena, sizeof(*matching.result))};
    if (!matching.result || !app->tracks)
        return matching.result;
    if (!collect_waits(&matching, arena))
        return NULL;
    if (matching.wait_count == 0)
        return matching.result;
    if (!collect_runs(&matching, arena))
        return NULL;
    match(&matching);
    return keep(&matching, arena) ? matching.result : NULL;
}
