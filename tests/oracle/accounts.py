"""The formulas of docs/formulas.md, step by step: time accounts, phases, bounds, quantiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from application import Application, Job, Stage, StageKey, Task

UNIT = 2**32  # fixed point: one millisecond is this many units

TASK_PARTS = [
    "scheduler_delay",
    "deserialize",
    "compute",
    "gc",
    "shuffle_fetch_wait",
    "shuffle_write",
    "result_serialize",
    "getting_result",
]
WALL_PARTS = ["resource_wait", "driver", "scheduling"] + TASK_PARTS
CORE_PARTS = TASK_PARTS + ["failed_tasks", "idle_no_work", "idle_driver", "idle_wait"]

Interval = Tuple[int, int]


def is_measured(task: Task) -> bool:
    """Spark writes zeros that were not measured for a task that was lost with its executor."""
    if not task.has_metrics:
        return False
    if task.run_ms or task.deserialize_ms or task.result_serialize_ms or task.gc_ms:
        return True
    return task.succeeded and task.duration < 1000


def split_task(task: Task) -> Dict[str, int]:
    """The parts of one task's duration in ms."""
    duration = task.duration
    if not is_measured(task):
        return {"compute": duration}
    getting_result = max(0, task.finish - task.getting_result_since) if task.getting_result_since > 0 else 0
    metrics = [
        (
            "scheduler_delay",
            duration - task.run_ms - task.deserialize_ms - task.result_serialize_ms - getting_result if task.run_time_known else 0,
        ),
        ("deserialize", task.deserialize_ms),
        ("gc", task.gc_ms),
        ("shuffle_fetch_wait", task.fetch_wait_ms),
        ("shuffle_write", task.shuffle_write_ns // 10**6),
        ("result_serialize", task.result_serialize_ms),
        ("getting_result", getting_result),
    ]
    parts: Dict[str, int] = {}
    remaining = duration
    for name, value in metrics:
        parts[name] = min(max(0, value), remaining)
        remaining -= parts[name]
    parts["compute"] = remaining
    return parts


def share_out(units: Dict[str, int], share: int, task: Task) -> None:
    """Adds a task's share, in units, to the parts that its time consists of."""
    duration = task.duration
    left = share
    for name, ms in split_task(task).items():
        if name != "compute":
            part = share * ms // duration
            units[name] += part
            left -= part
    units["compute"] += left


def whole_ms(units: Dict[str, int], order: Sequence[str], total_ms: int) -> List[Dict[str, Any]]:
    """Units to ms by largest remainder; ties go to the earlier part."""
    ms = {name: units[name] // UNIT for name in order}
    missing = total_ms - sum(ms.values())
    by_remainder = sorted(order, key=lambda name: (-(units[name] % UNIT), order.index(name)))
    for name in by_remainder[:missing]:
        ms[name] += 1
    assert sum(ms.values()) == total_ms, "parts do not add up"
    return [{"name": name, "ms": ms[name]} for name in order]


def union_length(intervals: Iterable[Interval]) -> int:
    length = 0
    covered_to: Optional[int] = None
    for begin, end in sorted(intervals):
        if covered_to is None or begin > covered_to:
            covered_to = begin
        if end > covered_to:
            length += end - covered_to
            covered_to = end
    return length


def quantile(ascending: Sequence[int], percent: int) -> int:
    return ascending[min(percent * len(ascending) // 100, len(ascending) - 1)]


class Accounts:
    def __init__(self, app: Application) -> None:
        self.app = app
        self.start = app.start if app.start is not None else 0
        self.end = max(self.start, app.end if app.end is not None else self.start)
        self.total_ms = self.end - self.start
        # A Resubmitted record repeats a task that ended before: it is not a run of its own.
        self.runs = [task for task in app.tasks if not task.resubmitted]
        self.unfinished = self.unfinished_tasks()
        self.runs += self.unfinished
        self.stage_intervals: Dict[StageKey, Interval] = {}
        for key, stage in app.stages.items():
            if stage.submitted is not None:
                completed = stage.completed if stage.completed is not None else self.end
                self.stage_intervals[key] = self.clamp(stage.submitted, completed)
        self.alive: Dict[str, List[Tuple[int, int, int]]] = {name: self.lifetimes(name) for name in app.executors}
        # n(t), stages active and executors alive between one cut and the next.
        self.steps = self.timeline()

    # ---- tasks that started and have no end ---------------------------------------------------------------------

    def life(self, name: Optional[str], launch: int) -> Tuple[int, Optional[int]]:
        """(cores, removed) of the executor as it was when it got a task."""
        lives: List[Tuple[int, int, Optional[int]]] = []
        for what, time, cores in self.app.executors[name].history if name in self.app.executors else []:
            if lives and lives[-1][2] is None:
                lives[-1] = lives[-1][:2] + (time,)
            if what == "added":
                lives.append((time, cores, None))
        lives.sort(key=lambda life: life[0])
        at = [life for life in lives if life[0] <= launch][-1:] or lives[:1]
        return (at[0][1], at[0][2]) if at else (0, None)

    def unfinished_tasks(self) -> List[Task]:
        """Each ends with the log, its executor or its stage, or when a later task of the executor needs its slot."""
        found = []
        for number, task in sorted(self.app.started.items()):
            if number in self.app.ended_ids:
                continue
            cores, removed = self.life(task.executor, task.launch)
            completed = self.app.stages[task.stage].completed if task.stage in self.app.stages else None
            ends = [time for time in (self.end, completed) if time is not None]
            lost = removed is not None and removed <= min(ends)
            until = max(task.launch, min(ends + ([removed] if lost and removed is not None else [])))
            found.append(replace(task, finish=until, failed=lost))
        for name in {task.executor for task in found if task.executor in self.app.executors}:
            self.make_room(name, [task for task in found if task.executor == name])
        return found

    def make_room(self, name: Optional[str], unfinished: List[Task]) -> None:
        """Replays the launches on one executor."""
        ended = [task for task in self.runs if task.executor == name and task.duration > 0]
        runs = ended + [task for task in unfinished if task.duration > 0]
        by_number = {id(task): place for place, task in enumerate(runs)}
        for task in sorted(runs, key=lambda run: (self.clamp(run.launch, run.launch)[0], run.unfinished, by_number[id(run)])):
            at, to = self.running(task)
            if at == to:
                continue
            cores = self.life(name, task.launch)[0]
            others = [run for run in runs if run is not task and self.running(run)[0] <= at < self.running(run)[1]]
            earlier = [run for run in others if self.running(run)[0] < at or by_number[id(run)] < by_number[id(task)]]
            taken = sum(self.cpus(run) for run in earlier)
            for victim in sorted((run for run in earlier if run.unfinished), key=lambda run: self.running(run)[0]):
                if cores <= 0 or taken + self.cpus(task) <= cores:
                    break
                taken -= self.cpus(victim)
                victim.finish, victim.failed = at, False

    def clamp(self, begin: int, end: int) -> Interval:
        begin = min(max(begin, self.start), self.end)
        return begin, min(max(end, begin), self.end)

    def lifetimes(self, name: str) -> List[Tuple[int, int, int]]:
        """(from, to, cores) of an executor, unclamped; `to` is the application's end while it lives."""
        spans: List[Tuple[int, int, int]] = []
        since: Optional[int] = None
        cores = 0
        for what, time, new_cores in self.app.executors[name].history:
            if what == "added":
                if since is not None and time > since:
                    spans.append((since, time, cores))
                since = time if since is None else max(since, time)
                cores = new_cores
            elif since is not None:
                if time > since:
                    spans.append((since, time, cores))
                since = None
        if since is not None and since < self.end:
            spans.append((since, self.end, cores))
        return spans

    def running(self, task: Task) -> Interval:
        if task.duration == 0:
            return self.start, self.start
        return self.clamp(task.launch, task.finish)

    def timeline(self) -> List[Tuple[int, int, int, int, int]]:
        """(from, to, tasks running, stages active, executors alive) between neighbouring cuts."""
        changes: Dict[int, List[int]] = {self.start: [0, 0, 0], self.end: [0, 0, 0]}

        def add(interval: Interval, what: int) -> None:
            begin, end = interval
            if begin < end:
                changes.setdefault(begin, [0, 0, 0])[what] += 1
                changes.setdefault(end, [0, 0, 0])[what] -= 1

        for task in self.runs:
            add(self.running(task), 0)
        for interval in self.stage_intervals.values():
            add(interval, 1)
        for name, spans in self.alive.items():
            for begin, end, _ in spans:
                add(self.clamp(begin, end), 2)
            for _, time, _ in self.app.executors[name].history:
                changes.setdefault(self.clamp(time, time)[0], [0, 0, 0])
        steps = []
        tasks = stages = executors = 0
        cuts = sorted(changes)
        for begin, end in zip(cuts, cuts[1:]):
            tasks += changes[begin][0]
            stages += changes[begin][1]
            executors += changes[begin][2]
            steps.append((begin, end, tasks, stages, executors))
        return steps

    # ---- wall ---------------------------------------------------------------------------------------------------

    def wall(self) -> Dict[str, Any]:
        units = {name: 0 for name in WALL_PARTS}
        has_executors = bool(self.app.executors)
        first_added = min((executor.added or 0 for executor in self.app.executors.values()), default=self.start)
        level = {self.start: 0}  # W at each cut
        w = 0
        for begin, end, tasks, stages, executors in self.steps:
            dt = end - begin
            if tasks > 0:
                w += dt * UNIT // tasks
            elif has_executors and (begin < first_added or (stages > 0 and executors == 0)):
                units["resource_wait"] += dt * UNIT
            elif stages > 0:
                units["scheduling"] += dt * UNIT
            else:
                units["driver"] += dt * UNIT
            level[end] = w
        ran = False
        for task in self.runs:
            begin, end = self.running(task)
            if begin < end:
                ran = True
                share_out(units, level[end] - level[begin], task)
        units["compute" if ran else "driver"] += self.total_ms * UNIT - sum(units.values())
        return {"total_ms": self.total_ms, "parts": whole_ms(units, WALL_PARTS, self.total_ms)}

    # ---- core ---------------------------------------------------------------------------------------------------

    def cpus(self, task: Task) -> int:
        stage = self.app.stages.get(task.stage)
        if stage is not None and stage.resource_profile in self.app.profile_cpus:
            return self.app.profile_cpus[stage.resource_profile]
        configured = self.app.properties.get("spark.task.cpus", "1").strip()
        return max(1, int(configured)) if configured.isdigit() else 1

    def core(self) -> Dict[str, Any]:
        units = {name: 0 for name in CORE_PARTS}
        total_ms = 0
        ran = False
        on_executor: Dict[str, List[Task]] = {}
        for task in self.runs:
            if task.executor in self.alive:
                on_executor.setdefault(task.executor, []).append(task)
        for name, spans in self.alive.items():
            tasks = on_executor.get(name, [])
            slots_taken: Dict[int, int] = {}  # change of the sum of cpus at a time
            for task in tasks:
                begin, end = self.running(task)
                if begin < end:
                    slots_taken[begin] = slots_taken.get(begin, 0) + self.cpus(task)
                    slots_taken[end] = slots_taken.get(end, 0) - self.cpus(task)
            lives = [self.clamp(begin, end) + (cores,) for begin, end, cores in spans]
            lives = [life for life in lives if life[0] < life[1]]
            total_ms += sum((end - begin) * cores for begin, end, cores in lives)

            cuts = sorted(set(slots_taken) | {edge for life in lives for edge in life[:2]})
            level = {cuts[0]: 0} if cuts else {}
            w = taken = 0
            idle: List[Tuple[int, int, int]] = []  # (from, to, cores idle)
            for begin, end in zip(cuts, cuts[1:]):
                taken += slots_taken.get(begin, 0)
                cores = next((life[2] for life in lives if life[0] <= begin and end <= life[1]), 0)
                dt = end - begin
                if taken > 0 and cores > 0:
                    w += dt * UNIT if taken <= cores else dt * UNIT * cores // taken
                if cores > taken:
                    idle.append((begin, end, cores - taken))
                level[end] = w
            self.add_idle(units, idle)
            for task in tasks:
                begin, end = self.running(task)
                if begin >= end:
                    continue
                share = self.cpus(task) * (level[end] - level[begin])
                ran = ran or share > 0
                if task.succeeded:
                    share_out(units, share, task)
                else:
                    units["failed_tasks"] += share
        units["compute" if ran else "idle_driver"] += total_ms * UNIT - sum(units.values())
        return {"total_ms": total_ms, "parts": whole_ms(units, CORE_PARTS, total_ms)}

    def add_idle(self, units: Dict[str, int], idle: List[Tuple[int, int, int]]) -> None:
        """Sorts an executor's idle core time by what the application did at that instant. Both lists ascend."""
        at = 0
        for begin, end, cores in idle:
            while at > 0 and self.steps[at][0] > begin:
                at -= 1
            while self.steps[at][1] <= begin:
                at += 1
            step = at
            while step < len(self.steps) and self.steps[step][0] < end:
                step_begin, step_end, tasks, stages, _ = self.steps[step]
                overlap = min(end, step_end) - max(begin, step_begin)
                why = "idle_driver" if stages == 0 else "idle_no_work" if tasks > 0 else "idle_wait"
                units[why] += overlap * cores * UNIT
                step += 1

    # ---- phases -------------------------------------------------------------------------------------------------

    def phases(self) -> Dict[str, int]:
        written: Dict[StageKey, int] = {}
        for task in self.runs:
            written[task.stage] = written.get(task.stage, 0) + task.output_bytes
        writing = [span for key, span in self.stage_intervals.items() if written.get(key, 0) > 0]
        others = [span for key, span in self.stage_intervals.items() if written.get(key, 0) <= 0]
        added = [0 if executor.added is None else executor.registered or 0 for executor in self.app.executors.values()]
        write_ms = union_length(writing)
        return {
            "wait_ms": self.clamp(min(added), self.end)[0] - self.start if added else 0,
            "compute_ms": union_length(writing + others) - write_ms,
            "write_ms": write_ms,
        }

    # ---- bounds -------------------------------------------------------------------------------------------------

    def cores_peak(self) -> int:
        changes: List[Tuple[int, int]] = []
        for name in self.app.executors:
            # An executor that lives to the end counts even when it came at the very end.
            history = self.app.executors[name].history
            spans = list(self.alive[name])
            if history and history[-1][0] == "added" and (not spans or spans[-1][1] < self.end):
                spans.append((history[-1][1], max(history[-1][1] + 1, self.end), history[-1][2]))
            for begin, end, cores in spans:
                changes += [(begin, cores), (end, -cores)]
        peak = alive = 0
        for _, change in sorted(changes):  # at equal times the removed (negative) come first
            alive += change
            peak = max(peak, alive)
        return peak

    def job_interval(self, job: Job) -> Interval:
        spans = [span for key, span in self.stage_intervals.items() if key[0] in job.stage_ids]
        begin = job.submitted
        if begin is None:
            begin = min((span[0] for span in spans), default=self.start)
        end = job.completed
        if end is None:
            end = max((span[1] for span in spans), default=self.end) if job.ended else self.end
        return begin, max(begin, end)

    def stage_owners(self) -> Dict[int, int]:
        """Job of each stage id that an attempt is known of."""
        first_submission: Dict[int, Optional[int]] = {}
        for stage in self.app.stages.values():
            known = first_submission.get(stage.id)
            if known is None or (stage.submitted is not None and stage.submitted < known):
                first_submission[stage.id] = stage.submitted
        for task in self.app.tasks:
            first_submission.setdefault(task.stage[0], None)
        owners: Dict[int, int] = {}
        for stage_id, submitted in first_submission.items():
            listing = sorted(job.id for job in self.app.jobs.values() if stage_id in job.stage_ids)
            for job_id in listing:
                begin, end = self.job_interval(self.app.jobs[job_id])
                if submitted is not None and begin <= submitted <= end:
                    owners[stage_id] = job_id
                    break
            else:
                if listing:
                    owners[stage_id] = listing[0]
        return owners

    def stage_weights(self) -> Dict[int, int]:
        durations: Dict[StageKey, List[int]] = {}
        all_durations: Dict[StageKey, List[int]] = {}
        longest: Dict[StageKey, int] = {}  # of tasks without an end
        for task in self.runs:
            if task.unfinished:
                longest[task.stage] = max(longest.get(task.stage, 0), task.duration)
                continue
            all_durations.setdefault(task.stage, []).append(task.duration)
            if task.succeeded:
                durations.setdefault(task.stage, []).append(task.duration)
        weights: Dict[int, int] = {}
        for key in {**all_durations, **longest}:
            of_attempt = durations.get(key, all_durations.get(key, []))
            weights[key[0]] = weights.get(key[0], 0) + max(of_attempt + [longest.get(key, 0)])
        return weights

    def parents_of(self, stage_id: int) -> List[int]:
        attempts: List[Stage] = [stage for stage in self.app.stages.values() if stage.id == stage_id]
        if not attempts:
            return []  # known by its tasks alone
        parents = max(attempts, key=lambda stage: stage.attempt).parents or self.app.listed_parents.get(stage_id, [])
        # Spark numbers parents before their children; anything else is damage and would allow cycles.
        return [parent for parent in parents if parent < stage_id]

    def critical_jobs(self) -> Dict[int, int]:
        ran = {stage.id for stage in self.app.stages.values() if stage.ran} | {task.stage[0] for task in self.app.tasks}
        owners = {stage_id: job for stage_id, job in self.stage_owners().items() if stage_id in ran}
        weights = self.stage_weights()
        critical = {job_id: 0 for job_id in self.app.jobs}
        path: Dict[int, int] = {}
        for stage_id in sorted(owners):
            before = [path[parent] for parent in self.parents_of(stage_id) if owners.get(parent) == owners[stage_id]]
            path[stage_id] = weights.get(stage_id, 0) + max(before, default=0)
            critical[owners[stage_id]] = max(critical[owners[stage_id]], path[stage_id])
        return critical

    def stages_without_a_job(self) -> bool:
        owners = self.stage_owners()
        return any(weight > 0 and stage_id not in owners for stage_id, weight in self.stage_weights().items())

    def bounds(self, driver_ms: int) -> Dict[str, Optional[int]]:
        task_ms = sum(task.duration * self.cpus(task) for task in self.runs)
        cores = self.cores_peak()
        critical = self.critical_jobs()
        intervals = sorted(self.job_interval(job) + (job.id,) for job in self.app.jobs.values())
        path_ms = group_ms = 0
        group_end: Optional[int] = None
        for begin, end, job_id in intervals:
            if group_end is None or begin >= group_end:
                path_ms += group_ms
                group_ms = 0
                group_end = end
            group_end = max(group_end, end)
            group_ms = max(group_ms, critical[job_id])
        path_ms += group_ms
        return {
            "critical_path_ms": None if self.stages_without_a_job() else driver_ms + path_ms,
            "ideal_ms": min(driver_ms + task_ms // cores, self.total_ms) if cores > 0 else None,
            "one_core_ms": driver_ms + task_ms,
            "driver_ms": driver_ms,
        }

    # ---- stages -------------------------------------------------------------------------------------------------

    def durations_of(self, tasks: List[Task]) -> Dict[str, Optional[int]]:
        ran = [task for task in tasks if not task.resubmitted]
        chosen = sorted(task.duration for task in ran if task.succeeded) or sorted(task.duration for task in ran)
        if not chosen:
            return dict.fromkeys(["min", "p25", "median", "p75", "p95", "max"])
        return {
            "min": chosen[0],
            "p25": quantile(chosen, 25),
            "median": quantile(chosen, 50),
            "p75": quantile(chosen, 75),
            "p95": quantile(chosen, 95),
            "max": chosen[-1],
        }
