"""What the web UI asks a running server to do: a prediction, a comparison, uploads, feedback."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import cramjam
import pytest

import conftest
from browser import AXE, LOGS, ROOT, Watched, launched, requires_browser

sys.path.insert(0, str(ROOT / "tests" / "serve"))
from servers.pyrometer import Server  # noqa: E402

pytestmark = [requires_browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "runs.db"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, store: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    uploads = tmp_path_factory.mktemp("uploads")
    for name in ("data_skew.zst", "data_skew_repaired.zst"):
        shutil.copy(LOGS / name, folder / name)
    with Server(folder, "--uploads", str(uploads), "--store", f"sqlite:{store}") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as running:
        yield running


@pytest.fixture
def watched(browser: Any, server: Server) -> Iterator[Watched]:
    page = Watched(browser, origin=f"http://{server.host}:{server.port}/")
    try:
        yield page
    finally:
        page.close()


def first_app(watched: Watched, name: str) -> str:
    """The route of an application's overview, found as a user finds it."""
    watched.open(watched.origin)
    watched.page.fill("input[type=search]", name)
    watched.until("document.querySelectorAll('main tbody tr').length > 0")
    link = next(one for one in watched.page.query_selector_all("a.row-link") if one.inner_text() == name)
    return link.get_attribute("href") or ""


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install in web/ without --omit=dev")
def test_pages_of_the_server_are_accessible(watched: Watched) -> None:
    overview = first_app(watched, "data_skew")
    base = overview.rsplit("/", 1)[0]
    watched.open(watched.origin)
    found = []
    for route in [f"{base}/whatif", f"{base}/cost", "#/rules/data-skew"]:
        watched.page.evaluate("route => { location.hash = route }", route)
        watched.settle()
        found += [f"{route}: {one}" for one in watched.violations()]
    assert not found, found


def test_a_slider_asks_the_simulator(watched: Watched) -> None:
    base = first_app(watched, "data_skew").rsplit("/", 1)[0]
    watched.open(f"{watched.origin}{base}/whatif")
    before = watched.page.inner_text("dl.figures")
    slider = watched.page.query_selector("input[type=range]")
    assert slider is not None
    slider.focus()
    for _ in range(3):
        watched.page.keyboard.press("ArrowRight")
    watched.until("location.hash.includes('executors=5')")
    watched.page.wait_for_timeout(400)
    watched.settle()
    watched.until(f"document.querySelector('dl.figures').innerText !== {before!r}")
    watched.check()


def test_two_runs_are_compared(watched: Watched) -> None:
    watched.open(f"{watched.origin}#/compare")
    for label, name in (("Before", "data_skew,"), ("After", "data_skew_repaired")):
        choice = watched.page.locator("label", has_text=label).locator("select")
        value = next(
            one.get_attribute("value")
            for one in choice.locator("option").element_handles()
            if one.inner_text().startswith(name)
        )
        choice.select_option(value)
    watched.settle()
    watched.until("document.querySelector('table.causes') !== null")
    assert "exactly" in watched.page.inner_text("main")
    watched.check()


def test_a_log_is_uploaded(watched: Watched) -> None:
    watched.open(f"{watched.origin}#/upload")
    watched.page.set_input_files("input[type=file] >> nth=0", str(LOGS / "driver_bound.zst"))
    watched.until("document.querySelector('.uploads a') !== null")
    watched.page.click(".uploads a")
    watched.settle()
    watched.until("document.querySelector('.app-title strong').innerText === 'driver_bound'")
    watched.check()


def rolling(folder: Path, name: str = "eventlog_v2_local-17", app: str = "local-17", parts: int = 3) -> Path:
    """A rolling log in parts, with the empty file of its state and checksums, as Spark leaves them."""
    lines = bytes(cramjam.zstd.decompress((LOGS / "healthy_rdd.zst").read_bytes()))
    lines = re.sub(rb"app-[0-9]+-[0-9]+", app.encode(), lines)
    rows = lines.splitlines(keepends=True)
    made = folder / name
    made.mkdir(parents=True)
    (made / f"appstatus_{app}").touch()
    step = len(rows) // parts + 1
    for i in range(parts):
        part = made / f"events_{i + 1}_{app}"
        part.write_bytes(b"".join(rows[i * step : (i + 1) * step]))
        (made / f".{part.name}.crc").write_bytes(b"crc")
    return made


def drop(watched: Watched, paths: List[Path]) -> None:
    """As a hand does: files and folders of this machine onto the page."""
    box = watched.page.locator(".drop").bounding_box()
    assert box is not None
    session = watched.context.new_cdp_session(watched.page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": box["x"] + 20, "y": box["y"] + 20, "data": data}
        session.send("Input.dispatchDragEvent", event)


def uploaded(watched: Watched) -> List[str]:
    watched.until("/^(\\d+) of \\1 done/.test(document.querySelector('main section:last-of-type [role=status]')?.innerText ?? '')")
    return watched.page.locator(".uploads li").all_inner_texts()


def test_folders_and_files_that_are_dropped_are_applications(watched: Watched, server: Server, tmp_path: Path) -> None:
    one = rolling(tmp_path / "logs", "eventlog_v2_local-17", "local-17")
    rolling(tmp_path / "logs" / "older", "eventlog_v2_local-18", "local-18", parts=1)
    shutil.copy(LOGS / "healthy_sql.zst", tmp_path / "single.zst")
    watched.open(f"{watched.origin}#/upload")
    drop(watched, [tmp_path / "logs", tmp_path / "single.zst"])
    watched.page.wait_for_selector(".uploads li")
    rows = sorted(row.splitlines()[0] for row in uploaded(watched))
    assert rows == ["eventlog_v2_local-17", "eventlog_v2_local-18", "single.zst"]
    links = [link.get_attribute("href") for link in watched.page.query_selector_all(".uploads a")]
    assert sum("local-17" in (link or "") for link in links) == 1 and len(links) == 3
    assert watched.page.locator(".uploads .warning").count() == 0
    report = json.loads(server.request("GET", "/pyrometer/v1/applications/local-17/-/report")[2])
    whole = subprocess.run(
        [str(conftest.binary_path()), "diagnose", str(one), "--format", "json", "--config", "none"], capture_output=True, check=True
    )
    assert report["totals"] == json.loads(whole.stdout)["totals"]
    assert server.request("DELETE", "/pyrometer/v1/uploads/local-17/-")[0] == 204
    watched.check()


def test_a_folder_is_chosen(watched: Watched, tmp_path: Path) -> None:
    folder = rolling(tmp_path, "eventlog_v2_local-19", "local-19")
    watched.open(f"{watched.origin}#/upload")
    watched.page.set_input_files("input[webkitdirectory]", str(folder))
    watched.page.wait_for_selector(".uploads li")
    assert len(uploaded(watched)) == 1
    assert "local-19" in (watched.page.get_attribute(".uploads a", "href") or "")
    if AXE.is_file():
        assert not watched.violations()
    watched.check()


def test_an_upload_is_cancelled(watched: Watched, tmp_path: Path) -> None:
    names = ["driver_bound.zst", "healthy_etl.zst", "healthy_udf.zst"]
    watched.page.route("**/uploads?name=driver_bound*", lambda route: None)  # stays on its way
    watched.open(f"{watched.origin}#/upload")
    watched.page.set_input_files("input[type=file] >> nth=0", [str(LOGS / name) for name in names])
    watched.page.wait_for_selector(".uploads progress")
    watched.page.locator(".uploads li", has_text="healthy_udf").get_by_role("button").click()  # one that waits
    watched.page.locator(".uploads li", has_text="driver_bound").get_by_role("button").click()
    rows = uploaded(watched)
    assert ["Cancelled." in row for row in rows] == [True, False, True]
    assert "is ready" in rows[1]


def test_refusals_are_told_in_plain_words(browser: Any, tmp_path: Path) -> None:
    logs, big, notes = tmp_path / "logs", tmp_path / "big.log", tmp_path / "notes.txt"
    logs.mkdir()
    shutil.copy(LOGS / "data_skew.zst", logs)
    big.write_bytes(b"x" * (2 << 20))
    notes.write_text("no event log\n", encoding="utf-8")
    options = ("--uploads", str(tmp_path / "up"), "--max-upload", "1M", "--uploads-count", "1")
    with Server(logs, *options) as running:
        watched = Watched(browser, origin=f"http://{running.host}:{running.port}/")
        try:
            watched.open(f"{watched.origin}#/upload")
            files = [str(path) for path in (big, notes, LOGS / "healthy_etl.zst", LOGS / "healthy_udf.zst")]
            watched.page.set_input_files("input[type=file] >> nth=0", files)
            rows = uploaded(watched)
            assert "The log has 2 MiB; this server accepts at most 1 MiB per upload" in rows[0]
            assert "Cannot read an event log from the upload" in rows[1]
            assert "is ready" in rows[2]
            assert "The server has no room for the log" in rows[3]
        finally:
            watched.close()


def test_what_is_no_log_is_said_to_be_none(watched: Watched, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("no event log\n", encoding="utf-8")
    watched.open(f"{watched.origin}#/upload")
    watched.page.set_input_files("input[type=file] >> nth=0", str(notes))
    watched.until("document.querySelector('.uploads .warning') !== null")


def kept(store: Path) -> List[Tuple[str, str, str]]:
    with sqlite3.connect(store) as database:
        return database.execute("SELECT verdict, rule, note FROM feedback WHERE verdict = 'missed' ORDER BY note").fetchall()


def test_a_missed_problem_is_reported_by_keyboard(watched: Watched, store: Path) -> None:
    overview = first_app(watched, "data_skew")
    page = watched.page
    watched.open(f"{watched.origin}{overview.replace('overview', 'stage/4/0')}")
    opener = page.get_by_role("button", name="Report a missed problem")
    opener.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    watched.until("document.querySelectorAll('dialog option').length > 10")
    assert page.input_value("dialog textarea") == "Stage 4: "
    if AXE.is_file():
        assert not watched.violations()
    report = page.get_by_role("button", name="Report", exact=True)
    report.focus()
    page.keyboard.press("Enter")  # nothing was said yet
    page.wait_for_selector("dialog [role=alert]")
    watched.until("document.activeElement.tagName === 'TEXTAREA'")
    page.keyboard.type("the nightly backup")
    report.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog [role=status]")
    watched.until("document.activeElement.innerText === 'Done'")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]", state="detached")
    watched.until("document.activeElement.innerText === 'Report a missed problem'")
    opener.click()
    page.wait_for_selector("dialog[open]")
    page.select_option("dialog select", "disk-spill")
    page.fill("dialog textarea", "")
    page.keyboard.press("Tab")
    report.click()
    page.wait_for_selector("dialog [role=status]")
    watched.check()
    assert kept(store) == [("missed", "disk-spill", ""), ("missed", "", "Stage 4: the nightly backup")]


def test_what_the_server_does_not_keep_is_said(watched: Watched) -> None:
    overview = first_app(watched, "data_skew")
    page = watched.page
    page.route("**/feedback", lambda route: route.fulfill(status=500, json={"error": {"code": "x", "message": "disk full"}}))
    watched.open(f"{watched.origin}{overview}")
    page.get_by_role("button", name="Report a missed problem").click()
    page.fill("dialog textarea", "something")
    page.get_by_role("button", name="Report", exact=True).click()
    assert "The report was not saved: disk full" in page.wait_for_selector("dialog [role=alert]").inner_text()
    assert page.input_value("dialog textarea") == "something"


def test_whoever_may_only_read_is_offered_nothing_else(browser: Any, tmp_path: Path) -> None:
    logs, tokens = tmp_path / "logs", tmp_path / "tokens"
    logs.mkdir()
    shutil.copy(LOGS / "data_skew.zst", logs)
    given = {}
    for role in ("view", "upload"):
        command = [str(conftest.binary_path()), "serve", "--add-token", role, "--role", role, "--tokens", str(tokens)]
        given[role] = subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    store = f"sqlite:{tmp_path / 'runs.db'}"
    with Server(logs, "--tokens", str(tokens), "--uploads", str(tmp_path / "up"), "--store", store) as running:
        for role, offered in (("view", 0), ("upload", 1)):
            watched = Watched(browser, origin=f"http://{running.host}:{running.port}/")
            try:
                watched.context.set_extra_http_headers({"Authorization": f"Bearer {given[role]}"})
                watched.open(watched.origin + first_app(watched, "data_skew"))
                watched.page.wait_for_selector("article.finding")
                watched.page.wait_for_timeout(200)
                assert watched.page.get_by_role("button", name="Report a missed problem").count() == offered
                assert watched.page.get_by_role("button", name="False alarm").count() == offered
                assert watched.page.locator("nav.top-links").get_by_role("link", name="Upload").count() == offered
                watched.check()
            finally:
                watched.close()
