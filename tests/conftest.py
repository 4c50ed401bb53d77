"""What all tests share: the binary, the logs at hand, and a summary of everything that was skipped and why.

Environment:
    PYROMETER_BINARY       the command to test (default build/pyrometer)
    PYROMETER_EXTRA_LOGS   a folder of more event logs to compare against the oracle
    PYROMETER_SPARK_TESTS  Spark's own test resources, unpacked: spark-core_2.12:3.5.6:tests
    PYROMETER_CACHE        where downloads are kept (default .cache/ in the project)
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import logfiles  # noqa: E402

SPARK_TESTS_ARTIFACT = "org.apache.spark:spark-core_2.12:3.5.6:jar:tests"
NOT_LOGS = {".md", ".tsv", ".txt", ".py", ".json", ".sh"}
TIME_LIMIT_S = 20.0


class Run(NamedTuple):
    """One run of the command."""

    arguments: List[str]
    exit: int  # negative: ended by this signal
    out: bytes
    err: bytes
    rss_bytes: int
    seconds: float
    timed_out: bool

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def explain(self) -> str:
        end = "was stopped by the time limit" if self.timed_out else f"exit {self.exit}"
        return (
            f"{' '.join(self.arguments)}: {end} after {self.seconds:.2f} s, "
            f"{self.rss_bytes >> 20} MiB; stderr: {self.err[:400]!r}"
        )


class Spawner:
    """The small process that starts commands; see tests/e2e/spawner.py."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="pyrometer-tests-")
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(ROOT / "tests" / "e2e" / "spawner.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: Sequence[str], limit_s: float) -> Run:
        assert self.process.stdin is not None and self.process.stdout is not None
        out, err = Path(self.folder.name) / "out", Path(self.folder.name) / "err"
        request = {"arguments": list(arguments), "out": str(out), "err": str(err), "limit_s": limit_s}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise OSError(answer["error"])
        return Run(arguments=list(arguments), out=out.read_bytes(), err=err.read_bytes(), **answer)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.folder.cleanup()


@lru_cache(maxsize=None)
def spawner() -> Spawner:
    return Spawner()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of ./dev check and of the sanitizers' run")


def pytest_unconfigure() -> None:
    if spawner.cache_info().currsize:
        spawner().close()


def run_command(arguments: Sequence[str], stdin: Optional[Any] = None, limit_s: float = TIME_LIMIT_S) -> Run:
    """Runs a command to its end. With a standard input of its own (an open file) its memory is not measured."""
    if stdin is None:
        return spawner().run(arguments, limit_s)
    began = time.monotonic()
    process = subprocess.Popen(arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    timed_out = False
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        process.kill()
        out, err = process.communicate()
    return Run(list(arguments), process.returncode, out, err, 0, time.monotonic() - began, timed_out)


def binary_path() -> Path:
    return Path(os.environ.get("PYROMETER_BINARY") or ROOT / "build" / "pyrometer")


@pytest.fixture(scope="session")
def binary() -> str:
    path = binary_path()
    if not path.is_file():
        pytest.fail(f"{path} is missing; build it ('./dev build') or set PYROMETER_BINARY", pytrace=False)
    return str(path.resolve())


@pytest.fixture(scope="session")
def diagnose(binary: str) -> Any:
    def run(*arguments: Any, stdin: Optional[Any] = None) -> Run:
        return run_command([binary, "diagnose", "--format", "json", *map(str, arguments)], stdin)

    return run


# ---- logs at hand -----------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    return Path(os.environ.get("PYROMETER_CACHE") or ROOT / ".cache")


@lru_cache(maxsize=None)
def spark_tests() -> Tuple[Optional[Path], str]:
    """Spark's unpacked test resources, or the reason why there are none."""
    given = os.environ.get("PYROMETER_SPARK_TESTS")
    if given:
        folder = Path(given)
        return (folder, "") if (folder / "spark-events").is_dir() else (None, f"no spark-events in {folder}")
    folder = cache_folder() / "spark-tests"
    if (folder / "complete").exists():
        return folder, ""
    maven = shutil.which("mvn")
    if not maven:
        return None, "Spark's test logs: PYROMETER_SPARK_TESTS is not set and there is no mvn to download them"
    folder.mkdir(parents=True, exist_ok=True)
    options = [f"-Dartifact={SPARK_TESTS_ARTIFACT}", f"-DoutputDirectory={folder}"]
    command = [maven, "-q", "-B", "dependency:copy", *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=300, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return None, "Spark's test logs: mvn took more than 300 s"
    jars = sorted(folder.glob("spark-core_*-tests.jar"))
    if done.returncode != 0 or not jars:
        return None, f"Spark's test logs: mvn could not download {SPARK_TESTS_ARTIFACT}"
    with zipfile.ZipFile(jars[0]) as jar:
        wanted = [name for name in jar.namelist() if name.startswith(("spark-events", "HistoryServerExpectations"))]
        jar.extractall(folder, wanted)
    jars[0].unlink()
    (folder / "complete").touch()
    return folder, ""


def log_paths(root: Path) -> List[Path]:
    """Every log below a folder: files, folders that are one log, zip archives."""
    if root.is_file():
        return [] if root.suffix in NOT_LOGS or logfiles.is_ignored(root.name) else [root]
    if not root.is_dir():
        return []
    names = sorted(os.listdir(root))
    if logfiles.ordered_parts([name for name in names if (root / name).is_file()]):
        return [root]
    return [path for name in names for path in log_paths(root / name)]


def all_logs() -> List[Any]:
    """Parameters of a test that runs once for each log; absent sources become one skipped test each."""
    parameters: List[Any] = []

    def add(prefix: str, root: Path) -> None:
        for path in log_paths(root):
            parameters.append(pytest.param(path, id=f"{prefix}/{path.relative_to(root)}"))

    def absent(name: str, reason: str) -> None:
        parameters.append(pytest.param(None, id=name, marks=pytest.mark.skip(reason=reason)))

    add("tests", ROOT / "tests" / "logs")
    add("corpus", ROOT / "corpus" / "logs")
    extra = os.environ.get("PYROMETER_EXTRA_LOGS")
    if extra:
        add("extra", Path(extra))
    else:
        absent("extra", "PYROMETER_EXTRA_LOGS is not set")
    spark, reason = spark_tests()
    if spark:
        add("spark", spark / "spark-events")
        add("spark-broken", spark / "spark-events-broken")
    else:
        absent("spark", reason)
    return parameters


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "log_path" in metafunc.fixturenames:
        metafunc.parametrize("log_path", all_logs())


@pytest.fixture(scope="session")
def spark_folder() -> Path:
    folder, reason = spark_tests()
    if folder is None:
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def small_log() -> Path:
    """A plain log of one small application: the raw material of damage."""
    found = [path for path in log_paths(ROOT / "tests" / "logs" / "codecs" / "uncompressed-single") if path.is_file()]
    if not found:
        pytest.skip("tests/logs/codecs/uncompressed-single holds no log")
    return found[0]


# ---- summary ----------------------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped: Dict[str, List[str]] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        skipped.setdefault(reason.replace("Skipped: ", "", 1), []).append(report.nodeid)
    if skipped:
        terminalreporter.section("skipped, and why")
        for reason, tests in sorted(skipped.items()):
            terminalreporter.write_line(f"{len(tests)} x {reason}")
            for test in tests:
                terminalreporter.write_line(f"    {test}")


def name_of_signal(exit_code: int) -> str:
    return signal.Signals(-exit_code).name if exit_code < 0 else str(exit_code)
