"""Crawlers that are killed at random instants: the store is that of an undisturbed crawl."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import List, Optional

from fleet import change, command, content, crawled, kinds, make_fleet

CRAWLERS = 2
NEW_LOGS = 5  # before each kill, so that there is work to be killed in
LONGEST_S = 0.4


class Crawlers:
    def __init__(self, store: Path, logs: Path) -> None:
        self.words = command(
            logs, "--store", f"sqlite:{store}", "--every", "100ms", "--jobs", "2", "--rate", "60/s", "--log-format", "json"
        )
        self.output = store.parent / "output"
        self.running: List[Optional["subprocess.Popen[bytes]"]] = [None] * CRAWLERS

    def start(self, which: int) -> None:
        with open(self.output, "ab") as output:
            self.running[which] = subprocess.Popen(self.words, stdout=output, stderr=output)

    def kill(self, which: int) -> None:
        process = self.running[which]
        assert process is not None
        assert process.poll() is None, self.output.read_text()[-2000:]
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.running[which] = None

    def end(self) -> None:
        for process in self.running:
            if process is not None:
                process.kill()
                process.wait()


def let_leases_end(store: Path) -> None:
    """What time does, some minutes later; the other crawler's leases too, so that it may come late."""
    deadline = time.monotonic() + 60
    while True:
        try:
            change(store, "UPDATE work SET until_ms = 0 WHERE state = 1")
            return
        except sqlite3.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def disturb(folder: Path, kills: int, seed: int) -> None:
    """Kills `kills` crawlers, then lets one finish, and compares."""
    chance = random.Random(seed)
    store, logs, calm = folder / "runs.db", folder / "logs", folder / "calm.db"
    made = 0
    crawlers = Crawlers(store, logs)
    make_fleet(logs, NEW_LOGS)
    made += NEW_LOGS
    crawled(store, logs)  # the store exists: what is killed is the crawl
    try:
        for which in range(CRAWLERS):
            crawlers.start(which)
        for _ in range(kills):
            make_fleet(logs, NEW_LOGS, first=made + 1)
            made += NEW_LOGS
            time.sleep(chance.uniform(0, LONGEST_S))
            which = chance.randrange(CRAWLERS)
            crawlers.kill(which)
            if chance.random() < 0.7:
                let_leases_end(store)
            crawlers.start(which)
    finally:
        crawlers.end()
    let_leases_end(store)
    assert not any("held" in event for event in crawled(store, logs))
    assert kinds(crawled(store, logs)) == {"listed": 1, "passed": 1}
    assert kinds(crawled(calm, logs))["stored"] == made
    disturbed, undisturbed = content(store), content(calm)
    assert len(disturbed["runs"]) == made
    for view, expected in undisturbed.items():
        assert disturbed[view] == expected, f"{view}, seed {seed}"
