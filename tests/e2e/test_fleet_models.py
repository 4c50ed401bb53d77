"""The models of run time against an oracle in exact fractions, on random runs."""

from __future__ import annotations

import math
import random
from typing import List

import fleet_models as oracle
import pytest
from fleet_models import GIB, Run
from test_fleet_statistics import ask

SEED = 18


def random_runs(source: random.Random) -> List[Run]:
    """Runs of one application: how they grow, and how much they vary, differs."""
    count, parallel, noise = source.randint(0, 25), source.choice((2e5, 8e5)), source.choice((0.01, 0.2))
    executors = source.sample((1.0, 2.0, 3.0, 4.0, 8.0), source.randint(1, 3))
    size = source.choice((0.05, 2.0, 60.0)) * GIB
    runs = []
    for _ in range(count):
        bytes_in = float(round(size * math.exp(source.gauss(0, 0.6))))
        e, cores = source.choice(executors), source.choice((2.0, 4.0))
        time = 30000 + parallel * bytes_in / GIB / (e * cores) + 500 * e * source.choice((0, 1))
        runs.append(
            Run(time * math.exp(source.gauss(0, noise)), e, cores, bytes_in, float(round(bytes_in * 0.7)), source.random() < 0.8)
        )
    return runs


def test_non_negative_least_squares() -> None:
    source = random.Random(SEED)
    cases = []
    for _ in range(200):
        columns, count = source.randint(1, 4), source.randint(1, 12)
        rows = [[1.0] + [float(source.randint(0, 9)) for _ in range(columns - 1)] for _ in range(count)]
        truth = [source.choice((-3.0, 0.0, 2.0, 50.0)) for _ in range(columns)]
        cases.append(([sum(t * v for t, v in zip(truth, row)) + source.gauss(0, 1) for row in rows], rows))
    answers = ask("nnls", [(y, [value for row in rows for value in row]) for y, rows in cases])
    for (y, rows), found in zip(cases, answers):
        expected = oracle.non_negative(rows, y)

        def rest(coefficients: List[float]) -> float:
            return sum((v - sum(c * x for c, x in zip(coefficients, row))) ** 2 for row, v in zip(rows, y))

        assert min(found) >= 0
        assert rest(found) == pytest.approx(rest(expected), rel=1e-8, abs=1e-6)


def test_models_by_rolling_origin() -> None:
    source = random.Random(SEED + 1)
    cases = []
    for _ in range(60):
        size = source.choice((1.0, 40.0)) * GIB
        cases.append((random_runs(source), Run(0, source.choice((2.0, 5.0)), 4.0, size, size / 2)))
    answers = ask("models", [([n for run in runs for n in map(float, run)], list(asked[1:5])) for runs, asked in cases])
    bests, bests_unseen = set(), set()
    for (runs, asked), found in zip(cases, answers):
        expected = oracle.all_fits(runs, asked)
        usable = [name for name, fit in expected.items() if fit.usable]
        unseen = oracle.all_unseen(runs, asked)
        for number, (name, fit) in enumerate(expected.items()):
            here = found[2 + 12 * number : 14 + 12 * number]
            assert here[:6] == pytest.approx([float(value) for value in fit], rel=1e-6, abs=1e-9), (name, runs)
            assert here[6:] == pytest.approx([float(value) for value in unseen[name]], rel=1e-6, abs=1e-9), (name, runs)
        best_unseen = list(expected)[int(found[1])] if found[1] >= 0 else None
        bests_unseen.add(best_unseen)
        errors = [fit.error for fit in unseen.values() if fit.usable]
        assert (best_unseen is None) == (not errors)
        assert best_unseen is None or unseen[best_unseen].error == pytest.approx(min(errors), rel=1e-6)
        best = list(expected)[int(found[0])] if found[0] >= 0 else None
        bests.add(best)
        assert (best is None) == (not usable)
        if best is not None:
            assert expected[best].error == pytest.approx(min(expected[name].error for name in usable), rel=1e-6)
    assert len(bests) >= 4, bests
    assert len(bests_unseen) >= 4, bests_unseen
