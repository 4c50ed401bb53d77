"""What other services say of runs: taken over, computed, and never a reason to lose a run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest
from fleet import change, content, crawl, crawled, events, kinds, make_fleet, make_log, rows
from servers.shared import OnYarn, ON_YARN
from site_of_tests import Asked, ChosenSite, Reply, as_json


def run(folder: Path, logs: Path, enrichers: List[Dict[str, Any]], store: str = "runs.db", **more: Any) -> List[Dict[str, Any]]:
    config = folder / "crawl.yaml"
    config.write_text(json.dumps({"sources": [str(logs)], "enrichers": enrichers, **more}))
    done = crawl("-c", config, "--store", f"sqlite:{folder / store}", "--once", "--log-format", "json", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return events(done)


def tags(store: Path) -> Dict[str, str]:
    return dict(rows(store, "SELECT key, value FROM tags WHERE key LIKE '%.%'"))


def numbers(store: Path, prefix: str) -> Dict[str, float]:
    return dict(rows(store, "SELECT name, value FROM aggregates WHERE name LIKE ?", prefix + "%"))


def test_http(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    (made,) = make_fleet(logs, 1)
    answer = {
        "owner": {"name": "data", "key/with~signs": ["a", {"b": 7}]},
        "rows": "1200",
        "scheduled": "21-11-2026 13:00:00 +0200",
        "iso": "2026-01-02T03:04:05Z",
        "flag": True,
        "secret": "password=hunter2secret",
    }
    with ChosenSite() as site:
        site.pages[f"/runs/{made.id}/nightly"] = as_json(answer)
        enricher = {
            "http": site.url + "/runs/{app_id}/{name}?of={user}",
            "tags": {"x.owner": "{/owner/name}", "x.flag": "{/flag}", "x.secret": "{/secret}", "x.none": "{/nothing/here}"},
            "aggregates": {
                "x.deep": "{/owner/key~1with~0signs/1/b}",
                "x.sum": "-{/rows} * 2 + (10 - 4) / 3 - 1",
                "x.per": "{/rows} / ({run.core_ms} / 1000)",
                "x.zero": "1 / 0",
                "x.text": "{/owner/name} + 1",
                "x.date": 'date({/scheduled}, "%d-%m-%Y %H:%M:%S %z")',
                "x.iso": "date({/iso})",
                "x.agg": "{agg.stages.elements_count}",
            },
            "queue": "{/owner/name}",
        }
        happened = run(tmp_path, logs, [enricher])
        (asked,) = site.asked
    assert kinds(happened) == {"listed": 1, "stored": 1, "passed": 1}
    assert asked.query == {"of": rows(store, "SELECT user FROM runs")[0][0]}
    core_ms = rows(store, "SELECT core_ms FROM runs")[0][0]
    found = tags(store)
    assert found.pop("x.secret") != answer["secret"] and found == {"x.owner": "data", "x.flag": "1"}
    computed = numbers(store, "x.")
    computed.pop("x.agg", None)
    assert computed == {
        "x.deep": 7,
        "x.sum": -2399,
        "x.per": pytest.approx(1200 / (core_ms / 1000)),
        "x.date": 1795258800000,
        "x.iso": 1767323045000,
    }
    assert rows(store, "SELECT queue FROM runs") == [("data",)]


def test_failures_lose_no_run(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    made = make_fleet(logs, 4)
    with ChosenSite() as site:

        def late(asked: Asked) -> Reply:
            time.sleep(3)
            return as_json({})

        pages = [Reply(b"{broken", 200), Reply(b"no", 500), Reply(b"[" * 4000), late]
        for one, page in zip(made, pages):
            site.pages[f"/{one.id}"] = page
        tags_wanted = {"x.a": "{/a}"}
        enrichers = [{"http": site.url + "/{app_id}", "timeout": "1s", "tags": tags_wanted}]
        happened = run(tmp_path, logs, enrichers)
    assert kinds(happened) == {"listed": 1, "stored": 4, "failed": 4, "passed": 1}
    assert rows(store, "SELECT count(*) FROM runs") == [(4,)]
    found = rows(store, "SELECT app_id, step, type, raw FROM errors ORDER BY app_id")
    assert [(step, kind) for _, step, kind, _ in found] == [
        ("enrich", "invalid"), ("enrich", "unreachable"), ("enrich", "invalid"), ("enrich", "unreachable"),
    ]  # fmt: skip
    assert found[0][3] == "{broken" and rows(store, "SELECT DISTINCT state FROM work") == [(2,)]


def test_failures_for_a_run_that_is_not_kept(tmp_path: Path) -> None:
    logs, more, store = tmp_path / "logs", tmp_path / "more", tmp_path / "runs.db"
    for folder, shift in ((logs, 0), (more, 60_000)):
        folder.mkdir()
        make_log(folder, 1, shift_ms=shift)
    crawled(store, logs)
    with ChosenSite() as site:
        happened = run(tmp_path, more, [{"http": site.url + "/{app_id}", "tags": {"x.a": "{/a}"}}])
        assert len(site.asked) == 1
    assert [event["step"] for event in happened if event["event"] == "failed"] == ["store"]
    assert rows(store, "SELECT step, type FROM errors") == [("store", "id-conflict")]


def test_a_service_that_is_gone_is_left_alone_for_a_while(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 20)
    with ChosenSite() as site:
        asked_before = site.url
        run(tmp_path, logs, [{"http": asked_before + "/{app_id}", "tags": {"x.a": "{/a}"}}])
        assert len(site.asked) < 20
    assert rows(store, "SELECT count(*) FROM runs") == [(20,)] and rows(store, "SELECT count(*) FROM errors") == [(20,)]


def test_answers_are_kept_for_a_while(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 6)
    with ChosenSite() as site:
        site.pages["/of/nightly"] = as_json({"a": "b"})
        run(tmp_path, logs, [{"http": site.url + "/of/{name}", "tags": {"x.a": "{/a}"}}], jobs=1)
        assert 1 <= len(site.asked) <= 2
        change(store, "DELETE FROM work")
        site.asked.clear()
        run(tmp_path, logs, [{"http": site.url + "/of/{name}", "cache": "0s", "tags": {"x.a": "{/a}"}}], jobs=1)
        assert len(site.asked) == 6
    assert rows(store, "SELECT count(*) FROM tags WHERE key = 'x.a'") == [(6,)]


CHECKPOINTS = [
    {
        "name": "Source Raw",
        "processStartTime": "21-11-2026 13:00:00 +0200",
        "processEndTime": "21-11-2026 13:00:10 +0200",
        "controls": [{"controlName": "count", "controlValue": "5"}, {"controlName": "sum", "controlValue": "9"}],
    },
    {
        "name": "Standardisation - End",
        "processStartTime": "21-11-2026 11:00:10",
        "processEndTime": "21-11-2026 11:01:40",
        "controls": [{"controlName": "sum", "controlValue": "9"}, {"controlName": "count", "controlValue": "5"}],
    },
]


def menas_run(app_id: str, **more: Any) -> Dict[str, Any]:
    info = {"std_application_id": app_id, "std_input_data_size": "300000000", "std_output_data_size": "150000000"}
    measure = {"metadata": {"additionalInfo": {**info, "std_enceladus_version": "2.1"}}, "checkpoints": CHECKPOINTS}
    return {"dataset": "orders", "datasetVersion": 3, "runId": 1, "uniqueId": "u-1", "controlMeasure": measure, **more}


class Menas:
    """The pages of Menas that a crawler asks for: it answers only who has logged in."""

    def __init__(self, site: ChosenSite, runs: Dict[str, Any]) -> None:
        self.site, self.forms = site, 0
        site.pages["/api/login"] = self.login
        for app_id, found in runs.items():
            site.pages[f"/api/runs/bySparkAppId/{app_id}"] = lambda asked, found=found: self.answer(asked, found)

    def login(self, asked: Asked) -> Reply:
        assert asked.method == "POST" and not asked.query  # the password is not in the address
        self.forms += 1
        return Reply(b"", 200, {"Set-Cookie": "JSESSIONID=abc; Path=/; HttpOnly"})

    def answer(self, asked: Asked, found: Any) -> Reply:
        if "JSESSIONID=abc" not in asked.headers.get("Cookie", ""):
            return Reply(b"log in", 401)
        return as_json(found)


def test_menas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    logs.mkdir()
    name = "Standardisation 2.1 orders 3 2026-01-01 1"
    one, two, three, other = (make_log(logs, number, name=name if number < 4 else "other") for number in (1, 2, 3, 4))
    broken = menas_run(two.id)
    broken["controlMeasure"] = json.loads(json.dumps(broken["controlMeasure"]))
    broken["controlMeasure"]["checkpoints"][1]["controls"][0]["controlValue"] = "9.0"
    monkeypatch.setenv("MENAS_OF_TEST", "pass&word=1")
    with ChosenSite() as site:
        menas = Menas(site, {one.id: [menas_run("app-other"), menas_run(one.id)], two.id: [broken], three.id: []})
        enricher = {"menas": site.url + "/api", "user": "me", "password": "env:MENAS_OF_TEST", "names": "^Standardisation "}
        happened = run(tmp_path, logs, [enricher])
        asked = {asked.path for asked in site.asked}
    assert kinds(happened) == {"listed": 1, "stored": 4, "failed": 1, "passed": 1} and menas.forms >= 1
    assert not any(other.id in path for path in asked)
    assert rows(store, "SELECT app_id, type FROM errors") == [(three.id, "not-found")]
    found = dict(rows(store, "SELECT name, value FROM aggregates WHERE app_id = ? AND name LIKE 'menas.%'", one.id))
    aggregates = dict(rows(store, "SELECT name, value FROM aggregates WHERE app_id = ?", one.id))
    read = aggregates.get("stages.inputBytes.max") or 0
    wanted = {
        "menas.datasetVersion": 3,
        "menas.runId": 1,
        "menas.checkpoints.elements_count": 2,
        "menas.checkpoints.num_controls": 2,
        "menas.checkpoints.controls_match": 1,
        "menas.checkpoints.SourceRaw.duration": 10_000,
        "menas.checkpoints.Standardisation-End.duration": 90_000,
        "menas.input_in_storage_HDFS_blocks": 3,
        "menas.output_in_storage_HDFS_blocks": 2,
        "menas.output_to_input_storage_size_ratio": 0.5,
    }
    if read:
        wanted["menas.input_deserialization_factor"] = read / 300_000_000
    peak, written = aggregates.get("summary.est_peak_memory_usage") or 0, aggregates.get("stages.outputBytes.max") or 0
    if written:
        wanted["menas.output_deserialization_factor"] = written / 150_000_000
    if peak:
        wanted["menas.peak_to_input_memory_factor"] = peak / 300_000_000
        wanted["menas.peak_to_output_memory_factor"] = peak / 150_000_000
    assert found == pytest.approx(wanted)
    found = dict(rows(store, "SELECT key, value FROM tags WHERE app_id = ? AND key LIKE 'menas.%'", two.id))
    assert found["menas.controls_error"] == "Standardisation - End: sum" and found["menas.dataset"] == "orders"
    match = "SELECT value FROM aggregates WHERE app_id = ? AND name = 'menas.checkpoints.controls_match'"
    assert rows(store, match, two.id) == [(0,)]


def test_yarn_of_a_test(tmp_path: Path) -> None:
    """Only applications of YARN are asked for; metrics go into the store with each pass."""
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 1)
    with ChosenSite() as site:
        site.pages["/ws/v1/cluster/metrics"] = as_json({"clusterMetrics": {"appsRunning": 2, "totalMB": 8192, "name": "x"}})
        happened = run(tmp_path, logs, [{"yarn": site.url}])
        assert [asked.path for asked in site.asked] == ["/ws/v1/cluster/metrics"]
        assert kinds(happened)["stored"] == 1
        url = site.url
    found = rows(store, "SELECT source, name, value FROM cluster ORDER BY name")
    assert found == [(url, "appsRunning", 2.0), (url, "totalMB", 8192.0)]


class TestRealYarn:
    pytestmark = ON_YARN

    def test_numbers_of_the_resource_manager(self, on_yarn: OnYarn, tmp_path: Path) -> None:
        store, logs = tmp_path / "runs.db", tmp_path / "logs"
        logs.mkdir()
        target = logs / on_yarn.log.name
        target.write_bytes(on_yarn.log.read_bytes())
        happened = run(tmp_path, logs, [{"yarn": on_yarn.yarn.url}])
        assert kinds(happened) == {"listed": 1, "stored": 1, "passed": 1}
        app = on_yarn.yarn.application(on_yarn.finished)
        found = numbers(store, "yarn.")
        assert found["yarn.memorySeconds"] == app["memorySeconds"] > 0
        assert found["yarn.vcoreSeconds"] == app["vcoreSeconds"] > 0
        assert found["yarn.elapsedTime"] == app["elapsedTime"]
        assert rows(store, "SELECT app_id, queue FROM runs") == [(on_yarn.finished, app["queue"])]
        assert tags(store)["yarn.finalStatus"] == app["finalStatus"]
        metrics = dict(rows(store, "SELECT name, value FROM cluster"))
        assert metrics["activeNodes"] == 1 and set(metrics) <= set(on_yarn.yarn.metrics())

    def test_an_application_that_it_does_not_know(self, on_yarn: OnYarn, tmp_path: Path) -> None:
        store, logs = tmp_path / "runs.db", tmp_path / "logs"
        logs.mkdir()
        text = on_yarn.log.read_bytes().replace(on_yarn.finished.encode(), b"application_1000000000000_0001")
        (logs / "application_1000000000000_0001").write_bytes(text)
        happened = run(tmp_path, logs, [{"yarn": on_yarn.yarn.url}])
        assert kinds(happened)["stored"] == 1
        assert rows(store, "SELECT step, type FROM errors") == [("enrich", "unreachable")]


def test_without_services_nothing_changes(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    make_fleet(logs, 1)
    run(tmp_path, logs, [])
    crawled(tmp_path / "plain.db", logs)
    assert content(tmp_path / "runs.db") == content(tmp_path / "plain.db")
