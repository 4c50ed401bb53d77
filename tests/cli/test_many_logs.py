"""Many logs in one call: the number of threads does not show, nor which log is read first."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_command import ROOT, Command, compressed_log, log, pyrometer  # noqa: F401 (fixtures)


def many(folder: Path) -> list[Path]:
    """A dozen logs of different sizes; some cannot be read."""
    bad = folder / "bad.log"
    bad.write_text("not a log\n" * 1000, encoding="utf-8")
    empty = folder / "empty.log"
    empty.touch()
    logs = sorted((ROOT / "corpus" / "logs").glob("*.zst"))[:8]
    return [logs[0], bad, *logs[1:4], folder / "missing", empty, *logs[4:], bad]


@pytest.mark.parametrize("arguments", [["diagnose", "-f", "json"], ["diagnose"], ["cost", "-f", "json"]])
def test_threads_do_not_show(pyrometer: Command, tmp_path: Path, arguments: list[str]) -> None:
    logs = many(tmp_path)
    runs = [pyrometer(*arguments, *logs, "--threads", threads) for threads in (1, 2, 7, 32)]
    assert runs[0].returncode == 0
    for run in runs[1:]:
        assert (run.returncode, run.stdout, run.stderr) == (0, runs[0].stdout, runs[0].stderr)


def test_none_can_be_read(pyrometer: Command, tmp_path: Path) -> None:
    bad = many(tmp_path)[1]
    runs = [pyrometer("diagnose", bad, bad, bad, "--threads", threads) for threads in (1, 3)]
    assert runs[0].returncode == 3
    assert "cannot read any of the 3 inputs" in runs[0].stderr
    assert (runs[1].returncode, runs[1].stdout, runs[1].stderr) == (3, runs[0].stdout, runs[0].stderr)
