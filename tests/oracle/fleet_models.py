"""The models of docs/models.md by their definitions: exact fractions, every run fitted again for every prediction."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from statistics import median
from typing import Dict, List, NamedTuple, Optional, Sequence

BLOCK = 128 * 1024 * 1024
GIB = 1024**3
FIRST_PREDICTED = 3


class Run(NamedTuple):
    """One run; a question is one without a duration."""

    duration: float
    executors: float
    cores: float
    input: float
    largest: float
    has_log: bool = True


class Fit(NamedTuple):
    """What a model makes of the runs."""

    usable: bool
    predictions: int
    error: float
    low: float
    high: float
    predicted: float


def solve(matrix: List[List[Fraction]], right: List[Fraction]) -> Optional[List[Fraction]]:
    """By Gauss; None if the columns depend on each other."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(size):
        pivot = next((k for k in range(i, size) if rows[k][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(size):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def non_negative(rows: Sequence[Sequence[float]], values: Sequence[float]) -> List[float]:
    """The coefficients >= 0 with the least sum of squares; of equal ones those with fewer columns."""
    columns = len(rows[0])
    exact = [[Fraction(value) for value in row] for row in rows]
    y = [Fraction(value) for value in values]
    best: List[Fraction] = [Fraction(0)] * columns
    least = sum((value * value for value in y), Fraction(0))
    for size in range(1, columns + 1):
        for chosen in combinations(range(columns), size):
            matrix = [[sum((row[i] * row[k] for row in exact), Fraction(0)) for k in chosen] for i in chosen]
            found = solve(matrix, [sum((row[i] * value for row, value in zip(exact, y)), Fraction(0)) for i in chosen])
            if found is None or min(found) < 0:
                continue
            rest = sum(
                ((value - sum((c * row[i] for c, i in zip(found, chosen)), Fraction(0))) ** 2 for row, value in zip(exact, y)),
                Fraction(0),
            )
            if rest < least:
                least, best = rest, [Fraction(0)] * columns
                for c, i in zip(found, chosen):
                    best[i] = c
    return [float(value) for value in best]


def columns_of(model: str, run: Run) -> Optional[List[float]]:
    """A run's row of a model; None if it does not count."""
    c, n = run.executors * run.cores, run.input / GIB
    if model == "wave":
        blocks = math.ceil(run.largest / BLOCK)
        return [1.0, float(math.ceil(blocks / c))] if blocks > 1 else None
    return [1.0, n / c, math.log2(c), c] if model == "ernest" else [1.0, n / c]


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank."""
    return sorted(values)[max(math.ceil(percent * len(values) / 100), 1) - 1]


def fit_of(pairs: Sequence[Sequence[float]], enough: bool, predicted: float) -> Fit:
    """From (predicted, observed) pairs."""
    if not pairs:
        return Fit(False, 0, 0.0, 0.0, 0.0, -1.0)
    relative = [(o - p) / p for p, o in pairs]
    few = len(pairs) < 10
    low = 1.25 * min(relative) if few else percentile(relative, 10)
    high = 1.25 * max(relative) if few else percentile(relative, 90)
    error = median(abs(p - o) / o for p, o in pairs)
    return Fit(enough, len(pairs), error, max(min(low, 0.0), -1.0), max(high, 0.0), predicted if enough else -1.0)


def analytic(model: str, runs: Sequence[Run], asked: Run) -> Fit:
    """Wave, Ernest or Amdahl."""
    used = [(run, row) for run in runs if (row := columns_of(model, run)) is not None]
    pairs = []
    for i in range(FIRST_PREDICTED, len(used)):
        coefficients = non_negative([row for _, row in used[:i]], [run.duration for run, _ in used[:i]])
        pairs.append((sum(c * v for c, v in zip(coefficients, used[i][1])), used[i][0].duration))
    enough = len(used) >= 5 and len({(run.executors, run.cores) for run, _ in used}) >= 2
    row = columns_of(model, asked)
    predicted = -1.0
    if used and row is not None:
        coefficients = non_negative([row for _, row in used], [run.duration for run, _ in used])
        predicted = sum(c * v for c, v in zip(coefficients, row))
    return fit_of(pairs, enough, predicted)


def replay(log: Run, asked: Run) -> float:
    """The stand-in for the simulator."""
    return 100000 + log.input / 1024 / (asked.executors * asked.cores)


def nearest(runs: Sequence[Run], asked: Run) -> Optional[Run]:
    """The log with the nearest input; of equally near ones the last."""
    logs = [run for run in runs if run.has_log]
    away = [abs(math.log(run.input + 1048576) - math.log(asked.input + 1048576)) for run in logs]
    return next((run for run, a in zip(reversed(logs), reversed(away)) if a == min(away)), None)


def simulator(runs: Sequence[Run], asked: Run) -> Fit:
    """Replays, times the median of observed / simulated so far."""
    pairs: List[Sequence[float]] = []
    ratios: List[float] = []
    for i, run in enumerate(runs):
        log = nearest(runs[:i], run)
        if log is None:
            continue
        simulated = replay(log, run)
        if i >= FIRST_PREDICTED:
            pairs.append((simulated * (median(ratios) if ratios else 1.0), run.duration))
        ratios.append(run.duration / simulated)
    log = nearest(runs, asked)
    enough = len(runs) >= 5 and log is not None
    return fit_of(pairs, enough, replay(log, asked) * (median(ratios) if ratios else 1.0) if log is not None else -1.0)


def shape(run: Run) -> Sequence[float]:
    """Its configuration."""
    return run.executors, run.cores


def analytic_unseen(model: str, runs: Sequence[Run], asked: Run) -> Fit:
    """Each configuration is left out and predicted from the others."""
    used = [(run, row) for run in runs if (row := columns_of(model, run)) is not None]
    pairs = []
    for left in {shape(run) for run, _ in used}:
        others = [(run, row) for run, row in used if shape(run) != left]
        if len(others) < FIRST_PREDICTED or len({shape(run) for run, _ in others}) < 2:
            continue
        coefficients = non_negative([row for _, row in others], [run.duration for run, _ in others])
        for run, row in used:
            if shape(run) == left:
                pairs.append((sum(c * v for c, v in zip(coefficients, row)), run.duration))
    fit = analytic(model, runs, asked)
    return fit_of(pairs, fit.usable and len(pairs) >= FIRST_PREDICTED, fit.predicted)


def simulator_unseen(runs: Sequence[Run], asked: Run) -> Fit:
    """Each run by a log of another configuration, corrected by what that was off for other ones."""
    simulated = []
    for run in runs:
        log = nearest([other for other in runs if shape(other) != shape(run)], run)
        simulated.append(None if log is None else replay(log, run))
    known = [(run, ms) for run, ms in zip(runs, simulated) if ms is not None]
    pairs = []
    for run, ms in known:
        ratios = [other.duration / its for other, its in known if shape(other) != shape(run)]
        if ratios:
            pairs.append((ms * median(ratios), run.duration))
    fit = simulator(runs, asked)
    if fit.usable and len({shape(run) for run in runs}) == 1:
        return Fit(True, 0, 0.2, -0.3, 0.4, fit.predicted)
    log = nearest(runs, asked)
    factor = median(run.duration / ms for run, ms in known) if known else 1.0
    predicted = replay(log, asked) * factor if log is not None else -1.0
    return fit_of(pairs, fit.usable and len(pairs) >= FIRST_PREDICTED, predicted)


def all_unseen(runs: Sequence[Run], asked: Run) -> Dict[str, Fit]:
    """Every model by name, as it predicts configurations that never ran."""
    fits = {model: analytic_unseen(model, runs, asked) for model in ("wave", "ernest", "amdahl")}
    fits["simulator"] = simulator_unseen(runs, asked)
    return fits


def all_fits(runs: Sequence[Run], asked: Run) -> Dict[str, Fit]:
    """Every model by name."""
    fits = {model: analytic(model, runs, asked) for model in ("wave", "ernest", "amdahl")}
    fits["simulator"] = simulator(runs, asked)
    return fits
