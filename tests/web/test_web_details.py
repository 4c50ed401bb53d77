"""What new users stumbled over on the pages: each once, so that it stays right."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Iterator, List

import pytest
from conftest import lines_of

from browser import LOGS, Watched, launched, requires_browser
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
    field = page.get_by_placeholder("as it was")
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
            assert "in progress" in page.page.inner_text(".app-title")
            was = page.page.inner_text("section.timeline .note")
            with log.open("ab") as stream:
                stream.write(b"\n".join(lines[half:]) + b"\n")
            log.rename(tmp_path / "app-20261121171806-0000")
            page.until("document.querySelector('.app-title').innerText.includes('completed')")
            page.until(f"document.querySelector('section.timeline .note').innerText !== '{was}'")
            page.check()
        finally:
            page.close()
