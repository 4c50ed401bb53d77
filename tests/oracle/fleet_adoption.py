"""Realised savings by the definitions of docs/adoption.md."""

from __future__ import annotations

import math
from statistics import median
from typing import List, NamedTuple, Sequence

import fleet_models
import fleet_statistics

MIB = 1048576
WINDOW = 10


class Run(NamedTuple):
    """One run."""

    duration: float
    core: float
    input: float
    completed: bool = True


def adjusted(runs: Sequence[Run], slope: float, reference: float, times: Sequence[float]) -> List[float]:
    """Logarithms of times, as if every run had the reference's input."""
    return [math.log(time) - slope * (math.log(run.input + MIB) - reference) for run, time in zip(runs, times)]


def shift_of(before: Sequence[Run], after: Sequence[Run], times: Sequence[Sequence[float]]) -> List[object]:
    """Slope, shift, and the adjusted values of both windows."""
    slope = fleet_statistics.input_slope([run.input for run in before], times[0])
    reference = median(math.log(run.input + MIB) for run in after)
    values = [adjusted(runs, slope, reference, each) for runs, each in zip((before, after), times)]
    return [slope, fleet_statistics.shift(values[0], values[1]), values]


def share(hits: int, count: int) -> float:
    """A share, or NaN of none."""
    return hits / count if count else math.nan


def realised(runs: Sequence[Run], first: int, end: int) -> List[float]:
    """In the order in which fleet_numbers writes it. Both windows must have a completed run."""
    completed_before = [i for i in range(first) if runs[i].completed][-WINDOW:]
    completed_after = [i for i in range(first, end) if runs[i].completed]
    later, completed_after = [runs[i] for i in completed_after], completed_after[:WINDOW]
    before, after = [runs[i] for i in completed_before], [runs[i] for i in completed_after]
    slope, found, values = shift_of(before, after, [[run.duration for run in each] for each in (before, after)])
    _, core, _ = shift_of(before, after, [[run.core for run in each] for each in (before, after)])
    if len(before) < 3 or len(after) < 3:
        verdict = 0
    else:
        verdict = 2 if found.low > 0 else 3 if found.high < 0 else 1
    duration, core_time = sum(run.duration for run in later), sum(run.core for run in later)
    # A full window ends with its last completed run, another one with the first or last run of all.
    span_before = runs[completed_before[0] if len(before) == WINDOW else 0 : first]
    span_after = runs[first : completed_after[-1] + 1 if len(after) == WINDOW else end]
    limit = fleet_models.percentile(values[0], 95)
    return [
        verdict,
        len(before),
        len(after),
        len(later),
        slope,
        found.shift,
        found.low,
        found.high,
        duration * (math.exp(found.shift) - 1),
        duration * (math.exp(found.low) - 1),
        core_time * (math.exp(core.shift) - 1),
        share(sum(not run.completed for run in span_before), len(span_before)),
        share(sum(not run.completed for run in span_after), len(span_after)),
        math.exp(limit),
        share(sum(value > limit for value in values[0]), len(before)),
        share(sum(value > limit for value in values[1]), len(after)),
    ]
