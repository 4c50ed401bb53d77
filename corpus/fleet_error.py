#!/usr/bin/env python3
"""Compares what `fleet model` and `suggest` predict with what real Spark took, and writes the tables of docs/models.md.

    python3 corpus/fleet_error.py --binary build/pyrometer [--update-docs]
    python3 corpus/fleet_error.py --binary build/pyrometer --suggest ranking > ranking.json   # from its recorded runs

The runs are those of corpus/fleet/manifest.json. Their times are moved to now in the store that this makes, since models and
suggestions forget old runs.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, Iterable, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import fleet_models  # noqa: E402
import page_parts  # noqa: E402

RUNS = ROOT / "corpus" / "fleet"
PAGE = ROOT / "docs" / "models.md"
MODELS = ("wave", "ernest", "amdahl", "simulator")
FIRST_PREDICTED, FIRST_JUDGED = 3, 5  # runs that a prediction needs, and an interval
HOUR_MS = 3600 * 1000
Row = Dict[str, Any]


def manifest() -> Row:
    return json.loads((RUNS / "manifest.json").read_text(encoding="utf-8"))


def run(binary: str, *arguments: object) -> str:
    command = [binary, *(str(one) for one in arguments)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def make_store(binary: str, folder: Path, logs: Iterable[str]) -> str:
    """Crawl the logs into a new store, and move their times so that the last one ended a minute ago; return its URL."""
    sources = folder / "logs"
    sources.mkdir(parents=True)
    for log in logs:
        (sources / Path(log).name).symlink_to(RUNS / log)
    store = folder / "runs.db"
    run(binary, "crawl", sources, "--store", f"sqlite:{store}", "--once")
    with sqlite3.connect(store) as db:
        (last,) = db.execute("SELECT max(end_ms) FROM run").fetchone()
        moved = int(time.time() * 1000) - 60_000 - last
        db.execute("UPDATE run SET start_ms = start_ms + ?, end_ms = end_ms + ?", (moved, moved))
    db.close()
    return f"sqlite:{store}"


# ---- models ----


def fit_of(known: List[Row]) -> fleet_models.Fit:
    """Return the error and the interval of these predictions by the definition in docs/models.md."""
    return fleet_models.fit_of([(one["predicted_ms"], one["observed_ms"]) for one in known], True, 0)


def coverage(models: List[Row], predicted: List[int]) -> List[bool]:
    """Say for each run from the sixth whether it lay in the interval that the best model had before it."""
    inside = []
    for start in predicted[FIRST_JUDGED - FIRST_PREDICTED :]:
        before = {m["name"]: [one for one in m["predicted"] if one["start_ms"] < start] for m in models}
        asked = {m["name"]: one for m in models for one in m["predicted"] if one["start_ms"] == start}
        able = [name for name in MODELS if before.get(name) and name in asked]
        fits = {name: fit_of(before[name]) for name in able}
        best = min(able, key=lambda name: fits[name].error)
        expected = asked[best]["predicted_ms"]
        inside.append(expected * (1 + fits[best].low) <= asked[best]["observed_ms"] <= expected * (1 + fits[best].high))
    return inside


def naive_error(durations: List[float]) -> float:
    """Return the error of expecting the median of the runs before."""
    pairs = [(median(durations[:i]), durations[i]) for i in range(3, len(durations))]
    return median(abs(guess / observed - 1) for guess, observed in pairs)


def check(document: Row, measured: List[Row]) -> None:
    """Raise where the document contradicts the manifest or its own predictions."""
    walls = [row["wall_ms"] for row in measured]
    for model in document["models"]:
        observed = [one["observed_ms"] for one in model["predicted"]]
        if not set(observed) <= set(walls) or len(observed) != model["predictions"]:
            raise SystemExit(f"{document['application']}: {model['name']} predicts runs that the manifest does not have")
        if model["interval"]:
            fit = fit_of(model["predicted"])
            same = [fit.low, fit.high, fit.error]
            given = [model["interval"]["low"], model["interval"]["high"], model["error"]]
            if any(abs(a - b) > 1e-6 for a, b in zip(same, given)):
                raise SystemExit(f"{document['application']}: {model['name']}: {given} instead of {same}")


def evaluate(document: Row, measured: List[Row]) -> Row:
    """Return the line of one application."""
    check(document, measured)
    predicted = sorted({one["start_ms"] for model in document["models"] for one in model["predicted"]})
    return {
        "application": document["application"],
        "split": measured[0]["split"],
        "runs": len(measured),
        "outliers": document["runs"]["outliers"],
        "configurations": len({(row["executors"], row["cores"]) for row in measured}),
        "inputs": len({row["input_bytes"] for row in measured}),
        "errors": {model["name"]: model["error"] for model in document["models"]},
        "best": document["best"],
        "naive": naive_error([row["wall_ms"] for row in measured]),
        "inside": coverage(document["models"], predicted),
    }


def percent(value: Optional[float]) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def model_table(rows: List[Row]) -> List[str]:
    lines = [
        f"| application | split | runs | shapes | inputs | {' | '.join(MODELS)} | best | median of the runs before | in the interval |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for row in rows:
        errors = " | ".join(percent(row["errors"].get(name)) for name in MODELS)
        inside = f"{sum(row['inside'])} of {len(row['inside'])}"
        lines.append(
            f"| {row['application']} | {row['split']} | {row['runs']} | {row['configurations']} | {row['inputs']} | {errors} "
            f"| {row['best'] or '-'} | {percent(row['naive'])} | {inside} |"
        )
    for title, some in (("held-out, median", [row for row in rows if row["split"] == "held-out"]), ("all, median", rows)):
        middle = [[row["errors"][name] for row in some if row["errors"].get(name) is not None] for name in MODELS]
        errors = " | ".join(percent(median(one) if one else None) for one in middle)
        inside = [one for row in some for one in row["inside"]]
        best = median(row["errors"][row["best"]] for row in some if row["best"])
        lines.append(
            f"| {title} | | {sum(row['runs'] for row in some)} | | | {errors} | {percent(best)} "
            f"| {percent(median(row['naive'] for row in some))} | {sum(inside)} of {len(inside)} |"
        )
    return lines


# ---- configurations that are hidden ----


def shape_of(row: Row) -> Tuple[int, int]:
    return row["executors"], row["cores"]


def hide(binary: str, folder: Path, measured: List[Row], hidden: Tuple[int, int]) -> Row:
    """Return what `suggest` says when no run of a configuration is known, with a deadline that this one meets."""
    took = [row["wall_ms"] for row in measured if shape_of(row) == hidden]
    logs = [row["log"] for row in measured if shape_of(row) != hidden]
    store = make_store(binary, folder, logs)
    deadline = f"{round(1.1 * median(took) / 1000)}s"
    return json.loads(run(binary, "suggest", "--app", measured[0]["application"], "--store", store, "--format", "json", "--deadline", deadline))


def suggested_shape(suggestion: Row) -> Tuple[int, int]:
    settings, now = suggestion["settings"], suggestion["current"]
    executors = settings.get("spark.executor.instances", settings.get("spark.dynamicAllocation.maxExecutors", now["executors"]))
    return int(executors), int(settings.get("spark.executor.cores", now["cores_per_executor"]))


def judge_hidden(binary: str, folder: Path, document: Row, measured: List[Row]) -> Row:
    """Return the line of one application: how its configurations are predicted when each is left out in turn."""
    best = next((m["unseen"] for m in document["models"] if m["name"] == document["best_unseen"]), None)
    errors, inside, never, worse = [], [], 0, 0
    for one in best["predicted"] if best else []:
        errors.append(abs(one["predicted_ms"] / one["observed_ms"] - 1))
        low, high = 1 + best["interval"]["low"], 1 + best["interval"]["high"]
        inside.append(one["predicted_ms"] * low <= one["observed_ms"] <= one["predicted_ms"] * high)
    shapes = sorted({shape_of(row) for row in measured})
    for number, hidden in enumerate(shapes):
        suggestion = hide(binary, folder / str(number), measured, hidden)
        if not suggestion["settings"]:
            continue
        never += suggestion["basis"]["never_ran"]
        shape, now = suggested_shape(suggestion), suggestion["current"]
        then, before = ([row for row in measured if shape_of(row) == s] for s in (shape, (now["executors"], now["cores_per_executor"])))
        if then and before:
            walls = [median(row["wall_ms"] for row in some) for some in (then, before)]
            cores = [wall * some[0]["executors"] * some[0]["cores"] for wall, some in zip(walls, (then, before))]
            worse += walls[0] > walls[1] and cores[0] > cores[1]
    return {
        "application": document["application"],
        "split": measured[0]["split"],
        "shapes": len(shapes),
        "best": document["best_unseen"],
        "errors": errors,
        "inside": inside,
        "never": never,
        "worse": worse,
    }


def hidden_table(rows: List[Row]) -> List[str]:
    lines = [
        "| application | split | configurations | model | median error % | in the interval | suggestions that never ran | slower and more expensive |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]

    def line(name: str, split: str, some: List[Row], model: str) -> str:
        errors, inside = ([one for row in some for one in row[key]] for key in ("errors", "inside"))
        middle = percent(median(errors)) if errors else "-"
        counts = " | ".join(str(sum(row[key] for row in some)) for key in ("never", "worse"))
        return f"| {name} | {split} | {sum(row['shapes'] for row in some)} | {model} | {middle} | {sum(inside)} of {len(inside)} | {counts} |"

    lines += [line(row["application"], row["split"], [row], row["best"] or "-") for row in rows]
    lines.append(line("held-out", "", [row for row in rows if row["split"] == "held-out"], ""))
    return [*lines, line("all", "", rows, "")]


# ---- suggestions ----


def seconds(ms: float) -> str:
    return f"{ms / 1000:.1f}"


def setting_texts(settings: Dict[str, str]) -> str:
    return ", ".join(f"`{key.replace('spark.', '', 1)}={value}`" for key, value in sorted(settings.items()))


def range_of(prediction: Row) -> str:
    wall = prediction["wall_ms"]
    return f"{seconds(wall['expected'])} ({seconds(wall['low'])} to {seconds(wall['high'])})"


def suggestion_table(entries: List[Row], core_ms: Dict[str, int]) -> List[str]:
    """Return the comparison: predicted and measured times, and core hours as the store has them."""
    lines = [
        "| application | settings | side | predicted s | measured s, each run | median s | in the range | predicted core h | median core h |",
        "| --- | --- | --- | ---: | --- | ---: | --- | ---: | ---: |",
    ]
    for entry in entries:
        suggestion = entry["suggestion"]
        for side, prediction in (("default", suggestion["current"]), ("suggested", suggestion["expected"])):
            walls = [one["wall_ms"] for one in entry[side]]
            middle, cores = median(walls), median(core_ms[one["log"]] for one in entry[side])
            wall = prediction["wall_ms"]
            name = entry["application"] if side == "default" else ""
            lines.append(
                f"| {name} | {setting_texts(suggestion['settings']) if side == 'suggested' else '2 executors with 1 core'} | {side} "
                f"| {range_of(prediction)} | {', '.join(seconds(one) for one in walls)} | {seconds(middle)} "
                f"| {'yes' if wall['low'] <= middle <= wall['high'] else 'no'} "
                f"| {prediction['core_ms'] / HOUR_MS:.4f} | {cores / HOUR_MS:.4f} |"
            )
    return lines


def core_times(binary: str, folder: Path, entries: List[Row]) -> Dict[str, int]:
    """Return the core time of each log of a comparison, as the store has it."""
    logs = [one["log"] for entry in entries for side in ("default", "suggested") for one in entry[side]]
    if not logs:
        return {}
    store = make_store(binary, folder, logs).partition(":")[2]
    with sqlite3.connect(store) as db:
        found = {Path(path).name: value for path, value in db.execute("SELECT path, core_ms FROM run")}
    db.close()
    return {log: found[Path(log).name] for log in logs}


# ---- the page ----


def sections(binary: str, folder: Path) -> Dict[str, List[str]]:
    """Return the generated parts of the page by name."""
    recorded = manifest()
    store = make_store(binary, folder / "runs", (row["log"] for row in recorded["runs"]))
    rows, hidden = [], []
    for name in dict.fromkeys(row["application"] for row in recorded["runs"]):
        document = json.loads(run(binary, "fleet", "model", name, store, "--format", "json"))
        measured = [row for row in recorded["runs"] if row["application"] == name]
        rows.append(evaluate(document, measured))
        hidden.append(judge_hidden(binary, folder / name, document, measured))
    compared = [entry for entry in recorded["suggested"] if entry["default"] and entry["suggested"]]
    core_ms = core_times(binary, folder / "compared", compared)
    return {"models": model_table(rows), "hidden": hidden_table(hidden), "suggestions": suggestion_table(compared, core_ms)}


def suggest(binary: str, folder: Path, name: str, options: List[str]) -> str:
    """Return the suggestion for an application from its recorded runs."""
    store = make_store(binary, folder, (row["log"] for row in manifest()["runs"] if row["application"] == f"fleet_{name}"))
    return run(binary, "suggest", "--app", f"fleet_{name}", "--store", store, "--format", "json", *options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build" / "pyrometer"))
    parser.add_argument("--update-docs", action="store_true")
    parser.add_argument("--suggest", metavar="NAME", help="print the suggestion for an application")
    given, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.suggest:
            print(suggest(given.binary, Path(folder), given.suggest, options), end="")
            return 0
        if options:
            parser.error(f"unknown option {options[0]}")
        parts = sections(given.binary, Path(folder))
    if given.update_docs:
        page_parts.update(PAGE, Path(__file__).name, parts)
    else:
        print("\n\n".join("\n".join(lines) for lines in parts.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
