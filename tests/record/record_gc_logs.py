#!/usr/bin/env python3
"""Record applications whose executors log their garbage collections, one for each collector of the JVM.

    python3 tests/record/record_gc_logs.py [NAME...]

A run leaves a folder NAME under tests/artefacts/gc: the event log, and one log for each executor under the name that
Spark's documentation proposes, APPLICATION-EXECUTOR.gc. Java 7 and 8 write another form; no such JDK is recorded here, its lines
are in tests/unit/decode/test_gc_line.c and tests/profiling/gc_log_writer.py.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "artefacts" / "gc"
DECORATIONS = "time,uptime,level,tags"
COLLECTORS = {
    "serial": ("-XX:+UseSerialGC", DECORATIONS),
    "parallel": ("-XX:+UseParallelGC", DECORATIONS),
    "g1": ("-XX:+UseG1GC", "utctime,uptime,pid,level,tags"),
    "zgc": ("-XX:+UseZGC", DECORATIONS),
    "shenandoah": ("-XX:+UseShenandoahGC", DECORATIONS),
}


def record(name: str, venv: Path, workdir: Path) -> None:
    """Run the application with one collector, and keep what it leaves behind."""
    collector, decorations = COLLECTORS[name]
    logs = workdir / "gc"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    gc_log = f"-Xlog:gc*:file={logs}/{{{{APP_ID}}}}-{{{{EXECUTOR_ID}}}}.gc:{decorations}"
    conf = {
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "8",
        "spark.executor.extraJavaOptions": f"{collector} {gc_log}",
    }
    run = sr.Run(f"gc_{name}", HERE / "pause_job.py", "local-cluster[2,1,1024]", conf)
    sr.run_to_end(venv, workdir, run, workdir / "events")
    target = TARGET / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    log = next(sr.logs_in(workdir / "events"))
    sr.compress(log, target / f"{log.name}.zst")
    for source in sorted(logs.iterdir()):
        if source.stat().st_size == 0:  # an executor that was stopped while it started
            continue
        plain_too = name == "serial"
        packed = target / (source.name if plain_too else f"{source.name}.gz")
        data = source.read_bytes()
        packed.write_bytes(data if plain_too else gzip.compress(data, mtime=0))
    print(name, sorted(path.name for path in target.iterdir()), flush=True)


def main() -> int:
    """Record what is asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *COLLECTORS], metavar="NAME", help=", ".join(COLLECTORS))
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venv")
    parser.add_argument("--workdir", type=sr.absolute_path, default=Path("/tmp/pyrometer-gc"))
    options = parser.parse_args()
    venv = sr.make_venv(options.cache, "3.5.6")
    for name in options.names or COLLECTORS:
        record(name, venv, options.workdir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
