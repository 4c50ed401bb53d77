#!/usr/bin/env python3
"""The model of docs/simulator.md a second time: slow, short, and sharing nothing with the C sources.

    python3 tests/oracle/simulator.py LOG

Limits, on top of those that the page names: FIFO, one resource profile, no waiting for locality, and no speculative
copies: a partition takes what its own attempts took. Times are milliseconds since the application's start.
"""

from __future__ import annotations

import heapq
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from logfiles import find_logs, plain_bytes  # noqa: E402

StageKey = Tuple[int, int]
NEVER = float("inf")
# The most that a stage's start is taken for, the first one's, and an executor's; the most between two tasks of a slot.
START_MAX, FIRST_MAX, FIRST_FAILED_MAX, EXECUTOR_MAX, DISPATCH_MAX = 500.0, 10000.0, 1000.0, 2000.0, 100.0
EXECUTOR_START = 400.0
MANY_TASKS, MANY_WAVES = 64, 4


@dataclass
class Attempt:
    """One attempt at a partition."""

    number: int
    ms: float
    fetch: float  # of it, at its end: the driver fetched its result, and the slot was free already
    executor: str
    succeeded: bool
    fetch_failed: bool
    fatal: bool = False


@dataclass
class Stage:
    key: StageKey
    begin: float
    end: float
    parents: List[int]
    complete: bool
    failed: bool
    job: Optional[int] = None
    needs: List[StageKey] = field(default_factory=list)
    gap: float = 0.0
    partitions: Dict[int, List[Attempt]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        attempts = [one for attempts in self.partitions.values() for one in attempts]
        return self.complete and bool(attempts) and all(one.succeeded for one in attempts)


@dataclass
class Job:
    id: int
    begin: float
    end: float
    unit: Tuple[str, int]
    group: Tuple[Optional[str], Optional[str]]
    stage_ids: Set[int]
    needs: List[int] = field(default_factory=list)
    gap: float = 0.0
    tail: float = 0.0


@dataclass
class Executor:
    name: str
    added: float
    removed: float
    slots: int
    last_stage: int = -1  # number of the last stage that it took part in


def clamp(value: float, least: float, most: float) -> float:
    return max(least, min(most, value))


class Recorded:
    """What enters: durations, order, executors."""

    def __init__(self, lines: List[bytes]) -> None:
        records = [json.loads(line) for line in lines if line.strip()]
        self.stages: Dict[StageKey, Stage] = {}
        self.jobs: Dict[int, Job] = {}
        self.executors: Dict[str, Executor] = {}
        self.removals: Dict[str, float] = {}
        self.cpus, self.fair, self.start, self.end = 1, False, 0, 0
        roots: Dict[int, int] = {}
        closed: Dict[int, float] = {}
        tasks: List[Dict[str, Any]] = []
        started: Dict[int, Dict[str, Any]] = {}
        for record in records:
            name = record["Event"].rsplit(".", 1)[-1]
            if name == "SparkListenerApplicationStart":
                self.start = record["Timestamp"]
            elif name == "SparkListenerApplicationEnd":
                self.end = record["Timestamp"]
        for record in records:
            name = record["Event"].rsplit(".", 1)[-1]
            if name == "SparkListenerEnvironmentUpdate":
                properties = record["Spark Properties"]
                self.cpus = int(properties.get("spark.task.cpus", 1))
                self.fair = properties.get("spark.scheduler.mode", "FIFO").upper() == "FAIR"
            elif name == "SparkListenerExecutorAdded":
                slots = record["Executor Info"]["Total Cores"] // self.cpus
                executor = Executor(record["Executor ID"], self.at(record["Timestamp"]), NEVER, slots)
                self.executors[executor.name] = executor
            elif name == "SparkListenerExecutorRemoved" and record["Executor ID"] in self.executors:
                self.removals[record["Executor ID"]] = self.at(record["Timestamp"])
                self.executors[record["Executor ID"]].removed = self.at(record["Timestamp"])
            elif name == "SparkListenerSQLExecutionStart":
                root = record.get("rootExecutionId")
                roots[record["executionId"]] = record["executionId"] if root is None else root
            elif name == "SparkListenerSQLExecutionEnd":
                closed[record["executionId"]] = self.at(record["time"])
            elif name == "SparkListenerJobStart":
                self.take_job(record, roots)
            elif name == "SparkListenerJobEnd":
                self.jobs[record["Job ID"]].end = self.at(record["Completion Time"])
            elif name in ("SparkListenerStageSubmitted", "SparkListenerStageCompleted"):
                self.take_stage(record["Stage Info"], name.endswith("Completed"))
            elif name == "SparkListenerTaskStart":
                started[record["Task Info"]["Task ID"]] = record
            elif name == "SparkListenerTaskEnd":
                tasks.append(record)
                started.pop(record["Task Info"]["Task ID"], None)
        self.closed = {("sql", number): time for number, time in closed.items()}
        self.length = float(self.end - self.start)
        self.order = sorted(self.stages.values(), key=lambda stage: (stage.begin, stage.key))
        self.number = {stage.key: number for number, stage in enumerate(self.order)}
        self.job_order = sorted(self.jobs.values(), key=lambda job: (job.begin, job.id))
        self.take_tasks(tasks + [self.unfinished(record) for record in started.values()])
        self.find_jobs_of_stages()
        self.connect_stages()
        self.connect_jobs()

    def at(self, time: int) -> float:
        return clamp(float(time - self.start), 0.0, float(self.end - self.start))

    def take_job(self, record: Dict[str, Any], roots: Dict[int, int]) -> None:
        properties = record.get("Properties") or {}
        sql, job = properties.get("spark.sql.execution.id"), record["Job ID"]
        unit = ("job", job) if sql is None else ("sql", roots.get(int(sql), int(sql)))
        group = (properties.get("spark.scheduler.pool"), properties.get("spark.jobGroup.id"))
        begin = self.at(record["Submission Time"])
        self.jobs[job] = Job(job, begin, float(self.end - self.start), unit, group, set(record["Stage IDs"]))

    def take_stage(self, info: Dict[str, Any], done: bool) -> None:
        if "Submission Time" not in info:
            return
        key = (info["Stage ID"], info["Stage Attempt ID"])
        end = self.at(info["Completion Time"]) if done else float(self.end - self.start)
        failed = bool(info.get("Failure Reason"))
        begin = self.at(info["Submission Time"])
        self.stages[key] = Stage(key, begin, max(begin, end), info.get("Parent IDs") or [], done, failed)

    def unfinished(self, record: Dict[str, Any]) -> Dict[str, Any]:
        """The end of a task that has none: with the log, its stage or its executor."""
        info = record["Task Info"]
        stage = self.stages.get((record["Stage ID"], record["Stage Attempt ID"]))
        end = self.length if stage is None else stage.end
        removed = self.removals.get(info["Executor ID"], NEVER)
        reason = "ExecutorLostFailure" if removed <= end else "Success"
        finish = max(info["Launch Time"], self.start + int(min(end, removed)))
        return {**record, "Task Info": {**info, "Finish Time": finish}, "Task End Reason": {"Reason": reason}}

    def take_tasks(self, records: List[Dict[str, Any]]) -> None:
        last_job = max(job.end for job in self.jobs.values())
        for executor in self.executors.values():
            if executor.removed >= last_job:
                executor.removed = NEVER  # the application's end took it
        for record in records:
            info, reason = record["Task Info"], record["Task End Reason"]["Reason"]
            stage = self.stages.get((record["Stage ID"], record["Stage Attempt ID"]))
            executor = self.executors.get(info["Executor ID"])
            if stage is None:
                continue
            if executor is not None:
                executor.last_stage = max(executor.last_stage, self.number[stage.key])
            if reason == "Resubmitted" or info.get("Speculative"):
                continue
            finish, result = info["Finish Time"], info.get("Getting Result Time", 0)
            attempt = Attempt(
                number=info["Attempt"],
                ms=float(finish - info["Launch Time"]),
                fetch=float(finish - result) if result > 0 else 0.0,
                executor=info["Executor ID"],
                succeeded=reason == "Success",
                fetch_failed=reason == "FetchFailed",
            )
            stage.partitions.setdefault(info["Index"], []).append(attempt)
        for stage in self.order:
            for attempts in stage.partitions.values():
                attempts.sort(key=lambda one: one.number)
                last = attempts[-1]
                for one in attempts:
                    given_up = one is last and len(attempts) > 1 and not one.succeeded
                    one.fatal = stage.failed and (one.fetch_failed or given_up)

    def find_jobs_of_stages(self) -> None:
        for stage in self.order:
            for job in self.job_order:
                if stage.key[0] in job.stage_ids and job.begin <= stage.begin <= job.end:
                    stage.job = job.id
                    break

    def connect_stages(self) -> None:
        for stage in self.order:
            base = self.jobs[stage.job].begin if stage.job is not None else 0.0
            if stage.key[1] == 0:
                before = [one for one in self.order if one.key[0] in stage.parents]
            else:
                before = [one for one in self.order if one.job == stage.job]
            before = [one for one in before if one is not stage and one.end <= stage.begin]
            before = [one for one in before if self.number[one.key] < self.number[stage.key]]
            stage.needs = [one.key for one in before]
            base = max([base] + [one.end for one in before])
            stage.gap = max(0.0, stage.begin - base)
        for job in self.job_order:
            ends = [stage.end for stage in self.order if stage.job == job.id]
            job.tail = max(0.0, job.end - max([job.begin] + ends))

    def connect_jobs(self) -> None:
        first_of_busy_time: Optional[Job] = None
        taken: Set[int] = set()  # jobs whose thread works on another one now
        for place, job in enumerate(self.job_order):
            before = self.job_order[:place]
            ended = [one for one in before if one.end <= job.begin]
            running = [one for one in before if one.end > job.begin]
            mine = [one for one in before if one.unit == job.unit]
            mine_ended = [one for one in mine if one.end <= job.begin]
            if not running:
                first_of_busy_time = job
            if mine_ended:
                needs = mine_ended
            elif not running or first_of_busy_time is None:
                needs = ended
            elif mine:
                needs = [self.jobs[other] for other in mine[0].needs]
            else:
                thread = self.idle_thread(job, ended, running, taken)
                needs = [thread] if thread else [self.jobs[other] for other in first_of_busy_time.needs]
            needs = [one for one in needs if one.end <= job.begin]
            job.needs = [one.id for one in needs]
            job.gap = job.begin - max([0.0] + [one.end for one in needs])

    def idle_thread(self, job: Job, ended: List[Job], running: List[Job], taken: Set[int]) -> Optional[Job]:
        """The last job of the thread that became idle last, of the same pool and group if there is one."""
        busy = {one.unit for one in running}
        last = {}
        for one in sorted(ended, key=lambda other: other.end):
            last[one.unit] = one
        idle = [one for one in last.values() if one.unit not in busy and one.id not in taken]
        idle = [one for one in idle if self.closed.get(one.unit, 0.0) <= job.begin]
        same = [one for one in idle if one.group == job.group]
        best = max(same or idle, key=lambda one: (one.end, one.begin, one.id), default=None)
        if best is not None:
            taken.add(best.id)
        return best


@dataclass
class Costs:
    """What is in no log."""

    first: float = 0.0
    start: float = 0.0
    dispatch: float = 0.0
    executor: float = 0.0


class Simulation:
    """One run of it: events in the order of their time, after those of one time tasks onto free slots."""

    def __init__(self, recorded: Recorded, costs: Costs) -> None:
        self.recorded, self.costs = recorded, costs
        self.now = 0.0
        self.events: List[Tuple[float, int, Any]] = []
        self.made = 0
        self.begun: Dict[StageKey, float] = {}
        self.ended: Dict[StageKey, float] = {}
        self.latest: Dict[StageKey, float] = {}
        self.slots_seen: Dict[StageKey, int] = {}
        self.jobs_begun: Dict[int, float] = {}
        self.jobs_ended: Dict[int, float] = {}
        self.stages_asked: Set[StageKey] = set()
        self.free: Dict[str, int] = {}
        self.gone: Set[str] = set()
        self.waiting: Dict[StageKey, List[Tuple[int, int]]] = {}  # (partition, attempt)
        self.open: Dict[StageKey, Set[int]] = {}

    def push(self, time: float, what: Any) -> None:
        self.made += 1
        heapq.heappush(self.events, (time, self.made, what))

    def run(self) -> "Simulation":
        for executor in self.recorded.executors.values():
            self.push(executor.added + self.costs.executor, lambda one=executor: self.come(one))
            if executor.removed < NEVER:
                self.push(executor.removed, lambda one=executor: self.gone.add(one.name))
        self.ask_jobs()
        while self.events:
            self.now = self.events[0][0]
            while self.events and self.events[0][0] == self.now:
                heapq.heappop(self.events)[2]()
            self.launch()
        return self

    def come(self, executor: Executor) -> None:
        self.free[executor.name] = executor.slots

    # ---- jobs and stages ----------------------------------------------------------------------------------------

    def ask_jobs(self) -> None:
        for job in self.recorded.job_order:
            if job.id not in self.jobs_begun and all(need in self.jobs_ended for need in job.needs):
                self.jobs_begun[job.id] = NEVER
                base = max([0.0] + [self.jobs_ended[need] for need in job.needs])
                self.push(base + job.gap, lambda one=job: self.begin_job(one))

    def begin_job(self, job: Job) -> None:
        self.jobs_begun[job.id] = self.now
        self.ask_stages()
        self.close_job(job)

    def ask_stages(self) -> None:
        for stage in self.recorded.order:
            begun = 0.0 if stage.job is None else self.jobs_begun.get(stage.job, NEVER)
            if stage.key in self.stages_asked or begun == NEVER or any(key not in self.ended for key in stage.needs):
                continue
            self.stages_asked.add(stage.key)
            base = max([begun] + [self.ended[key] for key in stage.needs])
            self.push(base + stage.gap, lambda one=stage: self.begin_stage(one))

    def begin_stage(self, stage: Stage) -> None:
        self.begun[stage.key] = self.now
        first = self.recorded.number[stage.key] == 0
        if stage.partitions:
            self.push(self.now + (self.costs.first if first else self.costs.start), lambda: self.offer_tasks(stage))
        else:
            self.push(self.now + stage.end - stage.begin, lambda: self.end_stage(stage))

    def offer_tasks(self, stage: Stage) -> None:
        executors = self.recorded.executors.values()
        self.slots_seen[stage.key] = sum(one.slots for one in executors if one.name in self.free and self.alive(one))
        self.open[stage.key] = set(stage.partitions)
        self.waiting[stage.key] = [(partition, 0) for partition in sorted(stage.partitions)]

    def end_stage(self, stage: Stage) -> None:
        if stage.key in self.ended:
            return
        self.ended[stage.key] = self.now
        self.waiting.pop(stage.key, None)
        done = 0
        while done < len(self.recorded.order) and self.recorded.order[done].key in self.ended:
            done += 1
        for executor in self.recorded.executors.values():
            if executor.removed < NEVER and executor.last_stage < done:
                self.gone.add(executor.name)  # it had been asked to go
        self.ask_stages()
        if stage.job is not None:
            self.close_job(self.recorded.jobs[stage.job])

    def close_job(self, job: Job) -> None:
        mine = [stage for stage in self.recorded.order if stage.job == job.id]
        if all(stage.key in self.ended for stage in mine):
            self.push(self.now + job.tail, lambda: self.end_job(job))

    def end_job(self, job: Job) -> None:
        if job.id not in self.jobs_ended:
            self.jobs_ended[job.id] = self.now
            self.ask_jobs()

    # ---- tasks --------------------------------------------------------------------------------------------------

    def alive(self, executor: Executor) -> bool:
        return executor.name not in self.gone

    def launch(self) -> None:
        """FIFO: by job, then stage, then attempt."""
        order = sorted(self.waiting, key=lambda key: (self.rank_of(key), key))
        for key in order:
            while self.waiting.get(key):
                partition, number = self.waiting[key][0]
                attempt = self.recorded.stages[key].partitions[partition][number]
                executor = self.place(attempt.executor)
                if executor is None:
                    return
                self.waiting[key].pop(0)
                self.start_task(self.recorded.stages[key], partition, number, attempt, executor)

    def rank_of(self, key: StageKey) -> float:
        job = self.recorded.stages[key].job
        return NEVER if job is None else float(job)

    def place(self, preferred: str) -> Optional[str]:
        names = [preferred] + list(self.free)
        return next((name for name in names if name not in self.gone and self.free.get(name, 0) > 0), None)

    def start_task(self, stage: Stage, partition: int, number: int, attempt: Attempt, executor: str) -> None:
        held = attempt.ms - attempt.fetch if attempt.fetch < attempt.ms else attempt.ms
        slot = max(held / 2, held + self.costs.dispatch)
        end = self.now + max(slot, attempt.ms)
        self.free[executor] -= 1
        self.push(self.now + slot, lambda: self.end_task(stage, partition, number, attempt, executor, end))

    def end_task(self, stage: Stage, partition: int, number: int, attempt: Attempt, executor: str, end: float) -> None:
        self.free[executor] += 1
        self.latest[stage.key] = max(end, self.latest.get(stage.key, 0.0))
        if attempt.fatal:
            self.end_stage(stage)
            return
        if number + 1 < len(stage.partitions[partition]):
            lost = self.recorded.removals.get(attempt.executor, 0.0) if attempt.succeeded else 0.0
            self.push(max(self.now, lost), lambda: self.again(stage, partition, number + 1))
            return
        self.open[stage.key].discard(partition)
        if not self.open[stage.key]:
            self.push(max(self.now, self.latest[stage.key]), lambda: self.end_stage(stage))

    def again(self, stage: Stage, partition: int, number: int) -> None:
        """Before those that were not tried yet, behind those that already wait for it."""
        if stage.key not in self.ended:
            queue = self.waiting[stage.key]
            queue.insert(sum(tried > 0 for _, tried in queue), (partition, number))

    # ---- what comes out -----------------------------------------------------------------------------------------

    @property
    def wall(self) -> float:
        last = max(job.end for job in self.recorded.jobs.values())
        return max(self.jobs_ended.values()) + self.recorded.length - last

    def left_over(self, stage: Stage) -> float:
        return (stage.end - stage.begin) - (self.ended[stage.key] - self.begun[stage.key])


def estimate(recorded: Recorded) -> Costs:
    """From what a replay without any of them leaves over of stages' lengths."""
    plain = Simulation(recorded, Costs()).run()
    order = recorded.order
    alone = []
    last = 0.0
    for place, stage in enumerate(order):
        after = order[place + 1].begin if place + 1 < len(order) else NEVER
        alone.append(stage.begin >= last and after >= stage.end)
        last = max(last, stage.end)

    def slots(stage: Stage) -> int:
        return plain.slots_seen.get(stage.key, 0)

    def many(stage: Stage) -> bool:
        return len(stage.partitions) >= MANY_TASKS and len(stage.partitions) // MANY_WAVES >= slots(stage)

    costs = Costs()
    waited = [
        clamp(plain.left_over(stage), 0.0, EXECUTOR_MAX)
        for stage in order
        if stage.partitions and slots(stage) == 0 and stage.complete and not any_failed(stage)
    ]
    late = any(executor.added > 0 for executor in recorded.executors.values())
    costs.executor = sum(waited) / len(waited) if waited else EXECUTOR_START if late else 0.0
    usual = [stage for stage, is_alone in zip(order, alone) if is_alone and stage.whole and slots(stage) > 0]
    short = [stage for stage in usual if stage is not order[0] and not many(stage)]
    starts = [clamp(plain.left_over(stage), -START_MAX, START_MAX) for stage in short]
    costs.start = costs.first = max(0.0, sum(starts) / len(starts)) if starts else 0.0
    if slots(order[0]) > 0 and not many(order[0]):
        most = FIRST_MAX if order[0].whole else FIRST_FAILED_MAX
        costs.first = clamp(plain.left_over(order[0]), costs.start, most)
    waves = [stage for stage in usual if many(stage)]
    if waves:
        rest = sum(
            (plain.left_over(one) - (costs.first if one is order[0] else costs.start)) * slots(one) for one in waves
        )
        costs.dispatch = clamp(rest / sum(len(one.partitions) for one in waves), -DISPATCH_MAX, DISPATCH_MAX)
    return costs


def any_failed(stage: Stage) -> bool:
    return any(not one.succeeded for attempts in stage.partitions.values() for one in attempts)


def change_executors(recorded: Recorded, count: int, cores: int) -> None:
    """`count` executors of `cores` cores for the whole run, as docs/whatif.md has them come."""
    came = sorted(executor.added for executor in recorded.executors.values())
    first = [time for time in came if time <= came[0] + 10000]
    times = [first[min(place, len(first) - 1)] for place in range(count)]
    others = [Executor(f"other {place}", time, NEVER, cores // recorded.cpus) for place, time in enumerate(times)]
    recorded.executors = {executor.name: executor for executor in others}


def replay(lines: List[bytes], executors: Optional[Tuple[int, int]] = None) -> Simulation:
    """The run unchanged, or on a number of executors with a number of cores."""
    recorded = Recorded(lines)
    if recorded.fair:
        raise ValueError("only FIFO")
    costs = estimate(recorded)
    if executors is not None:
        change_executors(recorded, *executors)
    return Simulation(recorded, costs).run()


def lines_of(path: Path) -> List[bytes]:
    return [line for part in find_logs(path)[0].parts for line in plain_bytes(part)[0].splitlines()]


if __name__ == "__main__":
    done = replay(lines_of(Path(sys.argv[1])))
    off = max(abs(done.jobs_ended[job.id] - job.end) for job in done.recorded.jobs.values())
    print(f"measured {done.recorded.length:.0f} ms, replayed {done.wall:.0f} ms, worst job {off:.0f} ms")
