"""What is forgotten: the lists of a real History Server whose limits are low against those of `--retained`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest
from differential import app_paths, compare, get
from servers.pyrometer import Server
from servers.shared import gather, home_or_skip
from servers.spark import HistoryServer, request

import conftest

LOGS = ("healthy_threads", "executor_churn", "executors_terminated", "healthy_stream")
# Of stages and jobs a tenth is forgotten at once; the other limits are passed by one at a time.
LIMITS = {
    "spark.ui.retainedTasks": 7,
    "spark.ui.retainedJobs": 20,
    "spark.ui.retainedStages": 30,
    "spark.sql.ui.retainedExecutions": 5,
    "spark.ui.retainedDeadExecutors": 1,
}
KINDS = ("jobs", "stages", "allexecutors", "sql?length=100000&details=false&planDescription=false")


def options(limits: Dict[str, int]) -> List[str]:
    return [word for key, limit in limits.items() for word in ("--retained", f"{key}={limit}")]


def gathered(folder: Path) -> Path:
    gather(folder, [conftest.ROOT / "corpus" / "logs" / f"{name}.zst" for name in LOGS])
    return folder


def counts(port: int, base: str) -> List[int]:
    """Of jobs, stages, executors, SQL executions, and of the tasks of all stages that are listed."""
    stages: List[Dict[str, Any]] = get(port, f"{base}/stages?details=true")
    return [len(get(port, f"{base}/{kind}")) for kind in KINDS] + [sum(len(one["tasks"]) for one in stages)]


@pytest.mark.slow
@pytest.mark.xdist_group("Spark with low limits")
def test_same_as_spark(tmp_path: Path) -> None:
    """A server of its own: its limits are settings."""
    home, folder = home_or_skip(), gathered(tmp_path)
    settings = {key: str(limit) for key, limit in LIMITS.items()}
    fewer = [0] * (len(KINDS) + 1)
    with Server(folder) as server:
        whole = {base: counts(server.port, base) for app in get(server.port, "applications") for base in app_paths(app)}
    with HistoryServer(home, folder, settings) as spark, Server(folder, *options(LIMITS)) as ours:
        assert spark.wait_for_attempts(len(LOGS)) == len(LOGS)
        for app in get(spark.port, "applications"):
            for base in app_paths(app):
                wanted = counts(spark.port, base)
                assert counts(ours.port, base) == wanted, base
                fewer = [n + (one < all_) for n, one, all_ in zip(fewer, wanted, whole[base])]
                stages = get(spark.port, f"{base}/stages")
                paths = [*KINDS, "jobs/0", "sql/0", "stages/0/0"]
                paths += [f"stages/{one['stageId']}/{one['attemptId']}/taskSummary" for one in stages[:3]]
                paths += [f"stages/{one['stageId']}/{one['attemptId']}/taskList?length=1000" for one in stages]
                for path in paths:
                    answers = [request(port, "GET", f"/api/v1/{base}/{path}") for port in (spark.port, ours.port)]
                    assert compare(*answers) is None, f"{base}/{path}"
    assert min(fewer) > 0, f"nothing was forgotten of some kind: {fewer}"


def test_default_limits(tmp_path: Path) -> None:
    """Logs within Spark's limits are shown whole."""
    gathered(tmp_path)
    with Server(tmp_path, "--retain-like-spark") as ours, Server(tmp_path) as whole:
        for app in get(whole.port, "applications"):
            for base in app_paths(app):
                assert counts(ours.port, base) == counts(whole.port, base)


@pytest.mark.parametrize("value", ["Jobs", "Jobs=0", "Jobs=1x", "Job=1"])
def test_wrong_limit(tmp_path: Path, value: str) -> None:
    value = f"spark.ui.retained{value}"
    command = [str(conftest.binary_path()), "serve", str(tmp_path), "--port", "0", "--no-cache", "--retained", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and f"--retained cannot be '{value}'" in done.stderr


