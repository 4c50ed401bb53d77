#!/usr/bin/env python3
"""Compare what reports promised with what repaired runs saved, and write the tables of docs/accuracy.md.

    python3 corpus/loop_accuracy.py [--update-docs]

The runs and promises are those of corpus/loop/manifest.json. A saving is the median time before minus the median time
after, both from the first executor's registration.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Tuple

import page_parts

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "corpus" / "loop" / "manifest.json"
PAGE = ROOT / "docs" / "accuracy.md"
HARM_SHARE, FAULT_SHARE = 0.02, 0.05
CASE_TABLES = {"cases": 1, "further cases": 2}
GROUPS = [(series, split) for series in (1, 2) for split in ("development", "held-out")]
Row = Dict[str, Any]


def times(entry: Row, side: str) -> List[int]:
    return [one["ms"] for one in entry[side]]


def saved_ms(entry: Row) -> Optional[float]:
    """Return what the repair saved; None where one side did not run."""
    before, after = times(entry, "before"), times(entry, "after")
    return statistics.median(before) - statistics.median(after) if before and after else None


def outcome(entry: Row) -> Optional[Row]:
    """Return what a repaired case saved beside what was promised; None for one that was not repaired."""
    before, after = times(entry, "before"), times(entry, "after")
    promised = entry["promise"]["saves_ms"]
    saved = saved_ms(entry)
    if saved is None or not promised:
        return None
    expected = promised["expected"]
    return {
        "saved": saved,
        "inside": promised["low"] <= saved <= promised["high"],
        "ratio": saved / expected if expected > 0 else None,
        # all repaired runs slower than all faulty ones, and by more than chance
        "harmful": min(after) > max(before) * (1 + HARM_SHARE),
        "width": (promised["high"] - promised["low"]) / entry["promise"]["duration_ms"],
    }


def faulty_of(entries: List[Row], series: int, split: str) -> List[Row]:
    """Return the cases with a fault of a series and a split."""
    return [one for one in entries if series_of(one) == series and one["split"] == split and one["kind"] != "healthy"]


def series_of(entry: Row) -> int:
    return int(entry.get("series", 1))


def repaired(entries: List[Row], series: int, split: str) -> List[Tuple[Row, Row]]:
    """Return the repaired cases of a series and a split, each with its outcome."""
    pairs = [(one, outcome(one)) for one in faulty_of(entries, series, split)]
    return [(one, result) for one, result in pairs if result]


def is_fault(entry: Row) -> bool:
    """Tell whether the repair made a difference, as far as it ran: what costs nothing needs no action."""
    saved = saved_ms(entry)
    return saved is None or saved >= FAULT_SHARE * statistics.median(times(entry, "before"))


def is_right(entry: Row) -> bool:
    """Tell whether the first action is the one that the case was written for."""
    actions = entry["promise"]["actions"][:1]
    said = {key for one in actions for key in one["config"]} | {cure for one in actions for cure in one["cures"]}
    return any(word == fault or word.startswith(f"{fault}:") for word in said for fault in entry["faults"])


def right_actions(faulty: List[Row]) -> str:
    """Return for how many faults the first action is right; the first series does not say what is right."""
    known = [one for one in faulty if one.get("faults") and is_fault(one)]
    return f"{sum(map(is_right, known))} of {len(known)}" if known else "-"


def seconds(ms: float) -> str:
    return f"{ms / 1000:.1f}"


def each(values: Iterable[int]) -> str:
    return ", ".join(seconds(value) for value in values)


def advice(entry: Row) -> str:
    """Return what was applied, as one reads it in a table."""
    if entry["kind"] == "code":
        return "the change of the program"
    settings = entry["promise"]["settings"]
    return "<br>".join(f"`{key.replace('spark.', '', 1)}={value}`" for key, value in settings.items()) or "nothing"


def case_table(entries: List[Row]) -> List[str]:
    lines = [
        "| case | split | applied | before s | after s | promised s | saved s | inside |",
        "| --- | --- | --- | --- | --- | --- | ---: | --- |",
    ]
    for entry in entries:
        result, promised = outcome(entry), entry["promise"]["saves_ms"]
        promise = "no advice"
        if promised:
            promise = f"{seconds(promised['expected'])} ({seconds(promised['low'])} to {seconds(promised['high'])})"
        cells = ["-", "-"]
        if result:
            cells = [seconds(result["saved"]), "yes" if result["inside"] else "no"]
        lines.append(
            f"| {entry['case']} | {entry['split']} | {advice(entry)} | {each(times(entry, 'before'))} "
            f"| {each(times(entry, 'after')) or '-'} | {promise} | {cells[0]} | {cells[1]} |"
        )
    return lines


def summary_table(entries: List[Row]) -> List[str]:
    lines = [
        "| series | split | cases | first action right | repaired | inside | saved / promised, median "
        "| interval / run, mean | harmful | without advice |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for series, split in GROUPS:
        faulty = faulty_of(entries, series, split)
        results = [result for _, result in repaired(entries, series, split)]
        ratios = [result["ratio"] for result in results if result["ratio"] is not None]
        silent = sum(1 for one in faulty if not one["promise"]["saves_ms"])
        if not results:
            continue
        lines.append(
            f"| {series} | {split} | {len(faulty)} | {right_actions(faulty)} | {len(results)} "
            f"| {sum(result['inside'] for result in results)} "
            f"| {statistics.median(ratios):.2f} | {statistics.mean(result['width'] for result in results):.2f} "
            f"| {sum(result['harmful'] for result in results)} | {silent} |"
        )
    healthy = [one for one in entries if one["kind"] == "healthy"]
    quiet = sum(1 for one in healthy if not one["promise"]["findings"])
    return [*lines, "", f"Healthy programs without a finding above `low`: {quiet} of {len(healthy)}."]


def peer_table(entries: List[Row]) -> List[str]:
    """Return the figures that other tools publish: savings within twofold, and the mean absolute error."""
    lines = [
        "| series | split | savings within 2x | mean absolute error s | mean saving s | whole plans inside |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for series, split in GROUPS:
        known = repaired(entries, series, split)
        if not known:
            continue
        near = sum(1 for _, result in known if result["ratio"] is not None and 0.5 <= result["ratio"] <= 2)
        errors = [abs(result["saved"] - one["promise"]["saves_ms"]["expected"]) for one, result in known]
        plans = [result["inside"] for one, result in known if one["kind"] != "code"]
        lines.append(
            f"| {series} | {split} | {near} of {len(known)} | {seconds(statistics.mean(errors))} "
            f"| {seconds(statistics.mean(result['saved'] for _, result in known))} | {sum(plans)} of {len(plans)} |"
        )
    return lines


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--update-docs", action="store_true")
    given = options.parse_args()
    entries = json.loads(MANIFEST.read_text(encoding="utf-8"))["cases"]
    faulty = [one for one in entries if one["kind"] != "healthy"]
    parts = {"summary": summary_table(entries), "peers": peer_table(entries)}
    for name, series in CASE_TABLES.items():
        parts[name] = case_table([one for one in faulty if series_of(one) == series])
    if given.update_docs:
        page_parts.update(PAGE, Path(__file__).name, parts)
    else:
        for lines in parts.values():
            print("\n".join(lines), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
