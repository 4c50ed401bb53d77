#!/usr/bin/env python3
"""Record the corpus again: real Spark runs, most with one planted fault.

Each log is measured (measure.py) right after its run, and a fault that does
not show in Spark's own numbers is an error, never a label.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "record"))
sys.path.insert(0, str(HERE))
import spark_runs as sr  # noqa: E402
from job import SPARK_3, Job  # noqa: E402
from measure import measure  # noqa: E402
from standalone import Standalone  # noqa: E402


def planted() -> list[Job]:
    """Return the jobs of every module in planted/, by file name."""
    names = sorted(path.stem for path in (HERE / "planted").glob("*.py"))
    return [job for name in names for job in importlib.import_module(f"planted.{name}").JOBS]


JOBS: Sequence[Job] = planted()


def prepare(cache: Path, workdir: Path) -> None:
    """Write the tables that the jobs read, unless they exist."""
    workdir.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(HERE / "jobs" / "prepare_files.py")], cwd=workdir, check=True)
    for script, done in (("prepare", "small-csv/_SUCCESS"), ("prepare_io", "io-files")):
        if not (workdir / "data" / done).exists():
            conf = {"spark.driver.memory": "2g"}
            run = sr.Run(script, HERE / "jobs" / f"{script}.py", conf=conf)
            sr.run_to_end(sr.make_venv(cache, SPARK_3), workdir, run, None)
    make_store(workdir, sr.spark_home(sr.make_venv(cache, SPARK_3)))


def make_store(workdir: Path, home: Path) -> None:
    """Compile the slow file system that some jobs read and write."""
    if (workdir / "store.jar").exists():
        return
    classes = workdir / "classes"
    classes.mkdir(exist_ok=True)
    source, path = str(HERE / "jobs" / "SlowStore.java"), str(home / "jars" / "*")
    javac = ["javac", "--release", "8", "-Xlint:-options", "-cp", path, "-d", str(classes), source]
    subprocess.run(javac, check=True)
    subprocess.run(["jar", "cf", str(workdir / "store.jar"), "-C", str(classes), "."], check=True)


def record(job: Job, cache: Path, workdir: Path) -> None:
    """Run one job and keep its log, compressed."""
    events = workdir / "events"
    conf = {"spark.executor.memory": "1g", **job.conf}
    run = sr.Run(job.name, script_of(job), job.master, conf)
    venv = sr.make_venv(cache, job.version, job.packages)
    try:
        if job.cluster:
            run_on_cluster(job, venv, workdir, run, events)
        else:
            sr.run_to_end(venv, workdir, run, events)
    except RuntimeError:
        if not job.fails:
            raise
    target = log_of(job)
    target.parent.mkdir(exist_ok=True)
    log = next(sr.logs_in(events))
    sr.compress(log, target)


def run_on_cluster(job: Job, venv: Path, workdir: Path, run: sr.Run, events: Path) -> None:
    """Run a job on a standalone cluster of its own."""
    with Standalone(job.cluster, venv, workdir) as cluster:
        run.master = cluster.url
        sr.run_to_end(venv, workdir, run, events, started=cluster.watch)


def script_of(job: Job) -> Path:
    """Return the program that a job runs."""
    return HERE / "jobs" / f"{job.script or job.name}.py"


def log_of(job: Job) -> Path:
    """Return where the log of a job is kept."""
    return HERE / "logs" / f"{job.name}.zst"


def repaired_log(job: Job) -> dict[str, str]:
    """Return the manifest's member for the run without the fault, where that was recorded."""
    log = HERE / "logs" / f"{job.repaired}.zst"
    return {"repaired": f"logs/{job.repaired}.zst"} if job.repaired and log.exists() else {}


def entry(job: Job) -> tuple[dict[str, Any], bool]:
    """Return the manifest entry of a recorded job and whether it shows its fault."""
    numbers = measure(log_of(job))
    value = {
        "file": f"logs/{job.name}.zst",
        "job": f"jobs/{script_of(job).name}",
        "spark_version": numbers.pop("spark_version"),
        "master": f"standalone{list(job.cluster.hosts)}" if job.cluster else job.master,
        "expected": list(job.expected),
        "allowed": list(job.allowed),
        "noted": list(job.noted),
        "healthy": job.healthy and not job.expected,
        "split": job.split,
        **repaired_log(job),
        "notes": job.notes,
        "measured": numbers,
    }
    return value, job.shows(numbers)


def write_manifest() -> list[str]:
    """Measure every log and write the manifest; return the jobs that show nothing."""
    entries, silent = [], []
    for job in JOBS:
        if not log_of(job).exists():
            continue
        value, shows = entry(job)
        if shows:
            entries.append(value)
        else:
            silent.append(job.name)
            print(f"{job.name}: NOT SHOWN {json.dumps(value['measured'])}", file=sys.stderr)
    text = json.dumps({"schema": "pyrometer.corpus/1", "logs": entries}, indent=2)
    (HERE / "manifest.json").write_text(text + "\n")
    return silent


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="jobs to record (all)")
    parser.add_argument(
        "--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs"
    )
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument("--measure-only", action="store_true", help="only write the manifest")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    known = {job.name: job for job in JOBS}
    unknown = [name for name in options.jobs if name not in known]
    if unknown:
        print(f"unknown job {unknown[0]}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    if not options.measure_only:
        prepare(options.cache, options.workdir)
        for name in options.jobs or known:
            try:
                record(known[name], options.cache, options.workdir)
            except Exception as error:  # one bad run must not lose the others
                print(f"{name}: {error}", file=sys.stderr)
                continue
            value, shows = entry(known[name])
            print(name, "ok" if shows else "NOT SHOWN", json.dumps(value["measured"]), flush=True)
    return 1 if write_manifest() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
