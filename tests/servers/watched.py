"""One run of each version of Spark for all tests of the plugin: scraped, and sent to a collector where that is built."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

import conftest
import pytest

from servers import Unavailable, collector, plugin, shared, spark

JOB = conftest.ROOT / "tests" / "jvm" / "jobs" / "phases.py"
SERVLET = {
    "spark.ui.enabled": "true", "spark.ui.port": "0", "spark.ui.prometheus.enabled": "true",
    "spark.metrics.conf.*.sink.prometheusServlet.class": "org.apache.spark.metrics.sink.PrometheusServlet",
    "spark.metrics.conf.*.sink.prometheusServlet.path": "/metrics/prometheus",
}


class Sent(NamedTuple):
    """A run, and what came to the collector; `missing` says why there was none."""

    run: plugin.Watched
    missing: Optional[str]
    spans: List[Dict[str, Any]]
    events: List[Dict[str, Any]]
    metrics: List[Dict[str, Any]]


@pytest.fixture(scope="session", params=[(spark.SPARK_3, "grpc"), (spark.SPARK_4, "http/protobuf")], ids="-".join)
def any_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sent:
    version, protocol = request.param
    shared.home_or_skip(version)
    shared.or_skip(plugin.jar)
    folder = tmp_path_factory.mktemp("watched") / "run"
    try:
        server = collector.Collector()
    except Unavailable as reason:
        return Sent(plugin.run(version, JOB, folder, SERVLET), str(reason), [], [], [])
    with server:
        port = server.grpc if protocol == "grpc" else server.http
        conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{port}",
                "spark.pyrometer.otel.protocol": protocol, "spark.pyrometer.otel.resourceAttributes": "team=data"}
        run = plugin.run(version, JOB, folder, {**SERVLET, **conf})
        return Sent(run, None, server.rows("resourceSpans"), server.rows("resourceLogs"), server.rows("resourceMetrics"))


@pytest.fixture(scope="session")
def watched(any_run: Sent) -> plugin.Watched:
    return any_run.run


@pytest.fixture(scope="session")
def sent(any_run: Sent) -> Sent:
    if any_run.missing:
        pytest.skip(any_run.missing)
    return any_run
