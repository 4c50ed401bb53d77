/* Tasks of a stage, page by page. */
#include <stdio.h>

#include "base/numbers/saturate.h"
#include "decode/rest/rest_reading.h"

enum { PAGE_TASKS = 4000 };

/* A number of the answer and what the event calls it; a NULL name begins the objects inside. */
struct member {
    struct pyro_json_key key;
    const char *name;
};
#define MEMBER(key, name)                                                                                              \
    {                                                                                                                  \
        PYRO_JSON_KEY(key), name                                                                                       \
    }

static const struct member metrics[] = {
    MEMBER("executorDeserializeTime", "Executor Deserialize Time"),
    MEMBER("executorDeserializeCpuTime", "Executor Deserialize CPU Time"),
    MEMBER("executorRunTime", "Executor Run Time"),
    MEMBER("executorCpuTime", "Executor CPU Time"),
    MEMBER("peakExecutionMemory", "Peak Execution Memory"),
    MEMBER("resultSize", "Result Size"),
    MEMBER("jvmGcTime", "JVM GC Time"),
    MEMBER("resultSerializationTime", "Result Serialization Time"),
    MEMBER("memoryBytesSpilled", "Memory Bytes Spilled"),
    MEMBER("diskBytesSpilled", "Disk Bytes Spilled"),
    MEMBER("shuffleReadMetrics", NULL),
    MEMBER("shuffleWriteMetrics", NULL),
    MEMBER("inputMetrics", NULL),
    MEMBER("outputMetrics", NULL),
};
/* In the order of the members of shuffle_read. */
enum { REMOTE_BLOCKS, LOCAL_BLOCKS, FETCH_WAIT, REMOTE_BYTES, REMOTE_TO_DISK, LOCAL_BYTES, READ_RECORDS, REQUESTS_MS };
static const struct member shuffle_read[] = {
    MEMBER("remoteBlocksFetched", "Remote Blocks Fetched"),
    MEMBER("localBlocksFetched", "Local Blocks Fetched"),
    MEMBER("fetchWaitTime", "Fetch Wait Time"),
    MEMBER("remoteBytesRead", "Remote Bytes Read"),
    MEMBER("remoteBytesReadToDisk", "Remote Bytes Read To Disk"),
    MEMBER("localBytesRead", "Local Bytes Read"),
    MEMBER("recordsRead", "Total Records Read"),
    MEMBER("remoteReqsDuration", "Remote Requests Duration"),
    MEMBER("shufflePushReadMetrics", NULL),
};
static const struct member shuffle_write[] = {
    MEMBER("bytesWritten", "Shuffle Bytes Written"),
    MEMBER("writeTime", "Shuffle Write Time"),
    MEMBER("recordsWritten", "Shuffle Records Written"),
};
static const struct member input[] = {
    MEMBER("bytesRead", "Bytes Read"),
    MEMBER("recordsRead", "Records Read"),
};
static const struct member output[] = {
    MEMBER("bytesWritten", "Bytes Written"),
    MEMBER("recordsWritten", "Records Written"),
};
/* Of shuffle data that was pushed and merged. */
PYRO_JSON_KEYS(push_keys, (CORRUPT, "corruptMergedBlockChunks"), (FALLBACKS, "mergedFetchFallbackCount"),
               (MERGED_REMOTE_BLOCKS, "remoteMergedBlocksFetched"), (MERGED_LOCAL_BLOCKS, "localMergedBlocksFetched"),
               (MERGED_REMOTE_CHUNKS, "remoteMergedChunksFetched"), (MERGED_LOCAL_CHUNKS, "localMergedChunksFetched"),
               (MERGED_REMOTE_BYTES, "remoteMergedBytesRead"), (MERGED_LOCAL_BYTES, "localMergedBytesRead"),
               (MERGED_REQUESTS_MS, "remoteMergedReqsDuration"));
#define COUNT(table) (sizeof(table) / sizeof(*(table)))
enum { MOST_MEMBERS = COUNT(metrics), FIRST_OBJECT = 10 };

static void put_members(struct pyro_rest_reading *reading, const char *name, const struct member *members,
                        unsigned count, const struct pyro_slice *values)
{
    pyro_rest_begin(reading, name, '{');
    for (unsigned i = 0; i < count && members[i].name; i++)
        pyro_rest_add_raw(reading, members[i].name, values[i]);
}

static void add_members(struct pyro_rest_reading *reading, const char *name, struct pyro_slice text,
                        const struct member *members, unsigned count, struct pyro_slice *values)
{
    struct pyro_json_key keys[MOST_MEMBERS] = {{.len = 0}};
    for (unsigned i = 0; i < count; i++)
        keys[i] = members[i].key;
    if (!pyro_rest_take_text(text, keys, count, values))
        return;
    put_members(reading, name, members, count, values);
}

/* Servers of Spark 3.5 and 4.0 mix up metrics of tasks that failed or were killed (SPARK-54505). Without push-based
 * shuffle those of merged blocks are 0: where they are not, they are the values of other metrics. Which ones is known.
 * With push-based shuffle it is not: then the metrics are left out. */
static bool unmix(struct pyro_slice push, struct pyro_slice *read, struct pyro_slice *written)
{
    struct pyro_slice values[push_keys_count];
    bool mixed = false;
    if (!pyro_rest_take_text(push, push_keys, push_keys_count, values))
        return false;
    for (unsigned i = FALLBACKS; i < push_keys_count; i++)
        mixed |= pyro_rest_int(values[i], 0) != 0;
    if (!mixed)
        return false;
    struct pyro_slice requests_ms = read[READ_RECORDS], local_bytes = read[REQUESTS_MS];
    read[REMOTE_BLOCKS] = values[MERGED_LOCAL_BLOCKS];
    read[LOCAL_BLOCKS] = values[MERGED_REMOTE_CHUNKS];
    read[FETCH_WAIT] = values[MERGED_LOCAL_CHUNKS];
    read[REMOTE_BYTES] = values[MERGED_REMOTE_BYTES];
    read[REMOTE_TO_DISK] = values[MERGED_LOCAL_BYTES];
    read[LOCAL_BYTES] = local_bytes;
    read[READ_RECORDS] = values[MERGED_REQUESTS_MS];
    read[REQUESTS_MS] = requests_ms;
    written[0] = values[FALLBACKS];
    written[1] = values[MERGED_REMOTE_BLOCKS];
    return true;
}

/* Shuffle read and output of a task that did not succeed. */
static void add_mixed(struct pyro_rest_reading *reading, struct pyro_slice read_text, struct pyro_slice output_text)
{
    struct pyro_json_key read_keys[COUNT(shuffle_read)], output_keys[COUNT(output)];
    struct pyro_slice read[COUNT(shuffle_read)] = {{NULL, 0}}, written[COUNT(output)] = {{NULL, 0}};
    for (unsigned i = 0; i < COUNT(shuffle_read); i++)
        read_keys[i] = shuffle_read[i].key;
    for (unsigned i = 0; i < COUNT(output); i++)
        output_keys[i] = output[i].key;
    bool has_read = read_text.ptr && pyro_rest_take_text(read_text, read_keys, COUNT(shuffle_read), read);
    bool has_output = output_text.ptr && pyro_rest_take_text(output_text, output_keys, COUNT(output), written);
    bool mixed = has_read && unmix(read[COUNT(shuffle_read) - 1], read, written);
    if (mixed && reading->push_based)
        return;
    if (has_read) {
        put_members(reading, "Shuffle Read Metrics", shuffle_read, COUNT(shuffle_read), read);
        pyro_rest_end(reading, '}');
    }
    if (has_output || mixed) {
        put_members(reading, "Output Metrics", output, COUNT(output), written);
        pyro_rest_end(reading, '}');
    }
}

static void add_metrics(struct pyro_rest_reading *reading, struct pyro_slice text, bool succeeded)
{
    enum { SHUFFLE_READ = 0, OUTPUT = 3 };
    static const struct {
        const char *name;
        const struct member *members;
        unsigned count;
    } objects[] = {
        {"Shuffle Read Metrics", shuffle_read, COUNT(shuffle_read)},
        {"Shuffle Write Metrics", shuffle_write, COUNT(shuffle_write)},
        {"Input Metrics", input, COUNT(input)},
        {"Output Metrics", output, COUNT(output)},
    };
    struct pyro_slice values[MOST_MEMBERS] = {{NULL, 0}}, inner[MOST_MEMBERS];
    if (!text.ptr)
        return;
    add_members(reading, "Task Metrics", text, metrics, COUNT(metrics), values);
    for (unsigned i = 0; i < COUNT(objects); i++) {
        if (!values[FIRST_OBJECT + i].ptr || (!succeeded && (i == SHUFFLE_READ || i == OUTPUT)))
            continue;
        add_members(reading, objects[i].name, values[FIRST_OBJECT + i], objects[i].members, objects[i].count, inner);
        pyro_rest_end(reading, '}');
    }
    if (!succeeded)
        add_mixed(reading, values[FIRST_OBJECT + SHUFFLE_READ], values[FIRST_OBJECT + OUTPUT]);
    pyro_rest_end(reading, '}');
}

PYRO_JSON_KEYS(task_keys, (ID, "taskId"), (INDEX, "index"), (ATTEMPT, "attempt"), (PARTITION, "partitionId"),
               (LAUNCH, "launchTime"), (DURATION, "duration"), (EXECUTOR, "executorId"), (HOST, "host"),
               (STATUS, "status"), (LOCALITY, "taskLocality"), (SPECULATIVE, "speculative"), (METRICS, "taskMetrics"),
               (FETCH_START, "resultFetchStart"), (MESSAGE, "errorMessage"));

static void begin_task(struct pyro_rest_reading *reading, const char *event, const struct pyro_rest_stage *stage)
{
    pyro_rest_line(reading, event);
    pyro_rest_add_int(reading, "Stage ID", stage->id);
    pyro_rest_add_int(reading, "Stage Attempt ID", stage->attempt);
}

/* What a task's start says of it, and its end again. */
static void begin_info(struct pyro_rest_reading *reading, const struct pyro_slice *values, int64_t launch_ms)
{
    pyro_rest_begin(reading, "Task Info", '{');
    pyro_rest_add_raw(reading, "Task ID", values[ID]);
    pyro_rest_add_raw(reading, "Index", values[INDEX]);
    pyro_rest_add_raw(reading, "Attempt", values[ATTEMPT]);
    pyro_rest_add_raw(reading, "Partition ID", values[PARTITION]);
    pyro_rest_add_time(reading, "Launch Time", launch_ms);
    pyro_rest_add_raw(reading, "Executor ID", values[EXECUTOR]);
    pyro_rest_add_raw(reading, "Host", values[HOST]);
    pyro_rest_add_raw(reading, "Locality", values[LOCALITY]);
    pyro_rest_add_raw(reading, "Speculative", values[SPECULATIVE]);
}

static enum pyro_status write_task(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage,
                                   const struct pyro_slice *values)
{
    int64_t launch_ms = pyro_rest_time(values[LAUNCH]), duration_ms = pyro_rest_int(values[DURATION], 0);
    begin_task(reading, "SparkListenerTaskStart", stage);
    begin_info(reading, values, launch_ms);
    pyro_rest_end(reading, '}');
    PYRO_TRY(pyro_rest_line_end(reading));
    bool failed = pyro_rest_is(values[STATUS], "FAILED"), killed = pyro_rest_is(values[STATUS], "KILLED");
    if (!failed && !killed && !pyro_rest_is(values[STATUS], "SUCCESS"))
        return PYRO_OK; /* still running */
    begin_task(reading, "SparkListenerTaskEnd", stage);
    pyro_rest_add_reason(reading, values[STATUS], values[MESSAGE]);
    begin_info(reading, values, launch_ms);
    pyro_rest_add_time(reading, "Getting Result Time", pyro_rest_time(values[FETCH_START]));
    if (launch_ms != PYRO_NONE)
        pyro_rest_add_int(
            reading, "Finish Time",
            pyro_add_saturating(launch_ms, duration_ms > 0 && duration_ms < INT32_MAX * 1000L ? duration_ms : 0));
    pyro_rest_add_raw(reading, "Failed", failed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_add_raw(reading, "Killed", killed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_end(reading, '}');
    add_metrics(reading, values[METRICS], !failed && !killed);
    return pyro_rest_line_end(reading);
}

/* Writes a page's tasks; their number in *ret_count. */
static enum pyro_status read_page(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage,
                                  const char *page, uint64_t *ret_count)
{
    struct pyro_json_reader json;
    *ret_count = 0;
    PYRO_TRY(pyro_rest_get(reading, page, &reading->body, &json));
    if (pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first); ++*ret_count) {
            struct pyro_slice values[task_keys_count];
            if (pyro_rest_take(&json, task_keys, task_keys_count, values) && values[ID].ptr)
                PYRO_TRY(write_task(reading, stage, values));
        }
    return pyro_rest_check(reading, page, &json);
}

enum pyro_status pyro_rest_read_tasks(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage)
{
    uint64_t listed = 0, count = PAGE_TASKS;
    /* A stage whose tasks start while they are listed has a few more than it said. */
    uint64_t most = 2 * stage->tasks + PAGE_TASKS;
    while (count == PAGE_TASKS && listed < most) {
        char page[128];
        snprintf(page, sizeof(page), "stages/%lld/%lld/taskList?offset=%llu&length=%d", (long long)stage->id,
                 (long long)stage->attempt, (unsigned long long)listed, PAGE_TASKS);
        PYRO_TRY(read_page(reading, stage, page, &count));
        listed += count;
    }
    reading->facts->tasks += listed;
    /* A task that ended twice (its executor was lost) counts twice, the second time as failed, and is listed once. */
    if (stage->tasks > listed + stage->failed_tasks)
        reading->facts->lost_tasks += stage->tasks - listed - stage->failed_tasks;
    return PYRO_OK;
}
