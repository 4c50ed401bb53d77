"""Each log once in each format: what the sanitizers see of logs and renderers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, run_on_log

FORMATS = re.findall(r"^PYRO_FORMAT\(\w+, (\w+)", (ROOT / "src" / "report" / "formats.def").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_or_one_line(log_path: Path, form: str) -> None:
    run = run_on_log(log_path, form=form)
    if form == "html" and b"this build has no web UI" in run.err:
        pytest.skip("this build has no web UI: no node, or no npm install in web/")
    if run.exit == 3:
        assert run.out == b"" and run.err.count(b"\n") == 1, run.explain()
        return
    assert run.exit == 0 and run.out and not run.err, run.explain()
