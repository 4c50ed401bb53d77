"""The chart's dashboards, and the queries of their panels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Iterator, Tuple

from conftest import ROOT

DASHBOARDS = sorted((ROOT / "charts" / "spark-3.5" / "dashboards").glob("*.json"))


def expanded(expression: str) -> str:
    """A query with the variables of its dashboard filled in."""
    asked = expression.replace("$app", ".*").replace("$__rate_interval", "10s")
    assert "$" not in asked, asked
    return asked


def queries(dashboard: Path) -> Iterator[Tuple[str, str]]:
    """Title and expression of each query of each panel."""
    for panel in json.loads(dashboard.read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
