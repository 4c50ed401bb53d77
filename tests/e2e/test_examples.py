"""Programs of docs/examples, compiled as their readers do and run on what applications left behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, binary_path, run_command

EXAMPLES = ROOT / "docs" / "examples"
RUN = ROOT / "corpus" / "riddles" / "logs" / "slacker_jvm" / "faulty"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = binary_path().parent / "libpyrometer.so"
    compiler = shutil.which("cc")
    if compiler is None or not library.is_file():
        pytest.skip("there is no compiler, or no library beside the command")
    target = tmp_path_factory.mktemp("examples") / "run"
    command = [compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-pedantic", str(EXAMPLES / "run.c"), "-o", str(target)]
    command += [f"-I{ROOT / 'include'}", f"-L{library.parent}", "-lpyrometer", f"-Wl,-rpath,{library.parent}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "AddressSanitizer" in done.stderr or "__asan" in done.stderr or "__ubsan" in done.stderr or "__tsan" in done.stderr:
        pytest.skip("the library has sanitizers, which a program of its own has not")
    assert done.returncode == 0, done.stderr
    return str(target)


def test_from_the_application_to_its_logs_and_profiles(program: str, binary: str, tmp_path: Path) -> None:
    run = run_command([program, str(RUN)])
    assert run.exit == 0 and not run.err, run.explain()
    text = run.out.decode()
    name, logs, profiles = re.fullmatch(r"(?s)== (\S+)\n(.*?)== logs\n.*?== profiles\n(.*)", text).group(1, 2, 3)  # type: ignore[union-attr]
    assert name and "hot-method" in logs
    assert re.search(r"(?m)^jfr +[1-9]", text) and re.search(r"(?m)^text-log +[1-9]", text)
    folded = tmp_path / "x.folded"
    assert run_command([binary, "flame", str(RUN), "-o", str(folded)]).exit == 0
    assert profiles.endswith(folded.read_text())


def test_without_such_files(program: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "corpus" / "logs" / "data_skew.zst", tmp_path)
    run = run_command([program, str(tmp_path)])
    assert run.exit == 0 and b"data_skew" in run.out, run.explain()
    run = run_command([program, os.devnull])
    assert run.exit == 0 and not run.out


def test_the_documents_show_it() -> None:
    for page in ("api.md", "README.md"):
        assert "examples/run.c" in (ROOT / "docs" / page).read_text(encoding="utf-8")
