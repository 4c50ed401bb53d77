"""Downloads what the tests need, so that no test waits for it: Spark's test logs, pyspark, pandas, OpenSearch,
YARN, libraries of the Spark plugin, schemas. ./dev runs it.

What cannot be had is named, and left to the tests that need it: they are skipped with the reason.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

import conftest  # noqa: E402
import schemas  # noqa: E402
from servers import Unavailable, jars, plugin, spark  # noqa: E402


def attempt(download: Callable[..., Any], *arguments: Any) -> None:
    try:
        download(*arguments)
    except Unavailable as reason:
        print(f"not to be had: {reason}", file=sys.stderr)


def main() -> None:
    with ThreadPoolExecutor() as pool:
        for version in spark.VERSIONS:
            pool.submit(attempt, spark.venv, version)
        pool.submit(attempt, spark.arrow_packages)
        pool.submit(attempt, jars.opensearch)
        pool.submit(attempt, jars.yarn)
        pool.submit(attempt, plugin.jar)
        pool.submit(attempt, conftest.spark_tests)
        pool.submit(attempt, schemas.prepare)


if __name__ == "__main__":
    main()
