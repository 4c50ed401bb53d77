"""Views of an OpenSearch store are those of an SQLite store with the same runs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cli_command import Command  # noqa: E402
from fleet_views import VIEWS  # noqa: E402
from repeated_runs import LOGS  # noqa: E402
from servers import opensearch  # noqa: E402
from servers.shared import ON_OPENSEARCH  # noqa: E402

pytestmark = ON_OPENSEARCH

PREFIX = "views"
PERCENTILE = re.compile(r"^median$|(^|_)p\d+$")


@pytest.fixture(scope="module")
def stores(opensearch_node: opensearch.Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dict[str, Any]]:
    folder = tmp_path_factory.mktemp("views")
    command = Command(folder)
    urls = {"sqlite": f"sqlite:{folder / 'runs.db'}", "opensearch": f"opensearch:{opensearch_node.url}/{PREFIX}"}
    logs = [ROOT / "corpus" / "logs" / f"{name}.zst" for name in LOGS]
    for url in urls.values():
        assert command("diagnose", *logs, "-f", "json", "--config", "none", "--store", url).returncode == 0
    yield {"command": command, **urls}
    opensearch_node.remove(PREFIX)


def same(name: str, found: Any, expected: Any, one_run: bool) -> bool:
    """Sums agree to 1e-9 of their value. Percentiles of a digest are between two values: tests/store compares their ranks."""
    if PERCENTILE.search(name) and not one_run:
        return (found is None) == (expected is None)
    if isinstance(expected, float) or isinstance(found, float):
        return found is not None and expected is not None and found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return bool(found == expected)


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_alike(stores: Dict[str, Any], view: str) -> None:
    asked = [["--by", "application"] if view == "usage" else [], ["--app", LOGS[0], "--max", "duration_ms=1e9"], ["--user", "nobody"]]
    if view == "compare":
        asked = [["--by", "date"], ["--by", "user"], ["--by", "version", "--user", "nobody"]]
    for options in asked:
        documents = []
        for kind in ("sqlite", "opensearch"):
            done = stores["command"]("fleet", view, stores[kind], "--format", "json", *options)
            assert done.returncode == 0, (kind, done.stderr)
            documents.append(json.loads(done.stdout))
        reference, other = documents
        assert [other[name] for name in ("query", "columns", "units", "notes", "pictures")] == [reference[name] for name in ("query", "columns", "units", "notes", "pictures")]
        for expected, found in zip([reference, *reference["tables"]], [other, *other["tables"]]):
            assert len(found["rows"]) == len(expected["rows"])
            for left, right in zip(found["rows"], expected["rows"]):
                assert all(same(*cell, "--app" in options) for cell in zip(expected["columns"], left, right)), (left, right)
