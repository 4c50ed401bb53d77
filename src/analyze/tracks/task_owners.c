#include "analyze/tracks/task_owners.h"

#include <stdlib.h>

#include "analyze/tracks/frame_kinds.h"
#include "analyze/tracks/thread_tasks.h"
#include "base/numbers/saturate.h"

#define FRAMES_CONFIDENCE 0.8
#define ALONE_CONFIDENCE  0.9

/* Clocks of one host differ by nothing, those of a cluster by some milliseconds; the log has whole milliseconds. */
enum { NS_PER_MS = 1000000, SLACK_NS = 50 * NS_PER_MS };

/* Time in which the executor ran tasks of one stage only. */
struct alone {
    int64_t start_ns, end_ns, stage, attempt;
};

/* A task of an executor, as the table has it. */
struct run {
    int64_t start_ns, end_ns;
    size_t row;
};

struct executor {
    bool wanted;                    /* threads of it are in the tracks */
    struct run *runs;               /* its tasks, by start */
    struct pyro_thread_task *tasks; /* the same rows */
    size_t count;
    struct alone *alone; /* by start */
    size_t alone_count;
    struct pyro_thread_tasks matching;
};

struct owning {
    struct pyro_app *app;
    struct pyro_tracks *tracks;
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    const struct pyro_stack_facts *stacks;
    int32_t *executor_of;       /* by thread: row of app->executors; -1: none, or it has owners already */
    bool *seen;                 /* by thread: was in a task */
    struct executor *executors; /* as app->executors */
    PYRO_VEC(struct pyro_owner_row) rows;
};

/* ---- Threads and stacks ------------------------------------------------------------------------------------------ */

int32_t pyro_thread_process(const struct pyro_tracks *tracks, int32_t thread)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(tracks, (size_t)thread);
    if (row->parent < 0 || row->tid == PYRO_NONE)
        return thread;
    return row->parent;
}

/* Row of app->executors, or -1. */
static int32_t executor_number(const struct owning *owning, struct pyro_slice id)
{
    for (size_t i = 0; i < owning->app->executors.count; i++)
        if (id.ptr && pyro_slice_eq(owning->app->executors.items[i].id, id))
            return (int32_t)i;
    return -1;
}

/* A process that names no executor is the only one that there was. */
static int32_t executor_of_process(const struct owning *owning, int32_t process)
{
    struct pyro_slice id = pyro_tracks_thread(owning->tracks, (size_t)process)->executor;
    if (!id.ptr && owning->app->executors.count == 1)
        return 0;
    return executor_number(owning, id);
}

static bool find_threads(struct owning *owning)
{
    size_t threads = pyro_tracks_count(owning->tracks, PYRO_TRACK_THREADS);
    owning->executor_of = pyro_arena_array(&owning->arena, threads + 1, sizeof(*owning->executor_of));
    owning->seen = pyro_arena_array(&owning->arena, threads + 1, sizeof(*owning->seen));
    if (!owning->executor_of || !owning->seen)
        return false;
    for (size_t i = 0; i < threads; i++)
        owning->executor_of[i] = executor_of_process(owning, pyro_thread_process(owning->tracks, (int32_t)i));
    for (size_t i = 0; i < pyro_tracks_count(owning->tracks, PYRO_TRACK_OWNERS); i++)
        owning->executor_of[pyro_tracks_owner(owning->tracks, i).thread] = -1;
    for (size_t i = 0; i < threads; i++)
        if (owning->executor_of[i] >= 0)
            owning->executors[owning->executor_of[i]].wanted = true;
    return true;
}

/* ---- Tasks of an executor ---------------------------------------------------------------------------------------- */

static int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int64_t ns_of(int64_t ms)
{
    return ms > INT64_MAX / NS_PER_MS / 2 || ms < 0 ? PYRO_NONE : ms * NS_PER_MS;
}

/* Number of the executor of each task, -1: it has no threads that are looked for. */
static int32_t executor_of_task(struct owning *owning, size_t row, struct pyro_map *known)
{
    int64_t text = pyro_task_get(&owning->app->tasks, PYRO_TASK_executor, row);
    uint64_t *place = pyro_map_put(known, (uint64_t)text, NULL);
    if (!place)
        return INT32_MIN;
    if (*place == 0)
        *place = (uint64_t)((int64_t)executor_number(owning, pyro_app_text(owning->app, text)) + 2);
    int32_t executor = (int32_t)*place - 2;
    return executor >= 0 && owning->executors[executor].wanted ? executor : -1;
}

/* Counts the tasks of executors; once they have room, fills them in. False: no memory. */
static bool each_run(struct owning *owning, bool fill)
{
    const struct pyro_task_table *tasks = &owning->app->tasks;
    struct pyro_map known;
    int32_t executor = 0;
    pyro_map_init(&known, owning->allocator);
    for (size_t i = 0; i < tasks->count && executor != INT32_MIN; i++) {
        int64_t start_ns = ns_of(pyro_task_get(tasks, PYRO_TASK_launch_ms, i));
        int64_t end_ns = ns_of(pyro_task_get(tasks, PYRO_TASK_finish_ms, i));
        executor = executor_of_task(owning, i, &known);
        if (executor < 0 || start_ns == PYRO_NONE || end_ns == PYRO_NONE || end_ns < start_ns)
            continue;
        struct executor *one = &owning->executors[executor];
        if (fill)
            one->runs[one->count] = (struct run){start_ns, end_ns, i};
        one->count++;
    }
    pyro_map_done(&known);
    return executor != INT32_MIN;
}

static bool find_runs(struct owning *owning)
{
    if (!each_run(owning, false))
        return false;
    for (size_t i = 0; i < owning->app->executors.count; i++) {
        struct executor *one = &owning->executors[i];
        one->runs = pyro_arena_array(&owning->arena, one->count + 1, sizeof(*one->runs));
        one->tasks = pyro_arena_array(&owning->arena, one->count + 1, sizeof(*one->tasks));
        if (!one->runs || !one->tasks)
            return false;
        one->count = 0;
    }
    if (!each_run(owning, true))
        return false;
    for (size_t i = 0; i < owning->app->executors.count; i++) {
        struct executor *one = &owning->executors[i];
        if (one->count > 0)
            qsort(one->runs, one->count, sizeof(*one->runs), compare_runs);
        for (size_t k = 0; k < one->count; k++)
            one->tasks[k] = (struct pyro_thread_task){one->runs[k].start_ns, one->runs[k].end_ns, -1};
    }
    return true;
}

/* ---- One stage alone --------------------------------------------------------------------------------------------- */

struct edge {
    int64_t time_ns;
    size_t row;
    bool begins;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Appends [from, to) of a stage, joined with what ends where it begins. */
static void add_alone(struct alone *list, size_t *count, const struct alone *one)
{
    if (*count > 0) {
        struct alone *last = &list[*count - 1];
        if (last->end_ns == one->start_ns && last->stage == one->stage && last->attempt == one->attempt) {
            last->end_ns = one->end_ns;
            return;
        }
    }
    list[(*count)++] = *one;
}

/* Intervals in which tasks of one stage attempt ran and no others; by start. False: no memory. */
static bool find_alone(struct owning *owning, struct executor *executor)
{
    const struct pyro_task_table *tasks = &owning->app->tasks;
    size_t count = 2 * executor->count, stages = 0;
    struct edge *edges = pyro_arena_array(&owning->arena, count + 1, sizeof(*edges));
    struct pyro_map running; /* row of a stage -> tasks that run */
    int64_t rows = 0;        /* of the stages that run, added up: with one stage its row */
    executor->alone = pyro_arena_array(&owning->arena, count + 1, sizeof(*executor->alone));
    if (!edges || !executor->alone)
        return false;
    for (size_t i = 0; i < executor->count; i++) {
        edges[2 * i] = (struct edge){executor->runs[i].start_ns, executor->runs[i].row, true};
        edges[2 * i + 1] = (struct edge){executor->runs[i].end_ns, executor->runs[i].row, false};
    }
    qsort(edges, count, sizeof(*edges), compare_edges);
    pyro_map_init(&running, owning->allocator);
    uint64_t *here = &(uint64_t){0};
    for (size_t i = 0; i < count && here; i++) {
        int64_t row = pyro_task_get(tasks, PYRO_TASK_stage_row, edges[i].row);
        here = pyro_map_put(&running, (uint64_t)row, NULL);
        if (!here)
            break;
        bool changes = edges[i].begins ? (*here)++ == 0 : --*here == 0;
        stages = edges[i].begins ? stages + changes : stages - changes;
        rows += !changes ? 0 : edges[i].begins ? row : -row;
        if (stages != 1 || i + 1 == count || rows < 0 || (size_t)rows >= owning->app->stages.count)
            continue;
        const struct pyro_stage *stage = &owning->app->stages.items[rows];
        const struct alone one = {edges[i].time_ns, edges[i + 1].time_ns, stage->id, stage->attempt};
        add_alone(executor->alone, &executor->alone_count, &one);
    }
    pyro_map_done(&running);
    return here != NULL;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool add_row(struct owning *owning, const struct pyro_owner_row *row)
{
    if (row->end_ns <= row->start_ns)
        return true;
    struct pyro_owner_row *added = pyro_vec_push(&owning->rows, owning->allocator);
    if (!added)
        return false;
    *added = *row;
    return true;
}

/* What is left of [from, to) for a thread that only ran tasks of one stage. */
static bool add_rest(struct owning *owning, int32_t thread, int64_t from_ns, int64_t to_ns,
                     const struct executor *executor)
{
    const struct alone *alone = executor->alone;
    for (size_t i = 0; i < executor->alone_count && alone[i].start_ns < to_ns; i++) {
        int64_t start_ns = pyro_add_saturating(alone[i].start_ns, SLACK_NS);
        int64_t end_ns = pyro_add_saturating(alone[i].end_ns, -SLACK_NS);
        const struct pyro_owner_row row = {.thread = thread,
                                           .start_ns = start_ns > from_ns ? start_ns : from_ns,
                                           .end_ns = end_ns < to_ns ? end_ns : to_ns,
                                           .task = PYRO_NONE,
                                           .stage = alone[i].stage,
                                           .stage_attempt = alone[i].attempt,
                                           .method = PYRO_SLICE_LITERAL("stage-alone"),
                                           .confidence = ALONE_CONFIDENCE};
        if (!add_row(owning, &row))
            return false;
    }
    return true;
}

/* The tasks of a thread, and between them the stages that its executor ran alone. */
static bool add_thread(struct owning *owning, int32_t thread, const struct executor *executor)
{
    const struct pyro_task_table *tasks = &owning->app->tasks;
    const struct run *runs = executor->runs;
    int64_t free_ns = INT64_MIN;
    for (size_t i = 0, next; i < executor->count; i = next) {
        next = i + 1;
        if (executor->tasks[i].thread != thread)
            continue;
        while (next < executor->count && executor->tasks[next].thread != thread)
            next++;
        bool cut = next < executor->count && runs[next].start_ns < runs[i].end_ns;
        const struct pyro_owner_row row = {.thread = thread,
                                           .start_ns = runs[i].start_ns > free_ns ? runs[i].start_ns : free_ns,
                                           .end_ns = cut ? runs[next].start_ns : runs[i].end_ns,
                                           .task = pyro_task_get(tasks, PYRO_TASK_id, runs[i].row),
                                           .stage = pyro_task_get(tasks, PYRO_TASK_stage, runs[i].row),
                                           .stage_attempt = pyro_task_get(tasks, PYRO_TASK_stage_attempt, runs[i].row),
                                           .method = PYRO_SLICE_LITERAL("frames"),
                                           .confidence = FRAMES_CONFIDENCE};
        if (!add_rest(owning, thread, free_ns, row.start_ns, executor) || !add_row(owning, &row))
            return false;
        free_ns = row.end_ns;
    }
    return add_rest(owning, thread, free_ns, INT64_MAX, executor);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static bool look_at_samples(struct owning *owning)
{
    size_t count = pyro_tracks_count(owning->tracks, PYRO_TRACK_SAMPLES);
    for (size_t i = 0; i < count; i++) { /* by time */
        const struct pyro_sample_row sample = pyro_tracks_sample(owning->tracks, i);
        if (sample.thread < 0 || owning->executor_of[sample.thread] < 0 || sample.stack < 0 ||
            !owning->stacks[sample.stack].in_task || sample.time_ns == PYRO_NONE)
            continue;
        owning->seen[sample.thread] = true;
        if (!pyro_thread_tasks_saw(&owning->executors[owning->executor_of[sample.thread]].matching, sample.thread,
                                   sample.time_ns))
            return false;
    }
    return true;
}

static bool own(struct owning *owning)
{
    size_t threads = pyro_tracks_count(owning->tracks, PYRO_TRACK_THREADS), executors = owning->app->executors.count;
    bool done = find_threads(owning) && find_runs(owning);
    for (size_t i = 0; i < executors && done; i++)
        done = pyro_thread_tasks_begin(&owning->executors[i].matching, owning->executors[i].tasks,
                                       owning->executors[i].count, SLACK_NS, &owning->arena);
    done = done && look_at_samples(owning);
    for (size_t i = 0; i < executors && done; i++)
        done = pyro_thread_tasks_match(&owning->executors[i].matching) && find_alone(owning, &owning->executors[i]);
    for (size_t i = 0; i < threads && done; i++)
        if (owning->seen[i])
            done = add_thread(owning, (int32_t)i, &owning->executors[owning->executor_of[i]]);
    return done && pyro_tracks_add_owners(owning->tracks, owning->rows.items, owning->rows.count);
}

enum pyro_status pyro_task_owners_add(struct pyro_app *app, struct pyro_error *error)
{
    struct owning owning = {.app = app, .tracks = app->tracks, .allocator = app->allocator};
    if (pyro_tracks_count(app->tracks, PYRO_TRACK_SAMPLES) == 0 || app->executors.count == 0)
        return PYRO_OK;
    pyro_arena_init(&owning.arena, app->allocator);
    owning.executors = pyro_arena_array(&owning.arena, app->executors.count, sizeof(*owning.executors));
    for (size_t i = 0; i < app->executors.count && owning.executors; i++) {
        pyro_map_init(&owning.executors[i].matching.last, app->allocator);
        pyro_map_init(&owning.executors[i].matching.numbers, app->allocator);
        owning.executors[i].matching.arena = &owning.arena;
    }
    owning.stacks = pyro_stack_facts_of(owning.tracks, &owning.arena);
    bool done = owning.executors && owning.stacks && own(&owning);
    for (size_t i = 0; i < app->executors.count && owning.executors; i++)
        pyro_thread_tasks_done(&owning.executors[i].matching);
    pyro_vec_done(&owning.rows, app->allocator);
    pyro_arena_done(&owning.arena);
    return done ? PYRO_OK : pyro_no_memory(error);
}
