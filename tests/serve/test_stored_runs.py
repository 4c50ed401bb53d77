"""`pyrometer serve sqlite:FILE`: runs of a store, with their logs and without."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from schemas import check
from servers.pyrometer import Server

import conftest


LOGS = conftest.ROOT / "corpus" / "logs"
SCHEMAS = conftest.ROOT / "docs" / "schema"
OWN = "/pyrometer/v1/applications"


def pyrometer(*words: str, text: bytes = b"") -> conftest.Run:
    return conftest.run_command([str(conftest.binary_path()), *words])


def record(store: Path, *logs: Path) -> None:
    run = pyrometer("diagnose", *map(str, logs), "--store", f"sqlite:{store}", "-o", "/dev/null")
    assert run.exit == 0, run.explain()


def get(server: Server, path: str) -> Any:
    status, _, body = server.request("GET", path)
    assert status == 200, (path, status, body)
    return json.loads(body)


def status_of(server: Server, path: str) -> int:
    return server.request("GET", path)[0]


def listed(server: Server) -> Dict[str, bool]:
    """Ids, and whether only the store has them."""
    return {app["id"]: app["attempts"][0]["stored"] for app in get(server, OWN)["applications"]}


def eventually(what: Callable[[], bool]) -> None:
    for _ in range(200):
        if what():
            return
        time.sleep(0.1)
    assert what()


@pytest.fixture()
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("data_skew.zst", "data_skew_repaired.zst"):
        shutil.copy(LOGS / name, folder / name)
    return folder


def ids(store: Path) -> Dict[str, str]:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        return {Path(path).name: app for app, path in database.execute("SELECT app_id, path FROM runs")}


def test_logs_that_are_there(logs: Path, tmp_path: Path) -> None:
    """Everything works, as if their folder were served."""
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst")
    app = ids(store)["data_skew.zst"]
    with Server(f"sqlite:{store}") as server, Server(logs) as folder:
        assert listed(server) == {app: False}  # the other log of that folder is none of the store's
        for path in ("", "/environment", "/stages", "/1/jobs"):
            assert server.get(f"applications/{app}{path}") == folder.get(f"applications/{app}{path}")
        for path in ("report", "timeline", "executors"):
            mine, theirs = (get(one, f"{OWN}/{app}/-/{path}") for one in (server, folder))
            if path == "report":  # which names the log as it was given
                mine["source"] = theirs["source"]
            assert mine == theirs
        assert status_of(server, f"/api/v1/applications/{app}/logs") == 200


def test_only_the_report(logs: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst", logs / "data_skew_repaired.zst")
    names = ids(store)
    before, after = names["data_skew.zst"], names["data_skew_repaired.zst"]
    (logs / "data_skew.zst").unlink()
    with Server(f"sqlite:{store}") as server:
        assert listed(server) == {before: True, after: False}
        spark = {app["id"]: app for app in json.loads(server.get("applications")[2])}
        run = pyrometer("diagnose", str(LOGS / "data_skew.zst"), "--format", "json").json
        attempt = spark[before]["attempts"][0]
        assert attempt["duration"] == run["application"]["duration_ms"] and attempt["completed"]
        assert attempt["sparkUser"] == run["application"]["user"]
        assert attempt["appSparkVersion"] == run["application"]["spark_version"]

        # The stored documents.
        report = get(server, f"{OWN}/{before}/-/report")
        assert {**report, "source": 0} == {**run, "source": 0}
        check(get(server, OWN), "pyrometer.applications-1.json")
        one = report["findings"][0]
        finding = get(server, f"{OWN}/{before}/-/findings/{one['id'].replace('%', '%25').replace(' ', '%20')}")
        assert finding["finding"] == one and finding["rule"]["id"] == one["rule"]
        check(finding, "pyrometer.finding-1.json")
        assert status_of(server, f"{OWN}/{before}/-/findings/none") == 404

        # Two runs, as far as their reports go.
        compared = get(server, f"/pyrometer/v1/compare?before={before}/-&after={after}/-")
        check(compared, "pyrometer.comparison-1.json")
        whole = pyrometer("compare", str(LOGS / "data_skew.zst"), str(LOGS / "data_skew_repaired.zst"), "--format", "json").json
        for key in ("difference_ms", "wall", "core", "totals"):
            assert compared[key] == whole[key], key
        assert sum(cause["ms"] for cause in compared["causes"]) == compared["difference_ms"]
        for key in ("appeared", "vanished"):
            assert sorted(row["id"] for row in compared["findings"][key]) == sorted(row["id"] for row in whole["findings"][key])
        assert "stored report" in compared["caveats"][0]

        # What needs the log.
        for path in ("jobs", "stages", "executors", "environment", "sql", "logs", "storage/rdd"):
            status, kind, body = server.get(f"applications/{before}/{path}")
            assert (status, body.decode()) == (404, f"no such app: {before}"), path
        for path in ("timeline", "executors", "sql", "environment", "configuration", "whatif", "cost", "stages/0/0"):
            status, _, body = server.request("GET", f"{OWN}/{before}/-/{path}")
            told = json.loads(body)["error"]
            assert status == 422 and told["code"] == "unreadable", path
            assert "only the stored report" in told["message"] and "data_skew.zst" in told["message"], told


def test_tools(logs: Path, tmp_path: Path) -> None:
    """Over standard input and output."""
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst", logs / "data_skew_repaired.zst")
    names = ids(store)
    (logs / "data_skew.zst").unlink()
    app = names["data_skew.zst"]
    calls = [
        ("list_applications", {}),
        ("diagnose", {"app": app}),
        ("explain_finding", {"app": app, "finding": "data-skew"}),
        ("compare", {"before": app, "after": names["data_skew_repaired.zst"]}),
        ("inspect", {"app": app, "what": "jobs"}),
        ("inspect", {"app": names["data_skew_repaired.zst"], "what": "jobs"}),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        for i, (name, arguments) in enumerate(calls)
    ]
    command = [str(conftest.binary_path()), "mcp", f"sqlite:{store}"]
    out = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, timeout=60).stdout
    results = [json.loads(line)["result"] for line in out.splitlines()]
    texts = [result["content"][0]["text"] for result in results]
    assert [bool(result.get("isError")) for result in results] == [False, False, False, False, True, False]
    assert all(one in texts[0] for one in names.values())
    assert "data-skew" in texts[1] and "Evidence:" in texts[2]
    assert "vanished: data-skew" in texts[3] and "stored report" in texts[3]
    assert "only the stored report" in texts[4]


def test_a_store_that_grows(logs: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst")
    with Server(f"sqlite:{store}", "--update-interval", "100ms") as server:
        assert len(listed(server)) == 1
        record(store, logs / "data_skew_repaired.zst")
        eventually(lambda: len(listed(server)) == 2)
        (logs / "data_skew_repaired.zst").unlink()
        eventually(lambda: sorted(listed(server).values()) == [False, True])
        shutil.copy(LOGS / "data_skew_repaired.zst", logs / "data_skew_repaired.zst")
        eventually(lambda: not any(listed(server).values()))
        store.unlink()  # another one in its place
        record(store, logs / "data_skew.zst")
        eventually(lambda: len(listed(server)) == 1)


def test_beside_folders(logs: Path, tmp_path: Path) -> None:
    """A log that both have is listed once, and nothing is said of it."""
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst", logs / "data_skew_repaired.zst")
    copy = tmp_path / "copies"
    copy.mkdir()
    shutil.copy(logs / "data_skew.zst", copy / "again.zst")
    for folder in (logs, copy):
        with Server(folder, f"sqlite:{store}") as server:
            found = get(server, OWN)
            assert len(found["applications"]) == 2 and found["unreadable"] == []
            assert not any(listed(server).values())


def test_another_log_in_its_place(logs: Path, tmp_path: Path) -> None:
    """Where a store says that a run's log is may be anything by now."""
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst")
    app = ids(store)["data_skew.zst"]
    shutil.copy(logs / "data_skew_repaired.zst", logs / "data_skew.zst")
    with Server(f"sqlite:{store}", "--update-interval", "100ms") as server:
        assert listed(server) == {app: True} and get(server, OWN)["unreadable"] == []
        (logs / "data_skew.zst").write_bytes(b"no log")
        time.sleep(0.5)
        assert listed(server) == {app: True}
        shutil.copy(LOGS / "data_skew.zst", logs / "data_skew.zst")
        eventually(lambda: listed(server) == {app: False})


def test_feedback(logs: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    record(store, logs / "data_skew.zst")
    app = ids(store)["data_skew.zst"]
    (logs / "data_skew.zst").unlink()
    with Server(f"sqlite:{store}", "--store", f"sqlite:{store}") as server:
        one = get(server, f"{OWN}/{app}/-/report")["findings"][0]["id"]
        command = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Content-Type: application/json"]
        body = json.dumps({"finding": one, "verdict": "confirmed"})
        url = f"http://{server.host}:{server.port}{OWN}/{app}/-/feedback"
        assert subprocess.run([*command, "--data", body, url], capture_output=True, check=True).stdout == b"201"
    with sqlite3.connect(store) as database:
        assert database.execute("SELECT finding, verdict FROM feedback").fetchall() == [(one, "confirmed")]


@pytest.mark.parametrize("content", [None, b"no database, and longer than its header would be: " * 4])
def test_no_store(tmp_path: Path, content: bytes | None) -> None:
    store = tmp_path / "runs.db"
    if content:
        store.write_bytes(content)
    for verb in ("serve", "mcp"):
        run = pyrometer(verb, f"sqlite:{store}")
        assert run.exit == 3 and str(store).encode() in run.err, run.explain()
    assert store.exists() == bool(content)


def write_log(folder: Path, name: str, user: str, properties: Dict[str, str]) -> Path:
    events: List[Dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1700000000000, "User": user},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": properties,
         "Hadoop Properties": {}, "System Properties": {}, "Metrics Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 1700000009000},
    ]
    (folder / name).write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return folder / name


def test_access_lists(tmp_path: Path) -> None:
    """Those of the application hold for its stored report; if the store does not know them, only the owner is let
    in."""
    logs, store, tokens = tmp_path / "logs", tmp_path / "runs.db", tmp_path / "tokens"
    logs.mkdir()
    on = {"spark.acls.enable": "true"}
    paths = [
        write_log(logs, "open", "eve", {}),
        write_log(logs, "owned", "vera", on),
        write_log(logs, "listed", "eve", {**on, "spark.ui.view.acls": "otto, vera"}),
        write_log(logs, "grouped", "eve", {**on, "spark.ui.view.acls.groups": "x,ops"}),
        write_log(logs, "everyone", "eve", {**on, "spark.admin.acls": "*"}),
        write_log(logs, "closed", "eve", on),
    ]
    record(store, *paths)

    def token(name: str, role: str = "view", *more: str) -> str:
        run = pyrometer("serve", "--add-token", name, "--role", role, "--tokens", str(tokens), *more)
        assert run.exit == 0, run.err
        return run.out.decode().strip()

    vera, ugo, ada = token("vera"), token("ugo", "upload", "--groups", "ops"), token("ada", "admin")

    def ask(server: Server, path: str, who: str) -> tuple[int, bytes]:
        command = ["curl", "-s", "-w", "%{http_code}", "-H", f"Authorization: Bearer {who}"]
        out = subprocess.run([*command, f"http://{server.host}:{server.port}{path}"], capture_output=True, check=True).stdout
        return int(out[-3:]), out[:-3]

    def seen(server: Server, who: str) -> List[str]:
        names = sorted(app["id"] for app in json.loads(ask(server, OWN, who)[1])["applications"])
        assert names == sorted(app["id"] for app in json.loads(ask(server, "/api/v1/applications", who)[1]))
        for path in paths:
            for below in ("report", "timeline", "findings/x"):
                status = ask(server, f"{OWN}/{path.name}/-/{below}", who)[0]
                assert (status == 404) == (path.name not in names or below == "findings/x"), (path.name, below, status)
            assert (ask(server, f"/api/v1/applications/{path.name}", who)[0] == 200) == (path.name in names)
        return names

    expected = [["everyone", "listed", "open", "owned"], ["everyone", "grouped", "open"], sorted(path.name for path in paths)]
    with Server(f"sqlite:{store}", "--tokens", str(tokens)) as server:
        assert [seen(server, who) for who in (vera, ugo, ada)] == expected
    for path in paths:
        path.unlink()
    with Server(f"sqlite:{store}", "--tokens", str(tokens)) as server:
        assert [seen(server, who) for who in (vera, ugo, ada)] == expected
    with Server(f"sqlite:{store}", "--tokens", str(tokens), "--acls") as server:
        assert seen(server, vera) == ["everyone", "listed", "owned"]
    with sqlite3.connect(store) as database:  # as an earlier version would have left it
        database.execute("DROP TABLE run_access")
    with Server(f"sqlite:{store}", "--tokens", str(tokens)) as server:
        assert [seen(server, who) for who in (vera, ugo, ada)] == [["owned"], [], expected[2]]


def test_a_hidden_log_is_not_shown_by_the_store(tmp_path: Path) -> None:
    """The report would say what the log's own lists hide."""
    logs, store, tokens = tmp_path / "logs", tmp_path / "runs.db", tmp_path / "tokens"
    logs.mkdir()
    record(store, write_log(logs, "app", "vera", {}))
    write_log(logs, "app", "eve", {"spark.acls.enable": "true"})
    run = pyrometer("serve", "--add-token", "vera", "--tokens", str(tokens))
    with Server(logs, f"sqlite:{store}", "--tokens", str(tokens)) as server:
        command = ["curl", "-s", "-H", f"Authorization: Bearer {run.out.decode().strip()}"]
        out = subprocess.run([*command, f"http://{server.host}:{server.port}{OWN}"], capture_output=True, check=True).stdout
        assert json.loads(out)["applications"] == []
