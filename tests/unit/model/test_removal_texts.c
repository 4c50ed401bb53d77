/* What Spark writes about the end of an executor, in its own words: YarnAllocator, ExecutorExitCode, the
 * lifecycle manager of Kubernetes, the standalone master and the scheduler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/failure_kinds.h"
#include "model/failure_text.h"

/* `cause`: of the same text as an error of a log. */
struct sample {
    const char *reason;
    enum pyro_removal_kind kind;
    const char *cause;
    bool ordinary;
};

static const struct sample samples[] = {
    /* YarnAllocator */
    {"Container killed by YARN for exceeding memory limits. 5.6 GB of 5.5 GB physical memory used. Consider boosting "
     "spark.yarn.executor.memoryOverhead.",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"Container killed by YARN for exceeding memory limits.  11.6 GB of 11.5 GB virtual memory used. Consider boosting "
     "spark.yarn.executor.memoryOverhead or disabling yarn.nodemanager.vmem-check-enabled because of YARN-4714.",
     PYRO_REMOVAL_VIRTUAL_MEMORY, "container-memory", false},
    {"Container killed by YARN for exceeding physical memory limits. 5.6 GB of 5.5 GB physical memory used. Consider "
     "boosting spark.executor.memoryOverhead.",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"Container killed by YARN for exceeding virtual memory limits. 11.6 GB of 11.5 GB virtual memory used. Consider "
     "boosting spark.executor.memoryOverhead or boosting yarn.nodemanager.vmem-pmem-ratio or disabling "
     "yarn.nodemanager.vmem-check-enabled because of YARN-4714.",
     PYRO_REMOVAL_VIRTUAL_MEMORY, "container-memory", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: -104. Diagnostics: .",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: -103. Diagnostics: .",
     PYRO_REMOVAL_VIRTUAL_MEMORY, "container-memory", false},
    {"Container [pid=9,containerID=c] is running 84127744B beyond the 'VIRTUAL' memory limit. Current usage: 3 GB of 5 "
     "GB physical memory used; 11.6 GB of 11.5 GB virtual memory used. Killing container.",
     PYRO_REMOVAL_VIRTUAL_MEMORY, "container-memory", false},
    {"Container [pid=9,containerID=c] is running 84127744B beyond the 'PHYSICAL' memory limit. Current usage: 5 GB of "
     "5 GB physical memory used; 9.6 GB of 11.5 GB virtual memory used. Killing container.",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -1000. Diagnostics: Could not "
     "localize resources.",
     PYRO_REMOVAL_OTHER, NULL, false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -106. Diagnostics: .",
     PYRO_REMOVAL_TERMINATED, "executor-lost", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -107. Diagnostics: .",
     PYRO_REMOVAL_OTHER, NULL, true},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -108. Diagnostics: .",
     PYRO_REMOVAL_PREEMPTED, "preemption", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -100. Diagnostics: Container "
     "released by application.",
     PYRO_REMOVAL_NODE_LOST, "node-lost", true},
    {"Executor for container container_1_1_01_000003 exited because of a YARN event (e.g., pre-emption) and not "
     "because of an error in the running job.",
     PYRO_REMOVAL_PREEMPTED, "preemption", false},
    {"Container container_1_1_01_000003 on host: h2 was preempted.", PYRO_REMOVAL_PREEMPTED, "preemption", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -100. Diagnostics: Container "
     "released on a *lost* node.",
     PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -101. Diagnostics: .",
     PYRO_REMOVAL_DISK_FULL, "disk-full", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 1. Diagnostics: Exception from "
     "container-launch.",
     PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 134. Diagnostics: Aborted",
     PYRO_REMOVAL_ABORTED, "native-crash", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 137. Diagnostics: Container killed "
     "on request. Exit code is 137",
     PYRO_REMOVAL_KILLED, "container-memory", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 143. Diagnostics: Killed by "
     "external signal",
     PYRO_REMOVAL_TERMINATED, "executor-lost", false},
    {"Container container_1_1_01_000003 exited from explicit termination request.", PYRO_REMOVAL_OTHER, NULL, true},
    /* The same of Spark 4, which explains exit codes as its own */
    {"Executor for container container_1_1_01_000003 exited because of a YARN event (e.g., preemption) and not "
     "because of an error in the running job.",
     PYRO_REMOVAL_PREEMPTED, "preemption", false},
    {"Executor for container container_1_1_01_000003 exited after Application shutdown.", PYRO_REMOVAL_OTHER, NULL,
     true},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -100. Possible causes: Unknown "
     "executor exit code (-100) Diagnostics: Container released on a *lost* node.",
     PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -105. Possible causes: Unknown "
     "executor exit code (-105) Diagnostics: Container killed by the ApplicationMaster.",
     PYRO_REMOVAL_OTHER, NULL, true},
    {"Container marked as failed: container_1_1_01_000003 on host: h2. Exit status: -107. Possible causes: Unknown "
     "executor exit code (-107) Diagnostics: Container killed after application completion.",
     PYRO_REMOVAL_OTHER, NULL, true},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 50. Possible causes: Uncaught "
     "exception Diagnostics: Exception from container-launch.",
     PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 52. Possible causes: "
     "OutOfMemoryError Diagnostics: Exception from container-launch.",
     PYRO_REMOVAL_HEAP_MEMORY, "heap", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 1. Possible causes: Unknown "
     "executor exit code (1) Diagnostics: Exception from container-launch.",
     PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 137. Possible causes: Unknown "
     "executor exit code (137) (died from signal 9?) Diagnostics: Container killed on request. Exit code is 137",
     PYRO_REMOVAL_KILLED, "container-memory", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 143. Possible causes: Unknown "
     "executor exit code (143) (died from signal 15?) Diagnostics: Container killed on request. Exit code is 143",
     PYRO_REMOVAL_TERMINATED, "executor-lost", false},
    {"Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 139. Possible causes: Unknown "
     "executor exit code (139) (died from signal 11?) Diagnostics: Container exited with a non-zero exit code 139",
     PYRO_REMOVAL_SEGFAULT, "native-crash", false},
    /* ExecutorExitCode */
    {"Uncaught exception", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"OutOfMemoryError", PYRO_REMOVAL_HEAP_MEMORY, "heap", false},
    {"ExternalBlockStore failed to initialize.", PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"ExternalBlockStore failed to create a local temporary directory.", PYRO_REMOVAL_DISK_FULL, "disk-full", false},
    {"Executor killed due to a failure of block manager re-registration.", PYRO_REMOVAL_NO_HEARTBEAT, NULL, false},
    {"Executor killed by TaskReaper.", PYRO_REMOVAL_REAPED, NULL, false},
    {"Unknown executor exit code (134) (died from signal 6?)", PYRO_REMOVAL_ABORTED, "native-crash", false},
    {"Unknown executor exit code (143) (died from signal 15?)", PYRO_REMOVAL_TERMINATED, "executor-lost", false},
    {"Uncaught exception.", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"Uncaught exception, and logging the exception failed", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"OutOfMemoryError.", PYRO_REMOVAL_HEAP_MEMORY, "heap", false},
    {"Failed to create local directory (bad spark.local.dir?)", PYRO_REMOVAL_DISK_FULL, "disk-full", false},
    {"Unable to send heartbeats to driver.", PYRO_REMOVAL_NO_HEARTBEAT, NULL, false},
    {"Executor killed by task reaper.", PYRO_REMOVAL_REAPED, NULL, false},
    {"Unknown executor exit code (137) (died from signal 9?)", PYRO_REMOVAL_KILLED, "container-memory", false},
    {"Unknown executor exit code (139) (died from signal 11?)", PYRO_REMOVAL_SEGFAULT, "native-crash", false},
    /* Kubernetes */
    {"\nThe executor with id 2 exited with exit code 137.\nThe API gave the following brief reason: null\n",
     PYRO_REMOVAL_KILLED, "container-memory", false},
    {"\nThe executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).\n",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"\nThe executor with id 2 exited with exit code 139(SIGSEGV: that's unexpected).\n", PYRO_REMOVAL_SEGFAULT,
     "native-crash", false},
    {"\nThe executor with id 2 exited with exit code 1(generic, look at logs to clarify).\n",
     PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"\nThe executor with id 2 exited with exit code 0(success).\n", PYRO_REMOVAL_OTHER, NULL, true},
    {"\nThe executor with id 2 exited with exit code -1(unexpected).\n\nThe API gave the following brief reason: "
     "Evicted\nThe API gave the following message: The node was low on resource: memory. ",
     PYRO_REMOVAL_EVICTED, "evicted", false},
    {"\nThe executor with id 2 exited with exit code 1(generic, look at logs to clarify).\n\n\t termination reason: "
     "OOMKilled\n",
     PYRO_REMOVAL_CONTAINER_MEMORY, "container-memory", false},
    {"\nThe executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).\n\nThe API gave the "
     "following brief reason: DeadlineExceeded\nThe API gave the following message: Pod was active on the node longer "
     "than the specified deadline\n",
     PYRO_REMOVAL_DEADLINE, "executor-lost", false},
    {"\nThe executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).\n\nThe API gave the "
     "following brief reason: Evicted\nThe API gave the following message: The node had condition: [DiskPressure]. \n",
     PYRO_REMOVAL_EVICTED, "evicted", false},
    {"\nThe executor with id 2 exited with exit code 143(SIGTERM).\n\nThe API gave the following brief reason: "
     "Terminated\nThe API gave the following message: Pod was terminated in response to imminent node shutdown.\n",
     PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"\nThe executor with id 2 exited with exit code 143(SIGTERM).\n\nThe API gave the following brief reason: "
     "Shutdown\nThe API gave the following message: Node is shutting, evicting pods\n",
     PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"The executor with id 2 was deleted by a user or the framework.", PYRO_REMOVAL_OTHER, NULL, true},
    {"The executor with ID 2 was not found in the cluster but we didn't get a reason why. Marking the executor as "
     "failed. The executor may have been deleted but the driver missed the deletion event.",
     PYRO_REMOVAL_POD_GONE, NULL, false},
    {"The executor with ID 2 (registered at 1700000000000 ms) was not found in the cluster at the polling time "
     "(1700000060000 ms) which is after the accepted detect delta time (30000 ms) configured by "
     "`spark.kubernetes.executor.missingPodDetectDelta`. The executor may have been deleted but the driver missed the "
     "deletion event. Marking this executor as failed.",
     PYRO_REMOVAL_POD_GONE, NULL, false},
    {"\nThe executor with id 2 exited with exit code 50(Uncaught exception).\n", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"\nThe executor with id 2 exited with exit code 10(Uncaught exception).\n", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"\nThe executor with id 2 exited with exit code 52(JVM OOM).\n", PYRO_REMOVAL_HEAP_MEMORY, "heap", false},
    {"\nThe executor with id 2 exited with exit code 53(DiskStore failed to create temp dir).\n",
     PYRO_REMOVAL_DISK_FULL, "disk-full", false},
    {"\nThe executor with id 2 exited with exit code 126(not executable - possibly perm or arch).\n",
     PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"\nThe executor with id 2 exited with exit code 255(exit-1, your guess is as good as mine).\n",
     PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"\nThe executor with id 2 exited with exit code 143(unexpected).\n", PYRO_REMOVAL_TERMINATED, "executor-lost",
     false},
    /* The standalone master */
    {"Command exited with code 58", PYRO_REMOVAL_NO_HEARTBEAT, NULL, false},
    {"Command exited with code 1", PYRO_REMOVAL_PROCESS_FAILED, NULL, false},
    {"Worker lost", PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"worker lost: 10.0.0.7:7078 got disassociated", PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"Command exited with code 0", PYRO_REMOVAL_OTHER, NULL, true},
    {"Command exited with code 50", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"Command exited with code 51", PYRO_REMOVAL_UNCAUGHT, NULL, false},
    {"Command exited with code 52", PYRO_REMOVAL_HEAP_MEMORY, "heap", false},
    {"Command exited with code 53", PYRO_REMOVAL_DISK_FULL, "disk-full", false},
    {"Command exited with code 56", PYRO_REMOVAL_NO_HEARTBEAT, NULL, false},
    {"Command exited with code 57", PYRO_REMOVAL_REAPED, NULL, false},
    {"Command exited with code 134", PYRO_REMOVAL_ABORTED, "native-crash", false},
    {"Command exited with code 137", PYRO_REMOVAL_KILLED, "container-memory", false},
    {"Command exited with code 139", PYRO_REMOVAL_SEGFAULT, "native-crash", false},
    {"Command exited with code 143", PYRO_REMOVAL_TERMINATED, "executor-lost", false},
    {"worker lost", PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"worker lost: Not receiving heartbeat for 60 seconds", PYRO_REMOVAL_NODE_LOST, "node-lost", false},
    {"Worker shutting down", PYRO_REMOVAL_OTHER, NULL, true},
    /* The scheduler */
    {"Executor heartbeat timed out after 148564 ms", PYRO_REMOVAL_NO_HEARTBEAT, "executor-lost", false},
    {"Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues. Check driver "
     "logs for WARN messages.",
     PYRO_REMOVAL_DISCONNECTED, "executor-lost", false},
    {"Executor decommission: worker decommissioned because of kill request from HTTP endpoint (data migration "
     "disabled).",
     PYRO_REMOVAL_OTHER, NULL, true},
    {"Finished decommissioning", PYRO_REMOVAL_OTHER, NULL, true},
    {"Executor killed by driver.", PYRO_REMOVAL_OTHER, NULL, true},
    {"Executor Process Lost", PYRO_REMOVAL_PROCESS_ENDED, NULL, false},
    {"Slave lost", PYRO_REMOVAL_PROCESS_ENDED, NULL, false},
    {"Stale executor after cluster manager re-registered.", PYRO_REMOVAL_DISCONNECTED, NULL, false},
    {"Unable to create executor due to Unable to register with external shuffle service", PYRO_REMOVAL_PROCESS_FAILED,
     NULL, false},
    {"Executor decommission: spot instance interruption", PYRO_REMOVAL_PREEMPTED, "preemption", true},
};

static void test_texts(void **state)
{
    (void)state;
    bool seen[PYRO_REMOVAL_OTHER + 1] = {false};
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        struct pyro_slice reason = pyro_slice_from(samples[i].reason);
        const char *cause = pyro_log_cause(reason);
        assert_int_equal(pyro_removal_kind(reason), samples[i].kind);
        assert_int_equal(pyro_removal_is_ordinary(reason), samples[i].ordinary);
        assert_int_equal(cause == NULL, samples[i].cause == NULL);
        if (cause)
            assert_string_equal(cause, samples[i].cause);
        seen[samples[i].kind] = true;
    }
    for (size_t kind = 0; kind <= PYRO_REMOVAL_OTHER; kind++)
        assert_true(seen[kind]);
}

static void test_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(pyro_exit_code(PYRO_SLICE_LITERAL("Exit status: -100. Diagnostics: x")), -100);
    assert_int_equal(pyro_exit_code(PYRO_SLICE_LITERAL("exited with exit code -1(unexpected).\t exit code: 137")), 137);
    assert_int_equal(pyro_exit_code(PYRO_SLICE_LITERAL("exited with exit code -1(unexpected).")), -1);
    assert_int_equal(pyro_exit_code(PYRO_SLICE_LITERAL("Exit status: -1000. Diagnostics: x")), -1000);
    assert_int_equal(pyro_exit_code(PYRO_SLICE_NULL), -1);
}

/* Warnings of YARN's allocator and of the driver, which logs show as errors. */
static void test_lines(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "Container killed by YARN for exceeding physical memory limits. 5.6 GB of 5.5 GB physical memory used.",
        "Container from a bad node: container_1_1_01_000003 on host: h2. Exit status: 143. Diagnostics: x.",
        "Requesting driver to remove executor 2 for reason Container killed by YARN for exceeding memory limits.",
    };
    static const char *const others[] = {
        "",
        "Container container_1_1_01_000003 exited from explicit termination request.",
        "Asked to remove non-existent executor 2",
        "Executor for container container_1 has not started",
        "The exit status: 137 of a tool",
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        assert_true(pyro_tells_an_end(pyro_slice_from(ends[i])));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(pyro_tells_an_end(pyro_slice_from(others[i])));
}

static void test_resources(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *resource;
    } known[] = {
        {"The node was low on resource: ephemeral-storage. Container x was using 30Gi", "ephemeral-storage"},
        {"The node was low on resource: memory, which", "memory"},
        {"Pod ephemeral local storage usage exceeds the total limit of containers 10Gi.", "ephemeral-storage"},
        {"Evicted", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_true(
            pyro_slice_eq(pyro_evicted_resource(pyro_slice_from(known[i].reason)), pyro_slice_from(known[i].resource)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
