"""Profilers for `SparkContext(profiler_cls=..., udf_profiler_cls=...)`.

They record on executors and send what they recorded to the driver with the result of each task.
`SparkContext.dump_profiles(FOLDER)` writes files, `show_profiles()` prints the same lines.
"""

from __future__ import annotations

import os
from typing import Any, Callable, ClassVar, Dict, Iterable, List, Optional, Tuple, Type

from pyspark import SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.profiler import Profiler

from pyrometer.profile import DRIVER_LIMITS, Profile, point_line, stack_line
from pyrometer.recording import Options, Recording, this_process

SETTING = "spark.pyrometer.python.profile"  # .intervalMs, .maxStacks, .maxPoints
WORKER = os.path.join("pyspark", "worker.py")  # the code that a profiler of an RDD is given


class ProfileParam(AccumulatorParam[Any]):
    """Merges the profiles of tasks. In a task the value is the recording itself."""

    def zero(self, value: Any) -> None:
        return None

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        if value2 is None:
            return value1
        if isinstance(value2, Recording):
            if value1 is None:
                return value2
            value1.absorb(value2)
            return value1
        if value1 is None:
            value1 = Profile(DRIVER_LIMITS, value2.interval_ms)
        value1.merge(value2)
        return value1


def options_of(context: SparkContext, stacks: bool, usage: bool) -> Options:
    """Return the options that the application's settings give."""
    conf, defaults = context.getConf(), Options(stacks, usage)
    given = (
        ("intervalMs", defaults.interval_ms),
        ("maxStacks", defaults.max_stacks),
        ("maxPoints", defaults.max_points),
    )
    numbers = [whole_number(f"{SETTING}.{name}", conf.get(f"{SETTING}.{name}", str(usual))) for name, usual in given]
    return Options(stacks, usage, *numbers)


def whole_number(setting: str, text: Optional[str]) -> int:
    """Read a setting that is a number of at least 1."""
    try:
        number = int(text or "")
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"{setting} is {text!r}; set it to a whole number of at least 1")
    return number


class SamplingProfiler(Profiler):
    """What the three profilers share."""

    stacks: ClassVar[bool] = False
    usage: ClassVar[bool] = False

    def __init__(self, ctx: SparkContext) -> None:
        super().__init__(ctx)
        self._options = options_of(ctx, self.stacks, self.usage)
        self._accumulator = ctx.accumulator(None, ProfileParam())
        self._recording: Optional[Recording] = None

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_recording": None}

    def profile(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a function and return what it returns. Spark calls this once for a partition, a batch, or a row.

        The recording looks for the frame of this method: while it is on the stack, the function runs.
        """
        if self._recording is None:
            self._begin(func)
        return func(*args, **kwargs)

    def _begin(self, func: Callable[..., Any]) -> None:
        context = TaskContext.get()
        owner = this_process(context.stageId(), context.taskAttemptId()) if context else this_process()
        code = getattr(func, "__code__", None)
        udf = code is None or not code.co_filename.endswith(WORKER)
        self._recording = Recording(self._options, owner, SamplingProfiler.profile.__code__, self, udf)
        self._accumulator.add(self._recording)

    # ---- on the driver ----

    def _profile(self) -> Profile:
        value = self._accumulator.value
        return Profile(DRIVER_LIMITS, self._options.interval_ms) if value is None else value

    def stats(self) -> Dict[str, Any]:
        """Return the records: `stacks` is a list, `points` has a list for each process id.

        `refused` counts points of processes that were too many.
        """
        profile = self._profile()
        return {
            "stacks": profile.stack_records(0),
            "points": dict(profile.point_records()),
            "refused": profile.refused,
        }

    def _files(self, number: int) -> Iterable[Tuple[str, List[str]]]:
        """Yield the name and the lines of each file."""
        profile = self._profile()
        name = f"udf_{number}" if profile.udf else f"s_{number}"
        if profile.rows:
            yield f"{name}_stack.json", [stack_line(record) for record in profile.stack_records(number)]
        for pid, records in profile.point_records():
            yield f"{name}_{pid}_cpumem.json", [point_line(record) for record in records]

    def show(self, id: int) -> None:
        """Print all records, one JSON object in a line."""
        for _, lines in self._files(id):
            print("\n".join(lines), flush=True)

    def dump(self, id: int, path: str) -> None:
        """Write the files into a folder, which is made if it does not exist."""
        os.makedirs(path, exist_ok=True)
        for name, lines in self._files(id):
            with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)


class StackProfiler(SamplingProfiler):
    """Samples the stack of the function that a task runs: `s_N_stack.json`."""

    stacks = True


class CpuMemProfiler(SamplingProfiler):
    """Samples memory and processor use of Python workers: `s_N_PID_cpumem.json`."""

    usage = True


class CpuMemStackProfiler(SamplingProfiler):
    """Both: stacks, and memory and processor use."""

    stacks = True
    usage = True


PROFILERS: Dict[str, Type[SamplingProfiler]] = {
    "stack": StackProfiler,
    "cpumem": CpuMemProfiler,
    "cpumemstack": CpuMemStackProfiler,
}
