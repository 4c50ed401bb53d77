"""The command under test, and fixtures: the command and small real logs. Test modules import what they use."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("PYROMETER_BINARY", ROOT / "build" / "pyrometer"))


class Command:
    """Runs the command as a user would, with a plain environment."""

    def __init__(self, folder: Path) -> None:
        self.binary = str(BINARY)
        self.folder = folder
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("ASAN_", "UBSAN_", "LD_"))}
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TERM": "xterm", "LC_ALL": "C.UTF-8", **kept}

    def __call__(self, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run it to its end; standard input is empty unless given."""
        settings: dict[str, object] = {
            "capture_output": True,
            "text": True,
            "timeout": 120,
            "cwd": self.folder,
            "env": self.environment,
            **options,
        }
        if "stdin" not in settings and "input" not in settings:
            settings["stdin"] = subprocess.DEVNULL
        if "stdout" in settings or "stderr" in settings:
            settings.pop("capture_output")
            settings.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([self.binary, *map(str, arguments)], check=False, **settings)  # type: ignore[call-overload]


@pytest.fixture
def pyrometer(tmp_path: Path) -> Command:
    """The command, run in a folder of its own."""
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is missing; ./dev build makes it")
    return Command(tmp_path)


@pytest.fixture(scope="session")
def log() -> Path:
    """A small real log, plain."""
    return next((ROOT / "tests" / "logs" / "codecs" / "uncompressed-single").iterdir())


@pytest.fixture(scope="session")
def compressed_log() -> Path:
    """The log that ./dev demo shows."""
    return ROOT / "corpus" / "logs" / "data_skew.zst"


def verbs() -> list[str]:
    """Every verb of verbs.def."""
    text = (ROOT / "src" / "cli" / "verbs.def").read_text(encoding="utf-8")
    return [line.split("(")[1].split(",")[0] for line in text.splitlines() if line.startswith("VERB(")]
