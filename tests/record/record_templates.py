#!/usr/bin/env python3
"""Record text logs whose records name the statement that wrote them (tests/artefacts/templates).

A converter of Log4j (templates/CallSite.java) writes class, method and line of the calling statement into each record.
So it is known which records have the same template: bench/log_templates.py and the tests compare with it.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
OUT = sr.ROOT / "tests" / "artefacts" / "templates"
# Of these, everything is recorded in the second run, since nothing below INFO says much more about the others.
DEBUGGED = ("scheduler", "storage", "memory", "shuffle", "executor", "rdd")


def compile_converter(venv: Path, workdir: Path) -> Path:
    """Return the folder with the compiled converter."""
    classes = workdir / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    jars = sr.spark_home(venv) / "jars"
    path = ":".join(str(jar) for jar in sorted(jars.glob("log4j-*.jar")))
    subprocess.run(["javac", "-cp", path, "-d", str(classes), str(HERE / "templates" / "CallSite.java")], check=True)
    return classes


def write_config(workdir: Path, name: str, debugged: tuple[str, ...]) -> Path:
    """Return the file with Log4j's configuration of a run."""
    lines = [(HERE / "templates" / "log4j2.properties").read_text(encoding="utf-8")]
    for package in debugged:
        lines += [f"logger.{package}.name = org.apache.spark.{package}\n", f"logger.{package}.level = debug\n"]
    config = workdir / f"{name}.properties"
    config.write_text("".join(lines), encoding="utf-8")
    return config


def record(venv: Path, workdir: Path, name: str, master: str, rounds: int, debugged: tuple[str, ...] = ()) -> list[Path]:
    """Run the job; return the logs of its driver and executors."""
    classes = compile_converter(venv, workdir)
    config = write_config(workdir, name, debugged)
    logs = workdir / name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    java = f"-Dlog4j2.configurationFile={config.as_uri()} -Dpyrometer.log={logs}"
    conf = {
        "spark.driver.extraClassPath": str(classes),
        "spark.executor.extraClassPath": str(classes),
        "spark.driver.extraJavaOptions": f"{java}/driver.log",
        "spark.executor.extraJavaOptions": f"{java}/executor-{{{{EXECUTOR_ID}}}}.log",
    }
    run = sr.Run(f"templates-{name}", HERE / "templates_job.py", master, conf, [str(rounds)], timeout_s=1200)
    sr.run_to_end(venv, workdir, run, None)
    return sorted(logs.glob("*.log"))


def keep(log: Path, name: str) -> None:
    """Compress a log without its own name and time."""
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / f"{name}.log.gz"
    target.write_bytes(gzip.compress(log.read_bytes(), 9, mtime=0))
    print(f"{target.name}: {target.stat().st_size} bytes", flush=True)


def main() -> None:
    """Record both runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument("--version", default="3.5.6")
    options = parser.parse_args()
    options.workdir.mkdir(parents=True, exist_ok=True)
    venv = sr.make_venv(options.cache, options.version)
    for log in record(venv, options.workdir, "info", "local-cluster[2,1,1024]", 2):
        keep(log, log.stem)
    for log in record(venv, options.workdir, "debug", "local[2,4]", 1, DEBUGGED):
        keep(log, f"{log.stem}-debug")


if __name__ == "__main__":
    main()
