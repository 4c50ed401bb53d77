"""Every endpoint, asked of a real History Server and of Pyrometer over the same logs: differential.py says what."""

from __future__ import annotations

import json
import os

from differential import Comparison
from servers.pyrometer import Server
from servers.shared import COMPARED, ON_SPARK_3, READ, History, sources

from conftest import run_on_log

pytestmark = ON_SPARK_3
REQUESTS = int(os.environ.get("PYROMETER_DIFFERENTIAL_REQUESTS") or 30)  # of each application


def test_equal_answers(spark_3: History) -> None:
    read_only = [run_on_log(path).json["application"]["id"] for _, path in sources(READ)]
    with Server(spark_3.folder) as ours:
        assert ours.count() == len(spark_3.logs)
        comparison = Comparison(spark_3.server.port, ours.port, read_only)
        comparison.run(REQUESTS, every=2)
    shown = "\n".join(f"{one.method} {one.path}: {one.what}" for one in comparison.differences[:20])
    assert not comparison.differences, f"{len(comparison.differences)} of {comparison.compared} differ\n{shown}"
    assert comparison.compared > 500 if REQUESTS >= 30 else comparison.compared > len(COMPARED)
