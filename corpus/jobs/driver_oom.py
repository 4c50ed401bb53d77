"""Results that are small on the wire and large as rows: the third does not fit into the driver's heap."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for thousands in (40, 120, 900):
        rows = spark.range(0, thousands * 1000, 1, 8).select(
            "id",
            F.expr("repeat(concat('line ', id % 10, ' '), 100)").alias("page"),
            wait_where(f"id % {thousands * 25} = 1", "1500").alias("w"),
        )
        print(len(rows.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
