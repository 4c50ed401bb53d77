"""What allocated core time was spent on, as docs/cost.md defines it, in exact fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Dict, List, Optional, Set, Tuple

from accounts import Accounts, split_task
from application import Application, StageKey, Task

TASK_PARTS = ["useful", "spill", "gc", "waiting", "speculative", "retried"]
Cells = Dict[Tuple[Optional[StageKey], str], Fraction]


def shares_of(accounts: Accounts) -> Tuple[Dict[int, Fraction], Fraction]:
    """Core time of each task (by its place among the runs), and of all executors."""
    shares: Dict[int, Fraction] = {}
    total = Fraction(0)
    on_executor: Dict[str, List[int]] = defaultdict(list)
    for number, task in enumerate(accounts.runs):
        if task.executor in accounts.alive:
            on_executor[task.executor].append(number)
    for name, spans in accounts.alive.items():
        lives = [accounts.clamp(begin, end) + (cores,) for begin, end, cores in spans]
        lives = [life for life in lives if life[0] < life[1]]
        total += sum((end - begin) * cores for begin, end, cores in lives)
        change: Dict[int, int] = defaultdict(int)
        running = {}
        for number in on_executor.get(name, []):
            begin, end = accounts.running(accounts.runs[number])
            if begin < end:
                running[number] = (begin, end)
                change[begin] += accounts.cpus(accounts.runs[number])
                change[end] -= accounts.cpus(accounts.runs[number])
        cuts = sorted(set(change) | {edge for life in lives for edge in life[:2]})
        level = {cut: Fraction(0) for cut in cuts[:1]}
        got, taken, at = Fraction(0), 0, 0
        for begin, end in zip(cuts, cuts[1:]):
            taken += change.get(begin, 0)
            while at < len(lives) and lives[at][1] <= begin:
                at += 1
            cores = lives[at][2] if at < len(lives) and lives[at][0] <= begin else 0
            if taken > 0:
                got += (end - begin) * min(Fraction(1), Fraction(cores, taken))
            level[end] = got
        for number, (begin, end) in running.items():
            shares[number] = accounts.cpus(accounts.runs[number]) * (level[end] - level[begin])
    return shares, total


def wasted(app: Application, runs: List[Task]) -> List[Optional[str]]:
    """Of each run: None when it counted, else the part that its time belongs to."""
    attempts: Dict[int, int] = defaultdict(int)
    most: Dict[int, int] = defaultdict(int)
    for stage, attempt in app.stages:
        attempts[stage] += 1
        most[stage] = max(most[stage], app.stages[(stage, attempt)].partitions)
    copied = {(task.stage, task.index) for task in app.tasks if task.speculative}
    done: Set[Tuple[int, int]] = set()
    successes: Dict[int, int] = defaultdict(int)
    verdicts: List[Optional[str]] = []
    for task in runs:
        copy = (task.stage, task.index) in copied
        if task.unfinished:
            verdicts.append("retried" if task.failed else "speculative" if task.speculative else None)
            continue
        if not task.succeeded:
            verdicts.append("speculative" if task.speculative or (copy and task.killed) else "retried")
            continue
        stage, attempt = task.stage
        partition = task.partition if task.partition >= 0 else task.index if attempt == 0 else None
        if partition is None:
            successes[stage] += 1
            again = successes[stage] > most[stage] > 0
        else:
            again = (stage, partition) in done
            successes[stage] += not again
            done.add((stage, partition))
        verdicts.append(None if not again else "speculative" if copy else "retried")
    return verdicts


def cells_of(app: Application) -> Tuple[Cells, Fraction]:
    """Core ms by stage and part, and of all executors."""
    accounts = Accounts(app)
    shares, total = shares_of(accounts)
    cells: Cells = defaultdict(Fraction)
    for number, (task, verdict) in enumerate(zip(accounts.runs, wasted(app, accounts.runs))):
        share = shares.get(number, Fraction(0))
        stage = task.stage if task.stage in app.stages else None
        if share == 0:
            continue
        if verdict is not None:
            cells[stage, verdict] += share
            continue
        parts = defaultdict(int, split_task(task))
        spill = min(parts["compute"], task.disk_spill_bytes // 100_000 + task.memory_spill_bytes // 400_000)
        waiting = parts["scheduler_delay"] + parts["shuffle_fetch_wait"] + parts["getting_result"]
        times = {"spill": max(0, spill), "gc": parts["gc"], "waiting": waiting}
        times["useful"] = task.duration - sum(times.values())
        for part, ms in times.items():
            cells[stage, part] += share * ms / task.duration
    return cells, total
