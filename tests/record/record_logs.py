#!/usr/bin/env python3
"""Record text logs of real applications: driver and executors, in several layouts of log4j and as JSON lines.

    python3 tests/record/record_logs.py --cache /tmp           everything, about five minutes
    python3 tests/record/record_logs.py --cache /tmp spark35   one of them

Nothing is edited: what Spark wrote is kept, compressed with gzip. Each folder of tests/artefacts/logs has driver.log.gz,
work/APP/N/{stderr,stdout}.gz and, where a test compares with it, the event log of the same run.
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
OUT = sr.ROOT / "tests" / "artefacts" / "logs"
PYSPARK_3, PYSPARK_4 = "3.5.6", "4.3.0"

CONFIGURATION = """rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = {pattern}
logger.netty.name = io.netty
logger.netty.level = warn
"""
ISO = "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%t] %-5p %c - %m%n%ex"
OWN = "%-5p | %d{dd MMM yyyy HH:mm:ss,SSS} | <%t> | %X{mdc.taskName} | %c{1} ~ %m%n%ex"

# name: version, pattern (None: Spark's own), settings
RUNS: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "spark35": (PYSPARK_3, None, {}),
    "iso": (PYSPARK_3, ISO, {}),
    "own": (PYSPARK_3, OWN, {}),
    "spark4": (PYSPARK_4, None, {}),
    "json": (PYSPARK_4, None, {"spark.log.structuredLogging.enabled": "true"}),
}


def settings(workdir: Path, pattern: str | None, extra: dict[str, str]) -> dict[str, str]:
    """Return what a run sets, and write the configuration of log4j that it names."""
    conf = {
        "spark.task.maxFailures": "2",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "2",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        **extra,
    }
    if pattern is not None:
        path = workdir / "log4j2.properties"
        path.write_text(CONFIGURATION.format(pattern=pattern), encoding="utf-8")
        option = f"-Dlog4j2.configurationFile=file:{path}"
        conf["spark.driver.extraJavaOptions"] = option
        conf["spark.executor.extraJavaOptions"] = option
    return conf


def keep(source: Path, target: Path) -> None:
    """Keep a file as gzip, the same bytes for the same content."""
    if source.stat().st_size == 0:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(source.read_bytes())


def record(cache: Path, workdir: Path, name: str) -> None:
    """Run the application once and keep its logs."""
    version, pattern, extra = RUNS[name]
    venv = sr.make_venv(cache, version)
    work = sr.spark_home(venv) / "work"
    workdir.mkdir(parents=True, exist_ok=True)
    events = workdir / "events"
    run = sr.Run(name, HERE / "logs_job.py", "local-cluster[2,2,1024]", settings(workdir, pattern, extra), timeout_s=900)
    sr.run_to_end(venv, workdir, run, events)
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    keep(workdir / f"{name}.out", folder / "driver.log.gz")
    log = next(sr.logs_in(events))
    for path in sorted(work.glob(f"{log.name}/*/std*")):
        keep(path, folder / "work" / path.relative_to(work).with_name(path.name + ".gz"))
    if name != "own":  # a test compares the others with it
        sr.compress(log, folder / "events.zst")
    shutil.rmtree(work / log.name)
    print(name, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), "bytes", flush=True)


def main() -> None:
    """Record what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument("runs", nargs="*", choices=[[], *RUNS], help="which runs; default: all")
    options = parser.parse_args()
    for name in options.runs or RUNS:
        record(options.cache, options.workdir, name)


if __name__ == "__main__":
    main()
