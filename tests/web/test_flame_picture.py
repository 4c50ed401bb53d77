"""The picture of a flame graph in a real browser: search, zoom, and nothing loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest

from browser import launched, missing
from conftest import ROOT, binary_path, run_command

pytestmark = [pytest.mark.server, pytest.mark.skipif(missing() is not None, reason=str(missing()))]


def shown(page: Any) -> int:
    return page.evaluate("[...document.querySelectorAll('g.f')].filter(g => g.style.display !== 'none').length")


def test_search_and_zoom(tmp_path: Path) -> None:
    path = tmp_path / "flame.svg"
    recording = ROOT / "tests" / "artefacts" / "profiles" / "jdk25.jfr.gz"
    run = run_command([str(binary_path()), "flame", "--merge-lines", str(recording), "-o", str(path)])
    assert run.exit == 0, run.explain()
    problems: List[str] = []
    requests: List[str] = []
    with launched() as browser:
        page = browser.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        whole = shown(page)
        page.fill("#search", "COMPUTE")
        share = float(page.eval_on_selector("#matched", "e => e.textContent").split()[1])
        assert 0 < share <= 100
        page.locator("g.f", has=page.locator("title", has_text="ProfiledWork.compute")).first.click()
        assert 0 < shown(page) < whole
        page.locator("#reset").click()
        assert shown(page) == whole
    assert problems == []
    assert requests == [path.as_uri()]
