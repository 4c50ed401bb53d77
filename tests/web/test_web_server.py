"""The web UI as `pyrometer serve` hands it out: every page with documents from the server, under its policy."""

from __future__ import annotations

import http.client
import json
import shutil
from pathlib import Path
from typing import Any, Iterator

import pytest

from browser import AXE, LOGS, Watched, launched, requires_browser
from servers.pyrometer import Server  # found by browser

pytestmark = [requires_browser, pytest.mark.slow]

LOG_NAMES = ["data_skew", "data_skew_repaired", "healthy_etl", "executor_lost", "straggler"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    for name in LOG_NAMES:
        shutil.copy(LOGS / f"{name}.zst", folder)
    with Server(folder) as server:
        if server.request("GET", "/pyrometer/v1/version")[0] == 404:
            pytest.skip("this server has no API for its pages")
        yield f"http://{server.host}:{server.port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def test_every_page_with_documents_from_the_server(browser: Any, address: str) -> None:
    watched = Watched(browser, origin=address)
    page = watched.page
    try:
        watched.open(f"{address}/")
        assert page.locator("tbody tr").count() == len(LOG_NAMES)
        for link in page.locator("nav.top-links a").all():
            link.click()
            watched.settle()
            watched.check()
        watched.open(f"{address}/")
        page.get_by_role("link", name="executor_lost").click()
        watched.settle()
        for name in page.locator("nav.tabs a").all_inner_texts():
            page.locator("nav.tabs").get_by_role("link", name=name, exact=True).click()
            watched.settle()
            assert len(page.inner_text("main")) > 60, name
            watched.check()
        assert any("/pyrometer/v1/applications/" in url for url in watched.requests)
    finally:
        watched.close()


def test_searching_filters_the_list_and_its_address(browser: Any, address: str) -> None:
    watched = Watched(browser, origin=address)
    page = watched.page
    try:
        watched.open(f"{address}/")
        page.keyboard.press("/")
        page.keyboard.type("skew")
        watched.until("location.hash.includes('search=skew')")
        watched.until("document.querySelectorAll('tbody .row-link').length === 2")
        assert sorted(page.locator("tbody .row-link").all_inner_texts()) == ["data_skew", "data_skew_repaired"]
        watched.open(f"{address}/#/?search=nothing+is+like+this")
        page.reload()
        watched.settle()
        assert "No matching application" in page.inner_text("main")
        page.get_by_role("button", name="Show all 5").click()
        watched.until("document.querySelectorAll('tbody .row-link').length === 5")
        assert page.input_value("input[type=search]") == ""
        watched.check()
    finally:
        watched.close()


def small_log(name: str, i: int, start: int, user: str) -> str:
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": f"app-{i:06}", "Timestamp": start, "User": user},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": start + 1000 * (i % 97 + 1)},
    ]
    return "".join(json.dumps(event) + "\n" for event in events)


def test_a_list_of_many_applications_is_looked_at_page_by_page(browser: Any, tmp_path: Path) -> None:
    count = 1234
    for i in range(count):
        (tmp_path / f"log{i:06}").write_text(small_log(f"job {i % 40}", i, 1767225600000 + 60000 * i, ["ann", "bob"][i % 2]))
    with Server(tmp_path) as server:
        watched = Watched(browser, origin=f"http://{server.host}:{server.port}")
        page = watched.page
        first = "document.querySelector('tbody .sub').innerText"
        try:
            watched.open(f"{watched.origin}/")
            assert page.locator("tbody tr").count() == 100
            assert page.evaluate(first) == f"app-{count - 1:06}"
            assert "1 to 100 of 1,234" in page.inner_text(".list-pages")
            assert page.locator(".sparkline").count() == 100  # of runs on other pages too
            page.get_by_role("button", name="Next").click()
            watched.until(f"{first} === 'app-{count - 101:06}'")
            assert "101 to 200 of 1,234" in page.inner_text(".list-pages") and "page=2" in page.url
            page.get_by_role("button", name="Duration").click()
            watched.until("location.hash.includes('sort=duration') && !location.hash.includes('page=')")
            watched.until("document.querySelectorAll('tbody tr td:nth-child(6)')[0].innerText === '1 min 37 s'")
            assert page.get_attribute("th:nth-child(6)", "aria-sort") == "descending"
            page.select_option("select >> nth=0", "ann")
            page.fill("input[type=search]", "JOB 7")
            watched.until("document.querySelector('.filters [role=status]').innerText === '0 of 1,234 applications'")
            page.select_option("select >> nth=0", "bob")
            watched.until("document.querySelector('.filters [role=status]').innerText === '31 of 1,234 applications'")
            watched.open(f"{watched.origin}/#/?sort=name&page=99")
            watched.until("location.hash.includes('page=13')")
            watched.until("document.querySelectorAll('tbody tr').length === 34")
            watched.check()
        finally:
            watched.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_without_an_application_are_accessible(browser: Any, address: str, theme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm ci in web/ without --omit=dev")
    watched = Watched(browser, theme=theme, origin=address)
    try:
        watched.open(f"{address}/")
        problems = watched.violations()
        for link in watched.page.locator("nav.top-links a").all():
            link.click()
            watched.settle()
            problems += [f"{watched.page.url}: {found}" for found in watched.violations()]
        assert not problems, "\n".join(problems)
    finally:
        watched.close()


def test_an_unknown_application_and_a_server_that_is_gone(browser: Any, tmp_path: Path) -> None:
    shutil.copy(LOGS / "data_skew.zst", tmp_path)
    with Server(tmp_path) as server:
        if server.request("GET", "/pyrometer/v1/version")[0] == 404:
            pytest.skip("this server has no API for its pages")
        address = f"http://{server.host}:{server.port}"
        watched = Watched(browser, origin=address)
        try:
            watched.page.goto(f"{address}/#/app/nothing/-/overview")
            assert watched.page.wait_for_selector("main .problem h2") is not None
            watched.open(f"{address}/")
            server.stop()
            with pytest.raises(OSError):
                http.client.HTTPConnection(server.host, server.port, timeout=5).request("GET", "/")
            watched.page.locator("tbody .row-link").first.click()
            problem = watched.page.wait_for_selector("main .problem")
            assert "does not answer" in problem.inner_text() and "Try again" in problem.inner_text()
        finally:
            watched.close()
