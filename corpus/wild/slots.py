"""Slots that something else than cores limits."""

from __future__ import annotations

from typing import List, Mapping

from . import spark
from .forms import Files, Form, Run, make_form
from .spark import Event

FORMS: List[Form] = []
form = make_form(FORMS)


def full(app: str, slots: int, cores: int, gpus: int, head: List[Event], profile: int = 0) -> bytes:
    """All slots of two executors are busy."""
    tasks = 2 * slots * spark.WAVES
    return spark.lines(
        [
            *head,
            *(spark.executor(number, cores, profile=profile, gpus=gpus) for number in (1, 2)),
            *spark.job_start(tasks, profile),
            *spark.waves(slots),
            *spark.job_end(tasks, profile=profile),
            spark.event("ApplicationEnd", Timestamp=spark.BEGIN + spark.DURATION),
        ]
    )


def with_settings(app: str, cores: int, **more: str) -> List[Event]:
    return spark.head(app, properties={**spark.settings(app, **more), "spark.executor.cores": str(cores)})


def with_profile(app: str, cores: int, takes: Mapping[str, float], gpus: int) -> List[Event]:
    asked = {name: {"Resource Name": name, "Amount": amount, "Discovery Script": "", "Vendor": ""} for name, amount in (("cores", cores), ("gpu", gpus)) if amount}
    of_task = {name: {"Resource Name": name, "Amount": amount} for name, amount in takes.items()}
    profile = {"Resource Profile Id": 1, "Executor Resource Requests": asked, "Task Resource Requests": of_task}
    return [*with_settings(app, cores), spark.event("ResourceProfileAdded", **profile)]


@form("one GPU for each task, 8 cores", "RAPIDS, deep learning",
      Run(findings=("config-risk",), causes={"config-risk": "1 task at once for its 8 cores"}, says={"totals.tasks": 4, "replay.error_share": 0}))
def gpu_for_each_task(app: str) -> Files:
    asks = {"spark_task_resource_gpu_amount": "1", "spark_executor_resource_gpu_amount": "1"}
    return {app: full(app, 1, 8, 1, with_settings(app, 8, **asks))}


@form("tasks that share a GPU by a fraction", "RAPIDS, deep learning", Run(says={"totals.tasks": 8, "replay.error_share": 0}))
def fraction_of_a_gpu(app: str) -> Files:
    asks = {"spark_task_resource_gpu_amount": "0.4", "spark_executor_resource_gpu_amount": "1"}
    return {app: full(app, 2, 2, 1, with_settings(app, 2, **asks))}


@form("resource profile with CPUs and a fraction of a GPU", "RAPIDS, `ResourceProfileBuilder` (SPARK-51666)", Run(says={"totals.tasks": 12, "core.idle_no_work": 0, "replay.error_share": 0}))
def profile(app: str) -> Files:
    return {app: full(app, 3, 6, 1, with_profile(app, 6, {"cpus": 2.0, "gpu": 0.05}, 1), profile=1)}


@form("resource profile of which no executor says its GPUs", "`ResourceProfileBuilder`, local clusters", Run(says={"totals.tasks": 8, "core.idle_no_work": 0, "replay.error_share": 0}))
def profile_without_addresses(app: str) -> Files:
    return {app: full(app, 2, 2, 0, with_profile(app, 2, {"cpus": 1.0, "gpu": 1.0}, 2), profile=1)}
