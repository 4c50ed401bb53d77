#!/usr/bin/env python3
"""Record small real Spark event logs in every codec, layout and state.

Everything under tests/logs is made by running Spark, never by editing a log:
readers are tested against the bytes that Spark's own writers produce.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))
import maven  # noqa: E402
import spark_runs as sr  # noqa: E402
import yarn_node  # noqa: E402

HERE = Path(__file__).resolve().parent
CODECS = ("lz4", "lzf", "snappy", "zstd", "uncompressed")
HISTORY_PORT = 18481


class Recorder:
    """Where to run and where to keep what a run leaves behind."""

    def __init__(self, cache: Path, workdir: Path, out: Path, version: str):
        self.cache = cache
        self.workdir = workdir
        self.out = out
        self.version = version
        self.venv = sr.make_venv(cache, version)

    def keep(self, log: Path, folder: str) -> Path:
        """Copy a log (file or folder) into a fresh folder under tests/logs."""
        target = self.out / folder
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        copy = target / log.name
        copy_log(log, copy)
        print(f"{folder}/{log.name}: {size_of(copy)} bytes", flush=True)
        return copy


def copy_log(log: Path, target: Path) -> None:
    """Copy a log without the checksum files that Hadoop adds."""
    if log.is_dir():
        ignored = shutil.ignore_patterns(".*")
        shutil.copytree(log, target, ignore=ignored, copy_function=shutil.copyfile)
        target.chmod(0o755)
    else:
        shutil.copyfile(log, target)


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def codec_conf(codec: str, rolling: bool) -> dict[str, str]:
    """Return the event log settings for one codec and layout."""
    conf = {
        "spark.eventLog.rolling.enabled": str(rolling).lower(),
        "spark.eventLog.rolling.maxFileSize": "10m",
        "spark.eventLog.compress": str(codec != "uncompressed").lower(),
    }
    if codec != "uncompressed":
        conf["spark.eventLog.compression.codec"] = codec
    return conf


def record_codec(rec: Recorder, codec: str, rolling: bool, tasks: int = 30) -> None:
    """Record one codec in one layout."""
    layout = "rolling" if rolling else "single"
    events = rec.workdir / "events"
    run = sr.Run(
        f"codec-{codec}-{layout}",
        HERE / "codec_job.py",
        conf=codec_conf(codec, rolling),
        args=["--tasks", str(tasks)],
    )
    sr.run_to_end(rec.venv, rec.workdir, run, events)
    rec.keep(next(sr.logs_in(events)), f"codecs/{codec}-{layout}")


def record_all_codecs(rec: Recorder) -> None:
    """Record each codec, rolling and not."""
    for codec in CODECS:
        for rolling in (False, True):
            record_codec(rec, codec, rolling)


def record_parts(rec: Recorder) -> None:
    """Record a rolling zstd log of several files, then have it compacted."""
    events = rec.workdir / "events"
    run = sr.Run(
        "rolling-parts",
        HERE / "codec_job.py",
        conf=codec_conf("zstd", True),
        args=["--tasks", "190", "--rounds", "14"],
    )
    sr.run_to_end(rec.venv, rec.workdir, run, events)
    log = next(sr.logs_in(events))
    rec.keep(log, "codecs/zstd-rolling-parts")
    record_compaction(rec, log, "true", "codecs/zstd-compacted")
    record_compaction(rec, log, "false", "codecs/zstd-compacted-plain")


def record_compaction(rec: Recorder, log: Path, compress: str, folder: str) -> None:
    """Let a History Server compact a copy of a rolling log, and keep it.

    The server compresses by its own settings but keeps the name: by default it
    leaves a plain file called `.zstd.compact`, which readers must survive.
    """
    copies = rec.workdir / "compaction"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    copy_log(log, copies / log.name)
    settings = {
        "spark.history.fs.eventLog.rolling.maxFilesToRetain": "1",
        "spark.history.fs.eventLog.rolling.compaction.score.threshold": "0.0",
        "spark.eventLog.compress": compress,
        "spark.eventLog.compression.codec": "zstd",
    }
    with sr.HistoryServer(rec.venv, rec.workdir, copies, HISTORY_PORT, settings):
        sr.wait_for(lambda: bool(list(copies.glob("*/*.compact"))), 120, "compaction")
        time.sleep(5)
    rec.keep(copies / log.name, folder)


def record_in_progress(rec: Recorder) -> None:
    """Copy logs while their applications are still running."""
    for codec, rolling in (("uncompressed", False), ("zstd", False), ("zstd", True)):
        layout = "rolling" if rolling else "single"
        events = rec.workdir / "events"
        gate = rec.workdir / "go-on"
        for stale in (gate, gate.with_name("go-on.ready")):
            stale.unlink(missing_ok=True)
        run = sr.Run(
            f"inprogress-{codec}-{layout}",
            HERE / "codec_job.py",
            conf=codec_conf(codec, rolling),
            args=["--hold", str(gate)],
        )
        process = sr.start(rec.venv, rec.workdir, run, events)
        sr.wait_for(gate.with_name("go-on.ready").exists, 120, "the application")
        rec.keep(next(sr.logs_in(events)), f"inprogress/{codec}-{layout}")
        gate.touch()
        process.wait(timeout=120)


def record_zip(rec: Recorder) -> None:
    """Ask a History Server for the archives it hands out over REST."""
    folder = rec.workdir / "for-zip"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    target = rec.out / "zip"
    target.mkdir(parents=True, exist_ok=True)
    names: dict[str, str] = {}
    for layout in ("single", "rolling"):
        log = next(sr.logs_in(rec.out / "codecs" / f"zstd-{layout}"))
        copy_log(log, folder / log.name)
        names[layout] = log.name.replace("eventlog_v2_", "").split(".")[0]
    with sr.HistoryServer(rec.venv, rec.workdir, folder, HISTORY_PORT) as server:
        for layout, app in names.items():
            path = f"/applications/{app}/logs"
            listed = functools.partial(server.answers, "/applications", app.encode())
            sr.wait_for(listed, 90, f"the server to list {app}")
            (target / f"{layout}.zip").write_bytes(sr.fetch(server.url + path))
            print(f"zip/{layout}.zip", flush=True)


def record_versions(rec: Recorder) -> None:
    """Record Spark 4: its default rolling zstd log, and a streaming query."""
    newest = Recorder(rec.cache, rec.workdir, rec.out, "4.3.0")
    defaults = {
        "spark.eventLog.rolling.enabled": "true",
        "spark.eventLog.compress": "true",
        "spark.eventLog.compression.codec": "zstd",
    }
    events = rec.workdir / "events"
    batch = sr.Run("spark4-batch", HERE / "codec_job.py", "local-cluster[2,1,1024]", defaults)
    sr.run_to_end(newest.venv, rec.workdir, batch, events)
    newest.keep(next(sr.logs_in(events)), "versions/spark-4.3.0-executor-metrics")
    stream = sr.Run("spark4-streaming", HERE / "streaming_job.py", "local[2]", defaults)
    sr.run_to_end(newest.venv, rec.workdir, stream, events)
    newest.keep(next(sr.logs_in(events)), "versions/spark-4.3.0-streaming")


def record_connect(rec: Recorder) -> None:
    """Run the Connect step again in a network namespace of its own.

    The Connect server is not to be reachable from outside, whatever it binds.
    """
    sr.pip_install(sr.make_venv(rec.cache, "4.3.0"), ["pyspark[connect]==4.3.0"])
    in_own_network(rec, "connect-inside")


def record_connect_inside(rec: Recorder) -> None:
    """Record a Spark Connect server that answers one client."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    newest = Recorder(rec.cache, rec.workdir, rec.out, "4.3.0")
    events = rec.workdir / "events"
    conf = {
        "spark.eventLog.rolling.enabled": "true",
        "spark.eventLog.compress": "true",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "15002",
    }
    run = sr.Run("connect", HERE / "connect_client.py", conf=conf)
    server = sr.start(
        newest.venv,
        rec.workdir,
        run,
        events,
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    )
    try:
        sr.wait_for(lambda: sr.listens(15002), 90, "the Connect server")
        python = str(newest.venv / "bin" / "python")
        command = [python, run.script.name, "sc://127.0.0.1:15002"]
        subprocess.run(
            command, cwd=rec.workdir, env=sr.spark_env(newest.venv), check=True, timeout=120
        )
    finally:
        server.terminate()
        server.wait(timeout=60)
    newest.keep(next(sr.logs_in(events)), "versions/spark-4.3.0-connect")


def in_own_network(rec: Recorder, step: str) -> None:
    """Run one hidden step of this script where nothing can be reached from outside."""
    paths = ["--cache", rec.cache, "--workdir", rec.workdir, "--out", rec.out]
    inner = [sys.executable, __file__, step, "--version", rec.version, *map(str, paths)]
    subprocess.run(["unshare", "-n", *inner], check=True)


def yarn_has_node(url: str) -> bool:
    """Tell whether the resource manager knows a live node."""
    try:
        return b'"activeNodes":1' in sr.fetch(f"{url}/ws/v1/cluster/metrics")
    except OSError:
        return False


def record_attempts(rec: Recorder) -> None:
    """Record both attempts of one application in YARN's cluster mode."""
    base = rec.workdir / "yarn"
    shutil.rmtree(base, ignore_errors=True)
    conf, url = yarn_node.configure(base)
    jars = maven.jars(rec.cache, "yarn", yarn_node.coordinates())
    env = yarn_node.environment(conf, sr.spark_env(rec.venv))
    running = []
    for daemon in yarn_node.DAEMONS:
        with open(base / f"{daemon.rsplit('.', 1)[1]}.out", "wb") as output:
            command = yarn_node.command(jars, conf, daemon)
            running.append(subprocess.Popen(command, env=env, stdout=output, stderr=output, cwd=base))
    try:
        sr.wait_for(lambda: yarn_has_node(url), 90, "YARN")
        events = rec.workdir / "events"
        python = str(rec.venv / "bin" / "python")
        settings = {
            "spark.submit.deployMode": "cluster",
            "spark.yarn.maxAppAttempts": "2",
            "spark.yarn.jars": f"local:{sr.spark_home(rec.venv)}/jars/*",
            "spark.yarn.stagingDir": f"file:{base}/staging",
            "spark.yarn.appMasterEnv.PYSPARK_PYTHON": python,
            "spark.executorEnv.PYSPARK_PYTHON": python,
            "spark.executor.instances": "1",
            "spark.executor.memory": "512m",
            "spark.driver.memory": "512m",
        }
        run = sr.Run("two-attempts", HERE / "attempts_job.py", "yarn", settings)
        sr.run_to_end(rec.venv, rec.workdir, run, events, env)
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=60)
    shutil.rmtree(rec.out / "attempts", ignore_errors=True)
    for log in sr.logs_in(events):
        target = rec.out / "attempts" / log.name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_log(log, target)
        print(f"attempts/{log.name}: {size_of(target)} bytes", flush=True)


STEPS: dict[str, Callable[[Recorder], None]] = {
    "codecs": record_all_codecs,
    "inprogress": record_in_progress,
    "zip": record_zip,
    "versions": record_versions,
    "parts": record_parts,
    "connect": record_connect,
    "attempts": record_attempts,
}
HIDDEN: dict[str, Callable[[Recorder], None]] = {
    "connect-inside": record_connect_inside,
}


SHOWS = {
    "codecs/*-single": "one file, finished; SQL with joins and an RDD action",
    "codecs/*-rolling": "rolling folder with one event file, finished",
    "codecs/zstd-rolling-parts": "rolling folder with several event files",
    "codecs/zstd-compacted": "the same log compacted by a History Server that compresses",
    "codecs/zstd-compacted-plain": "compacted by a History Server with default settings: "
    "the file named .zstd.compact holds plain text",
    "inprogress/*": "copied while the application was running",
    "attempts": "two attempts of one YARN application, the first one failed",
    "zip": "archive from a History Server's /api/v1/applications/ID/logs",
    "versions/*-executor-metrics": "Spark 4 defaults, two executors, stage executor metrics",
    "versions/*-streaming": "structured streaming: query start, progress, termination",
    "versions/*-connect": "Spark Connect: session and operation events, one query failed",
}
COLUMNS = ("path", "spark_version", "codec", "layout", "shows", "applications")


def describe(relative: str) -> str:
    """Return what a log shows; the more special pattern wins."""
    folder = relative.rsplit("/", 1)[0]
    fitting = [p for p in SHOWS if fnmatch.fnmatchcase(folder, p)]
    return SHOWS[max(fitting, key=len)]


def codec_of(log: Path) -> str:
    """Return the codec as the names of the event files tell it."""
    files = [log] if log.is_file() else sorted(log.glob("events_*"))
    for codec in CODECS:
        if f".{codec}" in files[0].name:
            return codec
    return "zip" if log.suffix == ".zip" else "uncompressed"


def manifest_row(out: Path, log: Path, version: str) -> str:
    """Return one line of the manifest."""
    relative = str(log.relative_to(out))
    named = re.search(r"spark-([0-9.]+)-", relative)
    layout = "rolling" if log.is_dir() or log.name == "rolling.zip" else "single"
    if "inprogress" in relative:
        layout += " in progress"
    row = (relative, named[1] if named else version, codec_of(log), layout, describe(relative), "1")
    return "\t".join(row)


def write_manifest(rec: Recorder) -> None:
    """List every log under tests/logs."""
    logs = [p for name in ("codecs", "inprogress", "versions") for p in rec.out.glob(f"{name}/*/*")]
    logs += [p for name in ("attempts", "zip") for p in (rec.out / name).glob("*")]
    lines = ["\t".join(COLUMNS)]
    lines += [manifest_row(rec.out, log, rec.version) for log in sorted(logs)]
    (rec.out / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", help=f"what to record: {', '.join(STEPS)} (all)")
    parser.add_argument("--version", default="3.5.6", help="pyspark to install (3.5.6)")
    parser.add_argument(
        "--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venv"
    )
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument("--out", type=sr.absolute_path, default=sr.ROOT / "tests" / "logs")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    options = parse_arguments(argv)
    steps = {**STEPS, **HIDDEN}
    unknown = [s for s in options.steps if s not in steps]
    if unknown:
        print(f"unknown step {unknown[0]}; known: {', '.join(STEPS)}", file=sys.stderr)
        return 2
    rec = Recorder(options.cache, options.workdir, options.out, options.version)
    for step in options.steps or STEPS:
        steps[step](rec)
    write_manifest(rec)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
