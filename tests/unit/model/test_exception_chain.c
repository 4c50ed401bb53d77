/* Exceptions with their causes: Java 8 to 17, Scala, Python, and what PySpark makes of both. */
#include "model/exception_chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/failure_kinds.h"

static struct pyro_exception_chain chain_of(const char *text)
{
    struct pyro_exception_chain chain;
    pyro_exception_chain_read(pyro_slice_from(text), &chain);
    return chain;
}

static void assert_slice(struct pyro_slice got, const char *expected)
{
    assert_int_equal(got.len, strlen(expected));
    assert_memory_equal(got.ptr, expected, got.len);
}

/* `classes`: separated by blanks, outermost first. */
static void assert_classes(const struct pyro_exception_chain *chain, const char *classes)
{
    size_t i = 0;
    for (const char *at = classes; *at; i++) {
        size_t len = strcspn(at, " ");
        assert_true(i < chain->count);
        assert_int_equal(chain->items[i].name.len, len);
        assert_memory_equal(chain->items[i].name.ptr, at, len);
        at += len + (at[len] == ' ');
    }
    assert_int_equal(chain->count, i);
}

static void java_causes(void **state)
{
    (void)state;
    static const char text[] =
        "Exception in task 0.0 in stage 1.0 (TID 3)\n"
        "org.apache.spark.SparkException: Task failed while writing rows.\n"
        "\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailed(QueryExecutionErrors.scala:789)\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:833)\n"
        "\tSuppressed: java.io.IOException: close failed\n"
        "\t\tat com.acme.Sink.close(Sink.scala:9)\n"
        "Caused by: java.lang.reflect.InvocationTargetException\n"
        "\tat jdk.internal.reflect.GeneratedMethodAccessor12.invoke(Unknown Source)\n"
        "\t... 12 more\n"
        "Caused by: com.acme.etl.RateException: no rate for XYZ\n"
        "\tat com.acme.etl.Rates$.find(Rates.scala:44)\n"
        "\tat com.acme.etl.Load.parse(Load.scala:12) [app.jar:?]\n"
        "\tat scala.collection.Iterator$$anon$10.next(Iterator.scala:461)\n"
        "\t... 13 more\n";
    struct pyro_exception_chain chain = chain_of(text);
    assert_classes(&chain, "org.apache.spark.SparkException java.lang.reflect.InvocationTargetException "
                           "com.acme.etl.RateException");
    assert_slice(pyro_chain_root(&chain)->message, "no rate for XYZ");
    assert_int_equal(chain.frame_count, 2);
    assert_slice(chain.frames[0].text, "com.acme.etl.Rates$.find(Rates.scala:44)");
}

static void python_tracebacks(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of("Traceback (most recent call last):\n"
                                                 "  File \"/app/load.py\", line 12, in price\n"
                                                 "    return float(text)\n"
                                                 "           ^^^^^^^^^^^\n"
                                                 "ValueError: could not convert string to float: 'on'\n"
                                                 "\n"
                                                 "The above exception was the direct cause of the following "
                                                 "exception:\n"
                                                 "\n"
                                                 "Traceback (most recent call last):\n"
                                                 "  File \"/app/main.py\", line 3, in <module>\n"
                                                 "    price('on')\n"
                                                 "RuntimeError: no price\n"
                                                 "\n"
                                                 "During handling of the above exception, another exception "
                                                 "occurred:\n"
                                                 "\n"
                                                 "Traceback (most recent call last):\n"
                                                 "  File \"/app/main.py\", line 9, in <module>\n"
                                                 "    stop()\n"
                                                 "acme.StopRun\n");
    assert_classes(&chain, "acme.StopRun RuntimeError ValueError");
    assert_slice(pyro_chain_root(&chain)->message, "could not convert string to float: 'on'");
    assert_int_equal(chain.frame_count, 1);
    assert_slice(chain.frames[0].text, "load.py\", line 12, in price");
}

static void python_inside_java(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of(
        "Lost task 1.0 in stage 3.0 (TID 7) (10.0.0.1 executor 2): org.apache.spark.api.python.PythonException: "
        "Traceback (most recent call last):\n"
        "  File \"/opt/spark/python/lib/pyspark.zip/pyspark/worker.py\", line 1247, in main\n"
        "    process()\n"
        "  File \"/app/jobs/load.py\", line 12, in price_of\n"
        "    raise RuntimeError('x')\n"
        "KeyError: 5\n"
        "\n"
        "During handling of the above exception, another exception occurred:\n"
        "\n"
        "Traceback (most recent call last):\n"
        "  File \"/app/jobs/load.py\", line 14, in price_of\n"
        "IndexError: list index out of range\n"
        "\n"
        "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1)\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:833)\n");
    assert_classes(&chain, "org.apache.spark.api.python.PythonException IndexError KeyError");
    assert_slice(pyro_chain_root(&chain)->message, "5");
    assert_slice(chain.frames[0].text, "load.py\", line 12, in price_of");
}

static void java_inside_python(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of(
        "Traceback (most recent call last):\n"
        "  File \"/app/main.py\", line 3, in <module>\n"
        "  File \"/opt/spark/python/lib/py4j-0.10.9.7-src.zip/py4j/protocol.py\", line 326, in get_return_value\n"
        "py4j.protocol.Py4JJavaError: An error occurred while calling o42.save.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most "
        "recent failure: Lost task 0.3 in stage 1.0 (TID 6) (10.0.0.1 executor 1): java.lang.ArithmeticException: / by "
        "zero\n"
        "\tat com.acme.Divide.apply(Divide.scala:5)\n"
        "\n"
        "Driver stacktrace:\n"
        "\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2844)\n"
        "Caused by: java.lang.ArithmeticException: / by zero\n"
        "\tat com.acme.Divide.apply(Divide.scala:5)\n");
    assert_classes(&chain, "py4j.protocol.Py4JJavaError org.apache.spark.SparkException java.lang.ArithmeticException");
    assert_slice(pyro_chain_root(&chain)->message, "/ by zero");
    assert_int_equal(chain.frame_count, 1);
    assert_slice(chain.frames[0].text, "com.acme.Divide.apply(Divide.scala:5)");
}

/* All of it at once: the driver's Python, its JVM, a worker's JVM and its Python, which the JVM repeats as the cause.
 */
static void python_inside_java_inside_python(void **state)
{
    (void)state;
#define WORKER                                                                                                         \
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"                                \
    "  File \"/app/load.py\", line 9, in outer\n"                                                                      \
    "  File \"/app/load.py\", line 12, in inner\n"                                                                     \
    "ValueError: on\n"                                                                                                 \
    "\n"                                                                                                               \
    "The above exception was the direct cause of the following exception:\n"                                           \
    "\n"                                                                                                               \
    "Traceback (most recent call last):\n"                                                                             \
    "RuntimeError: no price\n"                                                                                         \
    "\n"                                                                                                               \
    "\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)\n"
    struct pyro_exception_chain chain =
        chain_of("Traceback (most recent call last):\n"
                 "  File \"/app/main.py\", line 3, in <module>\n"
                 "py4j.protocol.Py4JJavaError: An error occurred while calling o42.save.\n"
                 ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 "
                 "times, most recent failure: Lost task 0.3 in stage 1.0 (TID 6) (10.0.0.1 executor 1): " WORKER "\n"
                 "Driver stacktrace:\n"
                 "\tat org.apache.spark.scheduler.DAGScheduler.fail(DAGScheduler.scala:2844)\n"
                 "Caused by: " WORKER);
    assert_classes(&chain, "py4j.protocol.Py4JJavaError org.apache.spark.SparkException "
                           "org.apache.spark.api.python.PythonException RuntimeError ValueError");
    assert_int_equal(chain.frame_count, 2);
    assert_slice(chain.frames[0].text, "load.py\", line 12, in inner");
}

/* Spark 4's driver raises the exception of a worker again, with the worker's traceback as its message. */
static void worker_inside_message(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of(
        "Traceback (most recent call last):\n"
        "  File \"/app/main.py\", line 87, in <lambda>\n"
        "    attempt(\"python\", lambda: context.parallelize([\"1\", \"two\"], 2).map(price_of).collect())\n"
        "  File \"/opt/spark/python/lib/pyspark.zip/pyspark/errors/exceptions/captured.py\", line 262, in deco\n"
        "    raise converted from None\n"
        "pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:\n"
        "Traceback (most recent call last):\n"
        "  File \"/app/jobs/load.py\", line 49, in price_of\n"
        "    return float(text)\n"
        "           ^^^^^^^^^^^\n"
        "ValueError: could not convert string to float: 'two'\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        "  File \"/opt/spark/python/lib/pyspark.zip/pyspark/worker.py\", line 4327, in invoke_udf\n"
        "    run_process()\n"
        "  File \"/app/jobs/load.py\", line 51, in price_of\n"
        "    raise RuntimeError(f\"no price in row {len(text)}\") from error\n"
        "RuntimeError: no price in row 3\n");
    assert_classes(&chain, "pyspark.errors.exceptions.captured.PythonException RuntimeError ValueError");
    assert_slice(pyro_chain_root(&chain)->message, "could not convert string to float: 'two'");
    assert_int_equal(chain.frame_count, 1);
    assert_slice(chain.frames[0].text, "load.py\", line 49, in price_of");
}

/* The same with spark.sql.pyspark.jvmStacktrace.enabled in Spark 3.5: the JVM's side repeats the worker's. */
static void worker_inside_message_and_jvm(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of(
        "Traceback (most recent call last):\n"
        "  File \"/app/main.py\", line 18, in run\n"
        "    spark.createDataFrame([(\"1\",),(\"two\",)], \"a string\").select(price(\"a\")).collect()\n"
        "pyspark.errors.exceptions.captured.PythonException: \n"
        "  An exception was thrown from the Python worker. Please see the stack trace below.\n"
        "Traceback (most recent call last):\n"
        "  File \"/app/jobs/load.py\", line 9, in price_of\n"
        "    raise RuntimeError(\"no price\") from error\n"
        "RuntimeError: no price\n"
        "\n"
        "\n"
        "JVM stacktrace:\n"
        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 2.0 failed 1 times, most "
        "recent failure: Lost task 0.0 in stage 2.0 (TID 2) (localhost executor driver): "
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        "  File \"/app/jobs/load.py\", line 9, in price_of\n"
        "    raise RuntimeError(\"no price\") from error\n"
        "RuntimeError: no price\n"
        "\n"
        "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.hasNext(PythonRunner.scala:525)\n"
        "\n"
        "Driver stacktrace:\n"
        "\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2834)\n"
        "Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        "  File \"/app/jobs/load.py\", line 9, in price_of\n"
        "    raise RuntimeError(\"no price\") from error\n"
        "RuntimeError: no price\n"
        "\n"
        "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.hasNext(PythonRunner.scala:525)\n");
    assert_classes(&chain, "pyspark.errors.exceptions.captured.PythonException org.apache.spark.SparkException "
                           "org.apache.spark.api.python.PythonException RuntimeError");
    assert_int_equal(chain.frame_count, 1);
    assert_slice(chain.frames[0].text, "load.py\", line 9, in price_of");
}

static void ends_of_processes(void **state)
{
    (void)state;
    struct pyro_exception_chain chain = chain_of("# java.lang.OutOfMemoryError: Java heap space");
    assert_classes(&chain, "java.lang.OutOfMemoryError");
    chain = chain_of("Terminating due to java.lang.OutOfMemoryError: GC overhead limit exceeded");
    assert_slice(pyro_chain_root(&chain)->message, "GC overhead limit exceeded");
    chain = chain_of("Exception in thread \"dispatcher \"x\" 3\" java.lang.Error: gone\n\tat a.B.c(B.java:1)\n");
    assert_classes(&chain, "java.lang.Error");
    chain = chain_of("Lost task 0.0 in stage 1.0 (TID 3) (h executor 5): ExecutorLostFailure (executor 5 exited caused "
                     "by one of the running tasks) Reason: Command exited with code 137");
    assert_classes(&chain, "ExecutorLostFailure");
    assert_slice(pyro_chain_root(&chain)->message, "Command exited with code 137");
}

static void what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "nothing: to see here",
                                        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n",
                                        "Registered signal handler for TERM",
                                        "spark.executor.memory: 4g",
                                        "\tat a.b.C.d(C.java:1)"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(chain_of(texts[i]).count, 0);
    assert_true(pyro_begins_exception(PYRO_SLICE_LITERAL("ValueError: x")));
    assert_false(pyro_begins_exception(PYRO_SLICE_LITERAL("a.b.c: x")));
    assert_false(pyro_begins_stack(PYRO_SLICE_LITERAL("ValueError: x")));
}

/* What makes two errors one, and what keeps them apart. */
static void hashes(void **state)
{
    (void)state;
#define ERROR_OF(message, line, lambda)                                                                                \
    chain_of("java.lang.IllegalStateException: " message "\n\tat com.acme.Load.parse(Load.scala:" line                 \
             ")\n\tat com.acme.Load$$Lambda$" lambda ".apply(Unknown Source)\n")                                       \
        .hash
    uint64_t one = ERROR_OF("row 17 of Row@1f2a", "12", "17/0x0000");
    assert_int_equal(one, ERROR_OF("row 9 of Row@77b0", "14", "2101/0x0001"));
    assert_int_not_equal(one, ERROR_OF("column 17 of Row@1f2a", "12", "17/0x0000"));
    assert_int_not_equal(one, chain_of("java.lang.IllegalStateException: row 17 of Row@1f2a\n\tat com.acme.Load.read("
                                       "Load.scala:12)\n\tat com.acme.Load$$Lambda$17/0x0000.apply(Unknown Source)\n")
                                  .hash);
}

/* The root of a chain that is longer than what is kept. */
static void long_chains(void **state)
{
    (void)state;
    char text[4096] = "a.FirstException: 0\n";
    for (int i = 0; i < 40; i++)
        strcat(text, "Caused by: a.MiddleException: x\n\tat a.B.c(B.java:1)\nCaused by: a.OtherException: x\n");
    strcat(text, "Caused by: a.RootException: here\n");
    struct pyro_exception_chain chain = chain_of(text);
    assert_int_equal(chain.count, PYRO_CHAIN_MOST);
    assert_slice(chain.items[0].name, "a.FirstException");
    assert_slice(pyro_chain_root(&chain)->name, "a.RootException");
}

static void causes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cause;
    } rows[] = {
        {"Container killed by YARN for exceeding memory limits. 5.6 GB of 5.5 GB physical memory used",
         "container-memory"},
        {"The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).", "container-memory"},
        {"java.lang.OutOfMemoryError: Java heap space", "heap"},
        {"java.lang.OutOfMemoryError: Metaspace", "metaspace"},
        {"java.lang.OutOfMemoryError: Direct buffer memory", "direct-memory"},
        {"java.lang.OutOfMemoryError: unable to create native thread", "native-threads"},
        {"Total size of serialized results of 8 tasks is bigger than spark.driver.maxResultSize 1024.0 MiB",
         "driver-result-size"},
        {"Could not execute broadcast in 300 secs.", "broadcast-timeout"},
        {"java.io.IOException: No space left on device", "disk-full"},
        {"java.net.SocketException: Too many open files", "open-files"},
        {"AmazonS3Exception: Please reduce your request rate. (Status Code: 503; Error Code: SlowDown)",
         "s3-throttling"},
        {"com.amazonaws.SdkClientException: Unable to load AWS credentials from any provider", "credentials"},
        {"org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)", "python-worker-crash"},
        {"pyarrow.lib.ArrowInvalid: Could not convert 'x' with type str", "arrow-pandas"},
        {"ModuleNotFoundError: No module named 'numpy'", "missing-module"},
        {"java.lang.ClassNotFoundException: com.acme.Gone", "missing-class"},
        {"Container container_1_2 was preempted.", "preemption"},
        {"MemoryError: Unable to allocate 8 GiB", "python-memory"},
        {"org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 0",
         "fetch-failed"},
        {"Lost executor 1 on 10.0.0.1: Executor heartbeat timed out after 123 ms", "executor-lost"},
        {"terminate called after throwing an instance of 'std::bad_alloc'", "native-memory"},
        {"# A fatal error has been detected by the Java Runtime Environment:", "native-crash"},
        {"The API gave the following brief reason: Evicted", "evicted"},
        {"Container released on a *lost* node.", "node-lost"},
        {"Failed to connect to external shuffle server, will retry 2 more times after waiting 5 seconds...",
         "shuffle-service"},
        {"Unable to create executor due to Unable to register with external shuffle server due to : Failed to connect "
         "to host/10.0.0.1:7337",
         "shuffle-service"},
        {"RECEIVED SIGNAL TERM", "signal"},
        {"RECEIVED SIGNAL HUP", "signal"},
        {"ValueError: x", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *cause = pyro_log_cause(pyro_slice_from(rows[i].text));
        if (rows[i].cause)
            assert_string_equal(cause, rows[i].cause);
        else
            assert_null(cause);
    }
    static const char *const causes[] = {
#define PYRO_LOG_CAUSE(name, ...) name,
#include "model/failure_kinds.def"
#undef PYRO_LOG_CAUSE
    };
    for (size_t n = 0; n < sizeof(causes) / sizeof(*causes); n++) {
        bool named = false;
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            named |= rows[i].cause && strcmp(rows[i].cause, causes[n]) == 0;
        assert_true(named);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java_causes),
        cmocka_unit_test(python_tracebacks),
        cmocka_unit_test(python_inside_java),
        cmocka_unit_test(java_inside_python),
        cmocka_unit_test(python_inside_java_inside_python),
        cmocka_unit_test(worker_inside_message),
        cmocka_unit_test(worker_inside_message_and_jvm),
        cmocka_unit_test(ends_of_processes),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(hashes),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
