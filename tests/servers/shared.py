"""History Servers that are started once for the whole suite, over the logs that all their tests ask for.

A test that uses one has the mark of its version, `ON_SPARK_3` or `ON_SPARK_4`: all of them then run on one worker.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Dict, Iterator, NamedTuple, Sequence, Tuple

import conftest
import pytest

from servers import Unavailable, spark

ON_SPARK_3 = [pytest.mark.slow, pytest.mark.xdist_group("History Server 3")]
ON_SPARK_4 = [pytest.mark.slow, pytest.mark.xdist_group("History Server 4")]

# Corpus logs and folders of tests/logs. All endpoints of the first of these are compared (serve/test_differential.py).
COMPARED = (
    "healthy_sql", "healthy_stream", "healthy_cache", "speculation_waste", "executor_churn", "executor_lost",
    "job_failed_udf", "stage_retries", "oom_groups",
    "attempts", "blocks", "versions/spark-4.3.0-streaming", "inprogress/zstd-rolling", "codecs/lz4-single",
)
# Inputs of `diagnose` (remote/): each has what the others lack.
READ = ("data_skew", "disk_spill", "cached_tables", "stream_overrun", "healthy_rdd", "codecs/lz4-rolling")
READ_4 = ("data_skew", "executor_lost", "oom_groups", "versions")


class History(NamedTuple):
    server: spark.HistoryServer
    folder: Path
    logs: Dict[str, Path]  # in the folder, by the name of the log in the corpus or below tests/logs


def gather(folder: Path, logs: Sequence[Path]) -> Dict[Path, Path]:
    """The logs under names that Spark knows their codecs by."""
    copies = {}
    for log in logs:
        target = folder / re.sub(r"\.zst$", ".zstd", log.name)
        copies[log] = target
        if log.is_dir():
            shutil.copytree(log, target)
        else:
            shutil.copy2(log, target)
    return copies


def sources(names: Sequence[str]) -> Iterator[Tuple[str, Path]]:
    for name in names:
        if (conftest.ROOT / "corpus" / "logs" / f"{name}.zst").is_file():
            yield name, conftest.ROOT / "corpus" / "logs" / f"{name}.zst"
            continue
        folder = conftest.ROOT / "tests" / "logs" / name
        found = conftest.log_paths(folder)
        for path in found:
            yield (name if len(found) == 1 else str(path.relative_to(folder.parent))), path


def home_or_skip(version: str = spark.SPARK_3) -> Path:
    """SPARK_HOME of that version; without one the test is skipped with the reason."""
    try:
        return spark.home(version)
    except Unavailable as reason:
        pytest.skip(str(reason))


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
