"""The rule logged-errors: waits, errors and warnings of text logs that no event has."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest
import zstandard
from conftest import ROOT, run_on_log

LIMITED = ROOT / "corpus" / "riddles" / "logs" / "limited"


def findings(folder: Path) -> List[Dict[str, Any]]:
    run = run_on_log(folder)
    assert run.exit == 0, run.explain()
    return [one for one in run.json["findings"] if one["rule"] == "logged-errors"]


def evidence(finding: Dict[str, Any]) -> Dict[str, float]:
    return {one["metric"]: one["value"] for one in finding["evidence"]}


def text_of(path: Path) -> str:
    with open(path, "rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8")


def with_lines(tmp_path: Path, lines: List[str]) -> Path:
    """The repaired run, whose first executor logs some more lines after its last one."""
    folder = tmp_path / "run"
    shutil.copytree(LIMITED / "repaired", folder)
    (log,) = folder.glob("work/*/0/stderr.zst")
    text = text_of(log)
    at = re.findall(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d", text, re.M)[-1]
    log.write_bytes(zstandard.compress((text + "".join(f"{at} {line}\n" for line in lines)).encode()))
    return folder


@pytest.fixture(autouse=True)
def recorded() -> None:
    if not LIMITED.is_dir():
        pytest.skip("the riddles are not recorded: python3 corpus/riddles/record.py")


def test_waits_are_those_that_the_logs_name() -> None:
    (finding,) = findings(LIMITED / "faulty")
    logs = "".join(text_of(path) for path in (LIMITED / "faulty").glob("work/*/*/stderr.zst"))
    waits = [float(one) for one in re.findall(r"Retrying \S+ in (\S+) seconds", logs)]
    said = evidence(finding)
    assert len(waits) > 50
    assert said["waits"] == len(waits)
    assert said["logged_wait_ms"] == pytest.approx(1000 * sum(waits))
    assert 0.9 * said["logged_wait_ms"] < said["task_wait_ms"] <= said["logged_wait_ms"]
    assert said["waiting_tasks"] == 8


def test_without_such_lines_it_is_silent(tmp_path: Path) -> None:
    assert not findings(with_lines(tmp_path, []))


@pytest.mark.parametrize("count", [2, 3])
def test_errors_that_go_on_count_from_three(tmp_path: Path, count: int) -> None:
    lines = [f"ERROR PriceClient: The price of order {100 + i} is unknown" for i in range(count)]
    found = findings(with_lines(tmp_path, lines))
    assert [evidence(one)["messages"] for one in found] == ([count] if count >= 3 else [])
    assert all("no event reports" in one["cause"] and one["saves"]["wall_ms"]["high"] == 0 for one in found)


@pytest.mark.parametrize("count", [99, 100])
def test_warnings_count_from_a_hundred(tmp_path: Path, count: int) -> None:
    lines = [f"WARN PriceClient: Order {1000 + i} has no price" for i in range(count)]
    found = findings(with_lines(tmp_path, lines))
    assert [evidence(one)["messages"] for one in found] == ([count] if count >= 100 else [])


def test_a_wait_in_milliseconds_of_sparks_own_client(tmp_path: Path) -> None:
    line = "INFO RetryingBlockTransferor: Retrying fetch (1/3) for 2 outstanding blocks after 5000 ms"
    log = with_lines(tmp_path, [])
    (stderr,) = log.glob("work/*/0/stderr.zst")
    text = text_of(stderr)
    first = re.search(r"^(\S+ \S+) .*Running task.*$", text, re.M)
    assert first
    text = text.replace(first.group(), f"{first.group()}\n{first.group(1)} {line}", 1)
    stderr.write_bytes(zstandard.compress(text.encode()))
    (finding,) = findings(log)
    said = evidence(finding)
    assert (said["waits"], said["logged_wait_ms"]) == (1, 5000)
    assert 0 < said["task_wait_ms"] <= 5000
