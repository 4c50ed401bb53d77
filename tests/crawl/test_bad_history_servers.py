"""History Servers that have more than a page, or answer late, wrongly or not at all."""

from __future__ import annotations

import calendar
import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

import conftest
import pytest
import schemas
from fleet import TEMPLATE, change, content, crawl, crawled, events, kinds, make_log, rows
from site_of_tests import Asked, ChosenSite, Page, Reply, as_json

LIST = "/api/v1/applications"
HOUR = 3_600_000
HOSTS = "SELECT json_extract(json, '$.history_host') FROM raw ORDER BY app_id"
START = 1_767_225_600_000  # 2026-01-01


def application(number: int, end_ms: int, completed: bool = True, updated_ms: int = 0, **more: Any) -> Dict[str, Any]:
    attempt = {
        "endTimeEpoch": end_ms if completed else -1,
        "lastUpdatedEpoch": updated_ms or end_ms,
        "startTimeEpoch": end_ms - 1000,
        "completed": completed,
    }
    return {"id": f"app-20260101000000-{number:04d}", "name": "nightly", "attempts": [attempt], **more}


def milliseconds(date: str) -> int:
    seconds, fraction = date.replace("GMT", "").split(".")
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 1000 + int(fraction)


def history(applications: List[Dict[str, Any]]) -> Page:
    """The list as Spark gives it: by status and end, the latest first, as many as are asked for."""

    def page(asked: Asked) -> Reply:
        running = asked.query["status"] == "running"
        found = [app for app in applications if app["attempts"][0]["completed"] != running]
        if "minEndDate" in asked.query:
            found = [app for app in found if app["attempts"][0]["endTimeEpoch"] >= milliseconds(asked.query["minEndDate"])]
        if "maxEndDate" in asked.query:
            found = [app for app in found if app["attempts"][0]["endTimeEpoch"] <= milliseconds(asked.query["maxEndDate"])]
        found.sort(key=lambda app: -app["attempts"][0]["endTimeEpoch"])
        return as_json(found[: int(asked.query["limit"])])

    return page


@pytest.mark.parametrize("step_ms", [1000, 0], ids=["one after the other", "all in one millisecond"])
def test_pages(step_ms: int, tmp_path: Path) -> None:
    """Everything is listed, though nothing can be fetched; ten failures in a row end the pass."""
    store, count = tmp_path / "runs.db", 2300
    with ChosenSite() as site:
        site.pages[LIST] = history([application(number, START + number * step_ms) for number in range(count)])
        happened = crawled(store, site.url, exit=3)
        lists = [asked for asked in site.asked if asked.path == LIST and asked.query["status"] == "completed"]
    assert [asked.query["limit"] for asked in lists] == ["1000", "1000", "1000" if step_ms else "10000"]
    assert rows(store, "SELECT count(*), count(DISTINCT end_ms) FROM work") == [(count, count if step_ms else 1)]
    assert [event["count"] for event in happened if event["event"] == "listed"] == [count]
    assert kinds(happened)["unreachable"] == 1
    assert {(event["step"], event.get("lasting")) for event in happened if event["event"] == "failed"} == {("fetch", None)}
    assert rows(store, "SELECT DISTINCT state FROM work ORDER BY 1") == [(0,), (3,)]


@pytest.mark.parametrize("end_ms", [START, -1], ids=["pages that alternate", "runs without an end"])
def test_pages_of_a_server_that_does_not_look_at_the_time(end_ms: int, tmp_path: Path) -> None:
    """It gives as many applications as are asked for, of which none is wanted. The list comes to an end."""
    store, pages = tmp_path / "runs.db", [0]

    def full(asked: Asked) -> Reply:
        if asked.query["status"] == "running":
            return as_json([])
        pages[0] += 1
        later = pages[0] % 2 * 5000 if end_ms > 0 else 0
        return as_json([application(number, end_ms + later) for number in range(1000)])

    with ChosenSite() as site:
        site.pages[LIST] = full
        happened = crawled(store, site.url, "--min-end-date", "2026-02-01T00:00:00")
        lists = [asked.query for asked in site.asked if asked.path == LIST and asked.query["status"] == "completed"]
    assert [query["limit"] for query in lists][-1] == "10000" and len(lists) <= 4
    assert all("-" not in query.get("maxEndDate", "2026-01-01T").split("T")[1] for query in lists)
    assert kinds(happened) == {"listed": 1, "passed": 1}


def zipped(folder: Path, number: int, log: Path = TEMPLATE) -> Reply:
    made = make_log(folder, number, path=log)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(made.path, made.path.name)
    return Reply(packed.getvalue(), 200, {"Content-Type": "application/octet-stream"})


def put(site: ChosenSite, app: Dict[str, Any], log: Page) -> None:
    site.pages[f"{LIST}/{app['id']}"] = as_json(app)
    site.pages[f"{LIST}/{app['id']}/logs"] = log


def test_only_news_is_asked_for(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    now = int(time.time() * 1000)
    apps = [application(number, now - number * HOUR) for number in (1, 2)]
    stale = application(3, 0, completed=False, updated_ms=now - 25 * HOUR)
    fresh = application(4, 0, completed=False, updated_ms=now - 23 * HOUR)
    with ChosenSite() as site:
        for app in (*apps, stale, fresh):
            put(site, app, zipped(tmp_path, int(app["id"][-4:])))
        site.pages[LIST] = history([*apps, stale, fresh])
        assert kinds(crawled(store, site.url))["stored"] == 3
        # The same server, as copied from a browser.
        done = crawl(f"{site.url}/api/v1/applications?limit=1#top", "--store", f"sqlite:{store}", "--once", "--log-format", "json")
        assert kinds(events(done)) == {"listed": 1, "passed": 1}
    assert sorted(row[0][-4:] for row in rows(store, "SELECT app_id FROM runs")) == ["0001", "0002", "0003"]


def test_the_time_of_the_last_update_is_the_server_s(tmp_path: Path) -> None:
    """Of the attempt that was fetched, and not that of the download; where the server says none, that."""
    store = tmp_path / "runs.db"
    updates = "SELECT json_extract(json, '$.attempt.lastUpdatedEpoch') FROM raw ORDER BY app_id"
    said, silent = application(1, START, updated_ms=START + 12345), application(2, START + 1)
    began = int(time.time() * 1000) - 1000
    with ChosenSite() as site:
        for number, app in enumerate((said, silent), start=1):
            put(site, app, zipped(tmp_path, number))
        site.pages[LIST] = history([said, silent])
        listed = {name: value for name, value in silent["attempts"][0].items() if name != "lastUpdatedEpoch"}
        site.pages[f"{LIST}/{silent['id']}"] = as_json({**silent, "attempts": [{**listed, "lastUpdatedEpoch": None}]})
        crawled(store, site.url)
        (first,), (second,) = rows(store, updates)
        assert first == START + 12345 and second >= began
        assert kinds(crawled(store, site.url, "--recompute"))["stored"] == 2
    assert rows(store, updates)[0] == (START + 12345,)


def test_busy_servers_are_asked_again(tmp_path: Path) -> None:
    store, app = tmp_path / "runs.db", application(1, START)
    with ChosenSite() as site:
        first = {"list": True, "log": True}
        log, whole = zipped(tmp_path, 1), history([app])

        def busy_list(asked: Asked) -> Reply:
            if first.pop("list", False):
                return Reply(b"busy", 503, {"Retry-After": "0"})
            return whole(asked)  # type: ignore[operator]

        def busy_log(asked: Asked) -> Reply:
            return Reply(b"slow down", 429) if first.pop("log", False) else log

        site.pages[LIST] = busy_list
        put(site, app, busy_log)
        assert kinds(crawled(store, site.url)) == {"listed": 1, "stored": 1, "passed": 1}
    assert rows(store, "SELECT count(*) FROM errors") == [(0,)]


@pytest.mark.parametrize(
    "page",
    [
        Reply(b"<html>login</html>", 200, {"Content-Type": "text/html"}),
        Reply(b""),
        Reply(b"[{"),
        Reply(b'{"error": "no"}'),
        Reply(b'[{"id": 7}]'),
        Reply(b'[{"id": "a", "attempts": [{"completed": "yes"}]}]'),
        Reply(b'[{"id": "a", "attempts": [3]}]'),
        Reply(b"[" * 5000),
        Reply(b"[1, 2, 3]"),
        Reply(b"no", 500),
        Reply(b"no", 403),
        Reply(b"[", 200, {"Content-Length": "1000"}),
        Reply(b"[]", 302, {"Location": "file:///etc/passwd"}),
    ],
)
def test_lists_that_are_none(page: Reply, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    with ChosenSite() as site:
        site.pages[LIST] = page
        happened = crawled(store, site.url, "--timeout", "2", exit=3)
        (event,) = [event for event in happened if event["event"] == "unreachable"]
        assert event["source"] == site.url and event["message"]
    assert rows(store, "SELECT count(*) FROM work") == [(0,)]


def test_a_server_that_says_nothing(tmp_path: Path) -> None:
    with ChosenSite() as site:

        def silent(asked: Asked) -> Reply:
            time.sleep(4)
            return as_json([])

        site.pages[LIST] = silent
        crawled(tmp_path / "runs.db", site.url, "--timeout", "1", exit=3)


@pytest.mark.parametrize("log", [Reply(b"PK\x03\x04 broken"), Reply(b"no", 500), Reply(b"\0" * 100)])
def test_logs_that_are_none(log: Reply, tmp_path: Path) -> None:
    """A log that cannot be fetched does not keep the others."""
    store = tmp_path / "runs.db"
    good, bad = application(1, START), application(2, START + 1)
    with ChosenSite() as site:
        put(site, good, zipped(tmp_path, 1))
        put(site, bad, log)
        site.pages[LIST] = history([good, bad])
        happened = crawled(store, site.url)
    assert kinds(happened)["stored"] == 1 and kinds(happened)["failed"] == 1
    assert rows(store, "SELECT app_id, tries FROM errors") == [(f"{bad['id']}/", 1)]


NO_LOG = b'{"Event":"SomethingElse"}\npassword=hunter2secret\n'
LARGE = b"<html>" + b"no such page " * 100_000


def packed(text: bytes) -> Reply:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eventlog", text)
    return Reply(made.getvalue(), 200, {"Content-Type": "application/octet-stream"})


@pytest.mark.parametrize(
    ("page", "log", "raw"),
    [
        (None, packed(NO_LOG), "SomethingElse"),
        (None, Reply(NO_LOG), "SomethingElse"),
        (None, Reply(b"gone for ever", 410), "gone for ever"),
        (None, Reply(LARGE, 500), LARGE[: 2**20].decode()),
        (None, Reply(b"", 500), None),
        (None, Reply(b"\0" * 100), None),
        (Reply(b"the disk is full", 500), None, "the disk is full"),
        (Reply(LARGE, 200, {"Content-Type": "text/html"}), None, LARGE[: 2**20].decode()),
    ],
    ids=["archive", "file", "refusal", "large refusal", "nothing", "bytes", "broken server", "large page"],
)
def test_what_could_not_be_read_is_kept(page: Optional[Reply], log: Optional[Reply], raw: Optional[str], tmp_path: Path) -> None:
    """With the last try, as that of a log in a folder."""
    store, app = tmp_path / "runs.db", application(1, START)
    config = tmp_path / "crawl.yaml"
    with ChosenSite() as site:
        config.write_text(f"sources:\n  - url: {site.url}\n    remote: log\n")
        site.pages[f"{LIST}/{app['id']}"] = page or as_json(app)
        if log:
            site.pages[f"{LIST}/{app['id']}/logs"] = log
        site.pages[LIST] = history([app])
        assert kinds(crawled(store, "--config", config))["failed"] == 1
        change(store, "UPDATE work SET state = 3, tries = 4, next_ms = 0")
        assert kinds(crawled(store, "--config", config))["failed"] == 1
    (first, last) = rows(store, "SELECT raw, message FROM errors ORDER BY tries")
    kept = last[0]
    assert first[0] is None or "SomethingElse" in first[0], "only a log that is none is not tried again"
    if raw is None:
        assert kept is None
    else:
        assert kept is not None and (raw in kept if len(raw) < 100 else raw == kept), last[1]
        assert "hunter2secret" not in kept


def test_names_and_passwords_stay_out_of_the_store(tmp_path: Path) -> None:
    store, app = tmp_path / "runs.db", application(1, START)
    with ChosenSite() as site:
        put(site, app, zipped(tmp_path, 1))
        site.pages[LIST] = history([app])
        done = crawl(site.url.replace("//", "//me:hidden@"), "--store", f"sqlite:{store}", "--once")
        assert done.returncode == 0 and all("Authorization" in asked.headers for asked in site.asked)
    assert "hidden" not in done.stdout + done.stderr and b"hidden" not in store.read_bytes()
    assert rows(store, "SELECT source FROM runs") == [(site.url,)]


@pytest.mark.parametrize("answer", [{"spark": "3.5.6"}, {"spark": "4.0.1"}, None, ["3.5.6"], {"spark": None}])
def test_the_version_of_the_server_counts(answer: Any, tmp_path: Path) -> None:
    """A log of Spark 4 has columns that a server of Spark 3 does not know."""
    store, app = tmp_path / "runs.db", application(1, START)
    with ChosenSite() as site:
        put(site, app, zipped(tmp_path, 1, conftest.ROOT / "tests" / "logs" / "versions" / "spark-4.3.0-connect"))
        site.pages[LIST] = history([app])
        if answer:
            site.pages["/api/v1/version"] = as_json(answer)
        assert kinds(crawled(store, site.url + "/")) == {"listed": 1, "stored": 1, "passed": 1}
        assert len([asked for asked in site.asked if asked.path == "/api/v1/version"]) == 1
    names = rows(store, "SELECT count(*) FROM aggregates WHERE name LIKE '%.ConcurrentGCCount%'")
    assert (names == [(0,)]) == (answer == {"spark": "3.5.6"})
    assert rows(store, HOSTS) == [("127.0.0.1",)]


NO_MORE = {"allexecutors": [], "jobs": [], "stages": [], "sql": [], "storage/rdd": []}


def put_answers(site: ChosenSite, app: Dict[str, Any], **pages: Any) -> None:
    """What a server says of a run whose log it does not give."""
    attempt = {**app["attempts"][0], "startTime": "2026-01-01T00:00:00.000GMT", "endTime": "2026-01-01T00:01:00.000GMT"}
    site.pages[f"{LIST}/{app['id']}"] = as_json({**app, "attempts": [attempt]})
    for name, page in {**NO_MORE, **pages}.items():
        site.pages[f"{LIST}/{app['id']}/{name}"] = page if isinstance(page, Reply) else as_json(page)


STRANGE_EXECUTORS = [
    None,
    {"id": 7, "totalCores": 4},
    {"id": "driver", "totalCores": "x", "maxMemory": 2**70, "addTime": "never", "peakMemoryMetrics": [1], "memoryMetrics": 3},
    {"id": "1", "totalCores": 2, "maxMemory": 1024, "totalDuration": 5, "peakMemoryMetrics": {"JVMHeapMemory": 1.5}},
    {"id": "1", "totalCores": 3, "addTime": "2026-01-01T00:00:00.000GMT", "excludedInStages": {"a": 1}},
    {"id": "2", "attributes": {"TOKEN": "topsecret", "n": 1}, "resources": {"gpu": {"addresses": [0, "1"]}, "fpga": None}},
    {"id": "3", "totalInputBytes": -(2**63), "excludedInStages": [1, "2", 2**80, None, 3], "isActive": "true"},
]
STRANGE_STAGES = [
    None,
    {"stageId": "0", "status": "SKIPPED"},
    {"stageId": 0, "status": "GONE"},
    {"stageId": 2**40, "attemptId": 0, "status": "SKIPPED"},
    {"stageId": 1, "attemptId": 0, "status": "SKIPPED"},
    {"stageId": 1, "attemptId": 0, "status": "SKIPPED", "name": "again"},
    {
        "stageId": 2,
        "attemptId": 0,
        "status": "SKIPPED",
        "numTasks": 2**40,
        "inputBytes": "5",
        "outputBytes": 2**62,
        "rddIds": {"a": 1},
        "accumulatorUpdates": [{"id": 1}, None, {"name": "password", "value": "topsecret"}, {"name": 5}],
        "killedTasksSummary": {"another attempt succeeded": 1, "x": "y", "z": None},
        "peakExecutorMetrics": {},
        "submissionTime": "2026-99-01T00:00:00.000GMT",
        "name": "\u0000 \ud800 password=topsecret",
        "shuffleReadBytes": 7,
    },
]
STRANGE_ENVIRONMENT = {
    "runtime": [],
    "sparkProperties": [
        ["spark.redaction.regex", "(?i)hideme"], ["spark.hideme", "topsecret"], ["spark.some.password", "topsecret"],
        ["one"], [1, 2], [], ["three", "of", "them"],
    ],
    "metricsProperties": {"a": "b"},
    "resourceProfiles": [None, {"id": "x", "executorResources": {"cores": {"amount": 1e99}, "gpu": 3}, "taskResources": []}],
}


def test_answers_without_sense(tmp_path: Path) -> None:
    """They are kept for what they are worth: what is not a number is not known, and what has no id is not a row."""
    store, app = tmp_path / "runs.db", application(1, START)
    with ChosenSite() as site:
        put_answers(site, app, allexecutors=STRANGE_EXECUTORS, stages=STRANGE_STAGES)
        site.pages[LIST] = history([app])
        # In an object, an answer has no value but an object.
        site.pages[f"{LIST}/{app['id']}/environment"] = as_json(STRANGE_ENVIRONMENT)
        happened = crawled(store, site.url)
    assert kinds(happened) == {"listed": 1, "stored": 1, "passed": 1}, happened
    ((text,),) = rows(store, "SELECT json FROM raw")
    document = json.loads(text)
    schemas.check(document, "pyrometer.history_document-1.json")
    assert [executor["id"] for executor in document["allexecutors"]] == ["1", "2", "3", "driver"]
    first, _, third, driver = document["allexecutors"]
    assert (first["totalCores"], first["maxMemory"], first["totalDuration"], first["peakMemoryMetrics"]) == (2, 1024, 5, {})
    assert third["excludedInStages"] == [1, 3] and not third["isActive"]
    assert (driver["totalCores"], driver["maxMemory"]) == (0, 0) and "peakMemoryMetrics" not in driver
    assert [stage["stageId"] for stage in document["stages"]] == [2, 1]
    assert (document["stages"][0]["inputBytes"], document["stages"][0]["outputBytes"]) == (0, 2**62)
    assert document["stages"][0]["killedTasksSummary"] == {"another attempt succeeded": 1}
    assert document["stages"][0]["shuffleReadBytes"] == 7
    assert set(document["sparkProperties"]) == {"spark.redaction.regex", "spark.hideme", "spark.some.password", "three"}
    assert b"topsecret" not in store.read_bytes()
    numbers = dict(rows(store, "SELECT name, value FROM aggregates"))
    assert numbers["executors.elements_count"] == 3 and numbers["stages.elements_count"] == 2
    assert numbers["executors.totalCores.sum"] == 2 and numbers["stages.numTasks.max"] == 2**40
    # Servers that do not tell a number do not tell that it is 0.
    assert not [name for name in numbers if "totalGCTime" in name or "shuffleWriteBytes" in name or "JVMHeapMemory" in name]
    assert numbers["run.stages"] == 0


@pytest.mark.parametrize(
    "page, said",
    [
        ({"allexecutors": [3]}, "allexecutors"),
        ({"allexecutors": {"id": "1"}}, "allexecutors"),
        ({"allexecutors": Reply(b'[{"id":"1"')}, "allexecutors"),
        ({"allexecutors": Reply(b'[{"id":"1","peakMemoryMetrics":{"a":}}]')}, "allexecutors"),
        ({"allexecutors": [{"id": str(number)} for number in range(200_001)]}, "more rows"),
        ({"stages": Reply(b'[{"stageId":1,"attemptId":0,')}, "stages"),
        ({"stages": Reply(b"[" * 5000)}, "stages"),
        ({"stages": Reply(b'[{"stageId":1,"status":"SKIPPED","rddIds":[' + b"[" * 2000 + b"]}]")}, "stages"),
        ({"environment": Reply(b'{"sparkProperties":[["a"')}, "environment"),
        ({"environment": []}, "environment"),
    ],
)
def test_answers_that_are_none(page: Dict[str, Any], said: str, tmp_path: Path) -> None:
    """A run of which nothing can be believed is left out, and does not keep the others."""
    store, good, bad = tmp_path / "runs.db", application(1, START), application(2, START + 1)
    with ChosenSite() as site:
        put_answers(site, good)
        put_answers(site, bad, **page)
        site.pages[LIST] = history([good, bad])
        happened = crawled(store, site.url)
    assert kinds(happened)["stored"] == 1 and kinds(happened)["failed"] == 1
    assert [said in event["message"] for event in happened if event["event"] == "failed"] == [True]
    assert rows(store, "SELECT app_id FROM raw") == [(good["id"],)]


def with_password(page: Page) -> Page:
    def answer(asked: Asked) -> Reply:
        if "Authorization" not in asked.headers:
            return Reply(b"who are you?", 401)
        return page(asked) if callable(page) else page

    return answer


def test_recompute_of_a_server_with_a_password(tmp_path: Path) -> None:
    """Runs are read again as they were read: by their source, not by an address without a password."""
    store, app, others = tmp_path / "runs.db", application(1, START), tmp_path / "others"
    others.mkdir()
    make_log(others, 2)

    def kept() -> Any:
        return content(store)["aggregates"], content(store)["runs"], rows(store, HOSTS)

    with ChosenSite() as site:
        put(site, app, zipped(tmp_path, 1, conftest.ROOT / "tests" / "logs" / "versions" / "spark-4.3.0-connect"))
        site.pages[LIST] = history([app])
        site.pages["/api/v1/version"] = as_json({"spark": "3.5.6"})
        for path, page in list(site.pages.items()):
            site.pages[path] = with_password(page)
        url = site.url.replace("//", "//me:hidden@")
        crawled(store, url, others)
        before = kept()
        change(store, "DELETE FROM aggregate")
        change(store, "DELETE FROM run_raw")
        happened = crawled(store, url, "--recompute")
        assert kinds(happened) == {"listed": 1, "stored": 2, "passed": 1}
        assert kept() == before
    # The server has ended; its run stays, without an error for each one.
    happened = crawled(store, url, "--recompute", exit=3)
    assert kinds(happened) == {"unreachable": 1, "stored": 1, "passed": 1}
    assert kept() == before


def test_strange_ids(tmp_path: Path) -> None:
    """An id is data: it cannot lead to another page of the server, nor be mistaken for another run."""
    store = tmp_path / "runs.db"
    app = {**application(1, START), "id": "../../a b/\u00e9?x=1#y"}
    with ChosenSite() as site:
        site.pages[LIST] = history([app])
        crawled(store, site.url)
        asked = {one.path for one in site.asked}
    assert asked > {LIST} and all(path in (LIST, "/api/v1/version") or path.startswith(f"{LIST}/..%2F..%2Fa%20b%2F") for path in asked)
    assert rows(store, "SELECT count(*) FROM work") == [(1,)]
