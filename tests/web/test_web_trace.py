"""Pages about traces: Off-CPU, the section of a stage, threads on the timeline; and the colors of states."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import pytest
from servers.pyrometer import Server

import conftest
from browser import LOGS, Watched, app_route, launched, requires_browser, write_report

sys.path.insert(0, str(conftest.ROOT / "tests" / "traces"))
from made_trace import trace_run  # noqa: E402

STYLE = conftest.ROOT / "web" / "src" / "styles" / "trace.css"
STATES = conftest.ROOT / "src" / "model" / "tracks" / "kernel_states.def"
SKEWED = 4  # stage of data_skew with most task time
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trace_run(tmp_path_factory.mktemp("traced") / "run")


@pytest.fixture(scope="module")
def address(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(run, folder / "run")
    shutil.copy(LOGS / "skew_rdd.zst", folder)
    with Server(folder) as server:
        yield f"http://{server.host}:{server.port}"


@pytest.fixture(params=["light", "dark"])
def watched(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    page = Watched(browser, theme=request.param, origin=address)
    try:
        yield page
        page.check()
        assert page.violations() == []
        page.page.set_viewport_size(NARROW)
        page.page.wait_for_timeout(200)
        assert page.violations() == []
        assert page.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    finally:
        page.close()


def open_page(watched: Watched, address: str, name: str, rest: str) -> None:
    watched.open(f"{address}/#/")
    watched.page.get_by_role("link", name=name, exact=True).click()
    watched.settle()
    base = re.sub(r"/overview.*$", "", watched.page.url)
    watched.open(f"{base}/{rest}")


def tabs(watched: Watched) -> List[str]:
    names: List[str] = watched.page.locator("nav.tabs a").all_inner_texts()
    return names


@requires_browser
@pytest.mark.slow
def test_the_page_shows_stages_processes_and_calls(watched: Watched, address: str) -> None:
    open_page(watched, address, "data_skew", "offcpu")
    page = watched.page
    assert "Off-CPU" in tabs(watched) and "Profile" not in tabs(watched)
    stage = page.get_by_role("region", name=f"Stage {SKEWED}", exact=True)
    parts = {row.split("\t")[0]: row for row in stage.locator(".account-table tbody tr").all_inner_texts()}
    assert set(parts) == {"running-user", "runnable", "disk", "running-system"} and "68.0 %" in parts["running-user"]
    waits = stage.get_by_role("table", name=re.compile("did and waited for")).inner_text()
    assert "futex" in waits and "dispatcher" in waits and "hog (" in waits
    processes = page.get_by_role("region", name="Who took the processors", exact=True).inner_text()
    assert "executor 1" in processes and "hog" in processes
    assert "futex" in page.get_by_role("region", name="System calls", exact=True).inner_text()
    assert page.locator(".warning").count() == 0
    rows = page.get_by_role("table", name=re.compile("^Stages by")).locator("tbody tr")
    assert rows.count() == 4 and rows.first.inner_text().startswith(f"Stage {SKEWED}")
    rows.first.get_by_role("link").click()
    watched.settle()
    assert f"/stage/{SKEWED}/0" in page.url


@requires_browser
@pytest.mark.slow
def test_the_page_of_a_stage_has_the_same(watched: Watched, address: str) -> None:
    open_page(watched, address, "data_skew", f"stage/{SKEWED}/0")
    section = watched.page.get_by_role("region", name="Off-CPU").inner_text()
    assert "68.0 %" in section and "dispatcher" in section and "20 tasks" in section


@requires_browser
@pytest.mark.slow
def test_the_timeline_has_threads_in_detail(watched: Watched, address: str) -> None:
    open_page(watched, address, "data_skew", "timeline")
    page = watched.page
    legend = page.locator("section.timeline p.legend").inner_text()
    assert "running-user" in legend and "disk" in legend and "pipe" not in legend
    canvas = page.get_by_role("application", name="Timeline of")
    canvas.focus()
    for _ in range(34):
        page.keyboard.press("+")
    watched.until("/from=[\\d.]+&to=/.test(location.hash)")
    part = re.search(r"from=([\d.]+)&to=([\d.]+)", page.url)
    assert part is not None and float(part[2]) - float(part[1]) < 1
    watched.until("performance.getEntriesByType('resource').some(one => one.name.includes('from_ns='))")
    page.keyboard.press("0")


@requires_browser
@pytest.mark.slow
def test_runs_without_a_trace_say_how_to_record(watched: Watched, address: str) -> None:
    open_page(watched, address, "skew_rdd", "offcpu")
    assert "Off-CPU" not in tabs(watched)
    assert "pyrometer trace record" in watched.page.inner_text("main")
    open_page(watched, address, "skew_rdd", "stage/0/0")
    assert watched.page.get_by_role("region", name="Off-CPU").count() == 0


@requires_browser
@pytest.mark.slow
def test_the_report_has_the_page(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    documents = write_report(trace_run(tmp_path / "run", lost=5), page)
    assert documents["trace"]["lost_events"] == 5
    watched = Watched(browser, offline=True)
    try:
        watched.open(page.as_uri() + app_route(documents, "offcpu"))
        text = watched.page.inner_text("main")
        assert "At least 5 events are lost." in text and "The rules do not judge" in text
        watched.open(page.as_uri() + app_route(documents, f"stage/{SKEWED}/0"))
        assert watched.page.get_by_role("region", name="Off-CPU").is_visible()
        watched.open(page.as_uri() + app_route(documents, "timeline"))
        assert "running-user" in watched.page.inner_text("section.timeline")
        watched.check()
        assert watched.violations() == []
    finally:
        watched.close()


# ---- Colors -----------------------------------------------------------------------------------------------------------

# How people see who lack one kind of cone (Machado, Oliveira, Fernandes 2009), on linear sRGB.
SIGHTS: Dict[str, Sequence[Sequence[float]]] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
COMMON = ("running-user", "running-system", "runnable", "disk", "network", "futex", "python-worker")
LEAST, LEAST_COMMON = 11, 18  # CIE76: about 2 can just be seen


def seen(colour: str, sight: Sequence[Sequence[float]]) -> Tuple[float, float, float]:
    """CIE L*a*b* of "#rrggbb"."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    red, green, blue = (min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear)))) for row in sight)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
    )
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_states_have_colors_that_everybody_can_distinguish(theme: str) -> None:
    block = next(text for text in STYLE.read_text(encoding="utf-8").split("}") if f'[data-theme="{theme}"]' in text)
    colours = dict(re.findall(r"--state-([\w-]+): (#[0-9a-f]{6});", block))
    assert set(colours) == set(re.findall(r'^PYRO_KERNEL_STATE\(\w+, "([\w-]+)"', STATES.read_text(encoding="utf-8"), re.M))
    for name, sight in SIGHTS.items():
        for one, other in itertools.combinations(colours, 2):
            least = LEAST_COMMON if one in COMMON and other in COMMON else LEAST
            distance = math.dist(seen(colours[one], sight), seen(colours[other], sight))
            assert distance >= least, f"{name}: {one} and {other} differ by {distance:.1f}"
