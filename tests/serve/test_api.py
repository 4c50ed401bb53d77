"""Pyrometer's own REST API: documents and their schemas, questions, uploads, feedback, events, errors."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import sqlite3
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple
from urllib.parse import quote

import pytest
import schemas
from servers.pyrometer import Server

import conftest

LOGS = conftest.ROOT / "corpus" / "logs"
SCHEMAS = conftest.ROOT / "docs" / "schema"
NAMES = ("data_skew.zst", "gc_pressure.zst", "pair_base.zst", "pair_slots.zst")
V1 = "/pyrometer/v1/"


class Client:
    """Requests below /pyrometer/v1/."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def raw(
        self, method: str, path: str, body: Optional[bytes] = None, headers: Optional[Dict[str, str]] = None
    ) -> Tuple[int, Dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        finally:
            connection.close()

    def get(self, path: str, status: int = 200) -> Any:
        found, headers, body = self.raw("GET", V1 + path)
        assert found == status, (path, found, body[:500])
        assert headers["content-type"] == "application/json"
        return check(json.loads(body))

    def send(self, method: str, path: str, body: Optional[bytes], status: int, json_body: bool = True) -> Any:
        headers = {"Content-Type": "application/json" if json_body else "application/octet-stream"}
        found, _, answer = self.raw(method, V1 + path, body, headers)
        assert found == status, (path, found, answer[:500])
        return check(json.loads(answer)) if answer else None

    def app(self, name: str) -> str:
        """Path of the application of that name."""
        found = self.get(f"applications?search={name}")["applications"]
        return f"applications/{found[0]['id']}/{found[0]['attempts'][0]['attempt'] or '-'}"


def check(document: Any) -> Any:
    """The document follows its schema."""
    name = document["schema"].split(".")[1].replace("/", "-") if "schema" in document else "error-1"
    return schemas.check(document, f"pyrometer.{name}.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name in NAMES:
        shutil.copy(LOGS / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    kept = tmp_path_factory.mktemp("kept")
    with Server(
        folder, "--no-cache", "--uploads", str(kept / "uploads"), "--store", f"sqlite:{kept / 'store.db'}",
        "--update-interval", "200ms", "--config", "none",
    ) as server:
        yield Client(server)


# ---- documents --------------------------------------------------------------------------------------------------


def test_version(client: Client) -> None:
    document = client.get("version")
    assert document["uploads"] is True and document["store"] is True and document["role"] == "admin"
    assert document["upload_bytes"] == 2 << 30
    assert {"zstd", "plain"} <= {one["name"] for one in document["features"]}


def test_applications_are_listed_searched_sorted_and_cut(client: Client) -> None:
    everything = client.get("applications")
    assert everything["total"] == len(NAMES) == len(everything["applications"])
    ends = [one["attempts"][0]["end_ms"] for one in everything["applications"]]
    assert ends == sorted(ends, reverse=True)
    names = [one["name"] for one in client.get("applications?sort=name")["applications"]]
    assert names == sorted(names)
    assert names[::-1] == [one["name"] for one in client.get("applications?sort=name&order=desc")["applications"]]
    page = client.get("applications?sort=name&offset=1&limit=2")
    assert page["total"] == len(NAMES) and [one["name"] for one in page["applications"]] == names[1:3]
    durations = [one["attempts"][0]["duration_ms"] for one in client.get("applications?sort=duration")["applications"]]
    assert durations == sorted(durations, reverse=True)
    assert [one["name"] for one in client.get("applications?search=SKEW")["applications"]] == ["data_skew"]
    assert client.get("applications?status=running")["total"] == 0
    assert client.get("applications?user=nobody")["total"] == 0
    assert client.get("applications?limit=0")["applications"] == []


def test_applications_are_sorted_by_every_column(client: Client) -> None:
    def column(sort: str, *order: str) -> List[Any]:
        member = {"user": "user", "version": "spark_version", "bytes": "log_bytes", "start": "start_ms"}[sort]
        rows = client.get("applications?sort=" + "&order=".join((sort, *order)))["applications"]
        return [one["attempts"][0][member] for one in rows]

    for sort in ("user", "version"):
        assert column(sort) == sorted(column(sort)) == column(sort, "desc")[::-1]
    for sort in ("bytes", "start"):
        assert column(sort) == sorted(column(sort), reverse=True) == column(sort, "asc")[::-1]
    everything = client.get("applications")
    log = everything["applications"][0]["attempts"][0]["log"]
    found = client.get("applications?search=" + quote(Path(log).name.upper()))
    assert found["total"] == 1 and found["all"] == everything["all"] == len(NAMES)
    assert found["applications"][0]["attempts"][0]["log"] == log
    folder = quote(Path(log).parent.name)
    assert client.get(f"applications?search={folder}")["total"] == 0  # not the folders that all of them are in
    assert found["users"] == sorted({one["attempts"][0]["user"] for one in everything["applications"]})


def test_past_runs_are_those_of_the_same_name(client: Client) -> None:
    applications = client.get("applications")["applications"]
    for one in applications:
        same = sorted(
            (attempt["start_ms"], attempt["duration_ms"])
            for other in applications if other["name"] == one["name"] for attempt in other["attempts"]
        )
        assert one["past_runs_ms"] == [duration for _, duration in same]


def test_the_report_is_that_of_diagnose(client: Client, folder: Path) -> None:
    for name in NAMES:
        path = next(
            f"applications/{one['id']}/-" for one in client.get("applications")["applications"]
            if one["attempts"][0]["log"].endswith(name)
        )
        command = [str(conftest.binary_path()), "diagnose", str(folder / name), "--format", "json", "--config", "none"]
        assert client.raw("GET", f"{V1}{path}/report")[2] == conftest.run_command(command).out


def columns_of(document: Dict[str, Any]) -> Dict[str, List[Any]]:
    lengths = {len(column) for column in document.values()}
    assert len(lengths) == 1
    return document


def test_timeline(client: Client) -> None:
    for name in ("data_skew", "gc_pressure"):
        path = client.app(name)
        report, timeline = client.get(f"{path}/report"), client.get(f"{path}/timeline")
        columns = columns_of(timeline["tasks"]["columns"])
        assert timeline["tasks"]["count"] == timeline["tasks"]["shown"] == report["totals"]["tasks"]
        assert columns["launch_ms"] == sorted(columns["launch_ms"])
        assert sum(columns["duration_ms"]) == report["totals"]["task_ms"]
        gaps = sum(gap["to_ms"] - gap["from_ms"] for gap in timeline["driver_gaps"])
        driver = next(part["ms"] for part in report["accounting"]["wall"]["parts"] if part["name"] == "driver")
        assert gaps == driver
        rows: Dict[Tuple[int, int], int] = {}
        for executor, slot, launch, duration in zip(
            columns["executor"], columns["slot"], columns["launch_ms"], columns["duration_ms"]
        ):
            assert launch >= rows.get((executor, slot), 0), "two tasks at once on one row"
            rows[executor, slot] = launch + duration
            assert executor < len(timeline["executors"])
        fewer = client.get(f"{path}/timeline?max=5")
        assert (fewer["tasks"]["count"], fewer["tasks"]["shown"]) == (timeline["tasks"]["count"], 5)
        longest = sorted(columns["duration_ms"])[-5:]
        assert sorted(fewer["tasks"]["columns"]["duration_ms"]) == longest


def test_stages(client: Client) -> None:
    path = client.app("data_skew")
    report = client.get(f"{path}/report")
    sums = {"run_ms": "run_ms", "gc_ms": "gc_ms", "input_bytes": "input_bytes", "output_bytes": "output_bytes",
            "shuffle_read_bytes": "shuffle_read_bytes", "shuffle_write_bytes": "shuffle_write_bytes",
            "memory_spill_bytes": "memory_spill_bytes", "fetch_wait_ms": "fetch_wait_ms"}
    for stage in report["stages"]:
        document = client.get(f"{path}/stages/{stage['id']}/{stage['attempt']}")
        columns = columns_of(document["columns"])
        assert document["tasks"] == document["shown"] == len(columns["task"]) == stage["tasks"]
        assert document["quantiles"]["duration_ms"] == stage["duration_ms"]
        for metric, total in sums.items():
            assert sum(columns[metric]) == stage[total], metric
        assert all(0 <= one < len(document["hosts"]) for one in columns["host"])
        assert {document["executors"][one] for one in columns["executor"]} <= {one["id"] for one in report["executors"]}


def test_outliers_are_what_the_rules_found(client: Client) -> None:
    """The finding names one slowest task; the document of its stage has it first, with the same cause."""
    path = client.app("data_skew")
    finding = next(one for one in client.get(f"{path}/report")["findings"] if one["rule"] == "data-skew")
    evidence = {one["metric"]: one["value"] for one in finding["evidence"]}
    outliers = client.get(f"{path}/stages/{finding['where']['stage']}/0")["outliers"]
    assert len(outliers) == evidence["heavy_tasks"] and {one["cause"] for one in outliers} == {"data"}
    assert outliers[0]["duration_ms"] == evidence["slowest_task_ms"]
    assert outliers[0]["times_median"] == pytest.approx(evidence["slowest_to_median_time"])


def test_sql(client: Client) -> None:
    for name in ("data_skew", "gc_pressure"):
        path = client.app(name)
        report, listed = client.get(f"{path}/report"), client.get(f"{path}/sql")["executions"]
        assert [one["id"] for one in listed] == [one["id"] for one in report["sql"]]
        for one, told in zip(listed, report["sql"]):
            document = client.get(f"{path}/sql/{one['id']}")
            assert {key: document[key] for key in one} == one
            assert len(document["plans"]) == one["plan_changes"] + 1 and document["final"] == one["plan_changes"]
            times = [plan["at_ms"] for plan in document["plans"]]
            assert times == sorted(times) and times[0] == one["start_ms"] and times[-1] <= one["end_ms"]
            for plan in document["plans"]:
                assert sorted(edge[0] for edge in plan["edges"]) == list(range(1, len(plan["nodes"])))
                assert all(to < start for start, to in plan["edges"]), "parents come first"
            newest = document["plans"][-1]["nodes"]
            assert sum(node["own_ms"] or 0 for node in newest) + document["other_ms"] == told["task_ms"]
            assert any(metric["max"] is not None for node in newest for metric in node["metrics"])
            jobs = {job["id"] for job in report["jobs"] if job["sql"] == one["id"]}
            assert set(one["jobs"]) == jobs
            assert set(one["stages"]) == {stage["id"] for stage in report["stages"] if stage["sql"] == one["id"]}


def test_executors(client: Client) -> None:
    path = client.app("gc_pressure")
    report, document = client.get(f"{path}/report"), client.get(f"{path}/executors")
    assert document["steps"] <= 400 and len(document["total"]["slots"]) == document["steps"]
    length = report["application"]["duration_ms"]
    for one, told in zip(document["executors"], report["executors"]):
        assert {key: one[key] for key in ("id", "busy_ms", "gc_ms", "heap_peak_bytes", "tasks")} == {
            key: told[key] for key in ("id", "busy_ms", "gc_ms", "heap_peak_bytes", "tasks")
        }
        assert len(one["busy_share"]) == len(one["gc_share"]) == document["steps"]
    running = sum(
        value * min(document["step_ms"], length - i * document["step_ms"])
        for i, value in enumerate(document["total"]["running_tasks"])
    )
    assert running == pytest.approx(report["totals"]["task_ms"], rel=0.01)


def test_environment_has_no_secrets(client: Client, tmp_path: Path) -> None:
    log = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"},
        {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-1", "Timestamp": 1000, "User": "u"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {
            "spark.my.password": "hunter2", "spark.executor.memory": "2g",
            "spark.jdbc": "jdbc:mysql://me:hunter2@db/x", "spark.driver.extraJavaOptions": "-Dtoken=hunter2"},
         "Hadoop Properties": {"fs.s3a.access.key": "hunter2"}, "System Properties": {"aws.secretKey": "hunter2"}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 2000},
    ]
    (tmp_path / "app-1").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in log))
    with Server(tmp_path, "--no-cache") as server:
        document = Client(server).get("applications/app-1/-/environment")
    assert "hunter2" not in json.dumps(document)
    assert document["redacted"] == 5 and document["spark"]["spark.executor.memory"] == "2g"


def test_configuration(client: Client) -> None:
    path = client.app("gc_pressure")
    report, document = client.get(f"{path}/report"), client.get(f"{path}/configuration")
    changes = {one["key"]: one["recommended"] for one in document["changes"] if one["applies"] != "elsewhere"}
    assert changes == report["config_changes"] and changes
    ids = {finding["id"] for finding in report["findings"]}
    assert all(one["findings"] and set(one["findings"]) <= ids for one in document["changes"])
    for key, value in changes.items():
        assert f"--conf {key}={value}" in document["spark_submit"]
        assert f"{key} {value}\n" in document["spark_defaults"]
        assert f'.config("{key}", "{value}")' in document["python"]
    compile(document["python"], "configuration", "exec")


def test_answers_are_the_same_every_time(client: Client) -> None:
    path = client.app("gc_pressure")
    for document in ("report", "timeline", "stages/0/0", "sql", "sql/0", "executors", "environment", "configuration", "trace"):
        assert len({client.raw("GET", f"{V1}{path}/{document}")[2] for _ in range(3)}) == 1


def test_unchanged_documents_are_not_sent_again(client: Client) -> None:
    path = f"{V1}{client.app('data_skew')}/timeline"
    status, headers, body = client.raw("GET", path)
    assert status == 200 and body
    again = client.raw("GET", path, headers={"If-None-Match": headers["etag"]})
    assert (again[0], again[2]) == (304, b"")
    assert client.raw("GET", path + "?max=3", headers={"If-None-Match": headers["etag"]})[0] == 200


# ---- questions --------------------------------------------------------------------------------------------------


def test_whatif(client: Client) -> None:
    path = client.app("data_skew")
    document = client.get(f"{path}/whatif?sweep=executors=1..4&set=spark.sql.shuffle.partitions=40&cores=2")
    assert [one["executors"] for one in document["scenarios"]] == [1, 2, 3, 4]
    command = [str(conftest.binary_path()), "whatif", next(
        one["attempts"][0]["log"] for one in client.get("applications")["applications"] if one["name"] == "data_skew"
    ), "--format", "json", "--config", "none", "--executors", "4"]
    assert client.raw("GET", f"{V1}{path}/whatif?executors=4")[2] == conftest.run_command(command).out
    assert len(client.get(f"{path}/whatif")["scenarios"]) == 1
    for query, word in (("executors=x", "whole number"), ("set=nonsense", "KEY=VALUE"), ("set=spark.x=1", "no model"),
                        ("sweep=executors=1..257", "256"), ("executor=4", "executors"), ("executors=2&executors=3", "once")):
        assert word in client.get(f"{path}/whatif?{query}", 400)["error"]["message"]


def test_cost(client: Client) -> None:
    path = client.app("data_skew")
    document = client.get(f"{path}/cost?by=stage&instance=r5.2xlarge&region=us-east-1")
    assert document["by"] == "stage" and document["applications"]
    client.get(f"{path}/cost?spot=true")
    assert client.get(f"{path}/cost?by=moon", 400)["error"]["code"] == "bad_request"
    assert client.get(f"{path}/cost?spot=yes", 400)["error"]["code"] == "bad_request"


def test_compare(client: Client, folder: Path) -> None:
    ids = {
        Path(one["attempts"][0]["log"]).name: one["id"] for one in client.get("applications")["applications"]
    }
    before, after = ids["pair_base.zst"], ids["pair_slots.zst"]
    answer = client.raw("GET", f"{V1}compare?before={before}/-&after={after}/-")[2]
    command = [str(conftest.binary_path()), "compare", str(folder / "pair_base.zst"), str(folder / "pair_slots.zst"),
               "--format", "json", "--config", "none"]
    assert answer == conftest.run_command(command).out
    check(json.loads(answer))
    assert client.get(f"compare?before={before}/-", 400)["error"]["code"] == "bad_request"
    assert client.get(f"compare?before={before}/-&after=none/-", 404)["error"]["code"] == "not_found"


def test_findings_and_rules(client: Client) -> None:
    path = client.app("data_skew")
    for finding in client.get(f"{path}/report")["findings"]:
        document = client.get(f"{path}/findings/{quote(finding['id'], safe='')}")
        assert document["finding"] == finding and document["rule"]["id"] == finding["rule"]
    client.get(f"{path}/findings/none", 404)
    rules = client.get("rules")["rules"]
    page = client.get(f"rules/{rules[0]['id']}")
    assert page["page"] == (conftest.ROOT / "docs" / "rules" / f"{rules[0]['id']}.md").read_text(encoding="utf-8")
    assert "data-skew" in client.get("rules/data-skow", 404)["error"]["message"]


# ---- changes ----------------------------------------------------------------------------------------------------


def test_uploads_come_and_go(client: Client) -> None:
    log = (LOGS / "idle_executors.zst").read_bytes()
    found = client.send("POST", "uploads?name=..%2f..%2fmy%20log.zst", log, 201, False)["applications"]
    assert len(found) == 1 and found[0]["name"] == "idle_executors"
    path = f"{found[0]['id']}/{found[0]['attempt'] or '-'}"
    listed = client.get("applications?search=idle_executors")["applications"][0]["attempts"][0]
    assert listed["uploaded"] is True and Path(listed["log"]).name == "my_log.zst"
    client.get(f"applications/{path}/report")
    client.send("DELETE", f"uploads/{path}", None, 204)
    client.get(f"applications/{path}/report", 404)
    client.send("DELETE", f"uploads/{path}", None, 404)
    assert not Path(listed["log"]).exists()


def test_uploads_that_are_no_logs(client: Client) -> None:
    for body, status in ((b"no log at all\n", 422), (b"\x28\xb5\x2f\xfd" + b"\x00" * 100, 422), (b"", 400)):
        error = client.send("POST", "uploads?name=x", body, status, False)["error"]
        assert len(error["message"]) > 20
    app = client.app("data_skew").replace("applications/", "")
    assert client.send("DELETE", f"uploads/{app}", None, 403)["error"]["code"] == "forbidden"


def test_uploads_that_are_too_large(folder: Path) -> None:
    with Server(folder, "--no-cache", "--max-upload", "1K") as server:
        answer = Client(server).send("POST", "uploads", b"x" * 5000, 413, False)
        assert answer["error"]["code"] == "too_large"


def test_feedback_is_kept(client: Client, tmp_path: Path, folder: Path) -> None:
    store = tmp_path / "store.db"
    with Server(folder, "--no-cache", "--config", "none", "--store", f"sqlite:{store}") as server:
        other = Client(server)
        path = other.app("data_skew")
        finding = other.get(f"{path}/report")["findings"][0]
        said = {"finding": finding["id"], "verdict": "false-positive", "comment": "Zwölf Kunden sind so groß"}
        other.send("POST", f"{path}/feedback", json.dumps(said).encode(), 201)
        other.send("POST", f"{path}/feedback", json.dumps({"missed": "disk-spill"}).encode(), 201)
        other.send("POST", f"{path}/feedback", json.dumps({"missed": "the nightly\nbackup"}).encode(), 201)
        judged = next(one for one in other.get(f"{path}/report")["findings"] if one["id"] == finding["id"])
        assert judged["feedback"] == {"verdict": "false-positive", "note": said["comment"], "time_ms": judged["feedback"]["time_ms"]}
        for body, status in (({"finding": "none", "verdict": "confirmed"}, 404), ({"verdict": "confirmed"}, 400),
                             ({"finding": finding["id"], "verdict": "perhaps"}, 400), ({"missed": 3}, 400), ([], 400),
                             ({"missed": "x", "more": "y"}, 400), ({"missed": "x" * 1001}, 400)):
            other.send("POST", f"{path}/feedback", json.dumps(body).encode(), status)
        other.send("POST", f"{path}/feedback", b'{"missed": "x"', 400)
        other.send("POST", f"{path}/feedback", b'{"missed": "x"}', 415, False)
        other.send("POST", f"{path}/feedback", b'{"missed": "' + b"x" * 70000 + b'"}', 413)
    with sqlite3.connect(store) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    with Server(folder, "--no-cache") as server:
        none = Client(server)
        answer = none.send("POST", f"{none.app('data_skew')}/feedback", b'{"missed": "x"}', 403)
        assert "--store" in answer["error"]["message"]


def test_events_tell_of_new_and_removed_logs(client: Client, folder: Path) -> None:
    connection = http.client.HTTPConnection(client.server.host, client.server.port, timeout=20)
    connection.request("GET", V1 + "events")
    response = connection.getresponse()
    assert response.status == 200 and response.headers["Content-Type"] == "text/event-stream"
    assert response.readline() == b"retry: 2000\n"
    shutil.copy(LOGS / "idle_narrow.zst", folder / "idle_narrow.zst")
    try:
        events = [read_event(response)]
    finally:
        (folder / "idle_narrow.zst").unlink()
    while events[-1][1]["change"] != "removed":
        events.append(read_event(response))
    connection.close()
    assert {kind for kind, _ in events} <= {"application", "progress"}
    assert events[0][1]["change"] == "added" and events[0][1]["name"] == "idle_narrow"
    assert events[-1][1]["app"] == events[0][1]["app"]


def read_event(response: http.client.HTTPResponse) -> Tuple[str, Dict[str, Any]]:
    kind = ""
    while True:
        line = response.readline().decode()
        assert line, "the stream ended"
        if line.startswith("event: "):
            kind = line[7:].strip()
        if line.startswith("data: "):
            return kind, json.loads(line[6:])


# ---- errors and limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "x", "applications/x", "applications/x/-", "applications/x/-/report", "../etc",
                                  "a/" * 40, "applications/x/-/stages/1/2/3"])
def test_what_is_not_there(client: Client, path: str) -> None:
    status, headers, body = client.raw("GET", V1 + path)
    assert status == 404 and headers["content-type"] == "application/json" and check(json.loads(body))


def test_wrong_parameters_name_the_right_ones(client: Client) -> None:
    for query, word in (("serch=x", "search"), ("limit=1001", "1000"), ("limit=-1", "0"), ("sort=size", "duration"),
                        ("status=done", "completed"), ("offset=99999999999", "2147483647"), ("search=a&search=b", "once"),
                        ("search=%0a", "control")):
        error = client.get(f"applications?{query}", 400)["error"]
        assert error["code"] == "bad_request" and word in error["message"], error
    assert client.get("version?x=1", 400)["error"]["code"] == "bad_request"
    assert client.raw("GET", V1 + "applications?" + "&".join(f"a{i}=1" for i in range(70)))[0] == 414


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods(client: Client, method: str) -> None:
    status, _, body = client.raw(method, V1 + "version")
    assert status == 405 and json.loads(body)["error"]["code"] == "method_not_allowed"


def test_a_log_that_is_gone(tmp_path: Path) -> None:
    shutil.copy(LOGS / "data_skew.zst", tmp_path / "log.zst")
    with Server(tmp_path, "--no-cache", "--update-interval", "1d") as server:
        one = Client(server)
        path = one.app("data_skew")
        (tmp_path / "log.zst").unlink()
        assert one.get(f"{path}/report", 404)["error"]["code"] == "not_found"


def test_whoever_goes_away_ends_the_work(client: Client) -> None:
    """A client that leaves in the middle of an answer leaves nothing running behind it."""
    path = f"{V1}{client.app('gc_pressure')}/whatif?sweep=executors=1..64&sweep=cores=1,2,4,8"
    for _ in range(5):
        with socket.create_connection((client.server.host, client.server.port), timeout=10) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    deadline = time.monotonic() + 60
    while cpu_seconds(client) != cpu_seconds(client, 0.5):
        assert time.monotonic() < deadline, "the server goes on working for clients that are gone"


def cpu_seconds(client: Client, pause: float = 0) -> int:
    time.sleep(pause)
    text = Path(f"/proc/{client.server.process.pid}/stat").read_text(encoding="utf-8")
    fields = text.rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


# ---- the description ----------------------------------------------------------------------------------------------


def routes() -> List[Tuple[str, str, List[str]]]:
    text = (conftest.ROOT / "src" / "serve" / "api" / "routes.def").read_text(encoding="utf-8")
    found = re.findall(r'^ROUTE\((\w+), "([^"]+)", \w+, (\w+), \w+, "([^"]*)"\)', text, re.M)
    return [(method.lower(), ("/applications/{}/{}/" if scope == "APP" else "/") + path.replace("{#}", "{}"),
             sorted(word.rstrip("*") for word in words.split())) for method, path, scope, words in found]


def test_every_route_is_described_and_nothing_else(client: Client) -> None:
    description = json.loads(client.raw("GET", V1 + "openapi.json")[2])
    assert description == json.loads((conftest.ROOT / "docs" / "api" / "openapi.json").read_text(encoding="utf-8"))
    described = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            query = sorted(one["name"] for one in operation.get("parameters", []) if one.get("in") == "query")
            described.append((method, re.sub(r"\{\w+\}", "{}", path), query))
    assert sorted(described) == sorted(routes())


def test_every_schema_that_is_named_is_there() -> None:
    text = (conftest.ROOT / "docs" / "api" / "openapi.json").read_text(encoding="utf-8")
    names = set(re.findall(r"docs/schema/(pyrometer\.[\w-]+\.json)", text))
    assert len(names) > 15
    for name in names:
        assert (SCHEMAS / name).is_file(), name


def test_metrics(client: Client) -> None:
    client.get("version")
    client.get("nothing", 404)
    status, headers, body = client.raw("GET", "/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")
    families = {family.name: family for family in parser.text_string_to_metric_families(body.decode())}
    requests = {
        (sample.labels["service"], sample.labels["status"]): sample.value
        for sample in families["pyrometer_http_requests"].samples
    }
    assert requests["api", "200"] >= 1 and requests["api", "404"] >= 1
    histogram = [sample for sample in families["pyrometer_http_request_duration_seconds"].samples
                 if sample.labels["service"] == "api"]
    buckets = [sample.value for sample in histogram if sample.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert [sample.value for sample in histogram if sample.name.endswith("_count")] == [buckets[-1]]
    assert families["pyrometer_applications"].samples[0].value >= len(NAMES)
    for family in families.values():
        assert family.documentation and family.type != "unknown", family.name
    assert client.raw("GET", "/metricsx")[0] == 404


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool (as Debian calls it: prometheus)")
def test_metrics_please_promtool(client: Client) -> None:
    client.raw("GET", "/api/v1/applications")
    body = client.raw("GET", "/metrics")[2]
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
