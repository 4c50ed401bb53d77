"""A user asks, thinks and asks again: ten short questions of a session, with pauses between them."""

import time

from common import DATA, wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.appName("PySparkShell").getOrCreate()
    customers = spark.read.parquet(str(DATA / "customers"))
    customers.printSchema()
    customers.show(5)
    for month, column in enumerate(("store", "product", "day", "quantity", "customer")):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        time.sleep(4)
        print(sales.count(), flush=True)
        time.sleep(6)
        asked = sales.withColumn("w", wait_where("id % 4000 = 1", "20")).groupBy(column)
        asked.agg(F.avg("price").alias("price"), F.count("w")).orderBy(F.desc("price")).show(10)
    spark.stop()


if __name__ == "__main__":
    main()
