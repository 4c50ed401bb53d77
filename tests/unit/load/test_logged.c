/* Applications of text logs: what lines say becomes jobs, stages, tasks and executors. */
#include <sys/stat.h>

#include "kit.h"
#include "load/logged/logged.h"

static const char driver[] =
    "26/01/01 10:00:00 INFO SparkContext: Running Spark version 3.5.6\n"
    "26/01/01 10:00:00 INFO SparkContext: Submitted application: nightly \"etl\"\n"
    "26/01/01 10:00:01 INFO ResourceProfile: Limiting resource is cpus at 4 tasks per executor\n"
    "26/01/01 10:00:02 INFO X$DriverEndpoint: Registered executor NettyRpcEndpointRef(spark-client://Executor) "
    "(10.0.0.1:35833) with ID 1,  ResourceProfileId 0\n"
    "26/01/01 10:00:03 INFO DAGScheduler: Got job 0 (collect at etl.py:3) with 1 output partitions\n"
    "26/01/01 10:00:03 INFO DAGScheduler: Final stage: ResultStage 1 (collect at etl.py:3)\n"
    "26/01/01 10:00:03 INFO DAGScheduler: Submitting 1 missing tasks from ShuffleMapStage 0 (MapPartitionsRDD[1])\n"
    "26/01/01 10:00:03 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (host-1, executor 1, partition 0)\n"
    "26/01/01 10:00:05 INFO TaskSetManager: Finished task 0.0 in stage 0.0 (TID 0) in 2000 ms on host-1 (executor 1) "
    "(1/1)\n"
    "26/01/01 10:00:05 INFO DAGScheduler: ShuffleMapStage 0 (collect at etl.py:3) finished in 2.0 s\n"
    "26/01/01 10:00:05 INFO DAGScheduler: Submitting 1 missing tasks from ResultStage 1 (MapPartitionsRDD[2])\n"
    "26/01/01 10:00:05 INFO TaskSetManager: Starting task 0.0 in stage 1.0 (TID 1) (host-1, executor 1, partition 0)\n"
    "26/01/01 10:00:09 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 1) (host-1 executor 1): "
    "java.lang.OutOfMemoryError: Java heap space\n"
    "\tat A.b(A.scala:1)\n"
    "26/01/01 10:00:09 ERROR TaskSchedulerImpl: Lost executor 1 on host-1: Command exited with code 52\n"
    "26/01/01 10:00:09 INFO DAGScheduler: ResultStage 1 (collect at etl.py:3) failed in 4.0 s due to Job aborted: x\n"
    "26/01/01 10:00:09 INFO DAGScheduler: Job 0 failed: collect at etl.py:3, took 6.0 s\n"
    "26/01/01 10:00:10 INFO SparkContext: Successfully stopped SparkContext\n";

static const char *write_run(void)
{
    const char *folder = kit_path("run");
    mkdir(folder, 0700);
    kit_write(kit_path("run/driver.log"), driver, sizeof(driver) - 1);
    return kit_path("run");
}

static struct pyro_logged read_run(void)
{
    struct pyro_log_part part = {.path = pyro_slice_from(kit_path("run/driver.log"))};
    const struct pyro_log log = {
        .path = pyro_slice_from("run"), .layout = PYRO_LAYOUT_LOGS, .parts = &part, .part_count = 1};
    struct pyro_load_settings options;
    struct pyro_logged logged;
    assert_int_equal(pyro_load_resolve(NULL, NULL, &options, NULL), PYRO_OK);
    assert_int_equal(pyro_logged_read(&log, &options, &logged, NULL), PYRO_OK);
    return logged;
}

static void lines_become_rows(void **state)
{
    (void)state;
    write_run();
    struct pyro_logged logged = read_run();
    assert_false(logged.named);
    assert_true(pyro_slice_is(logged.id, "run"));
    assert_true(pyro_slice_is(logged.name, "nightly \"etl\""));
    assert_true(pyro_slice_is(logged.version, "3.5.6"));
    assert_int_equal(logged.end_ms - logged.start_ms, 10000);
    assert_int_equal(logged.slots, 4);
    assert_int_equal(logged.stages.count, 2);
    assert_int_equal(pyro_logged_stage(&logged, 1, 0)->ended_ms - logged.start_ms, 9000);
    assert_true(pyro_slice_is(pyro_logged_stage(&logged, 1, 0)->reason, "Job aborted: x"));
    assert_null(pyro_logged_stage(&logged, 1, 1));
    const struct pyro_logged_executor *executor = pyro_logged_executor(&logged, pyro_slice_from("1"), false);
    assert_non_null(executor);
    assert_int_equal(executor->registered_ms - logged.start_ms, 2000);
    assert_int_equal(executor->lost_ms - logged.start_ms, 9000);
    assert_true(pyro_slice_is(executor->host, "host-1"));
    assert_true(pyro_slice_is(executor->reason, "Command exited with code 52"));
    assert_int_equal(logged.lines.jobs[0].final_stage, 1);
    pyro_logged_done(&logged);
}

static enum pyro_status keep(void *context, const char *lines, size_t len, struct pyro_error *error)
{
    (void)error;
    pyro_strbuf_add(context, lines, len);
    return PYRO_OK;
}

static void rows_become_events(void **state)
{
    (void)state;
    write_run();
    struct pyro_logged logged = read_run();
    struct pyro_strbuf out;
    pyro_strbuf_init(&out, NULL);
    assert_int_equal(pyro_logged_write(&logged, keep, &out, NULL), PYRO_OK);
    static const char *const parts[] = {
        "\"App Name\":\"nightly \\\"etl\\\"\",\"App ID\":\"run\"",
        "\"Executor ID\":\"1\",\"Executor Info\":{\"Host\":\"host-1\",\"Total Cores\":4}",
        "\"Removed Reason\":\"Command exited with code 52\"",
        "\"Stage IDs\":[0,1]",
        "\"Stage Name\":\"collect at etl.py:3\",\"Number of Tasks\":1",
        "\"Parent IDs\":[0]",
        "\"Class Name\":\"java.lang.OutOfMemoryError\",\"Description\":\"Java heap space\"",
        "\"Failure Reason\":\"Job aborted: x\"",
        "{\"Result\":\"JobFailed\",\"Exception\":{\"Message\":\"Job aborted: x\"}}",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!strstr(out.data, parts[i]))
            fail_msg("%s is not in\n%s", parts[i], out.data);
    pyro_strbuf_done(&out);
    pyro_logged_done(&logged);
}

static void folder_is_an_input(void **state)
{
    (void)state;
    const char *folder = write_run();
    struct pyro_load_options load = {.size = sizeof(load), .artefacts = 1};
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    assert_int_equal(pyro_inputs_open(&folder, 1, &load, NULL, &inputs, NULL), PYRO_OK);
    assert_int_equal(pyro_inputs_count(inputs), 1);
    assert_int_equal(pyro_inputs_unreadable_count(inputs), 0);
    assert_int_equal(pyro_app_load(inputs, 0, &load, NULL, &app, NULL), PYRO_OK);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    load.artefacts = 0; /* event logs only */
    assert_int_equal(pyro_inputs_open(&folder, 1, &load, NULL, &inputs, NULL), PYRO_OK);
    assert_int_equal(pyro_inputs_count(inputs), 1);
    assert_int_not_equal(pyro_app_load(inputs, 0, &load, NULL, &app, NULL), PYRO_OK);
    pyro_inputs_close(inputs);
}

static int clean(void **state)
{
    (void)state;
    kit_clean();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_rows),
        cmocka_unit_test(rows_become_events),
        cmocka_unit_test(folder_is_an_input),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
