"""./dev bench waits for a quiet machine, and publishes nothing that a busy one measured."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import bench  # noqa: E402

PAGE = f"before\n{bench.DOCS_MARKS[0]}old\n{bench.DOCS_MARKS[1]}between\n{bench.SERVING_MARKS[0]}old\n{bench.SERVING_MARKS[1]}after\n"
TEXTS = {bench.DOCS_MARKS: "new\n", bench.SERVING_MARKS: "served\n"}


def test_a_quiet_machine_does_not_wait(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.wait_for_quiet(most_load=1e9, wait_s=3600) >= 0
    assert capsys.readouterr().err == ""


def test_a_busy_machine_waits_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    bench.wait_for_quiet(most_load=-1.0, wait_s=0.3)  # no machine is as quiet
    assert time.monotonic() - began >= 0.3
    said = capsys.readouterr().err
    assert "waiting up to" in said
    assert "not be good ones" in said


def test_the_usual_wait_is_ten_minutes_for_half_a_load() -> None:
    assert bench.parse_arguments([]).wait == 600
    assert bench.BUSY == 0.5


@pytest.mark.parametrize(("loads", "published"), [([0.2, 0.5], True), ([0.2, 0.6], False), ([3.0], False)])
def test_results_of_a_busy_machine_are_not_published(tmp_path: Path, loads: list[float], published: bool) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(PAGE)
    assert bench.publish(TEXTS, loads, page) == published
    assert page.read_text() == (PAGE.replace("old\n", "new\n", 1).replace("old\n", "served\n") if published else PAGE)
