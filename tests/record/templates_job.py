"""The application behind the logs of known statements: as many parts of Spark as fit into a minute.

SQL with shuffles, broadcasts, caches, writes and reads, RDDs, streaming, and what goes wrong: tasks that fail, jobs that
fail, an executor that is killed, a crashed Python worker.
"""

import os
import shutil
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

OUT = os.path.abspath("templates-out")


def run_sql(spark: SparkSession) -> None:
    """Joins of both kinds, aggregates, windows, a Python function, a cached table."""
    orders = spark.range(0, 50_000, 1, 6).withColumn("customer", F.col("id") % 1000)
    customers = spark.range(0, 1000, 1, 2).withColumnRenamed("id", "customer")
    for threshold in ("-1", "10m"):
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
        orders.join(customers, "customer").groupBy("customer").count().collect()
    double = F.udf(lambda value: value * 2, LongType())
    cached = orders.withColumn("twice", double("id")).cache()
    cached.count()
    cached.groupBy("customer").agg(F.max("twice")).orderBy("customer").limit(5).collect()
    cached.unpersist()
    orders.createOrReplaceTempView("orders")
    spark.sql("SELECT customer, rank() OVER (PARTITION BY customer ORDER BY id) AS r FROM orders").count()


def run_files(spark: SparkSession) -> None:
    """Each format written and read, partitioned tables, a table of the catalog."""
    shutil.rmtree(OUT, ignore_errors=True)
    data = spark.range(0, 2000, 1, 3).withColumn("day", F.col("id") % 3).withColumn("name", F.concat(F.lit("n"), "id"))
    for form in ("parquet", "json", "csv", "orc"):
        path = f"{OUT}/{form}"
        data.write.format(form).partitionBy("day").mode("overwrite").save(path)
        back = spark.read.format(form).load(path)
        back.where("day = 1").groupBy("day").count().collect()
    data.write.bucketBy(4, "id").mode("overwrite").saveAsTable("bucketed")
    spark.table("bucketed").where("id = 7").collect()
    spark.sql("DROP TABLE bucketed")


def run_rdds(spark: SparkSession) -> None:
    """Plain RDDs: shuffles, a sort, a checkpoint, broadcasts, files."""
    context = spark.sparkContext
    context.setCheckpointDir(f"{OUT}/checkpoints")
    lookup = context.broadcast({i: str(i) for i in range(1000)})
    pairs = context.parallelize(range(4000), 6).map(lambda i: (i % 17, lookup.value.get(i % 1000, "")))
    counts = pairs.groupByKey(4).mapValues(len).persist()
    counts.checkpoint()
    counts.count()
    counts.sortByKey().saveAsTextFile(f"{OUT}/text")
    context.textFile(f"{OUT}/text").cartesian(context.parallelize(range(3), 2)).count()
    counts.unpersist()
    lookup.destroy()


def fail_first(value: int) -> int:
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0 and context.partitionId() == 1:
        raise ValueError(f"the first attempt of {value} fails")
    return value


def crash_first(value: int) -> int:
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0 and context.partitionId() == 1:
        os._exit(3)
    return value


def run_failures(spark: SparkSession) -> None:
    """Tasks and a job that fail, a lost worker, a lost executor."""
    context = spark.sparkContext
    context.parallelize(range(8), 4).map(fail_first).count()
    context.parallelize(range(8), 4).map(crash_first).count()
    for wrong in (lambda: context.parallelize([1, 0], 2).map(lambda i: 1 / i).collect(), lambda: spark.sql("SELECT raise_error('no')").collect()):
        try:
            wrong()
        except Exception as error:  # the logs are what counts
            print(type(error).__name__)
    if not context.master.startswith("local["):
        kept = context.parallelize(range(4000), 6).map(lambda i: (i % 7, i)).reduceByKey(max).persist()
        kept.count()
        context._jsc.sc().killExecutor("0")
        time.sleep(3)
        context._jsc.sc().requestExecutors(1)
        time.sleep(5)
        kept.count()


def run_stream(spark: SparkSession) -> None:
    """A stateful query over files, one batch each."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 50).load()
    counts = rate.groupBy((F.col("value") % 3).alias("key")).count()
    query = counts.writeStream.format("memory").queryName("counts").outputMode("complete").start()
    time.sleep(8)
    query.stop()


def main() -> None:
    """Everything `rounds` times, then a stream."""
    rounds = int(sys.argv[1])
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    for _ in range(rounds):
        run_sql(spark)
        run_files(spark)
        run_rdds(spark)
        run_failures(spark)
    run_stream(spark)
    spark.stop()
    shutil.rmtree(OUT, ignore_errors=True)


if __name__ == "__main__":
    main()
