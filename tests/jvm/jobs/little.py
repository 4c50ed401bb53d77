"""A job with a task that fails, and the plugin's metrics."""

import json
import sys
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    spark = SparkSession.builder.appName("little").getOrCreate()
    spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()
    try:
        spark.range(1).selectExpr("raise_error('planted failure')").collect()
    except Exception as error:
        print(type(error).__name__)
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address", "")
    metrics = urllib.request.urlopen(address, timeout=10).read().decode() if address else ""
    Path(sys.argv[1]).write_text(json.dumps({"metrics": metrics}), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
