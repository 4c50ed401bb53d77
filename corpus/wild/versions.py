"""The same run as versions of Spark write it."""

from __future__ import annotations

from typing import Any, Callable, List

from . import spark
from .forms import Files, Form, Run, healthy, make_form
from .spark import Event

FORMS: List[Form] = []
form = make_form(FORMS)


def of_version(app: str, version: str, change: Callable[[Event], None]) -> bytes:
    events = spark.run(app, version)
    for one in events:
        change(one)
    return spark.lines(events)


def stages_of(one: Event) -> List[Any]:
    return [*([one["Stage Info"]] if "Stage Info" in one else []), *one.get("Stage Infos", [])]


def older(one: Event) -> None:
    """Before 3.1 there were no resource profiles, before 3.0 no resources and attributes of executors."""
    for info in stages_of(one):
        info.pop("Resource Profile Id", None)
    for key in ("Attributes", "Resources", "Resource Profile Id"):
        one.get("Executor Info", {}).pop(key, None)
    one.get("Task Info", {}).pop("Partition ID", None)
    one.get("Task Metrics", {}).pop("Peak Execution Memory", None)


def of_3_1(one: Event) -> None:
    one.get("Task Info", {}).pop("Partition ID", None)


def newer(one: Event) -> None:
    """4.0 writes more of tasks, stages and executors."""
    for info in stages_of(one):
        info.update({"Shuffle Push Enabled": False, "Shuffle Push Mergers Count": 0})
    if "Executor Info" in one:
        one["Executor Info"].update({"Registration Time": one["Timestamp"], "Request Time": one["Timestamp"] - 900})
    if "Task Metrics" in one:
        one["Task Metrics"]["Shuffle Read Metrics"].update({"Remote Requests Duration": 0, "Shuffle Push Read Metrics": {
            "Corrupt Merged Block Chunks": 0, "Merged Fetch Fallback Count": 0, "Merged Remote Blocks Fetched": 0}})
        one["Task Executor Metrics"] = {"JVMHeapMemory": 0, "ConcurrentGCCount": 0, "ConcurrentGCTime": 0}


@form("log of Spark 2.4", "Spark 2.4, CDH 6, EMR 5", Run(says=healthy(application__spark_version="2.4.8")))
def spark_2_4(app: str) -> Files:
    return {app: of_version(app, "2.4.8", older)}


@form("log of Spark 3.1", "Spark 3.1, Synapse", Run(says=healthy(application__spark_version="3.1.3")))
def spark_3_1(app: str) -> Files:
    return {app: of_version(app, "3.1.3", of_3_1)}


@form("log of Spark 4.0", "Spark 4.0", Run(says=healthy(application__spark_version="4.0.1")))
def spark_4_0(app: str) -> Files:
    return {app: of_version(app, "4.0.1", newer)}
