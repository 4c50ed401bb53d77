/* Headers of text logs, times, own patterns, and lines to records. */
#include "base/numbers/calendar.h"
#include "decode/logs/records/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode/logs/layout.h"
#include "decode/logs/named_task.h"
#include "decode/logs/records/logger_record.h"
#include "decode/logs/records/records.h"
#include "model/column.h"

#define T0 1709288102000 /* 2024-03-01 10:15:02 UTC */

static void assert_text(struct pyro_slice got, const char *expected)
{
    if (!expected) {
        assert_null(got.ptr);
        return;
    }
    assert_non_null(got.ptr);
    assert_int_equal(got.len, strlen(expected));
    assert_memory_equal(got.ptr, expected, got.len);
}

struct header_case {
    const char *line;
    int64_t time_ms;
    bool zoned;
    enum pyro_log_level level;
    const char *logger, *thread, *task_name, *message;
};

static void assert_header(const struct header_case *row, const struct pyro_log_header *header)
{
    assert_int_equal(header->time_ms, row->time_ms);
    assert_int_equal(header->zoned, row->zoned);
    assert_int_equal(header->level, row->level);
    assert_text(header->logger, row->logger);
    assert_text(header->thread, row->thread);
    assert_text(header->task_name, row->task_name);
    assert_text(header->message, row->message);
}

static void known_headers(void **state)
{
    (void)state;
    static const struct header_case rows[] = {
        {"24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)", T0, false, PYRO_LEVEL_INFO,
         "Executor", NULL, NULL, "Running task 0.0 in stage 1.0 (TID 3)"},
        {"2024-03-01 10:15:02 INFO  Utils:54 - Successfully started", T0, false, PYRO_LEVEL_INFO, "Utils", NULL, NULL,
         "Successfully started"},
        {"2024-03-01 10:15:02,123 ERROR [main] o.a.s.SparkContext - a - b", T0 + 123, false, PYRO_LEVEL_ERROR,
         "o.a.s.SparkContext", "main", NULL, "a - b"},
        {"2024-03-01T10:15:02.123456+01:00 [Executor task launch worker for task 0.0 in stage 1.0 (TID 3)] WARN  X: y",
         T0 + 123 - 3600000, true, PYRO_LEVEL_WARN, "X",
         "Executor task launch worker for task 0.0 in stage 1.0 (TID 3)", NULL, "y"},
        {"2024-03-01T10:15:02Z INFO X: ", T0, true, PYRO_LEVEL_INFO, "X", NULL, NULL, ""},
        {"2024/03/01 10:15:02 UTC FATAL X: y", T0, true, PYRO_LEVEL_FATAL, "X", NULL, NULL, "y"},
        {"24-03-01 10:15:02 main DEBUG X: y", T0, false, PYRO_LEVEL_DEBUG, "X", "main", NULL, "y"},
        {"[2024-03-01 10:15:02,5] [INFO] [t-1] [task 1.0 in stage 2.0 (TID 9)] X: y", T0 + 500, false, PYRO_LEVEL_INFO,
         "X", "t-1", "task 1.0 in stage 2.0 (TID 9)", "y"},
        {"INFO 2024-03-01 10:15:02 X: y", T0, false, PYRO_LEVEL_INFO, "X", NULL, NULL, "y"},
        {"24/03/01 10:15:02 INFO  b.A: [main]: y", T0, false, PYRO_LEVEL_INFO, "b.A", "main", NULL, "y"},
        {"24/03/01 10:15:02 INFO b.A: [y]", T0, false, PYRO_LEVEL_INFO, "b.A", NULL, NULL, "[y]"},
        {"24/03/01 10:15:02 INFO b.A: [y] z: x", T0, false, PYRO_LEVEL_INFO, "b.A", NULL, NULL, "[y] z: x"},
        {"24/03/01 10:15:02 INFO b.A [main]: y", T0, false, PYRO_LEVEL_INFO, "b.A", "main", NULL, "y"},
        {"2024-03-01 10:15:02,123 INFO [main] b.A (A.scala:logInfo(12)): y", T0 + 123, false, PYRO_LEVEL_INFO, "b.A",
         "main", NULL, "y"},
        {"2024-03-01 10:15:02,123 INFO org.apache.A (A.java:run(12)) - y", T0 + 123, false, PYRO_LEVEL_INFO,
         "org.apache.A", NULL, NULL, "y"},
        {"24/03/01 10:15:02 ERROR Executor [thread x]: y", T0, false, PYRO_LEVEL_ERROR, "Executor", "thread x", NULL,
         "y"},
        {"24/03/01 10:15:02 WARN no logger here", T0, false, PYRO_LEVEL_WARN, NULL, NULL, NULL, "no logger here"},
    };
    static const char *const others[] = {"",
                                         "24/03/01 10:15:02",
                                         "24/03/01 25:15:02 INFO X: y",
                                         "24/13/01 10:15:02 INFO X: y",
                                         "at 24/03/01 10:15:02 INFO X: y",
                                         "24/03/01 10:15:02 hello world out there",
                                         "1550420474082 com.uber.X: y z z z",
                                         "\tat a.b.C(C.java:1) and so on",
                                         "INFO: not a time at all 12"};
    struct pyro_log_header header;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_true(pyro_log_header_read(pyro_slice_from(rows[i].line), &header));
        assert_header(&rows[i], &header);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(pyro_log_header_read(pyro_slice_from(others[i]), &header));
}

static void calendar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {{"1970-01-01 00:00:00", 0},
                {"2000-02-29 12:00:00.5", 951825600500},
                {"2024-02-29 23:59:59,999", 1709251199999},
                {"2038-01-19T03:14:08Z", 2147483648000},
                {"2024-03-01T10:15:02-0330", T0 + 12600000}};
    int64_t ms;
    bool zoned;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(pyro_date_time_read(pyro_slice_from(rows[i].text), &ms, &zoned), strlen(rows[i].text));
        assert_int_equal(ms, rows[i].ms);
    }
}

static void own_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        struct header_case expected;
    } rows[] = {
        {"%-5p | %d{dd MMM yyyy HH:mm:ss,SSS} | <%t> | %X{mdc.taskName} | %c{1} ~ %m%n%ex",
         {"WARN  | 01 Mar 2024 10:15:02,123 | <a b> |  | X ~ m | n", T0 + 123, false, PYRO_LEVEL_WARN, "X", "a b", NULL,
          "m | n"}},
        {"%d{yyyy-MM-dd'T'HH:mm:ssXXX} %10.20c{2} [%5level] %msg%n",
         {"2024-03-01T11:15:02+01:00          X [ INFO] m", T0, true, PYRO_LEVEL_INFO, "X", NULL, NULL, "m"}},
        {"%d{ISO8601_BASIC}{UTC} %p %M:%L %m",
         {"20240301T101502,123 ERROR run:12 m", T0 + 123, true, PYRO_LEVEL_ERROR, NULL, NULL, NULL, "m"}},
        {"100%% %p %m", {"100% INFO m", PYRO_NONE, false, PYRO_LEVEL_INFO, NULL, NULL, NULL, "m"}},
    };
    static const char *const wrong[] = {
        "%d %p",      "%m",       "%q %m %p",   "%d{ww} %p %m",     "%d{HH:mm}{Mars/Base} %p %m",
        "%c%t %p %m", "%p %n %m", "%d{yyyy %m", "%highlight{%p} %m"};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_log_pattern *pattern = NULL;
    struct pyro_log_header header;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(pyro_log_pattern_new(rows[i].pattern, NULL, &pattern, &error), PYRO_OK);
        assert_true(pyro_log_pattern_read(pattern, pyro_slice_from(rows[i].expected.line), &header));
        assert_header(&rows[i].expected, &header);
        assert_false(pyro_log_pattern_read(pattern, PYRO_SLICE_LITERAL("something else"), &header));
        pyro_log_pattern_free(pattern);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        error.message[0] = '\0';
        assert_int_equal(pyro_log_pattern_new(wrong[i], NULL, &pattern, &error), PYRO_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "the pattern"));
    }
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

enum { KEPT = 16 };

struct seen {
    struct pyro_log_record records[KEPT];
    char *texts[KEPT];
    size_t count;
};

static enum pyro_status see(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                            struct pyro_error *error)
{
    struct seen *seen = context;
    (void)file;
    (void)error;
    assert_true(seen->count < KEPT);
    seen->texts[seen->count] = strndup(record->message.ptr, record->message.len);
    seen->records[seen->count++] = *record;
    return PYRO_OK;
}

/* Lines end in newlines; each lies behind the one before it, as in a file. */
static void assemble(const char *text, struct seen *seen)
{
    struct pyro_log_assembler assembler;
    struct pyro_log_counts counts = {0};
    const struct pyro_log_file file = {.path = PYRO_SLICE_LITERAL("f")};
    size_t len = strlen(text);
    char *padded = calloc(1, len + PYRO_SCAN_PADDING);
    uint64_t number = 0;
    memcpy(padded, text, len);
    *seen = (struct seen){.count = 0};
    pyro_log_assembler_init(&assembler, NULL);
    assembler.take = see;
    assembler.context = seen;
    assembler.counts = &counts;
    assembler.file = &file;
    for (const char *at = padded, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
        assert_int_equal(pyro_log_assembler_line(&assembler, (struct pyro_slice){at, (size_t)(end - at)}, at - padded,
                                                 ++number, PYRO_NONE, NULL),
                         PYRO_OK);
    assert_int_equal(pyro_log_assembler_end_file(&assembler, NULL), PYRO_OK);
    pyro_log_assembler_done(&assembler);
    free(padded);
}

static void forget(struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        free(seen->texts[i]);
}

static void records(void **state)
{
    (void)state;
    struct seen seen;
    assemble("banner\n"
             "24/03/01 10:15:02 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 3)\n"
             "java.lang.Error: x\n"
             "\tat a.b(c)\n"
             "24/03/01 10:15:03 INFO SparkContext: stopped\n"
             "Traceback (most recent call last):\n"
             "  File \"a.py\", line 1, in f\n"
             "ValueError: x\n"
             "\n"
             "During handling of the above exception, another exception occurred:\n"
             "\n"
             "Traceback (most recent call last):\n"
             "  File \"a.py\", line 3, in g\n"
             "KeyError: y\n"
             "\n"
             "printed\n"
             "{\"ts\":\"2024-03-01T10:15:04Z\",\"level\":\"WARN\",\"msg\":\"a\\tb\",\"context\":{\"task_name\":\"task "
             "0.0 in stage 7.0 (TID 8)\"},\"exception\":{\"class\":\"a.BError\",\"msg\":\"c\",\"stacktrace\":[{"
             "\"class\":\"d.E\",\"method\":\"f\",\"file\":\"E.scala\",\"line\":9}]},\"logger\":\"L\"}\n"
             "{\"stacktrace\":[\"a\"],\"count\":3}\n",
             &seen);
    assert_int_equal(seen.count, 6);
    assert_string_equal(seen.texts[0], "banner");
    assert_int_equal(seen.records[0].time_ms, PYRO_NONE);
    assert_string_equal(seen.texts[1], "Exception in task 0.0 in stage 1.0 (TID 3)\njava.lang.Error: x\n\tat a.b(c)");
    assert_int_equal(seen.records[1].lines, 3);
    assert_int_equal(seen.records[1].line, 2);
    assert_int_equal(seen.records[1].place, 7);
    assert_string_equal(seen.texts[2], "stopped");
    assert_int_equal(seen.records[3].level, PYRO_LEVEL_NONE);
    assert_int_equal(seen.records[3].time_ms, T0 + 1000); /* of the record before it */
    assert_int_equal(seen.records[3].lines, 10);
    assert_non_null(strstr(seen.texts[3], "KeyError: y"));
    assert_string_equal(seen.texts[4], "printed");
    assert_int_equal(seen.records[5].level, PYRO_LEVEL_WARN);
    assert_int_equal(seen.records[5].time_ms, T0 + 2000);
    assert_string_equal(seen.texts[5], "a\tb\na.BError: c\n\tat d.E.f(E.scala:9)");
    forget(&seen);
}

static void tasks(void **state)
{
    (void)state;
    struct pyro_log_task task;
    assert_true(pyro_log_task_read(PYRO_SLICE_LITERAL("Lost task 3.1 in stage 2.4 (TID 40) (h executor 1): x"), &task));
    assert_int_equal(task.index, 3);
    assert_int_equal(task.attempt, 1);
    assert_int_equal(task.stage, 2);
    assert_int_equal(task.stage_attempt, 4);
    assert_int_equal(task.tid, 40);
    assert_false(pyro_log_task_read(PYRO_SLICE_LITERAL("8 tasks in stage 2.0"), &task));
    assert_false(pyro_log_task_read(PYRO_SLICE_NULL, &task));
    struct pyro_log_record record = {.message =
                                         PYRO_SLICE_LITERAL("Submitting 4 missing tasks from ShuffleMapStage 12")};
    assert_int_equal(pyro_log_stage_of(&record), 12);
    record.message = PYRO_SLICE_LITERAL("Stage is done");
    assert_int_equal(pyro_log_stage_of(&record), PYRO_NONE);
}

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *application, *container, *executor;
    } rows[] = {
        {"j-1/containers/application_1_0002/container_e17_1_0002_01_000003/stderr.gz", "application_1_0002",
         "container_e17_1_0002_01_000003", NULL},
        {"work/app-20240301101500-0000/3/stderr", "app-20240301101500-0000", "app-20240301101500-0000/3", "3"},
        {"executor/app-20240301101500-0000/3/stdout--2024-03-01--10-00.gz", "app-20240301101500-0000",
         "app-20240301101500-0000/3", "3"},
        {"dbfs/driver/log4j-active.log", NULL, "driver", "driver"},
        {"/var/log/containers/etl-f00-exec-12_ns_spark-kubernetes-executor-99.log", NULL, "etl-f00-exec-12", "12"},
        {"/var/log/pods/ns_etl-f00-driver_1-2-3/spark/0.log", NULL, "etl-f00-driver", "driver"},
        {"s3/applications/00f1/jobs/00f2a/SPARK_DRIVER/stderr.gz", "00f2a", "00f2a/SPARK_DRIVER", "driver"},
        {"s3/applications/00f1/jobs/00f2a/SPARK_EXECUTOR/3/archived/stderr_1.gz", "00f2a", "00f2a/SPARK_EXECUTOR/3",
         "3"},
        {"s3/applications/00f1/jobs/00f2a/SPARK_EXECUTOR_12/stdout.gz", "00f2a", "00f2a/SPARK_EXECUTOR_12", "12"},
        {"s3/applications/00f1/jobs/00f2a/HIVE_DRIVER/stderr.gz", NULL, "HIVE_DRIVER", NULL},
        {"metainfo/5f-1/jobs/job-7/driveroutput.000000000", NULL, "job-7", "driver"},
        {"jr_0123456789abcdef0123456789abcdef-driver", "jr_0123456789abcdef0123456789abcdef",
         "jr_0123456789abcdef0123456789abcdef-driver", "driver"},
        {"error/jr_0123456789abcdef0123456789abcdef-7.log.gz", "jr_0123456789abcdef0123456789abcdef",
         "jr_0123456789abcdef0123456789abcdef-7", "7"},
        {"jr_0123456789abcdef0123456789abcdef_g-0f", "jr_0123456789abcdef0123456789abcdef",
         "jr_0123456789abcdef0123456789abcdef_g-0f", NULL},
        {"jr_0123/stderr", NULL, "jr_0123", NULL},
        {"logs/driver.log", NULL, "driver.log", NULL},
        {"run/stderr", NULL, "run", NULL},
        {"stderr", NULL, "stderr", NULL},
        {"spark-0123456789abcdef0123456789abcdef/x.log", "spark-0123456789abcdef0123456789abcdef", "x.log", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pyro_log_file file = pyro_log_file_of(pyro_slice_from(rows[i].path));
        assert_text(file.application, rows[i].application);
        assert_text(file.container, rows[i].container);
        assert_text(file.executor, rows[i].executor);
    }
}

/* A record of a logger as JSON, as text; NULL: it is none of a log. */
static void assert_record(const char *line, size_t size, const char *expected)
{
    char padded[1024] = {0}, inner[256];
    struct pyro_logger_record record;
    struct pyro_strbuf out;
    assert_true(strlen(line) + PYRO_SCAN_PADDING <= sizeof(padded));
    memcpy(padded, line, strlen(line));
    bool whole =
        pyro_logger_record_read(pyro_scan_best(), (struct pyro_slice){padded, strlen(line)}, inner, size, &record);
    assert_int_equal(whole && pyro_logger_record_is_log(&record), expected != NULL);
    if (!expected)
        return;
    pyro_strbuf_init(&out, NULL);
    pyro_logger_record_write(&record, &out);
    assert_text(pyro_strbuf_slice(&out), expected);
    pyro_strbuf_done(&out);
}

static void logger_records(void **state)
{
    (void)state;
    static const char text[] = "{\"time\":\"2024-03-01T10:15:02Z\",\"properties\":\"{\\\"Level\\\":\\\"Warning\\\","
                               "\\\"Message\\\":\\\"y\\\"}\"}";
    assert_record(text, 256, "2024-03-01T10:15:02Z WARN y");
    assert_record(text, 64, NULL); /* no room for the properties */
    assert_record(text, 0, NULL);
    assert_record(
        "{\"properties\":{\"level\":\"INFO\",\"message\":\"in\",\"logger_name\":\"b.A\",\"thread_name\":\"t 1\"},"
        "\"message\":\"out\",\"timestamp\":\"2024-03-01T10:15:02.5Z\"}",
        256, "2024-03-01T10:15:02.5Z INFO [t 1] b.A: in");
    assert_record(
        "{\"@timestamp\":\"2024-03-01T10:15:02Z\",\"log.level\":\"ERROR\",\"message\":\"y\",\"error.type\":\"b.E\","
        "\"error.message\":\"z\",\"error.stack_trace\":\"\\tat b.A.f(A.scala:1)\",\"thread\":\"a]b\",\"logger\":\"a "
        "b\"}",
        256, "2024-03-01T10:15:02Z ERROR y\nb.E: z\n\tat b.A.f(A.scala:1)");
    assert_record("{\"timestamp\":\"2024-03-01T10:15:02Z\",\"level\":\"INFO\",\"message\":\"y\",\"exception\":\"b.E\"}",
                  256, "2024-03-01T10:15:02Z INFO y\nb.E");
    static const char *const others[] = {"{\"timestamp\":\"2024-03-01T10:15:02Z\",\"level\":\"INFO\"}",
                                         "{\"timestamp\":\"2024-03-01T10:15:02Z\",\"level\":\"4\",\"message\":\"y\"}",
                                         "{\"timestamp\":\"noon\",\"level\":\"INFO\",\"message\":\"y\"}",
                                         "{\"timestamp\":7,\"level\":\"INFO\",\"message\":\"y\"}",
                                         "{\"timestamp\":\"2024-03-01T10:15:02Z\",\"level\":\"INFO\",\"message\":\"y\"",
                                         "{\"properties\":{\"properties\":{\"properties\":{\"level\":\"INFO\"}}}}",
                                         "7",
                                         ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_record(others[i], 256, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_headers), cmocka_unit_test(logger_records), cmocka_unit_test(calendar),
        cmocka_unit_test(own_patterns),  cmocka_unit_test(records),        cmocka_unit_test(tasks),
        cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
