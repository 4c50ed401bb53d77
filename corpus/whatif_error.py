#!/usr/bin/env python3
"""Compares what `pyrometer whatif` predicts with what real Spark measured, and writes the tables of docs/whatif_accuracy.md.

    python3 corpus/whatif_error.py --binary build/pyrometer [--job NAME] [--split held-out] [--update-docs]

Each pair of corpus/whatif/manifest.json is one log, the change of another run of the same job, and that run's time.
What compares is the time from the first job after the warm-up to the end of the last one; the whole application, with
the start-up of virtual machines on two cores, is next to it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import page_parts

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "corpus" / "whatif"
PAGE = ROOT / "docs" / "whatif_accuracy.md"
SPARKLENS = PAIRS / "sparklens.json"
LEFT_OUT = PAIRS / "left_out.json"
Row = Dict[str, Any]


def predict(binary: str, pair: Row) -> Optional[Row]:
    """Return the scenario that pyrometer makes of a pair's base, or None where it refuses."""
    command = [binary, "whatif", str(PAIRS / pair["base"]), *pair["options"], "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode != 0:
        print(f"{name_of(pair)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["scenarios"][0]


def name_of(pair: Row) -> str:
    base, other = (Path(pair[key]).stem.split("-", 1)[1] for key in ("base", "other"))
    return f"{pair['job']} {base} -> {other}"


def jobs_ms(scenario: Row, first_job: int) -> int:
    """Return the time from the start of the first job that compares to the end of the last one."""
    compared = [job for job in scenario["jobs"] if job["id"] >= first_job]
    return max(job["end_ms"] for job in compared) - min(job["start_ms"] for job in compared)


def within(scenario: Row, predicted: int, measured: int) -> bool:
    """Tell whether the measured time lies in the interval, which is given for the application as a whole."""
    wall = scenario["wall_ms"]
    rest = wall["expected"] - predicted
    return wall["low"] - rest <= measured <= wall["high"] - rest


def sparklens_of(pair: Row, known: Dict[Tuple[str, int], int]) -> Optional[int]:
    """Return what Sparklens predicts; it knows of no change but the number of executors."""
    if not pair["executors_only"]:
        return None
    return known.get((pair["base"], int(pair["options"][1])))


def rows_of(binary: str, pairs: Iterable[Row]) -> List[Row]:
    """Return each pair with its predictions and errors; what was refused has no error."""
    known: Dict[Tuple[str, int], int] = {}
    if SPARKLENS.exists():
        for entry in json.loads(SPARKLENS.read_text(encoding="utf-8"))["predictions"]:
            known[entry["base"], entry["executors"]] = entry["jobs_ms"]
    rows = []
    for pair in pairs:
        row: Row = {"pair": pair, "sparklens_ms": sparklens_of(pair, known)}
        scenario = predict(binary, pair)
        measured = pair["measured_jobs_ms"]
        if scenario:
            predicted = jobs_ms(scenario, pair["first_job"])
            row["predicted_ms"], row["error"] = predicted, predicted / measured - 1
            row["wall_error"] = scenario["wall_ms"]["expected"] / pair["measured_wall_ms"] - 1
            row["within"] = within(scenario, predicted, measured)
        if row["sparklens_ms"] is not None:
            row["sparklens_error"] = row["sparklens_ms"] / measured - 1
        rows.append(row)
    return rows


def mean_and_worst(rows: Iterable[Row], key: str) -> str:
    errors = [abs(row[key]) for row in rows if key in row]
    return f"{100 * sum(errors) / len(errors):.1f} | {100 * max(errors):.1f}" if errors else "- | -"


def percent(value: Optional[float]) -> str:
    return "-" if value is None else f"{100 * value:+.1f}"


def number(value: Optional[int]) -> str:
    return "-" if value is None else f"{value:,}"


def changes(pair: Row) -> str:
    """Return the options as one reads them in a table."""
    return shlex.join(word.replace("spark.", "", 1) for word in pair["options"])


def pair_table(rows: List[Row]) -> List[str]:
    lines = [
        "| job: base -> other | change | base ms | measured ms | predicted ms | error % | in its interval | whole run, error % |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    for row in rows:
        pair = row["pair"]
        inside = {True: "yes", False: "no", None: "-"}[row.get("within")]
        lines.append(
            f"| {name_of(pair)} | `{changes(pair)}` | {pair['base_jobs_ms']:,} | {pair['measured_jobs_ms']:,} "
            f"| {number(row.get('predicted_ms')) if 'error' in row else 'refused'} | {percent(row.get('error'))} "
            f"| {inside} | {percent(row.get('wall_error'))} |"
        )
    return lines


def sparklens_table(rows: List[Row]) -> List[str]:
    lines = [
        "| job: base -> other | measured ms | Pyrometer ms | error % | Sparklens ms | error % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        lines.append(
            f"| {name_of(row['pair'])} | {row['pair']['measured_jobs_ms']:,} | {number(row.get('predicted_ms'))} "
            f"| {percent(row.get('error'))} | {number(row['sparklens_ms'])} | {percent(row['sparklens_error'])} |"
        )
    return lines


def summary(rows: List[Row], title: str, group: Callable[[Row], str], columns: List[str]) -> List[str]:
    """Return a table of mean and worst errors by group, the last line for all."""
    head = "".join(f" {name} mean error % | worst % |" for name in columns)
    lines = [f"| {title} | pairs |{head}", "| --- | ---: |" + " ---: | ---: |" * len(columns)]
    keys = {"Pyrometer": "error", "Sparklens": "sparklens_error"}
    for name in [*dict.fromkeys(group(row) for row in rows), "all"]:
        some = [row for row in rows if name in (group(row), "all")]
        cells = " | ".join(mean_and_worst(some, keys[column]) for column in columns)
        lines.append(f"| {name} | {len(some)} | {cells} |")
    return lines


def noise(repeats: List[Row]) -> List[str]:
    """Return how far equal runs lie apart."""
    lines = ["| run | measured ms, each time | spread % of the least |", "| --- | --- | ---: |"]
    for entry in repeats:
        times = entry["jobs_ms"]
        spread = 100 * (max(times) / min(times) - 1)
        lines.append(f"| {Path(entry['log']).stem} | {', '.join(f'{one:,}' for one in times)} | {spread:.1f} |")
    return lines


def left_out(manifest: Row) -> List[str]:
    """Return the errors of jobs that the constants were not fitted on, by split: corpus/whatif_fit.py measured them."""
    errors = json.loads(LEFT_OUT.read_text(encoding="utf-8"))["errors"]
    kinds = {pair["job"]: kind_of({"pair": pair}) for pair in manifest["pairs"]}
    kinds.update({job: "advice that was applied" for job in errors if job not in kinds})
    lines = ["| tasks, split | jobs | pairs | mean error % | worst % |", "| --- | ---: | ---: | ---: | ---: |"]
    for kind in [*dict.fromkeys(kinds.values()), "all"]:
        jobs = [job for job in errors if kind in (kinds[job], "all")]
        every = [abs(error) for job in jobs for error in errors[job]]
        lines.append(f"| {kind} | {len(jobs)} | {len(every)} | {100 * sum(every) / len(every):.1f} | {100 * max(every):.1f} |")
    return lines


def kind_of(row: Row) -> str:
    """Return whether the tasks of a pair work or wait, and its split."""
    return f"{'work' if row['pair']['computes'] else 'wait'}, {row['pair']['split']}"


def sections(rows: List[Row], manifest: Row) -> Dict[str, List[str]]:
    """Return the generated parts of the page by name."""
    beside = [row for row in rows if "sparklens_error" in row]
    held = sum(1 for row in rows if row.get("within"))
    told = sum(1 for row in rows if "within" in row)
    return {
        "left_out": left_out(manifest),
        "summary": [
            *summary(rows, "tasks, split", kind_of, ["Pyrometer"]),
            "",
            *summary(rows, "job", lambda row: row["pair"]["job"], ["Pyrometer"]),
            "",
            f"The measured time lies in the predicted interval in {held} of {told} pairs; "
            f"{len(rows) - told} pairs were refused.",
        ],
        "noise": noise(manifest["repeats"]),
        "sparklens": [
            *summary(beside, "job", lambda row: row["pair"]["job"], ["Pyrometer", "Sparklens"]),
            "",
            *sparklens_table(beside),
        ],
        "pairs": pair_table(rows),
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=str(ROOT / "build" / "pyrometer"))
    options.add_argument("--job", help="pairs of one job only")
    options.add_argument("--split", choices=("development", "held-out"), help="pairs of one split only")
    options.add_argument("--update-docs", action="store_true")
    given = options.parse_args()
    manifest = json.loads((PAIRS / "manifest.json").read_text(encoding="utf-8"))
    chosen = [
        pair
        for pair in manifest["pairs"]
        if given.job in (None, pair["job"]) and given.split in (None, pair["split"])
    ]
    if given.update_docs and len(chosen) < len(manifest["pairs"]):
        options.error("--update-docs takes all pairs")
    parts = sections(rows_of(given.binary, chosen), manifest)
    if given.update_docs:
        page_parts.update(PAGE, Path(__file__).name, parts)
    else:
        for name in ("pairs", "summary", "noise", "sparklens"):
            print("\n".join(parts[name]), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
