"""Load on `pyrometer serve` and on Spark's History Server: the same log, the same requests, one server at a time."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import inputs
import measuring
import peers
from inputs import CannotRun, Log
from peers import Bench

CONNECTIONS = 8
THREADS = 2
WARM_UP_S = 3
MEASURED_S = 8
LARGE_BYTES = 1_000_000  # such answers are asked for by one client, for longer
LARGE_CONNECTIONS = 1
LARGE_S = 20
# Spark forgets beyond these; Pyrometer does not, and both must answer the same.
RETAINED = {"spark.ui.retainedJobs": 10**6, "spark.ui.retainedStages": 10**6, "spark.ui.retainedTasks": 10**7}
FIRST_TIMES_SOONER = 60
ONCE_OPEN_MS = 5.0
LARGE_BYTES_PER_S = 300e6
HEAVY_CLIENTS = 80  # more than the server runs at once
LIGHT_PATHS = ("api/v1/version", "api/v1/applications", "metrics")
LIGHT_REQUESTS = 400
LIGHT_MS = 100.0  # p99
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


@dataclass
class Load:
    """What wrk saw of one request, asked again and again."""

    per_second: float
    p50_ms: float
    p99_ms: float
    bytes: int
    failed: int


@dataclass
class Served:
    """One server."""

    name: str
    version: str = ""
    first_s: float = 0.0  # from its start to the first stage list
    known_s: Optional[float] = None  # the same at a start that knows the log from an earlier one
    loads: dict[str, Load] = field(default_factory=dict)  # by request
    rss_bytes: int = 0
    peak_bytes: int = 0


@dataclass
class Serving:
    """All servers, and what could not be measured."""

    log: Log
    requests: list[str] = field(default_factory=list)
    servers: list[Served] = field(default_factory=list)
    light_ms: Optional[float] = None  # p99 of light requests while all heavy places are taken
    missing: list[tuple[str, str]] = field(default_factory=list)
    waits: list[tuple[str, str, Optional[bool]]] = field(default_factory=list)  # aims of latency.py

    def server(self, name: str) -> Optional[Served]:
        return next((one for one in self.servers if one.name == name), None)


# ---- Servers --------------------------------------------------------------------------------------------------------


@contextmanager
def pyrometer(bench: Bench, folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Its address and process id."""
    command = [str(bench.binary), "serve", str(folder), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        match = re.match(r"listening on (http://\S+)/$", process.stdout.readline())
        if match is None:
            raise measuring.RunFailed(f"{' '.join(command)} did not listen")
        yield match.group(1), process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextmanager
def history_server(bench: Bench, home: Path, folder: Path) -> Iterator[tuple[str, int]]:
    port = peers.free_port()
    command, environment = peers.history_server(home, folder, port, RETAINED)
    with (bench.cache / "history-server.log").open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=bench.cache)
        try:
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait(timeout=60)


def get(url: str) -> Optional[bytes]:
    try:
        with urllib.request.urlopen(url, timeout=peers.HISTORY_TIMEOUT_S) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def wait_for(url: str, begin: float) -> float:
    """Seconds from `begin` until that is answered."""
    while not get(url):
        if time.monotonic() - begin > peers.HISTORY_TIMEOUT_S:
            raise measuring.RunFailed(f"no answer within {peers.HISTORY_TIMEOUT_S} s: {url}")
        time.sleep(0.002)
    return time.monotonic() - begin


def memory(pid: int) -> tuple[int, int]:
    """Resident bytes now, and at most."""
    facts = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(facts["VmRSS"].split()[0]) * 1024, int(facts["VmHWM"].split()[0]) * 1024


# ---- Load -----------------------------------------------------------------------------------------------------------


def milliseconds(text: str) -> float:
    match = re.fullmatch(r"([0-9.]+)(us|ms|s|m)", text)
    if match is None:
        raise measuring.RunFailed(f"wrk gave no time: {text}")
    return float(match.group(1)) * UNITS[match.group(2)]


def run_wrk(url: str, connections: int, duration_s: int) -> str:
    threads = min(THREADS, connections)
    command = [inputs.tool("wrk"), "-t", str(threads), "-c", str(connections), "-d", f"{duration_s}s", "--latency"]
    done = subprocess.run([*command, "--timeout", "60s", url], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise measuring.RunFailed(f"wrk failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def measure_load(url: str) -> Load:
    body = get(url)
    if not body:
        raise measuring.RunFailed(f"no answer: {url}")
    large = len(body) > LARGE_BYTES
    connections = LARGE_CONNECTIONS if large else CONNECTIONS
    run_wrk(url, connections, WARM_UP_S)
    told = run_wrk(url, connections, LARGE_S if large else MEASURED_S)
    shares = dict(re.findall(r"^\s+(50|99)%\s+(\S+)\s*$", told, re.MULTILINE))
    rate = re.search(r"^Requests/sec:\s+([0-9.]+)\s*$", told, re.MULTILINE)
    if rate is None or len(shares) != 2 or float(rate.group(1)) == 0:
        raise measuring.RunFailed(f"wrk gave no numbers for {url}: {' '.join(told.split())[-300:]}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", told)
    errors = re.findall(r"(?:connect|read|write|timeout) (\d+)", told)
    failed = (int(refused.group(1)) if refused else 0) + sum(map(int, errors))
    return Load(float(rate.group(1)), milliseconds(shares["50"]), milliseconds(shares["99"]), len(body), failed)


def busiest_stage(url: str) -> str:
    """STAGE/ATTEMPT of the one with the most tasks."""
    stages = json.loads(get(url) or b"[]")
    best = max(stages, key=lambda one: (int(one["numCompleteTasks"]), -int(one["stageId"])))
    return f"{best['stageId']}/{best['attemptId']}"


def requests_of(address: str, log: Log) -> list[str]:
    below = f"applications/{log.application}"
    stage = busiest_stage(f"{address}/api/v1/{below}/stages")
    one = f"{below}/stages/{stage}"
    below_stage = [one, f"{one}/taskList?length=1000", f"{one}/taskSummary"]
    return ["applications", f"{below}/jobs", f"{below}/stages", *below_stage, f"{below}/environment"]


def load_server(serving: Serving, served: Served, address: str, pid: int) -> None:
    if not serving.requests:
        serving.requests = requests_of(address, serving.log)
    for path in serving.requests:
        served.loads[path] = measure_load(f"{address}/api/v1/{path}")
    served.rss_bytes, served.peak_bytes = memory(pid)


# ---- Light requests while heavy ones take all places ------------------------------------------------------------------


def keep_busy(address: str, log: Log, stop: threading.Event) -> None:
    """A client that asks for predictions, each another one, until it is stopped."""
    path = f"pyrometer/v1/applications/{log.application}/-/whatif?sweep=executors=1..250"
    while not stop.is_set():
        try:
            with urllib.request.urlopen(f"{address}/{path}", timeout=60) as answer:
                answer.read()
        except (OSError, http.client.HTTPException):  # refused, or stopped while it was sent: there is no place
            stop.wait(0.1)


def running(address: str) -> int:
    match = re.search(rb'pyrometer_requests_running\{class="heavy"\} (\d+)', get(f"{address}/metrics") or b"")
    return int(match.group(1)) if match else 0


def light_p99(address: str, log: Log) -> float:
    """Milliseconds, of light requests that come one by one."""
    stop = threading.Event()
    crowd = [threading.Thread(target=keep_busy, args=(address, log, stop), daemon=True) for _ in range(HEAVY_CLIENTS)]
    for client in crowd:
        client.start()
    deadline = time.monotonic() + 60
    while running(address) < 64 and time.monotonic() < deadline:
        time.sleep(0.1)
    times = []
    for number in range(LIGHT_REQUESTS):
        begin = time.monotonic()
        if get(f"{address}/{LIGHT_PATHS[number % len(LIGHT_PATHS)]}") is None:
            raise measuring.RunFailed("a light request was refused")
        times.append((time.monotonic() - begin) * 1000)
    stop.set()
    for client in crowd:
        client.join(timeout=60)
    return sorted(times)[LIGHT_REQUESTS * 99 // 100]


# ---- Both, one after the other --------------------------------------------------------------------------------------


def first_list(address: str, log: Log, begin: float) -> float:
    return wait_for(f"{address}/api/v1/applications/{log.application}/stages", begin)


def serve_with_pyrometer(bench: Bench, serving: Serving, folder: Path) -> None:
    served = Served("Pyrometer", measuring.first_line([str(bench.binary), "--version"]))
    cache = bench.cache / "serve-cache"
    shutil.rmtree(cache, ignore_errors=True)
    begin = time.monotonic()
    with pyrometer(bench, folder, "--cache", str(cache)) as (address, pid):
        served.first_s = first_list(address, serving.log, begin)
        load_server(serving, served, address, pid)
        serving.light_ms = light_p99(address, serving.log)
    begin = time.monotonic()
    with pyrometer(bench, folder, "--cache", str(cache)) as (address, _):
        served.known_s = first_list(address, serving.log, begin)
    serving.servers.append(served)


def serve_with_spark(bench: Bench, serving: Serving, folder: Path) -> None:
    home = peers.spark_home(bench)
    served = Served("History Server", f"Spark {peers.PYSPARK}, 4 GB heap")
    begin = time.monotonic()
    with history_server(bench, home, folder) as (address, pid):
        served.first_s = first_list(address, serving.log, begin)
        load_server(serving, served, address, pid)
    serving.servers.append(served)


def measure(bench: Bench, log: Log, with_spark: bool) -> Serving:
    """Load on each server in turn; what is missing is named."""
    serving = Serving(log)
    folder = bench.logs.folder_of_one(log)
    runs: list[tuple[str, Callable[[Bench, Serving, Path], None]]] = [("Pyrometer", serve_with_pyrometer)]
    if with_spark:
        runs.append(("History Server", serve_with_spark))
    for name, run in runs:
        try:
            inputs.tool("wrk")
            bench.say(f"load on {name}")
            run(bench, serving, folder)
        except (CannotRun, measuring.RunFailed, subprocess.TimeoutExpired) as error:
            serving.missing.append((f"load on {name}", str(error)))
            bench.say(f"load on {name}: {error}")
    return serving


# ---- Telling --------------------------------------------------------------------------------------------------------


def short(path: str, log: Log) -> str:
    return "`" + path.replace(f"applications/{log.application}/", ".../") + "`"


def rate_text(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def load_rows(serving: Serving) -> list[list[str]]:
    rows = []
    for path in serving.requests:
        for served in serving.servers:
            load = served.loads[path]
            failed = f" ({load.failed:,} failed)" if load.failed else ""
            rows.append(
                [short(path, serving.log), served.name, f"{load.bytes:,}", f"{rate_text(load.per_second)}{failed}"]
                + [f"{load.p50_ms:.2f}", f"{load.p99_ms:.2f}"]
            )
    return rows


def server_rows(serving: Serving) -> list[list[str]]:
    return [
        [served.name, f"{served.first_s:.2f}", "" if served.known_s is None else f"{served.known_s:.2f}"]
        + [f"{served.rss_bytes / 1e6:.0f} MB", f"{served.peak_bytes / 1e6:.0f} MB", served.version]
        for served in serving.servers
    ]


LOAD_HEADINGS = ("request", "server", "bytes", "requests a second", "p50 ms", "p99 ms")
SERVER_HEADINGS = ("server", "first answer s", "of a log seen before s", "resident", "at most", "version")


def aims(serving: Serving) -> list[tuple[str, str, Optional[bool]]]:
    """Text, what was measured, and whether it is met."""
    mine, other = serving.server("Pyrometer"), serving.server("History Server")
    first = f"first answer {FIRST_TIMES_SOONER} x sooner than the History Server's"
    small = f"answers up to {LARGE_BYTES / 1e6:g} MB in {ONCE_OPEN_MS:g} ms once the application is open (p50)"
    large = f"larger ones at {LARGE_BYTES_PER_S / 1e6:g} MB/s"
    told: list[tuple[str, str, Optional[bool]]] = []
    if mine and other:
        times = other.first_s / mine.first_s
        told.append((first, f"{times:.0f} x ({mine.first_s:.2f} s to {other.first_s:.2f} s)", times >= FIRST_TIMES_SOONER))
    else:
        told.append((first, "not measured", None))
    light = f"light requests in {LIGHT_MS:g} ms while predictions take all places (p99)"
    if serving.light_ms is None:
        told.append((light, "not measured", None))
    else:
        told.append((light, f"{serving.light_ms:.1f} ms", serving.light_ms <= LIGHT_MS))
    if not mine:
        return told + [(small, "not measured", None), (large, "not measured", None)]
    slowest = max((load.p50_ms for load in mine.loads.values() if load.bytes <= LARGE_BYTES), default=0.0)
    told.append((small, f"{slowest:.2f} ms at most", slowest <= ONCE_OPEN_MS))
    rate = min((load.bytes * load.per_second for load in mine.loads.values() if load.bytes > LARGE_BYTES), default=None)
    if rate is not None:
        told.append((large, f"{rate / 1e6:.0f} MB/s at least", rate >= LARGE_BYTES_PER_S))
    if other:
        times = min(mine.loads[path].per_second / other.loads[path].per_second for path in serving.requests)
        told.append(("every answer sooner than the History Server's", f"{times:.1f} x as many at least", times > 1))
    return told


def document(
    serving: Serving, load: float, busy: float, table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]
) -> str:
    """All that is known, as Markdown."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    parts = [table(SERVER_HEADINGS, server_rows(serving)), table(LOAD_HEADINGS, load_rows(serving))]
    parts.append(table(["aim", "measured", "met"], [[text, told, words[met]] for text, told, met in aims(serving) + serving.waits]))
    if load > busy:
        warning = f"Measured on a busy machine (load {load:.1f}): times are too long and rates too low. Repeat it."
        parts.insert(0, f"**{warning}**")
    log, cores = serving.log, os.cpu_count()
    facts = [
        f"- log: {log.name}, {log.plain_bytes:,} bytes, {log.tasks:,} tasks",
        f"- load: `wrk -t {THREADS} -c {CONNECTIONS}`, {MEASURED_S} s each after {WARM_UP_S} s that are not counted; "
        f"of answers above {LARGE_BYTES / 1e6:.0f} MB `-t 1 -c {LARGE_CONNECTIONS}`, {LARGE_S} s",
        "- the History Server with `spark.ui.retained*` so high that it answers with as much",
        f"- on the same {cores} cores as the server: what wrk uses, the server lacks",
        f"- day: {time.strftime('%Y-%m-%d', time.gmtime())}",
        *(f"- not measured: {name}: {reason}" for name, reason in serving.missing),
    ]
    parts.append("\n".join(facts))
    return "\n\n".join(parts) + "\n"
