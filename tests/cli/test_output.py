"""Output is complete or the exit status says otherwise; colors, width and progress only on terminals."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import stat
import struct
import subprocess
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest
from conftest import default_signals

from cli_command import Command, log, pyrometer  # noqa: F401 (fixtures)

ESCAPE = "\x1b["


def on_terminal(
    pyrometer: Command, words: list[object], columns: int = 100, **environment: str
) -> tuple[int, str]:
    """Run with standard output on a terminal; its exit status and what appeared there."""
    main, side = pty.openpty()
    ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [pyrometer.binary, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=side,
        stderr=subprocess.DEVNULL,
        env={**pyrometer.environment, **environment},
    )
    os.close(side)
    shown = read_all(main)
    os.close(main)
    return process.wait(timeout=60), shown


def read_all(descriptor: int) -> str:
    """What a terminal got until its other side was closed."""
    data = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""
        if not part:
            return data.decode("utf-8")
        data += part


def test_file_is_the_same_as_standard_output(pyrometer: Command, log: Path) -> None:
    run = pyrometer("diagnose", log, "--format", "json", "-o", "report.json")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (pyrometer.folder / "report.json").read_text() == pyrometer("diagnose", log, "--format=json").stdout
    assert os.listdir(pyrometer.folder) == ["report.json"]


def test_a_new_file_gets_the_usual_permissions_and_an_old_one_keeps_its(pyrometer: Command, log: Path) -> None:
    report = pyrometer.folder / "report"
    mask = os.umask(0o027)
    try:
        pyrometer("diagnose", log, "-o", report)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
    report.chmod(0o604)
    pyrometer("diagnose", log, "-o", report)
    assert stat.S_IMODE(report.stat().st_mode) == 0o604


def test_a_link_stays_and_its_target_is_replaced(pyrometer: Command, log: Path) -> None:
    target, link = pyrometer.folder / "target", pyrometer.folder / "link"
    target.write_text("old")
    link.symlink_to(target)
    assert pyrometer("diagnose", log, "-o", link).returncode == 0
    assert link.is_symlink()
    assert target.read_text() != "old"


def test_a_failed_run_leaves_the_old_file(pyrometer: Command) -> None:
    report = pyrometer.folder / "report"
    report.write_text("old")
    assert pyrometer("diagnose", "missing", "-o", report).returncode == 3
    assert report.read_text() == "old"
    assert os.listdir(pyrometer.folder) == ["report"]


@pytest.mark.parametrize("words", [["-o", "/dev/full"], ["--format", "json", "--output=/dev/full"]])
def test_full_disk(pyrometer: Command, log: Path, words: list[str]) -> None:
    run = pyrometer("diagnose", log, *words)
    assert run.returncode == 4
    assert run.stderr == "pyrometer: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize("words", [["help"], ["rules"], ["man"], ["version"], ["doctor"], ["completions", "bash"]])
def test_full_disk_behind_standard_output(pyrometer: Command, words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        run = pyrometer(*words, stdout=full)
    assert run.returncode == 4
    assert run.stderr == "pyrometer: cannot write standard output: No space left on device\n"


@pytest.mark.parametrize("target", [".", "no/such/folder/report", ""])
def test_output_that_cannot_be(pyrometer: Command, log: Path, target: str) -> None:
    run = pyrometer("diagnose", log, "-o", target)
    assert run.returncode == 4
    assert run.stderr.startswith("pyrometer: cannot write ")
    assert len(run.stderr.splitlines()) == 1


def test_a_reader_that_goes_away(pyrometer: Command, log: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = pyrometer("diagnose", log, stdout=writing)
    os.close(writing)
    assert run.returncode == 4
    assert run.stderr == "pyrometer: cannot write standard output: Broken pipe\n"


def test_closed_standard_output(pyrometer: Command, log: Path) -> None:
    script = f"exec '{pyrometer.binary}' diagnose '{log}' >&-"
    run = subprocess.run(["sh", "-c", script], env=pyrometer.environment, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 4


def test_colours_on_a_terminal_only(pyrometer: Command, log: Path) -> None:
    assert ESCAPE not in pyrometer("diagnose", log).stdout
    assert ESCAPE in pyrometer("diagnose", log, "--color", "always").stdout
    status, shown = on_terminal(pyrometer, ["diagnose", log])
    assert status == 0
    assert ESCAPE in shown
    assert ESCAPE not in on_terminal(pyrometer, ["diagnose", log], NO_COLOR="1")[1]
    assert ESCAPE not in on_terminal(pyrometer, ["diagnose", log], TERM="dumb")[1]
    assert ESCAPE not in on_terminal(pyrometer, ["diagnose", log, "--color=never"])[1]
    assert ESCAPE in on_terminal(pyrometer, ["diagnose", log, "--color=always"], NO_COLOR="1")[1]


@pytest.mark.parametrize(("columns", "limit"), [(40, 80), (100, 100), (300, 120)])
def test_text_fits_the_terminal(pyrometer: Command, log: Path, columns: int, limit: int) -> None:
    shown = on_terminal(pyrometer, ["diagnose", log, "--color=never"], columns)[1]
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= limit


def test_progress_appears_on_a_terminal_and_is_erased(pyrometer: Command, log: Path) -> None:
    main, side = pty.openpty()
    ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        [pyrometer.binary, "diagnose", "-", "--format", "json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=side,
        env=pyrometer.environment,
    )
    os.close(side)
    assert process.stdin is not None and process.stdout is not None
    data = log.read_bytes()
    cut = len(data) // 4
    for part in range(4):
        process.stdin.write(data[part * cut : (part + 1) * cut if part < 3 else None])
        process.stdin.flush()
        time.sleep(0.3)
    process.stdin.close()
    report = process.stdout.read()
    shown = read_all(main)
    os.close(main)
    assert process.wait(timeout=60) == 0
    assert json.loads(report)["schema"] == "pyrometer.report/1"
    assert "reading: " in shown
    assert shown.endswith("\r\x1b[K")
    assert shown.count("\r") < 30


def test_no_progress_elsewhere(pyrometer: Command, log: Path) -> None:
    assert pyrometer("diagnose", log).stderr == ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)])
def test_ctrl_c_leaves_nothing(pyrometer: Command, log: Path, number: signal.Signals, status: int) -> None:
    process = subprocess.Popen(
        [pyrometer.binary, "diagnose", "-", "-o", "report"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=pyrometer.folder,
        env=pyrometer.environment,
        preexec_fn=default_signals,
    )
    assert process.stdin is not None
    process.stdin.write(log.read_bytes()[:100_000])
    process.stdin.flush()
    wait_for_file(pyrometer.folder)
    process.send_signal(number)
    time.sleep(0.2)
    try:
        process.stdin.write(log.read_bytes()[100_000:])
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(timeout=60) == status
    assert os.listdir(pyrometer.folder) == []


def test_a_second_ctrl_c_ends_at_once(pyrometer: Command) -> None:
    process = subprocess.Popen(
        [pyrometer.binary, "diagnose", "-", "-o", "report"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=pyrometer.folder,
        env=pyrometer.environment,
        preexec_fn=default_signals,
    )
    wait_for_file(pyrometer.folder)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert os.listdir(pyrometer.folder) == []


def test_ctrl_c_does_not_wait_for_a_silent_pipe(pyrometer: Command) -> None:
    process = subprocess.Popen(
        [pyrometer.binary, "diagnose", "-", "-o", "report"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=pyrometer.folder,
        env=pyrometer.environment,
        preexec_fn=default_signals,
    )
    wait_for_file(pyrometer.folder)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert os.listdir(pyrometer.folder) == []


def wait_for_file(folder: Path) -> None:
    """Until the command has begun its output."""
    for _ in range(200):
        if os.listdir(folder):
            time.sleep(0.2)
            return
        select.select([], [], [], 0.05)
    pytest.fail("the command began no output")
