"""Applications of a real History Server and of a real live UI: what is read from them is what their logs say."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import conftest
import pytest
from conftest import run_on_log
from servers import spark
from servers.shared import ON_SPARK_3, History, home_or_skip
from servers.spark import HistoryServer

pytestmark = ON_SPARK_3

ATTEMPT = "attempts/application_1795242757850_0001_"
# Each has what the others lack: plans, failures, lost executors, cached tables, streams, RDDs only.
LOGS = ("data_skew", "disk_spill", "job_failed_udf", "executor_lost", "cached_tables", "stream_overrun", "healthy_rdd")
TWICE_ENDED = {"executor_lost"}  # tasks that were lost with their executor end twice in a log
LOG_ONLY = {
    "missing-cache",
    "unused-cache",
    "cache-eviction",
    "batch-overrun",
    "state-growth",
    "watermark-lag",
    "global-window",
}


class Served(NamedTuple):
    server: HistoryServer
    logs: Dict[str, Path]
    diagnoses: Dict[str, Any]  # of the files

    def page(self, name: str, rest: str = "") -> str:
        return f"{self.server.url}/history/{self.diagnoses[name]['application']['id']}{rest}"


def run(*arguments: str, env: Optional[Dict[str, str]] = None) -> conftest.Run:
    command: List[str] = [str(conftest.binary_path()), *arguments]
    if env:
        command = ["env", *(f"{key}={value}" for key, value in env.items()), *command]
    return conftest.run_command(command, limit_s=60)


def diagnose(*arguments: str) -> Any:
    done = run("diagnose", "--format", "json", *arguments)
    assert done.exit == 0, done.explain()
    return done.json


def without_source(report: Any) -> Any:
    """The report except where it was read from."""
    copy = json.loads(json.dumps(report))
    copy["integrity"].pop("source", None)
    del copy["source"]
    return copy


def executors_of(report: Any) -> List[Any]:
    return [[executor[key] for key in ("id", "cores", "added_ms", "removed_ms")] for executor in report["executors"]]


def stages_of(report: Any) -> List[Any]:
    keys = ("id", "attempt", "name", "call_site", "job", "sql", "status", "tasks", "run_ms", "shuffle_read_bytes")
    return [[stage[key] for key in keys] for stage in report["stages"]]


@pytest.fixture(scope="module")
def served(spark_3: History) -> Served:
    diagnoses = {name: run_on_log(path) for name, path in spark_3.logs.items()}
    return Served(spark_3.server, spark_3.logs, {name: diagnosis.json for name, diagnosis in diagnoses.items()})


@pytest.mark.parametrize("name", [*LOGS, "codecs/lz4-rolling"])
def test_the_log_of_a_server_is_the_file(served: Served, name: str) -> None:
    report = diagnose(served.page(name, "/jobs/"))
    assert report["integrity"]["source"] == {"kind": "log", "url": served.page(name, "/jobs/")}
    assert without_source(report) == without_source(served.diagnoses[name])


def test_attempts(served: Served) -> None:
    ends = {}
    for number in "12":
        expected = served.diagnoses[ATTEMPT + number]
        report = diagnose(served.page(ATTEMPT + number, f"/{number}/stages/stage/?id=0&attempt=0"))
        assert without_source(report) == without_source(expected)
        ends[number] = report["application"]["end_ms"]
    newest = diagnose(served.page(ATTEMPT + "1"))
    assert newest["application"]["end_ms"] == ends["2"]
    assert newest["application"]["attempt"] == "2"


@pytest.mark.parametrize("name", LOGS)
def test_rest_answers_say_the_same(served: Served, name: str) -> None:
    expected = served.diagnoses[name]
    report = diagnose("--remote", "rest", served.page(name))
    assert report["integrity"]["source"]["kind"] == "rest"
    assert report["integrity"]["bad_lines"] == 0
    assert report["integrity"]["confidence"] == pytest.approx(expected["integrity"]["confidence"] - 0.1)
    differing = {key for key, value in expected["totals"].items() if report["totals"][key] != value}
    assert differing <= ({"tasks"} if name in TWICE_ENDED else set())
    if name not in TWICE_ENDED:
        for section in ("accounting", "bounds"):
            assert report[section] == expected[section]
    application = {key: value for key, value in expected["application"].items() if key not in ("exit_code", "status")}
    assert {key: report["application"][key] for key in application} == application
    assert executors_of(report) == executors_of(expected)
    if name not in TWICE_ENDED:
        assert stages_of(report) == stages_of(expected)


@pytest.mark.parametrize("name", LOGS)
def test_findings_from_rest(served: Served, name: str) -> None:
    wanted = {finding["id"] for finding in served.diagnoses[name]["findings"] if finding["rule"] not in LOG_ONLY}
    found = {finding["id"] for finding in diagnose("--remote", "rest", served.page(name))["findings"]}
    assert found == wanted


def test_a_whole_server(served: Served) -> None:
    reports = diagnose("--limit", "3", served.server.url + "/")
    assert reports["schema"] == "pyrometer.reports/1"
    newest = sorted(
        {r["application"]["id"]: r["application"]["end_ms"] for r in served.diagnoses.values()}.items(), key=lambda row: -row[1]
    )[:3]
    assert [report["application"]["id"] for report in reports["reports"]] == [app for app, _ in newest]
    everything = diagnose(served.server.url)
    assert len(everything["reports"]) == len(served.logs)
    assert everything["unreadable"] == []


def test_other_verbs(served: Served) -> None:
    address = served.page("data_skew")
    path = str(served.logs["data_skew"])
    for verb, rest in (
        ("sql", ["SELECT count(*), sum(run_ms) FROM tasks", "--format", "json"]),
        ("cost", ["--format", "json"]),
        ("whatif", ["--executors", "4", "--format", "json"]),
    ):
        remote, local = run(verb, address, *rest), run(verb, path, *rest)
        assert remote.exit == local.exit == 0, remote.explain()
        assert re.sub(rb'"path": ?"[^"]*"', b"", remote.out.replace(address.encode(), path.encode())) == re.sub(
            rb'"path": ?"[^"]*"', b"", local.out
        )
    compared = run("compare", address, served.page("disk_spill"), "--format", "json")
    assert compared.exit == 0 and compared.json["schema"] == "pyrometer.comparison/1"
    gate = run("gate", address, "--fail-on", "critical")
    assert gate.exit == 1
    many = run("sql", served.server.url, "SELECT 1")
    assert many.exit == 2 and b"name one of them" in many.err


def test_text_says_where_it_is_from(served: Served) -> None:
    done = run("diagnose", "--remote", "rest", served.page("data_skew"))
    assert b"read from" in done.out and b"the REST API at http://" in done.out


def test_no_such_application(served: Served) -> None:
    done = run("diagnose", f"{served.server.url}/history/app-none/jobs/")
    assert done.exit == 3 and done.err.count(b"\n") == 1
    assert b"404" in done.err


def test_no_server() -> None:
    with socket.socket() as unheard:  # bound, but it does not listen
        unheard.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}/history/app-1"
        done = run("diagnose", url)
    assert done.exit == 3
    assert url.encode() in done.err and b"cannot connect" in done.err


def test_a_running_application(tmp_path: Path) -> None:
    home_or_skip()
    events = tmp_path / "events"
    events.mkdir()
    script = Path(__file__).with_name("live_job.py")
    with spark.LiveApplication(spark.SPARK_3, script, events, tmp_path) as ui:
        report = diagnose(ui.url)
        job_page = diagnose(ui.url + "/stages/")
        refused = run("diagnose", "--remote", "log", ui.url)
        running = diagnose(str(next(events.iterdir())))
    assert report["integrity"]["source"]["kind"] == "rest"
    assert report["application"]["status"] == running["application"]["status"] == "in_progress"
    assert report["totals"] == job_page["totals"] == running["totals"]
    assert report["totals"]["failed_jobs"] == 1 and report["totals"]["failed_tasks"] >= 1
    assert [stage["name"] for stage in report["stages"]] == [stage["name"] for stage in running["stages"]]
    assert refused.exit == 3 and b"does not provide the log" in refused.err
