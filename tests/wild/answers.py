"""What a way in made of a row, compared with its right answer."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterator, List, Tuple

import conftest

sys.path.insert(0, str(conftest.ROOT / "corpus"))

from wild.forms import FOLDER, REST, TAR, UPLOAD, ZIP, Answer, Collections, Form, Refused, Run, Runs, Text  # noqa: E402
from text_ways import Read  # noqa: E402
from ways import Seen  # noqa: E402

NO_MARKS = ("bytes", "lines", "events", "tasks_started", "tasks_ended", "confidence", "notes", "source")
# What answers of a server cannot show: they have neither lines nor files, and no order of events.
ONLY_IN_LOGS = ("bad_lines", "events_missing", "missing_parts", "repeated_events", "replaced_characters", "truncated", "partial")


def plain(report: Any) -> Dict[str, Any]:
    """Members by their path; parts of accounts by their name, executors and stages by their id."""
    found: Dict[str, Any] = {}
    for group in ("application", "integrity", "totals", "bounds", "memory", "replay"):
        found.update({f"{group}.{key}": value for key, value in report[group].items()})
    for name in ("wall", "core"):
        found.update({f"{name}.{part['name']}": part["ms"] for part in report["accounting"][name]["parts"]})
    for kind in ("executors", "stages"):
        for one in report[kind]:
            found.update({f"{kind}.{one['id']}.{key}": value for key, value in one.items()})
    return found


def same(expected: Any, value: Any) -> bool:
    """A pair of numbers is a range."""
    if isinstance(expected, tuple):
        return isinstance(value, (int, float)) and expected[0] <= value <= expected[1]
    return bool(expected == value)


def marks_of(integrity: Dict[str, Any], way: str) -> List[str]:
    left_out = ONLY_IN_LOGS if way == REST else ()
    return sorted(key for key, value in integrity.items() if value and key not in NO_MARKS and key not in left_out)


def marks_by(way: str, run: Run) -> Tuple[List[str], ...]:
    """Those that this way may show: an application of a server that has no end runs, and what is far from sure is not a contradiction."""
    if way != REST:
        return (sorted(run.marks),)
    marks = sorted({"in_progress" if one == "truncated" else one for one in run.marks} - set(ONLY_IN_LOGS))
    return marks, [one for one in marks if one != "contradictory"]


def confidence_by(way: str, run: Run) -> Tuple[float, float]:
    """From a server 0.1 lower; it does not see all that is wrong with a log."""
    least, most = run.confidence
    return (least - 0.1 - 1e-9, (most if most == 1 else 1) - 0.1 + 1e-9) if way == REST else (least - 1e-9, most + 1e-9)


def wrong_in_report(report: Any, run: Run, way: str) -> Iterator[str]:
    integrity = report["integrity"]
    least, most = confidence_by(way, run)
    if not least <= integrity["confidence"] <= most:
        yield f"confidence {integrity['confidence']}, not {least:.2f} to {most:.2f}"
    if marks_of(integrity, way) not in marks_by(way, run):
        yield f"marks {marks_of(integrity, way)}, not {marks_by(way, run)}"
    notes = "\n".join(integrity["notes"])
    if way != REST:
        yield from (f"no note {text!r} in {notes}" for text in run.notes if text not in notes)
    members = plain(report)
    for path, value in run.says.items():
        if not same(value, members.get(path, "absent")):
            yield f"{path} is {members.get(path, 'absent')}, not {value}"
    findings = {one["rule"]: one for one in report["findings"]}
    if sorted(findings) != sorted(run.findings):
        yield f"findings {sorted(findings)}, not {sorted(run.findings)}"
    for rule, text in run.causes.items():
        if rule in findings and text not in findings[rule]["cause"]:
            yield f"{rule}: {findings[rule]['cause']}"
    if sorted(report["config_changes"]) != sorted(run.settings):
        yield f"settings {report['config_changes']}"


def wrong_collections(report: Any, message: str, right: Collections) -> Iterator[str]:
    """Of the garbage collector; the run itself is read as if it were alone."""
    pauses = report["profiling"]["gc_pauses"] if report.get("profiling") else []
    found = [(one["executor"], one["pauses"], one["total_ms"]) for one in pauses]
    if found != ([("1", right.pauses, right.pause_ms)] if right.pauses else []):
        yield f"pauses {found}"
    problems = [one["problems"] or "" for one in report["profiling"]["artefacts"]] if report.get("profiling") else []
    if right.problem not in "\n".join([*problems, message]):
        yield f"problems {problems}, {message!r}"
    if report["integrity"]["confidence"] != 1 or report["totals"]["tasks"] != 16:
        yield f"the run: {report['integrity']}"


def answer_by(form: Form, way: str) -> Answer:
    return form.differs[way].answer if way in form.differs else form.answer


def wrong(form: Form, way: str, seen: Seen) -> Iterator[str]:
    """What is not as the table says."""
    answer = answer_by(form, way)
    if isinstance(answer, Collections):
        if len(seen.reports) == 1:
            yield from wrong_collections(seen.reports[0], seen.message, answer)
        else:
            yield f"{len(seen.reports)} reports: {seen.message}"
    elif isinstance(answer, Refused):
        if seen.reports:
            yield f"{len(seen.reports)} reports of what is no run"
        elif answer.reason not in seen.message:
            yield f"refused with {seen.message!r}"
    else:
        runs = answer.runs if isinstance(answer, Runs) else (answer,)
        if len(seen.reports) != len(runs):
            yield f"{len(seen.reports)} reports, not {len(runs)}: {seen.message}"
        for report, run in zip(seen.reports, runs):
            assert isinstance(run, Run)
            yield from wrong_in_report(report, run, way)


def wrong_errors(made: Any, text: Text, way: str) -> Iterator[str]:
    found = sorted(made["errors"], key=lambda one: (one["level"], one["text"]))
    expected = sorted(text.errors, key=lambda one: (one.level, one.text))
    levels = [(one["level"], one["count"]) for one in found]
    if levels != [(one.level, one.count) for one in expected]:
        yield f"errors {levels}"
        return
    for one, right in zip(found, expected):
        if right.text not in one["text"] or one["cause"] != right.cause:
            yield f"error {one['text']!r} of {one['cause']}, not {right.text!r} of {right.cause}"
        if text.containers and tuple(one["containers"]) != text.containers:
            yield f"containers {one['containers']}"
    notes = "\n".join(note["text"] for note in made["notes"])
    yield from (f"no note {note!r} in {notes!r}" for note in text.notes if note not in notes)


def wrong_in_text(text: Text, way: str, read: Read) -> Iterator[str]:
    """Of text logs: errors, times of jobs and tasks, and the application that is made of them."""
    if read.errors is None:
        if way != UPLOAD or text.is_run:
            yield f"not read: {read.message}"
        return
    yield from wrong_errors(read.errors, text, way)
    if read.timeline is not None:
        counts = len(read.timeline["jobs"]), len(read.timeline["tasks"])
        if counts != (text.jobs, text.tasks):
            yield f"jobs and tasks of the timeline: {counts}"
    if way not in (FOLDER, ZIP, TAR, UPLOAD):
        return
    if (read.report is not None) != text.is_run:
        yield f"report {read.report is not None}: {read.message}"
    elif text.is_run:
        totals = read.report["totals"]
        if (totals["jobs"], totals["tasks"]) != (text.jobs, text.ended):
            yield f"jobs and tasks of the report: {totals['jobs'], totals['tasks']}"
        if read.report["integrity"]["confidence"] > 0.3:
            yield f"confidence {read.report['integrity']['confidence']}"
    else:
        yield from (f"no {note!r} in {read.message!r}" for note in text.notes if note not in read.message)
