/* A trace of Perfetto: https://perfetto.dev/docs/reference/synthetic-track-event
 *
 * Slices of one track must not overlap, so that what runs at the same time is on tracks next to each other: each group
 * (SQL executions, jobs, stages, tasks of an executor ...) has as many as it needs. What traces of the kernel recorded
 * has a track for each thread that ran tasks, below one for its process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/collections/vec.h"
#include "base/numbers/saturate.h"
#include "export/telemetry/protobuf.h"
#include "export/telemetry/spans.h"
#include "export/telemetry/telemetry.h"
#include "export/thread_names.h"
#include "model/tracks/tracks.h"

/* Fields of its messages. */
enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23 };
enum { TYPE_BEGIN = 1, TYPE_END = 2 };
enum { ANNOTATION_INT = 4, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { ERROR_TEXT = 1000 };

/* Groups after those of span kinds: tasks of the executor in row `group - TASKS`; those of none are first. */
enum { TASKS = 16 };
/* Behind all executors: the thread, or process, in row `group - THREADS`. */
enum { THREADS = 1 << 30 };

struct slice {
    int64_t start_ms, end_ms;
    uint32_t group, lane;
    uint32_t of; /* enum pyro_span_of */
    size_t row;
};

struct trace {
    const struct pyro_app *app;
    struct pyro_output *output;
    PYRO_VEC(struct slice) slices;
    PYRO_VEC(int64_t) lanes; /* when each is free */
    struct pyro_strbuf packet, message, part;
};

static const struct {
    const char *group, *category;
} kinds[] = {
    [PYRO_SPAN_OF_APPLICATION] = {"Application", "application"},
    [PYRO_SPAN_OF_WAIT] = {"Waiting for executors", "wait"},
    [PYRO_SPAN_OF_REQUEST] = {"Executor requests", "wait"},
    [PYRO_SPAN_OF_EXECUTOR] = {"Executors", "executor"},
    [PYRO_SPAN_OF_BATCH] = {"Batches", "batch"},
    [PYRO_SPAN_OF_SQL] = {"SQL executions", "sql"},
    [PYRO_SPAN_OF_JOB] = {"Jobs", "job"},
    [PYRO_SPAN_OF_STAGE] = {"Stages", "stage"},
    [PYRO_SPAN_OF_TASK] = {"Tasks", "task"},
};

static bool take(void *context, const struct pyro_app_span *span)
{
    struct trace *trace = context;
    struct slice *slice = pyro_vec_push(&trace->slices, trace->app->allocator);
    if (!slice)
        return false;
    *slice = (struct slice){.start_ms = span->start_ms,
                            .end_ms = span->end_ms,
                            .group = (uint32_t)span->of,
                            .of = (uint32_t)span->of,
                            .row = span->row};
    if (span->of == PYRO_SPAN_OF_TASK) {
        int64_t executor = pyro_task_get(&trace->app->tasks, PYRO_TASK_executor_row, span->row);
        slice->group = TASKS + (executor >= 0 ? (uint32_t)executor + 1 : 0);
    }
    return true;
}

static int by_group_and_start(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->start_ms != b->start_ms)
        return a->start_ms < b->start_ms ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int by_lane(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    return by_group_and_start(left, right);
}

/* Each slice on the first track of its group that is free. */
static bool lay_out(struct trace *trace)
{
    for (size_t i = 0; i < trace->slices.count; i++) {
        struct slice *slice = &trace->slices.items[i];
        if (i == 0 || slice->group != slice[-1].group)
            trace->lanes.count = 0;
        size_t lane = 0;
        while (lane < trace->lanes.count && trace->lanes.items[lane] > slice->start_ms)
            lane++;
        if (lane == trace->lanes.count && !pyro_vec_push(&trace->lanes, trace->app->allocator))
            return false;
        trace->lanes.items[lane] = slice->end_ms;
        slice->lane = (uint32_t)lane;
    }
    return true;
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void write_packet(struct trace *trace)
{
    pyro_proto_number(&trace->packet, PACKET_SEQUENCE, 1);
    pyro_proto_bytes(&trace->output->buffer, TRACE_PACKET, pyro_strbuf_slice(&trace->packet));
    pyro_output_flush(trace->output, false);
    pyro_strbuf_clear(&trace->packet);
}

static uint64_t nanoseconds(int64_t ms)
{
    return ms > 0 ? (uint64_t)ms * 1000000 : 0;
}

/* Says that times are those of the day. */
static void write_clocks(struct trace *trace)
{
    static const unsigned clocks[] = {CLOCK_REALTIME, CLOCK_BOOTTIME};
    pyro_strbuf_clear(&trace->message);
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        pyro_strbuf_clear(&trace->part);
        pyro_proto_number(&trace->part, CLOCK_ID, clocks[i]);
        pyro_proto_number(&trace->part, CLOCK_TIME, nanoseconds(trace->app->application.start_ms));
        pyro_proto_bytes(&trace->message, CLOCKS_CLOCK, pyro_strbuf_slice(&trace->part));
    }
    pyro_proto_bytes(&trace->packet, PACKET_CLOCKS, pyro_strbuf_slice(&trace->message));
    write_packet(trace);
}

static uint64_t uuid(uint32_t group, uint32_t lane)
{
    return ((uint64_t)group + 1) << 32 | lane;
}

/* `parent` 0: none. */
static void write_track(struct trace *trace, uint64_t id, uint64_t parent, struct pyro_slice name)
{
    pyro_strbuf_clear(&trace->message);
    pyro_proto_number(&trace->message, TRACK_UUID, id);
    pyro_proto_bytes(&trace->message, TRACK_NAME, name);
    if (parent)
        pyro_proto_number(&trace->message, TRACK_PARENT, parent);
    pyro_proto_bytes(&trace->packet, PACKET_TRACK, pyro_strbuf_slice(&trace->message));
    write_packet(trace);
}

static void write_tracks(struct trace *trace, const struct slice *slice)
{
    struct pyro_slice name = pyro_slice_from(kinds[slice->of].group);
    char text[128];
    if (slice->group > TASKS) {
        struct pyro_slice id = trace->app->executors.items[slice->group - TASKS - 1].id;
        snprintf(text, sizeof(text), "Tasks of executor %.*s", (int)(id.len < 64 ? id.len : 64), id.ptr ? id.ptr : "");
        name = pyro_slice_from(text);
    }
    write_track(trace, uuid(slice->group, slice->lane), slice->lane > 0 ? uuid(slice->group, 0) : 0, name);
}

static void annotate(struct trace *trace, const char *key, struct pyro_slice value)
{
    if (value.len == 0)
        return;
    value.len = value.len < ERROR_TEXT ? value.len : ERROR_TEXT;
    pyro_strbuf_clear(&trace->part);
    pyro_proto_bytes(&trace->part, ANNOTATION_TEXT, value);
    pyro_proto_bytes(&trace->part, ANNOTATION_NAME, pyro_slice_from(key));
    pyro_proto_bytes(&trace->message, EVENT_ANNOTATION, pyro_strbuf_slice(&trace->part));
}

/* What a slice is called, in `text`, and what is known of it. */
static void describe(struct trace *trace, const struct slice *slice, char text[128])
{
    const struct pyro_app *app = trace->app;
    const char *category = kinds[slice->of].category;
    switch (slice->of) {
    case PYRO_SPAN_OF_SQL:
        snprintf(text, 128, "sql %" PRId64, app->sql.items[slice->row].id);
        annotate(trace, "description", app->sql.items[slice->row].description);
        annotate(trace, "failure", app->sql.items[slice->row].failure);
        break;
    case PYRO_SPAN_OF_JOB:
        snprintf(text, 128, "job %" PRId64, app->jobs.items[slice->row].id);
        annotate(trace, "description", app->jobs.items[slice->row].description);
        annotate(trace, "failure", app->jobs.items[slice->row].failure);
        break;
    case PYRO_SPAN_OF_STAGE:
        snprintf(text, 128, "stage %" PRId64 ".%" PRId64, app->stages.items[slice->row].id,
                 app->stages.items[slice->row].attempt);
        annotate(trace, "name", app->stages.items[slice->row].name);
        annotate(trace, "failure", app->stages.items[slice->row].failure);
        break;
    case PYRO_SPAN_OF_TASK:
        snprintf(text, 128, "task %" PRId64, pyro_task_get(&app->tasks, PYRO_TASK_id, slice->row));
        break;
    case PYRO_SPAN_OF_EXECUTOR:
    case PYRO_SPAN_OF_REQUEST: {
        struct pyro_slice id = app->executors.items[slice->row].id;
        snprintf(text, 128, "%s %.*s", category, (int)(id.len < 64 ? id.len : 64), id.ptr ? id.ptr : "");
        break;
    }
    default:
        snprintf(text, 128, "%s", category);
    }
}

static void write_event(struct trace *trace, const struct slice *slice, unsigned type)
{
    char name[128];
    pyro_strbuf_clear(&trace->message);
    pyro_proto_number(&trace->message, EVENT_TYPE, type);
    pyro_proto_number(&trace->message, EVENT_TRACK, uuid(slice->group, slice->lane));
    if (type == TYPE_BEGIN) {
        describe(trace, slice, name);
        pyro_proto_bytes(&trace->message, EVENT_CATEGORY, pyro_slice_from(kinds[slice->of].category));
        pyro_proto_bytes(&trace->message, EVENT_NAME, pyro_slice_from(name));
    }
    pyro_proto_number(&trace->packet, PACKET_TIME, nanoseconds(type == TYPE_BEGIN ? slice->start_ms : slice->end_ms));
    pyro_proto_bytes(&trace->packet, PACKET_EVENT, pyro_strbuf_slice(&trace->message));
    write_packet(trace);
}

/* ---- Traces of the kernel ---------------------------------------------------------------------------------------- */

static void write_process(struct trace *trace, size_t row)
{
    char process[PYRO_PROCESS_NAME_BYTES], name[PYRO_PROCESS_NAME_BYTES + 16];
    pyro_process_name(pyro_tracks_thread(trace->app->tracks, row), process);
    snprintf(name, sizeof(name), "Threads of %s", process);
    write_track(trace, uuid(THREADS + (uint32_t)row, 0), 0, pyro_slice_from(name));
}

/* A track for each thread that ran tasks; `written`: for each row of threads. */
static void write_threads(struct trace *trace, bool *written)
{
    const struct pyro_tracks *tracks = trace->app->tracks;
    size_t threads = pyro_tracks_count(tracks, PYRO_TRACK_THREADS);
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_TASK_STATES); i++) {
        size_t row = (size_t)pyro_tracks_task_state(tracks, i).thread;
        char name[64];
        if (row >= threads || written[row])
            continue;
        const struct pyro_thread_row *thread = pyro_tracks_thread(tracks, row);
        size_t process = (size_t)thread->parent;
        if (process < threads && !written[process]) {
            write_process(trace, process);
            written[process] = true;
        }
        snprintf(name, sizeof(name), "thread %" PRId64, thread->tid);
        write_track(trace, uuid(THREADS + (uint32_t)row, 0),
                    process < threads ? uuid(THREADS + (uint32_t)process, 0) : 0, pyro_slice_from(name));
        written[row] = true;
    }
}

static void annotate_task(struct trace *trace, int64_t task)
{
    pyro_strbuf_clear(&trace->part);
    pyro_proto_number(&trace->part, ANNOTATION_INT, (uint64_t)task);
    pyro_proto_bytes(&trace->part, ANNOTATION_NAME, PYRO_SLICE_LITERAL("task"));
    pyro_proto_bytes(&trace->message, EVENT_ANNOTATION, pyro_strbuf_slice(&trace->part));
}

static void write_state(struct trace *trace, const struct pyro_task_state_row *state, unsigned type)
{
    int64_t time = type == TYPE_BEGIN ? state->start_ns : pyro_add_saturating(state->start_ns, state->duration_ns);
    pyro_strbuf_clear(&trace->message);
    pyro_proto_number(&trace->message, EVENT_TYPE, type);
    pyro_proto_number(&trace->message, EVENT_TRACK, uuid(THREADS + (uint32_t)state->thread, 0));
    if (type == TYPE_BEGIN) {
        pyro_proto_bytes(&trace->message, EVENT_CATEGORY, PYRO_SLICE_LITERAL("kernel"));
        pyro_proto_bytes(&trace->message, EVENT_NAME, pyro_slice_from(pyro_kernel_state_name(state->state)));
        annotate_task(trace, state->task);
        annotate(trace, "what", state->what);
        annotate(trace, "by", state->by);
    }
    pyro_proto_number(&trace->packet, PACKET_TIME, time > 0 ? (uint64_t)time : 0);
    pyro_proto_bytes(&trace->packet, PACKET_EVENT, pyro_strbuf_slice(&trace->message));
    write_packet(trace);
}

/* False: no memory. */
static bool write_states(struct trace *trace)
{
    const struct pyro_tracks *tracks = trace->app->tracks;
    size_t states = tracks ? pyro_tracks_count(tracks, PYRO_TRACK_TASK_STATES) : 0;
    if (states == 0)
        return true;
    size_t threads = pyro_tracks_count(tracks, PYRO_TRACK_THREADS);
    bool *written = pyro_allocate(trace->app->allocator, threads + 1);
    if (!written)
        return false;
    memset(written, 0, threads + 1);
    write_threads(trace, written);
    for (size_t i = 0; i < states; i++) {
        const struct pyro_task_state_row state = pyro_tracks_task_state(tracks, i);
        if ((size_t)state.thread >= threads)
            continue;
        write_state(trace, &state, TYPE_BEGIN);
        write_state(trace, &state, TYPE_END);
    }
    pyro_release(trace->app->allocator, written);
    return true;
}

enum pyro_status pyro_write_perfetto(const struct pyro_app *app, struct pyro_output *output, struct pyro_error *error)
{
    struct trace trace = {.app = app, .output = output};
    pyro_strbuf_init(&trace.packet, app->allocator);
    pyro_strbuf_init(&trace.message, app->allocator);
    pyro_strbuf_init(&trace.part, app->allocator);
    bool done = pyro_app_spans(app, take, &trace);
    if (done && trace.slices.count > 1)
        qsort(trace.slices.items, trace.slices.count, sizeof(*trace.slices.items), by_group_and_start);
    done = done && lay_out(&trace);
    if (done && trace.slices.count > 1)
        qsort(trace.slices.items, trace.slices.count, sizeof(*trace.slices.items), by_lane);
    if (done)
        write_clocks(&trace);
    for (size_t i = 0; done && i < trace.slices.count; i++) {
        const struct slice *slice = &trace.slices.items[i];
        if (i == 0 || slice->group != slice[-1].group || slice->lane != slice[-1].lane)
            write_tracks(&trace, slice);
        write_event(&trace, slice, TYPE_BEGIN);
        write_event(&trace, slice, TYPE_END);
    }
    done = done && write_states(&trace);
    done = done && !trace.packet.failed && !trace.message.failed && !trace.part.failed;
    pyro_strbuf_done(&trace.packet);
    pyro_strbuf_done(&trace.message);
    pyro_strbuf_done(&trace.part);
    pyro_vec_done(&trace.slices, app->allocator);
    pyro_vec_done(&trace.lanes, app->allocator);
    return done ? PYRO_OK : pyro_no_memory(error);
}
