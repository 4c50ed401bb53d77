#include "kit.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const kit_small_log =
    "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n"
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"small\",\"App "
    "ID\":\"a\",\"Timestamp\":1000,\"User\":\"u\"}\n"
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark "
    "Properties\":{\"spark.executor.memory\":\"1g\",\"k\":\"\\u00e9\"}}\n"
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1100,\"Executor ID\":\"1\",\"Executor "
    "Info\":{\"Host\":\"h\","
    "\"Total Cores\":2}}\n"
    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\",\"executionId\":0,\"description\":"
    "\"d\","
    "\"details\":\"x\",\"physicalPlanDescription\":\"p\",\"sparkPlanInfo\":{\"nodeName\":\"A\",\"simpleString\":\"A\","
    "\"children\":[{\"nodeName\":\"B\",\"metrics\":[{\"name\":\"m\",\"accumulatorId\":1,\"metricType\":\"sum\"}]}]},"
    "\"time\":1150}\n"
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1200,\"Stage IDs\":[0,1],\"Properties\":"
    "{\"spark.sql.execution.id\":\"0\"}}\n"
    "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage "
    "Name\":\"s\","
    "\"Number of Tasks\":2,\"RDD Info\":[{\"RDD ID\":3,\"Name\":\"r\",\"Number of Partitions\":2}],\"Parent IDs\":[],"
    "\"Details\":\"y\",\"Submission Time\":1210}}\n"
    "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":0,\"Launch Time\":1220}}\n"
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End "
    "Reason\":{\"Reason\":\"Success\"},"
    "\"Task Info\":{\"Task ID\":0,\"Launch Time\":1220,\"Executor ID\":\"1\",\"Host\":\"h\",\"Finish Time\":1420},"
    "\"Task Executor Metrics\":{\"JVMHeapMemory\":1000},\"Task Metrics\":{\"Executor Run Time\":150,\"JVM GC "
    "Time\":9}}\n"
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":{\"Reason\":"
    "\"ExceptionFailure\",\"Class Name\":\"E\",\"Description\":\"why\"},\"Task Info\":{\"Task ID\":1,\"Launch "
    "Time\":1230,"
    "\"Executor ID\":\"1\",\"Host\":\"h\",\"Finish Time\":1500,\"Failed\":true}}\n"
    "not a record\n"
    "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Completion "
    "Time\":1600,"
    "\"Failure Reason\":\"f\",\"Accumulables\":[{\"ID\":1,\"Value\":\"5\"}]}}\n"
    "{\"Event\":\"SomethingNew\"}\n"
    "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion Time\":1700,\"Job "
    "Result\":{\"Result\":\"JobFailed\"}}\n"
    "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":2000}\n";

static char folder[64];

const char *kit_path(const char *name)
{
    static char path[200];
    if (!folder[0]) {
        strcpy(folder, "/tmp/pyro-session-XXXXXX");
        assert_non_null(mkdtemp(folder));
    }
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

void kit_write(const char *path, const char *data, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    fclose(file);
}

static void remove_all(const char *path)
{
    DIR *entries = opendir(path);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL) {
        char name[600];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (unlink(name) != 0)
            remove_all(name);
    }
    if (entries)
        closedir(entries);
    rmdir(path);
}

void kit_clean(void)
{
    if (folder[0])
        remove_all(folder);
}

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

void kit_report(pyro_app *app, struct pyro_strbuf *out)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_writer writer = {sizeof(writer), append, out};
    pyro_diagnosis *diagnosis = NULL;
    assert_non_null(app);
    pyro_strbuf_clear(out);
    assert_int_equal(pyro_diagnose(app, NULL, NULL, &diagnosis, &error), PYRO_OK);
    assert_int_equal(pyro_report_write(diagnosis, PYRO_FORMAT_JSON, NULL, &writer, &error), PYRO_OK);
    assert_int_equal(pyro_sql_query(app, "SELECT line, offset, reason, excerpt FROM rejects", PYRO_FORMAT_JSON, NULL,
                                    &writer, &error),
                     PYRO_OK);
    assert_int_equal(pyro_sql_query(app, "SELECT id, stage, executor, host, status, launch_ms, run_ms FROM tasks",
                                    PYRO_FORMAT_CSV, NULL, &writer, &error),
                     PYRO_OK);
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
}

pyro_app *kit_load(const char *path, const struct kit_options *options)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    assert_int_equal(
        pyro_inputs_open(&path, 1, options ? &options->load : NULL, options ? &options->work : NULL, &inputs, &error),
        PYRO_OK);
    assert_int_equal(pyro_inputs_count(inputs), 1);
    if (pyro_app_load(inputs, 0, options ? &options->load : NULL, options ? &options->work : NULL, &app, &error) !=
        PYRO_OK)
        fail_msg("%s: %s", path, error.message);
    pyro_inputs_close(inputs);
    return app;
}

pyro_app *kit_feed(const char *path, const char *data, size_t len, size_t piece, const struct kit_options *options)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_decoder *decoder = NULL;
    pyro_app *app = NULL;
    assert_int_equal(
        pyro_decoder_new(path, options ? &options->load : NULL, options ? &options->work : NULL, &decoder, &error),
        PYRO_OK);
    for (size_t at = 0; at < len; at += piece)
        assert_int_equal(pyro_decoder_feed(decoder, data + at, piece < len - at ? piece : len - at, &error), PYRO_OK);
    if (pyro_decoder_finish(decoder, &app, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    pyro_decoder_free(decoder);
    return app;
}

void kit_add_filler(struct pyro_strbuf *log, size_t len)
{
    static const char head[] = "{\"Event\":\"SparkListenerTaskGettingResult\",\"x\":\"", tail[] = "\"}\n";
    size_t room = len - (sizeof(head) - 1) - (sizeof(tail) - 1);
    pyro_strbuf_add(log, head, sizeof(head) - 1);
    assert_true(pyro_strbuf_reserve(log, room));
    for (size_t i = 0; i < room; i++)
        pyro_strbuf_add_char(log, (char)('a' + i % 26));
    pyro_strbuf_add(log, tail, sizeof(tail) - 1);
}

void kit_add_task(struct pyro_strbuf *log, int id)
{
    pyro_strbuf_printf(
        log,
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Task Info\":{\"Task ID\":%d,"
        "\"Launch Time\":%d,\"Executor ID\":\"%d\",\"Host\":\"h%d\",\"Finish Time\":%d},\"Task Metrics\":"
        "{\"Executor Run Time\":%d}}\n",
        id / 40, id, 2000 + id, id % 3, id % 5, 2100 + id, id % 90);
}
