/* The events that are decoded, each with the fields that it is asked for, and what becomes of them. Names and fields
 * are those of the JDK and of async-profiler; fields that a version does not have stay unset. */
#include <stdio.h>
#include <string.h>

#include "base/numbers/saturate.h"
#include "decode/profiling/jfr/chunk.h"

/* The first fields of every event that has them. */
enum { START, DURATION, THREAD, STACK, FIRST, SECOND, THIRD, FOURTH, FIELDS };

typedef bool take_event(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values);

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static bool contains(struct pyro_slice text, const char *word)
{
    return text.ptr && pyro_slice_find(text, word) != NULL;
}

static enum pyro_thread_state state_of(struct pyro_slice state)
{
    if (contains(state, "RUNNABLE"))
        return PYRO_STATE_RUNNING;
    if (contains(state, "BLOCKED"))
        return PYRO_STATE_BLOCKED;
    if (contains(state, "SLEEP") || contains(state, "WAIT") || contains(state, "PARK"))
        return PYRO_STATE_WAITING;
    return PYRO_STATE_UNKNOWN;
}

static bool add_sample(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, int32_t stack,
                       enum pyro_sample_event event, enum pyro_thread_state state, int64_t weight)
{
    const struct pyro_sample_row row = {
        .thread = pyro_jfr_thread_row(chunk, &values[THREAD]),
        .stack = stack,
        .time_ns = pyro_jfr_time(chunk, &values[START]),
        .event = event,
        .state = state,
        .weight = weight,
    };
    return row.thread >= 0 && !chunk->no_memory && pyro_profile_sample(chunk->reading, &row);
}

static bool take_execution(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    enum pyro_thread_state state = state_of(pyro_jfr_text(chunk, &values[FIRST]));
    bool waiting = state == PYRO_STATE_WAITING || state == PYRO_STATE_BLOCKED; /* async-profiler 2 and 3 */
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]),
                      waiting ? PYRO_SAMPLE_WALL : PYRO_SAMPLE_CPU, state, 1);
}

static bool take_native(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]), PYRO_SAMPLE_WALL, PYRO_STATE_NATIVE, 1);
}

static bool take_wall_clock(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    enum pyro_thread_state state = state_of(pyro_jfr_text(chunk, &values[FIRST]));
    int64_t count = values[SECOND].set && values[SECOND].number > 0 ? values[SECOND].number : 1;
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]), PYRO_SAMPLE_WALL, state, count);
}

/* JDK 25: of the time on a CPU, in native code too. One whose stack could not be walked has none. */
static bool take_cpu_time(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]), PYRO_SAMPLE_CPU, PYRO_STATE_RUNNING, 1);
}

static bool take_lost(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    chunk->reading->facts->lost += values[FIRST].number > 0 ? (uint64_t)values[FIRST].number : 0;
    return true;
}

/* FIRST: the class; SECOND: bytes. */
static bool take_live(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int32_t stack = pyro_jfr_stack_of_class(chunk, pyro_jfr_stack_row(chunk, &values[STACK]), &values[FIRST]);
    return add_sample(chunk, values, stack, PYRO_SAMPLE_LIVE, PYRO_STATE_UNKNOWN, values[SECOND].number);
}

/* FIRST: bytes. */
static bool take_malloc(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]), PYRO_SAMPLE_MALLOC, PYRO_STATE_NATIVE,
                      values[FIRST].number);
}

/* FIRST: the class; SECOND: bytes. */
static bool take_allocation(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int32_t stack = pyro_jfr_stack_of_class(chunk, pyro_jfr_stack_row(chunk, &values[STACK]), &values[FIRST]);
    return add_sample(chunk, values, stack, PYRO_SAMPLE_ALLOC, PYRO_STATE_RUNNING, values[SECOND].number);
}

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static bool add_span(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, enum pyro_span_kind kind,
                     struct pyro_slice name, int64_t value)
{
    int64_t duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    const struct pyro_span_row row = {
        .thread = pyro_jfr_thread_row(chunk, &values[THREAD]),
        .parent = -1,
        .kind = kind,
        .name = name,
        .start_ns = pyro_jfr_time(chunk, &values[START]),
        .duration_ns = duration_ns == PYRO_NONE ? 0 : duration_ns,
        .value = value,
    };
    return row.thread >= 0 && !chunk->no_memory && pyro_profile_span(chunk->reading, &row);
}

/* A span and, where the event has a stack, a sample that weighs its nanoseconds. */
static bool add_wait(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, enum pyro_span_kind kind,
                     struct pyro_slice name, int64_t value)
{
    int64_t duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    int32_t stack = pyro_jfr_stack_row(chunk, &values[STACK]);
    return add_span(chunk, values, kind, name, value) &&
           (stack < 0 || duration_ns == PYRO_NONE ||
            add_sample(chunk, values, stack, PYRO_SAMPLE_WAIT, PYRO_STATE_WAITING, duration_ns));
}

/* FIRST: the monitor's class. */
static bool take_lock(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int64_t duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    int32_t stack = pyro_jfr_stack_row(chunk, &values[STACK]);
    struct pyro_slice name = pyro_jfr_class_name(chunk, &values[FIRST]);
    return add_sample(chunk, values, stack, PYRO_SAMPLE_LOCK, PYRO_STATE_BLOCKED,
                      duration_ns == PYRO_NONE ? 0 : duration_ns) &&
           add_span(chunk, values, PYRO_SPAN_LOCK_WAIT, name, PYRO_NONE);
}

/* A lock of native code (pthread), which has no class. */
static bool take_native_lock(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int64_t duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    return add_sample(chunk, values, pyro_jfr_stack_row(chunk, &values[STACK]), PYRO_SAMPLE_LOCK, PYRO_STATE_BLOCKED,
                      duration_ns == PYRO_NONE ? 0 : duration_ns) &&
           add_span(chunk, values, PYRO_SPAN_LOCK_WAIT, PYRO_SLICE_NULL, PYRO_NONE);
}

static bool take_wait(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_wait(chunk, values, PYRO_SPAN_MONITOR_WAIT, pyro_jfr_class_name(chunk, &values[FIRST]), PYRO_NONE);
}

static bool take_park(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_wait(chunk, values, PYRO_SPAN_PARK, pyro_jfr_class_name(chunk, &values[FIRST]), PYRO_NONE);
}

static bool take_sleep(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_wait(chunk, values, PYRO_SPAN_SLEEP, PYRO_SLICE_NULL, PYRO_NONE);
}

/* FIRST: the path; SECOND: bytes. */
static bool take_file_read(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_wait(chunk, values, PYRO_SPAN_FILE_READ, pyro_jfr_text(chunk, &values[FIRST]), values[SECOND].number);
}

static bool take_file_write(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_wait(chunk, values, PYRO_SPAN_FILE_WRITE, pyro_jfr_text(chunk, &values[FIRST]), values[SECOND].number);
}

/* FIRST: the host; SECOND: bytes; THIRD: the port; FOURTH: the address. */
static bool take_socket(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, enum pyro_span_kind kind)
{
    struct pyro_slice host = pyro_jfr_text(chunk, &values[FIRST]);
    if (host.len == 0)
        host = pyro_jfr_text(chunk, &values[FOURTH]);
    pyro_strbuf_clear(&chunk->scratch);
    pyro_strbuf_add_slice(&chunk->scratch, host);
    pyro_strbuf_printf(&chunk->scratch, ":%lld", (long long)values[THIRD].number);
    struct pyro_slice name = pyro_intern_slice(chunk->reading->texts, pyro_strbuf_slice(&chunk->scratch));
    chunk->no_memory |= !name.ptr || chunk->scratch.failed;
    return add_wait(chunk, values, kind, name, values[SECOND].number);
}

static bool take_socket_read(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return take_socket(chunk, values, PYRO_SPAN_SOCKET_READ);
}

static bool take_socket_write(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return take_socket(chunk, values, PYRO_SPAN_SOCKET_WRITE);
}

/* FIRST: the tag. Those of Spark's profilers say whose work the thread did. */
static bool take_profiler_span(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    struct pyro_slice tag = pyro_jfr_text(chunk, &values[FIRST]);
    struct pyro_profile_task task;
    if (!pyro_profile_task_of_tag(tag, &task))
        return add_span(chunk, values, PYRO_SPAN_PROFILER_SPAN, tag, PYRO_NONE);
    int64_t start_ns = pyro_jfr_time(chunk, &values[START]), duration_ns = pyro_jfr_duration(chunk, &values[DURATION]);
    int32_t thread = pyro_jfr_thread_row(chunk, &values[THREAD]);
    return thread >= 0 && add_span(chunk, values, PYRO_SPAN_TASK, tag, task.task) &&
           pyro_profile_owned(chunk->reading, thread, &task, start_ns,
                              duration_ns == PYRO_NONE || start_ns == PYRO_NONE
                                  ? PYRO_NONE
                                  : pyro_add_saturating(start_ns, duration_ns));
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool add_point(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values, int32_t thread,
                      enum pyro_profile_series series, double value)
{
    return pyro_profile_point(chunk->reading, thread, series, PYRO_SLICE_NULL, pyro_jfr_time(chunk, &values[START]),
                              value);
}

/* FIRST: of the JVM's own code; SECOND: of the kernel for the JVM; THIRD: of the machine. */
static bool take_cpu_load(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    return add_point(chunk, values, chunk->process, PYRO_PROFILE_CPU_PROCESS,
                     values[FIRST].real + values[SECOND].real) &&
           add_point(chunk, values, chunk->process, PYRO_PROFILE_CPU_PROCESS_SYSTEM, values[SECOND].real) &&
           add_point(chunk, values, chunk->process, PYRO_PROFILE_CPU_SYSTEM, values[THIRD].real);
}

static bool take_thread_load(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    int32_t thread = pyro_jfr_thread_row(chunk, &values[THREAD]);
    return thread >= 0 && !chunk->no_memory &&
           add_point(chunk, values, thread, PYRO_PROFILE_CPU_THREAD_USER, values[FIRST].real) &&
           add_point(chunk, values, thread, PYRO_PROFILE_CPU_THREAD_SYSTEM, values[SECOND].real);
}

/* Comes before all others: see pyro_jfr_bind_events(). FIRST: the process id. */
static bool take_jvm(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *values)
{
    if (values[FIRST].set && values[FIRST].number > 0)
        chunk->pid = values[FIRST].number;
    return true;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

#define EXECUTION_SAMPLE "jdk.ExecutionSample"
#define CPU_TIME_SAMPLE  "jdk.CPUTimeSample"

static const struct {
    const char *name;
    take_event *take;
    const char *fields[FIELDS];
} kinds[] = {
    {"jdk.JVMInformation", take_jvm, {[FIRST] = "pid"}},
    {EXECUTION_SAMPLE, take_execution, {"startTime", NULL, "sampledThread", "stackTrace", "state"}},
    {"jdk.NativeMethodSample", take_native, {"startTime", NULL, "sampledThread", "stackTrace", "state"}},
    {"profiler.WallClockSample",
     take_wall_clock,
     {"startTime", NULL, "sampledThread", "stackTrace", "state", "samples"}},
    {"jdk.ObjectAllocationSample",
     take_allocation,
     {"startTime", NULL, "eventThread", "stackTrace", "objectClass", "weight"}},
    {"jdk.ObjectAllocationInNewTLAB",
     take_allocation,
     {"startTime", NULL, "eventThread", "stackTrace", "objectClass", "tlabSize"}},
    {"jdk.ObjectAllocationOutsideTLAB",
     take_allocation,
     {"startTime", NULL, "eventThread", "stackTrace", "objectClass", "allocationSize"}},
    {"jdk.GarbageCollection", pyro_jfr_take_collection, {"startTime", "duration", NULL, NULL, "gcId", "name", "cause"}},
    {"jdk.GCPhasePause", pyro_jfr_take_pause, {"startTime", "duration", NULL, NULL, "gcId", "name"}},
    {"jdk.GCHeapSummary",
     pyro_jfr_take_heap,
     {"startTime", NULL, NULL, NULL, "gcId", "when", "heapUsed", "heapSpace.committedSize"}},
    {"jdk.CPULoad", take_cpu_load, {"startTime", NULL, NULL, NULL, "jvmUser", "jvmSystem", "machineTotal"}},
    {"jdk.ThreadCPULoad", take_thread_load, {"startTime", NULL, "eventThread", NULL, "user", "system"}},
    {"jdk.JavaMonitorEnter", take_lock, {"startTime", "duration", "eventThread", "stackTrace", "monitorClass"}},
    {"jdk.JavaMonitorWait", take_wait, {"startTime", "duration", "eventThread", "stackTrace", "monitorClass"}},
    {"jdk.ThreadPark", take_park, {"startTime", "duration", "eventThread", "stackTrace", "parkedClass"}},
    {"jdk.ThreadSleep", take_sleep, {"startTime", "duration", "eventThread", "stackTrace"}},
    {"jdk.FileRead", take_file_read, {"startTime", "duration", "eventThread", "stackTrace", "path", "bytesRead"}},
    {"jdk.FileWrite", take_file_write, {"startTime", "duration", "eventThread", "stackTrace", "path", "bytesWritten"}},
    {"jdk.SocketRead",
     take_socket_read,
     {"startTime", "duration", "eventThread", "stackTrace", "host", "bytesRead", "port", "address"}},
    {"jdk.SocketWrite",
     take_socket_write,
     {"startTime", "duration", "eventThread", "stackTrace", "host", "bytesWritten", "port", "address"}},
    {"profiler.Span", take_profiler_span, {"startTime", "duration", "eventThread", NULL, "*"}},
    {CPU_TIME_SAMPLE, take_cpu_time, {"startTime", NULL, "eventThread", "stackTrace"}},
    {"jdk.CPUTimeSamplesLost", take_lost, {[FIRST] = "lostSamples"}},
    {"profiler.LiveObject",
     take_live,
     {"startTime", NULL, "eventThread", "stackTrace", "objectClass", "allocationSize"}},
    {"profiler.Malloc", take_malloc, {"startTime", NULL, "eventThread", "stackTrace", "size"}},
    {"profiler.NativeLock", take_native_lock, {"startTime", "duration", "eventThread", "stackTrace"}},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
_Static_assert((int)KINDS <= (int)PYRO_JFR_EVENT_KINDS, "PYRO_JFR_EVENT_KINDS is too small");
_Static_assert((int)FIELDS <= (int)PYRO_JFR_SLOTS, "PYRO_JFR_SLOTS is too small");

/* Decodes one event by the row of its kind. */
static bool take(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_event *event, size_t kind)
{
    struct pyro_jfr_value values[PYRO_JFR_SLOTS] = {{.set = false}};
    struct pyro_jfr_cursor cursor = event->body;
    if (!pyro_jfr_run(&chunk->kinds[kind], &cursor, values, NULL, NULL)) {
        chunk->reading->facts->rejected++;
        return true;
    }
    chunk->reading->facts->records++;
    return kinds[kind].take(chunk, values) && !chunk->no_memory;
}

/* What the JVM says of itself may follow the samples, and all threads need its process id. */
static bool find_process(struct pyro_jfr_chunk *chunk, int64_t type)
{
    struct pyro_jfr_event event;
    for (size_t at = PYRO_JFR_HEADER; pyro_jfr_event_at(chunk, at, &event); at = event.next)
        if (event.type == type && chunk->kinds[0].usable && !take(chunk, &event, 0))
            return false;
    return true;
}

/* ---- Samples that are not read ----------------------------------------------------------------------------------- */

static bool is_sample_kind(struct pyro_slice name)
{
    static const char *const others[] = {"profiler.Log", "profiler.Window", "profiler.UserEvent", "profiler.Free"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (pyro_slice_is(name, others[i]))
            return false;
    return pyro_slice_ends_with(name, "Sample") || pyro_slice_starts_with(name, "profiler.") ||
           pyro_slice_is(name, "jdk.MethodTrace");
}

/* Notes that events of the type are only counted, by its name. False: no memory. */
static bool count_unread(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_type *type, const char *why)
{
    struct pyro_profile_facts *facts = chunk->reading->facts;
    char name[sizeof(facts->unread->name)];
    size_t i = 0;
    snprintf(name, sizeof(name), "%.*s%s", (int)type->name.len, type->name.ptr, why);
    while (i < facts->unread_count && strcmp(facts->unread[i].name, name) != 0)
        i++;
    if (i == PYRO_UNREAD_KINDS)
        return true;
    if (i == facts->unread_count) {
        memcpy(facts->unread[i].name, name, sizeof(name));
        facts->unread[facts->unread_count++].count = 0;
    }
    uint64_t *row = pyro_map_put(&chunk->kind_of, (uint64_t)type->id, NULL);
    if (row)
        *row = KINDS + 1 + i;
    return row != NULL;
}

static bool has_event(const struct pyro_jfr_chunk *chunk, const char *name)
{
    const struct pyro_jfr_type *type = pyro_jfr_type_by_name(chunk->types, name);
    struct pyro_jfr_event event;
    for (size_t at = PYRO_JFR_HEADER; type && pyro_jfr_event_at(chunk, at, &event); at = event.next)
        if (event.type == type->id)
            return true;
    return false;
}

/* A JVM that takes both kinds of samples counts the same time twice: those of CPU time are the better ones. */
static bool bind_unread(struct pyro_jfr_chunk *chunk)
{
    bool both = has_event(chunk, CPU_TIME_SAMPLE);
    for (size_t i = 0; i < chunk->types->types.count; i++) {
        const struct pyro_jfr_type *type = &chunk->types->types.items[i];
        bool known = pyro_map_get(&chunk->kind_of, (uint64_t)type->id) != NULL;
        bool twice = both && pyro_slice_is(type->name, EXECUTION_SAMPLE);
        if ((twice || (!known && is_sample_kind(type->name))) &&
            !count_unread(chunk, type, twice ? ", measured by " CPU_TIME_SAMPLE : ""))
            return false;
    }
    return true;
}

bool pyro_jfr_bind_events(struct pyro_jfr_chunk *chunk)
{
    for (size_t i = 0; i < KINDS; i++) {
        const struct pyro_jfr_type *type = pyro_jfr_type_by_name(chunk->types, kinds[i].name);
        if (!type)
            continue;
        if (!pyro_jfr_compile(chunk->types, type, kinds[i].fields, FIELDS, &chunk->kinds[i]))
            return false;
        uint64_t *row = chunk->kinds[i].usable ? pyro_map_put(&chunk->kind_of, (uint64_t)type->id, NULL) : NULL;
        if (!row && chunk->kinds[i].usable)
            return false;
        if (row)
            *row = i + 1;
        if (i == 0 && chunk->pid == PYRO_NONE && !find_process(chunk, type->id))
            return false;
    }
    if (!bind_unread(chunk))
        return false;
    const struct pyro_profile_process process = {.pid = chunk->pid, .role = "jvm"};
    chunk->process = pyro_profile_process_row(chunk->reading, &process);
    return chunk->process >= 0;
}

bool pyro_jfr_take_event(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_event *event)
{
    const uint64_t *row = pyro_map_get(&chunk->kind_of, (uint64_t)event->type);
    if (row && *row > KINDS)
        chunk->reading->facts->unread[*row - KINDS - 1].count++;
    else if (row && *row > 1)
        return take(chunk, event, (size_t)(*row - 1));
    chunk->reading->facts->other += !row || *row > KINDS;
    return true;
}
