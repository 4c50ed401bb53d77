"""Real servers that are started once for the whole suite: History Servers over the logs that all their tests ask for,
OpenSearch, and YARN.

A test that uses one has its mark, `ON_SPARK_3`, `ON_SPARK_4`, `ON_OPENSEARCH` or `ON_YARN`: all of them then run on one
worker.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple, Sequence, Tuple, TypeVar

import conftest
import pytest

from servers import Unavailable, opensearch, spark, tls_proxy, yarn

ON_SPARK_3 = [pytest.mark.slow, pytest.mark.xdist_group("History Server 3")]
ON_SPARK_4 = [pytest.mark.slow, pytest.mark.xdist_group("History Server 4")]
ON_OPENSEARCH = [pytest.mark.slow, pytest.mark.xdist_group("OpenSearch")]
ON_YARN = [pytest.mark.slow, pytest.mark.xdist_group("YARN")]

# Corpus logs and folders of tests/logs. All endpoints of the first of these are compared (serve/test_differential.py).
COMPARED = (
    "healthy_sql", "healthy_stream", "healthy_cache", "speculation_waste", "executor_churn", "executor_lost",
    "job_failed_udf", "stage_retries", "oom_groups",
    "attempts", "blocks", "versions/spark-4.3.0-streaming", "inprogress/zstd-rolling", "codecs/lz4-single",
)
# Inputs of `diagnose` (remote/): each has what the others lack.
READ = ("data_skew", "disk_spill", "cached_tables", "stream_overrun", "healthy_rdd", "codecs/lz4-rolling")
READ_4 = ("data_skew", "executor_lost", "oom_groups", "versions")


Started = TypeVar("Started")


class History(NamedTuple):
    server: spark.HistoryServer
    folder: Path
    logs: Dict[str, Path]  # in the folder, by the name of the log in the corpus or below tests/logs


def gather(folder: Path, logs: Sequence[Path]) -> Dict[Path, Path]:
    """The logs under names that Spark knows their codecs by."""
    return {log: spark.add_log(log, folder) for log in logs}


def sources(names: Sequence[str]) -> Iterator[Tuple[str, Path]]:
    for name in names:
        if (conftest.ROOT / "corpus" / "logs" / f"{name}.zst").is_file():
            yield name, conftest.ROOT / "corpus" / "logs" / f"{name}.zst"
            continue
        folder = conftest.ROOT / "tests" / "logs" / name
        found = conftest.log_paths(folder)
        for path in found:
            yield (name if len(found) == 1 else str(path.relative_to(folder.parent))), path


def or_skip(start: Callable[..., Started], *arguments: Any) -> Started:
    """What `start` returns; where it cannot run, the test is skipped with the reason."""
    try:
        return start(*arguments)
    except Unavailable as reason:
        pytest.skip(str(reason))


def home_or_skip(version: str = spark.SPARK_3) -> Path:
    """SPARK_HOME of that version."""
    return or_skip(spark.home, version)


def served(version: str, names: Sequence[str], folder: Path) -> Iterator[History]:
    home = home_or_skip(version)
    logs = dict(sources(names))
    copies = gather(folder, list(logs.values()))
    with spark.HistoryServer(home, folder) as server:
        assert server.wait_for_attempts(len(logs)) == len(logs), server.printed()[-2000:]
        yield History(server, folder, {name: copies[path] for name, path in logs.items()})


@pytest.fixture(scope="session")
def spark_3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    yield from served(spark.SPARK_3, COMPARED + READ, tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="session")
def spark_4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    yield from served(spark.SPARK_4, READ_4, tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="session")
def opensearch_node() -> Iterator[opensearch.Node]:
    with or_skip(opensearch.Node) as node:
        yield node


@pytest.fixture(scope="session")
def opensearch_proxy(opensearch_node: opensearch.Node) -> Iterator[tls_proxy.TlsProxy]:
    """TLS and a password before OpenSearch."""
    with or_skip(tls_proxy.TlsProxy, opensearch_node.url) as proxy:
        yield proxy


@pytest.fixture
def index_prefix(opensearch_node: opensearch.Node) -> Iterator[str]:
    """Of the names of a test's indices, templates and pipelines (PREFIX-...), which are removed after it."""
    prefix = opensearch_node.new_prefix()
    yield prefix
    opensearch_node.remove(prefix)


class OnYarn(NamedTuple):
    yarn: yarn.Yarn
    finished: str  # id of a Spark application
    log: Path  # its event log
    failed: str  # id of an application that failed at once


@pytest.fixture(scope="session")
def on_yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnYarn]:
    """YARN after it ran two applications."""
    events = tmp_path_factory.mktemp("yarn") / "events"
    with or_skip(yarn.Yarn) as running:
        finished = running.run_spark(events)
        yield OnYarn(running, finished, events / finished, running.run_command("echo wrong >&2; exit 3", "broken"))
