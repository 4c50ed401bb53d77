"""Executors that end, in the words of those who end them."""

from __future__ import annotations

from typing import List

from . import spark
from .forms import Files, Form, Run, make_form

FORMS: List[Form] = []
form = make_form(FORMS)
SAYS = {"application.duration_ms": 164_500, "totals.tasks": 20, "totals.failed_tasks": 4, "core.failed_tasks": 160_000, "wall.scheduling": 0}


def memory(text: str) -> Run:
    return Run(findings=("executor-oom",), causes={"executor-oom": text}, settings=("spark.executor.memoryOverhead",), says=SAYS)


def gone(text: str) -> Run:
    return Run(findings=("executor-lost",), causes={"executor-lost": text}, says=SAYS)


def lost(app: str, reason: str, by_app: bool = True) -> bytes:
    """Executor 2 ends with this reason after 40 s of its second wave; its 4 tasks run again on a new one."""
    cut = 2 * 2 * spark.CORES * 2 - 2 * spark.CORES  # events of the first wave, and starts of the second
    events = spark.waves(spark.CORES)[: cut]
    second = spark.JOB_AT + spark.TASK
    at, again = second + 40 * spark.SECOND, second + 42 * spark.SECOND
    why = {"Reason": "ExecutorLostFailure", "Executor ID": "2", "Exit Caused By App": by_app, "Loss Reason": reason}
    numbers = range(8, 16)
    ends = []
    for one in numbers:
        if one % 2 == 1:
            end = spark.task(one, 2, second, at, Failed=True)
            end["Task End Reason"], end["Task Metrics"] = why, None
            ends.append(end)
    retries = [{"Index": one, "Attempt": 1, "Partition ID": one} for one in numbers if one % 2 == 1]
    tasks = [
        *events,
        *ends,
        spark.removed(2, at, reason),
        spark.executor(3, at_ms=at + spark.SECOND),
        *(spark.task(16 + place, 3, again, **fields) for place, fields in enumerate(retries)),
        *(spark.task(one, 1, second, second + spark.TASK) for one in numbers if one % 2 == 0),
        *(spark.task(16 + place, 3, again, again + spark.TASK, **fields) for place, fields in enumerate(retries)),
    ]
    done = again + spark.TASK
    return spark.lines(
        [
            *spark.head(app),
            *(spark.executor(number) for number in (1, 2)),
            *spark.job_start(spark.TASKS),
            *tasks,
            *spark.job_end(spark.TASKS, done),
            spark.event("ApplicationEnd", Timestamp=spark.BEGIN + done + 500),
        ]
    )


@form("executor killed for its physical memory", "YARN of Spark 3", memory("more memory than their container allows"))
def yarn_physical(app: str) -> Files:
    return {app: lost(app, "Container killed by YARN for exceeding physical memory limits. 6.1 GB of 6 GB physical memory used. "
                           "Consider boosting spark.executor.memoryOverhead.")}


@form("executor killed for its memory", "YARN of Spark 2.4", memory("more memory than their container allows"))
def yarn_limits(app: str) -> Files:
    return {app: lost(app, "Container killed by YARN for exceeding memory limits. 3.2 GB of 3 GB physical memory used. Consider boosting "
                           "spark.yarn.executor.memoryOverhead or disabling yarn.nodemanager.vmem-check-enabled because of YARN-4714.")}


@form("executor killed for its virtual memory", "YARN", Run(findings=("executor-oom",), causes={"executor-oom": "more virtual memory"}, says=SAYS))
def yarn_virtual(app: str) -> Files:
    return {app: lost(app, "Container killed by YARN for exceeding virtual memory limits. 12.9 GB of 12.6 GB virtual memory used. Consider "
                           "boosting spark.executor.memoryOverhead or boosting yarn.nodemanager.vmem-pmem-ratio or disabling "
                           "yarn.nodemanager.vmem-check-enabled because of YARN-4714.")}


@form("executor killed with exit code 137", "Kubernetes", memory("more memory than their container allows"))
def kubernetes_137(app: str) -> Files:
    return {app: lost(app, "\nThe executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).\n\n\n\nThe API gave the "
                           "following container statuses:\n\n\n\t container name: executor\n\t container state: terminated\n\t "
                           "exit code: 137\n\t termination reason: OOMKilled\n")}


@form("executor whose pod was evicted", "Kubernetes", gone("the node ran out of a resource: ephemeral-storage"))
def kubernetes_evicted(app: str) -> Files:
    return {app: lost(app, "\nThe executor with id 2 exited with exit code -1(unexpected).\nThe API gave the following brief reason: Evicted\n"
                           "The API gave the following message: The node was low on resource: ephemeral-storage. Container executor was "
                           "using 41Gi, which exceeds its request of 0. \nThe API gave the following container statuses:\n\n\n", False)}


@form("executor whose spot machine was taken back", "YARN of EMR", gone("its node was lost: a spot machine was taken back"))
def spot_loss(app: str) -> Files:
    return {app: lost(app, "Container from a bad node: container_1767225600000_0001_01_000003 on host: ip-10-0-3-4.ec2.internal. Exit status: "
                           "-100. Diagnostics: Container released on a *lost* node.", False)}


@form("executor that YARN preempted", "YARN", gone("gave its resources to another application"))
def preempted(app: str) -> Files:
    return {app: lost(app, "Container container_1767225600000_0001_01_000003 on host: host-2 was preempted.", False)}


@form("executor that native code crashed, exit code 139", "standalone, native libraries", gone("crashed in native code (SIGSEGV, exit code 139)"))
def native_crash(app: str) -> Files:
    return {app: lost(app, "Command exited with code 139")}


@form("executor that aborted, exit code 134", "YARN, native libraries", gone("aborted (exit code 134)"))
def aborted(app: str) -> Files:
    return {app: lost(app, "Container from a bad node: container_1767225600000_0001_01_000003 on host: host-2. Exit status: 134. Diagnostics: "
                           "[2026-01-01 00:01:42.000]Exception from container-launch.\nContainer id: container_1767225600000_0001_01_000003\n"
                           "Exit code: 134\n")}


@form("executor that was decommissioned", "Kubernetes, standalone, Spark 3.1 and later", Run(says=SAYS))
def decommissioned(app: str) -> Files:
    return {app: lost(app, "Executor decommission: spot instance interruption", False)}


@form("executor whose worker was lost", "standalone", gone("its node was lost"))
def worker_lost(app: str) -> Files:
    return {app: lost(app, "worker lost: Not receiving heartbeat for 60 seconds", False)}


@form("executor that did not answer", "all versions", gone("did not answer in time"))
def heartbeat(app: str) -> Files:
    return {app: lost(app, "Executor heartbeat timed out after 143210 ms", False)}


@form("executor whose connection ended", "all versions", gone("its process or its connection ended"))
def connection(app: str) -> Files:
    return {app: lost(app, "Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues. Check driver logs "
                           "for WARN messages.")}


@form("executor whose pod ended with its node", "Kubernetes of Google (GKE)", gone("node"))
def node_shutdown(app: str) -> Files:
    return {app: lost(app, "\nThe executor with id 2 exited with exit code 143(SIGTERM).\nThe API gave the following brief reason: Terminated\nThe "
                           "API gave the following message: Pod was terminated in response to imminent node shutdown.\nThe API gave the following "
                           "container statuses:\n\n\n", False)}


def released(app: str) -> bytes:
    """Executor 2 has nothing to do in the second minute and is released; executor 1 goes on."""
    first = spark.waves(spark.CORES, count=1)
    second = spark.JOB_AT + spark.TASK
    more = [spark.task(8 + one, 1, second, end) for end in (0, second + spark.TASK) for one in range(spark.CORES)]
    gone_at = spark.removed(2, second + 1000, "Executor 2 removed by dynamic allocation: idle for 1 s")
    events = [*spark.head(app), spark.executor(1), spark.executor(2), *spark.job_start(12), *first, *more[: spark.CORES], gone_at,
              *more[spark.CORES :], *spark.job_end(12), spark.event("ApplicationEnd", Timestamp=spark.BEGIN + spark.DURATION)]
    return spark.lines(events)


@form("executor that was idle and is released", "dynamic allocation", Run(says={"totals.failed_tasks": 0, "totals.tasks": 12, "core.failed_tasks": 0}))
def idle_released(app: str) -> Files:
    return {app: released(app)}
