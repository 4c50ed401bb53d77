"""What a command costs grows with its input: twice as much of one thing takes at most 2.4 times the instructions.

callgrind counts them, so that neither load nor clock matters. With PYROMETER_GROWTH_ALL all is ten times as much, and each
kind of event of the decoder's table is doubled alone, the same event and different ones.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import pytest

import conftest

sys.path[:0] = [str(Path(__file__).parent), str(conftest.ROOT / "bench")]

import growing  # noqa: E402
import instructions  # noqa: E402

MOST = 2.4
ALL = "PYROMETER_GROWTH_ALL" in os.environ
SIZE = 2000 if ALL else 200
DIAGNOSE = ["diagnose", "--config", "none", "--format", "json", "--threads", "1", "INPUT"]
CRAWL = ["crawl", "--once", "--jobs", "1", "--store", "sqlite:STORE", "INPUT"]
ERRORS = ["logs", "errors", "--format", "json", "INPUT"]
THINGS: Dict[str, Tuple[Callable[[int], bytes], List[str]]] = {
    "expressions": (growing.expressions, DIAGNOSE),
    "parts of a name": (growing.name_with_parts, CRAWL),
    "members of an object": (growing.members, DIAGNOSE),
    "frames of a failure": (growing.frames, DIAGNOSE),
    "errors": (growing.errors, ERRORS),
    "lines of a record": (growing.lines_of_one_record, ERRORS),
    "templates": (growing.errors, ["logs", "top", "--format", "json", "INPUT"]),
    "collections": (growing.collections, ["profile", "--format", "json", "INPUT"]),
    "stacks": (growing.stacks, ["flame", "INPUT", "-o", "OUT.folded"]),
    "deep stacks": (growing.deep_stack, ["flame", "INPUT", "-o", "OUT.svg"]),
}

pytestmark = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts the instructions")


def count(make: Callable[[int], bytes], words: List[str], size: int, folder: Path) -> int:
    folder.mkdir()
    (folder / "input").write_bytes(make(size))
    names = {"INPUT": folder / "input", "STORE": folder / "runs.db", "OUT": folder / "out"}
    given = [re.sub("INPUT|STORE|OUT", lambda found: str(names[found.group()]), word) for word in words]
    out = folder / "callgrind.out"
    done = subprocess.run(instructions.counting([str(conftest.binary_path()), *given], out), capture_output=True, timeout=600, check=False)
    assert done.returncode in (0, 3), done.stderr[-2000:]
    return instructions.counted(out)


def check(make: Callable[[int], bytes], words: List[str], size: int, folder: Path) -> None:
    """Less what the command costs with almost no input of the same kind."""
    least, once, twice = (count(make, words, number, folder / str(number)) for number in (1, size, 2 * size))
    assert twice - least <= MOST * (once - least), f"{once - least} instructions for {size}, {twice - least} for twice as many"


@pytest.mark.parametrize("name", THINGS)
def test_each_thing(name: str, tmp_path: Path) -> None:
    make, words = THINGS[name]
    # A store's own work differs from run to run: there must be more of the rest.
    check(make, words, 10 * SIZE if words is CRAWL else SIZE, tmp_path)


if ALL:

    @pytest.mark.slow
    @pytest.mark.parametrize("verb", [DIAGNOSE, CRAWL], ids=lambda words: words[0])
    @pytest.mark.parametrize("different", [False, True], ids=lambda chosen: "different" if chosen else "same")
    @pytest.mark.parametrize("event", growing.decoded())
    def test_each_event(event: str, different: bool, verb: List[str], tmp_path: Path) -> None:
        check(growing.of_event(event, different), verb, SIZE, tmp_path)


def test_every_event_has_a_sample() -> None:
    assert set(growing.samples()) == set(growing.decoded())
