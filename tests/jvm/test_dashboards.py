"""Dashboards and alerts: made from their source, and each query finds data in a real Prometheus that scraped a real run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from conftest import ROOT
from dashboards import DASHBOARDS, expanded, queries
from servers import collector, plugin, shared, spark
from servers.prometheus import Prometheus

# Panels of what this run does not have: a slow store of objects. test_whole_way.py has it, and asks all of them.
ELSEWHERE = {"S3 throughput", "Retries and throttles"}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


EXPRESSIONS = [pytest.param(title, expression, id=f"{page.stem}-{title}-{i}")
               for page in DASHBOARDS for i, (title, expression) in enumerate(queries(page)) if title not in ELSEWHERE]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tuple[Prometheus, float]]:
    """A Prometheus that has scraped a run, and a time at which the run was busy."""
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    folder = tmp_path_factory.mktemp("panels")
    port = collector.free_port()
    with shared.or_skip(Prometheus, folder / "prometheus", port) as server:
        conf = {"spark.pyrometer.metrics.port": str(port), "spark.executor.memory": "512m", "spark.memory.fraction": "0.05",
                "spark.sql.shuffle.partitions": "6"}
        failure: List[BaseException] = []

        def run() -> None:
            try:
                plugin.run(spark.SPARK_3, Path(__file__).parent / "jobs" / "panels.py", folder / "run", conf)
            except BaseException as error:  # noqa: BLE001
                failure.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        busy = 0.0
        while thread.is_alive():
            time.sleep(1)
            asked = time.time()
            # While a commit runs, only its step "running" is known: it ends before the others are.
            if not busy and server.query('spark_streaming_batch_duration_seconds and on (app_id) spark_commit_seconds{step="job"}', asked):
                busy = asked
        thread.join()
        assert not failure, failure
        assert busy
        yield server, busy


@pytest.mark.parametrize("title, expression", EXPRESSIONS)
def test_query_finds_data(title: str, expression: str, scraped: Tuple[Prometheus, float]) -> None:
    server, busy = scraped
    asked = expanded(expression)
    assert any(server.query(asked, busy + later) for later in range(0, 18, 2)), asked


def test_dashboards_are_up_to_date() -> None:
    pytest.importorskip("grafana_foundation_sdk", reason="grafana-foundation-sdk makes the dashboards")
    run = subprocess.run([sys.executable, str(ROOT / "deploy" / "dashboards" / "make_dashboards.py"), "--check"], check=False,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_runs_link_to_their_traces() -> None:
    (page,) = [path for path in DASHBOARDS if path.stem == "job-phase-timeline"]
    made = json.loads(page.read_text(encoding="utf-8"))
    (runs,) = [panel for panel in made["panels"] if panel["title"] == "Runs"]
    (override,) = runs["fieldConfig"]["overrides"]
    assert override["matcher"] == {"id": "byName", "options": "trace_id"}
    assert override["properties"][0]["value"][0]["url"] == "${traces}${__value.raw}"
    assert "traces" in {variable["name"] for variable in made["templating"]["list"]}


def test_panels_are_those_of_the_guides() -> None:
    titles = {path.stem: {panel["title"] for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]} for path in DASHBOARDS}
    assert {"Phases", "Phase breakdown", "Time to first executor", "Compute efficiency", "S3 throughput",
            "Compute and write tasks (p95)", "Executors", "Runs"} <= titles["job-phase-timeline"]
    assert {"Garbage collection", "Serialization", "Shuffle skew", "Spill", "Utilization", "Peak memory", "Task durations",
            "Idle executors"} <= titles["profiling"], titles["profiling"]


def test_panels_explain_themselves() -> None:
    for page in DASHBOARDS:
        made = json.loads(page.read_text(encoding="utf-8"))
        assert made["uid"] and made["title"]
        for panel in made["panels"]:
            assert panel["title"] and panel["description"]
            assert all(re.search(r'app_id=~"\$app"', target["expr"]) for target in panel["targets"])
