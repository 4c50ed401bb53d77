#include <math.h>
#include <stdlib.h>

#include "base/collections/map.h"
#include "base/numbers/saturate.h"
#include "model/column.h"
#include "report/trace/trace.h"

/* ---- Processes --------------------------------------------------------------------------------------------------- */

static int64_t running_ns(const struct pyro_trace_process *process)
{
    return pyro_add_saturating(process->state_ns[PYRO_KERNEL_USER], process->state_ns[PYRO_KERNEL_SYSTEM]);
}

/* By process; threads of none by their names. */
static int compare_identities(const void *a, const void *b)
{
    const struct pyro_trace_process *x = a, *y = b;
    int order = pyro_slice_compare(x->host, y->host);
    if (order)
        return order;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->pid != PYRO_NONE ? 0 : pyro_slice_compare(x->name, y->name);
}

static int compare_running(const void *a, const void *b)
{
    int64_t x = running_ns(a), y = running_ns(b);
    return x != y ? (x > y ? -1 : 1) : compare_identities(a, b);
}

/* One for each thread: rows of a thread lie together. */
static size_t read_threads(const struct pyro_tracks *tracks, struct pyro_trace_process *threads)
{
    size_t count = 0;
    int32_t newest = -1;
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_THREAD_TIMES); i++) {
        const struct pyro_thread_time_row time = pyro_tracks_thread_time(tracks, i);
        const struct pyro_thread_row *row = pyro_tracks_thread(tracks, (size_t)time.thread);
        if (count == 0 || time.thread != newest)
            threads[count++] =
                (struct pyro_trace_process){row->name, row->host, row->executor, row->pid, row->tid != row->pid, {0}};
        newest = time.thread;
        int64_t *place = &threads[count - 1].state_ns[time.state];
        *place = pyro_add_saturating(*place, time.duration_ns);
    }
    return count;
}

/* The name of a process is that of its first thread, whose `threads` is 0 until here. */
static void join_threads(struct pyro_trace_report *trace)
{
    size_t kept = 0;
    struct pyro_trace_process *items = trace->processes;
    if (trace->process_count > 0)
        qsort(items, trace->process_count, sizeof(*items), compare_identities);
    for (size_t i = 0; i < trace->process_count; i++) {
        bool first = items[i].threads == 0;
        struct pyro_trace_process *last = kept > 0 ? &items[kept - 1] : NULL;
        if (!last || compare_identities(last, &items[i]) != 0) {
            items[kept] = items[i];
            items[kept++].threads = 1;
            continue;
        }
        last->threads++;
        if (first || !last->name.ptr)
            last->name = items[i].name;
        if (!last->executor.ptr)
            last->executor = items[i].executor;
        for (int state = 0; state < PYRO_KERNEL_STATES; state++)
            last->state_ns[state] = pyro_add_saturating(last->state_ns[state], items[i].state_ns[state]);
    }
    trace->process_count = kept;
    if (kept > 0)
        qsort(items, kept, sizeof(*items), compare_running);
}

/* ---- Events and calls -------------------------------------------------------------------------------------------- */

struct ranked {
    int64_t weight;
    size_t row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool rank(const struct pyro_tracks *tracks, enum pyro_track_table table, struct pyro_arena *arena, size_t **ret,
                 size_t *ret_count)
{
    size_t count = pyro_tracks_count(tracks, table);
    struct ranked *ranked = pyro_arena_array(arena, count + 1, sizeof(*ranked));
    *ret = pyro_arena_array(arena, count + 1, sizeof(**ret));
    *ret_count = count;
    if (!ranked || !*ret)
        return false;
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){table == PYRO_TRACK_TRACE_CALLS ? pyro_tracks_trace_call(tracks, i).duration_ns
                                                                    : pyro_tracks_trace_event(tracks, i).count,
                                    i};
    if (count > 0)
        qsort(ranked, count, sizeof(*ranked), compare_ranked);
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = ranked[i].row;
    return true;
}

static void add_up(struct pyro_trace_report *trace)
{
    const struct pyro_tracks *tracks = trace->tracks;
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(tracks, i);
        if (!pyro_slice_is(row->kind, "ctf"))
            continue;
        trace->events = pyro_add_saturating(trace->events, row->rows);
        if (row->first_ns != PYRO_NONE && (trace->first_ns == PYRO_NONE || row->first_ns < trace->first_ns))
            trace->first_ns = row->first_ns;
        if (row->last_ns != PYRO_NONE && (trace->last_ns == PYRO_NONE || row->last_ns > trace->last_ns))
            trace->last_ns = row->last_ns;
    }
    trace->losses = (int64_t)pyro_tracks_count(tracks, PYRO_TRACK_TRACE_LOSSES);
    for (size_t i = 0; i < (size_t)trace->losses; i++) {
        int64_t lost = pyro_tracks_trace_loss(tracks, i).count;
        trace->lost = pyro_add_saturating(trace->lost, lost != PYRO_NONE ? lost : 0);
    }
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static void count_tasks(struct pyro_trace_report *trace)
{
    int64_t task = PYRO_NONE;
    for (size_t i = 0; i < pyro_tracks_count(trace->tracks, PYRO_TRACK_TASK_WAITS); i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(trace->tracks, i);
        size_t first;
        if (row.task == task)
            continue;
        task = row.task;
        trace->tasks++;
        trace->torn += row.root == PYRO_KERNEL_UNKNOWN && pyro_tracks_waits_of(trace->tracks, task, &first) == 1;
    }
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How long after its launch in the event log a task began as its thread says. */
static bool compare_clocks(struct pyro_trace_report *trace, struct pyro_arena *arena)
{
    const struct pyro_app *app = trace->diagnosis ? trace->diagnosis->app : NULL;
    size_t owners = pyro_tracks_count(trace->tracks, PYRO_TRACK_OWNERS), count = 0;
    double *after = app ? pyro_arena_array(arena, owners + 1, sizeof(*after)) : NULL;
    struct pyro_value_map launches;
    bool done = !app || after;
    trace->clock.shortest_ms = (double)NAN;
    if (!app || !after || trace->tasks == 0)
        return done;
    pyro_value_map_init(&launches, app->allocator);
    for (size_t i = 0; i < app->tasks.count && done; i++) {
        int64_t launch = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, i);
        int64_t finish = pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i);
        int64_t *place = pyro_value_map_put(&launches, pyro_task_get(&app->tasks, PYRO_TASK_id, i));
        done = place != NULL;
        if (done && launch > 0)
            *place = launch;
        double ms = launch > 0 && finish >= launch ? (double)finish - (double)launch : (double)NAN;
        trace->clock.shortest_ms = fmin(trace->clock.shortest_ms, ms);
    }
    for (size_t i = 0; i < owners && done; i++) {
        const struct pyro_owner_row owner = pyro_tracks_owner(trace->tracks, i);
        int64_t launch = pyro_value_map_get(&launches, owner.task);
        if (pyro_slice_is(owner.method, "named") && launch != PYRO_VALUE_NONE)
            after[count++] = (double)owner.start_ns / 1e6 - (double)launch;
    }
    pyro_value_map_done(&launches);
    if (count > 0) {
        qsort(after, count, sizeof(*after), compare_reals);
        trace->clock.tasks = count;
        trace->clock.p50_ms = after[count / 2];
        trace->clock.p99_ms = after[(count - 1) * 99 / 100];
        trace->clock.most_ms = fabs(after[0]) > fabs(after[count - 1]) ? after[0] : after[count - 1];
    }
    return done;
}

static bool find_stages(struct pyro_trace_report *trace, struct pyro_arena *arena)
{
    if (!trace->diagnosis) {
        trace->waits = pyro_stage_waits_alone(trace->tracks, arena, &trace->stages, &trace->stage_count);
        return trace->waits != NULL;
    }
    const struct pyro_app *app = trace->diagnosis->app;
    trace->waits = pyro_stage_waits_new(app, arena);
    trace->stages = pyro_arena_array(arena, app->stages.count + 1, sizeof(*trace->stages));
    if (!trace->waits || !trace->stages)
        return false;
    trace->stage_count = trace->waits->stages ? app->stages.count : 0;
    for (size_t i = 0; i < trace->stage_count; i++)
        trace->stages[i] = (struct pyro_stage_key){app->stages.items[i].id, app->stages.items[i].attempt};
    return true;
}

bool pyro_trace_gather(const struct pyro_tracks *tracks, const struct pyro_diagnosis *diagnosis,
                       struct pyro_arena *arena, struct pyro_trace_report *ret)
{
    *ret = (struct pyro_trace_report){
        .tracks = tracks, .diagnosis = diagnosis, .first_ns = PYRO_NONE, .last_ns = PYRO_NONE};
    size_t rows = pyro_tracks_count(tracks, PYRO_TRACK_THREAD_TIMES);
    ret->processes = pyro_arena_array(arena, rows + 1, sizeof(*ret->processes));
    if (!ret->processes)
        return false;
    ret->process_count = read_threads(tracks, ret->processes);
    join_threads(ret);
    add_up(ret);
    count_tasks(ret);
    return rank(tracks, PYRO_TRACK_TRACE_CALLS, arena, &ret->calls, &ret->call_count) &&
           rank(tracks, PYRO_TRACK_TRACE_EVENTS, arena, &ret->classes, &ret->class_count) && find_stages(ret, arena) &&
           compare_clocks(ret, arena);
}
