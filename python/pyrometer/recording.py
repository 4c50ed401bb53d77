"""The recording of one task: a thread looks at the profiled function in equal intervals."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from pyrometer.profile import Frames, Owner, Point, Profile, Row, task_limits
from pyrometer.usage import ProcessorMeter, memory

MAX_DEPTH = 512  # frames of a stack; a deeper one has its innermost frames
CUT: Frames = ("pyrometer:deeper_stack:0",)


class Options(NamedTuple):
    """What a recording records, how often, and how much."""

    stacks: bool
    usage: bool
    interval_ms: int = 100
    max_stacks: int = 2_000
    max_points: int = 3_000


def this_process(stage: Optional[int] = None, task: Optional[int] = None) -> Owner:
    """Return this process as an owner of samples."""
    return Owner(stage, task, os.getpid(), socket.gethostname())


class Recording:
    """Samples of one task, from the first profiled call until the recording is pickled or stopped.

    A thread is in a profiled function while a frame of its stack runs `code`, and the `self` of that frame is `mark`.
    So a call costs nothing, which matters if Spark calls a function for each row. When a task ends, Spark pickles what
    the task added to accumulators: that ends the recording, and what is pickled is its profile.
    """

    def __init__(self, options: Options, owner: Owner, code: CodeType, mark: object, udf: bool = False) -> None:
        self._options = options
        self._owner = owner
        self._code = code
        self._mark = mark
        self._profile = Profile(task_limits(options.max_stacks, options.max_points), options.interval_ms, udf)
        self._others: List[Recording] = []
        self._texts: Dict[str, str] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._processor = ProcessorMeter()
        self._main_thread = MainThreadMeter()
        threading.Thread(target=self._run, name="pyrometer-profiler", daemon=True).start()

    def absorb(self, other: Recording) -> None:
        """Take another recording of the same task in: its profile becomes part of this one."""
        self._others.append(other)

    def stop(self) -> Profile:
        """End the recording; return its profile."""
        with self._lock:
            if not self._stop.is_set() and not self._profile.points:
                self._read_usage()  # of a task that is shorter than the interval
            self._stop.set()
            while self._others:
                self._profile.merge(self._others.pop().stop())
            return self._profile

    def __reduce__(self) -> Tuple[Callable[[Profile], Profile], Tuple[Profile]]:
        return unchanged, (self.stop(),)

    # ---- the thread ----

    def _run(self) -> None:
        interval = self._options.interval_ms / 1000
        due = time.monotonic() + interval
        while not self._stop.wait(max(due - time.monotonic(), 0)):
            count = samples_due(due, time.monotonic(), interval)
            with self._lock:
                if self._stop.is_set():
                    return
                if self._options.stacks:
                    self._look(count)
                self._read_usage()
            due += count * interval

    def _look(self, count: int) -> None:
        """Count the stacks of the threads that are in the profiled function."""
        time_ms, cpu_us = int(time.time() * 1000), self._main_thread.read()
        threads = sys._current_frames()
        for thread, frame in threads.items():
            if self._is_inside(frame):
                used = cpu_us if thread == self._main_thread.thread else None
                row = Row(count, time_ms, time_ms, used)
                self._profile.add_stack(stack_of(frame, self._texts), self._owner, row)
        threads.clear()  # it refers to the frame that refers to it

    def _is_inside(self, frame: Optional[FrameType]) -> bool:
        while frame is not None:
            if frame.f_code is self._code and frame.f_locals.get("self") is self._mark:
                return True
            frame = frame.f_back
        return False

    def _read_usage(self) -> None:
        if self._options.usage:
            time_ms, (rss, vms, faults) = int(time.time() * 1000), memory()
            self._profile.add_point(Point(time_ms, rss, vms, faults, self._processor.read(), 1, self._owner))


def samples_due(due: float, now: float, interval: float) -> int:
    """Return how many samples were due until now.

    There are several if a function in C did not let other threads run. Its caller is the first that is seen then.
    """
    return 1 + max(int((now - due) / interval), 0)


def unchanged(profile: Any) -> Any:
    """Return the argument: how a pickled recording becomes a profile."""
    return profile


def stack_of(frame: Optional[FrameType], texts: Dict[str, str]) -> Frames:
    """Return the frames of a stack as texts, the innermost first. Equal texts are one object."""
    frames: List[str] = []
    while frame is not None and len(frames) < MAX_DEPTH:
        code = frame.f_code
        text = f"{code.co_filename}:{code.co_name}:{frame.f_lineno or 0}"
        frames.append(texts.setdefault(text, text))
        frame = frame.f_back
    return tuple(frames) if frame is None else tuple(frames) + CUT


class MainThreadMeter:
    """The processor time of the main thread, which runs the functions of workers.

    Other threads may end at any time, and the clock of a thread that has ended must not be read.
    """

    def __init__(self) -> None:
        self.thread = threading.main_thread().ident
        self._clock: Optional[int] = None
        if self.thread is not None and hasattr(time, "pthread_getcpuclockid"):
            self._clock = time.pthread_getcpuclockid(self.thread)
        self._before = self._now()

    def _now(self) -> int:
        return 0 if self._clock is None else time.clock_gettime_ns(self._clock)

    def read(self) -> Optional[int]:
        """Return the microseconds since the last call or the creation, or None where no system call says them."""
        if self._clock is None:
            return None
        now = self._now()
        used, self._before = now - self._before, now
        return used // 1000
