"""Statistics of S3A in a real application that writes to a real S3 server."""

from __future__ import annotations

from pathlib import Path
from typing import Tuple

import pytest
from servers import plugin, s3, shared, spark

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


@pytest.fixture(scope="module", params=spark.VERSIONS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tuple[plugin.Watched, int]:
    """A run, and how many bytes of objects there were after it. Spark 4 writes by the magic committer."""
    version = request.param
    shared.home_or_skip(version)
    shared.or_skip(plugin.jar)
    with shared.or_skip(s3.S3) as server:
        libraries = shared.or_skip(s3.libraries, version)
        conf = {**server.conf(), "spark.jars": f"{plugin.jar()},{libraries}", "spark.pyrometer.fileSystems.interval": "1s"}
        script = Path(__file__).parent / "jobs" / "objects.py"
        run = plugin.run(version, script, tmp_path_factory.mktemp("objects") / "run", conf)
        size = sum(path.stat().st_size for path in (server.root / "bucket").rglob("*") if path.is_file())
        return run, size


def test_bytes_are_those_of_the_objects(written: Tuple[plugin.Watched, int]) -> None:
    run, size = written
    assert size > 10 << 20
    assert run.value("spark_filesystem_bytes_total", filesystem="s3a", direction="written") == pytest.approx(size, rel=0.01)
    read = run.value("spark_filesystem_bytes_total", filesystem="s3a", direction="read")
    # Of Parquet's vectored reads, Hadoop 3.5 counts only what it fetches ahead.
    assert read > (size / 2 if "hadoop-aws-3.3" in run.output else 100_000)


def test_operations_and_durations(written: Tuple[plugin.Watched, int]) -> None:
    run, _ = written
    counts = {s.labels["operation"]: s.value for s in run.samples if s.name == "spark_filesystem_operations_total"
              and s.labels["filesystem"] == "s3a"}
    assert counts["op_create"] >= 5 and sum(counts.values()) > 20
    seconds = {s.labels["operation"]: s.value for s in run.samples if s.name == "spark_filesystem_operation_seconds_total"}
    timed = {s.labels["operation"]: s.value for s in run.samples if s.name == "spark_filesystem_timed_operations_total"}
    assert seconds and seconds.keys() == timed.keys() and all(value >= 0 for value in seconds.values())


def test_multipart_uploads(written: Tuple[plugin.Watched, int]) -> None:
    run, _ = written
    states = {s.labels["state"]: s.value for s in run.samples if s.name == "spark_filesystem_multipart_uploads_total"}
    assert states["begun"] >= 1 and states["completed"] >= 1
    assert states["completed"] + states.get("aborted", 0) <= states["begun"]


def test_what_did_not_happen_is_not_there_or_zero(written: Tuple[plugin.Watched, int]) -> None:
    run, _ = written
    assert all(s.value == 0 for s in run.samples if s.name == "spark_filesystem_throttles_total")
