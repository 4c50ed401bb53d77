"""What the web UI asks a running server to do: a prediction, a comparison, an upload."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

from browser import AXE, LOGS, ROOT, Watched, launched, requires_browser

sys.path.insert(0, str(ROOT / "tests" / "serve"))
from server import Server  # noqa: E402

pytestmark = [requires_browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    uploads = tmp_path_factory.mktemp("uploads")
    store = tmp_path_factory.mktemp("store") / "runs.db"
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
    watched.page.set_input_files("input[type=file]", str(LOGS / "driver_bound.zst"))
    watched.until("document.querySelector('.uploads a') !== null")
    watched.page.click(".uploads a")
    watched.settle()
    watched.until("document.querySelector('.app-title strong').innerText === 'driver_bound'")
    watched.check()


def test_what_is_no_log_is_said_to_be_none(watched: Watched, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("no event log\n", encoding="utf-8")
    watched.open(f"{watched.origin}#/upload")
    watched.page.set_input_files("input[type=file]", str(notes))
    watched.until("document.querySelector('.uploads .warning') !== null")
