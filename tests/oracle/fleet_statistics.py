"""The statistics of docs/statistics.md by their definitions, without any of the library's methods."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist, median
from typing import List, NamedTuple, Sequence, Tuple

NORMAL = NormalDist()
MIB = 1048576
EXACT_VALUES = 50


def modified_z(values: Sequence[float]) -> List[float]:
    """0.6745 (x - median) / MAD of every value."""
    middle = median(values)
    deviations = [abs(value - middle) for value in values]
    mad, mean = median(deviations), sum(deviations) / len(deviations)
    if mad > 0:
        return [0.6745 * (value - middle) / mad for value in values]
    return [(value - middle) / (1.253314 * mean) if mean > 0 else 0.0 for value in values]


def input_slope(inputs: Sequence[float], durations: Sequence[float]) -> float:
    """Theil-Sen over all pairs, within [0, 1.5]."""
    if len(inputs) < 8 or (max(inputs) + MIB) < 2 * (min(inputs) + MIB):
        return 0.0
    points = [(math.log(x + MIB), math.log(y)) for x, y in zip(inputs, durations)]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if a[0] != b[0]]
    return min(max(median(slopes), 0.0), 1.5)


def pairs_won(a: Sequence[float], b: Sequence[float]) -> float:
    """U: pairs in which the first group's value is larger, equal ones half."""
    return sum(1.0 if x > y else 0.5 if x == y else 0.0 for x in a for y in b)


@lru_cache(maxsize=None)
def rank_counts(m: int, n: int) -> List[int]:
    """In how many orders of two groups U is 0, 1, ... m n: coefficients of the Gaussian binomial, in integers."""
    counts = [1]
    for i in range(1, m + 1):
        product = counts + [0] * (n + i)
        for k, value in enumerate(counts):
            product[k + n + i] -= value
        quotient: List[int] = []
        for k, value in enumerate(product):
            quotient.append(value + (quotient[k - i] if k >= i else 0))
        while quotient and quotient[-1] == 0:
            quotient.pop()
        counts = quotient
    return counts


def rank_below(m: int, n: int, u: int) -> float:
    """P(U <= u) without ties."""
    counts = rank_counts(m, n)
    return float(Fraction(sum(counts[: u + 1]), sum(counts)))


def rank_test(a: Sequence[float], b: Sequence[float]) -> Tuple[float, float, bool]:
    """U, its two-sided p, and whether that is exact."""
    u, m, n = pairs_won(a, b), len(a), len(b)
    if not m or not n:
        return u, 1.0, False
    everything = [*a, *b]
    ties = sum(everything.count(value) ** 3 - everything.count(value) for value in set(everything))
    if ties == 0 and m + n <= EXACT_VALUES:
        return u, min(2 * rank_below(m, n, int(min(u, m * n - u))), 1.0), True
    variance = m * n / 12 * ((m + n + 1) - ties / ((m + n) * (m + n - 1)))
    if variance <= 0:
        return u, 1.0, False
    z = max(abs(u - m * n / 2) - 0.5, 0) / math.sqrt(variance)
    return u, min(2 * NORMAL.cdf(-z), 1.0), False


class Shift(NamedTuple):
    """The Hodges-Lehmann shift with its interval."""

    shift: float
    low: float
    high: float
    level: float


def shift(a: Sequence[float], b: Sequence[float]) -> Shift:
    """From the sorted list of all differences."""
    differences = sorted(x - y for x in a for y in b)
    m, n = len(a), len(b)
    if m + n <= EXACT_VALUES:
        counts, rank = rank_counts(m, n), 1
        while rank < m * n and sum(counts[: rank + 1]) * 20 <= sum(counts):
            rank += 1
        level = 1 - 2 * rank_below(m, n, rank - 1)
    else:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        rank = max(math.floor(m * n / 2 + 0.5 - NORMAL.inv_cdf(0.95) * deviation), 1)
        level = 1 - 2 * NORMAL.cdf((rank - 0.5 - m * n / 2) / deviation)
    return Shift(median(differences), differences[rank - 1], differences[m * n - rank], max(level, 0.0))


def share_interval(hits: float, count: float) -> Tuple[float, float]:
    """Wilson's interval: the shares p with |hits/count - p| <= z sqrt(p (1 - p) / count), by bisection."""
    if count == 0:
        return 0.0, 1.0
    z, share = NORMAL.inv_cdf(0.975), hits / count

    def edge(inside: float, outside: float) -> float:
        for _ in range(200):
            middle = (inside + outside) / 2
            if abs(share - middle) <= z * math.sqrt(middle * (1 - middle) / count):
                inside = middle
            else:
                outside = middle
        return inside

    return edge(share, 0.0), edge(share, 1.0)


class Change(NamedTuple):
    """A change point."""

    index: int
    before: float
    after: float
    p: float


def best_split(values: Sequence[float]) -> Tuple[float, int]:
    """The largest z of all splits with 5 values a side, and where; z is 0 if there is none."""
    n = len(values)
    ties = sum(values.count(value) ** 3 - values.count(value) for value in set(values))
    best = (0.0, 0)
    for at in range(5, n - 4):
        variance = at * (n - at) / 12 * (n + 1 - ties / (n * (n - 1)))
        off = max(abs(pairs_won(values[:at], values[at:]) - at * (n - at) / 2) - 0.5, 0)
        z = off / math.sqrt(variance) if variance > 0 else 0.0
        if z > best[0] + 1e-12:
            best = (z, at)
    return best


def changes(values: Sequence[float]) -> List[Change]:
    """Binary segmentation, the most significant split first."""
    edges, found = [0, len(values)], {}
    while len(found) < 32:
        best: Tuple[float, int, float] = (0.0, 0, 1.0)
        for start, end in zip(edges, edges[1:]):
            part = list(values[start:end])
            z, at = best_split(part)
            if z <= best[0]:
                continue
            p = rank_test(part[:at], part[at:])[1] * (len(part) - 9)
            if p <= 0.01 and abs(median(part[:at]) - median(part[at:])) >= 0.05:
                best = (z, start + at, p)
        if best[0] == 0:
            break
        found[best[1]] = best[2]
        edges = sorted([*edges, best[1]])
    return [
        Change(at, median(values[start:at]), median(values[at:end]), found[at])
        for start, at, end in zip(edges, edges[1:], edges[2:])
    ]
