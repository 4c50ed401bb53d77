/* Lines of a log to rows: the way that nearly every byte of a log takes. */
#include "kit.h"

static const char spark_3_task[] =
    "{'Event':'SparkListenerTaskEnd','Stage ID':3,'Stage Attempt ID':1,'Task Type':'ShuffleMapTask',"
    "'Task End Reason':{'Reason':'Success'},'Task Info':{'Task ID':17,'Index':5,'Attempt':2,'Partition ID':6,"
    "'Launch Time':1000,'Executor ID':'4','Host':'node','Locality':'ANY','Speculative':true,'Getting Result Time':1090,"
    "'Finish Time':1100,'Failed':false,'Killed':false,'Accumulables':[{'ID':1,'Name':'x]}','Update':'[{','Value':7}]},"
    "'Task Executor Metrics':{'JVMHeapMemory':100,'JVMOffHeapMemory':200,'OnHeapExecutionMemory':30,"
    "'OffHeapExecutionMemory':4,'OnHeapStorageMemory':50,'OffHeapStorageMemory':6,'ProcessTreeJVMRSSMemory':70},"
    "'Task Metrics':{'Executor Deserialize Time':11,'Executor Deserialize CPU Time':12,'Executor Run Time':13,"
    "'Executor CPU Time':14,'Peak Execution Memory':15,'Result Size':16,'JVM GC Time':17,'Result Serialization "
    "Time':18,"
    "'Memory Bytes Spilled':19,'Disk Bytes Spilled':20,'Shuffle Read Metrics':{'Remote Blocks Fetched':21,"
    "'Local Blocks Fetched':22,'Fetch Wait Time':23,'Remote Bytes Read':24,'Remote Bytes Read To Disk':25,"
    "'Local Bytes Read':26,'Total Records Read':27,'Remote Requests Duration':99,'Push Based Shuffle':"
    "{'Corrupt Merged Block Chunks':1,'Merged Local Bytes Read':5}},'Shuffle Write Metrics':{'Shuffle Bytes "
    "Written':28,"
    "'Shuffle Write Time':29,'Shuffle Records Written':30},'Input Metrics':{'Bytes Read':31,'Records Read':32},"
    "'Output Metrics':{'Bytes Written':33,'Records Written':34},'Updated Blocks':[{'Block ID':'rdd_1_2'}]}}\n";

static void check_whole_task(const struct pyro_app *app, size_t row)
{
    static const struct {
        enum pyro_task_column column;
        int64_t value;
    } expected[] = {
        {PYRO_TASK_id, 17},
        {PYRO_TASK_stage, 3},
        {PYRO_TASK_stage_attempt, 1},
        {PYRO_TASK_index, 5},
        {PYRO_TASK_attempt, 2},
        {PYRO_TASK_partition, 6},
        {PYRO_TASK_status, PYRO_TASK_SUCCESS},
        {PYRO_TASK_speculative, 1},
        {PYRO_TASK_launch_ms, 1000},
        {PYRO_TASK_finish_ms, 1100},
        {PYRO_TASK_getting_result_ms, 1090},
        {PYRO_TASK_has_metrics, 1},
        {PYRO_TASK_deserialize_ms, 11},
        {PYRO_TASK_deserialize_cpu_ns, 12},
        {PYRO_TASK_run_ms, 13},
        {PYRO_TASK_cpu_ns, 14},
        {PYRO_TASK_peak_execution_memory_bytes, 15},
        {PYRO_TASK_result_bytes, 16},
        {PYRO_TASK_gc_ms, 17},
        {PYRO_TASK_result_serialize_ms, 18},
        {PYRO_TASK_memory_spill_bytes, 19},
        {PYRO_TASK_disk_spill_bytes, 20},
        {PYRO_TASK_shuffle_remote_blocks, 21},
        {PYRO_TASK_shuffle_local_blocks, 22},
        {PYRO_TASK_fetch_wait_ms, 23},
        {PYRO_TASK_shuffle_remote_bytes, 24},
        {PYRO_TASK_shuffle_remote_to_disk_bytes, 25},
        {PYRO_TASK_shuffle_local_bytes, 26},
        {PYRO_TASK_shuffle_read_records, 27},
        {PYRO_TASK_shuffle_write_bytes, 28},
        {PYRO_TASK_shuffle_write_ns, 29},
        {PYRO_TASK_shuffle_write_records, 30},
        {PYRO_TASK_input_bytes, 31},
        {PYRO_TASK_input_records, 32},
        {PYRO_TASK_output_bytes, 33},
        {PYRO_TASK_output_records, 34},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        if (kit_task(app, expected[i].column, row) != expected[i].value)
            fail_msg("column %d of row %zu is %lld", (int)expected[i].column, row,
                     (long long)kit_task(app, expected[i].column, row));
    assert_string_equal(kit_task_text(app, PYRO_TASK_executor, row), "4");
    assert_string_equal(kit_task_text(app, PYRO_TASK_host, row), "node");
    assert_string_equal(kit_task_text(app, PYRO_TASK_locality, row), "ANY");
    assert_string_equal(kit_task_text(app, PYRO_TASK_reason, row), "Success");
}

static void usual_order(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(&kit, spark_3_task);
    assert_int_equal(app->tasks.count, 1);
    assert_int_equal(kit_events(app, "SparkListenerTaskEnd"), 1);
    assert_int_equal(app->failures.count, 0);
    check_whole_task(app, 0);
    kit_done(&kit);
}

static void any_order_and_spelling(void **state)
{
    (void)state;
    struct kit kit;
    kit_start(&kit, 0);
    kit_feed(&kit, spark_3_task);
    /* The same record: keys the other way round, blanks, an escaped key, unknown keys. */
    kit_feed(
        &kit,
        "{ 'Task Metrics' : {'Output Metrics':{'Records Written':34,'Bytes Written':33},'Input Metrics':"
        "{'Records Read':32,'Bytes Read':31},'Shuffle Write Metrics':{'Shuffle Records Written':30,"
        "'Shuffle Write Time':29,'Shuffle Bytes Written':28},'Shuffle Read Metrics':{'Total Records Read':27,"
        "'Local Bytes Read':26,'Remote Bytes Read To Disk':25,'Remote Bytes Read':24,'Fetch Wait Time':23,"
        "'Local Blocks Fetched':22,'Remote Blocks Fetched':21,'New':{'Fetch Wait Time':1}},'Disk Bytes Spilled':20,"
        "'Memory Bytes Spilled':19,'Result Serialization Time':18,'JVM GC Time':17,'Result Size':16,"
        "'Peak Execution Memory':15,'Executor CPU Time':14,'Executor Run Time':13,'Unknown':[1,{'a':[]}],"
        "'Executor Deserialize CPU Time':12,'Executor Deserialize Time':11} ,\t'Task Info':{'Accumulables':[],"
        "'Killed':false,'Failed':false,'Finish Time':1100,'Getting Result Time':1090,'Speculative':true,"
        "'Locality':'ANY','Host':'no\\u0064e','Executor ID':'4','Launch Time':1000,'Partition ID':6,'Attempt':2,"
        "'Index':5,'Task\\u0020ID':17},'Task End Reason':{ 'Reason' : 'Success' },'Task Type':'x',"
        "'Stage Attempt ID':1,'Stage ID':3,'Event':'SparkListenerTaskEnd'}\r\n");
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->tasks.count, 2);
    check_whole_task(app, 0);
    check_whole_task(app, 1);
    assert_int_equal(app->failures.count, 0); /* well is well, however it is spelt */
    kit_done(&kit);
}

static void shapes_of_all_versions(void **state)
{
    (void)state;
    struct kit kit;
    kit_start(&kit, 0);
    /* 1.x: no attempts, no partition, "Host Name" among the metrics, metrics of the shuffle only where there was one.
     */
    kit_feed(&kit,
             "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task Type':'ResultTask','Task End Reason':"
             "{'Reason':'Success'},'Task Info':{'Task ID':1,'Index':1,'Launch Time':5,'Executor ID':'0','Host':'h',"
             "'Locality':'PROCESS_LOCAL','Getting Result Time':0,'Finish Time':9,'Failed':false},'Task Metrics':"
             "{'Host Name':'h','Executor Deserialize Time':1,'Executor Run Time':2,'Result Size':3,'JVM GC Time':4,"
             "'Result Serialization Time':5,'Memory Bytes Spilled':6,'Disk Bytes Spilled':7,'Shuffle Write Metrics':"
             "{'Shuffle Bytes Written':8,'Shuffle Write Time':9}}}\n");
    /* 2.x: no executor metrics, no partition. */
    kit_feed(&kit,
             "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Stage Attempt ID':0,'Task Type':'ResultTask',"
             "'Task End Reason':{'Reason':'Success'},'Task Info':{'Task ID':2,'Index':0,'Attempt':0,'Launch Time':5,"
             "'Executor ID':'0','Host':'h','Locality':'ANY','Speculative':false,'Getting Result Time':0,"
             "'Finish Time':9,'Failed':false,'Killed':false,'Accumulables':[]},'Task Metrics':{'Executor Run Time':2,"
             "'Executor CPU Time':3}}\n");
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->tasks.count, 2);
    assert_int_equal(kit_task(app, PYRO_TASK_disk_spill_bytes, 0), 7);
    assert_int_equal(kit_task(app, PYRO_TASK_shuffle_write_bytes, 0), 8);
    assert_int_equal(kit_task(app, PYRO_TASK_partition, 0), PYRO_NONE);
    assert_int_equal(kit_task(app, PYRO_TASK_cpu_ns, 1), 3);
    assert_int_equal(app->integrity.bad_lines, 0);
    kit_done(&kit);
}

static void missing_and_null_members(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':1}}\n"
              "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Stage Attempt ID':null,'Task End Reason':null,'Task Info':"
              "{'Task ID':2,'Executor ID':null,'Host':null,'Failed':null,'Accumulables':null},"
              "'Task Executor Metrics':null,'Task Metrics':null}\n"
              "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':3},'Task Metrics':{"
              "'Shuffle Read Metrics':null,'Input Metrics':null,'Updated Blocks':null,'Executor Run Time':null}}\n"
              "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':null}\n"
              "{'Event':'SparkListenerTaskEnd','Stage ID':null,'Task Info':{'Task ID':4}}\n"
              "{'Event':'SparkListenerTaskEnd','Stage ID':1}\n");
    assert_int_equal(app->tasks.count, 3);
    assert_int_equal(kit_task(app, PYRO_TASK_has_metrics, 0), 0);
    assert_int_equal(kit_task(app, PYRO_TASK_has_metrics, 1), 0);
    assert_int_equal(kit_task(app, PYRO_TASK_has_metrics, 2), 1);
    assert_null(kit_task_text(app, PYRO_TASK_executor, 1));
    assert_int_equal(app->failures.count, 0);
    assert_int_equal(app->integrity.bad_lines, 3);
    assert_text(app->rejects.items[0].reason, "the end of a task without its id");
    assert_text(app->rejects.items[1].reason, "the end of a task without its stage");
    kit_done(&kit);
}

static void ends_of_tasks(void **state)
{
    (void)state;
    static const char *const reasons[] = {
        ("'Failed':true,'Killed':false},'Task End Reason':{'Reason':'ExceptionFailure','Class Name':'E',"
         "'Description':'d'}"),
        "'Failed':true,'Killed':true},'Task End Reason':{'Reason':'TaskKilled','Kill Reason':'another attempt'}",
        "'Failed':false,'Killed':false},'Task End Reason':{'Reason':'Resubmitted'}",
        "'Failed':true},'Task End Reason':{'Reason':'ExecutorLostFailure','Loss Reason':'gone'}",
        "'Failed':true},'Task End Reason':{'Reason':'FetchFailed','Message':'m'}",
    };
    static const struct {
        int64_t status;
        const char *class_name, *message;
    } expected[] = {{PYRO_TASK_FAILED, "E", "d"},
                    {PYRO_TASK_KILLED, NULL, "another attempt"},
                    {PYRO_TASK_RESUBMITTED, NULL, NULL},
                    {PYRO_TASK_FAILED, NULL, "gone"},
                    {PYRO_TASK_FAILED, NULL, "m"}};
    struct kit kit;
    kit_start(&kit, 0);
    for (size_t i = 0; i < 5; i++) {
        char line[600];
        snprintf(line, sizeof(line),
                 "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':%zu,'Finish Time':%zu,"
                 "'Executor ID':'e',%s}\n",
                 i, 10 + i, reasons[i]);
        kit_feed(&kit, line);
    }
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->failures.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct pyro_failure *failure = &app->failures.items[i];
        char id[8];
        snprintf(id, sizeof(id), "%zu", i);
        assert_int_equal(kit_task(app, PYRO_TASK_status, i), expected[i].status);
        assert_text(failure->kind, "task");
        assert_text(failure->id, id);
        assert_text(failure->executor, "e");
        assert_text(failure->class_name, expected[i].class_name);
        assert_text(failure->message, expected[i].message);
        assert_int_equal(failure->time_ms, 10 + i);
    }
    kit_done(&kit);
}

/* A reason without its name is the one that has its members. */
static void reasons_without_names(void **state)
{
    (void)state;
    static const struct {
        const char *members, *reason;
        int64_t status;
    } cases[] = {
        {"'Reason':null,'Executor ID':'1','Exit Caused By App':true,'Loss Reason':'gone'", "ExecutorLostFailure",
         PYRO_TASK_FAILED},
        {"'Loss Reason':'gone'", "ExecutorLostFailure", PYRO_TASK_FAILED},
        {"'Exit Caused By App':false,'Reason':''", "ExecutorLostFailure", PYRO_TASK_FAILED},
        {"'Block Manager Address':null,'Shuffle ID':1,'Message':'m'", "FetchFailed", PYRO_TASK_FAILED},
        {"'Reason':null,'Kill Reason':'another attempt'", "TaskKilled", PYRO_TASK_KILLED},
        {"'Class Name':'E','Description':'d'", "ExceptionFailure", PYRO_TASK_FAILED},
        {"'Job ID':1,'Partition ID':2,'Attempt Number':3", "TaskCommitDenied", PYRO_TASK_FAILED},
        {"'Kill Reason':'x','Reason':'Resubmitted'", "Resubmitted", PYRO_TASK_SUCCESS}, /* its name counts */
    };
    enum { COUNT = sizeof(cases) / sizeof(cases[0]) };
    struct kit kit;
    kit_start(&kit, 0);
    for (size_t i = 0; i < COUNT; i++) {
        char line[400];
        snprintf(line, sizeof(line),
                 "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':%zu,'Finish Time':9},"
                 "'Task End Reason':{%s}}\n",
                 i, cases[i].members);
        kit_feed(&kit, line);
    }
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->failures.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_text(app->failures.items[i].reason, cases[i].reason);
        assert_string_equal(kit_task_text(app, PYRO_TASK_reason, i), cases[i].reason);
        if (i + 1 < COUNT)
            assert_int_equal(kit_task(app, PYRO_TASK_status, i), cases[i].status);
    }
    kit_done(&kit);
}

static void keys_inside_strings(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Type':'\\'Stage ID\\':99,\\'Task Info\\':{',"
              "'Task Info':{'Task ID':1,'Host':'\\'Launch Time\\':7}','Launch Time':5,'Accumulables':[{'Name':"
              "']],\\'Finish Time\\':8'}],'Finish Time':6}}\n");
    assert_int_equal(app->tasks.count, 1);
    assert_int_equal(kit_task(app, PYRO_TASK_stage, 0), 1);
    assert_int_equal(kit_task(app, PYRO_TASK_launch_ms, 0), 5);
    assert_int_equal(kit_task(app, PYRO_TASK_finish_ms, 0), 6);
    assert_string_equal(kit_task_text(app, PYRO_TASK_host, 0), "\"Launch Time\":7}");
    kit_done(&kit);
}

static void damaged_lines(void **state)
{
    (void)state;
    static const char text[] =
        "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{'Task ID':1,'Launch Time':5}}\n"
        "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':1\n"                /* cut */
        "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':2}}{'Event':'x'}\n" /* two in one */
        "\n \t\r\n"                                                                              /* blank ones */
        "{'Event':'SparkListenerTaskEnd','Stage ID':1.5,'Task Info':{'Task ID':3}}\n"
        "{'Event':'SparkListenerTaskEnd','Stage ID':9223372036854775808,'Task Info':{'Task ID':4}}\n"
        "{'Event':'SparkListenerTaskStart','Task Info':{}}\n"
        "{'Event':5}\n"
        "[]\n"
        "\x01\n"
        "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':5}}\r\n"
        "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':6}}"; /* no newline */
    static const char *const reasons[] = {"the record ends early",
                                          "more text after the end of the record",
                                          "an integer was expected, not a fraction",
                                          "an integer larger than 64 bits",
                                          "the start of a task without its id",
                                          "a record without an event's name",
                                          "an object was expected",
                                          "an object was expected"};
    static const int64_t lines[] = {2, 3, 6, 7, 8, 9, 10, 11};
    struct kit kit;
    const struct pyro_app *app = kit_decode(&kit, text);
    assert_int_equal(app->tasks.count, 2);
    assert_int_equal(kit_task(app, PYRO_TASK_id, 0), 5);
    assert_int_equal(kit_task(app, PYRO_TASK_id, 1), 6);
    assert_int_equal(app->integrity.lines, 13);
    assert_int_equal(app->integrity.bytes, strlen(text));
    assert_int_equal(app->integrity.tasks_started, 1);
    assert_int_equal(app->integrity.bad_lines, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_text(app->rejects.items[i].reason, reasons[i]);
        assert_int_equal(app->rejects.items[i].line, lines[i]);
    }
    assert_int_equal(app->rejects.items[0].offset, strchr(text, '\n') + 1 - text);
    assert_text(app->rejects.items[0].path, "log");
    kit_done(&kit);
}

static void texts_of_one_record_count_once(void **state)
{
    (void)state;
    /* A key that is written over and over leaves one text, and the last one counts. */
    enum { TIMES = 20000 };
    char *text = malloc(TIMES * 20 + 200), *at = text;
    struct kit kit;
    assert_non_null(text);
    at += sprintf(at, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Task Info\":{\"Task ID\":1");
    for (int i = 0; i < TIMES; i++)
        at += sprintf(at, ",\"Host\":\"h%d\"", i);
    at += sprintf(at, "}}\n");
    kit_start(&kit, 0);
    kit_feed_raw(&kit, text, (size_t)(at - text));
    assert_int_equal(kit.batch.texts.count, 1);
    const struct pyro_app *app = kit_finish(&kit);
    assert_string_equal(kit_task_text(app, PYRO_TASK_host, 0), "h19999");
    kit_done(&kit);
    free(text);
}

static void records_beyond_the_limit(void **state)
{
    (void)state;
    struct kit kit;
    char task[300];
    int len = snprintf(task, sizeof(task),
                       "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Task Info\":{\"Task ID\":1}}");
    memset(task + len, ' ', 20);
    task[len + 20] = '\n';
    kit_start(&kit, 0);
    kit.batch.max_record = (uint64_t)len + 19; /* one less than the line */
    kit_feed_raw(&kit, task, (size_t)len + 21);
    kit_feed_raw(&kit, task, (size_t)len + 20);
    kit.batch.max_record = (uint64_t)len + 20;
    kit_feed_raw(&kit, task, (size_t)len + 21);
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->tasks.count, 1);
    assert_int_equal(app->integrity.bad_lines, 2);
    assert_text(app->rejects.items[1].reason, PYRO_REASON_LONG);
    assert_text(app->rejects.items[1].excerpt, "");
    assert_int_equal(app->rejects.items[1].line, 2);
    assert_int_equal(app->rejects.items[1].offset, len + 21);
    kit_done(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_order),
        cmocka_unit_test(any_order_and_spelling),
        cmocka_unit_test(shapes_of_all_versions),
        cmocka_unit_test(missing_and_null_members),
        cmocka_unit_test(ends_of_tasks),
        cmocka_unit_test(reasons_without_names),
        cmocka_unit_test(keys_inside_strings),
        cmocka_unit_test(damaged_lines),
        cmocka_unit_test(texts_of_one_record_count_once),
        cmocka_unit_test(records_beyond_the_limit),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
