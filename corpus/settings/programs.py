"""Small programs, one for each kind of work that a setting of Spark can make slow. The first argument names one."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

DATA = "data-of-settings"
PROGRAMS: Dict[str, Callable[[SparkSession], Any]] = {}


def program(function: Callable[[SparkSession], Any]) -> Callable[[SparkSession], Any]:
    PROGRAMS[function.__name__] = function
    return function


def rows(spark: SparkSession, count: int, partitions: int = 8) -> DataFrame:
    """Rows of a key, a number and texts that compress about as real ones do."""
    number = spark.range(0, count, 1, partitions)
    return number.select(
        "id",
        (F.hash("id") % 1000).alias("key"),
        (F.rand(7) * 1000).alias("amount"),
        F.concat_ws(" ", *[F.hex(F.abs(F.hash(F.col("id") % (97 + 13 * i)))) for i in range(12)]).alias("text"),
    )


@program
def prepare(spark: SparkSession) -> None:
    rows(spark, 4_000_000).write.mode("overwrite").parquet(f"{DATA}/rows.parquet")
    rows(spark, 1_000_000).write.mode("overwrite").orc(f"{DATA}/rows.orc")
    small = rows(spark, 40_000, 1).withColumn("part", F.col("id") % 300)
    small.repartition(300, "part").write.mode("overwrite").partitionBy("part").parquet(f"{DATA}/parts.parquet")
    rows(spark, 400_000, 4).write.mode("overwrite").csv(f"{DATA}/rows.csv")


@program
def shuffle(spark: SparkSession) -> None:
    for _ in range(2):
        rows(spark, 600_000).repartition(16, "id").groupBy("key").agg(F.max("text"), F.count("*")).collect()


@program
def sort(spark: SparkSession) -> None:
    for _ in range(3):
        rows(spark, 1_500_000).orderBy("text", "id").agg(F.max(F.length("text"))).collect()
        rows(spark, 1_500_000).sortWithinPartitions("amount").write.format("noop").mode("overwrite").save()


@program
def scan(spark: SparkSession) -> None:
    for i in range(6):
        read = spark.read.parquet(f"{DATA}/rows.parquet")
        read.where(F.col("id") < 40_000 + i).agg(F.sum("amount"), F.max("text")).collect()
        read.agg(F.sum("amount"), F.sum("key"), F.max("id")).collect()


@program
def scan_orc(spark: SparkSession) -> None:
    for i in range(10):
        read = spark.read.orc(f"{DATA}/rows.orc")
        read.where(F.col("id") < 40_000 + i).agg(F.sum("amount"), F.max("text")).collect()
        read.agg(F.sum("amount"), F.sum("key"), F.max("id")).collect()


@program
def arithmetic(spark: SparkSession) -> None:
    number = spark.range(0, 30_000_000, 1, 8).withColumn("a", F.col("id") * 3 % 101).withColumn("b", F.sqrt("id"))
    for i in range(4):
        number.where((F.col("a") + i) % 7 != 3).groupBy((F.col("id") % 100).alias("k")).agg(F.sum("a"), F.avg("b")).collect()


@program
def window(spark: SparkSession) -> None:
    number = rows(spark, 1_500_000).withColumn("bucket", F.col("id") % 50)
    by = Window.partitionBy("bucket").orderBy("amount").rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    for _ in range(2):
        number.withColumn("total", F.sum("amount").over(by)).agg(F.max("total"), F.max("text")).collect()


@program
def join(spark: SparkSession) -> None:
    left, right = rows(spark, 1_500_000), rows(spark, 200_000).select(F.col("id").alias("other"), "key", "text")
    for _ in range(2):
        left.join(right.drop("text"), "key").groupBy("key").agg(F.count("*")).collect()


@program
def small_join(spark: SparkSession) -> None:
    names = spark.range(0, 1000, 1, 2).select(F.col("id").cast("int").alias("key"), F.hex("id").alias("name"))
    for _ in range(3):
        rows(spark, 2_000_000).join(names, "key").groupBy("name").agg(F.max("text")).collect()


@program
def skewed_join(spark: SparkSession) -> None:
    hot = rows(spark, 3_000_000).withColumn("key", F.when(F.col("id") % 10 < 8, 7).otherwise(F.col("id") % 40))
    other = spark.range(0, 40, 1, 2).select(F.col("id").alias("key"), F.explode(F.array([F.lit(i) for i in range(4)])).alias("n"))
    hot.join(other, "key").groupBy("n").agg(F.max(F.reverse("text")), F.count("*")).collect()


@program
def collections(spark: SparkSession) -> None:
    for _ in range(3):
        rows(spark, 1_000_000).groupBy((F.col("id") % 200_000).alias("k")).agg(F.collect_list("amount").alias("l")).agg(F.max(F.size("l"))).collect()


@program
def cached(spark: SparkSession) -> None:
    kept = rows(spark, 1_500_000).cache()
    for i in range(8):
        kept.where(F.col("amount") > i).groupBy("key").agg(F.sum("amount"), F.max("id")).collect()


@program
def pandas(spark: SparkSession) -> None:
    @F.pandas_udf("double")
    def doubled(value):  # type: ignore[no-untyped-def]
        return value * 2

    for _ in range(2):
        rows(spark, 1_500_000).select(doubled("amount").alias("a")).agg(F.sum("a")).collect()


@program
def functions(spark: SparkSession) -> None:
    halved = F.udf(lambda value: value / 2, "double")
    for _ in range(2):
        rows(spark, 600_000, 60).select(halved("amount").alias("a")).agg(F.sum("a")).collect()


@program
def many_python_tasks(spark: SparkSession) -> None:
    for _ in range(2):
        spark.sparkContext.parallelize(range(40_000), 120).map(lambda n: n * n % 7).sum()


@program
def python_groups(spark: SparkSession) -> None:
    for _ in range(2):
        pairs = spark.sparkContext.parallelize(range(400_000), 8).map(lambda n: (n % 40_000, f"text of row {n}"))
        pairs.groupByKey(8).mapValues(len).values().sum()


@program
def lines(spark: SparkSession) -> None:
    for _ in range(2):
        spark.sparkContext.textFile(f"{DATA}/rows.csv").filter(lambda line: line.startswith("7")).count()


@program
def to_pandas(spark: SparkSession) -> None:
    for _ in range(2):
        print(len(rows(spark, 400_000).toPandas()))


@program
def write(spark: SparkSession) -> None:
    for i in range(3):
        rows(spark, 1_200_000).write.mode("overwrite").parquet(f"{DATA}/written-{i}")


@program
def many_folders(spark: SparkSession) -> None:
    for _ in range(4):
        spark.read.parquet(f"{DATA}/parts.parquet").groupBy("part").count().collect()


@program
def state(spark: SparkSession) -> None:
    source = spark.readStream.schema("id long, key int, amount double, text string").option("maxFilesPerTrigger", 1)
    counts = source.parquet(f"{DATA}/rows.parquet").groupBy(F.col("id") % 200_000).count()
    query = counts.writeStream.format("noop").outputMode("update").trigger(availableNow=True).start()
    query.awaitTermination()


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    PROGRAMS[sys.argv[1]](session)
    session.stop()
