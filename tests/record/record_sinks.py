#!/usr/bin/env python3
"""Record what Spark's metrics sinks write, dumps of its threads, and profiles of Python functions.

    python3 tests/record/record_sinks.py --cache /tmp

tests/artefacts/sinks gets one archive: the event log of a small application (sinks_job.py) on a local cluster, the folder of
its CsvSink, what its web UI shows of metrics (JSON and Prometheus text), thread dumps by jstack of driver and executor, and
profiles as spark.profile.dump() and SparkContext.dump_profiles() write them. Nothing is edited.
"""

from __future__ import annotations

import argparse
import gzip
import io
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "artefacts" / "sinks" / "run.tar.gz"
PYSPARK = "4.3.0"


def settings(csv: Path) -> dict[str, str]:
    """Return what the application sets."""
    conf = {
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.ui.prometheus.enabled": "true",
        "spark.python.profile": "true",
    }
    for name, value in {
        "sink.csv.class": "org.apache.spark.metrics.sink.CsvSink",
        "sink.csv.period": "2",
        "sink.csv.directory": str(csv),
        "sink.prometheusServlet.class": "org.apache.spark.metrics.sink.PrometheusServlet",
        "sink.prometheusServlet.path": "/metrics/prometheus",
        "source.jvm.class": "org.apache.spark.metrics.source.JvmSource",
    }.items():
        conf[f"spark.metrics.conf.*.{name}"] = value
    return conf


def pack(folder: Path, target: Path) -> None:
    """Keep a folder as an archive, the same bytes for the same files."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 0):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            archive.addfile(entry, io.BytesIO(path.read_bytes()))
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(plain.getvalue())


def main() -> None:
    """Record the application once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=Path("/tmp/pyrometer-sinks"))
    options = parser.parse_args()
    shutil.rmtree(options.workdir, ignore_errors=True)
    venv = sr.make_venv(options.cache, PYSPARK)
    folder = options.workdir / "run"
    (folder / "csv").mkdir(parents=True)
    run = sr.Run("sinks", HERE / "sinks_job.py", "local-cluster[1,2,1024]", settings(folder / "csv"), [str(folder)])
    sr.run_to_end(venv, options.workdir, run, options.workdir / "events")
    log = next(sr.logs_in(options.workdir / "events"))
    sr.compress(log, folder / f"{log.name}.zstd")
    pack(folder, TARGET)
    shutil.rmtree(sr.spark_home(venv) / "work" / log.name)
    print(TARGET.stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    main()
