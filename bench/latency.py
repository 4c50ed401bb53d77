"""What clients of `pyrometer serve` wait for: the first bytes of a long answer, numbers that are worked out, long lists."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import statistics
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import inputs
import measuring
import serving
from inputs import Log
from peers import Bench

ROUNDS = 21
STARTS = 7
FIRST_BYTE_MS = 5.0
RATE = 800e6
SUMMARY_MS = 5.0
FIRST_LIST_S = 1.0
RESCAN_MS = 20.0
RESCANS = 20
PIECE = 1 << 20


@dataclass
class Aim:
    text: str
    told: str
    met: Optional[bool]

    def row(self) -> tuple[str, str, Optional[bool]]:
        return self.text, self.told, self.met


class Client:
    """One connection that stays open."""

    def __init__(self, address: str) -> None:
        place = urllib.parse.urlsplit(address)
        self.connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        self.buffer = bytearray(PIECE)

    def get(self, path: str) -> tuple[float, float, int]:
        """Seconds to the first byte of the body and to its last, and its bytes."""
        begin = time.monotonic()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        total = answer.readinto(memoryview(self.buffer)[:1])
        first = time.monotonic() - begin
        while got := answer.readinto(self.buffer):
            total += got
        if answer.status != 200 or not total:
            raise measuring.RunFailed(f"{path}: status {answer.status}")
        return first, time.monotonic() - begin, total


def stage_list(bench: Bench, log: Log) -> list[Aim]:
    """Of an application that is open."""
    path = f"/api/v1/applications/{log.application}/stages"
    with serving.pyrometer(bench, bench.logs.folder_of_one(log), "--no-cache") as (address, _):
        client = Client(address)
        client.get(path)
        times = [client.get(path) for _ in range(ROUNDS)]
    first = statistics.median(one[0] for one in times) * 1000
    rate = statistics.median(size / (last - begin) for begin, last, size in times)
    what = f"the stage list ({times[0][2] / 1e6:.0f} MB)"
    return [
        Aim(f"{what}: first byte in {FIRST_BYTE_MS:g} ms (p50)", f"{first:.2f} ms", first <= FIRST_BYTE_MS),
        Aim(f"then {RATE / 1e6:g} MB/s", f"{rate / 1e6:.0f} MB/s", rate >= RATE),
    ]


def task_summary(bench: Bench) -> Aim:
    """The first one that a server is asked for, of an application that is open: what it has found out it remembers."""
    folder = bench.logs.wide_stage()
    below = f"/api/v1/applications/{inputs.WIDE_APPLICATION}/stages"
    times, tasks = [], 0
    for _ in range(STARTS):
        with serving.pyrometer(bench, folder, "--no-cache") as (address, _):
            client = Client(address)
            stages = json.loads(serving.get(f"{address}{below}") or b"[]")
            stage = max(stages, key=lambda one: int(one["numCompleteTasks"]))
            tasks = int(stage["numCompleteTasks"])
            times.append(client.get(f"{below}/{stage['stageId']}/{stage['attemptId']}/taskSummary")[1] * 1000)
    median = statistics.median(times)
    text = f"a first summary of {tasks:,} tasks in {SUMMARY_MS:g} ms (p50)"
    return Aim(text, f"{median:.2f} ms", median <= SUMMARY_MS)


def processor_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def shown(address: str) -> int:
    return int(json.loads(serving.get(f"{address}/pyrometer/v1/applications?limit=1") or b"{}").get("all", 0))


def long_folder(bench: Bench) -> list[Aim]:
    """From the start to the whole list; then what looking again costs when nothing has changed."""
    folder = bench.logs.small_logs()
    for log in folder.iterdir():
        inputs.warm(log)
    cache = bench.cache / "serve-cache"
    shutil.rmtree(cache, ignore_errors=True)
    begin = time.monotonic()
    with serving.pyrometer(bench, folder, "--cache", str(cache), "--update-interval", "1") as (address, pid):
        while shown(address) < inputs.SMALL_LOGS:
            if time.monotonic() - begin > 120:
                raise measuring.RunFailed("the list of small logs did not come")
            time.sleep(0.01)
        whole = time.monotonic() - begin
        time.sleep(3)
        before = processor_ms(pid)
        time.sleep(RESCANS)
        again = (processor_ms(pid) - before) / RESCANS
    what = f"a folder of {inputs.SMALL_LOGS:,} logs"
    return [
        Aim(f"{what}, first list in {FIRST_LIST_S:g} s", f"{whole:.2f} s", whole <= FIRST_LIST_S),
        Aim(f"{what}, looked at again in {RESCAN_MS:g} ms of CPU time", f"{again:.1f} ms", again <= RESCAN_MS),
    ]


def measure(bench: Bench, log: Log) -> list[tuple[str, str, Optional[bool]]]:
    bench.say("first bytes, summaries and long lists")
    return [aim.row() for aim in (*stage_list(bench, log), task_summary(bench), *long_folder(bench))]
