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
static const struct member shuffle_read[] = {
    MEMBER("remoteBlocksFetched", "Remote Blocks Fetched"),
    MEMBER("localBlocksFetched", "Local Blocks Fetched"),
    MEMBER("fetchWaitTime", "Fetch Wait Time"),
    MEMBER("remoteBytesRead", "Remote Bytes Read"),
    MEMBER("remoteBytesReadToDisk", "Remote Bytes Read To Disk"),
    MEMBER("localBytesRead", "Local Bytes Read"),
    MEMBER("recordsRead", "Total Records Read"),
    MEMBER("remoteReqsDuration", "Remote Requests Duration"),
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
#define COUNT(table) (sizeof(table) / sizeof(*(table)))
enum { MOST_MEMBERS = COUNT(metrics), FIRST_OBJECT = 10 };

static void add_members(struct pyro_rest_reading *reading, const char *name, struct pyro_slice text,
                        const struct member *members, unsigned count, struct pyro_slice *values)
{
    struct pyro_json_key keys[MOST_MEMBERS] = {{.len = 0}};
    for (unsigned i = 0; i < count; i++)
        keys[i] = members[i].key;
    if (!pyro_rest_take_text(text, keys, count, values))
        return;
    pyro_rest_begin(reading, name, '{');
    for (unsigned i = 0; i < count && members[i].name; i++)
        pyro_rest_add_raw(reading, members[i].name, values[i]);
}

static void add_metrics(struct pyro_rest_reading *reading, struct pyro_slice text)
{
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
        if (!values[FIRST_OBJECT + i].ptr)
            continue;
        add_members(reading, objects[i].name, values[FIRST_OBJECT + i], objects[i].members, objects[i].count, inner);
        pyro_rest_end(reading, '}');
    }
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

static enum pyro_status write_task(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage,
                                   const struct pyro_slice *values)
{
    int64_t launch_ms = pyro_rest_time(values[LAUNCH]), duration_ms = pyro_rest_int(values[DURATION], 0);
    begin_task(reading, "SparkListenerTaskStart", stage);
    pyro_rest_begin(reading, "Task Info", '{');
    pyro_rest_add_raw(reading, "Task ID", values[ID]);
    pyro_rest_add_time(reading, "Launch Time", launch_ms);
    pyro_rest_end(reading, '}');
    PYRO_TRY(pyro_rest_line_end(reading));
    bool failed = pyro_rest_is(values[STATUS], "FAILED"), killed = pyro_rest_is(values[STATUS], "KILLED");
    if (!failed && !killed && !pyro_rest_is(values[STATUS], "SUCCESS"))
        return PYRO_OK; /* still running */
    begin_task(reading, "SparkListenerTaskEnd", stage);
    pyro_rest_add_reason(reading, values[STATUS], values[MESSAGE]);
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
    pyro_rest_add_time(reading, "Getting Result Time", pyro_rest_time(values[FETCH_START]));
    if (launch_ms != PYRO_NONE)
        pyro_rest_add_int(
            reading, "Finish Time",
            pyro_add_saturating(launch_ms, duration_ms > 0 && duration_ms < INT32_MAX * 1000L ? duration_ms : 0));
    pyro_rest_add_raw(reading, "Failed", failed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_add_raw(reading, "Killed", killed ? PYRO_SLICE_LITERAL("true") : PYRO_SLICE_LITERAL("false"));
    pyro_rest_end(reading, '}');
    add_metrics(reading, values[METRICS]);
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
