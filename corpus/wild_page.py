#!/usr/bin/env python3
"""Write the table of corpus/wild into docs/inputs.md.

    python3 corpus/wild_page.py [--update-docs]

It needs the packages of tests/requirements.txt.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict, List

import page_parts
from wild import forms
from wild.forms import Answer, Collections, Form, Refused, Run, Runs, Text
from wild.table import GROUPS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "inputs.md"
SCRIPT = "corpus/wild_page.py"
CONFIDENCE = {forms.WHOLE: "", forms.NEARLY: "confidence below 1", forms.PART: "confidence below 0.8", forms.LITTLE: "confidence below 0.3"}


def said(answer: Answer) -> str:
    """The right answer in words."""
    if isinstance(answer, Refused):
        return f"refused: {answer.reason}"
    if isinstance(answer, Run):
        marks = [f"`{mark}`" for mark in answer.marks if mark not in ("partial",)]
        rules = [f"`{rule}`" for rule in answer.findings]
        parts = [CONFIDENCE[answer.confidence], ", ".join(marks), "finding " + ", ".join(rules) if rules else ""]
        return "; ".join(["a run", *(part for part in parts if part)])
    if isinstance(answer, Runs):
        return f"{len(answer.runs)} runs"
    if isinstance(answer, Collections):
        return f"{answer.problem}; the run is read" if answer.problem else f"{plural(answer.pauses, 'pause')}, {answer.pause_ms} ms"
    if isinstance(answer, Text):
        errors = ", ".join(f"`{one.level}` of `{one.cause}`" for one in answer.errors) or "no error"
        tasks = plural(answer.tasks, "task") if answer.tasks else ""
        jobs = plural(answer.jobs, "job") if answer.jobs else ""
        parts = [errors, jobs, tasks, *(f"the note \"{note}\"" for note in answer.notes)]
        return ", ".join(part for part in parts if part)
    raise AssertionError(answer)


def plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def ways_of(form: Form) -> str:
    """The ways in that a row is checked by, and where the answer differs on purpose."""
    ways = [way for way in forms.WAYS if form.comes_by(way) and way not in form.differs]
    every = forms.TEXT_WAYS if isinstance(form.answer, Text) else forms.WAYS
    text = "all ways" if len(ways) == len(every) else ", ".join(ways)
    differs: Dict[str, List[str]] = {}
    for way, other in form.differs.items():
        differs.setdefault(f"{said(other.answer)}, because {other.why}", []).append(way)
    return "; ".join([text, *(f"{' and '.join(ways)}: {what}" for what, ways in differs.items())])


def table() -> List[str]:
    lines = ["| form | from | right answer | checked by |", "| --- | --- | --- | --- |"]
    for group, rows in GROUPS.items():
        lines.append(f"| **{group}** | | | |")
        lines += [f"| {form.name} | {form.writers} | {said(form.answer)} | {ways_of(form)} |" for form in rows]
    return lines


def main() -> None:
    if "--update-docs" in sys.argv[1:]:
        page_parts.update(PAGE, SCRIPT, {"forms": table()})
    else:
        print("\n".join(table()))


if __name__ == "__main__":
    main()
