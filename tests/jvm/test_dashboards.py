"""Dashboards and alerts: made from their source, and each query finds data in a real Prometheus that scraped a real run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from conftest import ROOT
from servers import Unavailable, collector, plugin, shared, spark
from servers.process import ServerProcess

CHART = ROOT / "charts" / "spark-3.5"
DASHBOARDS = sorted((CHART / "dashboards").glob("*.json"))
# Panels of what this run does not have: S3 is in test_s3.py, and nothing was throttled.
ELSEWHERE = {"S3 throughput", "Retries and throttles"}
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


def queries(dashboard: Path) -> Iterator[Tuple[str, str]]:
    """Title and expression of each query of each panel."""
    for panel in json.loads(dashboard.read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


EXPRESSIONS = [pytest.param(title, expression, id=f"{page.stem}-{title}-{i}")
               for page in DASHBOARDS for i, (title, expression) in enumerate(queries(page)) if title not in ELSEWHERE]


class Prometheus(ServerProcess):
    def __init__(self, folder: Path, target: int) -> None:
        binary = shutil.which("prometheus")
        if binary is None:
            raise Unavailable("there is no prometheus (Debian's package has that name)")
        folder.mkdir()
        self.port = collector.free_port()
        config = {"global": {"scrape_interval": "1s"},
                  "scrape_configs": [{"job_name": "spark", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}]}
        (folder / "config.yml").write_text(json.dumps(config), encoding="utf-8")
        command = [binary, f"--config.file={folder / 'config.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                   f"--web.listen-address=127.0.0.1:{self.port}"]
        super().__init__(command, folder / "output", cwd=folder)
        self.wait_for(lambda: "Server is ready" in self.printed(), "Prometheus did not start")

    def query(self, expression: str, time_s: float) -> List[Dict[str, Any]]:
        asked = urllib.parse.urlencode({"query": expression, "time": f"{time_s:.3f}"})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{asked}", timeout=30) as answer:
            result: List[Dict[str, Any]] = json.load(answer)["data"]["result"]
            return result


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
            if server.query("spark_streaming_batch_duration_seconds and on (app_id) spark_commit_seconds", time.time()):
                busy = busy or time.time() + 10
        thread.join()
        assert not failure, failure
        assert busy
        yield server, busy


@pytest.mark.parametrize("title, expression", EXPRESSIONS)
def test_query_finds_data(title: str, expression: str, scraped: Tuple[Prometheus, float]) -> None:
    server, busy = scraped
    asked = expression.replace("$app", ".*").replace("$__rate_interval", "10s")
    assert "$" not in asked, asked
    assert any(server.query(asked, busy + later) for later in range(-10, 8, 2)), asked


def test_dashboards_are_up_to_date() -> None:
    pytest.importorskip("grafana_foundation_sdk", reason="grafana-foundation-sdk makes the dashboards")
    run = subprocess.run([sys.executable, str(ROOT / "deploy" / "dashboards" / "make_dashboards.py"), "--check"], check=False,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_panels_explain_themselves() -> None:
    for page in DASHBOARDS:
        made = json.loads(page.read_text(encoding="utf-8"))
        assert made["uid"] and made["title"]
        for panel in made["panels"]:
            assert panel["title"] and panel["description"]
            assert all(re.search(r'app_id=~"\$app"', target["expr"]) for target in panel["targets"])
