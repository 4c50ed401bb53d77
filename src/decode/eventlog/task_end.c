/* SparkListenerTaskEnd and SparkListenerTaskStart: nine tenths of an event log.
 *
 * Why it is fast: keys are compared with the one Spark writes next, integers go straight to their column, and the
 * accumulables, two thirds of the bytes, are passed over 64 at a time. */
#include "decode/eventlog/task_events.h"

/* An object whose members are integers or such objects: key by key the column it goes to, or which object it is. */
struct int_members {
    const struct pyro_json_key *keys;
    const unsigned char *columns;
    unsigned count;
};

/* Instead of a column. */
enum member_object { PUSH_BASED = PYRO_TASK_COLUMN_COUNT, SHUFFLE_READ, SHUFFLE_WRITE, INPUT, OUTPUT, UPDATED_BLOCKS };
_Static_assert(UPDATED_BLOCKS <= UINT8_MAX, "what a member goes to fits a byte");

/* INT_MEMBERS(name, ("key", column), ...) */
#define INT_MEMBERS(name, ...)                                                                                         \
    static const struct pyro_json_key name##_keys[] = {PYRO_EACH(MEMBER_KEY, __VA_ARGS__)};                            \
    static const unsigned char name##_columns[] = {PYRO_EACH(MEMBER_COLUMN, __VA_ARGS__)};                             \
    static const struct int_members name = {name##_keys, name##_columns, sizeof(name##_columns)}
#define MEMBER_KEY(key, column)    PYRO_JSON_KEY(key),
#define MEMBER_COLUMN(key, column) column,

INT_MEMBERS(shuffle_read, ("Remote Blocks Fetched", PYRO_TASK_shuffle_remote_blocks),
            ("Local Blocks Fetched", PYRO_TASK_shuffle_local_blocks), ("Fetch Wait Time", PYRO_TASK_fetch_wait_ms),
            ("Remote Bytes Read", PYRO_TASK_shuffle_remote_bytes),
            ("Remote Bytes Read To Disk", PYRO_TASK_shuffle_remote_to_disk_bytes),
            ("Local Bytes Read", PYRO_TASK_shuffle_local_bytes), ("Total Records Read", PYRO_TASK_shuffle_read_records),
            ("Remote Requests Duration", PYRO_TASK_shuffle_remote_requests_ms), ("Push Based Shuffle", PUSH_BASED),
            ("Shuffle Push Read Metrics", PUSH_BASED));
INT_MEMBERS(push_based, ("Corrupt Merged Block Chunks", PYRO_TASK_push_corrupt_chunks),
            ("Merged Fetch Fallback Count", PYRO_TASK_push_fallbacks),
            ("Merged Remote Blocks Fetched", PYRO_TASK_push_remote_blocks),
            ("Merged Local Blocks Fetched", PYRO_TASK_push_local_blocks),
            ("Merged Remote Chunks Fetched", PYRO_TASK_push_remote_chunks),
            ("Merged Local Chunks Fetched", PYRO_TASK_push_local_chunks),
            ("Merged Remote Bytes Read", PYRO_TASK_push_remote_bytes),
            ("Merged Local Bytes Read", PYRO_TASK_push_local_bytes),
            ("Merged Remote Requests Duration", PYRO_TASK_push_remote_requests_ms),
            ("Merged Fallback Count", PYRO_TASK_push_fallbacks));
INT_MEMBERS(shuffle_write, ("Shuffle Bytes Written", PYRO_TASK_shuffle_write_bytes),
            ("Shuffle Write Time", PYRO_TASK_shuffle_write_ns),
            ("Shuffle Records Written", PYRO_TASK_shuffle_write_records));
INT_MEMBERS(input, ("Bytes Read", PYRO_TASK_input_bytes), ("Records Read", PYRO_TASK_input_records));
INT_MEMBERS(output, ("Bytes Written", PYRO_TASK_output_bytes), ("Records Written", PYRO_TASK_output_records));
INT_MEMBERS(task_metrics, ("Executor Deserialize Time", PYRO_TASK_deserialize_ms),
            ("Executor Deserialize CPU Time", PYRO_TASK_deserialize_cpu_ns), ("Executor Run Time", PYRO_TASK_run_ms),
            ("Executor CPU Time", PYRO_TASK_cpu_ns), ("Peak Execution Memory", PYRO_TASK_peak_execution_memory_bytes),
            ("Result Size", PYRO_TASK_result_bytes), ("JVM GC Time", PYRO_TASK_gc_ms),
            ("Result Serialization Time", PYRO_TASK_result_serialize_ms),
            ("Memory Bytes Spilled", PYRO_TASK_memory_spill_bytes), ("Disk Bytes Spilled", PYRO_TASK_disk_spill_bytes),
            ("Shuffle Read Metrics", SHUFFLE_READ), ("Shuffle Write Metrics", SHUFFLE_WRITE), ("Input Metrics", INPUT),
            ("Output Metrics", OUTPUT), ("Updated Blocks", UPDATED_BLOCKS));

static void decode_members(struct pyro_json_reader *json, const struct int_members *members, int64_t *row);

static void decode_object(struct pyro_json_reader *json, int object, int64_t *row)
{
    static const struct int_members *const objects[] = {[PUSH_BASED - PUSH_BASED] = &push_based,
                                                        [SHUFFLE_READ - PUSH_BASED] = &shuffle_read,
                                                        [SHUFFLE_WRITE - PUSH_BASED] = &shuffle_write,
                                                        [INPUT - PUSH_BASED] = &input,
                                                        [OUTPUT - PUSH_BASED] = &output};
    if (object == UPDATED_BLOCKS)
        pyro_json_skip_array_fast(json);
    else
        decode_members(json, objects[object - PUSH_BASED], row);
}

static void decode_members(struct pyro_json_reader *json, const struct int_members *members, int64_t *row)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, members->keys, members->count)) != PYRO_JSON_END;) {
        if (key < 0)
            pyro_json_skip(json);
        else if (members->columns[key] < PYRO_TASK_COLUMN_COUNT)
            pyro_json_take_int(json, &row[members->columns[key]]);
        else
            decode_object(json, members->columns[key], row);
    }
}

static void decode_metrics(struct pyro_json_reader *json, int64_t *row)
{
    if (pyro_json_peek(json) == '{') {
        row[PYRO_TASK_has_metrics] = 1;
        row[PYRO_TASK_run_ms] = PYRO_NONE; /* Spark always writes it: where it is missing, it is unknown */
    }
    decode_members(json, &task_metrics, row);
}

PYRO_JSON_KEYS(info_keys, (INFO_ID, "Task ID"), (INFO_INDEX, "Index"), (INFO_ATTEMPT, "Attempt"),
               (INFO_PARTITION, "Partition ID"), (INFO_LAUNCH, "Launch Time"), (INFO_EXECUTOR, "Executor ID"),
               (INFO_HOST, "Host"), (INFO_LOCALITY, "Locality"), (INFO_SPECULATIVE, "Speculative"),
               (INFO_GETTING_RESULT, "Getting Result Time"), (INFO_FINISH, "Finish Time"), (INFO_FAILED, "Failed"),
               (INFO_KILLED, "Killed"), (INFO_ACCUMULABLES, "Accumulables"));

/* Texts of a record as written. They become texts of the batch when the record has been read to its end. */
struct task_texts {
    struct pyro_slice executor, host, locality, reason;
    int64_t photon_bytes; /* peaks of the memory of Photon's operators, added as Spark adds those of its own */
};

static void decode_accumulables(struct pyro_json_reader *json, struct pyro_batch *batch, struct task_texts *texts)
{
    struct pyro_json_reader again = *json, photon = again;
    if ((batch->wanted & PYRO_BATCH_PHOTON) && !(batch->wanted & PYRO_BATCH_NO_COLUMNS))
        texts->photon_bytes = pyro_decode_photon_memory(&photon);
    bool metrics = batch->wanted & PYRO_WANT_TASK_METRICS, history = batch->wanted & PYRO_BATCH_HISTORY;
    if (history)
        pyro_gather_accumulables(&batch->history, json);
    if (metrics)
        pyro_decode_task_metrics(history ? &again : json, &batch->metrics);
    if (!metrics && !history)
        pyro_json_skip_array_fast(json);
}

/* `batch` NULL: the accumulables are not wanted. */
static void decode_info(struct pyro_json_reader *json, struct pyro_batch *batch, struct task_texts *texts, int64_t *row)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    bool speculative = false, failed = false, killed = false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, info_keys)) != PYRO_JSON_END;) {
        switch (key) {
        case INFO_ID:
            pyro_json_take_int(json, &row[PYRO_TASK_id]);
            break;
        case INFO_INDEX:
            pyro_json_take_int(json, &row[PYRO_TASK_index]);
            break;
        case INFO_ATTEMPT:
            pyro_json_take_int(json, &row[PYRO_TASK_attempt]);
            break;
        case INFO_PARTITION:
            pyro_json_take_int(json, &row[PYRO_TASK_partition]);
            break;
        case INFO_LAUNCH:
            pyro_json_take_int(json, &row[PYRO_TASK_launch_ms]);
            break;
        case INFO_EXECUTOR:
            pyro_json_take_string(json, &texts->executor, NULL);
            break;
        case INFO_HOST:
            pyro_json_take_string(json, &texts->host, NULL);
            break;
        case INFO_LOCALITY:
            pyro_json_take_string(json, &texts->locality, NULL);
            break;
        case INFO_SPECULATIVE:
            pyro_json_take_bool(json, &speculative);
            break;
        case INFO_GETTING_RESULT:
            pyro_json_take_int(json, &row[PYRO_TASK_getting_result_ms]);
            break;
        case INFO_FINISH:
            pyro_json_take_int(json, &row[PYRO_TASK_finish_ms]);
            break;
        case INFO_FAILED:
            pyro_json_take_bool(json, &failed);
            break;
        case INFO_KILLED:
            pyro_json_take_bool(json, &killed);
            break;
        case INFO_ACCUMULABLES:
            if (batch)
                decode_accumulables(json, batch, texts);
            else
                pyro_json_skip_array_fast(json);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    row[PYRO_TASK_speculative] = speculative;
    row[PYRO_TASK_status] = killed ? PYRO_TASK_KILLED : failed ? PYRO_TASK_FAILED : PYRO_TASK_SUCCESS;
}

/* All that Spark writes, in its order, so that the keys which are passed over do not spoil the guess of the next. */
static const struct pyro_json_key executor_metric_keys[PYRO_HISTORY_PEAKS] = {
#define HISTORY_PEAK(name) PYRO_JSON_KEY(#name),
#include "model/history/peaks.def"
#undef HISTORY_PEAK
};

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void read_executor_metrics(struct pyro_json_reader *json, int64_t *values)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, executor_metric_keys, PYRO_HISTORY_PEAKS)) != PYRO_JSON_END;) {
        if (key >= 0)
            pyro_json_take_int(json, &values[key]);
        else
            pyro_json_skip(json);
    }
}

static void raise_peaks(const int64_t *values, int64_t *peaks)
{
#define VALUE(name) values[PYRO_HISTORY_PEAK_##name]
    const int64_t found[PYRO_PEAK_COUNT] = {
        [PYRO_PEAK_HEAP] = VALUE(JVMHeapMemory),
        [PYRO_PEAK_OFFHEAP] = VALUE(JVMOffHeapMemory),
        [PYRO_PEAK_EXECUTION] = add(VALUE(OnHeapExecutionMemory), VALUE(OffHeapExecutionMemory)),
        [PYRO_PEAK_STORAGE] = add(VALUE(OnHeapStorageMemory), VALUE(OffHeapStorageMemory)),
        [PYRO_PEAK_RSS] = VALUE(ProcessTreeJVMRSSMemory),
        [PYRO_PEAK_PYTHON_RSS] = VALUE(ProcessTreePythonRSSMemory),
        [PYRO_PEAK_OTHER_RSS] = VALUE(ProcessTreeOtherRSSMemory),
        [PYRO_PEAK_FULL_COLLECTIONS] = VALUE(MajorGCCount),
        /* The total is missing before Spark 3.5. */
        [PYRO_PEAK_COLLECTION_MS] =
            VALUE(TotalGCTime) > 0 ? VALUE(TotalGCTime) : add(VALUE(MinorGCTime), VALUE(MajorGCTime)),
    };
#undef VALUE
    for (int i = 0; i < PYRO_PEAK_COUNT; i++)
        if (found[i] > peaks[i])
            peaks[i] = found[i];
}

bool pyro_decode_executor_metrics(struct pyro_json_reader *json, int64_t *peaks)
{
    int64_t values[PYRO_HISTORY_PEAKS] = {0};
    read_executor_metrics(json, values);
    if (!json->error)
        raise_peaks(values, peaks);
    return !json->error;
}

/* Members that Spark writes for one reason only, the name of the reason first. */
PYRO_JSON_KEYS(reason_keys, (REASON, "Reason"), (REASON_CLASS, "Class Name"), (REASON_DESCRIPTION, "Description"),
               (REASON_TRACE, "Full Stack Trace"), (REASON_KILL, "Kill Reason"), (REASON_SHUFFLE, "Shuffle ID"),
               (REASON_REDUCE, "Reduce ID"), (REASON_BY_APP, "Exit Caused By App"), (REASON_LOSS, "Loss Reason"),
               (REASON_ATTEMPT, "Attempt Number"));

/* What the reason is called that has this member. */
static struct pyro_slice reason_with(int key)
{
    static const char *const names[reason_keys_count] = {
        [REASON_CLASS] = "ExceptionFailure",     [REASON_DESCRIPTION] = "ExceptionFailure",
        [REASON_TRACE] = "ExceptionFailure",     [REASON_KILL] = "TaskKilled",
        [REASON_SHUFFLE] = "FetchFailed",        [REASON_REDUCE] = "FetchFailed",
        [REASON_BY_APP] = "ExecutorLostFailure", [REASON_LOSS] = "ExecutorLostFailure",
        [REASON_ATTEMPT] = "TaskCommitDenied",
    };
    return key >= 0 && names[key] ? pyro_slice_from(names[key]) : PYRO_SLICE_NULL;
}

/* The reason's name, by its other members where it is missing; anything but Success is decoded when the batch is
 * applied. */
static void decode_reason(struct pyro_json_reader *json, struct task_texts *texts, struct pyro_slice *reason)
{
    static const char success[] = "{\"Reason\":\"Success\"}";
    if ((size_t)(json->end - json->at) >= sizeof(success) - 1 && memcmp(json->at, success, sizeof(success) - 1) == 0) {
        json->at += sizeof(success) - 1;
        texts->reason = PYRO_SLICE_LITERAL("Success");
        return;
    }
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (!pyro_json_take_raw(json, &raw))
        return;
    *reason = raw;
    struct pyro_slice other = PYRO_SLICE_NULL;
    struct pyro_json_reader inside;
    struct pyro_json_object object;
    pyro_json_reader_start(&inside, raw.ptr, raw.ptr + raw.len, json->scan);
    if (!pyro_json_enter_object(&inside, &object)) {
        *reason = PYRO_SLICE_NULL; /* null: no reason is given */
        return;
    }
    for (int key; (key = PYRO_JSON_NEXT(&inside, &object, reason_keys)) != PYRO_JSON_END;) {
        if (key == REASON)
            pyro_json_take_string(&inside, &texts->reason, NULL);
        else
            pyro_json_skip(&inside);
        if (!other.ptr)
            other = reason_with(key);
    }
    if (texts->reason.len == 0 && other.ptr)
        texts->reason = other;
    if (pyro_slice_is(texts->reason, "Success"))
        *reason = PYRO_SLICE_NULL;
}

PYRO_JSON_KEYS(end_keys, (END_EVENT, "Event"), (END_STAGE, "Stage ID"), (END_STAGE_ATTEMPT, "Stage Attempt ID"),
               (END_TYPE, "Task Type"), (END_REASON, "Task End Reason"), (END_INFO, "Task Info"),
               (END_EXECUTOR, "Task Executor Metrics"), (END_METRICS, "Task Metrics"));

static void add_text(struct pyro_batch *batch, int64_t *value, struct pyro_slice raw)
{
    if (raw.ptr)
        *value = pyro_batch_text(batch, raw);
}

static void clear_row(int64_t *row)
{
    memset(row, 0, PYRO_TASK_COLUMN_COUNT * sizeof(*row));
    row[PYRO_TASK_stage] = row[PYRO_TASK_partition] = row[PYRO_TASK_id] = PYRO_NONE;
    row[PYRO_TASK_executor] = row[PYRO_TASK_host] = row[PYRO_TASK_locality] = row[PYRO_TASK_reason] = PYRO_NONE;
    row[PYRO_TASK_stage_row] = row[PYRO_TASK_executor_row] = -1;
    row[PYRO_TASK_error] = PYRO_NONE;
}

static void add_texts(struct pyro_batch *batch, const struct task_texts *texts, int64_t *row)
{
    add_text(batch, &row[PYRO_TASK_executor], texts->executor);
    add_text(batch, &row[PYRO_TASK_host], texts->host);
    add_text(batch, &row[PYRO_TASK_locality], texts->locality);
    add_text(batch, &row[PYRO_TASK_reason], texts->reason);
}

/* Where the flags are missing, the reason still says how the task ended. */
static void check_status(const struct task_texts *texts, int64_t *row)
{
    struct pyro_slice reason = texts->reason;
    if (row[PYRO_TASK_status] != PYRO_TASK_SUCCESS || reason.len == 0 || pyro_slice_is(reason, "Success") ||
        pyro_slice_is(reason, "Resubmitted"))
        return;
    row[PYRO_TASK_status] = pyro_slice_is(reason, "TaskKilled") ? PYRO_TASK_KILLED : PYRO_TASK_FAILED;
}

bool pyro_decode_task_end(struct pyro_json_reader *json, struct pyro_batch *batch, int64_t *ret_row,
                          struct pyro_slice *reason)
{
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    clear_row(row);
    *reason = PYRO_SLICE_NULL;
    struct task_texts texts = {0};
    int64_t memory[PYRO_HISTORY_PEAKS] = {0};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, end_keys)) != PYRO_JSON_END;) {
        switch (key) {
        case END_STAGE:
            pyro_json_take_int(json, &row[PYRO_TASK_stage]);
            break;
        case END_STAGE_ATTEMPT:
            pyro_json_take_int(json, &row[PYRO_TASK_stage_attempt]);
            break;
        case END_REASON:
            decode_reason(json, &texts, reason);
            break;
        case END_INFO:
            decode_info(json, batch, &texts, row);
            break;
        case END_EXECUTOR:
            read_executor_metrics(json, memory);
            break;
        case END_METRICS:
            decode_metrics(json, row);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    if (!pyro_json_record_end(json))
        return false;
    if (texts.photon_bytes > row[PYRO_TASK_peak_execution_memory_bytes])
        row[PYRO_TASK_peak_execution_memory_bytes] = texts.photon_bytes;
    if (row[PYRO_TASK_stage] == PYRO_NONE)
        return pyro_json_refuse(json, "the end of a task without its stage");
    if (row[PYRO_TASK_id] == PYRO_NONE)
        return pyro_json_refuse(json, "the end of a task without its id");
    check_status(&texts, row);
    add_texts(batch, &texts, row);
    if (row[PYRO_TASK_executor] != PYRO_NONE && !batch->failed)
        raise_peaks(memory, batch->texts.items[row[PYRO_TASK_executor]].peaks);
    if (batch->wanted & PYRO_BATCH_HISTORY)
        batch->failed |= !pyro_gather_end(&batch->history, memory, *reason);
    memcpy(ret_row, row, sizeof(row));
    return true;
}

bool pyro_decode_task_start(struct pyro_json_reader *json, struct pyro_batch *batch, int64_t *ret_row)
{
    PYRO_JSON_KEYS(keys, (START_EVENT, "Event"), (START_STAGE, "Stage ID"), (START_ATTEMPT, "Stage Attempt ID"),
                   (START_INFO, "Task Info"));
    struct pyro_json_object object;
    struct task_texts texts = {0};
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    clear_row(row);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == START_STAGE)
            pyro_json_take_int(json, &row[PYRO_TASK_stage]);
        else if (key == START_ATTEMPT)
            pyro_json_take_int(json, &row[PYRO_TASK_stage_attempt]);
        else if (key == START_INFO)
            decode_info(json, NULL, &texts, row);
        else
            pyro_json_skip(json);
    }
    if (!pyro_json_record_end(json))
        return false;
    if (row[PYRO_TASK_id] == PYRO_NONE)
        return pyro_json_refuse(json, "the start of a task without its id");
    if (batch->wanted & PYRO_BATCH_HISTORY)
        add_texts(batch, &texts, row);
    else
        add_text(batch, &row[PYRO_TASK_executor], texts.executor);
    memcpy(ret_row, row, PYRO_TASK_START_COLUMNS * sizeof(*row));
    return true;
}
