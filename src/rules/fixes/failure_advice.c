#include "rules/fixes/failure_advice.h"

static const char *const advices[PYRO_FAILURE_KINDS] = {
    [PYRO_FAILURE_JVM_MEMORY] = "Give tasks more memory: more heap, fewer cores an executor or smaller partitions.",
    [PYRO_FAILURE_PYTHON_MEMORY] =
        ("Use smaller partitions, keep less data in memory at the same time, or raise the memory overhead "
         "(spark.executor.memoryOverhead, spark.executor.pyspark.memory): Python workers ran out of memory."),
    [PYRO_FAILURE_RESULT_SIZE] = "Collect less: aggregate or filter first, or write the rows from the executors.",
    [PYRO_FAILURE_DISK_FULL] = "Give executors more local disk (spark.local.dir) or reduce shuffle and spill.",
    [PYRO_FAILURE_CLASS_NOT_FOUND] = "Ship the missing class to executors (--jars, --packages, --py-files).",
    [PYRO_FAILURE_CLASS_NOT_DEFINED] =
        "Ship the missing class to executors, in the version that the code was compiled with.",
    [PYRO_FAILURE_NO_SUCH_METHOD] =
        "The class path has two versions of a library: use one version, or shade one of them.",
    [PYRO_FAILURE_NO_MODULE] = "Install the Python module on the executors or ship it (--py-files, spark.archives).",
    [PYRO_FAILURE_NO_FILE] = ("Input files were deleted while tasks read them: write to new paths instead of "
                              "overwriting, refresh the table, or use a table format with snapshots."),
    [PYRO_FAILURE_ACCESS] = "Give the user of the application the missing permission on this path.",
    [PYRO_FAILURE_TIMEOUT] =
        "The remote service is slow or down: raise the timeout, retry with pauses, or call it less often.",
    [PYRO_FAILURE_CONNECTION] =
        "This executor cannot reach the service: check its address, its load and the network policy.",
    [PYRO_FAILURE_PYTHON_WORKER] = "The Python worker died: check its memory limit and look for native crashes.",
    [PYRO_FAILURE_FETCH] = "Keep shuffle files available: stage-retries and executor-lost say why they were lost.",
    [PYRO_FAILURE_EXECUTOR_LOST] =
        "Find out what ends the executors (executor-lost, executor-oom), and fix that first.",
    [PYRO_FAILURE_CAST] = "Handle rows that cannot be parsed: validate first, or use try_cast and a rejects table.",
    [PYRO_FAILURE_ARITHMETIC] = "Handle this input in the code (overflow, division by zero), or use try_ functions.",
    [PYRO_FAILURE_NUMBER_FORMAT] =
        "Handle rows that cannot be parsed: validate first, or use try_cast and a rejects table.",
    [PYRO_FAILURE_PYTHON_FUNCTION] =
        "Handle the rows that raise this error in the Python function, and put them into a rejects table.",
    [PYRO_FAILURE_OTHER] =
        ("Fix the code or data that causes this message. Spark repeats the task, and the job fails if a task fails "
         "too often."),
};

const char *pyro_failure_advice(enum pyro_failure_kind kind)
{
    return advices[kind];
}
