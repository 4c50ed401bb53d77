#!/usr/bin/env python3
"""Record the riddles: each program with its fault and without, with everything that it leaves behind.

    python3 corpus/riddles/record.py --cache /tmp                  # what logs/ does not have yet: about fifteen minutes
    python3 corpus/riddles/record.py --cache /tmp slacker          # one riddle, both sides
    python3 corpus/riddles/record.py --cache /tmp --draft FOLDER   # on a busy machine too, but into another folder

A run becomes the folder `logs/NAME/SIDE` with the event log, the log of the driver, those of the executors as a standalone
worker keeps them (`work/APPLICATION/EXECUTOR/stderr`), the records of the profilers of python/ and those of Java Flight
Recorder. What the manifest has is not recorded again. The script waits for a quiet machine, and discards a run during which
other programs used a processor (see corpus/quiet.py).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("tests/record", "python", "corpus", "corpus/riddles"):
    sys.path.insert(0, str(ROOT / folder))
import quiet  # noqa: E402
import spark_runs as sr  # noqa: E402
from make_zip import FILE, make_zip  # noqa: E402
from riddles import RIDDLES, SIDES, Riddle  # noqa: E402

MANIFEST = "manifest.json"
DEFAULT_WORKDIR = Path("/tmp/pyrometer-riddles")
DAEMON = re.compile(r"Started daemon with process name: (\d+)@")  # in the log of an executor
FLIGHT = re.compile(r"pid-(\d+)-")  # in the name that Java gives a recording
Row = dict[str, Any]


# ---- one run ----


def package_folder(cache: Path, venv: Path, riddle: Riddle) -> Path:
    """Return a folder with the packages of a riddle, which no other run sees."""
    folder = cache / f"pyrometer-packages-{riddle.name}"
    complete, wanted = folder / "complete", " ".join(riddle.packages)
    if not complete.exists() or complete.read_text(encoding="utf-8") != wanted:
        command = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "--upgrade", "--target", str(folder)]
        subprocess.run([*command, *riddle.packages], check=True)
        complete.write_text(wanted, encoding="utf-8")
    return folder


def compile_java(riddle: Riddle, venv: Path, workdir: Path) -> Path:
    """Return an archive with the classes of a riddle."""
    classes, archive = workdir / "classes", workdir / f"{riddle.name}.jar"
    shutil.rmtree(classes, ignore_errors=True)
    jars = sr.spark_home(venv) / "jars" / "*"
    source = HERE / "jobs" / riddle.java
    subprocess.run(["javac", "--release", "17", "-cp", str(jars), "-d", str(classes), str(source)], check=True)
    subprocess.run(["jar", "cf", str(archive), "-C", str(classes), "."], check=True)
    return archive


def settings_of(riddle: Riddle, side: str, workdir: Path, packages: Path | None) -> dict[str, str]:
    """Return the properties of a run."""
    own = riddle.conf if side == "faulty" or riddle.repaired_conf is None else riddle.repaired_conf
    conf = {"spark.executor.memory": riddle.memory, **own}
    if riddle.flight:
        options = f"-XX:StartFlightRecording=filename={workdir / 'flights'},dumponexit=true"
        key = "spark.executor.extraJavaOptions"
        conf[key] = f"{conf.get(key, '')} {options}".strip()
    files = [*riddle.files]
    if riddle.python:
        files += [FILE, "riddle.py", *([f"{riddle.name}.py"] if side == "repaired" else [])]
        conf["spark.python.profile"] = "true"
        conf["spark.python.profile.dump"] = str(workdir / "profiles")
    if files:
        conf["spark.submit.pyFiles"] = ",".join(str(workdir / name) for name in dict.fromkeys(files))
    if packages:
        conf["spark.executorEnv.PYTHONPATH"] = str(packages)
    return conf


def run_once(riddle: Riddle, side: str, options: argparse.Namespace) -> Row:
    """Run the program; return its measures."""
    venv, workdir = sr.make_venv(options.cache, riddle.version), options.workdir
    packages = package_folder(options.cache, venv, riddle) if riddle.packages else None
    for name in ("profiles", "flights"):
        shutil.rmtree(workdir / name, ignore_errors=True)
        (workdir / name).mkdir(parents=True)
    make_zip(workdir / FILE)
    shutil.copy(ROOT / "corpus" / "jobs" / "common.py", workdir)
    script = HERE / "jobs" / f"{riddle.script(side)}.py"
    conf = settings_of(riddle, side, workdir, packages)
    if riddle.java:
        conf["spark.jars"] = str(compile_java(riddle, venv, workdir))
    program = sr.Run(f"riddle_{riddle.script(side)}", script, riddle.master, conf, timeout_s=600)
    environment = {"PYTHONPATH": str(packages)} if packages else {}
    return quiet.run(venv, workdir, program, environment=environment, draft=options.draft is not None)[1]


# ---- what it left behind ----


def executor_logs(venv: Path, application: str) -> Iterator[Path]:
    """Yield the logs of the executors: the master `local-cluster` keeps them in the folder of Spark."""
    for path in sorted((sr.spark_home(venv) / "work" / application).glob("*/std*")):
        if path.stat().st_size:
            yield path


def keep(riddle: Riddle, side: str, options: argparse.Namespace) -> list[str]:
    """Compress everything into the folder of the run; return the names of the files."""
    venv, workdir = sr.make_venv(options.cache, riddle.version), options.workdir
    target = options.folder / riddle.name / side
    shutil.rmtree(target, ignore_errors=True)
    log = next(sr.logs_in(workdir / "events"))
    found = {log: log.name, workdir / f"riddle_{riddle.script(side)}.out": "driver.log"}
    executors = {}
    for path in executor_logs(venv, log.name):
        found[path] = f"work/{log.name}/{path.parent.name}/{path.name}"
        started = DAEMON.search(path.read_text(encoding="utf-8", errors="replace"))
        if started:
            executors[started.group(1)] = path.parent.name
    for path in sorted((workdir / "profiles").iterdir()):
        found[path] = f"profiles/{path.name}"
    for path in sorted((workdir / "flights").glob("*.jfr")):
        process = FLIGHT.search(path.name)
        if process and process.group(1) in executors:
            found[path] = f"profile-exec-{executors[process.group(1)]}.jfr"
    for path, name in found.items():
        kept = target / f"{name}.zst"
        kept.parent.mkdir(parents=True, exist_ok=True)
        sr.compress(path, kept)
    shutil.rmtree(sr.spark_home(venv) / "work" / log.name, ignore_errors=True)
    return sorted(f"{name}.zst" for name in found.values())


# ---- the manifest ----


def load(folder: Path) -> dict[tuple[str, str], Row]:
    """Return the recorded runs."""
    path = folder / MANIFEST
    rows = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    return {(row["riddle"], row["side"]): row for row in rows}


def save(folder: Path, runs: dict[tuple[str, str], Row]) -> None:
    """Write the manifest in the order of the riddles, whole or not at all."""
    ordered = [runs[riddle.name, side] for riddle in RIDDLES for side in SIDES if (riddle.name, side) in runs]
    draft = folder / f"{MANIFEST}.new"
    draft.write_text(json.dumps({"schema": "pyrometer.riddles/1", "runs": ordered}, indent=1) + "\n", encoding="utf-8")
    draft.replace(folder / MANIFEST)


def record(riddle: Riddle, side: str, options: argparse.Namespace) -> Row:
    """Return the row of a run, after as many attempts as it takes on a quiet machine."""
    measured = quiet.repeat(f"{riddle.name} {side}", lambda: run_once(riddle, side, options))
    files = keep(riddle, side, options)
    return {
        "riddle": riddle.name,
        "side": side,
        "script": f"jobs/{riddle.script(side)}.py",
        "spark_version": riddle.version,
        "rules": list(riddle.rules) if side == "faulty" else [],
        "measured": measured,
        "files": files,
    }


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("riddles", nargs="*", metavar="RIDDLE", help="names of riddles (all)")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs")
    parser.add_argument("--workdir", type=sr.absolute_path, default=DEFAULT_WORKDIR)
    parser.add_argument("--draft", type=sr.absolute_path, metavar="FOLDER", help="record on a busy machine, into FOLDER")
    options = parser.parse_args(argv)
    options.folder = options.draft or HERE / "logs"
    return options


def main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    unknown = set(options.riddles) - {riddle.name for riddle in RIDDLES}
    if unknown:
        print(f"unknown riddle {min(unknown)}; known: {', '.join(riddle.name for riddle in RIDDLES)}", file=sys.stderr)
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    runs, failed = load(options.folder), 0
    for riddle in RIDDLES:
        if options.riddles and riddle.name not in options.riddles:
            continue
        for side in SIDES:
            if (riddle.name, side) in runs:
                continue
            try:
                runs[riddle.name, side] = record(riddle, side, options)
            except Exception as error:  # one bad run must not lose the others
                print(f"{riddle.name} {side}: {error}", file=sys.stderr, flush=True)
                failed += 1
                continue
            save(options.folder, runs)
            print(riddle.name, side, json.dumps(runs[riddle.name, side]["measured"]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
