#!/usr/bin/env python3
"""Record the runs that predictions are compared with, and write their manifest.

    python3 corpus/whatif/record.py --cache /tmp                  # all, about an hour
    python3 corpus/whatif/record.py --cache /tmp reports-2        # some, by the name of the log
    python3 corpus/whatif/record.py --measure-only                # write the manifest again

Each configuration of `runs.py` runs once, some of them again to tell how much two equal runs differ. The times are
those of Spark's own events; no code of Pyrometer takes part.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "record"))
sys.path.insert(0, str(HERE / "jobs"))
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "corpus"))
import spark_runs as sr  # noqa: E402
from runs import JOBS, TPCH, Job, Run, options, run_of  # noqa: E402
import quiet  # noqa: E402
from tpch_data import prepare_tables  # noqa: E402

WARM = "warm-up"
MANY_FILES = {"jsonfiles", "csvfiles"}
# what the kernel does for thousands of files counts as another program's
WRITING = {"folders": 0.6, "daily": 0.6}
AGAIN = ("again", "third")
DEFAULT_WORKDIR = Path("/tmp/pyrometer-whatif")
Recorded = tuple[Job, Run, str]


def recordings() -> list[Recorded]:
    """Return each run with the name of its log; those to be repeated come again."""
    found = []
    for job in JOBS:
        for run in job.runs:
            found.append((job, run, run.log))
            if run.name in job.repeats:
                found += [(job, run, f"{run.log}-{word}") for word in AGAIN]
    return found


def log_of(name: str) -> Path:
    return HERE / "logs" / f"{name}.zst"


@contextlib.contextmanager
def alone(lock: Path | None) -> Iterator[None]:
    """Hold a file's lock, for one run at a time on one machine."""
    if lock is None:
        yield
        return
    with open(lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(cache: Path, workdir: Path, jobs: set[str]) -> None:
    """Write the tables that these jobs read, unless they exist."""
    workdir.mkdir(parents=True, exist_ok=True)
    corpus_jobs = ROOT / "corpus" / "jobs"
    shutil.copy(corpus_jobs / "common.py", workdir / "common.py")
    if jobs & TPCH:
        prepare_tables(cache, workdir / "data" / "tpch")
    if jobs & MANY_FILES and not (workdir / "data" / "tpch" / "many" / "csv" / "_SUCCESS").exists():
        run = sr.Run("manyfiles", HERE / "jobs" / "manyfiles.py", conf={"spark.driver.memory": "2g"})
        sr.run_to_end(sr.make_venv(cache, "3.5.6"), workdir, run, None)
    if not jobs - TPCH:
        return
    venv = sr.make_venv(cache, "3.5.6")
    scripts = (("customers", corpus_jobs / "prepare.py"), ("orders", HERE / "jobs" / "orders.py"))
    for table, script in scripts:
        if not (workdir / "data" / table / "_SUCCESS").exists():
            run = sr.Run(script.stem, script, conf={"spark.driver.memory": "2g"})
            sr.run_to_end(venv, workdir, run, None)


def record(recorded: Recorded, cache: Path, workdir: Path) -> None:
    """Run one configuration on a quiet machine and keep its log, compressed."""
    job, run, name = recorded
    master = f"local-cluster[{run.executors},{run.cores},{sr.megabytes(run.memory)}]"
    conf = {"spark.executor.memory": run.memory, **job.java, **job.conf, **run.conf}
    program = sr.Run(f"whatif_{job.script}", HERE / "jobs" / f"{job.script}.py", master, conf, timeout_s=job.timeout_s)
    venv = sr.make_venv(cache, job.version)
    log, _ = quiet.repeat(name, lambda: quiet.run(venv, workdir, program, WRITING.get(job.script, quiet.FOREIGN_SHARE)))
    log_of(name).parent.mkdir(exist_ok=True)
    sr.compress(log, log_of(name))


def events_of(log: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a log that tell times of the application, its jobs and executors."""
    wanted = tuple(
        f'{{"Event":"SparkListener{kind}' for kind in ("Application", "Job", "ExecutorAdded", "TaskEnd")
    )
    text = subprocess.run(["zstd", "-dc", str(log)], check=True, capture_output=True).stdout
    for line in text.decode().splitlines():
        if line.startswith(wanted):
            yield json.loads(line)


def measure(log: Path) -> dict[str, Any]:
    """Return the run's times in milliseconds, by its own events."""
    started: dict[int, int] = {}
    ended: dict[int, int] = {}
    begin = end = spill = executors = gc = 0
    for event in events_of(log):
        kind = event["Event"][len("SparkListener") :]
        if kind == "ApplicationStart":
            begin = event["Timestamp"]
        elif kind == "ApplicationEnd":
            end = event["Timestamp"]
        elif kind == "ExecutorAdded":
            executors += 1
        elif kind == "JobStart":
            if (event.get("Properties") or {}).get("spark.job.description") != WARM:
                started[event["Job ID"]] = event["Submission Time"]
        elif kind == "JobEnd" and event["Job ID"] in started:
            ended[event["Job ID"]] = event["Completion Time"]
        elif kind == "TaskEnd":
            metrics = event.get("Task Metrics") or {}
            spill += metrics.get("Disk Bytes Spilled", 0)
            gc += metrics.get("JVM GC Time", 0)
    return {
        "first_job": min(started),
        "jobs_ms": max(ended.values()) - min(started.values()),
        "wall_ms": end - begin,
        "executors_added": executors,
        "disk_spill_bytes": spill,
        "gc_ms": gc,
    }


def pair(job: Job, base: Run, other: Run, numbers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the manifest's member for one pair."""
    arguments = options(base, other)
    return {
        "job": job.script,
        "base": f"logs/{base.log}.zst",
        "other": f"logs/{other.log}.zst",
        "options": arguments,
        "executors_only": [word for word in arguments if word.startswith("--")] == ["--executors"],
        "first_job": numbers[base.log]["first_job"],
        "base_jobs_ms": numbers[base.log]["jobs_ms"],
        "base_wall_ms": numbers[base.log]["wall_ms"],
        "measured_jobs_ms": numbers[other.log]["jobs_ms"],
        "measured_wall_ms": numbers[other.log]["wall_ms"],
        "split": job.split,
        "computes": job.tpch,
    }


def write_manifest() -> None:
    """Measure every log and write down runs, pairs and repeats."""
    numbers = {name: measure(log_of(name)) for _, _, name in recordings() if log_of(name).exists()}
    runs = [
        {"log": f"logs/{name}.zst", "job": job.script, "spark_version": job.version, **numbers[name]}
        for job, _, name in recordings()
        if name in numbers
    ]
    pairs, repeats = [], []
    for job in JOBS:
        for first, second in job.pairs:
            base, other = run_of(job, first), run_of(job, second)
            if base.log in numbers and other.log in numbers:
                pairs.append(pair(job, base, other, numbers))
        for name in job.repeats:
            names = [f"{job.script}-{name}", *(f"{job.script}-{name}-{word}" for word in AGAIN)]
            times = [numbers[one]["jobs_ms"] for one in names if one in numbers]
            if len(times) > 1:
                repeats.append({"log": f"logs/{names[0]}.zst", "jobs_ms": times})
    document = {"schema": "pyrometer.whatif-pairs/1", "pairs": pairs, "repeats": repeats, "runs": runs}
    (HERE / "manifest.json").write_text(json.dumps(document, indent=2) + "\n")
    print(f"{len(pairs)} pairs of {len({p['job'] for p in pairs})} jobs, {len(runs)} logs", flush=True)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="names of logs to record (all)")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs")
    parser.add_argument("--workdir", type=sr.absolute_path, default=DEFAULT_WORKDIR)
    parser.add_argument("--lock", type=sr.absolute_path, help="a file to lock during each run")
    parser.add_argument("--missing", action="store_true", help="only those without a log")
    parser.add_argument("--measure-only", action="store_true", help="only write the manifest")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    arguments = parse_arguments(argv)
    known = {name: recorded for recorded in recordings() for name in [recorded[2]]}
    unknown = [name for name in arguments.logs if name not in known]
    if unknown:
        print(f"unknown log {unknown[0]}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    failed = 0
    if not arguments.measure_only:
        jobs = {known[name][0].script for name in arguments.logs or known}
        prepare(arguments.cache, arguments.workdir, jobs)
        for name in arguments.logs or known:
            if arguments.missing and log_of(name).exists():
                continue
            try:
                with alone(arguments.lock):
                    record(known[name], arguments.cache, arguments.workdir)
                print(name, json.dumps(measure(log_of(name))), log_of(name).stat().st_size, flush=True)
            except Exception as error:  # one bad run must not lose the others
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                failed += 1
    write_manifest()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
