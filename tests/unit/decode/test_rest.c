/* Texts of REST answers: times, SQL metrics, reasons of failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/rest/rest_reading.h"

#define TEXT(text) PYRO_SLICE_LITERAL("\"" text "\"")

static void times(void **state)
{
    (void)state;
    assert_int_equal(pyro_rest_time(TEXT("1970-01-01T00:00:00.001GMT")), 1);
    assert_int_equal(pyro_rest_time(TEXT("2026-11-21T17:18:04.898GMT")), 1795281484898);
    assert_int_equal(pyro_rest_time(TEXT("2024-02-29T23:59:59.999GMT")), 1709251199999);
    assert_int_equal(pyro_rest_time(TEXT("1969-12-31T23:59:59.999GMT")), PYRO_NONE); /* not yet */
    assert_int_equal(pyro_rest_time(TEXT("2026-11-21T17:18:04.898CET")), PYRO_NONE);
    assert_int_equal(pyro_rest_time(TEXT("2026-13-21T17:18:04.898GMT")), PYRO_NONE);
    assert_int_equal(pyro_rest_time(TEXT("")), PYRO_NONE);
    assert_int_equal(pyro_rest_time(PYRO_SLICE_NULL), PYRO_NONE);
}

static void check_metric(struct pyro_slice text, const char *type, int64_t value, int64_t stage)
{
    struct pyro_rest_metric_value found = pyro_rest_read_metric(text);
    if (type)
        assert_string_equal(found.type, type);
    else
        assert_null(found.type);
    assert_int_equal(found.value, value);
    assert_int_equal(found.stage, stage);
}

static void metrics(void **state)
{
    (void)state;
    check_metric(TEXT("1,234,567"), "sum", 1234567, PYRO_NONE);
    check_metric(TEXT("12.5 MiB"), "size", 13107200, PYRO_NONE);
    check_metric(TEXT("1.5 KB"), "size", 1536, PYRO_NONE);
    check_metric(TEXT("1.1 m"), "timing", 66000, PYRO_NONE);
    check_metric(TEXT("total (min, med, max (stageId: taskId))\\n2.6 s (250 ms, 327 ms, 417 ms (stage 12.1: task 15))"),
                 "timing", 2600, 12);
    check_metric(TEXT("total (min, med, max (stageId: taskId))\\n4.0 B (4.0 B, 4.0 B, 4.0 B (driver))"), "size", 4,
                 PYRO_NONE);
    check_metric(TEXT("avg (min, med, max (stageId: taskId)):\\n(1, 1, 2 (stage 1.0: task 2))"), NULL, PYRO_NONE,
                 PYRO_NONE);
    check_metric(TEXT("99999999999999999999999"), "sum", INT64_MAX, PYRO_NONE);
    check_metric(TEXT(""), NULL, PYRO_NONE, PYRO_NONE);
    check_metric(PYRO_SLICE_NULL, NULL, PYRO_NONE, PYRO_NONE);
}

static void check_reason(struct pyro_slice status, struct pyro_slice message, const char *expected)
{
    struct pyro_rest_reading reading = {0};
    pyro_rest_line(&reading, "E"); /* a reason is a member of an event */
    pyro_rest_add_reason(&reading, status, message);
    assert_string_equal(reading.lines.data, expected);
    pyro_strbuf_done(&reading.lines);
}

static void reasons(void **state)
{
    (void)state;
#define REASON(rest) "{\"Event\":\"E\",\"Task End Reason\":{\"Reason\":" rest "}"
    check_reason(TEXT("SUCCESS"), PYRO_SLICE_NULL, REASON("\"Success\""));
    check_reason(TEXT("KILLED"), TEXT("another attempt succeeded"),
                 REASON("\"TaskKilled\",\"Kill Reason\":\"another attempt succeeded\""));
    check_reason(TEXT("FAILED"), TEXT("java.io.IOException: disk\\nfull\\n\\tat a.B.c(D.java:1)"),
                 REASON("\"ExceptionFailure\",\"Class Name\":\"java.io.IOException\",\"Description\":\"disk\\nfull\""));
    check_reason(TEXT("FAILED"),
                 TEXT("ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Killed"),
                 REASON("\"ExecutorLostFailure\",\"Exit Caused By App\":true,\"Loss Reason\":\"Killed\""));
    check_reason(TEXT("FAILED"), TEXT("FetchFailed(null, shuffleId=1)"),
                 REASON("\"FetchFailed\",\"Message\":\"FetchFailed(null, shuffleId=1)\""));
    /* No cut goes through an escape. */
    check_reason(TEXT("FAILED"), TEXT("x.Y:\\\"\\\\n\\tat z"),
                 REASON("\"ExceptionFailure\",\"Class Name\":\"x.Y\",\"Description\":\"\\\"\\\\n\\tat z\""));
    check_reason(TEXT("FAILED"), PYRO_SLICE_NULL, REASON("\"UnknownReason\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(metrics),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
