/* The events of the trace. States come by time already; everything else is sorted and put between them. */
#include <stdlib.h>

#include "base/collections/vec.h"
#include "base/numbers/saturate.h"
#include "export/thread_names.h"
#include "export/trace_compass/trace_compass.h"
#include "model/tracks/tracks.h"

enum { NS_PER_MS = 1000000 };

/* In the order in which they come at one time. */
enum kind {
    END_OF_STATE,
    BEGIN_OF_STAGE,
    BEGIN_OF_TASK,
    FINDING,
    STATES, /* no entry: states come here */
    END_OF_TASK,
    END_OF_STAGE
};

struct entry {
    int64_t time_ns;
    uint32_t kind;
    uint32_t row; /* of task_states, stages, tasks or the diagnosis' findings */
};

struct pyro_compass_order {
    const struct pyro_app *app;
    const struct pyro_diagnosis *diagnosis;
    size_t states;
    PYRO_VEC(struct entry) entries;
};

/* ---- The order --------------------------------------------------------------------------------------------------- */

static int64_t nanoseconds(int64_t ms)
{
    int64_t ns;
    return __builtin_mul_overflow(ms, NS_PER_MS, &ns) ? (ms < 0 ? 0 : INT64_MAX) : ns;
}

static bool add(struct pyro_compass_order *order, enum kind kind, size_t row, int64_t time_ns)
{
    struct entry *entry = pyro_vec_push(&order->entries, order->app->allocator);
    if (entry)
        *entry = (struct entry){.time_ns = time_ns, .kind = kind, .row = (uint32_t)row};
    return entry != NULL;
}

static bool add_between(struct pyro_compass_order *order, enum kind begin, enum kind end, size_t row, int64_t from_ms,
                        int64_t to_ms)
{
    if (from_ms == PYRO_NONE)
        return true;
    return add(order, begin, row, nanoseconds(from_ms)) &&
           (to_ms == PYRO_NONE || add(order, end, row, nanoseconds(to_ms > from_ms ? to_ms : from_ms)));
}

static int64_t begin_of(const struct pyro_stage *stage)
{
    return stage->submitted_ms != PYRO_NONE ? stage->submitted_ms : stage->first_task_ms;
}

static bool add_stages_and_tasks(struct pyro_compass_order *order)
{
    const struct pyro_app *app = order->app;
    bool ok = true;
    for (size_t i = 0; ok && i < app->stages.count; i++)
        ok = add_between(order, BEGIN_OF_STAGE, END_OF_STAGE, i, begin_of(&app->stages.items[i]),
                         app->stages.items[i].completed_ms);
    for (size_t row = 0; ok && row < app->tasks.count; row++)
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_RESUBMITTED) /* it ended before */
            ok = add_between(order, BEGIN_OF_TASK, END_OF_TASK, row,
                             pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                             pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
    return ok;
}

/* Where a finding is: its stage, else its job, else the application. */
static void place_of(const struct pyro_app *app, const struct pyro_finding *finding, int64_t *ret_from, int64_t *ret_to)
{
    ptrdiff_t stage =
        finding->stage == PYRO_NONE
            ? -1
            : pyro_app_find_stage(app, finding->stage, finding->attempt == PYRO_NONE ? 0 : finding->attempt);
    ptrdiff_t job = finding->job == PYRO_NONE ? -1 : pyro_app_find_job(app, finding->job);
    *ret_from = app->application.start_ms;
    *ret_to = app->application.end_ms;
    if (stage >= 0) {
        *ret_from = begin_of(&app->stages.items[stage]);
        *ret_to = app->stages.items[stage].completed_ms;
    } else if (job >= 0) {
        *ret_from = app->jobs.items[job].submitted_ms;
        *ret_to = app->jobs.items[job].completed_ms;
    }
    if (*ret_from == PYRO_NONE)
        *ret_from = app->application.start_ms == PYRO_NONE ? 0 : app->application.start_ms;
    if (*ret_to == PYRO_NONE || *ret_to < *ret_from)
        *ret_to = *ret_from;
}

static bool add_findings(struct pyro_compass_order *order)
{
    for (size_t i = 0; order->diagnosis && i < order->diagnosis->finding_count; i++) {
        int64_t from, to;
        place_of(order->app, &order->diagnosis->findings[i], &from, &to);
        if (!add(order, FINDING, i, nanoseconds(from)))
            return false;
    }
    return true;
}

/* The last state of each thread so far. */
struct last {
    int64_t end_ns, task;
    size_t row;
    bool known, empty;
};

static bool end_state(struct pyro_compass_order *order, const struct last *last, int64_t next_ns)
{
    /* One that took no time ends after it began, if the next one leaves room for that. */
    bool later = last->empty && last->end_ns < next_ns;
    return add(order, END_OF_STATE, last->row, later ? last->end_ns + 1 : last->end_ns);
}

/* Where a thread's state is not followed by another one of the same task. */
static bool add_ends_of_states(struct pyro_compass_order *order)
{
    const struct pyro_tracks *tracks = order->app->tracks;
    const struct pyro_allocator *allocator = order->app->allocator;
    size_t threads = order->states > 0 ? pyro_tracks_count(tracks, PYRO_TRACK_THREADS) : 0;
    struct last *last = pyro_allocate(allocator, (threads + 1) * sizeof(*last));
    if (!last)
        return false;
    memset(last, 0, (threads + 1) * sizeof(*last));
    bool ok = true;
    for (size_t i = 0; ok && i < order->states; i++) {
        const struct pyro_task_state_row row = pyro_tracks_task_state(tracks, i);
        if ((size_t)row.thread >= threads)
            continue;
        struct last *of = &last[row.thread];
        if (of->known && (of->end_ns < row.start_ns || of->task != row.task))
            ok = end_state(order, of, row.start_ns);
        *of = (struct last){.end_ns = pyro_add_saturating(row.start_ns, row.duration_ns),
                            .task = row.task,
                            .row = i,
                            .known = true,
                            .empty = row.duration_ns <= 0};
    }
    for (size_t i = 0; ok && i < threads; i++)
        if (last[i].known)
            ok = end_state(order, &last[i], INT64_MAX);
    pyro_release(allocator, last);
    return ok;
}

static int by_time(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

struct pyro_compass_order *pyro_compass_order_new(const struct pyro_app *app, const struct pyro_diagnosis *diagnosis)
{
    struct pyro_compass_order *order = pyro_allocate(app->allocator, sizeof(*order));
    if (!order)
        return NULL;
    *order =
        (struct pyro_compass_order){.app = app,
                                    .diagnosis = diagnosis,
                                    .states = app->tracks ? pyro_tracks_count(app->tracks, PYRO_TRACK_TASK_STATES) : 0};
    if (!add_ends_of_states(order) || !add_stages_and_tasks(order) || !add_findings(order)) {
        pyro_compass_order_free(order);
        return NULL;
    }
    if (order->entries.count > 1)
        qsort(order->entries.items, order->entries.count, sizeof(*order->entries.items), by_time);
    return order;
}

void pyro_compass_order_free(struct pyro_compass_order *order)
{
    const struct pyro_allocator *allocator = order->app->allocator;
    pyro_vec_done(&order->entries, allocator);
    pyro_release(allocator, order);
}

int64_t pyro_compass_first_ns(const struct pyro_compass_order *order)
{
    int64_t first =
        order->entries.count > 0 ? order->entries.items[0].time_ns : nanoseconds(order->app->application.start_ms);
    if (order->states > 0) {
        int64_t state_ns = pyro_tracks_task_state(order->app->tracks, 0).start_ns;
        first = state_ns < first ? state_ns : first;
    }
    return first > 0 ? first : 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void add_who(struct pyro_compass_writer *writer, const struct pyro_tracks *tracks,
                    const struct pyro_task_state_row *state)
{
    const struct pyro_thread_row none = {.parent = -1, .pid = PYRO_NONE, .tid = PYRO_NONE}, *thread = &none;
    struct pyro_owner_row owner = {.stage = PYRO_NONE, .stage_attempt = PYRO_NONE};
    char process[PYRO_PROCESS_NAME_BYTES];
    if (state->thread >= 0 && (size_t)state->thread < pyro_tracks_count(tracks, PYRO_TRACK_THREADS)) {
        thread = pyro_tracks_thread(tracks, (size_t)state->thread);
        if (!pyro_tracks_owner_at(tracks, state->thread, state->start_ns, &owner) || owner.task != state->task)
            owner.stage = owner.stage_attempt = PYRO_NONE;
    }
    pyro_process_name(thread, process);
    pyro_compass_number(writer, state->task);
    pyro_compass_number(writer, owner.stage);
    pyro_compass_number(writer, owner.stage_attempt);
    pyro_compass_number(writer, thread->tid);
    pyro_compass_text(writer, pyro_slice_from(process));
}

static void write_state(struct pyro_compass_writer *writer, const struct pyro_tracks *tracks, size_t row)
{
    const struct pyro_task_state_row state = pyro_tracks_task_state(tracks, row);
    pyro_compass_event(writer, PYRO_COMPASS_STATE, state.start_ns);
    add_who(writer, tracks, &state);
    pyro_compass_byte(writer, (uint8_t)state.state);
    pyro_compass_text(writer, pyro_slice_from(pyro_kernel_state_name(state.state)));
    pyro_compass_number(writer, state.duration_ns);
    pyro_compass_text(writer, state.what);
    pyro_compass_text(writer, state.by);
}

static void write_task(struct pyro_compass_writer *writer, const struct pyro_app *app, size_t row, bool ends)
{
    static const char *const statuses[] = {"success", "failed", "killed", "resubmitted"};
    size_t status = (size_t)pyro_task_get(&app->tasks, PYRO_TASK_status, row);
    pyro_compass_number(writer, pyro_task_get(&app->tasks, PYRO_TASK_id, row));
    pyro_compass_number(writer, pyro_task_get(&app->tasks, PYRO_TASK_stage, row));
    pyro_compass_number(writer, pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, row));
    pyro_compass_text(writer, pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, row)));
    if (ends)
        pyro_compass_text(writer,
                          pyro_slice_from(status < sizeof(statuses) / sizeof(*statuses) ? statuses[status] : ""));
}

static void write_finding(struct pyro_compass_writer *writer, const struct pyro_app *app,
                          const struct pyro_finding *finding)
{
    int64_t from, to;
    place_of(app, finding, &from, &to);
    pyro_compass_text(writer, pyro_slice_from(finding->rule->id));
    pyro_compass_text(writer, pyro_slice_from(pyro_severity_name(finding->severity)));
    pyro_compass_number(writer, finding->stage);
    pyro_compass_number(writer, finding->attempt);
    pyro_compass_number(writer, nanoseconds(pyro_sub_saturating(to, from)));
    pyro_compass_text(writer, finding->title);
    pyro_compass_text(writer, finding->cause);
}

static void write_entry(const struct pyro_compass_order *order, struct pyro_compass_writer *writer,
                        const struct entry *entry)
{
    static const enum pyro_compass_event events[] = {
        [END_OF_STATE] = PYRO_COMPASS_STATE_END, [BEGIN_OF_STAGE] = PYRO_COMPASS_STAGE,
        [BEGIN_OF_TASK] = PYRO_COMPASS_TASK,     [FINDING] = PYRO_COMPASS_FINDING,
        [END_OF_TASK] = PYRO_COMPASS_TASK_END,   [END_OF_STAGE] = PYRO_COMPASS_STAGE_END,
    };
    const struct pyro_app *app = order->app;
    pyro_compass_event(writer, events[entry->kind], entry->time_ns);
    if (entry->kind == END_OF_STATE) {
        const struct pyro_task_state_row state = pyro_tracks_task_state(app->tracks, entry->row);
        add_who(writer, app->tracks, &state);
    } else if (entry->kind == BEGIN_OF_TASK || entry->kind == END_OF_TASK) {
        write_task(writer, app, entry->row, entry->kind == END_OF_TASK);
    } else if (entry->kind == FINDING) {
        write_finding(writer, app, &order->diagnosis->findings[entry->row]);
    } else {
        const struct pyro_stage *stage = &app->stages.items[entry->row];
        pyro_compass_number(writer, stage->id);
        pyro_compass_number(writer, stage->attempt);
        pyro_compass_text(writer, entry->kind == BEGIN_OF_STAGE ? stage->name : stage->status);
    }
}

void pyro_compass_write_events(const struct pyro_compass_order *order, struct pyro_compass_writer *writer)
{
    size_t next = 0;
    for (size_t state = 0; state < order->states; state++) {
        int64_t start_ns = pyro_tracks_task_state(order->app->tracks, state).start_ns;
        for (; next < order->entries.count; next++) {
            const struct entry *entry = &order->entries.items[next];
            if (entry->time_ns > start_ns || (entry->time_ns == start_ns && entry->kind > STATES))
                break;
            write_entry(order, writer, entry);
        }
        write_state(writer, order->app->tracks, state);
    }
    for (; next < order->entries.count; next++)
        write_entry(order, writer, &order->entries.items[next]);
}
