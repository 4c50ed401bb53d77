#!/usr/bin/env python3
"""Record applications that run again and again with other inputs and executors, for models of their run times.

    python3 corpus/fleet/record.py --cache /tmp                      # what the manifest does not have yet: about 90 minutes for all
    python3 corpus/fleet/record.py --cache /tmp --runs 60            # the first of them, all applications in turn
    python3 corpus/fleet/record.py --cache /tmp --draft FOLDER NAME  # on a busy machine too, but into another folder
    python3 corpus/fleet/record.py --cache /tmp --suggestion FILE    # suggested against default settings, three runs each
    python3 corpus/fleet/record.py --summary                         # only what the manifest has

`applications.py` lists the runs. The script can be stopped at any time: each run is in the manifest when its log is complete.
The machine must be quiet: see corpus/quiet.py.

FILE is a suggestion for one of the applications (`pyrometer.suggestion/1`). It is written to the manifest before the first
suggested run starts, and never changes. The runs of the two sides take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("tests/record", "corpus", "corpus/fleet"):
    sys.path.insert(0, str(ROOT / folder))
import quiet  # noqa: E402
import spark_runs as sr  # noqa: E402
from applications import APPLICATIONS, SETTINGS, Application, Configuration, runs  # noqa: E402
from tpch_data import prepare_modules, prepare_tables  # noqa: E402

SCHEMA = "pyrometer.fleet-runs/1"
DEFAULT_WORKDIR = Path("/tmp/pyrometer-fleet")
TABLES = Path("data") / "tpch"
SIDES = ("default", "suggested")
ROUNDS = 3
LARGEST_LOG = 150_000  # bytes, compressed
Row = dict[str, Any]


# ---- one run ----


def settings_of(application: Application, configuration: Configuration, given: dict[str, str]) -> dict[str, str]:
    """Return the properties of a run; those that are given count most."""
    own = {"spark.executor.instances": str(configuration.executors), "spark.executor.cores": str(configuration.cores)}
    return {**SETTINGS, **application.settings, **own, **given}


def input_bytes(application: Application, configuration: Configuration, workdir: Path) -> int:
    names = (application.form.format(number) for number in range(1, configuration.parts + 1))
    return sum((workdir / TABLES / name).stat().st_size for name in names)


def run_once(
    application: Application, configuration: Configuration, given: dict[str, str], options: argparse.Namespace
) -> tuple[Path, Row]:
    """Run the program; return its log and what was measured."""
    conf = settings_of(application, configuration, given)
    shape = (conf["spark.executor.instances"], conf["spark.executor.cores"], sr.megabytes(conf["spark.executor.memory"]))
    program = sr.Run(
        application.logged_name,
        HERE / "jobs" / f"{application.name}.py",
        "local-cluster[{},{},{}]".format(*shape),
        conf,
        ["--parts", str(configuration.parts)],
        timeout_s=400,
    )
    load = os.getloadavg()[0]
    started = datetime.now(timezone.utc)
    venv = sr.make_venv(options.cache, application.version)
    log, measured = quiet.run(venv, options.workdir, program, draft=options.draft is not None)
    return log, {
        "started": started.isoformat(timespec="seconds"),
        "executors": int(shape[0]),
        "cores": int(shape[1]),
        "parts": configuration.parts,
        "input_bytes": input_bytes(application, configuration, options.workdir),
        "read_bytes": read_bytes(log),
        "load": round(load, 2),
        **measured,
    }


def read_bytes(log: Path) -> int:
    """Return what the tasks of a plain log read from files and caches."""
    with open(log, encoding="utf-8") as lines:
        ends = [json.loads(line) for line in lines if line.startswith('{"Event":"SparkListenerTaskEnd')]
    return sum(end["Task Metrics"]["Input Metrics"]["Bytes Read"] for end in ends if end.get("Task Metrics"))


def keep(log: Path, name: str, folder: Path) -> str:
    """Compress a log; return its name for the manifest."""
    target = folder / "logs" / f"{name}.zst"
    target.parent.mkdir(parents=True, exist_ok=True)
    sr.compress(log, target)
    size = target.stat().st_size
    if size > LARGEST_LOG:
        print(f"{name}: the log is large: {size:,} bytes", file=sys.stderr, flush=True)
    return f"logs/{target.name}"


# ---- the manifest ----


def load(folder: Path) -> Row:
    path = folder / "manifest.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    return {"schema": SCHEMA, "runs": [], "suggested": []}


def save(folder: Path, manifest: Row) -> None:
    """Write the manifest whole or not at all."""
    draft = folder / "manifest.json.new"
    draft.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    draft.replace(folder / "manifest.json")


def about(application: Application) -> Row:
    return {
        "application": application.logged_name,
        "script": f"jobs/{application.name}.py",
        "split": application.split,
        "spark_version": application.version,
    }


def record(application: Application, configuration: Configuration, manifest: Row, options: argparse.Namespace) -> None:
    """Add one run to the manifest."""
    name = f"{application.name}-{configuration.name}"
    log, measured = quiet.repeat(name, lambda: run_once(application, configuration, {}, options))
    order = 1 + sum(row["application"] == application.logged_name for row in manifest["runs"])
    kept = keep(log, name, options.folder)
    manifest["runs"].append({"log": kept, "order": order, **about(application), **measured})
    save(options.folder, manifest)
    print(name, json.dumps(measured), flush=True)


def record_all(manifest: Row, options: argparse.Namespace) -> int:
    """Record what is missing; return how many runs failed."""
    known = {row["log"] for row in manifest["runs"]}
    failed = 0
    for number, (application, configuration) in enumerate(runs(), 1):
        if number > options.runs or options.applications and application.name not in options.applications:
            continue
        if f"logs/{application.name}-{configuration.name}.zst" in known:
            continue
        try:
            record(application, configuration, manifest, options)
        except Exception as error:  # one bad run must not lose the others
            print(f"{application.name}-{configuration.name}: {error}", file=sys.stderr, flush=True)
            failed += 1
    return failed


# ---- suggested against default ----


def parts_of(suggestion: Row, application: Application, manifest: Row) -> int:
    """Return the size of input whose recorded runs read what the suggestion expects: files have columns that no run
    reads."""
    runs = [row for row in manifest["runs"] if row["application"] == application.logged_name]
    wanted = suggestion["input_bytes"]
    return min(runs, key=lambda row: abs(row["read_bytes"] - wanted))["parts"] if runs and wanted else application.sizes[1]


def entry_of(suggestion: Row, application: Application, manifest: Row, options: argparse.Namespace) -> Row:
    """Return the manifest's member for a suggestion; a former one of the application must be the same."""
    for entry in manifest["suggested"]:
        if entry["application"] == application.logged_name:
            if entry["suggestion"] != suggestion:
                raise SystemExit(f"the manifest has another suggestion for {application.logged_name}")
            return entry
    parts = parts_of(suggestion, application, manifest)
    entry = {**about(application), "parts": parts, "suggestion": suggestion, **{side: [] for side in SIDES}}
    manifest["suggested"].append(entry)
    save(options.folder, manifest)
    return entry


def record_suggestion(manifest: Row, options: argparse.Namespace) -> int:
    """Run both sides in turns; return how many runs failed."""
    suggestion = json.loads(options.suggestion.read_text(encoding="utf-8"))
    named = [one for one in APPLICATIONS if one.logged_name == suggestion["application"]]
    if not named or not suggestion["settings"]:
        raise SystemExit(f"{options.suggestion}: no settings for an application of applications.py")
    (application,) = named
    entry = entry_of(suggestion, application, manifest, options)
    configuration = replace(application.default(), parts=entry["parts"])
    for number in range(1, ROUNDS + 1):
        for side in SIDES:
            if len(entry[side]) >= number:
                continue
            given = suggestion["settings"] if side == "suggested" else {}
            name = f"{application.name}-{side}-{number}"
            try:
                log, measured = quiet.repeat(name, lambda: run_once(application, configuration, given, options))
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                return 1  # the next run of the other side would not be its turn
            entry[side].append({"log": keep(log, name, options.folder), **measured})
            save(options.folder, manifest)
            print(name, json.dumps(measured), flush=True)
    return 0


def summarize(manifest: Row) -> None:
    for row in manifest["runs"]:
        shape = f"{row['executors']} x {row['cores']}"
        print(f"{row['application']:16} {row['order']:3} {shape} {row['input_bytes'] >> 20:5} MiB {row['wall_ms']:7,} ms")
    for entry in manifest["suggested"]:
        print(entry["application"], {side: [one["wall_ms"] for one in entry[side]] for side in SIDES})


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("applications", nargs="*", metavar="NAME", help="names of applications (all)")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs")
    parser.add_argument("--workdir", type=sr.absolute_path, default=DEFAULT_WORKDIR)
    parser.add_argument("--runs", type=int, default=sys.maxsize, metavar="N", help="only the first N runs of all (all)")
    parser.add_argument("--draft", type=sr.absolute_path, metavar="FOLDER", help="record on a busy machine, into FOLDER")
    parser.add_argument("--suggestion", type=sr.absolute_path, metavar="FILE", help="compare its settings with the default")
    parser.add_argument("--summary", action="store_true", help="only print what the manifest has")
    options = parser.parse_args(argv)
    options.folder = options.draft or HERE
    return options


def main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    unknown = set(options.applications) - {one.name for one in APPLICATIONS}
    if unknown:
        print(f"unknown application {min(unknown)}; known: {', '.join(one.name for one in APPLICATIONS)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the application ends too
    options.folder.mkdir(parents=True, exist_ok=True)
    manifest = load(options.folder)
    if options.summary:
        summarize(manifest)
        return 0
    prepare_tables(options.cache, options.workdir / TABLES)
    prepare_modules(options.workdir)
    failed = (record_suggestion if options.suggestion else record_all)(manifest, options)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
