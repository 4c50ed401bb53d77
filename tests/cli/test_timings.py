"""--timings: the phases of a run, on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_command import Command, compressed_log, log, pyrometer  # noqa: F401 (fixtures)

OPEN = ["open"]
LOAD = ["load", "  read", "  decode", "  build", "finish", "analyze"]
DIAGNOSE = ["judge", "price", "recommend"]


def phases(stderr: str) -> dict[str, tuple[float, float, int]]:
    """Wall ms, CPU ms and threads of each phase, in the order of the table."""
    head, *rows, total, alone = stderr.splitlines()
    assert head.split() == ["phase", "wall", "ms", "CPU", "ms", "threads"]
    assert total.split()[0] == "total"
    assert alone.startswith("on one thread after the last byte: ")
    found = {row[:14].rstrip(): row[14:].split() for row in rows}
    return {name: (float(wall), float(cpu), int(threads)) for name, (wall, cpu, threads) in found.items()}


@pytest.mark.parametrize("threads", [1, 2])
def test_phases_of_a_diagnosis(pyrometer: Command, log: Path, threads: int) -> None:
    plain = pyrometer("diagnose", log, "--threads", threads)
    run = pyrometer("diagnose", log, "--threads", threads, "--timings")
    assert (run.returncode, run.stdout) == (0, plain.stdout)
    assert plain.stderr == ""
    assert list(phases(run.stderr)) == [*OPEN, *LOAD, *DIAGNOSE, "render"]
    assert all(count <= threads for _, _, count in phases(run.stderr).values())


def test_phases_of_several_logs_add_up(pyrometer: Command, log: Path, compressed_log: Path) -> None:
    run = pyrometer("diagnose", log, compressed_log, "missing", "--timings", "-f", "json")
    assert list(phases(run.stderr)) == [*OPEN, *LOAD, *DIAGNOSE, "render"]


def test_phases_of_logs_that_are_read_together_add_up(pyrometer: Command, log: Path, compressed_log: Path) -> None:
    run = pyrometer("diagnose", log, compressed_log, log, "--timings", "--threads", 4)
    assert list(phases(run.stderr)) == [*OPEN, *LOAD, *DIAGNOSE, "render"]


@pytest.mark.parametrize("verb", ["whatif", "cost", "sql"])
def test_other_verbs_that_load(pyrometer: Command, log: Path, verb: str) -> None:
    query = ["select count(*) from tasks"] if verb == "sql" else []
    run = pyrometer(verb, log, *query, "--timings")
    assert run.returncode == 0
    assert list(phases(run.stderr))[: len(OPEN + LOAD)] == OPEN + LOAD
