/* Stacks with their counts: {"stacktrace": [innermost, ..., outermost], "count": 12, ...}. A record of a Python worker
 * ends one interval of the profiler after its last sample. */
#include <string.h>

#include "base/json/unescape.h"
#include "decode/profiling/native_waits.h"
#include "decode/profiling/profile_records.h"

/* Those of Uber's profiler come first, then those that only Python workers have. */
PYRO_JSON_KEYS(stack_keys, (STACK_FRAMES, "stacktrace"), (STACK_END, "endEpoch"), (STACK_HOST, "host"),
               (STACK_NAME, "name"), (STACK_STATE, "threadState"), (STACK_COUNT, "count"), (STACK_START, "startEpoch"),
               (STACK_THREAD, "threadName"), (STACK_ROLE, "role"), (STACK_FIRST, "epochMillis"),
               (STACK_LAST, "lastEpochMillis"), (STACK_INTERVAL, "intervalMillis"), (STACK_PID, "pid"),
               (STACK_TASK, "taskAttemptId"), (STACK_STAGE, "stageId"), (STACK_CPU, "cpuMillis"));

struct stack_record {
    struct pyro_slice frames, host, name, state, thread, role;
    double start, end, interval, cpu; /* ms; cpu: of the thread during all samples of the record */
    int64_t count, pid, task, stage;
};

static void take_member(struct pyro_profile_records *records, struct pyro_json_reader *json, int key,
                        struct stack_record *record)
{
    switch (key) {
    case STACK_FRAMES:
        pyro_json_take_raw_fast(json, &record->frames);
        break;
    case STACK_HOST:
        record->host = pyro_profile_take_text(records, json);
        break;
    case STACK_NAME:
        record->name = pyro_profile_take_text(records, json);
        break;
    case STACK_STATE:
        record->state = pyro_profile_take_text(records, json);
        break;
    case STACK_THREAD:
        record->thread = pyro_profile_take_text(records, json);
        break;
    case STACK_ROLE:
        record->role = pyro_profile_take_text(records, json);
        break;
    case STACK_START:
    case STACK_FIRST:
        pyro_profile_take_number(json, &record->start);
        break;
    case STACK_INTERVAL:
        pyro_profile_take_number(json, &record->interval);
        break;
    case STACK_CPU:
        pyro_profile_take_number(json, &record->cpu);
        break;
    case STACK_END:
    case STACK_LAST:
        pyro_profile_take_number(json, &record->end);
        break;
    case STACK_COUNT:
        pyro_json_take_int(json, &record->count);
        break;
    case STACK_PID:
        pyro_json_take_loose_int(json, &record->pid);
        break;
    case STACK_TASK:
        pyro_json_take_loose_int(json, &record->task);
        break;
    case STACK_STAGE:
        pyro_json_take_loose_int(json, &record->stage);
        break;
    default:
        pyro_json_skip(json);
    }
}

/* ---- The stack --------------------------------------------------------------------------------------------------- */

/* Collects the frames of the array, innermost first, escapes not decoded. */
static bool list_frames(struct pyro_profile_records *records, struct pyro_slice array)
{
    struct pyro_json_reader json;
    bool first = true;
    records->frames.count = 0;
    pyro_json_reader_start(&json, array.ptr, array.ptr + array.len, records->scan);
    if (!pyro_json_enter_array(&json))
        return false;
    while (pyro_json_next_element(&json, &first)) {
        struct pyro_slice frame = PYRO_SLICE_NULL;
        if (!pyro_json_take_string(&json, &frame, NULL))
            break;
        if (!pyro_vec_reserve(&records->frames, 1, records->reading->allocator)) {
            records->no_memory = true;
            return false;
        }
        records->frames.items[records->frames.count++] = frame.ptr ? frame : PYRO_SLICE_LITERAL("");
    }
    return !json.error;
}

/* The stack of the collected frames, -1 for none of them. */
static int32_t add_frames(struct pyro_profile_records *records, struct pyro_slice language)
{
    struct pyro_profile_reading *reading = records->reading;
    struct pyro_strbuf text;
    size_t count = records->frames.count;
    int32_t stack = -1;
    pyro_strbuf_init(&text, reading->allocator);
    if (count > PYRO_PROFILE_DEPTH) {
        count = PYRO_PROFILE_DEPTH;
        reading->facts->stacks_cut++;
    }
    for (size_t i = count; i-- > 0 && !records->no_memory;) {
        pyro_strbuf_clear(&text);
        pyro_text_decode(&text, records->frames.items[i], NULL);
        int32_t frame = text.failed ? -1 : pyro_profile_frame_row(reading, pyro_strbuf_slice(&text), language);
        stack = frame < 0 ? -1 : pyro_tracks_add_stack(reading->tracks, stack, frame);
        records->no_memory = stack < 0;
    }
    pyro_strbuf_done(&text);
    return stack;
}

/* A profiler writes the same few stacks again and again: the text of a known one is not decoded. */
static bool stack_of(struct pyro_profile_records *records, struct pyro_slice array, struct pyro_slice language,
                     int32_t *ret)
{
    enum { UNKNOWN = -2, KNOWN_BYTES = 64 << 20 };
    uint32_t number = UINT32_MAX;
    if (pyro_string_pool_bytes(records->known) < KNOWN_BYTES) {
        number = pyro_intern(records->known, array);
        records->no_memory |= number == UINT32_MAX;
        while (!records->no_memory && records->stacks.count <= number) {
            if (!pyro_vec_reserve(&records->stacks, 1, records->reading->allocator))
                records->no_memory = true;
            else
                records->stacks.items[records->stacks.count++] = UNKNOWN;
        }
    }
    if (records->no_memory)
        return false;
    if (number != UINT32_MAX && records->stacks.items[number] != UNKNOWN) {
        *ret = records->stacks.items[number];
        return true;
    }
    if (!list_frames(records, array))
        return false;
    *ret = add_frames(records, language);
    if (number != UINT32_MAX)
        records->stacks.items[number] = *ret;
    return !records->no_memory;
}

/* ---- The record -------------------------------------------------------------------------------------------------- */

static enum pyro_thread_state state_of(struct pyro_slice state)
{
    if (!state.ptr)
        return PYRO_STATE_UNKNOWN;
    if (pyro_slice_is(state, "RUNNABLE"))
        return PYRO_STATE_RUNNING;
    return pyro_slice_is(state, "BLOCKED") ? PYRO_STATE_BLOCKED : PYRO_STATE_WAITING;
}

/* A thread that polls a socket is RUNNABLE to the JVM. Only names are compared, which have no escapes. */
static bool waits_in_native_code(struct pyro_slice frames)
{
    const char *begin = frames.ptr ? memchr(frames.ptr, '"', frames.len) : NULL;
    const char *end = begin ? memchr(begin + 1, '"', (size_t)(frames.ptr + frames.len - begin - 1)) : NULL;
    return end && pyro_is_native_wait((struct pyro_slice){begin + 1, (size_t)(end - begin - 1)});
}

/* The executor's own thread keeps the name of its last task while it is idle: only inside of a task's run() it is at
 * work for it. */
static bool owner_of(const struct stack_record *record, struct pyro_profile_task *ret)
{
    if (record->task != PYRO_NONE || record->stage != PYRO_NONE) {
        *ret = (struct pyro_profile_task){record->task, record->stage, PYRO_NONE, "named"};
        return true;
    }
    return pyro_profile_task_of_name(record->thread, ret) && pyro_slice_find(record->frames, "$TaskRunner");
}

/* Adds the samples; where the record has the CPU time of its thread, as many as that makes ran, and the rest waited. */
static bool add_counted(struct pyro_profile_records *records, const struct stack_record *record,
                        struct pyro_sample_row *row)
{
    bool known = record->state.ptr == NULL && record->interval > 0 && record->cpu >= 0;
    double ran = known ? record->cpu / record->interval + 0.5 : 0;
    int64_t running = ran < (double)record->count ? (int64_t)ran : record->count;
    if (!known)
        return pyro_profile_sample(records->reading, row);
    row->state = PYRO_STATE_RUNNING;
    row->weight = running;
    if (running > 0 && !pyro_profile_sample(records->reading, row))
        return false;
    row->state = PYRO_STATE_WAITING;
    row->weight = record->count - running;
    return row->weight <= 0 || pyro_profile_sample(records->reading, row);
}

static bool add_sample(struct pyro_profile_records *records, const struct stack_record *record, int32_t stack)
{
    struct pyro_profile_reading *reading = records->reading;
    bool java = record->thread.ptr || record->state.ptr;
    int64_t start_ns = pyro_profile_ns(record->start), end_ns = pyro_profile_ns(record->end + record->interval);
    struct pyro_profile_process process = {
        .host = record->host,
        .pid = record->pid != PYRO_NONE ? record->pid : pyro_profile_pid_of_name(record->name),
        .role = !java                                                       ? "python-worker"
                : record->role.ptr && pyro_slice_is(record->role, "driver") ? "driver"
                                                                            : "jvm",
    };
    int32_t thread = java ? pyro_profile_thread_row(reading, &process, record->thread, PYRO_NONE)
                          : pyro_profile_process_row(reading, &process);
    enum pyro_thread_state state = state_of(record->state);
    if (state == PYRO_STATE_RUNNING && waits_in_native_code(record->frames))
        state = PYRO_STATE_WAITING;
    struct pyro_sample_row row = {
        .thread = thread,
        .stack = stack,
        .time_ns = start_ns,
        .event = state == PYRO_STATE_RUNNING ? PYRO_SAMPLE_CPU : PYRO_SAMPLE_WALL,
        .state = state,
        .weight = record->count,
    };
    struct pyro_profile_task task;
    return thread >= 0 && add_counted(records, record, &row) &&
           (!owner_of(record, &task) || pyro_profile_owned(reading, thread, &task, start_ns, end_ns));
}

void pyro_profile_stack_record(struct pyro_profile_records *records, struct pyro_json_reader *json)
{
    struct stack_record record = {
        .start = PYRO_PROFILE_NO_NUMBER,
        .end = PYRO_PROFILE_NO_NUMBER,
        .cpu = PYRO_PROFILE_NO_NUMBER,
        .pid = PYRO_NONE,
        .task = PYRO_NONE,
        .stage = PYRO_NONE,
        .count = PYRO_NONE,
    };
    struct pyro_json_object object;
    int32_t stack = -1;
    if (!pyro_json_enter_object(json, &object)) {
        pyro_json_refuse(json, "not a record");
        return;
    }
    for (int key; (key = PYRO_JSON_NEXT(json, &object, stack_keys)) != PYRO_JSON_END;)
        take_member(records, json, key, &record);
    if (json->error || !pyro_json_record_end(json))
        return;
    struct pyro_slice language =
        record.thread.ptr || record.state.ptr ? PYRO_SLICE_LITERAL("java") : PYRO_SLICE_LITERAL("python");
    if (!record.frames.ptr || record.count < 0 || !stack_of(records, record.frames, language, &stack))
        pyro_json_refuse(json, "neither frames nor a count");
    else
        records->no_memory |= !add_sample(records, &record, stack);
}
