"""What new users stumbled over on the pages: each once, so that it stays right."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from conftest import lines_of

from browser import AXE, LOGS, Watched, launched, requires_browser
from servers.pyrometer import Server

pytestmark = [requires_browser, pytest.mark.slow]
LOG = "data_skew"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(LOGS / f"{LOG}.zst", folder)
    with Server(folder) as server:
        yield f"http://{server.host}:{server.port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture()
def watched(browser: Any, address: str) -> Iterator[Watched]:
    page = Watched(browser, origin=address)
    try:
        yield page
        page.check()
    finally:
        page.close()


def open_page(watched: Watched, address: str, name: str) -> None:
    """A page of the only application, by the navigation."""
    watched.open(f"{address}/")
    watched.page.get_by_role("link", name=LOG, exact=True).click()
    watched.settle()
    watched.page.locator("nav.tabs").get_by_role("link", name=name, exact=True).click()
    watched.settle()


def test_the_rules_say_what_they_look_for(watched: Watched, address: str) -> None:
    watched.open(f"{address}/#/rules")
    texts = watched.page.locator("tbody td:nth-child(3)").all_inner_texts()
    assert len(texts) > 40
    assert all(len(text) > 20 for text in texts), texts


def test_operators_of_a_plan_are_reached_by_keyboard_in_their_order(watched: Watched, address: str) -> None:
    open_page(watched, address, "SQL")
    page = watched.page
    page.locator("main tbody a").first.click()
    watched.settle()
    boxes = page.locator("g.plan-box")
    count = boxes.count()
    assert count > 3
    page.get_by_role("button", name="Fit").focus()
    places: List[Any] = []
    for _ in range(count):
        page.keyboard.press("Tab")
        places.append(
            page.evaluate("document.activeElement.matches('g.plan-box') ? document.activeElement.getAttribute('transform') : null")
        )
    assert None not in places, places
    order = [tuple(float(part) for part in place[len("translate(") : -1].split()) for place in places]
    assert order == sorted(order, key=lambda place: (place[1], place[0]))
    page.keyboard.press("Enter")
    watched.until("location.hash.includes('node=')")


def test_bars_of_bounds_are_as_long_as_their_numbers(watched: Watched, address: str) -> None:
    open_page(watched, address, "Overview")
    widths = watched.page.evaluate(
        "[...document.querySelectorAll('table.bars .bar')].map(bar => parseFloat(bar.style.width))"
    )
    assert max(widths) == 100 and len(set(widths)) == len(widths), widths


def test_what_if_leaves_the_next_pages_address_alone(watched: Watched, address: str) -> None:
    open_page(watched, address, "What if")
    page = watched.page
    field = page.get_by_placeholder("unchanged")
    field.fill("7")
    page.evaluate("location.hash = location.hash.replace(/whatif.*/, 'timeline')")
    watched.settle()
    page.wait_for_timeout(400)  # longer than any page waits before it writes its address
    assert "?" not in page.evaluate("location.hash")


def test_what_if_marks_the_current_choice(watched: Watched, address: str) -> None:
    open_page(watched, address, "What if")
    page = watched.page
    watched.until("document.querySelectorAll('tr.chosen').length === 1")
    was = page.locator("tr.chosen td").first.inner_text()
    assert was.endswith("(current)")
    page.get_by_role("slider", name="Executors").focus()
    page.keyboard.press("ArrowRight")
    watched.until("document.querySelector('tr.chosen td')?.innerText !== '%s'" % was)


def test_a_run_that_ends_is_seen_to_end_on_every_page(browser: Any, tmp_path: Path) -> None:
    """The header, and the timeline as it grows."""
    lines = lines_of(LOGS / f"{LOG}.zst")
    half = len(lines) // 2
    log = tmp_path / "app-20261121171806-0000.inprogress"
    log.write_bytes(b"\n".join(lines[:half]) + b"\n")
    with Server(tmp_path, "--update-interval", "200ms") as server:
        page = Watched(browser, origin=f"http://{server.host}:{server.port}")
        try:
            open_page(page, page.origin, "Timeline")
            assert "running" in page.page.inner_text(".app-title")
            was = page.page.inner_text("section.timeline .note")
            with log.open("ab") as stream:
                stream.write(b"\n".join(lines[half:]) + b"\n")
            log.rename(tmp_path / "app-20261121171806-0000")
            page.until("document.querySelector('.app-title').innerText.includes('completed')")
            page.until(f"document.querySelector('section.timeline .note').innerText !== '{was}'")
            page.check()
        finally:
            page.close()


def test_the_cost_page_prices_a_run_by_the_instance_type(watched: Watched, address: str) -> None:
    open_page(watched, address, "Cost")
    page = watched.page
    warning = page.inner_text(".warning")
    assert "instance type" in warning and "pyrometer serve" in warning and "--prices FILE" in warning
    assert "--instance" not in page.inner_text("main"), "serve has no such option"
    page.get_by_label("Instance type").fill("r5.2xlarge")
    page.get_by_role("button", name="Show the cost").click()
    watched.until("location.hash.includes('instance=r5.2xlarge')")
    watched.until("document.querySelector('.warning') === null")
    assert "USD" in page.inner_text("dl.figures >> nth=0")


def served(name: str, app: str, start: int, state: str) -> List[Any]:
    """Events of a small application."""
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": app, "Timestamp": start, "User": "ann"},
    ]
    return events + ([{"Event": "SparkListenerApplicationEnd", "Timestamp": start + 61000}] if state == "ended" else [])


def test_compared_runs_are_called_by_name_and_start(browser: Any, tmp_path: Path) -> None:
    for i, name in enumerate(("first run", "second run", "third run")):
        text = "".join(json.dumps(event) + "\n" for event in served(name, f"app-{i}", 1767225600000 + i * 86400000, "ended"))
        (tmp_path / f"log{i}").write_text(text, encoding="utf-8")
    with Server(tmp_path) as server:
        page = Watched(browser, origin=f"http://{server.host}:{server.port}")
        try:
            page.open(f"{page.origin}/#/compare?before=app-0/-&after=app-1/-")
            page.page.get_by_role("searchbox").fill("third")
            page.until("document.querySelectorAll('select')[0].options[3]?.text.startsWith('third')")
            page.until("[...document.querySelectorAll('select')[0].options].every(one => !one.text.startsWith('app-'))")
            texts = page.page.locator("select").first.locator("option").all_inner_texts()
            assert texts == [
                "choose a run",
                "first run, 2026-01-01 00:00:00 UTC, 1 min 1 s",
                "second run, 2026-01-02 00:00:00 UTC, 1 min 1 s",
                "third run, 2026-01-03 00:00:00 UTC, 1 min 1 s",
            ]
            assert page.page.locator("select").first.get_attribute("title") == "app-0"
            page.check()
        finally:
            page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_failed_and_truncated_runs_look_like_it(browser: Any, tmp_path: Path, theme: str) -> None:
    """With answers as a server gives them that knows what became of a run."""
    with Server(tmp_path) as server:
        page = Watched(browser, theme=theme, origin=f"http://{server.host}:{server.port}")
        outcomes = ["completed", "failed", "running", "truncated", "job_failed", "stopped"]

        def answer(route: Any) -> None:
            wanted = re.search(r"status=(\w+)", route.request.url)
            attempts = {
                one: {
                    **dict(attempt=None, user="ann", start_ms=i, duration_ms=None, spark_version="3.5.6"),
                    **dict(log=f"/logs/{one}", log_bytes=1, stored=False, end_ms=None, last_event_ms=1795281484898),
                    **dict(completed=one not in ("running", "truncated"), outcome=one),
                }
                for i, one in enumerate(outcomes)
                if not wanted or wanted.group(1) == one
            }
            # Two of them have one id and differ in their start.
            apps = [
                {"id": f"local-1~{i}" if i else "local-1", "name": one, "attempts": [attempt], "past_runs_ms": []}
                for i, (one, attempt) in enumerate(attempts.items())
            ]
            route.fulfill(json={"total": len(apps), "all": 6, "users": ["ann"], "applications": apps, "unreadable": []})

        page.page.route("**/pyrometer/v1/applications?*", answer)
        try:
            page.open(f"{page.origin}/")
            shown = page.page.locator("tbody .status")
            assert shown.all_inner_texts() == [one.replace("_", " ") for one in outcomes]
            colours = [one.evaluate("one => getComputedStyle(one).color") for one in shown.all()]
            assert len(set(colours)) == 4 and colours[4] == colours[1] and colours[5] == colours[3]
            red, green, _ = (int(part) for part in re.findall(r"\d+", colours[1])[:3])
            assert red > green + 50, "failed is red"
            assert "nothing writes it any more" in (shown.nth(3).get_attribute("title") or "")
            assert "2026-11-21 17:18:04" in page.page.locator("tbody tr").nth(3).inner_text()
            links = [link.get_attribute("href") for link in page.page.locator("tbody a.row-link").all()]
            assert len(set(links)) == 6
            state = page.page.get_by_label("State")
            order = ["completed", "job failed", "failed", "stopped", "truncated", "running"]
            assert state.locator("option").all_inner_texts() == ["all", *order]
            state.select_option("failed")
            page.until("document.querySelectorAll('tbody tr').length === 1")
            if AXE.is_file():
                assert not page.violations()
            page.check()
        finally:
            page.close()
