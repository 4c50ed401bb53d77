"""The recipes of docs/recipes: their commands run, and what they link to exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import List

import pytest
from conftest import ROOT, run_command

RECIPES = sorted((ROOT / "docs" / "recipes").rglob("*.md"))
TROUBLES = [page for page in RECIPES if page.parent.name == "troubleshoot"]
DASHBOARDS = ROOT / "charts" / "spark-3.5" / "dashboards"
RULES = ROOT / "charts" / "spark-3.5" / "rules" / "spark.yaml"


def commands(page: Path) -> List[str]:
    """Lines of code that begin with pyrometer, with those that follow it."""
    lines = re.findall(r"^    (pyrometer .*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return [line for line in lines if "://" not in line and "FOLDER" not in line]


@pytest.mark.parametrize("page", RECIPES, ids=lambda path: path.stem)
def test_commands_run(page: Path, binary: str, tmp_path: Path) -> None:
    log = re.search(r"<!-- log: (\S+) -->", page.read_text(encoding="utf-8"))
    assert log and commands(page)
    for line in commands(page):
        words = shlex.split(line.replace("LOG", str(ROOT / log.group(1))))
        words = [str(tmp_path / word) if before == "-o" else word for before, word in zip([""] + words, words)]
        run = run_command([binary, *words[1:]])
        assert run.exit == 0, (line, run.explain())


@pytest.mark.parametrize("page", TROUBLES, ids=lambda path: path.stem)
def test_has_every_part(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for part in ("Symptom", "Look", "Read", "Cause", "Fix", "Check"):
        assert f"\n## {part}\n" in text
    panels = "".join(path.read_text(encoding="utf-8") for path in DASHBOARDS.glob("*.json"))
    alerts = RULES.read_text(encoding="utf-8")
    text = " ".join(text.split())
    last = text[text.rindex("Rules: ") :]
    assert re.search(r"\]\(\.\./\.\./rules/[a-zA-Z-]+\.md\)", last)
    for panel in re.findall(r"\*([^*]+)\* of \*Spark", last):
        assert f'"title": "{panel}"' in panels, panel
    named = re.findall(r"\bSpark[A-Z][A-Za-z]+\b", last)
    assert named and all(f"alert: {alert}\n" in alerts for alert in named)


def test_every_alert_has_a_page() -> None:
    alerts = RULES.read_text(encoding="utf-8")
    pages = re.findall(r"runbook_url: \{\{ \$pages \}\}(\S+)", alerts)
    assert len(pages) == alerts.count("- alert: ")
    assert all((ROOT / "docs" / "recipes" / "troubleshoot" / page).is_file() for page in pages)
