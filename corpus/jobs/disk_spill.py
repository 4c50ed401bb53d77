"""Few, heavy partitions sorted with little execution memory: sorting goes to disk."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(6):
        rows = text(spark.range(seed, 1_800_000 + seed, 1, 8))
        rows.withColumn("more", F.sha2(F.col("text"), 512)).repartition(
            4, "id"
        ).sortWithinPartitions("text").write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
