"""Running totals by window functions over three groups of wide rows, in one small JVM."""

from common import session, text
from pyspark.sql import Window
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(4):
        rows = text(spark.range(seed, 1_500_000 + seed, 1, 8)).withColumn("more", F.md5("text"))
        rows = rows.withColumn("team", F.expr("CAST(hash(id) & 3 AS INT)"))
        window = Window.partitionBy("team").orderBy("text")
        ranked = rows.withColumn("place", F.row_number().over(window))
        ranked.withColumn("before", F.lag("more").over(window)).write.format("noop").mode(
            "overwrite"
        ).save()
    spark.stop()


if __name__ == "__main__":
    main()
