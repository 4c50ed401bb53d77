"""A stream of files with items: totals of each supplier in windows of time, kept as state."""

import shutil

from common import DATA
from pyspark.sql import functions as F
from tpch import TABLES, start, table


def main() -> None:
    spark = start()
    checkpoint = DATA / "out" / "seasons"
    shutil.rmtree(checkpoint, ignore_errors=True)
    source = spark.readStream.schema(table(spark, "lineitem").schema).option("maxFilesPerTrigger", 2)
    items = source.parquet(str(TABLES / "lineitem")).withColumn("time", F.col("l_shipdate").cast("timestamp"))
    totals = items.groupBy(F.window("time", "30 days"), "l_shipmode").agg(F.sum("l_quantity"), F.count("*"))
    stream = totals.writeStream.outputMode("update").format("noop").trigger(availableNow=True)
    query = stream.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    print(len(query.recentProgress), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
