#!/usr/bin/env python3
"""Record what Spark's REST API says of the threads of a driver and an executor.

    python3 tests/record/record_threads.py --cache /tmp

tests/artefacts/threads gets the event log of a small application (threads_job.py) on a local cluster, and the answers, which are
only compressed.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "artefacts" / "threads"
PYSPARK = "4.3.0"


def main() -> None:
    """Record the application once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=Path("/tmp/pyrometer-threads"))
    options = parser.parse_args()
    shutil.rmtree(options.workdir, ignore_errors=True)
    folder = options.workdir / "run"
    folder.mkdir(parents=True)
    venv = sr.make_venv(options.cache, PYSPARK)
    conf = {"spark.executor.memory": "512m", "spark.ui.enabled": "true", "spark.ui.port": "0"}
    run = sr.Run("threads", HERE / "threads_job.py", "local-cluster[1,2,1024]", conf, [str(folder)])
    sr.run_to_end(venv, options.workdir, run, options.workdir / "events")
    log = next(sr.logs_in(options.workdir / "events"))
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    sr.compress(log, TARGET / f"{log.name}.zstd")
    for path in sorted(folder.iterdir()):
        with open(TARGET / f"{path.name}.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.write(path.read_bytes())
    shutil.rmtree(sr.spark_home(venv) / "work" / log.name, ignore_errors=True)


if __name__ == "__main__":
    main()
