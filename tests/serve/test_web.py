"""The web UI as the server hands it out, and `diagnose --format html`: bytes, headers and what must never be in them.
What the pages do in a browser is tested in tests/web."""

from __future__ import annotations

import hashlib
import base64
import html.parser
import http.client
import json
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

import conftest
from servers.pyrometer import Server

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "corpus" / "logs"


def has_web() -> bool:
    doctor = subprocess.run([str(conftest.binary_path()), "doctor", "--format", "json"], capture_output=True, check=True)
    features = json.loads(doctor.stdout)["features"]
    return any(feature["name"] == "html" and feature["available"] for feature in features)


needs_web = pytest.mark.skipif(not has_web(), reason="this build has no web UI: no node, or no npm install in web/")


def get(server: Server, path: str, **headers: str) -> Tuple[int, Dict[str, str], bytes]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


class Elements(html.parser.HTMLParser):
    """Scripts, styles and everything that names another file."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.open: List[Dict[str, str]] = []
        self.inside: List[Tuple[Dict[str, str], str]] = []
        self.references: List[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, "str | None"]]) -> None:
        values = {"tag": tag, **{name: value or "" for name, value in attrs}}
        self.references += [values[name] for name in ("src", "href") if name in values]
        assert not any(name.startswith("on") for name in values), f"inline handler in {values}"
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag in ("script", "style"):
            self.open.append(values)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside.append((self.open[-1], data))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.open.pop()


def data_of(page: Elements) -> Any:
    text = dict((e.get("id", ""), text) for e, text in page.inside)["pyrometer-data"]
    return json.loads(conftest.unpacked(text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One log, so that the first scan is short."""
    path = tmp_path_factory.mktemp("web")
    (path / "data_skew.zst").write_bytes((LOGS / "data_skew.zst").read_bytes())
    return path


@needs_web
def test_the_page_and_its_files(folder: Path) -> None:
    with Server(folder) as server:
        status, headers, page = get(server, "/")
        assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        elements = Elements(page.decode())
        assert not elements.inside
        files = [name for name in elements.references if not name.startswith("data:")]
        assert sorted(re.sub(r"[0-9a-f]{12}", "HASH", name) for name in files) == ["app.HASH.css", "app.HASH.js"]
        for name in files:
            status, headers, data = get(server, f"/{name}")
            assert status == 200 and "immutable" in headers["cache-control"] and len(data) > 1000
            assert hashlib.sha256(data).hexdigest()[:12] in name
            assert get(server, f"/{name}", **{"If-None-Match": headers["etag"]})[0] == 304
        size = sum(len(get(server, f"/{name}")[2]) for name in files)
        assert size < 1_000_000, f"the bundle has {size} bytes"


def test_other_paths_are_not_there(folder: Path) -> None:
    with Server(folder) as server:
        for path in ("/app.js", "/report-1.html", "/../etc/passwd", "/%2e%2e/etc/passwd", "/favicon.ico", "/x/index.html"):
            assert get(server, path)[0] == 404, path
        assert server.request("POST", "/")[0] == 405


@needs_web
def test_the_report_is_one_file_that_may_load_nothing(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    log = LOGS / "data_skew.zst"
    binary = str(conftest.binary_path())
    subprocess.run([binary, "diagnose", str(log), "--format", "html", "-o", str(out)], check=True)
    elements = Elements(out.read_text(encoding="utf-8"))
    assert all(name.startswith("data:") for name in elements.references)
    assert "default-src 'none'" in elements.policy and "unsafe" not in elements.policy
    for element, content in elements.inside:
        if element.get("type") != "application/json":
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in elements.policy, f"the policy forbids the page's own {element['tag']}"
    documents = data_of(elements)["documents"]
    report = subprocess.run([binary, "diagnose", str(log), "--format", "json"], check=True, capture_output=True)
    assert documents["report"] == json.loads(report.stdout)
    again = subprocess.run([binary, "diagnose", str(log), "--format", "html", "--threads", "1"], check=True, capture_output=True)
    assert again.stdout == out.read_bytes()


@needs_web
def test_long_documents_are_compressed(tmp_path: Path) -> None:
    """The page of a large log stays small enough to be sent around, and nothing that the pages show is left out."""
    log = LOGS / "healthy_wide.zst"
    page = subprocess.run([str(conftest.binary_path()), "diagnose", str(log), "--format", "html"], check=True, capture_output=True)
    elements = Elements(page.stdout.decode())
    text = dict((e.get("id", ""), text) for e, text in elements.inside)["pyrometer-data"]
    packed = {name for name, one in json.loads(text)["documents"].items() if list(one) == ["gzip"]}
    plain = data_of(elements)["documents"]
    assert {"report", "sql/0"} <= packed
    assert all(len(json.dumps(one, separators=(",", ":"))) < 1 << 15 for name, one in plain.items() if name not in packed)
    assert len(text) < len(json.dumps(plain)) / 2


@needs_web
def test_markup_in_a_log_stays_text(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script><!--"
    log = tmp_path / "hostile"
    start = {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": "a", "Timestamp": 1, "User": "<b>"}
    log.write_text(json.dumps({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}) + "\n" + json.dumps(start) + "\n")
    binary = str(conftest.binary_path())
    page = subprocess.run([binary, "diagnose", str(log), "--format", "html"], check=True, capture_output=True).stdout.decode()
    assert "<script>alert" not in page and page.count("</script>") == 2 and "<!--" not in page
    elements = Elements(page)
    data = data_of(elements)
    assert data["documents"]["report"]["application"]["name"] == name


@needs_web
def test_several_logs_are_one_page(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no event\n")
    logs = [LOGS / "data_skew.zst", LOGS / "healthy_etl.zst", broken]
    run = subprocess.run(
        [str(conftest.binary_path()), "diagnose", *map(str, logs), "--format", "html"], capture_output=True, check=False
    )
    assert run.returncode == 0
    elements = Elements(run.stdout.decode())
    data = data_of(elements)
    assert [one["documents"]["report"]["application"]["name"] for one in data["reports"]] == ["data_skew", "healthy_etl"]
    assert [one["path"] for one in data["unreadable"]] == [str(broken)]


@pytest.mark.skipif(has_web(), reason="this build has a web UI")
def test_a_build_without_it_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    run = subprocess.run(
        [str(conftest.binary_path()), "diagnose", str(LOGS / "data_skew.zst"), "--format", "html", "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2 and "npm install" in run.stderr and not out.exists()
    with Server(folder) as server:
        status, _, text = get(server, "/")
        assert status == 200 and b"npm install" in text
