/* SparkListenerTaskEnd and SparkListenerTaskStart: nine tenths of an event log.
 *
 * Why it is fast: keys are compared with the one Spark writes next, integers go straight to their column, and the
 * accumulables, two thirds of the bytes, are passed over 64 at a time. */
#include "decode/eventlog/task_events.h"

#define KEY PYRO_JSON_KEY

/* Objects that hold integers only: key by key the column it goes to. */
struct int_members {
    const struct pyro_json_key *keys;
    const unsigned char *columns;
    unsigned count;
};

enum { OBJECT = 255 }; /* instead of a column: the object of push-based shuffle */

#define INT_MEMBERS(name)                                                                                              \
    {                                                                                                                  \
        name##_keys, name##_columns, sizeof(name##_columns)                                                            \
    }

static const struct pyro_json_key shuffle_read_keys[] = {
    KEY("Remote Blocks Fetched"),     KEY("Local Blocks Fetched"),      KEY("Fetch Wait Time"),
    KEY("Remote Bytes Read"),         KEY("Remote Bytes Read To Disk"), KEY("Local Bytes Read"),
    KEY("Total Records Read"),        KEY("Remote Requests Duration"),  KEY("Push Based Shuffle"),
    KEY("Shuffle Push Read Metrics"),
};
static const unsigned char shuffle_read_columns[] = {
    PYRO_TASK_shuffle_remote_blocks,
    PYRO_TASK_shuffle_local_blocks,
    PYRO_TASK_fetch_wait_ms,
    PYRO_TASK_shuffle_remote_bytes,
    PYRO_TASK_shuffle_remote_to_disk_bytes,
    PYRO_TASK_shuffle_local_bytes,
    PYRO_TASK_shuffle_read_records,
    PYRO_TASK_shuffle_remote_requests_ms,
    OBJECT,
    OBJECT,
};
static const struct pyro_json_key push_keys[] = {
    KEY("Corrupt Merged Block Chunks"), KEY("Merged Fetch Fallback Count"),  KEY("Merged Remote Blocks Fetched"),
    KEY("Merged Local Blocks Fetched"), KEY("Merged Remote Chunks Fetched"), KEY("Merged Local Chunks Fetched"),
    KEY("Merged Remote Bytes Read"),    KEY("Merged Local Bytes Read"),      KEY("Merged Remote Requests Duration"),
    KEY("Merged Fallback Count"),
};
static const unsigned char push_columns[] = {
    PYRO_TASK_push_corrupt_chunks, PYRO_TASK_push_fallbacks,     PYRO_TASK_push_remote_blocks,
    PYRO_TASK_push_local_blocks,   PYRO_TASK_push_remote_chunks, PYRO_TASK_push_local_chunks,
    PYRO_TASK_push_remote_bytes,   PYRO_TASK_push_local_bytes,   PYRO_TASK_push_remote_requests_ms,
    PYRO_TASK_push_fallbacks,
};
static const struct pyro_json_key shuffle_write_keys[] = {
    KEY("Shuffle Bytes Written"),
    KEY("Shuffle Write Time"),
    KEY("Shuffle Records Written"),
};
static const unsigned char shuffle_write_columns[] = {
    PYRO_TASK_shuffle_write_bytes,
    PYRO_TASK_shuffle_write_ns,
    PYRO_TASK_shuffle_write_records,
};
static const struct pyro_json_key input_keys[] = {KEY("Bytes Read"), KEY("Records Read")};
static const unsigned char input_columns[] = {PYRO_TASK_input_bytes, PYRO_TASK_input_records};
static const struct pyro_json_key output_keys[] = {KEY("Bytes Written"), KEY("Records Written")};
static const unsigned char output_columns[] = {PYRO_TASK_output_bytes, PYRO_TASK_output_records};

static const struct int_members push_based_shuffle = {push_keys, push_columns, sizeof(push_columns)};
static const struct int_members shuffle_read = INT_MEMBERS(shuffle_read);
static const struct int_members shuffle_write = INT_MEMBERS(shuffle_write);
static const struct int_members input = INT_MEMBERS(input);
static const struct int_members output = INT_MEMBERS(output);

static void decode_ints(struct pyro_json *json, const struct int_members *members, int64_t *row)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, members->keys, members->count)) != PYRO_JSON_END;) {
        if (key >= 0 && members->columns[key] != OBJECT)
            pyro_json_take_int(json, &row[members->columns[key]]);
        else if (key >= 0)
            decode_ints(json, &push_based_shuffle, row);
        else
            pyro_json_skip(json);
    }
}

enum { FIRST_METRIC_OBJECT = 10 };
static const struct pyro_json_key metric_keys[] = {
    KEY("Executor Deserialize Time"),
    KEY("Executor Deserialize CPU Time"),
    KEY("Executor Run Time"),
    KEY("Executor CPU Time"),
    KEY("Peak Execution Memory"),
    KEY("Result Size"),
    KEY("JVM GC Time"),
    KEY("Result Serialization Time"),
    KEY("Memory Bytes Spilled"),
    KEY("Disk Bytes Spilled"),
    KEY("Shuffle Read Metrics"),
    KEY("Shuffle Write Metrics"),
    KEY("Input Metrics"),
    KEY("Output Metrics"),
    KEY("Updated Blocks"),
};
static const unsigned char metric_columns[FIRST_METRIC_OBJECT] = {
    PYRO_TASK_deserialize_ms,
    PYRO_TASK_deserialize_cpu_ns,
    PYRO_TASK_run_ms,
    PYRO_TASK_cpu_ns,
    PYRO_TASK_peak_execution_memory_bytes,
    PYRO_TASK_result_bytes,
    PYRO_TASK_gc_ms,
    PYRO_TASK_result_serialize_ms,
    PYRO_TASK_memory_spill_bytes,
    PYRO_TASK_disk_spill_bytes,
};

static void decode_metrics(struct pyro_json *json, int64_t *row)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    row[PYRO_TASK_has_metrics] = 1;
    static const struct int_members *const objects[] = {&shuffle_read, &shuffle_write, &input, &output};
    const unsigned count = sizeof(metric_keys) / sizeof(*metric_keys);
    for (int key; (key = pyro_json_next(json, &object, metric_keys, count)) != PYRO_JSON_END;) {
        if (key >= 0 && key < FIRST_METRIC_OBJECT)
            pyro_json_take_int(json, &row[metric_columns[key]]);
        else if (key >= FIRST_METRIC_OBJECT && key < FIRST_METRIC_OBJECT + 4)
            decode_ints(json, objects[key - FIRST_METRIC_OBJECT], row);
        else if (key == FIRST_METRIC_OBJECT + 4)
            pyro_json_skip_array_fast(json);
        else
            pyro_json_skip(json);
    }
}

static const struct pyro_json_key info_keys[] = {
    KEY("Task ID"),     KEY("Index"),  KEY("Attempt"),  KEY("Partition ID"), KEY("Launch Time"),
    KEY("Executor ID"), KEY("Host"),   KEY("Locality"), KEY("Speculative"),  KEY("Getting Result Time"),
    KEY("Finish Time"), KEY("Failed"), KEY("Killed"),   KEY("Accumulables"),
};
enum info_key {
    INFO_ID,
    INFO_INDEX,
    INFO_ATTEMPT,
    INFO_PARTITION,
    INFO_LAUNCH,
    INFO_EXECUTOR,
    INFO_HOST,
    INFO_LOCALITY,
    INFO_SPECULATIVE,
    INFO_GETTING_RESULT,
    INFO_FINISH,
    INFO_FAILED,
    INFO_KILLED,
    INFO_ACCUMULABLES,
    INFO_KEYS
};

/* Texts of a record as written. They become texts of the batch when the record has been read to its end. */
struct task_texts {
    struct pyro_slice executor, host, locality, reason;
};

static void decode_accumulables(struct pyro_json *json, struct pyro_batch *batch)
{
    struct pyro_json again = *json;
    bool metrics = batch->wanted & PYRO_WANT_TASK_METRICS, history = batch->wanted & PYRO_BATCH_HISTORY;
    if (history)
        pyro_gather_accumulables(&batch->history, json);
    if (metrics)
        pyro_decode_task_metrics(history ? &again : json, &batch->metrics);
    if (!metrics && !history)
        pyro_json_skip_array_fast(json);
}

/* `batch` NULL: nobody wants the accumulables. */
static void decode_info(struct pyro_json *json, struct pyro_batch *batch, struct task_texts *texts, int64_t *row)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    bool speculative = false, failed = false, killed = false;
    for (int key; (key = pyro_json_next(json, &object, info_keys, INFO_KEYS)) != PYRO_JSON_END;) {
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
                decode_accumulables(json, batch);
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
#define HISTORY_PEAK(name) KEY(#name),
#include "model/history/peaks.def"
#undef HISTORY_PEAK
};

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void read_executor_metrics(struct pyro_json *json, int64_t *values)
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

bool pyro_decode_executor_metrics(struct pyro_json *json, int64_t *peaks)
{
    int64_t values[PYRO_HISTORY_PEAKS] = {0};
    read_executor_metrics(json, values);
    if (!json->error)
        raise_peaks(values, peaks);
    return !json->error;
}

/* The reason's name; anything but Success is decoded when the batch is applied. */
static void decode_reason(struct pyro_json *json, struct task_texts *texts, struct pyro_slice *reason)
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
    static const struct pyro_json_key keys[] = {KEY("Reason")};
    struct pyro_json inside;
    struct pyro_json_object object;
    pyro_json_start(&inside, raw.ptr, raw.ptr + raw.len, json->scan);
    if (!pyro_json_enter_object(&inside, &object)) {
        *reason = PYRO_SLICE_NULL; /* null: no reason is given */
        return;
    }
    for (int key; (key = pyro_json_next(&inside, &object, keys, 1)) != PYRO_JSON_END;) {
        if (key == 0)
            pyro_json_take_string(&inside, &texts->reason, NULL);
        else
            pyro_json_skip(&inside);
    }
    if (pyro_slice_is(texts->reason, "Success"))
        *reason = PYRO_SLICE_NULL;
}

static const struct pyro_json_key end_keys[] = {
    KEY("Event"),           KEY("Stage ID"),  KEY("Stage Attempt ID"),      KEY("Task Type"),
    KEY("Task End Reason"), KEY("Task Info"), KEY("Task Executor Metrics"), KEY("Task Metrics"),
};
enum { END_EVENT, END_STAGE, END_STAGE_ATTEMPT, END_TYPE, END_REASON, END_INFO, END_EXECUTOR, END_METRICS, END_KEYS };

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

bool pyro_decode_task_end(struct pyro_json *json, struct pyro_batch *batch, int64_t *ret_row, struct pyro_slice *reason)
{
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    clear_row(row);
    *reason = PYRO_SLICE_NULL;
    struct task_texts texts = {0};
    int64_t memory[PYRO_HISTORY_PEAKS] = {0};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, end_keys, END_KEYS)) != PYRO_JSON_END;) {
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
    if (row[PYRO_TASK_stage] == PYRO_NONE)
        return pyro_json_refuse(json, "a task's end without its stage");
    if (row[PYRO_TASK_id] == PYRO_NONE)
        return pyro_json_refuse(json, "a task's end without its task");
    add_texts(batch, &texts, row);
    if (row[PYRO_TASK_executor] != PYRO_NONE && !batch->failed)
        raise_peaks(memory, batch->texts.items[row[PYRO_TASK_executor]].peaks);
    if (batch->wanted & PYRO_BATCH_HISTORY)
        batch->failed |= !pyro_gather_end(&batch->history, memory, *reason);
    memcpy(ret_row, row, sizeof(row));
    return true;
}

bool pyro_decode_task_start(struct pyro_json *json, struct pyro_batch *batch, int64_t *ret_row)
{
    static const struct pyro_json_key keys[] = {
        KEY("Event"),
        KEY("Stage ID"),
        KEY("Stage Attempt ID"),
        KEY("Task Info"),
    };
    enum { START_STAGE = 1, START_ATTEMPT, START_INFO, START_KEYS };
    struct pyro_json_object object;
    struct task_texts texts = {0};
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    clear_row(row);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, START_KEYS)) != PYRO_JSON_END;) {
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
        return pyro_json_refuse(json, "a task's start without its task");
    if (batch->wanted & PYRO_BATCH_HISTORY)
        add_texts(batch, &texts, row);
    memcpy(ret_row, row, PYRO_TASK_START_COLUMNS * sizeof(*row));
    return true;
}
