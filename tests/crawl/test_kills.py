"""20 kills of two crawlers in each run of the tests, 200 in `./dev soak`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kills import disturb

KILLS = int(os.environ.get("PYROMETER_KILLS") or 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20260101, 20260101 + max(KILLS // 20, 1)))
def test_killed_crawlers_lose_nothing(seed: int, tmp_path: Path) -> None:
    disturb(tmp_path, kills=min(KILLS, 20), seed=seed)
