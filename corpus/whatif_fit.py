#!/usr/bin/env python3
"""Fits the constants of src/predict/fitted.def to recorded pairs, and predicts each job with constants fitted without it.

    python3 corpus/whatif_fit.py                     # the error of each job when it is left out, and the best constants
    python3 corpus/whatif_fit.py --split development # fit on these pairs only

Each constant is tried at several multiples of its value, the others as they are. The best one has the least mean of the absolute
errors over the jobs, each job counting the same; then the next constant, twice over all of them. A job that is left out is
predicted by what is best for all others: what would have been predicted before it ran. docs/whatif_accuracy.md
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean, median
from typing import Any, Dict, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "corpus" / "whatif"
TABLE = ROOT / "src" / "predict" / "fitted.def"
MULTIPLES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
GAIN = 0.0005  # of the mean error: a constant changes for more than this only
OPTIONS = {"--executors": "executors", "--cores": "cores", "--memory": "memory"}
Row = Dict[str, Any]
Vector = Tuple[Tuple[str, float], ...]


def constants() -> Dict[str, float]:
    """Return the constants as they are."""
    rows = re.findall(r"^PYRO_CONSTANT\((\w+), ([0-9.e-]+),", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: float(value) for name, value in rows}


def line_of(pair: Row) -> str:
    """Return a pair as the program reads it."""
    words = list(pair["options"])
    sets = []
    while words:
        option, value = words.pop(0), words.pop(0)
        sets.append(value if option == "--set" else f"{OPTIONS[option]}={value}")
    return "\t".join([str(pair["first_job"]), str(PAIRS / pair["base"]), *sets])


def loop_pairs() -> List[Row]:
    """Return the repaired programs of corpus/loop as pairs: what was applied, and the jobs' time less what it saved.

    Those with settings that no model knows are left out: no constant says what they do.
    """
    table = (ROOT / "src" / "predict" / "settings.def").read_text(encoding="utf-8")
    known = set(re.findall(r'"(spark\.[\w.]+)"', table))
    folder, pairs = ROOT / "corpus" / "loop", []
    for case in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["cases"]:
        settings, log = (case.get("promise") or {}).get("settings"), folder / "logs" / f"{case['case']}-before.zst"
        if case.get("after") and settings and known.issuperset(settings) and log.exists():
            saved = median(run["ms"] for run in case["before"]) - median(run["ms"] for run in case["after"])
            pairs.append(saving_pair(f"loop {case['case']}", log, settings, saved))
    return pairs


def saving_pair(job: str, log: Path, settings: Dict[str, str], saved_ms: float) -> Row:
    """Return a pair of which only the difference was measured; what the jobs took is added when the log is read."""
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return {"job": job, "base": str(log), "first_job": 0, "options": words, "saved_ms": saved_ms}


class Predictions:
    """Errors of all pairs with any constants; each vector is asked for once."""

    def __init__(self, program: str, pairs: List[Row]) -> None:
        self.program = program
        self.pairs = sorted(pairs, key=lambda pair: pair["base"])
        self.jobs = [pair["job"] for pair in self.pairs]
        self.known: Dict[Vector, List[float]] = {}
        unchanged = self.run([{**pair, "options": []} for pair in self.pairs], [()])
        for pair, (jobs_ms,) in zip(self.pairs, unchanged):
            if "saved_ms" in pair:
                pair["measured_jobs_ms"] = jobs_ms - pair["saved_ms"]

    def run(self, pairs: List[Row], vectors: Sequence[Vector]) -> List[List[int]]:
        """Return what the program predicts for each pair with each vector, ms; -1: it was refused."""
        words = [",".join(f"{name}={value!r}" for name, value in one) for one in vectors]
        text = "\n".join(line_of(pair) for pair in pairs) + "\n"
        done = subprocess.run([self.program, *words], input=text, capture_output=True, check=True, text=True)
        return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]

    def ask(self, vectors: Sequence[Vector]) -> None:
        """Fill in what is not known yet."""
        new = [one for one in dict.fromkeys(vectors) if one not in self.known]
        if not new:
            return
        rows = self.run(self.pairs, new)
        for number, one in enumerate(new):
            self.known[one] = [
                row[number] / pair["measured_jobs_ms"] - 1 if row[number] > 0 else float("nan")
                for row, pair in zip(rows, self.pairs)
            ]

    def error(self, vector: Vector, without: str | None = None) -> float:
        """Return the mean over jobs of their pairs' mean absolute error."""
        by_job: Dict[str, List[float]] = {}
        for job, error in zip(self.jobs, self.known[vector]):
            if job != without and error == error:
                by_job.setdefault(job, []).append(abs(error))
        return mean(mean(some) for some in by_job.values())


def fit(predictions: Predictions, without: str | None = None) -> Vector:
    """Return the best constants for all jobs but one."""
    now = tuple(constants().items())
    predictions.ask([now])
    for _ in range(2):
        for place, (name, value) in enumerate(now):
            tried = [(*now[:place], (name, value * times), *now[place + 1 :]) for times in MULTIPLES]
            predictions.ask(tried)
            best = min(tried, key=lambda one: predictions.error(one, without))
            if predictions.error(best, without) < predictions.error(now, without) - GAIN:
                now = best
    return now


def describe(vector: Vector) -> str:
    was = constants()
    return ", ".join(f"{name} {value:g}" for name, value in vector if abs(value / was[name] - 1) > 1e-9) or "as they are"


def left_out(predictions: Predictions) -> Dict[str, List[float]]:
    """Return the errors of each job's pairs with constants fitted on the others."""
    errors = {}
    for job in dict.fromkeys(predictions.jobs):
        vector = fit(predictions, job)
        predictions.ask([vector])
        errors[job] = [error for one, error in zip(predictions.jobs, predictions.known[vector]) if one == job]
        print(f"{job}: {100 * mean(abs(e) for e in errors[job]):.1f} % ({describe(vector)})", file=sys.stderr, flush=True)
    return errors


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default=str(ROOT / "build" / "tests" / "e2e" / "whatif_constants"))
    options.add_argument("--split", choices=("development", "held-out"))
    options.add_argument("--fit", action="store_true", help="only the best constants for all pairs")
    given = options.parse_args()
    manifest = json.loads((PAIRS / "manifest.json").read_text(encoding="utf-8"))
    pairs = [pair for pair in manifest["pairs"] if given.split in (None, pair["split"])]
    pairs += loop_pairs() if not given.split else []
    predictions = Predictions(given.program, pairs)
    if given.fit:
        best = fit(predictions)
        print(f"{100 * predictions.error(best):.2f} % instead of {100 * predictions.error(tuple(constants().items())):.2f} %: {describe(best)}")
        return 0
    errors = left_out(predictions)
    (PAIRS / "left_out.json").write_text(json.dumps({"schema": "pyrometer.whatif-left-out/1", "errors": errors}, indent=1) + "\n")
    every = [abs(error) for some in errors.values() for error in some]
    print(f"{len(every)} pairs of {len(errors)} jobs, each left out: mean {100 * mean(every):.1f} %, worst {100 * max(every):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
