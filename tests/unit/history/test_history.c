/* Histories that are followed while their logs grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/secrets/secrets.h"
#include "base/strings/strbuf.h"
#include "history/history.h"
#include "model/history/pack.h"

#define STAGE(number)                                                                                                  \
    "{\"Stage ID\":" #number ",\"Stage Attempt ID\":0,\"Stage Name\":\"s" #number                                      \
    "\",\"Number of Tasks\":2,\"Submission Time\":1003,\"RDD "                                                         \
    "Info\":[],\"Accumulables\":[{\"ID\":9,\"Name\":\"rows\",\"Value\":\"5\","                                         \
    "\"Internal\":false}]}"
#define INFO(id, index, more)                                                                                          \
    "{\"Task ID\":" #id ",\"Index\":" #index ",\"Attempt\":0,\"Launch Time\":10" #id                                   \
    ",\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0," more \
    "}"
#define START(id, index)                                                                                               \
    "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Info\":" INFO(                 \
        id, index, "\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]") "}\n"
#define END(id, index, reason, failed, user)                                                                           \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\","          \
    "\"Task End Reason\":" reason ",\"Task Info\":" INFO(                                                              \
        id, index,                                                                                                     \
        "\"Finish Time\":2000,\"Failed\":" failed ",\"Killed\":false,\"Accumulables\":["                               \
        "{\"ID\":1,\"Name\":\"internal.metrics.x\",\"Update\":1,\"Value\":2,\"Internal\":true}" user                   \
        "]") ",\"Task Metrics\":{\"Executor Run Time\":7" #id                                                          \
             ",\"Shuffle Read Metrics\":{\"Remote Requests Duration\":3,"                                              \
             "\"Push Based Shuffle\":{\"Merged Local Bytes Read\":4}}}}\n"
#define USER ",{\"ID\":9,\"Name\":\"rows \\u00e9\",\"Update\":\"2\",\"Value\":\"5\",\"Internal\":false}"

static const char log_text[] =
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"app-1\",\"Timestamp\":1000}\n"
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1001,\"Executor ID\":\"1\",\"Executor Info\":"
    "{\"Host\":\"h\",\"Total Cores\":2,\"Log Urls\":{\"stdout\":\"u\"}}}\n"
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1002,\"Stage Infos\":[" STAGE(
        0) "],"
           "\"Stage IDs\":[0],\"Properties\":{}}\n"
           "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" STAGE(0) ",\"Properties\":{}}\n" START(1, 0)
               START(2, 1) END(1, 0, "{\"Reason\":\"Success\"}", "false", USER)
                   END(2, 1,
                       "{\"Reason\":\"ExceptionFailure\",\"Class Name\":\"X\",\"Description\":\"d\",\"Full Stack "
                       "Trace\":\"t\"}",
                       "true", "") START(3, 1)
                       END(3, 1, "{\"Reason\":\"Success\"}", "false",
                           "") "no JSON\n"
                               "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" STAGE(
                                   0) "}\n"
                                      "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion Time\":3000,"
                                      "\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n"
                                      "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":4000}\n";

static void describe_task(struct pyro_strbuf *text, const struct pyro_history *history, uint32_t number)
{
    struct pyro_history_task task;
    struct pyro_history_accumulable one;
    pyro_history_task_read(history, number, &task);
    pyro_strbuf_printf(
        text, " task %lld %lld.%lld %lld-%lld %s/%s %s %d%d run %lld push %lld %lld", (long long)task.id,
        (long long)task.index, (long long)task.attempt, (long long)task.launch_ms, (long long)task.finish_ms,
        task.executor.ptr, task.host.ptr, task.error.ptr ? task.error.ptr : "-", (int)task.status, task.ended,
        (long long)task.metrics[PYRO_HISTORY_executorRunTime], (long long)task.metrics[PYRO_HISTORY_remoteReqsDuration],
        (long long)task.metrics[PYRO_HISTORY_localMergedBytesRead]);
    while (pyro_history_accumulable_next(&task.accumulables, &one)) {
        pyro_strbuf_printf(text, " %lld ", (long long)one.id);
        pyro_strbuf_add_slice(text, one.name);
        pyro_strbuf_add_slice(text, one.update);
    }
    pyro_strbuf_add_char(text, '\n');
}

/* A history in words, to compare; the caller frees it. */
static char *describe(const struct pyro_history *history)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    pyro_strbuf_printf(&text, "%llu bytes %llu bad %lld-%lld\n", (unsigned long long)history->bytes,
                       (unsigned long long)history->bad_lines, (long long)history->start_ms,
                       (long long)history->end_ms);
    for (size_t i = 0; i < history->jobs.count; i++) {
        const struct pyro_history_job *job = &history->jobs.items[i];
        pyro_strbuf_printf(&text, "job %lld %s status %d tasks %lld %lld %lld indices %lld stages %zu\n",
                           (long long)job->id, job->name.ptr, (int)job->status, (long long)job->active_tasks,
                           (long long)job->completed_tasks, (long long)job->failed_tasks,
                           (long long)job->completed_indices, job->stage_ids.count);
    }
    for (size_t i = 0; i < history->stages.count; i++) {
        const struct pyro_history_stage *stage = &history->stages.items[i];
        pyro_strbuf_printf(
            &text, "stage %lld status %d tasks %lld %lld %lld run %lld shares %zu named %zu\n", (long long)stage->id,
            (int)stage->status, (long long)stage->active, (long long)stage->completed, (long long)stage->failed,
            (long long)stage->metrics[PYRO_HISTORY_executorRunTime], stage->shares.count, stage->accumulables.count);
        for (size_t t = 0; t < stage->tasks.count; t++)
            describe_task(&text, history, stage->tasks.items[t]);
    }
    for (size_t i = 0; i < history->executors.count; i++)
        pyro_strbuf_printf(&text, "executor %s tasks %lld logs %zu\n", history->executors.items[i].id.ptr,
                           (long long)history->executors.items[i].tasks, history->executors.items[i].logs.count);
    assert_false(text.failed);
    return text.data;
}

static char *describe_fed(const char *text, size_t len, size_t piece)
{
    struct pyro_history_follower *follower = NULL;
    struct pyro_history *history = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_history_follower_new(true, NULL, PYRO_REDACT_WIDE, &follower, &error), PYRO_OK);
    for (size_t at = 0; at < len; at += piece)
        assert_int_equal(pyro_history_follower_feed(follower, text + at, len - at < piece ? len - at : piece, &error),
                         PYRO_OK);
    assert_int_equal(pyro_history_follower_snapshot(follower, &history, &error), PYRO_OK);
    pyro_history_follower_free(follower); /* what it gave stays */
    char *words = describe(history);
    assert_true(history->memory > sizeof(*history));
    pyro_history_release(history);
    return words;
}

static void test_pieces(void **state)
{
    (void)state;
    char *whole = describe_fed(log_text, sizeof(log_text) - 1, sizeof(log_text));
    assert_non_null(strstr(whole, "stage 0 status 1 tasks 0 2 1 run 216 shares 1 named 1\n"));
    assert_non_null(strstr(whole, " task 1 0.0 101-2000 1/h - 31 run 71 push 3 4 9 rows \xc3\xa9"
                                  "2\n"));
    assert_non_null(strstr(whole, " task 2 1.0 102-2000 1/h t 21 run 72 push 3 4\n"));
    assert_non_null(strstr(whole, "1 bad 1000-4000"));
    for (size_t piece = 1; piece < 300; piece = piece * 3 + 1) {
        char *pieces = describe_fed(log_text, sizeof(log_text) - 1, piece);
        assert_string_equal(pieces, whole);
        free(pieces);
    }
    free(whole);
}

/* The name alone forbids the value: there is no sign between them, in the log or in what is kept. */
static void test_secret_accumulables(void **state)
{
    (void)state;
    static const char secret[] = START(5, 0)
        END(5, 0, "{\"Reason\":\"Success\"}", "false",
            ",{\"ID\":20,\"Name\":\"password\",\"Update\":\"hunter2\",\"Value\":\"hunter2\",\"Internal\":false}");
    char text[sizeof(log_text) + sizeof(secret)];
    const char *rest = strstr(log_text, "no JSON");
    int len = snprintf(text, sizeof(text), "%.*s%s%s", (int)(rest - log_text), log_text, secret, rest);
    char *words = describe_fed(text, (size_t)len, (size_t)len);
    assert_null(strstr(words, "hunter2"));
    assert_non_null(strstr(words, "20 password" PYRO_REDACTED));
    free(words);
}

/* What is forgotten is in no snapshot, and the listener goes on as if it were not forgotten. */
static void test_limits(void **state)
{
    (void)state;
    static const struct pyro_retained_limits limits = {.tasks = 1, .jobs = 2};
    struct pyro_history_follower *follower = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    char job[400];
    assert_int_equal(pyro_history_follower_new(true, &limits, PYRO_REDACT_WIDE, &follower, &error), PYRO_OK);
    assert_int_equal(pyro_history_follower_feed(follower, log_text, sizeof(log_text) - 1, &error), PYRO_OK);
    for (int id = 1; id < 5; id++) {
        struct pyro_history *history = NULL;
        assert_int_equal(pyro_history_follower_snapshot(follower, &history, &error), PYRO_OK);
        char *words = describe(history);
        /* Task 1 is the only one that has ended when the third one begins. */
        assert_null(strstr(words, " task 1 0.0"));
        assert_non_null(strstr(words, " task 2 1.0"));
        assert_non_null(strstr(words, "stage 0 status 1 tasks 0 2 1 run 216"));
        assert_int_equal(history->jobs.count, id < 3 ? id : 2);
        assert_int_equal(pyro_history_job(history, 0) != NULL, id < 3);
        assert_int_equal(pyro_history_job(history, id - 1)->id, id - 1);
        free(words);
        pyro_history_release(history);
        int len = snprintf(job, sizeof(job),
                           "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":3100,\"Stage "
                           "Infos\":[],\"Stage IDs\":[],\"Properties\":{}}\n"
                           "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":3200,"
                           "\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n",
                           id, id);
        assert_int_equal(pyro_history_follower_feed(follower, job, (size_t)len, &error), PYRO_OK);
    }
    pyro_history_follower_free(follower);
}

/* Of SQL executions those that were completed first are forgotten, one for each that comes beyond the limit; of two
 * that were completed at once the one with the lesser id. */
static void test_limit_of_executions(void **state)
{
    (void)state;
    enum { EXECUTIONS = 300, RETAINED = 7, TIMES = 40 };
    static const struct pyro_retained_limits limits = {.executions = RETAINED};
    struct pyro_history_follower *follower = NULL;
    struct pyro_history *history = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    int64_t ends[EXECUTIONS];
    bool kept[EXECUTIONS];
    char text[1000];
    assert_int_equal(pyro_history_follower_new(true, &limits, PYRO_REDACT_WIDE, &follower, &error), PYRO_OK);
    assert_int_equal(pyro_history_follower_feed(follower, log_text, sizeof(log_text) - 1, &error), PYRO_OK);
    for (int id = 0, stored = 0; id < EXECUTIONS; id++) {
        ends[id] = 5000 + id * 7919 % TIMES;
        kept[id] = true;
        int len = snprintf(text, sizeof(text),
                           "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\","
                           "\"executionId\":%d,\"description\":\"d\",\"details\":\"\","
                           "\"physicalPlanDescription\":\"\",\"sparkPlanInfo\":{\"nodeName\":\"n\","
                           "\"simpleString\":\"n\",\"children\":[],\"metadata\":{},\"metrics\":[]},\"time\":4000}\n"
                           "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\","
                           "\"executionId\":%d,\"time\":%lld}\n",
                           id, id, (long long)ends[id]);
        assert_int_equal(pyro_history_follower_feed(follower, text, (size_t)len, &error), PYRO_OK);
        if (++stored <= RETAINED)
            continue;
        int first = -1;
        for (int i = 0; i <= id; i++)
            if (kept[i] && (first < 0 || ends[i] < ends[first]))
                first = i;
        kept[first] = false;
        stored--;
    }
    assert_int_equal(pyro_history_follower_snapshot(follower, &history, &error), PYRO_OK);
    assert_int_equal(history->sql.count, EXECUTIONS);
    for (int id = 0; id < EXECUTIONS; id++)
        assert_int_equal(history->sql.items[id].dropped, !kept[id]);
    pyro_history_release(history);
    pyro_history_follower_free(follower);
}

/* A snapshot stays what it was, and the same as that of a log which ends there. */
static void test_snapshots_do_not_change(void **state)
{
    (void)state;
    enum { MOST = 20 };
    struct pyro_history_follower *follower = NULL;
    struct pyro_history *snapshots[MOST];
    size_t ends[MOST], count = 0, at = 0;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_history_follower_new(true, NULL, PYRO_REDACT_WIDE, &follower, &error), PYRO_OK);
    while (at < sizeof(log_text) - 1) {
        size_t len = (size_t)(strchr(log_text + at, '\n') + 1 - (log_text + at));
        assert_int_equal(pyro_history_follower_feed(follower, log_text + at, len, &error), PYRO_OK);
        at += len;
        assert_true(count < MOST);
        ends[count] = at;
        assert_int_equal(pyro_history_follower_snapshot(follower, &snapshots[count++], &error), PYRO_OK);
    }
    pyro_history_follower_free(follower);
    for (size_t i = 0; i < count; i++) {
        char *words = describe(snapshots[i]), *alone = describe_fed(log_text, ends[i], ends[i]);
        assert_string_equal(words, alone);
        free(words);
        free(alone);
        pyro_history_release(snapshots[i]);
    }
}

static void put_file(const char *path, size_t len, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    size_t from = mode[0] == 'a' ? (size_t)ftell(file) : 0;
    if (mode[0] == 'a') {
        fseek(file, 0, SEEK_END);
        from = (size_t)ftell(file);
    }
    assert_int_equal(fwrite(log_text + from, 1, len - from, file), len - from);
    fclose(file);
}

static void check_followed(struct pyro_history_follower **follower, const char *path, size_t complete)
{
    pyro_inputs *inputs = NULL;
    struct pyro_history *history = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_inputs_open(&path, 1, NULL, NULL, &inputs, &error), PYRO_OK);
    assert_int_equal(pyro_history_follow(follower, inputs, 0, true, NULL, NULL, &history, &error), PYRO_OK);
    char *words = describe(history), *expected = describe_fed(log_text, complete, complete);
    assert_string_equal(words, expected);
    free(words);
    free(expected);
    pyro_history_release(history);
    pyro_inputs_close(inputs);
}

static size_t line_end(size_t from)
{
    return (size_t)(strchr(log_text + from, '\n') + 1 - log_text);
}

/* Only whole lines count while a log is written; one that was replaced is read again. */
static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/pyro-follow-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/app-1.inprogress", folder);
    struct pyro_history_follower *follower = NULL;
    size_t first = line_end(400), second = line_end(first + 900);
    put_file(path, first + 40, "w");
    check_followed(&follower, path, first);
    put_file(path, second, "a");
    check_followed(&follower, path, second);
    check_followed(&follower, path, second); /* nothing came */
    put_file(path, first, "w");              /* cut short */
    check_followed(&follower, path, first);
    unlink(path);
    put_file(path, sizeof(log_text) - 1, "w"); /* another file */
    check_followed(&follower, path, sizeof(log_text) - 1);
    pyro_history_follower_free(follower);
    unlink(path);
    rmdir(folder);
}

static struct pyro_history *fed(void)
{
    struct pyro_history_follower *follower = NULL;
    struct pyro_history *history = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_history_follower_new(true, NULL, PYRO_REDACT_WIDE, &follower, &error), PYRO_OK);
    /* Without the last lines a task still runs. */
    size_t len = (size_t)(strstr(log_text, "no JSON") - log_text), last = len;
    while (log_text[--last - 1] != '\n')
        ;
    assert_int_equal(pyro_history_follower_feed(follower, log_text, last, &error), PYRO_OK);
    assert_int_equal(pyro_history_follower_snapshot(follower, &history, &error), PYRO_OK);
    pyro_history_follower_free(follower);
    return history;
}

static void test_packed_and_unpacked(void **state)
{
    (void)state;
    struct pyro_history *history = fed();
    struct pyro_strbuf packed;
    pyro_strbuf_init(&packed, NULL);
    assert_true(pyro_history_pack(history, &packed));
    struct pyro_history *again = pyro_history_unpack(pyro_strbuf_slice(&packed));
    assert_non_null(again);
    char *words = describe(history), *words_again = describe(again);
    assert_string_equal(words_again, words);
    assert_non_null(strstr(words, " task 3 1.0 103-0 1/h - 00 run 0 push 0 0\n"));
    free(words);
    free(words_again);
    pyro_history_release(again);
    for (size_t len = 0; len < packed.len; len++) /* cut anywhere */
        assert_null(pyro_history_unpack((struct pyro_slice){packed.data, len}));
    for (size_t at = 0; at < packed.len; at++) { /* refused, or sound enough to be shown */
        packed.data[at] = (char)(packed.data[at] + 1);
        again = pyro_history_unpack(pyro_strbuf_slice(&packed));
        if (again)
            free(describe(again));
        pyro_history_release(again);
        packed.data[at] = (char)(packed.data[at] - 1);
    }
    pyro_strbuf_done(&packed);
    pyro_history_release(history);
}

static void test_damaged_indexes_are_not_trusted(void **state)
{
    (void)state;
    struct pyro_history *history = fed();
    struct pyro_slice identity = PYRO_SLICE_LITERAL("this log");
    struct pyro_strbuf file;
    pyro_strbuf_init(&file, NULL);
    assert_true(pyro_history_index_write(history, identity, &file));
    struct pyro_history *again = pyro_history_index_read(pyro_strbuf_slice(&file), identity);
    assert_non_null(again);
    pyro_history_release(again);
    assert_null(pyro_history_index_read(pyro_strbuf_slice(&file), PYRO_SLICE_LITERAL("that log")));
    assert_null(pyro_history_index_read(pyro_strbuf_slice(&file), PYRO_SLICE_LITERAL("this")));
    for (size_t len = 0; len < file.len; len++)
        assert_null(pyro_history_index_read((struct pyro_slice){file.data, len}, identity));
    for (size_t at = 0; at < file.len; at++) {
        file.data[at] = (char)(file.data[at] ^ 4);
        assert_null(pyro_history_index_read(pyro_strbuf_slice(&file), identity));
        file.data[at] = (char)(file.data[at] ^ 4);
    }
    pyro_strbuf_done(&file);
    pyro_history_release(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_secret_accumulables),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limit_of_executions),
        cmocka_unit_test(test_snapshots_do_not_change),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_packed_and_unpacked),
        cmocka_unit_test(test_damaged_indexes_are_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
