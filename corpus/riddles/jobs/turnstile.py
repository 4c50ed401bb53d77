"""Turnstile: all tasks of an executor share one object behind a lock, so that one of them works and the others wait."""

from __future__ import annotations

from pyspark.sql import functions as F
from pyspark.sql.types import LongType
from riddle import start

ORDERS, PARTITIONS = 400, 8


def main(function: str = "com.acme.Signatures$Shared") -> None:
    spark = start()
    spark.udf.registerJavaFunction("signature", function, LongType())
    orders = spark.range(0, ORDERS, 1, PARTITIONS)
    signed = orders.withColumn("signature", F.expr("signature(id)"))
    print(signed.agg(F.count("signature"), F.sum(F.expr("signature % 97"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
