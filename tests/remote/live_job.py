"""A small application that stays alive, for tests of the live UI: EVENTS_FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").appName("live")
settings = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": f"file:{sys.argv[1]}",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
    "spark.sql.shuffle.partitions": "3",
}
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
table = str(Path(sys.argv[1]).parent / "table")
spark.range(0, 20000, 1, 4).selectExpr("id", "id % 7 AS k").write.csv(table)
rows = spark.read.csv(table)
rows.groupBy("_c1").count().collect()
rows.cache().count()
try:
    spark.sparkContext.parallelize(range(4), 1).map(lambda number: 1 // (number - 3)).collect()
except Exception as error:
    print(type(error).__name__)
print("ready", spark.sparkContext.uiWebUrl, flush=True)
sys.stdin.read()
spark.stop()
