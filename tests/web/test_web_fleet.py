"""The Fleet pages in a real browser: every view with its pictures, table and questions, filters, and both themes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

from browser import ROOT, Watched, launched, requires_browser
from servers.pyrometer import Server

sys.path.insert(0, str(ROOT / "tests" / "fleet"))

import repeated_runs  # noqa: E402
from fleet_views import VIEWS  # noqa: E402

pytestmark = [requires_browser, pytest.mark.slow]

APP = "data_skew"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("fleet") / "fleet.db"
    repeated_runs.build(path)
    with Server(Path(f"sqlite:{path}"), "--config", "none") as running:
        yield running


def watched(browser: Any, server: Server, theme: str = "light") -> Watched:
    return Watched(browser, theme=theme, origin=f"http://{server.host}:{server.port}/")


def test_every_view_has_pictures_a_table_and_its_questions(browser: Any, server: Server) -> None:
    page = watched(browser, server)
    try:
        for view in VIEWS:
            if view == "compare":
                continue  # it needs an application
            page.open(f"{page.origin}#/fleet/{view}")
            panel = page.page.locator("section.fleet-view")
            assert panel.locator("figure.fleet-picture").count() >= 1, view
            assert panel.locator("details.fleet-table table tbody tr").count() >= 1, view
            panel.locator("details.fleet-query summary").click()
            assert '{"from":' in panel.locator("details.fleet-query pre").inner_text(), view
            page.check()
    finally:
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("route", ["fleet", f"fleet/application?app={APP}", f"fleet/compare?app={APP}&by=date", "fleet/usage?by=application", "fleet/allocation"])
def test_pages_are_accessible(browser: Any, server: Server, theme: str, route: str) -> None:
    page = watched(browser, server, theme)
    try:
        page.open(f"{page.origin}#/{route}")
        assert page.violations() == []
        page.check()
    finally:
        page.close()


def test_from_the_overview_to_an_application_and_its_last_change(browser: Any, server: Server) -> None:
    page = watched(browser, server)
    try:
        page.open(page.origin)
        page.page.keyboard.press("g")
        page.page.keyboard.press("v")
        page.settle()
        for title in ("Usage over time", "Waste", "Findings", "Problems", "Applications"):
            assert page.page.get_by_role("heading", name=title, exact=True).count() == 1
        page.page.get_by_role("link", name=APP, exact=True).last.click()
        page.until("location.hash.includes('fleet/application')")
        page.settle()
        page.until("document.querySelectorAll('section.fleet-view figure').length >= 3")
        text = page.page.inner_text("main")
        assert "version 1 -> 2" in text and "lasting changes: 1" in text
        page.page.get_by_role("link", name="Compare before and after").click()
        page.until("location.hash.includes('fleet/compare')")
        page.settle()
        page.until("document.querySelector('section.fleet-view table')")
        text = page.page.inner_text("main")
        assert "adjusted duration" in text and "spark.executor.cores" in text and "more" in text
        page.check()
    finally:
        page.close()


def test_filters_are_the_address(browser: Any, server: Server) -> None:
    page = watched(browser, server)
    try:
        page.open(f"{page.origin}#/fleet/runs")
        rows = page.page.locator("section.fleet-view details.fleet-table table tbody tr")
        every = rows.count()
        page.page.get_by_label("User").fill("ann")
        page.page.keyboard.press("Enter")
        page.page.get_by_label("User").blur()
        page.until("location.hash.includes('user=ann')")
        page.until(f"document.querySelectorAll('section.fleet-view details.fleet-table table tbody tr').length < {every}")
        page.page.get_by_label("By", exact=True).fill("usr")
        page.page.get_by_label("By", exact=True).blur()
        page.until("document.querySelector('main .problem')")
        assert "did you mean 'user'" in page.page.inner_text("main .problem")
    finally:
        page.close()


def test_without_a_store_there_is_no_fleet(browser: Any, tmp_path: Path) -> None:
    with Server(tmp_path, "--config", "none") as server:
        page = watched(browser, server)
        try:
            page.open(page.origin)
            page.until("document.querySelectorAll('.top-links a').length >= 3")
            assert page.page.get_by_role("link", name="Fleet").count() == 0
        finally:
            page.close()
