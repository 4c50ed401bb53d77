"""ANSI mode: a quantity that is not a number fails the load after four attempts; reports before it went well."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    lines = spark.range(0, 200_000, 1, 12).selectExpr(
        "id",
        "concat('quantity ', id % 40) AS label",
        "CASE WHEN id = 150001 THEN 'n/a' ELSE CAST(id % 40 AS STRING) END AS quantity",
    ).withColumn("w", wait_where("id % 5000 = 1", "400"))
    print(lines.agg(F.count("w"), F.max("label")).collect(), flush=True)
    loaded = lines.withColumn("amount", F.expr("CAST(quantity AS INT) * 3"))
    print(loaded.groupBy("amount").agg(F.count("w")).count(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
