"""A stream of new files with items: quantities by supplier, kept as state between its batches."""

import shutil

from common import DATA
from pyspark.sql import functions as F
from tpch import TABLES, start, table


def main() -> None:
    spark = start()
    checkpoint = DATA / "out" / "arrivals"
    shutil.rmtree(checkpoint, ignore_errors=True)
    source = spark.readStream.schema(table(spark, "lineitem").schema).option("maxFilesPerTrigger", 3)
    items = source.parquet(str(TABLES / "lineitem"))
    totals = items.groupBy("l_suppkey").agg(F.sum("l_quantity"), F.max("l_receiptdate"), F.count("*"))
    stream = totals.writeStream.outputMode("update").format("noop").trigger(availableNow=True)
    query = stream.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    print(sum(one["numInputRows"] for one in query.recentProgress), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
