"""The web UI in a real browser: every page on real logs, from disk without a network, by keyboard alone, in both themes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple
from urllib.parse import quote, unquote

import cramjam
import pytest

from browser import AXE, LOGS, ROOT, Watched, app_route, launched, requires_browser, with_documents, write_report
from servers.pyrometer import Server

pytestmark = [requires_browser, pytest.mark.slow]

# Skew, many tasks, lost executors, a failed job, a stream, a log that is not complete.
LOG_NAMES = ["data_skew", "coalesce_off", "executor_lost", "job_failed_udf", "healthy_stream", "unfinished"]


def log_of(name: str) -> Path:
    if name == "unfinished":
        return next(path for path in sorted((ROOT / "tests" / "logs" / "inprogress").rglob("*")) if path.is_file())
    return LOGS / f"{name}.zst"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Tuple[Path, Dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("reports")
    made = {}
    for name in LOG_NAMES:
        out = folder / f"{name}.html"
        made[name] = (out, write_report(log_of(name), out))
    return made


def routes(page: Any) -> List[str]:
    """Pages of the application that the navigation offers, as the address bar shows them."""
    return [link.get_attribute("href") or "" for link in page.query_selector_all("nav.tabs a")]


@pytest.mark.parametrize("name", LOG_NAMES)
def test_every_page_of_a_report_works_from_disk(
    browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]], name: str
) -> None:
    path, documents = reports[name]
    watched = Watched(browser, offline=True)
    try:
        watched.open(path.as_uri() + app_route(documents, "overview"))
        found = routes(watched.page)
        assert len(found) >= 4
        stages = sorted(key for key in documents if key.startswith("stages/"))
        for route in found + [app_route(documents, key.replace("stages", "stage")) for key in stages[:3]]:
            watched.page.evaluate("route => { location.hash = route }", route)
            watched.settle()
            assert len(watched.page.inner_text("main")) > 60, route
            watched.check()
        assert all(url == path.as_uri() for url in (request.split("#")[0] for request in watched.requests))
    finally:
        watched.close()


def test_a_report_about_one_application_opens_its_overview(
    browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]
) -> None:
    path, documents = reports["data_skew"]
    watched = Watched(browser, offline=True)
    try:
        watched.open(path.as_uri())
        watched.page.wait_for_selector("article.finding")
        assert watched.page.url.endswith(app_route(documents, "overview"))
        finding = documents["report"]["findings"][0]
        text = watched.page.inner_text("article.finding")
        assert finding["title"] in text and finding["cause"] in text
        for key, value in finding["advice"][0]["config"].items():
            assert f"{key}={value}" in text
        for name in ("wall", "core"):
            account = documents["report"]["accounting"][name]
            parts = [part for part in account["parts"] if part["ms"] > 0]
            table = watched.page.locator(".account-table").nth(0 if name == "wall" else 1)
            shares = [float(cell.split(" ")[0]) for cell in table.locator("tbody td:nth-child(3)").all_inner_texts()]
            assert len(shares) == len(parts)
            assert round(sum(shares), 1) == 100.0
        watched.check()
    finally:
        watched.close()


def test_a_failed_run_says_first_why(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    watched = Watched(browser, offline=True)
    try:
        path, documents = reports["job_failed_udf"]
        failure = documents["report"]["failure"]
        watched.open(path.as_uri() + app_route(documents, "overview"))
        said = watched.page.inner_text("p[role=alert]")
        assert f"Failed: {failure['exception']}: {failure['message']}, at {failure['frame']}" in said
        assert f"stage {failure['stage']}" in said and "4 failed tasks" in said
        watched.check()
        path, documents = reports["data_skew"]
        watched.open(path.as_uri() + app_route(documents, "overview"))
        watched.page.wait_for_selector("article.finding")
        assert watched.page.locator("p[role=alert]").count() == 0
        watched.open(path.as_uri() + app_route(documents, "whatif"))
        watched.page.wait_for_selector("dl.figures")
        assert "share one host" in watched.page.inner_text("main")
    finally:
        watched.close()


def test_a_report_predicts_what_it_brought_along(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    whatif = documents["whatif"]
    assert whatif["schema"] == "pyrometer.whatif/1" and documents["cost"]["schema"] == "pyrometer.cost/1"
    base = whatif["base"]
    grid = {(one["executors"], one["cores_per_executor"]): one for one in whatif["scenarios"]}
    assert (base["executors"], base["cores_per_executor"]) in grid and len(grid) == len(whatif["scenarios"])
    more = min(executors for executors, _ in grid if executors > base["executors"])
    watched = Watched(browser, offline=True)
    page = watched.page
    try:
        watched.open(path.as_uri() + app_route(documents, "whatif"))
        slider = page.get_by_role("slider", name="Executors")
        slider.focus()
        page.keyboard.press("ArrowRight")
        watched.until(f"location.hash.includes('executors={more}')")
        assert slider.get_attribute("aria-valuetext") == str(more)
        expected = grid[(more, base["cores_per_executor"])]["wall_ms"]["expected"]
        change = (expected - base["replayed_ms"]) / base["replayed_ms"] * 100
        assert f"{change:+.0f} %".replace("+0", "0").replace("-0 %", "0 %") in page.inner_text("dl.figures").replace("-0 %", "0 %")
        assert f"stop at {len(grid)} predictions" in page.inner_text("main")
        watched.open(path.as_uri() + app_route(documents, "whatif?executors=9999"))
        assert page.get_by_role("slider", name="Executors").get_attribute("aria-valuetext") == str(max(one for one, _ in grid))
        watched.open(path.as_uri() + app_route(documents, "cost"))
        assert page.locator("table").count() >= 2
        watched.check()
    finally:
        watched.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]], theme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm install in web/ without --omit=dev")
    path, documents = reports["data_skew"]
    watched = Watched(browser, theme=theme)
    problems: List[str] = []
    try:
        watched.open(path.as_uri() + app_route(documents, "overview"))
        assert watched.page.evaluate("document.documentElement.dataset.theme") == theme
        others = [app_route(documents, "stage/4/0"), app_route(documents, "sql/0"), "#/about", "#/nowhere"]
        for route in routes(watched.page) + others:
            watched.page.evaluate("route => { location.hash = route }", route)
            watched.settle_any()
            problems += [f"{theme} {route}: {found}" for found in watched.violations()]
        watched.page.keyboard.press("?")
        watched.page.wait_for_selector("dialog[open]")
        problems += [f"{theme} help: {found}" for found in watched.violations()]
        assert not problems, "\n".join(problems)
    finally:
        watched.close()


def test_the_keyboard_reaches_everything(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    watched = Watched(browser)
    page = watched.page
    focused = "document.activeElement.innerText || document.activeElement.getAttribute('aria-label')"
    try:
        watched.open(path.as_uri() + app_route(documents, "overview"))
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == "Skip to the page"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        seen = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            seen.add(page.evaluate("document.activeElement.tagName"))
            assert outline != "none" or page.evaluate("document.activeElement === document.body"), page.evaluate(focused)
        assert {"A", "BUTTON"} <= seen
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press("t")
        watched.until("location.hash.includes('/timeline')")
        watched.settle()
        assert page.evaluate("document.activeElement.id") == "main"
        page.focus(".timeline-scroll")
        for _ in range(4):
            page.keyboard.press("+")
        page.keyboard.press("ArrowRight")
        watched.until("location.hash.includes('from=')")
        page.keyboard.press("0")
        watched.until("!location.hash.includes('from=')")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")
        before = page.evaluate("document.documentElement.dataset.theme")
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") != before
        watched.check()
    finally:
        watched.close()


def test_an_address_holds_the_view(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    watched = Watched(browser)
    try:
        watched.open(path.as_uri() + app_route(documents, "timeline?from=20000&to=30000&stage=4"))
        label = watched.page.get_attribute(".timeline-scroll", "aria-label") or ""
        assert "from 0:20.0 to 0:30.0" in label
        assert watched.page.locator("h2", has_text="Stage 4").count() == 1
        rows = watched.page.locator(".panel", has_text="Stage 4").locator("tbody tr").count()
        assert rows >= 1
        watched.check()
    finally:
        watched.close()


def test_clicking_a_stage_chooses_it(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    watched = Watched(browser)
    page = watched.page
    try:
        watched.open(path.as_uri() + app_route(documents, "timeline"))
        box = page.locator(".timeline-scroll canvas").bounding_box()
        assert box is not None
        # The lane of findings is the first below the axis; the only finding lasts from about 0:18 to 0:59 of 1:01.
        page.mouse.click(box["x"] + 148 + (box["width"] - 148) * 0.6, box["y"] + 36)
        watched.until("location.hash.includes('stage=4')")
        page.get_by_role("link", name="Open stage 4").click()
        page.wait_for_selector("h1:has-text('Stage 4')")
        assert "more data" in page.inner_text("main")
        watched.check()
    finally:
        watched.close()


def test_a_finding_and_its_place_on_the_timeline_lead_to_each_other(
    browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]
) -> None:
    path, documents = reports["data_skew"]
    finding = documents["report"]["findings"][0]
    watched = Watched(browser)
    page = watched.page
    try:
        watched.open(path.as_uri() + app_route(documents, "overview"))
        page.get_by_role("link", name="show on the timeline").first.click()
        watched.until("location.hash.includes('/timeline') && location.hash.includes('from=')")
        watched.settle()
        assert f"finding={finding['id']}" in unquote(page.url)
        stage = next(one for one in documents["timeline"]["stages"] if one["id"] == finding["where"]["stage"])
        label = page.get_attribute(".timeline-scroll", "aria-label") or ""
        begin = (stage["submitted_ms"] - documents["timeline"]["start_ms"]) // 1000
        assert "from 0:00.0 to" not in label or begin < 5
        assert "has a finding" in page.inner_text(".legend")
        page.locator(".picked").get_by_role("link", name=finding["title"]).click()
        watched.until(f"document.activeElement.id === {finding['id']!r}")
        assert page.locator("article.finding.wanted").count() == 1
        watched.check()
    finally:
        watched.close()


def test_bad_addresses_say_so(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    watched = Watched(browser)
    try:
        for route in ("#/nowhere", app_route(documents, "nowhere"), app_route(documents, "stage/77/0"), "#/app/x/-/overview"):
            watched.open(path.as_uri())
            watched.page.evaluate("route => { location.hash = route }", route)
            watched.page.wait_for_selector("main .problem")
            assert watched.page.get_attribute("main .problem", "role") == "alert"
        assert not watched.errors
    finally:
        watched.close()


TASKS, EXECUTORS, SLOTS = 200_000, 60, 4


def big_timeline(start: int) -> Dict[str, Any]:
    """200,000 tasks in 40 stages on 240 slots, one after the other."""
    columns: Dict[str, List[int]] = {
        name: [] for name in ("stage", "attempt", "executor", "slot", "launch_ms", "duration_ms", "status", "index")
    }
    free = [0] * (EXECUTORS * SLOTS)
    state = 1
    for i in range(TASKS):
        state = (state * 1103515245 + 12345) % 2**31
        place = i % len(free)
        length = 300 + state % 2400
        values = (i * 40 // TASKS, 0, place // SLOTS, place % SLOTS, free[place], length, 1 if state % 997 == 0 else 0, i)
        for column, value in zip(columns.values(), values):
            column.append(value)
        free[place] += length + state % 40
    end = start + max(free)
    return {
        "schema": "pyrometer.timeline/1",
        "start_ms": start,
        "end_ms": end,
        "executors": [
            {"id": str(e), "host": f"host-{e}", "cores": SLOTS, "added_ms": start, "removed_ms": None, "remove_reason": None}
            for e in range(EXECUTORS)
        ],
        "jobs": [],
        "stages": [
            {
                "id": s,
                "attempt": 0,
                "name": f"stage {s}",
                "submitted_ms": start + s * (end - start) // 40,
                "completed_ms": start + (s + 1) * (end - start) // 40,
                "status": "succeeded",
                "tasks": TASKS // 40,
                "job": None,
            }
            for s in range(40)
        ],
        "driver_gaps": [],
        "tasks": {"count": TASKS, "shown": TASKS, "columns": columns},
    }


def test_a_timeline_of_200000_tasks_moves(
    browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]], tmp_path: Path, record_property: Any
) -> None:
    path, documents = reports["data_skew"]
    out = tmp_path / "big.html"
    with_documents(path, {**documents, "timeline": big_timeline(documents["report"]["application"]["start_ms"])}, out)
    watched = Watched(browser)
    page = watched.page
    try:
        watched.open(out.as_uri() + app_route(documents, "timeline"))
        page.focus(".timeline-scroll")
        # Zooms in, moves, zooms out, one step a frame; how long each drawing took, and each frame.
        times = page.evaluate(
            """async () => {
                const scroller = document.querySelector('.timeline-scroll');
                const canvas = scroller.querySelector('canvas');
                const keys = [...'++++++', ...Array(20).fill('ArrowRight'), ...'------', '0'];
                const frames = [], draws = [];
                let last = performance.now();
                for (const key of keys) {
                    scroller.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
                    scroller.scrollTop += 20;
                    await new Promise(requestAnimationFrame);
                    await new Promise(requestAnimationFrame);
                    const now = performance.now();
                    frames.push(now - last);
                    last = now;
                    draws.push(Number(canvas.dataset.drawMs));
                }
                return {frames, draws};
            }"""
        )
        middle = len(times["draws"]) // 2
        record_property("median_draw_ms", sorted(times["draws"])[middle])
        record_property("worst_draw_ms", max(times["draws"]))
        record_property("median_two_frames_ms", sorted(times["frames"])[middle])
        print({name: (sorted(values)[middle], max(values)) for name, values in times.items()})
        assert "200,000 tasks" in page.inner_text(".timeline")
        assert max(times["draws"]) < 1000  # hundreds of times what it takes: it must not draw every task
        watched.check()
    finally:
        watched.close()


def listed_pages() -> Tuple[List[str], List[str]]:
    """Paths of the pages of an application and of the others, as web/src/pages/pages.ts lists them."""
    source = (ROOT / "web" / "src" / "pages" / "pages.ts").read_text(encoding="utf-8")
    of_app, others = source.split("export const rootPages", 1)
    paths = re.compile(r'\{ path: "([a-z]*)", title:')
    return paths.findall(of_app), paths.findall(others)


def with_long_names(log: Path, suffix: str, out: Path) -> None:
    """The same run under a name without a space, of which no narrow page has room for a tenth."""
    text = bytes(cramjam.zstd.decompress(log.read_bytes())).decode()
    name = f"nightly_{log.stem}_of_every_region_" * 4 + suffix
    app = re.search(r'"App ID":"([^"]+)"', text)
    assert app is not None
    text = re.sub(r'"App Name":"[^"]*"', f'"App Name":"{name}"', text)
    out.write_text(text.replace(app.group(1), f"{app.group(1)}-{suffix}"), encoding="utf-8")


def test_no_page_scrolls_sideways_on_a_phone(browser: Any, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for suffix in ("before", "after"):
        with_long_names(LOGS / "stage_retries.zst", suffix, logs / f"{suffix}.log")
    (logs / ("no_log_" * 20)).write_text("{", encoding="utf-8")
    options = ("--uploads", str(tmp_path / "up"), "--store", f"sqlite:{tmp_path / 'runs.db'}")
    of_app, others = listed_pages()
    assert len(of_app) >= 9 and len(others) >= 5
    wide = []
    with Server(logs, *options) as server:
        found = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])["applications"]
        ids = sorted(quote(one["id"], safe="") for one in found)
        assert len(ids) == 2
        base = f"#/app/{ids[0]}/-"
        finding = json.loads(server.request("GET", f"/pyrometer/v1/applications/{ids[0]}/-/report")[2])["findings"][0]
        routes = [f"#/{path}" for path in others] + [f"{base}/{path}" for path in of_app]
        routes += [f"#/compare?before={ids[0]}/-&after={ids[1]}/-", "#/rules/data-skew", f"{base}/stage/0/0", f"{base}/sql/0"]
        routes += [f"{base}/timeline?finding={quote(finding['id'])}"]
        watched = Watched(browser, origin=f"http://{server.host}:{server.port}")
        try:
            watched.page.set_viewport_size({"width": 390, "height": 844})
            watched.open(f"{watched.origin}/")
            for route in routes:
                watched.page.evaluate("route => { location.hash = route }", route)
                watched.settle()
                watched.page.wait_for_timeout(100)
                width, room = watched.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
                if width > room:
                    wide.append(f"{route}: {width} of {room} pixels")
            watched.check()
        finally:
            watched.close()
    assert not wide, "\n".join(wide)


def test_phases_are_those_of_the_report(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    """Each lane as long as the report says, and the four together as long as the run."""
    path, documents = reports["data_skew"]
    report = documents["report"]
    watched = Watched(browser)
    try:
        watched.open(path.as_uri() + app_route(documents, "phases"))
        lanes = watched.page.evaluate("""[...document.querySelectorAll('.lane:not(.lane-axis)')].map(lane => [
            lane.querySelector('.lane-name').innerText, [...lane.querySelectorAll('.lane-track span')].map(
                span => parseFloat(span.style.width))])""")
        assert [name for name, _ in lanes] == ["resource wait", "compute", "IO write", "driver"]
        phases, whole = report["accounting"]["phases"], report["application"]["duration_ms"]
        for (name, widths), key in zip(lanes, ("wait_ms", "compute_ms", "write_ms")):
            assert sum(widths) == pytest.approx(100 * phases[key] / whole, abs=0.2 + 0.15 * len(widths)), name
        assert 98 < sum(sum(widths) for _, widths in lanes) < 100 + 100 * phases["wait_ms"] / whole
        figures = watched.page.locator(".figure, .figures > *").all_inner_texts()
        assert any("First executor" in text for text in figures), figures
        watched.check()
    finally:
        watched.close()


def test_task_time_names_the_skewed_stage(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]) -> None:
    path, documents = reports["data_skew"]
    stages = [row for row in documents["report"]["stages"] if row["tasks"] >= 4]
    worst = max(stages, key=lambda row: row["duration_ms"]["max"] / max(1, row["duration_ms"]["median"]))
    watched = Watched(browser)
    try:
        watched.open(path.as_uri() + app_route(documents, "tasktime"))
        first = watched.page.locator("table:has(caption:text-is('Skew')) tbody tr").first.inner_text()
        assert first.split()[0] == str(worst["id"])
        assert watched.page.locator("canvas.heatmap").count() == 1
        watched.check()
    finally:
        watched.close()


def header_texts(page: Any, caption: str) -> List[str]:
    heads = page.locator(f"table:has(caption:text-is('{caption}')) thead th").all()
    return [head.inner_text().strip(" ▲▼\n") for head in heads if head.is_visible()]


def test_the_list_of_stages_sorts_by_each_of_its_numbers(
    browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]]
) -> None:
    path, documents = reports["data_skew"]
    rows = documents["report"]["stages"]
    watched = Watched(browser)
    page = watched.page
    try:
        watched.open(path.as_uri() + app_route(documents, "stage"))
        names = header_texts(page, "Stages")
        wanted = {"Duration", "Job", "SQL", "Shuffle read", "Shuffle write", "Spill (disk)", "Skew (max / median)"}
        assert wanted <= set(names), names
        column = names.index("Duration") + 1
        page.get_by_role("button", name="Duration", exact=True).click()
        longest = max(rows, key=lambda row: row["completed_ms"] - row["submitted_ms"])
        assert page.locator("tbody tr").first.locator("td").first.inner_text().split(".")[0] == str(longest["id"])
        assert page.get_attribute(f"thead th:nth-child({column})", "aria-sort") == "descending"
        for name in wanted - {"Duration"}:
            page.get_by_role("button", name=name, exact=True).click()
            assert page.locator("th[aria-sort]").inner_text().startswith(name)
        skew = page.get_by_role("button", name="Skew (max / median)").get_attribute("title") or ""
        assert "median duration" in skew
        page.set_viewport_size({"width": 390, "height": 844})
        shown = header_texts(page, "Stages")
        assert "Duration" in shown and "Shuffle read" not in shown
        watched.check()
    finally:
        watched.close()


def test_numbers_on_pages_have_separators(browser: Any, reports: Dict[str, Tuple[Path, Dict[str, Any]]], tmp_path: Path) -> None:
    path, documents = reports["data_skew"]
    report = json.loads(json.dumps(documents["report"]))
    report["totals"].update(tasks=2000, cores_peak=1200, executors=1500)
    report["integrity"].update(lines=123456, tasks_started=2000, tasks_ended=2000)
    for row in report["stages"]:
        row.update(tasks=2000, failed_tasks=1000)
    whatif = json.loads(json.dumps(documents["whatif"]).replace('"executors": 2', '"executors": 2000'))
    out = tmp_path / "large.html"
    with_documents(path, {**documents, "report": report, "whatif": whatif}, out)
    watched = Watched(browser)
    page = watched.page
    raw = []
    try:
        watched.open(out.as_uri() + app_route(documents, "overview"))
        for route in routes(page):
            page.evaluate("route => { location.hash = route }", route)
            watched.settle()
            # What the library says of a run is shown unchanged.
            page.evaluate("document.querySelectorAll('.cause, .meaning, .advice, code, .sub').forEach(one => one.remove())")
            text = page.inner_text("main") + " ".join(
                one.get_attribute("aria-label") or "" for one in page.query_selector_all("main [aria-label]")
            )
            raw += [f"{route}: {found}" for found in re.findall(r"(?<![\d.,:-])[1-9]\d{3,} (?!UTC)[a-zA-Z%]+|(?<![\d.,:-])\d000(?!\d)", text)]
        assert not raw, "\n".join(raw)
        watched.check()
    finally:
        watched.close()
