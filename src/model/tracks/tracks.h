/* What logs, profilers and traces recorded of one application, on one axis of time: tables of nanoseconds since 1970.
 *
 * A decoder adds rows in any order. pyro_tracks_seal() sorts them by time, after which they can be read and never
 * change. Texts are interned in the tracks' own pool. A row costs at most 24 bytes once sealed. */
#ifndef PYRO_MODEL_TRACKS_TRACKS_H
#define PYRO_MODEL_TRACKS_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strings/intern.h"
#include "base/strings/slice.h"
#include "model/log_level.h"

struct pyro_tracks;

/* ids are row numbers of their table; -1 is none. */

struct pyro_artefact_row {
    struct pyro_slice kind; /* row of kinds.def: "text-log", "gc-log", "jfr" ... */
    struct pyro_slice path, host, executor;
    int64_t bytes, rows; /* decompressed bytes; rows that it gave to all tables */
    int64_t first_ns, last_ns;
    int32_t clock;
    struct pyro_slice problems; /* what could not be read, null: nothing */
};

struct pyro_clock_row {
    struct pyro_slice host, source; /* source: "text-log", "jfr" ... */
    struct pyro_slice base;         /* utc, local, monotonic */
    struct pyro_slice zone;         /* "+01:00", null: UTC */
    int64_t offset_ns, drift_ppb, error_ns;
    struct pyro_slice method; /* how the offset was found: "text", "running-task", "option", "assumed" ... */
    int64_t matches;
};

/* No tid: a process. No pid: a host. */
struct pyro_thread_row {
    int32_t parent, clock;
    int64_t pid, tid;
    struct pyro_slice host, executor;
    struct pyro_slice role; /* "driver", "executor", "python-worker", "task", "gc" ... */
    struct pyro_slice name;
};

struct pyro_owner_row {
    int32_t thread;
    int64_t start_ns, end_ns;
    int64_t task, stage, stage_attempt; /* PYRO_NONE: not known; task is Spark's task id (TID) */
    struct pyro_slice method;           /* "named", "thread-name", "frames", "stage-alone" */
    double confidence;                  /* 0..1 */
};

enum pyro_span_kind {
#define PYRO_SPAN_KIND(name, text, doc) PYRO_SPAN_##name,
#include "model/tracks/span_kinds.def"
#undef PYRO_SPAN_KIND
    PYRO_SPAN_KINDS
};

struct pyro_span_row {
    int32_t thread, parent;
    enum pyro_span_kind kind;
    struct pyro_slice name;
    int64_t start_ns, duration_ns, value; /* value: by kind, see span_kinds.def; PYRO_NONE without one */
};

enum pyro_series_type { PYRO_SERIES_GAUGE, PYRO_SERIES_COUNTER };

struct pyro_series_row {
    int32_t thread;
    struct pyro_slice name, unit, labels;
    enum pyro_series_type type;
};

struct pyro_point_row {
    int32_t series;
    int64_t time_ns;
    double value;
};

struct pyro_frame_row {
    struct pyro_slice function, file;
    int64_t line;               /* PYRO_NONE: not known */
    struct pyro_slice language; /* "java", "python", "native", "kernel"; null: not known */
};

/* A stack is its innermost frame and the stack of the callers. */
struct pyro_stack_row {
    int32_t parent, frame;
};

enum pyro_sample_event {
#define PYRO_SAMPLE_EVENT(name, text, unit, doc) PYRO_SAMPLE_##name,
#include "model/tracks/sample_events.def"
#undef PYRO_SAMPLE_EVENT
    PYRO_SAMPLE_EVENTS
};

/* Whether samples weigh bytes: no method ran, or waited, in them. */
static inline bool pyro_sample_event_is_bytes(enum pyro_sample_event event)
{
    return event == PYRO_SAMPLE_ALLOC || event == PYRO_SAMPLE_LIVE || event == PYRO_SAMPLE_MALLOC;
}

enum pyro_thread_state {
#define PYRO_THREAD_STATE(name, text, doc) PYRO_STATE_##name,
#include "model/tracks/thread_states.def"
#undef PYRO_THREAD_STATE
    PYRO_THREAD_STATES
};

struct pyro_sample_row {
    int32_t thread, stack;
    int64_t time_ns; /* PYRO_NONE: the record has no time (folded stacks) */
    enum pyro_sample_event event;
    enum pyro_thread_state state;
    int64_t weight; /* in the event's unit, see sample_events.def */
};

struct pyro_template_row {
    struct pyro_slice text, level, logger;
    int64_t count, first_ns, last_ns;
};

struct pyro_message_row {
    int64_t time_ns;
    int32_t thread, message_template, artefact;
    int32_t level; /* enum pyro_log_level */
    int64_t place; /* offset in the artefact */
};

/* A function as a profiler counts it that keeps no stacks. */
struct pyro_function_row {
    int32_t artefact, frame;
    int32_t caller; /* a frame: only calls by this function; -1: all calls */
    int64_t calls, primitive_calls, own_ns, total_ns;
};

/* ---- What traces of the kernel recorded ---- */

enum pyro_kernel_state {
#define PYRO_KERNEL_STATE(name, text, doc) PYRO_KERNEL_##name,
#include "model/tracks/kernel_states.def"
#undef PYRO_KERNEL_STATE
    PYRO_KERNEL_STATES
};

/* A thread while it had a task. */
struct pyro_task_state_row {
    int32_t thread;
    enum pyro_kernel_state state;
    int64_t start_ns, duration_ns, task;
    struct pyro_slice what, by; /* see model/tables/task_states.def */
};

/* Part of a task's time. */
struct pyro_task_wait_row {
    int64_t task, stage, stage_attempt;
    enum pyro_kernel_state state, root;
    struct pyro_slice what, by;
    int64_t duration_ns, count, bytes; /* bytes: PYRO_NONE, not known */
};

struct pyro_thread_time_row {
    int32_t thread;
    enum pyro_kernel_state state;
    int64_t duration_ns, count;
};

struct pyro_trace_event_row {
    int32_t artefact;
    struct pyro_slice name;
    int64_t count;
    bool known;
};

struct pyro_trace_call_row {
    struct pyro_slice name;
    int64_t count, duration_ns, errors, bytes;
};

struct pyro_trace_loss_row {
    int32_t artefact;
    int64_t cpu, start_ns, end_ns, count; /* PYRO_NONE: not known */
    struct pyro_slice reason;
};

const char *pyro_kernel_state_name(enum pyro_kernel_state state); /* "runnable" */
const char *pyro_span_kind_name(enum pyro_span_kind kind);        /* "gc-pause" */
const char *pyro_sample_event_name(enum pyro_sample_event event); /* "cpu" */
const char *pyro_sample_event_unit(enum pyro_sample_event event); /* "samples", "ns", "bytes" */
const char *pyro_thread_state_name(enum pyro_thread_state state); /* "running" */

/* Rows that one table keeps; more are counted by pyro_tracks_dropped(). */
enum { PYRO_TRACK_ROWS_MAX = 16 << 20 };

/* ---- Filling: each returns the row's id, or -1 when there is no memory ---- */

struct pyro_tracks *pyro_tracks_new(const struct pyro_allocator *allocator);
void pyro_tracks_free(struct pyro_tracks *tracks);

int32_t pyro_tracks_add_artefact(struct pyro_tracks *tracks, const struct pyro_artefact_row *row);
/* The row, to be completed until the tracks are sealed; its texts must be interned by pyro_tracks_text() or be
 * literals. The same of a clock. */
struct pyro_artefact_row *pyro_tracks_artefact_edit(struct pyro_tracks *tracks, int32_t artefact);
int32_t pyro_tracks_add_clock(struct pyro_tracks *tracks, const struct pyro_clock_row *row);
struct pyro_clock_row *pyro_tracks_clock_edit(struct pyro_tracks *tracks, int32_t clock);
/* Rows with equal texts, parent, pid and tid are one. */
int32_t pyro_tracks_add_thread(struct pyro_tracks *tracks, const struct pyro_thread_row *row);
int32_t pyro_tracks_add_series(struct pyro_tracks *tracks, const struct pyro_series_row *row);
/* Equal frames are one, and so are equal stacks. */
int32_t pyro_tracks_add_frame(struct pyro_tracks *tracks, const struct pyro_frame_row *row);
int32_t pyro_tracks_add_stack(struct pyro_tracks *tracks, int32_t parent, int32_t frame);
int32_t pyro_tracks_add_template(struct pyro_tracks *tracks, const struct pyro_template_row *row);
/* The pool of all their texts, to set its gate (base/strings/intern.h). */
struct pyro_string_pool *pyro_tracks_strings(struct pyro_tracks *tracks);
/* A copy of the text in the tracks' pool; a null slice with a length when there is no memory. */
struct pyro_slice pyro_tracks_text(struct pyro_tracks *tracks, struct pyro_slice text);

/* ---- Filling rows that come in millions: false when there is no memory ---- */

bool pyro_tracks_add_owner(struct pyro_tracks *tracks, const struct pyro_owner_row *row);
bool pyro_tracks_add_span(struct pyro_tracks *tracks, const struct pyro_span_row *row);
bool pyro_tracks_add_point(struct pyro_tracks *tracks, const struct pyro_point_row *row);
bool pyro_tracks_add_sample(struct pyro_tracks *tracks, const struct pyro_sample_row *row);
bool pyro_tracks_add_message(struct pyro_tracks *tracks, const struct pyro_message_row *row);
bool pyro_tracks_add_function(struct pyro_tracks *tracks, const struct pyro_function_row *row);
bool pyro_tracks_add_task_state(struct pyro_tracks *tracks, const struct pyro_task_state_row *row);
bool pyro_tracks_add_task_wait(struct pyro_tracks *tracks, const struct pyro_task_wait_row *row);
bool pyro_tracks_add_thread_time(struct pyro_tracks *tracks, const struct pyro_thread_time_row *row);
bool pyro_tracks_add_trace_event(struct pyro_tracks *tracks, const struct pyro_trace_event_row *row);
bool pyro_tracks_add_trace_call(struct pyro_tracks *tracks, const struct pyro_trace_call_row *row);
bool pyro_tracks_add_trace_loss(struct pyro_tracks *tracks, const struct pyro_trace_loss_row *row);

/* Sorts by time. Reading needs sealed tracks. */
bool pyro_tracks_seal(struct pyro_tracks *tracks);

/* Adds owners to sealed tracks: what follows from their other rows. False: no memory, and nothing changed. */
bool pyro_tracks_add_owners(struct pyro_tracks *tracks, const struct pyro_owner_row *rows, size_t count);

/* ---- Reading ---- */

enum pyro_track_table {
    PYRO_TRACK_ARTEFACTS,
    PYRO_TRACK_CLOCKS,
    PYRO_TRACK_THREADS,
    PYRO_TRACK_OWNERS,
    PYRO_TRACK_SPANS,
    PYRO_TRACK_SERIES,
    PYRO_TRACK_POINTS,
    PYRO_TRACK_FRAMES,
    PYRO_TRACK_STACKS,
    PYRO_TRACK_SAMPLES,
    PYRO_TRACK_TEMPLATES,
    PYRO_TRACK_MESSAGES,
    PYRO_TRACK_FUNCTIONS,
    PYRO_TRACK_TASK_STATES,
    PYRO_TRACK_TASK_WAITS,
    PYRO_TRACK_THREAD_TIMES,
    PYRO_TRACK_TRACE_EVENTS,
    PYRO_TRACK_TRACE_CALLS,
    PYRO_TRACK_TRACE_LOSSES,
    PYRO_TRACK_TABLES
};
size_t pyro_tracks_count(const struct pyro_tracks *tracks, enum pyro_track_table table);
/* Rows that were added when the table was full. */
uint64_t pyro_tracks_dropped(const struct pyro_tracks *tracks, enum pyro_track_table table);

/* `row` < count. */
const struct pyro_artefact_row *pyro_tracks_artefact(const struct pyro_tracks *tracks, size_t row);
const struct pyro_clock_row *pyro_tracks_clock(const struct pyro_tracks *tracks, size_t row);
const struct pyro_thread_row *pyro_tracks_thread(const struct pyro_tracks *tracks, size_t row);
const struct pyro_series_row *pyro_tracks_series(const struct pyro_tracks *tracks, size_t row);
const struct pyro_frame_row *pyro_tracks_frame(const struct pyro_tracks *tracks, size_t row);
struct pyro_stack_row pyro_tracks_stack(const struct pyro_tracks *tracks, size_t row);
const struct pyro_template_row *pyro_tracks_template(const struct pyro_tracks *tracks, size_t row);
struct pyro_owner_row pyro_tracks_owner(const struct pyro_tracks *tracks, size_t row);
struct pyro_span_row pyro_tracks_span(const struct pyro_tracks *tracks, size_t row);
struct pyro_point_row pyro_tracks_point(const struct pyro_tracks *tracks, size_t row);
struct pyro_sample_row pyro_tracks_sample(const struct pyro_tracks *tracks, size_t row);
struct pyro_message_row pyro_tracks_message(const struct pyro_tracks *tracks, size_t row);
struct pyro_function_row pyro_tracks_function(const struct pyro_tracks *tracks, size_t row);
struct pyro_task_state_row pyro_tracks_task_state(const struct pyro_tracks *tracks, size_t row);
struct pyro_task_wait_row pyro_tracks_task_wait(const struct pyro_tracks *tracks, size_t row); /* by task */
struct pyro_thread_time_row pyro_tracks_thread_time(const struct pyro_tracks *tracks, size_t row);
struct pyro_trace_event_row pyro_tracks_trace_event(const struct pyro_tracks *tracks, size_t row);
struct pyro_trace_call_row pyro_tracks_trace_call(const struct pyro_tracks *tracks, size_t row);
struct pyro_trace_loss_row pyro_tracks_trace_loss(const struct pyro_tracks *tracks, size_t row);
/* Rows of task_waits of a task: [*ret_first, *ret_first + count). */
size_t pyro_tracks_waits_of(const struct pyro_tracks *tracks, int64_t task, size_t *ret_first);
/* Who a thread worked for at a time; false: not known. */
bool pyro_tracks_owner_at(const struct pyro_tracks *tracks, int32_t thread, int64_t time_ns,
                          struct pyro_owner_row *ret);

#endif
