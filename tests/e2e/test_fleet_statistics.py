"""The statistics over runs against an oracle that follows their definitions, on random numbers."""

from __future__ import annotations

import math
import random
import tempfile
from typing import List, Sequence

import fleet_statistics as oracle
import pytest
from conftest import binary_path, run_command

SEED = 20261125


def ask(function: str, cases: Sequence[Sequence[Sequence[float]]]) -> List[List[float]]:
    """What the library answers for each case."""
    lines = []
    for case in cases:
        groups = " ".join(f"{len(group)} {' '.join(repr(float(value)) for value in group)}" for group in case)
        lines.append(f"{function} {groups}")
    program = binary_path().parent / "tests" / "e2e" / "fleet_numbers"
    with tempfile.TemporaryFile("w+") as numbers:
        numbers.write("\n".join(lines))
        numbers.seek(0)
        run = run_command([str(program)], stdin=numbers, limit_s=60)
    assert run.exit == 0, run.explain()
    answers = [[float(word) for word in line.split()] for line in run.out.decode().splitlines()]
    assert len(answers) == len(cases)
    return answers


def some_values(source: random.Random, count: int) -> List[float]:
    """Half of the groups have ties."""
    if source.random() < 0.5:
        return [float(source.randint(0, 12)) for _ in range(count)]
    return [source.gauss(0, 1) for _ in range(count)]


def test_modified_z() -> None:
    source = random.Random(SEED + 1)
    cases = [(some_values(source, source.randint(1, 40)),) for _ in range(200)]
    cases += [([5.0, 5.0, 5.0, 5.0, 9.0],), ([3.0, 3.0],)]
    for (values,), found in zip(cases, ask("z", cases)):
        assert found == pytest.approx(oracle.modified_z(values), rel=1e-12, abs=1e-12)


def test_input_slope() -> None:
    source = random.Random(SEED + 2)
    cases = []
    for _ in range(100):
        count, power = source.randint(6, 60), source.choice((-0.5, 0.0, 0.3, 0.8, 1.0, 2.5))
        step = source.choice((0, 7))  # some inputs are equal
        sizes = [2.0 ** source.choice((source.uniform(20, 36), 20 + step)) for _ in range(count)]
        cases.append((sizes, [1000 * (size / 2**20) ** power * math.exp(source.gauss(0, 0.2)) + 1 for size in sizes]))
    for (sizes, durations), found in zip(cases, ask("slope", cases)):
        assert found[0] == pytest.approx(oracle.input_slope(sizes, durations), abs=1e-12)


def test_input_slope_of_many_runs_by_bisection() -> None:
    source = random.Random(SEED + 3)
    sizes = [2.0 ** source.uniform(20, 36) if source.random() < 0.9 else 2.0**30 for _ in range(2100)]
    durations = [1000 * (size / 2**20) ** 0.6 * math.exp(source.gauss(0, 0.4)) for size in sizes]
    found = ask("slope", [(sizes, durations)])[0][0]
    assert found == pytest.approx(oracle.input_slope(sizes, durations), abs=1e-6)


def test_rank_test() -> None:
    source = random.Random(SEED + 4)
    cases = [(some_values(source, source.randint(0, 40)), some_values(source, source.randint(0, 40))) for _ in range(200)]
    cases.append(([1.0] * 6, [1.0] * 7))
    answers = ask("ranks", cases)
    assert {bool(found[2]) for found in answers} == {True, False}
    for (a, b), (u, p, exact) in zip(cases, answers):
        expected = oracle.rank_test(a, b)
        assert u == expected[0] and bool(exact) == expected[2]
        assert p == pytest.approx(expected[1], rel=1e-9, abs=1e-12)


def test_published_example_of_the_rank_test() -> None:
    """Hollander and Wolfe's permeability of membranes: W = 35, p = 0.2544 two-sided."""
    term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    u, p, exact = ask("ranks", [(term, early)])[0]
    assert u == 35 and exact and p == pytest.approx(0.2544, abs=5e-5)
    found = ask("shift", [(term, early)])[0]
    assert found[0] == pytest.approx(0.305, abs=1e-12)


def test_shift() -> None:
    source = random.Random(SEED + 5)
    cases = []
    for _ in range(150):
        a, b = source.randint(1, 45), source.randint(1, 45)
        cases.append((some_values(source, a), [value - 0.7 for value in some_values(source, b)]))
    cases.append(([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))  # no shift at all
    for (a, b), found in zip(cases, ask("shift", cases)):
        assert found == pytest.approx(list(oracle.shift(a, b)), rel=1e-9, abs=1e-12)


def test_shift_covers_the_truth_in_nine_of_ten_cases() -> None:
    source = random.Random(SEED + 6)
    cases = []
    for _ in range(1000):
        cases.append(([source.gauss(0.5, 1) for _ in range(10)], [source.gauss(0, 1) for _ in range(10)]))
    answers = ask("shift", cases)
    covered = sum(low <= 0.5 <= high for _, low, high, _ in answers)
    assert covered >= 880, covered
    assert all(level >= 0.9 for _, _, _, level in answers)


def test_share_interval() -> None:
    cases = [((hits, count),) for count in (0, 1, 5, 37, 1000) for hits in sorted({0, 1, count // 3, count}) if hits <= count]
    for ((hits, count),), found in zip(cases, ask("share", cases)):
        assert found == pytest.approx(list(oracle.share_interval(hits, count)), abs=1e-9)


def test_change_points_of_random_series() -> None:
    source = random.Random(SEED + 7)
    cases = []
    for _ in range(60):
        level, values = 10.0, []
        for _ in range(source.randint(1, 4)):
            level += source.choice((-1, 1)) * source.uniform(0.02, 0.8)
            values += [level + source.gauss(0, 0.1) for _ in range(source.randint(3, 30))]
        cases.append((values,))
    answers = ask("changes", cases)
    assert sum(len(found) > 0 for found in answers) > 30
    for (values,), found in zip(cases, answers):
        expected = oracle.changes(values)
        assert [int(at) for at in found[0::4]] == [change.index for change in expected]
        flat = [number for change in expected for number in change]
        assert found == pytest.approx(flat, rel=1e-9, abs=1e-12)


def test_noise_gives_no_change_points() -> None:
    """Of 500 series without a change, at most 1 % have one; heavy tails and whole seconds included."""
    source = random.Random(SEED + 8)
    cases = []
    for number in range(500):
        count = source.choice((12, 30, 100))
        if number % 2:
            cases.append(([math.log(round(60 * math.exp(source.gauss(0, 0.3))) + 1) for _ in range(count)],))
        else:
            cases.append(([10 + source.gauss(0, 0.3) / (abs(source.gauss(0, 1)) + 0.1) for _ in range(count)],))
    assert sum(len(found) > 0 for found in ask("changes", cases)) <= 5


def test_one_change_among_many_runs() -> None:
    """100,000 runs, faster by a tenth after the 60,000th."""
    source = random.Random(SEED + 9)
    values = [math.log(60000) - (0.1 if i >= 60000 else 0) + source.gauss(0, 0.2) for i in range(100000)]
    found = ask("changes", [(values,)])[0]
    assert len(found) == 4 and abs(found[0] - 60000) < 100
    assert found[2] - found[1] == pytest.approx(-0.1, abs=0.01)
    shift = ask("shift", [(values[:60000], values[60000:])])[0]
    assert shift[1] < 0.1 < shift[2] and shift[2] - shift[1] < 0.01
