"""What profilers record, in bounded memory: counted stacks, and points of memory and processor use.

A task fills a `Profile` of its own, and the driver merges those of all tasks into one. A profile that would become too
large gets coarser: counts and sums stay exact.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

Frames = Tuple[str, ...]  # FILE:FUNCTION:LINE, the innermost first

OTHER_STACKS: Frames = ("pyrometer:other_stacks:0",)  # stands for what is more than `max_stacks`
FIRST_WINDOW_MS = 10_000
LAST_WINDOW_MS = 1 << 31
LAST_GROUP = 1 << 31


class Limits(NamedTuple):
    """How large a profile may become."""

    max_stacks: int  # different stacks
    max_rows: int  # stacks of a task in a window of time: at least 4 * (max_stacks + 1)
    max_points: int  # of all processes


def task_limits(max_stacks: int = 2_000, max_points: int = 3_000) -> Limits:
    """Return the limits of a single task."""
    return Limits(max_stacks, 4 * (max_stacks + 1), max_points)


DRIVER_LIMITS = Limits(20_000, 100_000, 100_000)


class Owner(NamedTuple):
    """Whose sample it is. Nothing is known of stage and task outside of Spark, and of what was merged."""

    stage: Optional[int]
    task: Optional[int]
    pid: Optional[int]
    host: Optional[str]


class Row:
    """How often a stack was seen, when first and last, and the processor time of the thread meanwhile."""

    __slots__ = ("count", "cpu_us", "first_ms", "last_ms")

    def __init__(self, count: int, first_ms: int, last_ms: int, cpu_us: Optional[int]) -> None:
        self.count = count
        self.first_ms = first_ms
        self.last_ms = last_ms
        self.cpu_us = cpu_us

    def add(self, other: Row) -> None:
        """Add what another row counted of the same stack."""
        self.count += other.count
        self.first_ms = min(self.first_ms, other.first_ms)
        self.last_ms = max(self.last_ms, other.last_ms)
        if other.cpu_us is not None:
            self.cpu_us = (self.cpu_us or 0) + other.cpu_us


class Point(NamedTuple):
    """What a process used at a time. Memory and page faults are None where the system does not say them."""

    time_ms: int
    rss: Optional[int]
    vms: Optional[int]
    page_faults: Optional[int]
    cpu_percent: float  # of one core, since the point before
    readings: int  # that became this point
    owner: Owner

    def merged_with(self, later: Point) -> Point:
        """Return one point for two: the later time, the larger memory, the mean processor use."""
        readings = self.readings + later.readings
        cpu = (self.cpu_percent * self.readings + later.cpu_percent * later.readings) / readings
        return Point(
            later.time_ms,
            largest(self.rss, later.rss),
            largest(self.vms, later.vms),
            largest(self.page_faults, later.page_faults),
            cpu,
            readings,
            later.owner if self.owner == later.owner else common_owner(self.owner, later.owner),
        )


def largest(one: Optional[int], other: Optional[int]) -> Optional[int]:
    """Return the larger of two numbers that may be unknown."""
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None


def common_owner(one: Owner, other: Owner) -> Owner:
    """Return what two owners share."""
    return Owner._make(mine if mine == its else None for mine, its in zip(one, other))


class Profile:
    """Stacks and points of one task or of many."""

    def __init__(self, limits: Limits, interval_ms: int, udf: bool = False) -> None:
        self.limits = limits
        self.interval_ms = interval_ms
        self.udf = udf  # of a function of a column, not of an RDD
        self.rows: Dict[Tuple[Frames, Owner, int], Row] = {}
        self.stacks: Dict[Frames, Frames] = {}
        self.window_ms = FIRST_WINDOW_MS  # rows are per window of this length
        self.detail = len(Owner._fields)  # fields of owners that rows still have
        self.points: Dict[Tuple[Optional[str], Optional[int]], List[Point]] = {}  # by host and process
        self.point_count = 0
        self.group = 1  # readings that become one point
        self.tasks_apart = True  # points of different tasks are never merged
        self.refused = 0  # points of processes that are too many

    # ---- stacks ----

    def add_stack(self, frames: Frames, owner: Owner, row: Row) -> None:
        """Count a stack."""
        self._put(self._known(frames), owner, row)
        if len(self.rows) > self.limits.max_rows:
            self._coarsen_rows()

    def _known(self, frames: Frames) -> Frames:
        known = self.stacks.get(frames)
        if known is None:
            known = frames if len(self.stacks) < self.limits.max_stacks else OTHER_STACKS
            self.stacks[known] = known
        return known

    def _put(self, frames: Frames, owner: Owner, row: Row) -> None:
        if self.detail < len(owner):
            owner = Owner._make(value if at < self.detail else None for at, value in enumerate(owner))
        key = (frames, owner, row.first_ms // self.window_ms)
        before = self.rows.get(key)
        if before is None:
            self.rows[key] = row
        else:
            before.add(row)

    def _coarsen_rows(self) -> None:
        """Make about half as many rows: of longer windows, then without process and task, then without the stage.

        At last there are at most two windows for each stack, which the limits leave enough rows for.
        """
        while len(self.rows) > self.limits.max_rows * 3 // 4:
            if self.window_ms < LAST_WINDOW_MS:
                self.window_ms *= 2
            elif self.detail > 0:
                self.detail = 1 if self.detail > 1 else 0
            else:
                return
            rows, self.rows = self.rows, {}
            for (frames, owner, _), row in rows.items():
                self._put(frames, owner, row)

    # ---- points ----

    def add_point(self, point: Point) -> None:
        """Add a point to those of its process. They come in the order of time."""
        self._place(point)
        if self.point_count > self.limits.max_points:
            self._thin()

    def _place(self, point: Point) -> None:
        process = (point.owner.host, point.owner.pid)
        points = self.points.get(process)
        if points is None:
            if len(self.points) >= self.limits.max_points // 2:
                self.refused += 1
                return
            points = self.points[process] = []
        if points and self._joins(points[-1], point):
            points[-1] = points[-1].merged_with(point)
        else:
            points.append(point)
            self.point_count += 1

    def _joins(self, last: Point, point: Point) -> bool:
        same = last.owner == point.owner or not self.tasks_apart
        return same and last.readings + point.readings <= self.group

    def _thin(self) -> None:
        """Make about half as many points, equally far apart as before."""
        while self.point_count > self.limits.max_points * 3 // 4:
            if self.group < LAST_GROUP:
                self.group *= 2
            elif self.tasks_apart:
                self.tasks_apart = False
            else:
                return  # one point for each process
            before, self.points, self.point_count = self.points, {}, 0
            for points in before.values():
                for point in points:
                    self._place(point)

    # ---- profiles of many tasks ----

    def merge(self, other: Profile) -> None:
        """Add what another task recorded."""
        self.udf = self.udf or other.udf
        self.interval_ms = other.interval_ms
        self.refused += other.refused
        for (frames, owner, _), row in other.rows.items():
            self.add_stack(frames, owner, row)
        for points in other.points.values():
            for point in points:
                self.add_point(point)

    # ---- records ----

    def stack_records(self, number: int) -> List[Dict[str, Any]]:
        """Return the records of the stacks: the most frequent stack first, its rows in the order of time."""
        totals: Dict[Frames, int] = {}
        for (frames, _, _), row in self.rows.items():
            totals[frames] = totals.get(frames, 0) + row.count

        def order(item: Tuple[Tuple[Frames, Owner, int], Row]) -> Tuple[Any, ...]:
            (frames, owner, _), row = item
            return -totals[frames], frames, row.first_ms, owner.task or 0, owner.stage or 0

        name = f"udf_{number}_id" if self.udf else f"{number}_id"
        return [
            {
                "stacktrace": list(frames),
                "count": row.count,
                "i_d": name,
                "epochMillis": row.first_ms,
                "lastEpochMillis": row.last_ms,
                "intervalMillis": self.interval_ms,
                **({} if row.cpu_us is None else {"cpuMillis": round(row.cpu_us / 1000)}),
                **members_of(owner),
            }
            for (frames, owner, _), row in sorted(self.rows.items(), key=order)
        ]

    def point_records(self) -> Iterator[Tuple[Optional[int], List[Dict[str, Any]]]]:
        """Yield each process id with the records of its points in the order of time."""
        by_pid: Dict[Optional[int], List[Point]] = {}
        for (_, pid), points in self.points.items():
            by_pid.setdefault(pid, []).extend(points)
        for pid in sorted(by_pid, key=lambda one: one or 0):
            points = sorted(by_pid[pid], key=lambda point: (point.time_ms, point.owner.host or ""))
            yield pid, [record_of(point) for point in points]


def members_of(owner: Owner) -> Dict[str, Any]:
    """Return what is known of an owner as members of a record."""
    names = ("stageId", "taskAttemptId", "pid", "host")
    return {name: value for name, value in zip(names, owner) if value is not None}


def record_of(point: Point) -> Dict[str, Any]:
    """Return a point as a record; the order of the members is that of other tools."""
    owner = members_of(point.owner)
    memory = {"pmem_rss": point.rss, "pmem_vms": point.vms, "pmem_pfaults": point.page_faults}
    return {
        "pid": owner.pop("pid", None),
        "epochMillis": point.time_ms,
        **{name: value for name, value in memory.items() if value is not None},
        "cpu_percent": round(point.cpu_percent, 1),
        **owner,
    }


def stack_line(record: Dict[str, Any]) -> str:
    """Return the line of a stack, without spaces as other tools write it."""
    return json.dumps(record, separators=(",", ":"))


def point_line(record: Dict[str, Any]) -> str:
    """Return the line of a point."""
    return json.dumps(record)
