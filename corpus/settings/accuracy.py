#!/usr/bin/env python3
"""Whether reports name the settings that recorded runs were slow for: python3 corpus/settings/accuracy.py [--write]

A case is named if an action of the report sets its property, or a finding above low severity names it as its cause. A
value that made the run slower must be named; one that did not, and the twin with Spark's default, must not. Of pairs that ran
again the medians count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from page_parts import update  # noqa: E402

SLOWER_SHARE, SLOWER_MS = 0.1, 2000  # than its twin: the value has an effect
Json = Dict[str, Any]


def report_of(binary: Path, log: Path) -> Json:
    done = subprocess.run([str(binary), "diagnose", "-f", "json", str(log)], capture_output=True, check=True)
    report: Json = json.loads(done.stdout)
    return report


def names(report: Json, key: str) -> bool:
    """Tell whether the report blames a property."""
    if any(key in action["config"] for action in report["actions"]):
        return True
    return any(key in finding["cause"] for finding in report["findings"] if finding["severity"] != "low")


def said_ms(report: Json, key: str) -> Optional[float]:
    """What the report says that the value costs, where a rule measures this."""
    for finding in report["findings"]:
        if finding["id"] == f"costly-setting:{key}":
            return next(row["value"] for row in finding["evidence"] if row["metric"] == "cost_wall_ms")
    return None


def judge(binary: Path, logs: Path, name: str, row: Json) -> Json:
    bad_ms = median([row["bad_ms"], *row.get("bad_again_ms", [])])
    twin_ms = median([row["twin_ms"], *row.get("twin_again_ms", [])])
    slower = bad_ms - twin_ms
    report = report_of(binary, logs / f"{name}.zst")
    return {
        **row,
        "name": name,
        "bad_ms": bad_ms,
        "twin_ms": twin_ms,
        "effect": slower >= max(SLOWER_SHARE * twin_ms, SLOWER_MS),
        "named": names(report, row["key"]),
        "said_ms": said_ms(report, row["key"]),
        "first": bool(report["actions"]) and row["key"] in report["actions"][0]["config"],
        "twin_named": names(report_of(binary, logs / f"{row['twin']}.zst"), row["key"]),
    }


def share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def figures(rows: List[Json]) -> Json:
    effect = [row for row in rows if row["effect"]]
    right = sum(row["named"] for row in effect)
    wrong = sum(row["named"] for row in rows if not row["effect"]) + sum(row["twin_named"] for row in rows)
    return {
        "cases": len(rows),
        "effect": len(effect),
        "right": right,
        "first": sum(row["first"] for row in effect),
        "wrong": wrong,
        "recall": share(right, len(effect)),
        "precision": share(right, right + wrong),
    }


def table(rows: List[Json]) -> List[str]:
    lines = ["| properties | cases | slower than the twin | named | as first action | named wrongly | recall | precision |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for title, held_out in (("development", False), ("held-out", True)):
        one = figures([row for row in rows if row["held_out"] == held_out])
        cells = [title, *(str(one[key]) for key in ("cases", "effect", "right", "first", "wrong", "recall", "precision"))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def costs(rows: List[Json]) -> List[str]:
    """What values cost by the report, against how much longer the runs took."""
    lines = ["| setting | value | program | longer, s | said to cost, s | held-out |", "| --- | --- | --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda row: row["twin_ms"] - row["bad_ms"]):
        if row["said_ms"] is not None:
            program = row["name"].rpartition("-")[2]
            longer, said = (row["bad_ms"] - row["twin_ms"]) / 1000, row["said_ms"] / 1000
            cells = [f"`{row['key']}`", f"`{row['value']}`", program, f"{longer:.1f}", f"{said:.1f}", "yes" if row["held_out"] else ""]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pyrometer")
    parser.add_argument("--logs", type=Path, default=HERE / "logs")
    parser.add_argument("--held-out", action="store_true", help="also say which of those that are held out were missed")
    parser.add_argument("--write", action="store_true", help="write the table into docs/accuracy.md")
    options = parser.parse_args(argv)
    recorded = json.loads((options.logs / "runs.json").read_text(encoding="utf-8"))
    rows = [judge(options.binary, options.logs, name, row) for name, row in sorted(recorded.items())]
    for row in rows:
        if not row["held_out"] or options.held_out:
            word = "named" if row["named"] else "MISSED" if row["effect"] else "silent"
            wrong = (" WRONG" if row["named"] and not row["effect"] else "") + (" TWIN" if row["twin_named"] else "")
            print(f"{row['twin_ms'] / 1000:6.1f} {row['bad_ms'] / 1000:6.1f} s  {word}{wrong}  {row['name']}")
    lines = table(rows)
    print("\n".join(lines))
    if options.write:
        update(ROOT / "docs" / "accuracy.md", "settings/accuracy.py", {"settings": lines, "costs": costs(rows)})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
