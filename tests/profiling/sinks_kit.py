"""The recorded run of tests/record/record_sinks.py."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any, Dict, List

from conftest import ROOT, Run, binary_path, run_command

ARCHIVE = ROOT / "tests" / "artefacts" / "sinks" / "run.tar.gz"


def unpack(target: Path, *names: str) -> Path:
    """The event log and the files whose names begin so; all without names."""
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            if file and (not names or entry.name.startswith((*names, "app-"))):
                path = target / entry.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
    return target


def sql_run(folder: Path, statement: str = "SELECT count(*) FROM points") -> Run:
    return run_command([str(binary_path()), "sql", str(folder), statement, "--format", "json"])


def sql(folder: Path, statement: str) -> List[Dict[str, Any]]:
    run = sql_run(folder, statement)
    assert run.exit == 0, run.explain()
    return json.loads(run.out)


def report(folder: Path) -> Any:
    run = run_command([str(binary_path()), "diagnose", str(folder), "--format", "json"])
    assert run.exit == 0, run.explain()
    return run.json
