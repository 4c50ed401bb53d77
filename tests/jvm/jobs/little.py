"""A job with a task that fails, the plugin's metrics at its endpoint and in JMX, and how long the end took."""

import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Dict

from pyspark.sql import SparkSession


def managed(spark: SparkSession) -> Dict[str, float]:
    """The plugin's metrics in JMX, where a sink puts them there."""
    if "spark.metrics.conf.driver.sink.jmx.class" not in dict(spark.sparkContext.getConf().getAll()):
        return {}
    java = spark.sparkContext._jvm.java
    server = java.lang.management.ManagementFactory.getPlatformMBeanServer()
    names = server.queryNames(spark.sparkContext._jvm.javax.management.ObjectName("metrics:*"), None)
    return {name.getKeyProperty("name"): server.getAttribute(name, "Value") for name in names
            if "PyrometerPlugin" in name.getKeyProperty("name")}


def main() -> None:
    spark = SparkSession.builder.appName("little").getOrCreate()
    spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()
    try:
        spark.range(1).selectExpr("raise_error('planted failure')").collect()
    except Exception as error:
        print(type(error).__name__)
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address", "")
    metrics = urllib.request.urlopen(address, timeout=10).read().decode() if address else ""
    result = {"metrics": metrics, "jmx": managed(spark)}
    stopped = time.monotonic()
    spark.stop()
    result["stop_s"] = time.monotonic() - stopped
    Path(sys.argv[1]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
