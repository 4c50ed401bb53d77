"""The whole way, in a network of its own: a task of Airflow, Spark Connect on a busy cluster, the plugin, an S3 server that is slow,
a collector, Prometheus with the chart's alerts. `whole_way.py FOLDER AIRFLOW_VERSION RULES QUERIES SIZE` writes FOLDER/result.json.

With the size "reference" executors come late, because another application has the cores, and the store accepts little at once: the
case that the recipes are about, small. "quick" only goes the way.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from servers import airflow, collector, connect, plugin, prometheus, s3, spark, throttled  # noqa: E402
from servers.process import ServerProcess  # noqa: E402
from servers.standalone import Standalone  # noqa: E402

HERE = Path(__file__).parent
CORES = 2


class Size(NamedTuple):
    wait_s: float
    bytes_per_s: float
    million_rows: float
    refuse_every: int


# Waits longer than a normal start, and more bytes than slow-write needs to judge a rate.
SIZES = {"reference": Size(28, 1_000_000, 1.0, 6), "quick": Size(0, 100_000_000, 0.05, 0)}


def hold_cores(folder: Path, cluster: Standalone) -> ServerProcess:
    command = [str(spark.home(spark.SPARK_4) / "bin" / "spark-submit"), "--master", cluster.url, "--conf", "spark.ui.enabled=false",
               "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
               "--conf", "spark.executor.memory=600m", str(HERE / "queue_holder.py"), str(folder / "released")]
    holder = ServerProcess(command, folder / "holder.out", cwd=folder, env=spark.spark_runs.spark_env(spark.venv(spark.SPARK_4)))
    holder.wait_for(lambda: "holds" in holder.printed(), "the application before did not get the cores")
    return holder


def settings(folder: Path, cluster: Standalone, store: s3.S3, slow: throttled.Throttled, otlp: int, port: int) -> Dict[str, str]:
    events = folder / "events"
    events.mkdir()
    return {
        **store.conf(slow.port),
        "spark.master": cluster.url, "spark.executor.cores": "1", "spark.executor.memory": "800m", "spark.cores.max": str(CORES),
        "spark.jars": f"{plugin.jar()},{s3.libraries(spark.SPARK_4)}",
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(), "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.pyrometer.metrics.port": str(port), "spark.pyrometer.fileSystems.interval": "1s",
        "spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{otlp}",
        "spark.pyrometer.otel.metricsInterval": "1s",
        # Each part of an upload waits for the one before it, as it does on a connection that is shared by many.
        "spark.hadoop.fs.s3a.fast.upload.active.blocks": "1",
    }


def run(folder: Path, version: str, rules: str, queries: List[str], size: Size) -> Dict[str, Any]:
    with ExitStack() as stack:
        began = time.time()
        received = stack.enter_context(collector.Collector())
        store = stack.enter_context(s3.S3())
        slow = stack.enter_context(throttled.Throttled(store.port, size.bytes_per_s, size.refuse_every))
        cluster = stack.enter_context(Standalone(spark.SPARK_4, folder / "cluster", CORES))
        holder = stack.enter_context(hold_cores(folder, cluster))
        if size.wait_s == 0:
            (folder / "released").touch()
            holder.process.wait(60)
        port = collector.free_port()
        watching = stack.enter_context(prometheus.Prometheus(folder / "prometheus", port, rules))
        server = stack.enter_context(connect.Connect(folder, settings(folder, cluster, store, slow, received.grpc, port)))
        asked = time.time()
        told = folder / "told.json"
        client = [str(spark.venv(spark.SPARK_4) / "bin" / "python"), str(HERE / "reference.py"), "s3a://bucket/out", str(size.million_rows)]
        environment = {**connect.client_environment(), "CONNECT": f"127.0.0.1:{server.port}", "CLIENT": "|".join(client),
                       "TOLD": str(told)}
        environment.pop("PATH")
        flow = stack.enter_context(
            airflow.Airflow(version, folder / "airflow", HERE.parent / "dags", received.http, environment))
        while time.time() < asked + size.wait_s:
            time.sleep(0.2)
        (folder / "released").touch()
        state = flow.wait(240)
        ended = time.time()
        time.sleep(3)  # the last scrape
        printed = flow.logs()
        flow.stop()
        holder.stop()
        server.stop()
        time.sleep(1)
        return {
            "state": state, "printed": printed, "told": json.loads(told.read_text()) if told.exists() else None,
            "began": began, "ended": ended, "refused": slow.refused, "server": server.printed()[-20000:],
            "objects": sum(path.stat().st_size for path in (store.root / "bucket").rglob("*") if path.is_file()),
            "fired": watching.fired(began, ended + 3),
            "empty": [query for query in queries if not watching.found_in(query, began, ended + 3)],
            "commits": watching.query("last_over_time(spark_commit_seconds[10m])", ended + 3),
            "repeated": watching.query("sum(last_over_time({__name__=~'spark_filesystem_(retries|throttles)_total'}[10m]))", ended + 3),
            "spans": received.rows("resourceSpans"),
            "metrics": [row["name"] for row in received.rows("resourceMetrics")],
        }


def main() -> None:
    folder = Path(sys.argv[1])
    rules, queries = (Path(path).read_text(encoding="utf-8") for path in sys.argv[3:5])
    result = run(folder, sys.argv[2], rules, json.loads(queries), SIZES[sys.argv[5]])
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
