"""The programs that are measured beside Pyrometer: how to get them and how to run them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import inputs
import measuring
from inputs import CannotRun, Log
from measuring import Cost

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests" / "record"))
import spark_runs  # noqa: E402

PYSPARK = "3.5.6"
HISTORY_TIMEOUT_S = 300
SAMPLE_US = 500
WHATIF_SIZES = 64
SPARKLENS = "Sparklens 0.3.2 (7f2ea4b) on Spark 2.4.8"


@dataclass
class Bench:
    """What the rows are made with."""

    cache: Path
    logs: inputs.Inputs
    meter: measuring.Meter
    binary: Path
    say: Callable[[str], None]


@dataclass
class Row:
    """One line of the table."""

    key: str  # for --only
    name: str
    does: str
    log: Log
    run: Callable[[], Cost]
    slow: bool = False
    version: str = ""


# ---- Getting peers --------------------------------------------------------------------------------------------------


def pip(venv: Path, arguments: Sequence[str], hint: str) -> None:
    command = [str(venv / "bin" / "python"), "-m", "pip", "-q", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise CannotRun(f"pip failed ({reason[0][:200]}): {hint}")


def make_venv(venv: Path, hint: str) -> None:
    if (venv / "bin" / "python").exists():
        return
    if subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True).returncode != 0:
        raise CannotRun(f"no virtual environment could be made: {hint}")


def venv_with(bench: Bench, package: str, module: str) -> Path:
    """A virtual environment in the cache that has the package; its Python."""
    venv = bench.cache / "venv"
    python = venv / "bin" / "python"
    hint = f"needs python3-venv and, once, a network to install {package} with pip into {venv}"
    make_venv(venv, hint)
    if subprocess.run([str(python), "-c", f"import {module}"], capture_output=True).returncode != 0:
        bench.say(f"installing {package} with pip into {venv}")
        pip(venv, ["install", package], hint)
    return python


def version_in(python: Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version('{package}'))"
    return measuring.first_line([str(python), "-c", code])


def spark_home(bench: Bench) -> Path:
    """Spark as the pip package has it; also where the recording scripts put theirs."""
    name = f"pyrometer-venv-{PYSPARK}"
    inputs.tool("java", "openjdk-17-jre-headless")
    venv = bench.cache / name
    for place in (venv, bench.cache.parent / name):
        for home in place.glob("lib/python3*/site-packages/pyspark"):
            if (home / "bin" / "spark-class").exists():
                return home
    hint = f"needs python3-venv and, once, a network to install pyspark=={PYSPARK} (320 MB) with pip into {venv}"
    bench.say(f"installing pyspark=={PYSPARK} with pip into {venv}")
    make_venv(venv, hint)
    pip(venv, ["install", f"pyspark=={PYSPARK}"], hint)
    return next(iter(venv.glob("lib/python3*/site-packages/pyspark")))


def rapids_jar(bench: Bench) -> Path:
    """The profiling tool's jar, out of its wheel."""
    folder = bench.cache / "rapids"
    found = sorted(folder.glob("rapids-4-spark-tools*.jar"))
    if found:
        return found[0]
    bench.say("fetching spark-rapids-user-tools with pip")
    venv = venv_with(bench, "orjson", "orjson").parents[1]
    hint = f"needs, once, a network to download spark-rapids-user-tools with pip into {folder}"
    pip(venv, ["download", "--no-deps", "-d", str(folder), "spark-rapids-user-tools"], hint)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if Path(name).name.startswith("rapids-4-spark-tools") and name.endswith(".jar"):
                    jar = folder / Path(name).name
                    jar.write_bytes(archive.read(name))
                    return jar
    raise CannotRun("the wheel of spark-rapids-user-tools has no rapids-4-spark-tools jar")


# ---- Rows -----------------------------------------------------------------------------------------------------------


def command_row(
    bench: Bench, key: str, name: str, does: str, log: Log, command: Sequence[str], version: str = ""
) -> Row:
    keep_output = key != "zstd"
    return Row(key, name, does, log, lambda: bench.meter.run(command, keep_output=keep_output), version=version)


def pyrometer_row(bench: Bench, log: Log, threads: Optional[int] = None) -> Row:
    """A full diagnosis. Anonymous memory is sampled in a run of its own, so that no timing pays for it."""
    if not bench.binary.exists():
        raise CannotRun(f"{bench.binary} is not there: ./dev build")
    command = [str(bench.binary), "diagnose", "--format", "json"]
    command += [] if threads is None else ["--threads", str(threads)]
    command.append(str(log.path))

    def run() -> Cost:
        timed = bench.meter.run(command)
        sampled = bench.meter.run(command, SAMPLE_US)
        return Cost(timed.wall_s, timed.user_s, timed.system_s, timed.peak_bytes, sampled.anonymous_bytes)

    how = "" if threads is None else f", {threads} thread"
    does = "full diagnosis, `diagnose --format json`"
    version = measuring.first_line([str(bench.binary), "--version"])
    return Row("pyrometer", f"**Pyrometer**{how}", does, log, run, version=version)


def small_row(bench: Bench, log: Log) -> Row:
    """The whole process; anonymous memory is of no interest."""
    if not bench.binary.exists():
        raise CannotRun(f"{bench.binary} is not there: ./dev build")
    command = [str(bench.binary), "diagnose", "--format", "json", str(log.path)]
    version = measuring.first_line([str(bench.binary), "--version"])
    does = "full diagnosis of a small log, `diagnose --format json`"
    return Row("small", "**Pyrometer**", does, log, lambda: bench.meter.run(command), version=version)


def html_report(bench: Bench) -> Path:
    return bench.cache / "report.html"


def html_row(bench: Bench, log: Log) -> Row:
    """The page that works from disk, with its predictions."""
    if not bench.binary.exists():
        raise CannotRun(f"{bench.binary} is not there: ./dev build")
    command = [str(bench.binary), "diagnose", "--format", "html", "-o", str(html_report(bench)), str(log.path)]
    does = "HTML report, `diagnose --format html`"
    version = measuring.first_line([str(bench.binary), "--version"])
    return Row("html", "**Pyrometer** html", does, log, lambda: bench.meter.run(command), version=version)


def whatif_row(bench: Bench, log: Log) -> Row:
    """As many sizes of cluster as an aim speaks of."""
    if not bench.binary.exists():
        raise CannotRun(f"{bench.binary} is not there: ./dev build")
    command = [str(bench.binary), "whatif", "--format", "json", "--sweep", f"executors=1..{WHATIF_SIZES}", str(log.path)]
    does = f"predicts {WHATIF_SIZES} sizes, `whatif --sweep executors=1..{WHATIF_SIZES}`"
    version = measuring.first_line([str(bench.binary), "--version"])
    return Row("whatif", "**Pyrometer** whatif", does, log, lambda: bench.meter.run(command), version=version)


def sparklens_row(bench: Bench, log: Log) -> Row:
    """Not in any package registry: measured if it was built by hand."""
    folder = os.environ.get("PYROMETER_SPARKLENS")
    if not folder:
        raise CannotRun(
            "PYROMETER_SPARKLENS names no folder with the jars of Sparklens and of Spark 2.4, which it is built with"
        )
    inputs.tool("java", "openjdk-17-jre-headless")
    heap_gb = max(4, min(12, inputs.available_memory() // 2**30 // 2))
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.nio", "sun.nio.ch")]
    main = "com.qubole.sparklens.app.ReporterApp"
    command = ["java", f"-Xmx{heap_gb}g", *opens, "-cp", f"{Path(folder).absolute()}/*", main, str(log.path)]
    command.append("source=history")
    does = "its report, 12 sizes among it"
    return Row("sparklens", "Sparklens", does, log, lambda: bench.meter.run(command), slow=True, version=SPARKLENS)


def wc_row(bench: Bench, log: Log) -> Row:
    does = "counts newlines"
    return command_row(bench, "wc", "`wc -l`", does, log, [inputs.tool("wc", "coreutils"), "-l", str(log.path)])


def grep_row(bench: Bench, log: Log) -> Row:
    command = [inputs.tool("grep"), "-c", "SparkListenerTaskEnd", str(log.path)]
    version = measuring.first_line(["grep", "--version"]).replace("grep (GNU grep)", "GNU grep")
    return command_row(bench, "grep", "`grep -c`", "touches every byte", log, command, version)


def zstd_row(bench: Bench, log: Log) -> Row:
    command = [inputs.tool("zstd"), "-dcq", str(log.path)]
    version = "zstd " + measuring.first_line(["zstd", "--version"]).partition(" v")[2].partition(",")[0]
    return command_row(bench, "zstd", "`zstd -dc`", "decompresses, no more", log, command, version)


def simdjson_row(bench: Bench, log: Log) -> Row:
    source = HERE / "simdjson_one_field.cpp"
    program = bench.cache / "bin" / "simdjson_one_field"
    inputs.tool("c++", "g++")
    command = ["c++", "-O3", "-march=native", "-o", str(program), str(source), "-lsimdjson"]
    try:
        measuring.compile_program(command, source, program)
    except measuring.RunFailed:
        raise CannotRun("simdjson is missing: apt-get install libsimdjson-dev") from None
    version = measuring.first_line(["pkg-config", "--modversion", "simdjson"])
    does = "reads one field of every line, on demand"
    return command_row(bench, "simdjson", "simdjson", does, log, [str(program), str(log.path)], f"simdjson {version}")


def python_row(bench: Bench, package: str, label: str, does: str, log: Log) -> Row:
    python = venv_with(bench, package, package)
    command = [str(python), str(HERE / f"{package}_one_field.py"), str(log.path)]
    version = f"{label} {version_in(python, package)}"
    return command_row(bench, package, label, does, log, command, version)


def rapids_row(bench: Bench, log: Log) -> Row:
    home, jar = spark_home(bench), rapids_jar(bench)
    out = bench.cache / "rapids" / "out"
    heap_gb = max(4, min(12, inputs.available_memory() // 2**30 // 2))
    main = "com.nvidia.spark.rapids.tool.profiling.ProfileMain"
    classes = f"{jar}:{home}/jars/*"
    command = ["java", f"-Xmx{heap_gb}g", "-cp", classes, main, "--csv", "-o", str(out)]
    command.append(str(bench.logs.folder_of_one(log) / log.application))  # it passes over names ending in .log

    def run() -> Cost:
        shutil.rmtree(out, ignore_errors=True)
        cost = bench.meter.run(command)
        if not any(out.rglob("stage_level_aggregated_task_metrics.csv")):
            raise measuring.RunFailed(f"the profiling tool wrote no table of stages into {out}")
        return cost

    version = f"{jar.stem}, -Xmx{heap_gb}g"
    return Row("rapids", "rapids-tools", "profiling tool, its CSV tables", log, run, slow=True, version=version)


def history_row(bench: Bench, log: Log) -> Row:
    home = spark_home(bench)
    folder = bench.logs.folder_of_one(log)
    does = "started, until its first stage list is answered over REST"
    version = f"Spark {PYSPARK}, 4 GB heap, {measuring.first_line(['java', '-version'])}"

    def run() -> Cost:
        return run_history(bench, home, folder, log)

    return Row("history", "History Server", does, log, run, slow=True, version=version)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def history_server(
    home: Path, folder: Path, port: int, settings: Optional[Mapping[str, object]] = None
) -> tuple[list[str], dict[str, str]]:
    """Its command and environment."""
    settings = {"spark.history.fs.update.interval": "1s", **(settings or {})}
    return spark_runs.history_server(home, folder, port, settings, memory="4g")


def ask(url: str) -> Optional[list[object]]:
    """The answer's list; None as long as the server is not there or does not know the application."""
    try:
        with urllib.request.urlopen(url, timeout=HISTORY_TIMEOUT_S) as answer:
            return list(json.load(answer))
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def wait_for_stages(url: str, process: subprocess.Popen[bytes], begin: float) -> float:
    """Seconds until the first stage list came."""
    while time.monotonic() - begin < HISTORY_TIMEOUT_S:
        if process.poll() is not None:
            raise measuring.RunFailed(f"the History Server ended with status {process.returncode}")
        if ask(url):
            return time.monotonic() - begin
        time.sleep(0.05)
    raise measuring.RunFailed(f"no stage list within {HISTORY_TIMEOUT_S} s")


def run_history(bench: Bench, home: Path, folder: Path, log: Log) -> Cost:
    port = free_port()
    url = f"http://127.0.0.1:{port}/api/v1/applications/{log.application}/stages"
    command, environment = history_server(home, folder, port)
    begin = time.monotonic()
    with (bench.cache / "history-server.log").open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=bench.cache)
        try:
            wall = wait_for_stages(url, process, begin)
        finally:
            usage = end_process(process)
    return Cost(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)


def end_process(process: subprocess.Popen[bytes]):  # -> resource.struct_rusage
    """Ask that process to end, by its own id, and say what it used."""
    if process.returncode is None:
        process.terminate()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage
