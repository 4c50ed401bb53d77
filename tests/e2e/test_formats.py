"""Each log once in each format, in one process: what the sanitizers see of logs and renderers."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT, binary_path, run_command

FORMATS = re.findall(r"^PYRO_FORMAT\(\w+, (\w+)", (ROOT / "src" / "report" / "formats.def").read_text(encoding="utf-8"), re.M)
# What nothing can be read from.
UNREADABLE = 3


def test_every_format(log_path: Path) -> None:
    program = binary_path().parent / "tests" / "e2e" / "every_format"
    run = run_command([str(program), str(log_path)], limit_s=120)
    assert run.exit in (0, UNREADABLE), run.explain()
    if run.exit == UNREADABLE:
        assert run.err, run.explain()
        return
    written = [line.split() for line in run.out.decode().splitlines()]
    assert written and len(written) % len(FORMATS) == 0, run.explain()
    assert [form for form, _ in written] == FORMATS * (len(written) // len(FORMATS))
    assert all(int(size) > 0 for form, size in written if form != "html"), run.explain()
