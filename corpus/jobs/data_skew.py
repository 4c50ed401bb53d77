"""One customer owns six rows in ten: one task of the join gets most of the data."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    key = "CASE WHEN id % 10 < 6 THEN 7 ELSE id % 300007 END"
    orders = text(spark.range(0, 700_000, 1, 12)).withColumn("customer", F.expr(key))
    customers = text(spark.range(0, 400_000, 1, 8)).selectExpr(
        "id AS customer", "CAST(id % 1000 AS INT) AS region", "text AS address"
    )
    joined = orders.join(customers, "customer").withColumn(
        "waited", wait_where("id % 499 = 1", "40")
    )
    totals = joined.groupBy("region").agg(
        F.count("waited"), F.max("text"), F.max("address"), F.sum("id")
    )
    totals.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
