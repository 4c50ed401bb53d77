"""The whole way of jobs/whole_way.py: one trace from Airflow's task to Spark's tasks, all panels have data, and where executors come
late and the store is slow, alerts and the report of the event log name both."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Set

import pytest
import yaml
from conftest import ROOT, run_command
from dashboards import DASHBOARDS, expanded, queries
from servers import airflow, collector, connect, isolated, plugin, prometheus, s3, shared, spark

SCRIPT = Path(__file__).parent / "jobs" / "whole_way.py"
LIMIT_S = 900
# Those of the chart are for applications of hours. A first write takes some seconds anywhere: S3A makes its clients.
THRESHOLDS = {"resourceWaitSeconds": 20, "writeP95Seconds": 10, "writeToComputeP95": 2}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


class Way(NamedTuple):
    version: str
    result: Dict[str, Any]
    log: Path

    @property
    def trace(self) -> str:
        trace: str = self.result["told"]["traceparent"].split("-")[1]
        return trace

    def spans(self) -> List[Dict[str, Any]]:
        """Of the trace."""
        return [span for span in self.result["spans"] if span["traceId"] == self.trace]


def rules() -> str:
    helm = str(shared.or_skip(collector.program, "helm"))
    values = [word for name, value in THRESHOLDS.items()
              for word in ("--set", f"monitoring.prometheusRule.thresholds.{name}={value}")]
    command = [helm, "template", "spark", str(ROOT / "charts" / "spark-3.5"), "-s", "templates/monitoring/prometheusrule.yaml",
               "--set", "monitoring.prometheusRule.enabled=true", *values]
    made = subprocess.run(command, check=True, capture_output=True)
    return yaml.safe_dump(yaml.safe_load(made.stdout)["spec"])


def go(version: str, size: str, folder: Path) -> Way:
    shared.home_or_skip(spark.SPARK_4)
    for needed in (plugin.jar, lambda: collector.program("collector"), lambda: collector.program("versitygw"),
                   lambda: airflow.installed(version), lambda: s3.libraries(spark.SPARK_4), spark.arrow_packages,
                   connect.client_packages, prometheus.program):
        shared.or_skip(needed)
    (folder / "rules.yml").write_text(rules(), encoding="utf-8")
    asked = [expanded(expression) for page in DASHBOARDS for _, expression in queries(page)]
    (folder / "queries.json").write_text(json.dumps(asked), encoding="utf-8")
    words = [sys.executable, str(SCRIPT), str(folder), version, str(folder / "rules.yml"), str(folder / "queries.json"), size]
    with open(folder / "output", "w+", encoding="utf-8") as output:
        run = subprocess.run(shared.or_skip(isolated.command, words), check=False, stdout=output, stderr=output, timeout=LIMIT_S)
        output.seek(0)
        assert run.returncode == 0, output.read()[-4000:]
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["state"] == "success", result["printed"][-4000:] + result["server"][-4000:]
    (log,) = (folder / "events").iterdir()
    return Way(version, result, log)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return go("2.10.5", "reference", tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return go("3.3.2", "quick", tmp_path_factory.mktemp("quick"))


@pytest.fixture(params=["reference", "quick"])
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.getfixturevalue(request.param)
    return found


def kinds(spans: List[Dict[str, Any]]) -> Set[str]:
    return {span["name"].split()[0] for span in spans}


def test_one_trace_from_the_dag_to_the_tasks(way: Way) -> None:
    spans = way.spans()
    ids = {span["spanId"]: span for span in spans}
    of_airflow = {"nightly", "load"} if way.version.startswith("2.") else {"dag_run.nightly", "task_run.load", "worker.load"}
    assert kinds(spans) >= of_airflow | {"sql", "job", "stage", "task"}
    roots = [span for span in spans if not span.get("parentSpanId")]
    assert [root["name"] for root in roots] == (["nightly"] if way.version.startswith("2.") else ["dag_run.nightly"])
    assert all(span["parentSpanId"] in ids for span in spans if span not in roots)
    task = ids[way.result["told"]["traceparent"].split("-")[2]]
    queries = [span for span in spans if span["name"].startswith("sql ")]
    assert queries and all(span["parentSpanId"] == task["spanId"] for span in queries)
    for span in queries:
        assert int(task["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(task["endTimeUnixNano"])


def test_spans_say_which_task_of_airflow_it_was(way: Way) -> None:
    for span in way.spans():
        if span["name"].startswith("sql "):
            found = {one["key"]: one["value"].get("stringValue") for one in span["attributes"]}
            assert (found["airflow.dag_id"], found["airflow.task_id"], found["airflow.run_id"]) == (
                "nightly", "load", way.result["told"]["run_id"])


def test_objects_are_there_although_the_store_refused_some(reference: Way) -> None:
    assert reference.result["objects"] > 60 << 20
    assert reference.result["refused"] > 0
    (repeated,) = reference.result["repeated"]
    assert float(repeated["value"][1]) == reference.result["refused"], "what was refused was tried again"


def test_metrics_came_both_ways(way: Way) -> None:
    names = set(way.result["metrics"])
    assert {"spark_resource_wait_seconds", "spark_filesystem_bytes_total", "spark_submit_seconds"} <= names


def test_every_panel_has_data(reference: Way) -> None:
    # Streams are in the run of test_dashboards.py.
    assert [query for query in reference.result["empty"] if "streaming" not in query] == []


def test_both_culprits_are_named(reference: Way, binary: str) -> None:
    """The time before the first executor, and the slow store: by alerts while it runs, and by the report of the log."""
    assert {"SparkResourceWaitLong", "SparkWriteSlow"} <= set(reference.result["fired"])
    run = run_command([binary, "diagnose", str(reference.log), "-f", "json"])
    assert run.exit == 0, run.explain()
    report = json.loads(run.out)
    found = {finding["rule"] for finding in report["findings"]}
    assert {"resource-wait", "slow-write"} <= found, found
    phases = report["accounting"]["phases"]
    assert phases["wait_ms"] > 25_000 and phases["write_ms"] > phases["compute_ms"]


def test_nobody_is_accused_where_nothing_is_slow(quick: Way) -> None:
    assert not {"SparkResourceWaitLong", "SparkWriteSlow"} & set(quick.result["fired"])


def test_clean_up_of_the_commit_is_known(way: Way) -> None:
    """S3A's magic committer deletes its folder when the objects are in their places."""
    seconds = {row["metric"]["step"]: float(row["value"][1]) for row in way.result["commits"]}
    assert 0 < seconds["cleanup"] <= seconds["job"]
