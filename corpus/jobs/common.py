"""What every corpus job shares: a session, its data, and honest waiting.

Two real cores cannot keep many slots busy, so tasks spend part of their time
waiting inside the executor's JVM. That costs almost no CPU, and Spark's own
metrics see it as run time, as they would see a slow service or disk.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

# the recorder starts each job in its working directory
DATA = Path.cwd() / "data"


def session() -> SparkSession:
    """Return the session; name, master and settings come from spark-submit."""
    return SparkSession.builder.getOrCreate()


def wait_where(condition: str, milliseconds: str) -> Column:
    """Return a column that waits in the JVM for rows that meet the condition.

    The optimizer drops unused columns, so aggregate it (`count` will do).
    """
    call = f"java_method('java.lang.Thread', 'sleep', CAST({milliseconds} AS BIGINT))"
    return F.expr(f"CASE WHEN {condition} THEN {call} END")


def text(rows: DataFrame, bits: int = 512) -> DataFrame:
    """Add a column of incompressible text, so that rows have weight."""
    return rows.withColumn("text", F.expr(f"sha2(CAST(id AS STRING), {bits})"))
