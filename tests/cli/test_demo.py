"""What ./dev demo shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from cli_command import BINARY, ROOT, Command, compressed_log, pyrometer  # noqa: F401 (fixtures)

DEV = ROOT / "dev"


def shown(binary: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the demo does once everything is built."""
    return subprocess.run(
        ["sh", "-c", '. "$0" >/dev/null; show_demo "$1" "$2"', str(DEV), "help", str(binary), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=ROOT,
    )


def test_the_demo_builds_what_build_builds() -> None:
    body = re.search(r"^cmd_demo\(\).*?^}", DEV.read_text(encoding="utf-8"), re.M | re.S)
    assert body
    assert "\n    cmd_build\n" in body.group()


def test_the_demo_prints_a_report_and_makes_a_page_of_it(
    pyrometer: Command, compressed_log: Path, tmp_path: Path  # noqa: F811
) -> None:
    run = shown(BINARY, tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == pyrometer("diagnose", compressed_log).stdout
    page = pyrometer("diagnose", "--format", "html", compressed_log.relative_to(ROOT), cwd=ROOT)
    if page.returncode == 0:
        assert (tmp_path / "demo.html").read_text(encoding="utf-8") == page.stdout
        assert f"open {tmp_path}/demo.html with a browser" in run.stderr
        assert f"'{BINARY} serve corpus/logs'" in run.stderr
    else:
        assert "no web UI" in run.stderr
