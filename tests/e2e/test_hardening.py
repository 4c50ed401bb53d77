"""What a release build and its service are hardened with."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import conftest

SERVICE = conftest.ROOT / "deploy" / "pyrometer.service"


def readelf(option: str) -> str:
    if not shutil.which("readelf"):
        pytest.skip("readelf is not installed (binutils)")
    command = ["readelf", "-W", option, str(conftest.binary_path())]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_addresses_are_drawn_at_each_start() -> None:
    assert re.search(r"Type:\s+DYN ", readelf("-h"))
    assert "PIE" in readelf("-d")


def test_tables_are_read_only_once_linked() -> None:
    dynamic, headers = readelf("-d"), readelf("-l")
    assert "BIND_NOW" in dynamic and "GNU_RELRO" in headers
    assert re.search(r"GNU_STACK\s.*\sRW\s", headers)
    assert not re.search(r"LOAD\s.*\sRWE\s", headers)
    assert "TEXTREL" not in dynamic and "RPATH" not in dynamic and "RUNPATH" not in dynamic


def test_stack_and_buffers_are_checked() -> None:
    symbols = readelf("--dyn-syms")
    if "__asan_init" in symbols or "__ubsan" in symbols:
        pytest.skip("a sanitizer checks more")
    assert "__stack_chk_fail" in symbols
    assert len(set(re.findall(r"\b__\w+_chk\b", symbols)) - {"__stack_chk_fail"}) > 3  # FORTIFY's


def test_the_service_is_in_a_sandbox() -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed (systemd)")
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(SERVICE)]
    run = subprocess.run(command, capture_output=True, text=True)
    if "offline" in run.stderr:
        pytest.skip("this systemd-analyze cannot look at files")
    found = re.search(r"Overall exposure level for pyrometer\.service: ([0-9.]+)", run.stdout)
    assert found and float(found.group(1)) < 2.0, run.stdout + run.stderr


def test_the_service_has_options_that_there_are() -> None:
    line = next(line for line in SERVICE.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart="))
    shown = conftest.run_command([str(conftest.binary_path()), "serve", "--help"]).out.decode()
    options = re.findall(r"--[a-z-]+", line)
    assert options
    for option in options:
        assert f"{option} " in shown, option
