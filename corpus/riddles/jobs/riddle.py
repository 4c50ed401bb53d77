"""What the riddles share: their session."""

from __future__ import annotations

from pyspark import SparkContext
from pyspark.sql import SparkSession

try:
    from pyrometer import CpuMemStackProfiler
except ImportError:  # without --py-files pyrometer-profilers.zip nothing is profiled
    CpuMemStackProfiler = None  # type: ignore[assignment, misc]


def start() -> SparkSession:
    """Return the session; with `spark.python.profile` its Python functions are profiled."""
    if CpuMemStackProfiler:
        SparkContext(profiler_cls=CpuMemStackProfiler, udf_profiler_cls=CpuMemStackProfiler)
    return SparkSession.builder.getOrCreate()
