"""Pages about the files next to an event log: errors and messages of text logs, flame graphs, marks of the timeline."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Iterator, List

import pytest

import conftest
from browser import LOGS, Watched, launched, requires_browser
from servers.pyrometer import Server

pytestmark = [requires_browser, pytest.mark.slow]
ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
APP = "app-20261123194447-0000"
PAUSES = 20


def pauses() -> str:
    """A log of a collector whose times lie in the run, which began at 19:44:39."""
    return "".join(
        f"[2026-11-23T19:45:{second:02}.000+0000][{second}.0s][info][gc] GC({second}) Pause Young (Normal) 24M->4M(256M) 200.5ms\n"
        for second in range(PAUSES)
    )


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(ARTEFACTS / "logs" / "iso", folder)
    shutil.copy(ARTEFACTS / "profiles" / "async.jfr.gz", folder)
    (folder / f"{APP}-1.gc").write_text(pauses(), "ascii")
    shutil.copy(LOGS / "data_skew.zst", folder)
    with Server(folder) as server:
        yield f"http://{server.host}:{server.port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(params=["light", "dark"])
def watched(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    page = Watched(browser, theme=request.param, origin=address)
    try:
        yield page
        page.check()
        assert page.violations() == []
    finally:
        page.close()


def tabs(watched: Watched) -> Any:
    return watched.page.locator("nav.tabs a").all_inner_texts()


def test_tabs_are_those_of_the_files(watched: Watched, address: str) -> None:
    watched.open(f"{address}/#/app/{APP}/-/overview")
    watched.until("document.querySelector('nav.tabs').innerText.includes('Logs')")
    assert "Flame graph" not in tabs(watched)  # the profile names no application, and there are two
    watched.open(f"{address}/#/")
    watched.page.get_by_role("link", name="data_skew", exact=True).click()
    watched.settle()
    assert "Logs" not in tabs(watched)


def test_errors_open_and_are_filtered(watched: Watched, address: str) -> None:
    watched.open(f"{address}/#/app/{APP}/-/logs")
    page = watched.page
    errors = page.locator("details.log-error")
    all_of_them = errors.count()
    assert all_of_them > 10
    times = [text for text in page.locator(".log-time").all_inner_texts() if text != "-"]
    assert times == sorted(times, reverse=True)
    missing = page.locator("details.log-error", has_text="com.acme.Gone").first
    missing.locator("summary").click()
    assert "ClassNotFoundException" in missing.locator("pre").inner_text()
    assert "missing-class" in missing.inner_text()
    page.get_by_label("Process").select_option("1")
    watched.until(f"document.querySelectorAll('details.log-error').length < {all_of_them}")
    assert "executor=1" in page.url
    page.get_by_role("searchbox").fill("OutOfMemory")
    watched.until("location.hash.includes('grep=OutOfMemory')")
    watched.until("[...document.querySelectorAll('.log-headline')].every(one => one.innerText.includes('OutOfMemory'))")
    assert page.get_by_role("region", name="Messages and blocks of lines that take most of the logs").is_visible()


def test_the_timeline_marks_errors_and_pauses(watched: Watched, address: str) -> None:
    watched.open(f"{address}/#/app/{APP}/-/timeline")
    watched.until("document.body.innerText.includes('Errors and GC pauses in view')")
    watched.until("!document.body.innerText.includes('reading the logs for errors')")
    note = watched.page.locator("section", has_text="Errors and GC pauses in view").last.locator(".note").first.inner_text()
    assert note.endswith(f"{PAUSES} pauses") and int(note.split()[0]) > 10, note


def test_profiles_have_series_and_methods(browser: Any, tmp_path: Path) -> None:
    shutil.copy(ARTEFACTS / "logs" / "iso" / "events.zst", tmp_path)
    shutil.copy(ARTEFACTS / "profiles" / "jdk17.jfr.gz", tmp_path)
    (tmp_path / f"{APP}-1.gc").write_text(pauses(), "ascii")
    with Server(tmp_path) as server:
        watched = Watched(browser, origin=f"http://{server.host}:{server.port}")
        watched.open(f"{watched.origin}/#/app/{APP}/-/overview")
        watched.until("document.querySelector('nav.tabs').innerText.includes('Profile')")
        assert "Logs" not in tabs(watched)
        watched.page.keyboard.press("g")
        watched.page.keyboard.press("h")
        watched.settle()
        page = watched.page
        text = page.inner_text("main")
        assert f"{PAUSES} GC pauses" in text and "heap.used" in text and "ProfiledWork" in text and "byte[]" in text
        assert page.locator("section", has_text="executor 1").locator("canvas").count() == 1
        watched.check()
        assert watched.violations() == []
        watched.close()


@pytest.mark.parametrize("width", [1360, 390])
def test_flame_graphs_are_shown_and_chosen(browser: Any, tmp_path: Path, width: int) -> None:
    shutil.copy(ARTEFACTS / "logs" / "iso" / "events.zst", tmp_path)
    shutil.copy(ARTEFACTS / "profiles" / "async.jfr.gz", tmp_path)
    with Server(tmp_path) as server:
        watched = Watched(browser, origin=f"http://{server.host}:{server.port}")
        page = watched.page
        page.set_viewport_size({"width": width, "height": 900})
        asked: List[str] = []
        page.on("request", lambda request: asked.append(request.url) if "/flame?" in request.url else None)
        watched.open(f"{watched.origin}/#/app/{APP}/-/flame")
        graph = page.frame_locator("iframe.flame")
        graph.locator("g.f").first.wait_for()
        assert page.locator("iframe.flame").is_visible()
        title = graph.locator("g.f title").first.text_content()
        assert "samples" in (title or "")
        options = [one.get_attribute("value") for one in page.get_by_label("Samples").locator("option").all()]
        table = (conftest.ROOT / "src" / "model" / "tracks" / "sample_events.def").read_text(encoding="utf-8")
        assert options == ["", *re.findall(r'^PYRO_SAMPLE_EVENT\(\w+, "(\w+)"', table, re.M)]
        page.get_by_label("Samples").select_option("alloc")
        watched.until("document.querySelector('iframe.flame')?.src.includes('event=alloc')")
        page.frame_locator("iframe.flame").locator("text", has_text="bytes").first.wait_for()
        watched.settle()
        assert len(asked) == 2 == len(set(asked)), asked  # each graph once
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        watched.check()
        assert watched.violations() == []
        page.get_by_label("Task id").fill("999999")
        page.get_by_label("Task id").blur()
        page.locator(".problem", has_text="No flame graph").wait_for()
        assert json.dumps(page.locator(".problem").inner_text()).count("no sample") == 1
        watched.close()
