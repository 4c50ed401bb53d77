/* What failure texts say, and which kind of failure they report. */
#include "model/failure_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/failure_kinds.h"

#define assert_slice(slice, text)                                                                                      \
    do {                                                                                                               \
        struct pyro_slice got = (slice);                                                                               \
        assert_int_equal(got.len, strlen(text));                                                                       \
        assert_memory_equal(got.ptr, (text), strlen(text));                                                            \
    } while (0)

static void test_root_causes(void **state)
{
    (void)state;
    struct pyro_root_cause root = pyro_root_cause(PYRO_SLICE_LITERAL(
        "Job aborted due to stage failure: Task 3 in stage 2.0 failed 4 times, most recent failure: Lost task 3.3 in "
        "stage 2.0 (TID 40) (10.0.0.1 executor 2): org.apache.spark.SparkException: Task failed while writing rows.\n"
        "\tat org.apache.spark.sql.errors.Q.taskFailed(Q.scala:1)\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:833)\n"
        "Caused by: java.lang.IllegalStateException: no rate for XYZ\n"
        "\tat scala.Option.get(Option.scala:1)\n"
        "\tat com.acme.etl.Rates.find(Rates.scala:44)\n"
        "\tat com.acme.etl.Load.parse(Load.scala:12)\n"
        "\nDriver stacktrace:\nCaused by: java.lang.Error: not this one\n"));
    assert_slice(root.name, "java.lang.IllegalStateException");
    assert_slice(root.message, "no rate for XYZ");
    assert_slice(root.wrapper, "org.apache.spark.SparkException");
    assert_slice(root.frame, "com.acme.etl.Rates.find(Rates.scala:44)");
    root = pyro_root_cause(PYRO_SLICE_LITERAL(
        "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost task 0.3 in "
        "stage 1.0 (TID 9) (h executor 1): org.apache.spark.api.python.PythonException: Traceback (most recent call "
        "last):\n"
        "  File \"/opt/pyspark/lib/pyspark.zip/pyspark/worker.py\", line 830, in main\n"
        "  File \"/app/jobs/load.py\", line 12, in price_of\n"
        "    return float(text)\n"
        "ValueError: could not convert string to float: 'on'\n\n"
        "\tat org.apache.spark.api.python.Base.handle(PythonRunner.scala:1)\n"));
    assert_slice(root.name, "ValueError");
    assert_slice(root.message, "could not convert string to float: 'on'");
    assert_slice(root.frame, "load.py\", line 12, in price_of");
    root = pyro_root_cause(PYRO_SLICE_LITERAL(
        "Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times, most recent failure: Lost task 1.3 in "
        "stage 3.0 (TID 12) (h executor 5): ExecutorLostFailure (executor 5 exited caused by one of the running tasks) "
        "Reason: Command exited with code 52\nDriver stacktrace:"));
    assert_slice(root.name, "ExecutorLostFailure");
    assert_slice(root.message, "Command exited with code 52");
    root = pyro_root_cause(PYRO_SLICE_LITERAL("Job aborted due to stage failure: Total size of serialized results of 8 "
                                              "tasks is bigger than spark.driver.maxResultSize (1.0 MiB)"));
    assert_null(root.name.ptr);
    assert_true(pyro_slice_starts_with(root.message, "Total size"));
    static const char *const strange[] = {"",
                                          "\n\n",
                                          "Caused by: ",
                                          ": ",
                                          "a",
                                          "most recent failure: Lost task",
                                          "Traceback (most recent call last)",
                                          "\tat \nCaused by:"};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
        pyro_root_cause(pyro_slice_from(strange[i]));
    pyro_root_cause(PYRO_SLICE_NULL);
}

static void test_frames(void **state)
{
    (void)state;
    struct pyro_frame frame = pyro_split_frame(PYRO_SLICE_LITERAL("load.py\", line 12, in parse"));
    assert_slice(frame.file, "load.py");
    assert_slice(frame.rest, "12, in parse");
    frame = pyro_split_frame(PYRO_SLICE_LITERAL("com.acme.etl.Load.parse(Load.scala:12)"));
    assert_slice(frame.file, "com.acme.etl.Load.parse(Load.scala:12)");
    assert_null(frame.rest.ptr);
    assert_null(pyro_split_frame(PYRO_SLICE_NULL).file.ptr);
}

static void test_one_message(void **state)
{
    (void)state;
    assert_true(pyro_same_message(PYRO_SLICE_LITERAL("bad record in partition 3 of Row@1f2a"),
                                  PYRO_SLICE_LITERAL("bad record in partition 8 of Row@77b0")));
    assert_true(pyro_same_message(PYRO_SLICE_LITERAL("id 3f2a11bc-beef-dead-cafe-aabbccddeeff"),
                                  PYRO_SLICE_LITERAL("id 0f2a11bc-1eef-feed-babe-11bbccddeeff")));
    assert_false(pyro_same_message(PYRO_SLICE_LITERAL("no rate for XYZ"), PYRO_SLICE_LITERAL("no rate for EUR")));
    assert_false(pyro_same_message(PYRO_SLICE_LITERAL("no rate"), PYRO_SLICE_LITERAL("no rate for EUR")));
    assert_slice(pyro_telling_line(PYRO_SLICE_LITERAL("\tat a.b\nfirst line\nsecond line")), "first line");
    assert_slice(pyro_telling_line(PYRO_SLICE_LITERAL("Traceback (most recent call last):\n  File x\nE: 1\nE: 2\n")),
                 "E: 2");
}

static void test_kinds(void **state)
{
    (void)state;
    struct pyro_slice none = PYRO_SLICE_NULL;
    assert_int_equal(pyro_failure_kind(PYRO_SLICE_LITERAL("java.lang.OutOfMemoryError"), none),
                     PYRO_FAILURE_JVM_MEMORY);
    assert_int_equal(pyro_failure_kind(PYRO_SLICE_LITERAL("MemoryError"), none), PYRO_FAILURE_PYTHON_MEMORY);
    assert_int_equal(pyro_failure_kind(none, PYRO_SLICE_LITERAL("[CAST_INVALID_INPUT] The value 'on' ...")),
                     PYRO_FAILURE_CAST);
    assert_int_equal(pyro_failure_kind(PYRO_SLICE_LITERAL("ValueError"), PYRO_SLICE_LITERAL("no")), PYRO_FAILURE_OTHER);
    assert_int_equal(pyro_failure_kind(none, none), PYRO_FAILURE_OTHER);
    assert_true(pyro_failure_is_consequence(PYRO_SLICE_LITERAL("ExecutorLostFailure")));
    assert_true(pyro_failure_is_consequence(PYRO_SLICE_LITERAL("TaskCommitDenied")));
    assert_false(pyro_failure_is_consequence(PYRO_SLICE_LITERAL("ExceptionFailure")));
    assert_false(pyro_failure_is_consequence(none));
}

static void test_removals(void **state)
{
    (void)state;
    static const struct {
        const char *reason;
        enum pyro_removal_kind kind;
        int code;
        bool ordinary;
    } known[] = {
        {"Container killed by YARN for exceeding memory limits. Exit status: 143.", PYRO_REMOVAL_CONTAINER_MEMORY, 143,
         false},
        {"Command exited with code 52", PYRO_REMOVAL_HEAP_MEMORY, 52, false},
        {"Container was Preempted by the scheduler", PYRO_REMOVAL_PREEMPTED, -1, false},
        {"Container from a bad node. Exit status: 137.", PYRO_REMOVAL_KILLED, 137, false},
        {"The exit code is 143", PYRO_REMOVAL_TERMINATED, 143, false},
        {"Executor heartbeat timed out after 125000 ms", PYRO_REMOVAL_NO_HEARTBEAT, -1, false},
        {"java.io.IOException: No space left on device", PYRO_REMOVAL_DISK_FULL, -1, false},
        {"Command exited with code 134", PYRO_REMOVAL_ABORTED, 134, false},
        {"Remote RPC client disassociated", PYRO_REMOVAL_DISCONNECTED, -1, false},
        {"Executor Process Lost", PYRO_REMOVAL_PROCESS_ENDED, -1, false},
        {"Executor killed by driver.", PYRO_REMOVAL_OTHER, -1, true},
        {"Command exited with code 0", PYRO_REMOVAL_OTHER, 0, true},
        {"unheard of", PYRO_REMOVAL_OTHER, -1, false},
        {"", PYRO_REMOVAL_OTHER, -1, true},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct pyro_slice reason = pyro_slice_from(known[i].reason);
        assert_int_equal(pyro_removal_kind(reason), known[i].kind);
        assert_int_equal(pyro_exit_code(reason), known[i].code);
        assert_int_equal(pyro_removal_is_ordinary(reason), known[i].ordinary);
    }
    assert_int_equal(pyro_removal_kind(PYRO_SLICE_NULL), PYRO_REMOVAL_OTHER);
}

static void test_shortages(void **state)
{
    (void)state;
    struct pyro_slice name = PYRO_SLICE_LITERAL("java.lang.OutOfMemoryError");
    assert_int_equal(pyro_shortage_of(name, PYRO_SLICE_LITERAL("Java heap space")), PYRO_SHORTAGE_HEAP);
    assert_int_equal(pyro_shortage_of(name, PYRO_SLICE_LITERAL("Metaspace")), PYRO_SHORTAGE_METASPACE);
    assert_int_equal(pyro_shortage_of(name, PYRO_SLICE_LITERAL("Direct buffer memory")), PYRO_SHORTAGE_DIRECT);
    assert_int_equal(pyro_shortage_of(name, PYRO_SLICE_LITERAL("unable to create native thread")),
                     PYRO_SHORTAGE_THREADS);
    assert_int_equal(pyro_shortage_of(name, PYRO_SLICE_LITERAL("Unable to acquire 9 bytes of memory, got 0")),
                     PYRO_SHORTAGE_EXECUTION);
    assert_int_equal(pyro_shortage_of(PYRO_SLICE_LITERAL("ValueError"), PYRO_SLICE_NULL), PYRO_SHORTAGE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root_causes), cmocka_unit_test(test_frames),   cmocka_unit_test(test_one_message),
        cmocka_unit_test(test_kinds),       cmocka_unit_test(test_removals), cmocka_unit_test(test_shortages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
