"""What following advice saved, against an oracle, on random runs."""

from __future__ import annotations

import math
import random

import fleet_adoption as oracle
import pytest
from fleet_adoption import Run
from test_fleet_statistics import ask

GIB = 1024**3


def test_realised_savings() -> None:
    source = random.Random(5)
    cases = []
    for _ in range(200):
        factor, power = source.choice((0.6, 0.95, 1.0, 1.6)), source.choice((0.0, 0.8))
        first = source.randint(1, 18)
        end = first + source.randint(1, 18)
        runs = []
        for i in range(end + source.randint(0, 3)):
            size = GIB * math.exp(source.gauss(1, 0.7))
            time = 60000 * (size / GIB) ** power * (factor if i >= first else 1) * math.exp(source.gauss(0, 0.1))
            runs.append(Run(time, time * 8 * source.uniform(0.9, 1.1), size, source.random() < 0.85))
        if any(run.completed for run in runs[:first]) and any(run.completed for run in runs[first:end]):
            cases.append((runs, first, end))
    answers = ask("realised", [([n for run in runs for n in map(float, run)], [first, end]) for runs, first, end in cases])
    verdicts = {0: 0, 1: 0, 2: 0, 3: 0}
    for (runs, first, end), found in zip(cases, answers):
        assert found == pytest.approx(oracle.realised(runs, first, end), rel=1e-8, abs=1e-10, nan_ok=True)
        verdicts[int(found[0])] += 1
    assert min(verdicts.values()) > 10, verdicts
