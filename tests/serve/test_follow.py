"""A real Spark application that is served while it runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import pytest
from servers import spark
from servers.pyrometer import Server
from servers.shared import home_or_skip

STEPS = 3
LIMIT_S = 120.0


def wait_for(what: Callable[[], Optional[Any]], why: str, process: "subprocess.Popen[bytes]", output: Path) -> Any:
    end = time.monotonic() + LIMIT_S
    while True:
        found = what()
        if found:
            return found
        running = process.poll() is None and time.monotonic() < end
        assert running, f"{why}: {output.read_text(errors='replace')[-2000:]}"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_running_application(tmp_path: Path) -> None:
    home_or_skip()
    venv = spark.venv()
    work, events = tmp_path / "work", tmp_path / "events"
    job = tmp_path / "job" / "stepwise_job.py"
    job.parent.mkdir()
    shutil.copy(Path(__file__).with_name("stepwise_job.py"), job)
    run = spark.spark_runs.Run("followed", job, conf={"spark.eventLog.rolling.enabled": "true"}, args=[str(STEPS)])
    process = spark.spark_runs.start(venv, work, run, events)
    output = work / "followed.out"
    try:
        with Server(events, "--update-interval", "200ms") as server:

            def get(path: str) -> Any:
                status, _, body = server.get(path)
                return json.loads(body) if status == 200 else None

            app: Dict[str, Any] = wait_for(lambda: get("applications"), "it is listed", process, output)[0]
            assert app["name"] == "followed" and not app["attempts"][0]["completed"]
            below = f"applications/{app['id']}"
            updated: List[int] = []
            for step in range(1, STEPS + 1):
                (work / f"go-{step}").touch()

                def finished() -> bool:
                    jobs = get(f"{below}/jobs") or []
                    return len(jobs) == step and jobs[0]["status"] == "SUCCEEDED"

                wait_for(finished, f"job {step} is seen to its end", process, output)
                stages = get(f"{below}/stages")
                assert len(stages) == 2 * step
                assert sum(one["numCompleteTasks"] for one in stages) == 7 * step
                updated.append(get(below)["attempts"][0]["lastUpdatedEpoch"])
            assert updated == sorted(updated)
            (work / "end").touch()
            assert process.wait(timeout=LIMIT_S) == 0, output.read_text(errors="replace")[-2000:]
            end = time.monotonic() + LIMIT_S
            while not get(below)["attempts"][0]["completed"]:
                assert time.monotonic() < end, "the end is seen"
                time.sleep(0.1)
            with Server(events) as fresh:
                for path in ("applications", f"{below}/stages?details=true", f"{below}/jobs", f"{below}/allexecutors"):
                    assert fresh.get(path) == server.get(path)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
