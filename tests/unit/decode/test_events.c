/* Every event that the model keeps something of: what it keeps. Each row of events.def with a decoder has a place here.
 */
#include "kit.h"

#include "decode/eventlog/events.h"

static void the_application(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerLogStart','Spark Version':'4.1.0'}\n"
        "{'Event':'SparkListenerApplicationStart','App Name':'n','App ID':'i','Timestamp':100,'User':'u',"
        "'App Attempt ID':'2','Driver Logs':{'stdout':'x'}}\n"
        "{'Event':'SparkListenerEnvironmentUpdate','Spark Properties':{'spark.master':'local[2]'}}\n"
        "{'Event':'SparkListenerResourceProfileAdded','Resource Profile Id':1,'Executor Resource Requests':{'cores':"
        "{'Resource Name':'cores','Amount':4,'Vendor':''},'memory':{'Amount':2048}},'Task Resource Requests':{'cpus':"
        "{'Resource Name':'cpus','Amount':2.0}}}\n"
        "{'Event':'SparkListenerApplicationEnd','Timestamp':300,'ExitCode':3}\n");
    const struct pyro_application_row *row = &app->application;
    assert_text(row->spark_version, "4.1.0");
    assert_text(row->name, "n");
    assert_text(row->id, "i");
    assert_text(row->attempt, "2");
    assert_text(row->user, "u");
    assert_text(row->master, "local[2]");
    assert_int_equal(row->duration_ms, 200);
    assert_int_equal(row->exit_code, 3);
    assert_text(row->status, "failed");
    assert_false(app->integrity.truncated);
    assert_text(pyro_app_property_of(app, "resource_profile", "1.executor.cores"), "4");
    assert_text(pyro_app_property_of(app, "resource_profile", "1.executor.memory"), "2048");
    assert_text(pyro_app_property_of(app, "resource_profile", "1.task.cpus"), "2.0");
    kit_done(&kit);
}

static void jobs_and_stages(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerJobStart','Job ID':1,'Submission Time':10,'Stage Infos':[{'Stage ID':2,'Stage Name':"
        "'two'},{'Stage ID':3,'Stage Name':'three','RDD Info':[]},null],'Stage IDs':[3,2],'Properties':"
        "{'spark.sql.execution.id':'5','spark.job.description':'what','spark.jobGroup.id':'g',"
        "'spark.scheduler.pool':'p','x':7}}\n"
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':2,'Stage Attempt ID':1,'Stage Name':'two',"
        "'Number of Tasks':8,'RDD Info':[{'RDD ID':4,'Name':'r','Scope':'{\\'id\\':\\'1\\',\\'name\\':\\'map\\'}',"
        "'Callsite':'c','Parent IDs':[3,1],'Storage Level':{'Use Disk':false,'Use Memory':true},"
        "'Number of Partitions':8,'Number of Cached Partitions':6,'Memory Size':600,'Disk Size':70}],'Parent IDs':[1],"
        "'Details':'','Submission Time':11,'Resource Profile Id':1},'Properties':{'spark.scheduler.pool':'q'}}\n"
        "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':2,'Stage Attempt ID':1,'RDD Info':"
        "[{'RDD ID':4,'Storage Level':{},'Number of Cached Partitions':0,'Memory Size':0,'Disk Size':0}],"
        "'Completion Time':19}}\n"
        "{'Event':'SparkListenerJobEnd','Job ID':1,'Completion Time':20,'Job Result':{'Result':'JobSucceeded'}}\n"
        "{'Event':'SparkListenerUnpersistRDD','RDD ID':4}\n");
    const struct pyro_job *job = &app->jobs.items[0];
    assert_text(job->description, "what");
    assert_text(job->group_id, "g");
    assert_text(job->pool, "p");
    assert_int_equal(job->sql, 5);
    assert_text(job->status, "succeeded");
    assert_int_equal(job->completed_ms, 20);
    const struct pyro_stage *stage = &app->stages.items[0];
    assert_int_equal(stage->attempt, 1);
    assert_int_equal(stage->partitions, 8);
    assert_int_equal(stage->submitted_ms, 11);
    assert_int_equal(stage->completed_ms, 19);
    assert_int_equal(stage->resource_profile, 1);
    assert_text(stage->pool, "q");
    assert_text(stage->name, "two");
    assert_text(stage->status, "succeeded");
    const struct pyro_rdd *rdd = &app->rdds.items[0];
    assert_text(rdd->operation, "map");
    assert_int_equal(rdd->stage, 2);
    assert_int_equal(rdd->cached, 1);
    assert_int_equal(rdd->cached_partitions, 6);
    assert_int_equal(rdd->memory_bytes, 600);
    assert_int_equal(rdd->disk_bytes, 70);
    assert_int_equal(rdd->stages, 1);
    assert_int_equal(rdd->unpersisted, 1);
    assert_text(rdd->level, "MEMORY_ONLY_SER");
    assert_int_equal(rdd->cached_from, 2);
    assert_int_equal(rdd->cached_to, 2);
    assert_int_equal(rdd->parent_count, 2);
    assert_int_equal(rdd->parent_ids[0], 1);
    assert_int_equal(stage->rdd_count, 1);
    assert_int_equal(stage->rdd_ids[0], 4);
    kit_done(&kit);
}

static void tasks(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app =
        kit_decode(&kit, "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{'Task ID':0,'Launch Time':9}}\n"
                         "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task Info':{'Task ID':0,'Launch Time':9}}\n");
    assert_int_equal(app->integrity.tasks_started, 1);
    assert_int_equal(app->integrity.tasks_ended, 1);
    assert_int_equal(app->stages.count, 1);
    assert_true(app->stages.items[0].unsubmitted);
    kit_done(&kit);
}

static void executors(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'SparkListenerExecutorAdded','Timestamp':5,'Executor ID':'1','Executor Info':{'Host':'h',"
              "'Total Cores':4,'Log Urls':{'a':'b'},'Attributes':{},'Resources':{},'Resource Profile Id':0,"
              "'Registration Time':4,'Request Time':2}}\n"
              "{'Event':'SparkListenerBlockManagerAdded','Block Manager ID':{'Executor ID':'1','Host':'h','Port':1},"
              "'Maximum Memory':4000,'Timestamp':6,'Maximum Onheap Memory':4000}\n"
              "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'1','Metrics Updated':[{'Task ID':1}],"
              "'Executor Metrics Updated':[{'Stage ID':0,'Stage Attempt ID':0,'Executor Metrics':{'JVMHeapMemory':50,"
              "'ProcessTreeJVMRSSMemory':90}}]}\n"
              "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'1','Stage ID':0,'Stage Attempt ID':0,"
              "'Executor Metrics':{'JVMHeapMemory':40,'JVMOffHeapMemory':8,'OnHeapExecutionMemory':3,"
              "'OffHeapExecutionMemory':4,'ProcessTreePythonRSSMemory':30,'ProcessTreeOtherRSSMemory':2,"
              "'MinorGCCount':7,'MinorGCTime':11,'MajorGCCount':5,'MajorGCTime':20}}\n"
              "{'Event':'SparkListenerBlockManagerRemoved','Block Manager ID':{'Executor ID':'1'},'Timestamp':8}\n"
              "{'Event':'SparkListenerExecutorRemoved','Timestamp':9,'Executor ID':'1','Removed Reason':'idle'}\n");
    const struct pyro_executor *row = &app->executors.items[0];
    assert_text(row->host, "h");
    assert_int_equal(row->cores, 4);
    assert_int_equal(row->resource_profile, 0);
    assert_int_equal(row->requested_ms, 2);
    assert_int_equal(row->registered_ms, 4);
    assert_int_equal(row->storage_memory_bytes, 4000);
    assert_int_equal(row->heap_peak_bytes, 50);
    assert_int_equal(row->offheap_peak_bytes, 8);
    assert_int_equal(row->execution_peak_bytes, 7);
    assert_int_equal(row->process_rss_peak_bytes, 90);
    assert_int_equal(row->python_rss_peak_bytes, 30);
    assert_int_equal(row->other_rss_peak_bytes, 2);
    assert_int_equal(row->full_collections, 5);
    assert_int_equal(row->collection_ms, 31); /* without a total: both kinds together */
    assert_int_equal(row->removed_ms, 9);
    assert_text(row->remove_reason, "idle");
    assert_text(app->failures.items[0].kind, "executor");
    kit_done(&kit);
}

#define BLOCK(executor, id, memory, disk)                                                                              \
    "{'Event':'SparkListenerBlockUpdated','Block Updated Info':{'Block Manager ID':{'Executor ID':'" executor          \
    "','Host':'h','Port':1},'Block ID':'" id "','Storage Level':{'Use Disk':true,'Use Memory':" memory                 \
    ",'Replication':1},'Memory Size':9000,'Disk Size':" disk "}}\n"

static void block_updates(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app =
        kit_decode(&kit, BLOCK("1", "rdd_3_0", "true", "0") BLOCK("1", "rdd_3_0", "true", "0")
                             BLOCK("2", "rdd_3_1", "true", "5") BLOCK("1", "rdd_3_0", "false", "0")
                                 BLOCK("1", "broadcast_1_piece0", "true", "0") BLOCK("1", "rdd_x_y", "true", "0"));
    assert_int_equal(kit_events(app, "SparkListenerBlockUpdated"), 6);
    assert_int_equal(app->rdds.count, 1);
    assert_int_equal(app->rdds.items[0].memory_bytes, 18000); /* both at once; one that is reported twice counts once */
    assert_int_equal(app->rdds.items[0].disk_bytes, 5);
    assert_int_equal(app->rdds.items[0].dropped_blocks, 1);
    kit_done(&kit);
}

static void exclusions(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerExecutorExcluded','time':5,'executorId':'1','taskFailures':2}\n"
        "{'Event':'SparkListenerExecutorBlacklisted','time':5,'executorId':'1','taskFailures':2}\n"
        "{'Event':'SparkListenerExecutorExcludedForStage','time':6,'executorId':'1','taskFailures':1,'stageId':3,"
        "'stageAttemptId':0}\n"
        "{'Event':'SparkListenerExecutorBlacklistedForStage','time':6,'executorId':'2','taskFailures':1,'stageId':3,"
        "'stageAttemptId':0}\n"
        "{'Event':'SparkListenerNodeExcluded','time':7,'hostId':'h','executorFailures':4}\n"
        "{'Event':'SparkListenerNodeBlacklisted','time':8,'hostId':'h2','executorFailures':4}\n"
        "{'Event':'SparkListenerNodeExcludedForStage','time':9,'hostId':'h','executorFailures':4,'stageId':1,"
        "'stageAttemptId':1}\n"
        "{'Event':'SparkListenerNodeBlacklistedForStage','time':9,'hostId':'h3','executorFailures':4,'stageId':1,"
        "'stageAttemptId':1}\n"
        "{'Event':'SparkListenerExecutorUnexcluded','time':20,'executorId':'1'}\n"
        "{'Event':'SparkListenerExecutorUnblacklisted','time':21,'executorId':'1'}\n"
        "{'Event':'SparkListenerNodeUnexcluded','time':22,'hostId':'h'}\n"
        "{'Event':'SparkListenerNodeUnblacklisted','time':23,'hostId':'h2'}\n"
        "{'Event':'SparkListenerNodeExcluded','time':7}\n");
    assert_int_equal(app->integrity.bad_lines, 0); /* one that names nothing is counted */
    assert_int_equal(app->exclusions.count, 7);    /* reported by both names: one */
    assert_text(app->exclusions.items[0].kind, "executor");
    assert_int_equal(app->exclusions.items[0].until_ms, 20);
    assert_int_equal(app->exclusions.items[0].failures, 2);
    assert_int_equal(app->exclusions.items[1].stage, 3);
    assert_int_equal(app->exclusions.items[1].until_ms, PYRO_NONE);
    assert_text(app->exclusions.items[3].kind, "node");
    assert_int_equal(app->exclusions.items[3].until_ms, 22);
    assert_int_equal(app->exclusions.items[4].until_ms, 23);
    kit_done(&kit);
}

static void processes(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded','time':5,'processId':'yarn-am',"
        "'info':{'hostPort':'h:1','cores':2,'logUrlInfo':{}}}\n"
        "{'Event':'SparkListenerMiscellaneousProcessAdded','time':6,'processId':'p','info':null}\n");
    assert_int_equal(app->processes.count, 2);
    assert_text(app->processes.items[0].id, "yarn-am");
    assert_text(app->processes.items[0].host_port, "h:1");
    assert_int_equal(app->processes.items[0].cores, 2);
    kit_done(&kit);
}

static void sql(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':4,'rootExecutionId':2,'description':'d',"
        "'details':'','physicalPlanDescription':'p','sparkPlanInfo':{'nodeName':'N','metrics':[{'accumulatorId':1}]},"
        "'time':10,'modifiedConfigs':{},'jobTags':[]}\n"
        "{'Event':'" SQL_UI "SparkListenerSQLAdaptiveExecutionUpdate','executionId':4,'sparkPlanInfo':{'nodeName':'M',"
        "'metrics':[{'accumulatorId':1}]}}\n"
        "{'Event':'" SQL_UI "SparkListenerSQLAdaptiveSQLMetricUpdates','executionId':4,'sqlPlanMetrics':[]}\n"
        "{'Event':'" SQL_UI "SparkListenerDriverAccumUpdates','executionId':4,'accumUpdates':[[1,8]]}\n"
        "{'Event':'" SQL_UI "SparkListenerSQLExecutionEnd','executionId':4,'time':30,'errorMessage':'bad'}\n");
    const struct pyro_sql_execution *row = &app->sql.items[0];
    assert_int_equal(row->root_id, 2);
    assert_text(row->description, "d");
    assert_text(row->call_site, "d");
    assert_text(row->status, "failed");
    assert_text(row->failure, "bad");
    assert_int_equal(row->submitted_ms, 10);
    assert_int_equal(row->completed_ms, 30);
    assert_text(app->sql_nodes.items[0].name, "M");
    assert_int_equal(app->sql_metrics.items[0].value, 8);
    assert_text(app->failures.items[0].kind, "sql");
    kit_done(&kit);
}

#define STREAMING "org.apache.spark.sql.streaming.StreamingQueryListener$"

static void streaming_progress(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'" STREAMING "QueryStartedEvent','id':'q','runId':'r','name':'n'}\n"
        "{'Event':'" STREAMING "QueryProgressEvent','progress':{'id':'q','runId':'r','name':'n','timestamp':"
        "'2024-01-31T12:34:56.789Z','batchId':3,'batchDuration':99,'durationMs':{'addBatch':40,'commitOffsets':1,"
        "'getBatch':2,'latestOffset':3,'queryPlanning':4,'triggerExecution':55,'walCommit':5},'eventTime':{'max':"
        "'1970-01-01T00:00:09.000Z','watermark':'1970-01-01T00:00:01.500Z','min':null},'stateOperators':["
        "{'operatorName':'dedupe','numRowsTotal':5,'numRowsUpdated':4,'numRowsRemoved':3,'memoryUsedBytes':100,"
        "'numRowsDroppedByWatermark':2},{'operatorName':'stateStoreSave','numRowsTotal':6,'numRowsUpdated':-1,"
        "'memoryUsedBytes':200}],'sources':[{'description':'Rate[1]','numInputRows':10,'inputRowsPerSecond':2.5,"
        "'processedRowsPerSecond':1.25},{'numInputRows':1,'inputRowsPerSecond':'NaN','processedRowsPerSecond':null}],"
        "'sink':{'description':'x'}}}\n"
        "{'Event':'" STREAMING "QueryProgressEvent','progress':{'id':'q','timestamp':'yesterday','batchId':4,"
        "'sources':[{'processedRowsPerSecond':10000000000000000000000000000000000000000000000000000000000000000000000."
        "5}]}}\n"
        "{'Event':'" STREAMING "QueryTerminatedEvent','id':'q','runId':'r'}\n");
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->streams.count, 2);
    const struct pyro_stream_batch *row = &app->streams.items[0];
    assert_text(row->query, "q");
    assert_text(row->run, "r");
    assert_text(row->name, "n");
    assert_int_equal(row->batch, 3);
    assert_int_equal(row->time_ms, 1706704496789);
    assert_int_equal(row->duration_ms, 55);
    assert_int_equal(row->watermark_ms, 1500);
    assert_int_equal(row->state_rows, 11);
    assert_int_equal(row->state_memory_bytes, 300);
    assert_int_equal(row->state_rows_updated, 4);
    assert_int_equal(row->state_rows_removed, 3);
    assert_int_equal(row->dropped_rows, 2);
    assert_int_equal(row->event_time_max_ms, 9000);
    assert_int_equal(row->add_batch_ms, 40);
    assert_int_equal(row->commit_offsets_ms, 1);
    assert_int_equal(row->get_batch_ms, 2);
    assert_int_equal(row->latest_offset_ms, 3);
    assert_int_equal(row->query_planning_ms, 4);
    assert_int_equal(row->wal_commit_ms, 5);
    assert_text(row->state_operators, "dedupe, stateStoreSave");
    assert_text(row->source, "Rate[1]");
    assert_text(row->sink, "x");
    assert_int_equal(row->input_rows, 11);
    assert_true(row->input_rows_per_second == 2.5 && row->processed_rows_per_second == 1.25);
    assert_int_equal(app->streams.items[1].time_ms, PYRO_NONE);
    assert_true(app->streams.items[1].processed_rows_per_second == 1e70);
    kit_done(&kit);
}

#define CONNECT "org.apache.spark.sql.connect.service."

static void connect_operations(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'" CONNECT "SparkListenerConnectOperationStarted','jobTag':'t','operationId':'o','eventTime':1,"
              "'sessionId':'s','userId':'u',"
              "'statementText':'select'}\n"
              "{'Event':'" CONNECT "SparkListenerConnectOperationAnalyzed','operationId':'o','eventTime':2}\n"
              "{'Event':'" CONNECT "SparkListenerConnectOperationReadyForExecution','operationId':'o','eventTime':3}\n"
              "{'Event':'" CONNECT
              "SparkListenerConnectOperationFinished','operationId':'o','eventTime':4,'producedRowCount':7}\n"
              "{'Event':'" CONNECT "SparkListenerConnectOperationClosed','operationId':'o','eventTime':5}\n"
              "{'Event':'" CONNECT
              "SparkListenerConnectOperationFailed','operationId':'p','eventTime':6,'errorMessage':'e'}\n"
              "{'Event':'" CONNECT "SparkListenerConnectOperationCanceled','operationId':'c','eventTime':7}\n"
              "{'Event':'" CONNECT "SparkListenerConnectOperationClosed','eventTime':5}\n");
    assert_int_equal(app->integrity.bad_lines, 0); /* one that names nothing is counted */
    assert_int_equal(app->operations.count, 3);
    const struct pyro_operation *row = &app->operations.items[0];
    assert_text(row->session, "s");
    assert_text(row->user, "u");
    assert_text(row->statement, "select");
    assert_text(row->status, "finished");
    assert_int_equal(row->analyzed_ms, 2);
    assert_int_equal(row->ready_ms, 3);
    assert_int_equal(row->ended_ms, 4);
    assert_int_equal(row->closed_ms, 5);
    assert_int_equal(row->rows_produced, 7);
    assert_text(row[1].failure, "e");
    assert_text(row[2].status, "canceled");
    kit_done(&kit);
}

/* Every row of events.def: recognized by its name, and a record with only its name does not crash. */
static void every_name(void **state)
{
    (void)state;
    for (int i = 0; i < pyro_event_count; i++) {
        struct kit kit;
        char text[300];
        int len = snprintf(text, sizeof(text), "{\"x\":1,\"Event\":\"%s\"}\n{\"Event\":\"%s\",\"Event\":null}\n",
                           pyro_events[i].name.ptr, pyro_events[i].name.ptr);
        assert_int_equal(pyro_event_find(pyro_events[i].name), i); /* no name occurs twice */
        kit_start(&kit, 0);
        kit_feed_raw(&kit, text, (size_t)len);
        const struct pyro_app *app = kit_finish(&kit);
        assert_int_equal(kit_events(app, pyro_events[i].name.ptr) + app->integrity.bad_lines, 2);
        kit_done(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_application),
        cmocka_unit_test(jobs_and_stages),
        cmocka_unit_test(tasks),
        cmocka_unit_test(executors),
        cmocka_unit_test(block_updates),
        cmocka_unit_test(exclusions),
        cmocka_unit_test(processes),
        cmocka_unit_test(sql),
        cmocka_unit_test(streaming_progress),
        cmocka_unit_test(connect_operations),
        cmocka_unit_test(every_name),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
