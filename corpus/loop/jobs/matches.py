"""Two streams of files that are joined: orders of a year, and their items."""

import shutil

from common import DATA
from pyspark.sql import functions as F
from tpch import TABLES, start, table


def main() -> None:
    spark = start()
    checkpoint = DATA / "out" / "matches"
    shutil.rmtree(checkpoint, ignore_errors=True)
    streams = {
        name: spark.readStream.schema(table(spark, name).schema)
        .option("maxFilesPerTrigger", files)
        .parquet(str(TABLES / name))
        for name, files in (("orders", 1), ("lineitem", 3))
    }
    orders = streams["orders"].filter("o_orderkey % 8 = 0 AND year(o_orderdate) = 1995")
    orders = orders.select("o_orderkey", "o_orderpriority", "o_totalprice")
    items = streams["lineitem"].filter("l_orderkey % 8 = 0").select("l_orderkey", "l_quantity", "l_shipmode")
    pairs = orders.join(items, F.expr("o_orderkey = l_orderkey"))
    stream = pairs.writeStream.outputMode("append").format("noop").trigger(availableNow=True)
    query = stream.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()
    print(len(query.recentProgress), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
