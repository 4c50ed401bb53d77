"""A real browser for the tests of the web UI, and what they look at on every page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional
from urllib.parse import quote

import pytest

import conftest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "serve"))  # its Server
LOGS = ROOT / "corpus" / "logs"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
DATA = re.compile(r'(<script type="application/json" id="pyrometer-data">)(.*?)(</script>)', re.S)


def missing() -> Optional[str]:
    """Why there is no browser to test with, or None."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright for Python is not installed (tests/requirements-servers.txt)"
    if chromium() is None:
        return "there is no Chromium (as Debian calls it: chromium)"
    doctor = subprocess.run([str(conftest.binary_path()), "doctor", "--format", "json"], capture_output=True, check=True)
    features = json.loads(doctor.stdout)["features"]
    if not any(feature["name"] == "html" and feature["available"] for feature in features):
        return "this build has no web UI: no node, or no npm install in web/"
    return None


def chromium() -> Optional[str]:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def launched() -> Iterator[Any]:
    """A headless Chromium. Without its sandbox: containers and root have none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page of the browser that notes every error and every request that leaves where it came from."""

    def __init__(self, browser: Any, theme: str = "light", offline: bool = False, origin: str = "file:") -> None:
        self.context = browser.new_context(
            color_scheme=theme, viewport={"width": 1360, "height": 900}, offline=offline, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.errors: List[str] = []
        self.requests: List[str] = []
        self.origin = origin
        self.page.on("console", lambda message: self._console(message))
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    def open(self, address: str) -> None:
        """Go to an address and wait until nothing is being loaded."""
        self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_selector("main h1", state="attached")
        self.until("!document.querySelector('main .loading')")
        self.page.wait_for_timeout(50)  # charts draw in the next frame

    def until(self, expression: str) -> None:
        """Wait until an expression holds. (Playwright's own waiting needs eval(), which the page forbids.)"""
        for _ in range(1200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{expression} never held at {self.page.url}")

    def settle_any(self) -> None:
        """The same where the address may name no page."""
        self.page.wait_for_selector("main h1, main .problem", state="attached")
        self.until("!document.querySelector('main .loading')")
        self.page.wait_for_timeout(50)

    def check(self) -> None:
        """Nothing broke, nothing was asked for elsewhere."""
        assert not self.errors, self.errors
        elsewhere = [url for url in self.requests if not url.startswith((self.origin, "data:", "blob:"))]
        assert not elsewhere, elsewhere
        broken = self.page.query_selector("main .problem")
        assert broken is None, broken.inner_text()

    def violations(self) -> List[str]:
        """Serious and critical findings of axe-core about the page as it is."""
        if not self.page.evaluate("typeof window.axe === 'object'"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{found['id']} ({found['impact']}): {node['target']} {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
            for found in result["violations"]
            if found["impact"] in ("serious", "critical")
            for node in found["nodes"]
        ]

    def close(self) -> None:
        self.context.close()


def write_report(log: Path, out: Path) -> Dict[str, Any]:
    """`diagnose --format html`; returns the documents inside."""
    subprocess.run([str(conftest.binary_path()), "diagnose", str(log), "--format", "html", "-o", str(out)], check=True)
    return documents_of(out)


def documents_of(page: Path) -> Dict[str, Any]:
    match = DATA.search(page.read_text(encoding="utf-8"))
    assert match is not None
    return json.loads(conftest.unpacked(match.group(2)))["documents"]


def with_documents(page: Path, documents: Dict[str, Any], out: Path) -> None:
    """The same page with other documents."""
    text = json.dumps({"documents": documents}).replace("<", "\\u003c")
    source = page.read_text(encoding="utf-8")
    out.write_text(DATA.sub(lambda match: match.group(1) + text + match.group(3), source), encoding="utf-8")


def app_route(documents: Dict[str, Any], rest: str) -> str:
    application = documents["report"]["application"]
    attempt = application["attempt"] or "-"
    return f"#/app/{quote(application['id'] or '-', safe='')}/{quote(attempt, safe='')}/{rest}"


requires_browser = pytest.mark.skipif(missing() is not None, reason=missing() or "")
