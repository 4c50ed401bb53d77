"""Write the tables that the jobs read; its own run is not recorded."""

from common import DATA, session, text
from pyspark.sql import functions as F

FILES = 24


def main() -> None:
    spark = session()
    orders = (
        text(spark.range(0, FILES * 12_000, 1, FILES))
        .withColumn("customer", F.expr("CAST(hash(id) & 32767 AS BIGINT)"))
        .withColumn("store", F.expr("CAST(hash(id, 2) & 63 AS BIGINT)"))
        .withColumn("price", F.expr("(hash(id, 5) & 4095) / 100.0"))
    )
    orders.write.mode("overwrite").parquet(str(DATA / "orders"))
    spark.stop()


if __name__ == "__main__":
    main()
