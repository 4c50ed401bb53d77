"""Every endpoint, asked of a real History Server and of Pyrometer over the same logs: differential.py says what."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Tuple

import pytest
from differential import Comparison, gather
from history_server import HistoryServer
from server import Server

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))
import spark_runs  # noqa: E402

SPARK = "3.5.6"
REQUESTS = int(os.environ.get("PYROMETER_DIFFERENTIAL_REQUESTS") or 30)  # of each application
CORPUS = (
    "healthy_sql", "healthy_stream", "healthy_cache", "speculation_waste", "executor_churn", "executor_lost",
    "job_failed_udf", "stage_retries", "oom_groups",
)
LOGS = ("attempts", "blocks", "versions/spark-4.3.0-streaming", "inprogress/zstd-rolling", "codecs/lz4-single")


def spark_home() -> Path:
    if shutil.which("java") is None:
        pytest.skip("no java: apt-get install default-jre-headless")
    try:
        venv = spark_runs.make_venv(conftest.cache_folder(), SPARK)
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"pip could not install pyspark {SPARK}: {error}")
    return next(venv.glob("lib/python3*/site-packages/pyspark"))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tuple[HistoryServer, Server]]:
    home, folder = spark_home(), tmp_path_factory.mktemp("logs")
    corpus = [conftest.ROOT / "corpus" / "logs" / f"{name}.zst" for name in CORPUS]
    others = [path for name in LOGS for path in conftest.log_paths(conftest.ROOT / "tests" / "logs" / name)]
    gather(folder, corpus + others)
    with HistoryServer(home, folder) as spark, Server(folder) as ours:
        assert spark.wait_for(ours.count()) == ours.count() == len(corpus) + len(others)
        yield spark, ours


@pytest.mark.slow
def test_equal_answers(both: Tuple[HistoryServer, Server]) -> None:
    spark, ours = both
    comparison = Comparison(spark.port, ours.port)
    comparison.run(REQUESTS, every=2)
    shown = "\n".join(f"{one.method} {one.path}: {one.what}" for one in comparison.differences[:20])
    assert not comparison.differences, f"{len(comparison.differences)} of {comparison.compared} differ\n{shown}"
    assert comparison.compared > 500
