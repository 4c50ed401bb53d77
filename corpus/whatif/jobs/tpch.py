"""What the jobs over TPC-H tables share: their start, and the tables.

Tasks of these jobs wait for nothing but processors and disks: what a task costs, beside what its data costs, shows in them.
"""

from __future__ import annotations

import time

from common import DATA, session
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from warm import WARM, executors_expected

TABLES = DATA / "tpch"


def table(spark: SparkSession, name: str) -> DataFrame:
    return spark.read.parquet(str(TABLES / name))


def lines_csv() -> str:
    """Return the folder with the items of orders as text."""
    return str(TABLES / "csv" / "lineitem")


def start() -> SparkSession:
    """Return a session whose executors are all up and have run a few tasks."""
    spark = session()
    sc = spark.sparkContext
    wanted = executors_expected(spark)
    while sc._jsc.sc().getExecutorMemoryStatus().size() - 1 < wanted:  # the status counts the driver as one
        time.sleep(0.1)
    sc.setJobDescription(WARM)
    for name in ("nation", "supplier"):
        show(table(spark, name).repartition(2 * wanted))
    time.sleep(1)
    sc.setJobDescription(None)
    return spark


def show(rows: DataFrame) -> None:
    """Run a query for its sums; all its columns are used."""
    print(rows.agg(F.count("*"), F.sum(F.hash(*rows.columns).cast("long"))).collect(), flush=True)
