#include "made_members.h"

enum { START_S = 1700000000 };

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void executor_id(struct making *making, const char *key)
{
    static const char *const ids[] = {"1", "2", "3", "1", "2", "driver", "9", ""};
    made_text(making, key, CHOOSE(making, ids));
}

static void properties(struct making *making, const char *key)
{
    static const char *const settings[] = {
        "\"spark.executor.memory\":\"4g\"",
        "\"spark.executor.memory\":\"-1\"",
        "\"spark.executor.cores\":\"2\"",
        "\"spark.executor.cores\":\"0\"",
        "\"spark.task.cpus\":\"3\"",
        "\"spark.dynamicAllocation.enabled\":\"true\",\"spark.dynamicAllocation.maxExecutors\":\"infinity\"",
        "\"spark.dynamicAllocation.enabled\":\"true\",\"spark.dynamicAllocation.minExecutors\":\"999999999\"",
        "\"spark.sql.shuffle.partitions\":\"200\"",
        "\"spark.sql.shuffle.partitions\":\"99999999999999999999\"",
        "\"spark.sql.adaptive.enabled\":\"false\"",
        "\"spark.speculation\":\"true\",\"spark.speculation.multiplier\":\"nan\"",
        "\"spark.master\":\"local[*]\"",
        "\"spark.master\":\"yarn\",\"spark.yarn.queue\":\"etl\"",
        "\"spark.executor.memoryOverhead\":\"9223372036854775807g\"",
        "\"spark.memory.fraction\":\"1e400\"",
        "\"spark.task.resource.gpu.amount\":\"0.1\",\"spark.executor.resource.gpu.amount\":\"1\"",
        "\"spark.locality.wait\":\"-5s\"",
        "\"spark.driver.memory\":\"1t\"",
        "\"spark.scheduler.pool\":\"fast\",\"spark.jobGroup.id\":\"group 1\"",
        "\"spark.sql.execution.id\":\"0\"",
        "\"spark.sql.execution.id\":\"-3\"",
        "\"spark.databricks.clusterUsageTags.clusterNodeType\":\"i3.xlarge\"",
        "\"spark.redaction.regex\":\"(a+)+$\"",
        "\"spark.app.name\":\"\\ud83d\\u202e\"",
    };
    struct pyro_strbuf value;
    pyro_strbuf_init(&value, NULL);
    pyro_strbuf_add_text(&value, "{\"spark.hadoop.fs.s3a.secret.key\":\"" MADE_SECRET "\"");
    for (unsigned count = made_next(making) % 6; count > 0; count--)
        pyro_strbuf_printf(&value, ",%s", CHOOSE(making, settings));
    pyro_strbuf_add_text(&value, "}");
    made_raw(making, key, value.data);
    pyro_strbuf_done(&value);
}

static void stage_info(struct making *making, bool ended)
{
    static const char *const names[] = {"join at etl.py:12", "count at Main.scala:7", "", "save at <console>:1",
                                        ("map at x?password=" MADE_SECRET)};
    static const char *const failures[] = {NULL,
                                           NULL,
                                           NULL,
                                           NULL,
                                           "\"Job aborted: Task 1 in stage 2.0 failed 4 times\"",
                                           "\"java.lang.OutOfMemoryError: GC overhead\"",
                                           "\"password=" MADE_SECRET "\"",
                                           "\"FetchFailed(BlockManagerId(1, h, 7, None))\""};
    unsigned stage = made_next(making);
    char parents[32];
    snprintf(parents, sizeof(parents), "[%u]", stage > 127 ? stage % 7 : (stage + 7) % 8);
    made_open_object(making, "Stage Info");
    made_number(making, "Stage ID", stage & 7);
    made_number(making, "Stage Attempt ID", stage >> 5 == 7 ? 1 : 0);
    made_text(making, "Stage Name", CHOOSE(making, names));
    made_number(making, "Number of Tasks", made_next(making) % 24);
    made_raw(making, "Parent IDs", stage & 8 ? parents : "[]");
    made_raw(making, "RDD Info",
             "[{\"RDD "
             "ID\":3,\"Name\":\"MapPartitionsRDD\",\"Scope\":\"{\\\"id\\\":\\\"4\\\",\\\"name\\\":\\\"Exchange\\\"}\","
             "\"Parent IDs\":[1,2],\"Storage Level\":{\"Use Disk\":false,\"Use Memory\":true,\"Replication\":1},"
             "\"Number of Partitions\":8,\"Number of Cached Partitions\":2,\"Memory Size\":100,\"Disk Size\":0}]");
    made_number(making, "Submission Time", making->now_ms - (ended ? made_amount(making, 100) % 1000000 : 0));
    if (ended) {
        made_number(making, "Completion Time", made_later(making));
        made_raw(making, "Failure Reason", CHOOSE(making, failures));
        made_raw(making, "Accumulables",
                 "[{\"ID\":1,\"Name\":\"number of output rows\",\"Value\":\"40\",\"Metadata\":\"sql\"},"
                 "{\"ID\":2,\"Name\":\"internal.metrics.executorRunTime\",\"Value\":-5}]");
    }
    made_number(making, "Resource Profile Id", stage >> 4 & 1);
    made_close_object(making);
}

static void task_metrics(struct making *making)
{
    made_open_object(making, "Task Metrics");
    made_number(making, "Executor Deserialize Time", made_amount(making, 1));
    made_number(making, "Executor Run Time", made_amount(making, 10));
    made_number(making, "Executor CPU Time", made_amount(making, 1000000));
    made_number(making, "JVM GC Time", made_amount(making, 1));
    made_number(making, "Peak Execution Memory", made_amount(making, 1 << 20));
    made_number(making, "Result Size", made_amount(making, 100));
    made_number(making, "Result Serialization Time", 1);
    made_number(making, "Memory Bytes Spilled", made_amount(making, 1 << 16));
    made_number(making, "Disk Bytes Spilled", made_amount(making, 1 << 14));
    made_open_object(making, "Shuffle Read Metrics");
    made_number(making, "Remote Blocks Fetched", 3);
    made_number(making, "Local Blocks Fetched", 1);
    made_number(making, "Fetch Wait Time", made_amount(making, 1));
    made_number(making, "Remote Bytes Read", made_amount(making, 1 << 12));
    made_number(making, "Local Bytes Read", 5);
    made_number(making, "Total Records Read", made_amount(making, 10));
    made_close_object(making);
    made_open_object(making, "Shuffle Write Metrics");
    made_number(making, "Shuffle Bytes Written", made_amount(making, 1 << 12));
    made_number(making, "Shuffle Write Time", made_amount(making, 100000));
    made_number(making, "Shuffle Records Written", 7);
    made_close_object(making);
    made_open_object(making, "Input Metrics");
    made_number(making, "Bytes Read", made_amount(making, 1 << 14));
    made_number(making, "Records Read", made_amount(making, 10));
    made_close_object(making);
    made_open_object(making, "Output Metrics");
    made_number(making, "Bytes Written", made_amount(making, 1 << 10));
    made_number(making, "Records Written", 3);
    made_close_object(making);
    made_raw(making, "Updated Blocks", "[]");
    made_close_object(making);
}

static void executor_metrics(struct making *making, const char *key)
{
    made_open_object(making, key);
    made_number(making, "JVMHeapMemory", made_amount(making, 1 << 20));
    made_number(making, "JVMOffHeapMemory", made_amount(making, 1 << 18));
    made_number(making, "OnHeapExecutionMemory", made_amount(making, 1 << 16));
    made_number(making, "OnHeapStorageMemory", 1000);
    made_number(making, "ProcessTreeJVMRSSMemory", made_amount(making, 1 << 22));
    made_number(making, "MajorGCCount", 2);
    made_number(making, "TotalGCTime", made_amount(making, 10));
    made_close_object(making);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

#define STREAMING "org.apache.spark.sql.streaming.StreamingQueryListener$"

static void log_start(struct making *making)
{
    static const char *const versions[] = {"3.5.1", "4.0.0", "2.4.8", "1.6", "", "x"};
    made_begin(making, "LogStart");
    made_text(making, "Spark Version", CHOOSE(making, versions));
    made_end(making);
}

static void application_start(struct making *making)
{
    made_begin(making, "ApplicationStart");
    made_text(making, "App Name", "made");
    made_text(making, "App ID", made_next(making) & 1 ? "app-2" : "app-1");
    made_number(making, "Timestamp", made_later(making));
    made_text(making, "User", "ann");
    made_text(making, "App Attempt ID", "1");
    made_end(making);
}

static void application_end(struct making *making)
{
    made_begin(making, "ApplicationEnd");
    made_number(making, "Timestamp", made_later(making));
    made_end(making);
}

static void environment(struct making *making)
{
    made_begin(making, "EnvironmentUpdate");
    made_raw(making, "JVM Information", "{\"Java Version\":\"17\",\"Scala Version\":\"2.13\"}");
    properties(making, "Spark Properties");
    made_raw(making, "Hadoop Properties", "{\"a.password\":\"" MADE_SECRET "\"}");
    made_raw(making, "System Properties", "{\"sun.java.command\":\"x --password " MADE_SECRET "\"}");
    made_raw(making, "Classpath Entries", "{\"/x.jar\":\"System Classpath\"}");
    made_end(making);
}

static void resource_profile(struct making *making)
{
    made_begin(making, "ResourceProfileAdded");
    made_number(making, "Resource Profile Id", made_next(making) & 1);
    made_raw(making, "Executor Resource Requests",
             "{\"cores\":{\"Resource Name\":\"cores\",\"Amount\":2},\"gpu\":{\"Resource Name\":\"gpu\",\"Amount\":1}}");
    made_raw(
        making, "Task Resource Requests",
        "{\"cpus\":{\"Resource Name\":\"cpus\",\"Amount\":1.0},\"gpu\":{\"Resource Name\":\"gpu\",\"Amount\":0.25}}");
    made_end(making);
}

static void executor_added(struct making *making)
{
    made_begin(making, "ExecutorAdded");
    made_number(making, "Timestamp", made_later(making));
    executor_id(making, "Executor ID");
    made_open_object(making, "Executor Info");
    made_text(making, "Host", "h");
    made_number(making, "Total Cores", made_next(making) % 9);
    made_raw(making, "Attributes", "{}");
    made_raw(making, "Resources", "{\"gpu\":{\"name\":\"gpu\",\"addresses\":[\"0\"]}}");
    made_number(making, "Resource Profile Id", made_next(making) & 1);
    made_close_object(making);
    made_end(making);
}

static void executor_removed(struct making *making)
{
    static const char *const reasons[] = {
        "Container killed by YARN for exceeding memory limits. 5 GB of 5 GB physical memory used",
        "Executor killed by driver.",
        "worker lost",
        "Command exited with code 137",
        "Executor decommission: worker decommissioned",
        "",
        ("Token " MADE_SECRET)};
    made_begin(making, "ExecutorRemoved");
    made_number(making, "Timestamp", made_later(making));
    executor_id(making, "Executor ID");
    made_text(making, "Removed Reason", reasons[made_next(making) % 6]);
    made_end(making);
}

static void job_start(struct making *making)
{
    unsigned job = made_next(making);
    char stages[64];
    snprintf(stages, sizeof(stages), "[%u,%u]", job >> 2 & 7, job >> 5);
    made_begin(making, "JobStart");
    made_number(making, "Job ID", job & 3);
    made_number(making, "Submission Time", made_later(making));
    pyro_strbuf_add_text(making->out, ",\"Stage Infos\":[{\"a\":0");
    making->first = false;
    stage_info(making, false);
    pyro_strbuf_add_text(making->out, "}]");
    made_raw(making, "Stage IDs", stages);
    properties(making, "Properties");
    made_end(making);
}

static void job_end(struct making *making)
{
    static const char *const results[] = {
        "{\"Result\":\"JobSucceeded\"}",
        "{\"Result\":\"JobFailed\",\"Exception\":{\"Message\":\"m password=" MADE_SECRET "\",\"Stack Trace\":[]}}",
        "{}"};
    made_begin(making, "JobEnd");
    made_number(making, "Job ID", made_next(making) & 3);
    made_number(making, "Completion Time", made_later(making));
    made_raw(making, "Job Result", CHOOSE(making, results));
    made_end(making);
}

static void stage_submitted(struct making *making)
{
    made_begin(making, "StageSubmitted");
    stage_info(making, false);
    properties(making, "Properties");
    made_end(making);
}

static void stage_completed(struct making *making)
{
    made_begin(making, "StageCompleted");
    stage_info(making, true);
    made_end(making);
}

static void task_info(struct making *making, bool ended)
{
    static const char *const localities[] = {"PROCESS_LOCAL", "NODE_LOCAL", "ANY", "RACK_LOCAL", "ELSEWHERE"};
    unsigned task = made_next(making);
    int64_t launch = made_later(making), took = ended ? made_amount(making, 10) : 0;
    made_open_object(making, "Task Info");
    made_number(making, "Task ID", task & 31);
    made_number(making, "Index", task & 15);
    made_number(making, "Attempt", task >> 7);
    made_number(making, "Launch Time", launch);
    executor_id(making, "Executor ID");
    made_text(making, "Host", "h");
    made_text(making, "Locality", CHOOSE(making, localities));
    made_raw(making, "Speculative", task & 64 ? "true" : "false");
    made_number(making, "Getting Result Time", 0);
    made_number(making, "Finish Time", ended ? launch + took % 100000000 : 0);
    made_raw(making, "Failed", task & 32 ? "true" : "false");
    made_raw(making, "Killed", "false");
    made_raw(making, "Accumulables",
             "[{\"ID\":1,\"Name\":\"number of output rows\",\"Update\":\"4\",\"Value\":\"9\",\"Metadata\":\"sql\"}]");
    made_close_object(making);
    if (ended && took < 100000)
        making->now_ms = launch + took;
}

static void task_start(struct making *making)
{
    made_begin(making, "TaskStart");
    made_number(making, "Stage ID", made_next(making) & 7);
    made_number(making, "Stage Attempt ID", 0);
    task_info(making, false);
    made_end(making);
}

static void task_end(struct making *making)
{
    static const char *const reasons[] = {
        "{\"Reason\":\"Success\"}",
        "{\"Reason\":\"Success\"}",
        "{\"Reason\":\"Success\"}",
        "{\"Reason\":\"ExceptionFailure\",\"Class "
        "Name\":\"java.lang.OutOfMemoryError\",\"Description\":\"heap\",\"Stack Trace\":[],\"Full Stack "
        "Trace\":\"x\\n\\tat a.B(C.java:1)\"}",
        "{\"Reason\":\"ExecutorLostFailure\",\"Executor ID\":\"1\",\"Exit Caused By App\":true,\"Loss "
        "Reason\":\"lost\"}",
        "{\"Reason\":\"FetchFailed\",\"Block Manager Address\":{\"Executor "
        "ID\":\"2\",\"Host\":\"h\",\"Port\":1},\"Shuffle ID\":0,\"Map ID\":1,\"Reduce "
        "ID\":2,\"Message\":\"password=" MADE_SECRET "\"}",
        "{\"Reason\":\"TaskKilled\",\"Kill Reason\":\"another attempt succeeded\"}",
        "{\"Reason\":\"UnknownReason\"}",
    };
    static const char *const kinds[] = {"ResultTask", "ShuffleMapTask", "", "X"};
    made_begin(making, "TaskEnd");
    unsigned stage = made_next(making);
    made_number(making, "Stage ID", stage & 7);
    made_number(making, "Stage Attempt ID", stage >> 5 == 7 ? 1 : 0);
    made_text(making, "Task Type", CHOOSE(making, kinds));
    made_raw(making, "Task End Reason", CHOOSE(making, reasons));
    task_info(making, true);
    if (stage & 8)
        executor_metrics(making, "Task Executor Metrics");
    if (!(stage & 16))
        task_metrics(making);
    made_end(making);
}

static void executor_update(struct making *making)
{
    made_begin(making, "ExecutorMetricsUpdate");
    executor_id(making, "Executor ID");
    made_raw(making, "Metrics Updated", "[]");
    pyro_strbuf_add_text(making->out, ",\"Executor Metrics Updated\":[{\"Stage ID\":1,\"Stage Attempt ID\":0");
    making->first = false;
    executor_metrics(making, "Executor Metrics");
    pyro_strbuf_add_text(making->out, "}]");
    made_end(making);
}

static void stage_executor_metrics(struct making *making)
{
    made_begin(making, "StageExecutorMetrics");
    executor_id(making, "Executor ID");
    made_number(making, "Stage ID", made_next(making) & 7);
    made_number(making, "Stage Attempt ID", 0);
    executor_metrics(making, "Executor Metrics");
    made_end(making);
}

static void block_manager(struct making *making)
{
    made_begin(making, made_next(making) & 3 ? "BlockManagerAdded" : "BlockManagerRemoved");
    made_open_object(making, "Block Manager ID");
    executor_id(making, "Executor ID");
    made_text(making, "Host", "h");
    made_number(making, "Port", 7);
    made_close_object(making);
    made_number(making, "Maximum Memory", made_amount(making, 1 << 20));
    made_number(making, "Timestamp", made_later(making));
    made_number(making, "Maximum Onheap Memory", made_amount(making, 1 << 20));
    made_end(making);
}

static void block_updated(struct making *making)
{
    static const char *const blocks[] = {"rdd_3_1", "rdd_3_2", "rdd_x", "broadcast_1", "rdd_9223372036854775807_-1",
                                         ""};
    made_begin(making, "BlockUpdated");
    made_open_object(making, "Block Updated Info");
    made_raw(making, "Block Manager ID", "{\"Executor ID\":\"1\",\"Host\":\"h\",\"Port\":7}");
    made_text(making, "Block ID", CHOOSE(making, blocks));
    made_raw(making, "Storage Level",
             "{\"Use Disk\":true,\"Use Memory\":true,\"Deserialized\":false,\"Replication\":1}");
    made_number(making, "Memory Size", made_amount(making, 1 << 10));
    made_number(making, "Disk Size", made_amount(making, 1 << 10));
    made_close_object(making);
    made_end(making);
}

static void unpersist(struct making *making)
{
    made_begin(making, "UnpersistRDD");
    made_number(making, "RDD ID", made_next(making) & 3);
    made_end(making);
}

static void excluded(struct making *making)
{
    static const char *const events[] = {"ExecutorExcluded",    "ExecutorUnexcluded", "ExecutorExcludedForStage",
                                         "NodeExcluded",        "NodeUnexcluded",     "NodeExcludedForStage",
                                         "ExecutorBlacklisted", "NodeBlacklisted"};
    made_begin(making, CHOOSE(making, events));
    made_number(making, "time", made_later(making));
    executor_id(making, "executorId");
    made_text(making, "hostId", "h");
    made_number(making, "taskFailures", 2);
    made_number(making, "stageId", 1);
    made_number(making, "stageAttemptId", 0);
    made_end(making);
}

static void progress(struct making *making)
{
    made_begin(making, STREAMING "QueryProgressEvent");
    made_open_object(making, "progress");
    made_text(making, "id", "q");
    made_text(making, "runId", "r");
    made_text(making, "name", "stream");
    made_text(making, "timestamp", "2023-11-14T22:13:20.000Z");
    made_number(making, "batchId", made_next(making));
    made_number(making, "batchDuration", made_amount(making, 10));
    made_raw(making, "durationMs", "{\"addBatch\":10,\"triggerExecution\":-20}");
    pyro_strbuf_add_text(making->out, ",\"sources\":[{\"description\":\"kafka password=" MADE_SECRET "\"");
    made_number(making, "numInputRows", made_amount(making, 10));
    made_raw(making, "inputRowsPerSecond", "\"NaN\"");
    made_raw(making, "processedRowsPerSecond", "-1.5");
    pyro_strbuf_add_text(making->out, "}]");
    made_raw(making, "stateOperators", "[{\"numRowsTotal\":5,\"memoryUsedBytes\":-3}]");
    made_close_object(making);
    made_end(making);
}

static void databricks(struct making *making)
{
    made_begin(making, "DBCEventLoggingListenerMetadata");
    making->last = making->out->len; /* its repetition would be a part of another log */
    made_number(making, "Rollover Number", made_next(making) & 1);
    made_text(making, "Databricks Version", "15.4");
    made_end(making);
}

/* The last line again, or a line that is not an event. */
static void again(struct making *making)
{
    size_t len = making->out->len - making->last;
    char copy[2048];
    if (len == 0 || len > sizeof(copy))
        return;
    memcpy(copy, making->out->data + making->last, len);
    pyro_strbuf_add(making->out, copy, len);
}

static void damage(struct making *making)
{
    static const char *const lines[] = {
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Task Info\":{\"Task ID\":3",
        "not json",
        "{}",
        "[]",
        "{\"Event\":7}",
        "{\"Event\":\"SparkListenerUnheardOf\",\"password\":\"" MADE_SECRET "\"}",
        "\xff\xfe",
        ""};
    pyro_strbuf_add_text(making->out, CHOOSE(making, lines));
    pyro_strbuf_add_text(making->out, "\n");
}

static void (*const events[])(struct making *) = {
    task_end,
    task_end,
    task_end,
    task_start,
    task_start,
    stage_submitted,
    stage_completed,
    job_start,
    job_end,
    executor_added,
    executor_removed,
    made_sql_start,
    made_sql_update,
    made_sql_end,
    made_sql_accumulators,
    executor_update,
    environment,
    resource_profile,
    block_manager,
    stage_executor_metrics,
    block_updated,
    unpersist,
    excluded,
    progress,
    databricks,
    again,
    damage,
    application_start,
    log_start,
    application_end,
    task_end,
    task_start,
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

void made_log_write(const uint8_t *data, size_t size, struct pyro_strbuf *ret)
{
    static const uint8_t usual[128] = {0};
    const uint8_t *const end = data + size;
    struct making making = {.at = data, .end = end, .out = ret, .now_ms = (int64_t)START_S * 1000, .last = ret->len};
    unsigned frame = made_next(&making);
    data = making.at;
    making.at = usual, making.end = usual + sizeof(usual);
    if (!(frame & 1)) {
        log_start(&making);
        application_start(&making);
        making.at = usual;
        executor_added(&making);
    }
    if (!(frame & 2)) {
        making.at = usual;
        environment(&making);
    }
    if (!(frame & 4)) {
        making.at = usual;
        job_start(&making);
        stage_submitted(&making);
    }
    making.at = data, making.end = end;
    for (int count = 0; making.at < making.end && count < MADE_EVENTS; count++)
        events[made_next(&making) % EVENTS](&making);
    making.at = making.end = end;
    if (!(frame & 4)) {
        stage_completed(&making);
        job_end(&making);
    }
    if (!(frame & 8))
        application_end(&making);
}
