"""A Connect server of a version of Spark, a collector, and clients: `operations.py FOLDER VERSION PARAMETERS...` writes
FOLDER/result.json: what the clients printed, spans and metrics."""

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from servers import collector, connect  # noqa: E402

CLIENT = Path(__file__).with_name("client.py")


def run(folder: Path, version: str, parameters: List[str]) -> Dict[str, Any]:
    with collector.Collector() as server:
        conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}",
                "spark.pyrometer.otel.metricsInterval": "1s"}
        with connect.Connect(folder, conf, version) as spark_server:
            printed = [spark_server.run(CLIENT, each).split() for each in parameters]
        return {"printed": printed, "spans": server.rows("resourceSpans"), "metrics": server.rows("resourceMetrics")}


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "result.json").write_text(json.dumps(run(folder, sys.argv[2], sys.argv[3:])), encoding="utf-8")


if __name__ == "__main__":
    main()
