"""What all tests share: the binary, the logs at hand, and a summary of everything that was skipped and why.

Environment:
    PYROMETER_BINARY       the command to test (default build/pyrometer)
    PYROMETER_EXTRA_LOGS   a folder of more event logs to compare against the oracle
    PYROMETER_SPARK_TESTS  Spark's own test resources, unpacked: spark-core_2.12:3.5.6:tests
    PYROMETER_STOPWATCH    phil_stopwatch's recorded data (analytics/data), to compare flame graphs with its own
    PYROMETER_TRACES       traces that others recorded with LTTng, to compare with babeltrace2
    PYROMETER_CACHE        where downloads are kept (default .cache/ in the project)
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
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
import oracle  # noqa: E402
from application import Application, read_application  # noqa: E402

SPARK_TESTS_ARTIFACT = "org.apache.spark:spark-core_2.12:3.5.6:jar:tests"
pytest_plugins = ["servers.shared", "servers.watched"]  # fixtures: servers and runs of the whole suite
NOT_LOGS = {".md", ".tsv", ".txt", ".py", ".json", ".sh"}
SANITIZERS = bool({"ASAN_OPTIONS", "TSAN_OPTIONS"} & set(os.environ))
TIME_LIMIT_S = 60.0 if SANITIZERS else 20.0  # of what hangs


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", type=int, default=1, metavar="N", help="of what is checked for each log, every N-th log")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: real Spark or many seconds of work; left out of ./dev check and under sanitizers")
    config.addinivalue_line("markers", "server: starts a server or a browser; left out of ./dev check")
    config.addinivalue_line("markers", "every_log: repeats a check for each log at hand; ./dev check takes a sample")
    config.addinivalue_line("markers", "sanitize: run once more under the sanitizers, since it may break memory")


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


def default_signals() -> None:
    """For processes that tests send signals to: what runs in the background passes on that it ignores some."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def binary_path() -> Path:
    return Path(os.environ.get("PYROMETER_BINARY") or ROOT / "build" / "pyrometer")


@lru_cache(maxsize=64)
def unpacked(page: str) -> str:
    """An HTML report, its compressed documents as the JSON that they are."""

    def plain(match: Any) -> str:
        return gzip.decompress(base64.b64decode(match.group(1))).decode()

    return re.sub(r'\{"gzip": "([A-Za-z0-9+/=]+)"\}', plain, page)


def run_on_log(log: Path, verb: str = "diagnose", form: str = "json", threads: int = 0) -> Run:
    """The command on a log that no test changes, run once for all tests of a group (see pytest_collection_modifyitems)."""
    words = ["--threads", str(threads)] if threads else []
    return run_command([str(binary_path()), verb, "--format", form, *words, str(log)])


@lru_cache(maxsize=8)
def applications_of(log: Path) -> List[Application]:
    """A log that no test changes as the oracle reads it, one application for each log at the path."""
    return [read_application(one) for one in logfiles.find_logs(log)]


@lru_cache(maxsize=8)
def oracle_reports_of(log: Path) -> List[Dict[str, Any]]:
    return [oracle.report(application) for application in applications_of(log)]


@lru_cache(maxsize=8)
def lines_of(log: Path) -> Tuple[bytes, ...]:
    """The lines of a log that is one application."""
    (one,) = logfiles.find_logs(log)
    return tuple(line for part in one.parts for line in logfiles.plain_bytes(part)[0].splitlines())


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


def of_log(name: str) -> pytest.MarkDecorator:
    """Tests of one log run on one worker, so that they share what the command and the oracle say of it."""
    return pytest.mark.xdist_group(f"log {name}")


def corpus_logs(names: Optional[Sequence[str]] = None) -> List[Any]:
    """Parameters of a test that runs once for each log of the corpus, or for those named."""
    found = {path.stem: path for path in sorted((ROOT / "corpus" / "logs").glob("*.zst"))}
    return [
        pytest.param(found[name], id=name, marks=[of_log(f"corpus/{name}.zst"), pytest.mark.every_log])
        for name in (found if names is None else names)
    ]


def all_logs() -> List[Any]:
    """Parameters of a test that runs once for each log; absent sources become one skipped test each."""
    parameters: List[Any] = []

    def add(prefix: str, root: Path) -> None:
        for path in log_paths(root):
            name = f"{prefix}/{path.relative_to(root)}"
            parameters.append(pytest.param(path, id=name, marks=[of_log(name), pytest.mark.every_log]))

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


# What may break memory: the command's own paths. What checks documents, formulas and the oracle says nothing about it.
EVERY_FORMAT = "e2e/test_formats.py"
SANITIZED = ("cli/", "crawl/", "mcp/", "serve/", "remote/", "e2e/test_hostile.py", "e2e/test_tables.py", "e2e/test_zip_members.py")
SERVERS = ("crawl/", "faults/", "mcp/", "remote/", "serve/", "servers/", "soak/", "web/")


@pytest.hookimpl(tryfirst=True)  # before xdist adds the group to the name
def pytest_collection_modifyitems(config: pytest.Config, items: List[pytest.Item]) -> None:
    """Marks by folder, and a group for each test: those of a log, or else of its file, which share servers and folders.

    Groups that take long come first, so that at the end no worker waits for another.
    """
    for item in items:
        path = item.path.relative_to(ROOT / "tests").as_posix()
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(path))
        if path.startswith(SERVERS):
            item.add_marker(pytest.mark.server)
        if path == EVERY_FORMAT or path.startswith(SANITIZED) and not marked(item, "slow", "every_log"):
            item.add_marker(pytest.mark.sanitize)

    def rank(item: pytest.Item) -> int:
        return 0 if marked(item, "slow") else 2 if marked(item, "every_log") else 1

    ranks: Dict[str, int] = {}
    first: Dict[str, int] = {}
    for at, item in enumerate(items):
        group = group_of(item)
        ranks[group] = min(ranks.get(group, 2), rank(item))
        first.setdefault(group, at)
    items.sort(key=lambda item: (ranks[group_of(item)], first[group_of(item)]))
    leave_out(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Without their groups tests would pass too, but every worker would start every server."""
    if getattr(session.config.option, "loadgroup", False):
        lost = [item.nodeid for item in session.items if not item.nodeid.endswith(f"@{group_of(item)}")]
        if lost:
            raise pytest.UsageError(f"pytest-xdist does not see the group of {lost[0]}: see tests/requirements.txt")


def leave_out(config: pytest.Config, items: List[pytest.Item]) -> None:
    """With --sample N, of the checks that are repeated for each log those of every N-th log only."""
    every = config.getoption("--sample")
    repeated = [item for item in items if marked(item, "every_log")]
    kept = set(sorted({group_of(item) for item in repeated})[::every])
    out = [item for item in repeated if group_of(item) not in kept]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in set(out)]


def marked(item: pytest.Item, *names: str) -> bool:
    return any(item.get_closest_marker(name) is not None for name in names)


def group_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    assert marker is not None
    return str(marker.args[0])


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
