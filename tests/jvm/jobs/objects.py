"""Writes to S3 and reads again: a large object in several parts, and small ones."""

import json
import sys
import time
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.appName("objects").getOrCreate()
    rows = spark.range(0, 300_000, 1, 1).select("id", F.sha2(F.col("id").cast("string"), 256).alias("text"))
    rows.write.option("compression", "uncompressed").parquet("s3a://bucket/large")
    spark.range(0, 1000, 1, 4).write.parquet("s3a://bucket/small")
    print(spark.read.parquet("s3a://bucket/large").selectExpr("max(text)").collect())
    time.sleep(3)
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address")
    metrics = urllib.request.urlopen(address, timeout=10).read().decode()
    Path(sys.argv[1]).write_text(json.dumps({"metrics": metrics}), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
