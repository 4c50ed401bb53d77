/* What becomes of repeated, late, missing and unknown events, and of the order in which they come. */
#include "kit.h"

static void repeated_events(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{'Event':'SparkListenerApplicationStart','App Name':'a','App ID':'i','Timestamp':10,'User':'u'}\n",
        "{'Event':'SparkListenerExecutorAdded','Timestamp':11,'Executor ID':'1','Executor Info':{'Total Cores':2}}\n",
        "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':12,'Stage IDs':[0]}\n",
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':0,'Stage Attempt ID':0,'Submission "
        "Time':13}}\n",
        "{'Event':'SparkListenerTaskStart','Task Info':{'Task ID':0,'Launch Time':14}}\n",
        "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Stage Attempt ID':0,'Task Info':{'Task ID':0}}\n",
        "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':0,'Stage Attempt ID':0,'Failure "
        "Reason':'f'}}\n",
        "{'Event':'SparkListenerJobEnd','Job ID':0,'Completion Time':16,'Job Result':{'Result':'JobFailed'}}\n",
        "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':0,'time':12}\n",
        "{'Event':'" SQL_UI "SparkListenerSQLExecutionEnd','executionId':0,'time':12}\n",
        "{'Event':'SparkListenerExecutorRemoved','Timestamp':17,'Executor ID':'1','Removed Reason':'r'}\n",
        "{'Event':'SparkListenerApplicationEnd','Timestamp':18}\n",
    };
    enum { LINES = sizeof(lines) / sizeof(*lines) };
    struct kit kit;
    kit_start(&kit, 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < LINES; i++)
            kit_feed(&kit, lines[i]);
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.repeated_events, LINES);
    assert_int_equal(app->jobs.count, 1);
    assert_int_equal(app->stages.count, 1);
    assert_int_equal(app->executors.count, 1);
    assert_int_equal(app->sql.count, 1);
    assert_int_equal(app->tasks.count, 2); /* totals count events */
    assert_int_equal(app->repeats.jobs, 1);
    assert_int_equal(app->repeats.failed_jobs, 1);
    assert_int_equal(app->repeats.stages, 1);
    assert_int_equal(app->repeats.failed_stages, 1);
    assert_int_equal(app->repeats.sql_executions, 1);
    kit_done(&kit);
}

static void attempts_are_no_repeats(void **state)
{
    (void)state;
    enum { ATTEMPTS = 600 };
    struct kit kit;
    kit_start(&kit, 0);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++)
        for (int stage = 0; stage < 3; stage++) {
            char line[200];
            snprintf(line, sizeof(line),
                     "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':%d,'Stage Attempt ID':%d}}\n",
                     stage, attempt);
            kit_feed(&kit, line);
        }
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->stages.count, 3 * ATTEMPTS);
    assert_int_equal(app->integrity.repeated_events, 0);
    assert_int_equal(app->repeats.stages, 0);
    kit_done(&kit);
}

static void late_and_missing_events(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerTaskEnd','Stage ID':4,'Task Info':{'Task ID':0}}\n"
        "{'Event':'SparkListenerJobEnd','Job ID':7,'Completion Time':50,'Job Result':{'Result':'JobSucceeded'}}\n"
        "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':5,'Stage Name':'five','Number of Tasks':3,"
        "'Submission Time':20,'Completion Time':40}}\n"
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':4,'Submission Time':30,'Number of Tasks':1,"
        "'Details':'org.apache.spark.rdd.RDD.count(RDD.scala:1)\\nscala.x(y)\\nmy.Code.main(Code.scala:5)',"
        "'Parent IDs':[9,2]}}\n"
        "{'Event':'SparkListenerJobEnd','Job ID':8,'Completion Time':51,'Job Result':{'Result':'JobFailed',"
        "'Exception':{'Message':'why'}}}\n"
        "{'Event':'SparkListenerJobStart','Job ID':8,'Submission Time':25,'Stage IDs':[5,4]}\n"
        "{'Event':'" SQL_UI "SparkListenerSQLExecutionEnd','executionId':3,'time':60}\n");
    assert_int_equal(app->stages.count, 2);
    const struct pyro_stage *stage = &app->stages.items[0];
    assert_int_equal(stage->id, 5); /* by submission */
    assert_true(stage->unsubmitted);
    assert_text(stage->status, "succeeded");
    assert_text(stage->name, "five");
    stage++;
    assert_int_equal(stage->id, 4);
    assert_false(stage->unsubmitted);
    assert_text(stage->call_site, "my.Code.main(Code.scala:5)");
    assert_int_equal(stage->parent_count, 2);
    assert_int_equal(stage->parent_ids[0], 2); /* ascending */
    assert_int_equal(app->jobs.count, 2);
    assert_true(app->jobs.items[0].unstarted);
    const struct pyro_job *job = &app->jobs.items[1];
    assert_false(job->unstarted);
    assert_text(job->status, "failed"); /* its end came first */
    assert_text(job->failure, "why");
    assert_int_equal(job->submitted_ms, 25);
    assert_int_equal(job->stage_ids[0], 4);
    assert_true(app->sql.items[0].unstarted);
    assert_true(app->integrity.truncated); /* no ApplicationEnd */
    assert_int_equal(app->application.start_ms, 20);
    assert_int_equal(app->application.end_ms, 60);
    assert_int_equal(app->integrity.repeated_events, 0);
    kit_done(&kit);
}

static void executors_come_and_go(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task Info':{'Task ID':0,'Executor ID':'1'},"
              "'Task Executor Metrics':{'JVMHeapMemory':100}}\n"
              "{'Event':'SparkListenerExecutorAdded','Timestamp':10,'Executor ID':'1','Executor "
              "Info':{'Host':'a','Total Cores':2,"
              "'Resource Profile Id':3}}\n"
              "{'Event':'SparkListenerExecutorRemoved','Timestamp':20,'Executor ID':'1','Removed Reason':'lost'}\n"
              "{'Event':'SparkListenerExecutorAdded','Timestamp':30,'Executor ID':'1','Executor "
              "Info':{'Host':'b','Total Cores':4}}\n"
              "{'Event':'SparkListenerExecutorRemoved','Timestamp':40,'Executor ID':'none'}\n"
              "{'Event':'SparkListenerExecutorAdded','Timestamp':50,'Executor Info':{}}\n"
              "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'1','Executor Metrics':{'JVMHeapMemory':70,"
              "'OnHeapStorageMemory':5,'OffHeapStorageMemory':6}}\n"
              "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'driver','Executor "
              "Metrics':{'JVMHeapMemory':900,'MajorGCCount':3,'TotalGCTime':4500}}\n"
              "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'driver','Executor Metrics "
              "Updated':[{'Stage ID':-1,"
              "'Executor Metrics':{'JVMHeapMemory':800}},null]}\n");
    assert_int_equal(app->executors.count, 2);
    assert_int_equal(app->executors.items[0].removed_ms, 20);
    assert_text(app->executors.items[0].remove_reason, "lost");
    assert_int_equal(app->executors.items[0].resource_profile, 3);
    assert_int_equal(app->executors.items[1].removed_ms, PYRO_NONE);
    assert_int_equal(app->executors.items[1].cores, 4);
    assert_int_equal(app->executors.items[1].heap_peak_bytes, 100); /* seen before it was added */
    assert_int_equal(app->executors.items[1].storage_peak_bytes, 11);
    assert_int_equal(app->executors.items[0].heap_peak_bytes, PYRO_NONE);
    assert_text(pyro_app_property_of(app, "metrics", "driver.JVMHeapMemory.peak"), "900");
    assert_text(pyro_app_property_of(app, "metrics", "driver.MajorGCCount.peak"), "3");
    assert_text(pyro_app_property_of(app, "metrics", "driver.TotalGCTime.peak"), "4500");
    assert_int_equal(app->failures.count, 2);
    assert_int_equal(app->integrity.bad_lines, 1);
    kit_done(&kit);
}

static void driver_that_is_an_executor(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerStageExecutorMetrics','Executor ID':'driver','Executor Metrics':{'JVMHeapMemory':9}}\n"
        "{'Event':'SparkListenerExecutorAdded','Timestamp':10,'Executor ID':'driver','Executor Info':{}}\n");
    assert_int_equal(app->executors.items[0].heap_peak_bytes, 9);
    assert_null(pyro_app_property_of(app, "metrics", "driver.JVMHeapMemory.peak").ptr);
    kit_done(&kit);
}

static void newest_properties_win(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        "{'Event':'SparkListenerEnvironmentUpdate','JVM Information':{'Java Version':'17'},'Spark Properties':"
        "{'spark.b':'1','spark.a':'\\u00e9','spark.app.name':'from properties'},'Hadoop Properties':{'spark.b':'h'},"
        "'System Properties':{'x':null},'Metrics Properties':{'*.sink':'y'},'Classpath Entries':{'/j.jar':'System'}}\n"
        "{'Event':'SparkListenerEnvironmentUpdate','Spark Properties':{'spark.b':'2'}}\n");
    assert_text(pyro_app_property(app, "spark.b"), "2");
    assert_text(pyro_app_property(app, "spark.a"), "\xc3\xa9");
    assert_text(pyro_app_property_of(app, "hadoop", "spark.b"), "h");
    assert_text(pyro_app_property_of(app, "jvm", "Java Version"), "17");
    assert_text(app->application.name, "from properties");
    assert_int_equal(app->properties.count, 8);
    kit_done(&kit);
}

static void unknown_events_are_counted(void **state)
{
    (void)state;
    enum { NAMES = 1200 };
    struct kit kit;
    kit_start(&kit, 0);
    for (int i = 0; i < 2 * NAMES; i++) {
        char line[100];
        snprintf(line, sizeof(line), "{'Event':'Own%d','x':[%d]}\n", i % NAMES, i);
        kit_feed(&kit, line);
    }
    kit_feed(&kit, "{'x':{'Event':'Inner'},'Event':'Late \\u00e9'}\n{'Event':'Own1','x':}\n");
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.events.count, 1001);
    assert_int_equal(kit_events(app, "Own0"), 2);
    assert_int_equal(kit_events(app, "Own999"), 2);
    assert_int_equal(kit_events(app, "Own1000"), 0);
    assert_int_equal(kit_events(app, "(other names)"), 2 * (NAMES - 1000) + 1);
    assert_false(app->integrity.events.items[0].known);
    assert_int_equal(app->integrity.bad_lines, 1);
    assert_int_equal(pyro_builder_known_events(&kit.builder), 0);
    kit_done(&kit);
}

static void rejected_records_are_kept_up_to_a_limit(void **state)
{
    (void)state;
    enum { BAD = 1500 };
    struct kit kit;
    kit_start(&kit, 0);
    for (int i = 0; i < BAD; i++)
        kit_feed(&kit, "{'Event':'SparkListenerJobStart'}\n");
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.bad_lines, BAD);
    assert_int_equal(app->integrity.bad_lines_kept, PYRO_REJECTS_KEPT);
    assert_int_equal(app->rejects.count, PYRO_REJECTS_KEPT);
    assert_int_equal(app->rejects.items[PYRO_REJECTS_KEPT - 1].line, PYRO_REJECTS_KEPT);
    assert_text(app->rejects.items[0].excerpt, "{\"Event\":\"SparkListenerJobStart\"}");
    kit_done(&kit);
}

static void rejected_records_leave_no_trace(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'SparkListenerApplicationStart','App Name':'a','Timestamp':'soon'}\n"
              "{'Event':'SparkListenerApplicationEnd','Timestamp':1.5}\n"
              "{'Event':'SparkListenerJobStart','Job ID':1,'Submission Time':[]}\n"
              "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':1,'time':'late'}\n"
              "{'Event':'SparkListenerExecutorAdded','Executor ID':'1','Executor Info':{'Total Cores':'many'}}\n");
    assert_int_equal(app->integrity.bad_lines, 5);
    assert_int_equal(app->jobs.count + app->sql.count + app->executors.count, 0);
    assert_null(app->application.name.ptr);
    assert_true(app->integrity.truncated);
    assert_int_equal(app->application.start_ms, PYRO_NONE);
    kit_done(&kit);
}

/* However a log is cut into batches, the model is the same. */
static void cuts_do_not_show(void **state)
{
    (void)state;
    static const char *const lines[] = {
        ("{'Event':'SparkListenerTaskEnd','Stage ID':9,'Task End Reason':{'Reason':'FetchFailed'},'Task Info':"
         "{'Task ID':1,'Finish Time':5,'Executor ID':'2','Failed':true},'Task Executor "
         "Metrics':{'JVMHeapMemory':7}}\n"),
        ("{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':4,'Failure Reason':'f',"
         "'Completion Time':5}}\n"),
        "{'Event':'SparkListenerTaskEnd','Stage ID':2,'Task Info':{'Task ID':2}}\n",
        "{'Event':'SparkListenerExecutorAdded','Timestamp':1,'Executor ID':'2','Executor Info':{}}\n",
        "{'Event':'SparkListenerStageSubmitted','Stage Info':{'Stage ID':9,'Submission Time':3}}\n",
    };
    enum { LINES = sizeof(lines) / sizeof(*lines) };
    for (unsigned cuts = 0; cuts < 1u << (LINES - 1); cuts++) {
        struct kit kit;
        char text[1500] = "";
        kit_start(&kit, 0);
        for (unsigned i = 0; i < LINES; i++) {
            strcat(text, lines[i]);
            if (i == LINES - 1 || cuts >> i & 1) {
                kit_feed(&kit, text);
                text[0] = '\0';
            }
        }
        const struct pyro_app *app = kit_finish(&kit);
        assert_int_equal(app->stages.count, 3);
        assert_int_equal(app->stages.items[0].id, 9);
        assert_int_equal(app->stages.items[1].id, 2);
        assert_int_equal(app->stages.items[2].id, 4);
        assert_int_equal(app->failures.count, 2);
        assert_text(app->failures.items[0].kind, "stage");
        assert_text(app->failures.items[1].kind, "task");
        assert_int_equal(app->executors.items[0].heap_peak_bytes, 7);
        kit_done(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_events),
        cmocka_unit_test(attempts_are_no_repeats),
        cmocka_unit_test(late_and_missing_events),
        cmocka_unit_test(executors_come_and_go),
        cmocka_unit_test(driver_that_is_an_executor),
        cmocka_unit_test(newest_properties_win),
        cmocka_unit_test(unknown_events_are_counted),
        cmocka_unit_test(rejected_records_are_kept_up_to_a_limit),
        cmocka_unit_test(rejected_records_leave_no_trace),
        cmocka_unit_test(cuts_do_not_show),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
