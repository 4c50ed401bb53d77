"""Settings to record: each with a bad value, and a twin with Spark's default. Every third property is held out: its
runs are not looked at until rules and thresholds are final."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple


@dataclass(frozen=True)
class Case:
    """One setting: what runs, with which value, and what else both twins set."""

    key: str
    value: str
    program: str
    also: Tuple[Tuple[str, str], ...] = ()
    usual: str = ""  # what the twin sets; nothing where Spark's default is the better value
    held_out: bool = False

    @property
    def name(self) -> str:
        return self.key.removeprefix("spark.").replace(".", "-") + f"-{self.value}-{self.program}"

    @property
    def twin(self) -> str:
        """Name of the run with the default: of the program and of what both set."""
        own = ((self.key, self.usual),) if self.usual else ()
        others = [f"{key.rpartition('.')[2]}-{value}" for key, value in (*self.also, *own)]
        return "-".join(["twin", self.program, *others])

    def conf(self, bad: bool) -> Dict[str, str]:
        own = self.value if bad else self.usual
        return {**dict(self.also), **({self.key: own} if own else {})}


FEW = (("spark.sql.shuffle.partitions", "8"),)
STATIC = (*FEW, ("spark.sql.adaptive.enabled", "false"))
SORTED = (*FEW, ("spark.sql.autoBroadcastJoinThreshold", "-1"))
SPLIT = (*SORTED, ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "8m"))
SKEWED = (*SPLIT, ("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "8m"))
ZSTD = (*FEW, ("spark.io.compression.codec", "zstd"))
HEAP = (*FEW, ("spark.driver.memory", "1g"))

ROWS = [
    ("spark.io.compression.zstd.level", "19", "shuffle", ZSTD),
    ("spark.io.compression.codec", "lzf", "shuffle", FEW),
    ("spark.io.compression.zstd.bufferSize", "1k", "shuffle", ZSTD),
    ("spark.io.compression.lz4.blockSize", "1k", "shuffle", FEW),
    ("spark.shuffle.compress", "false", "shuffle", FEW),
    ("spark.shuffle.file.buffer", "1k", "shuffle", FEW),
    ("spark.shuffle.unsafe.file.output.buffer", "1k", "shuffle", FEW),
    ("spark.shuffle.sync", "true", "shuffle", FEW),
    ("spark.shuffle.sort.bypassMergeThreshold", "5000", "shuffle", ()),
    ("spark.shuffle.spill.numElementsForceSpillThreshold", "50000", "sort", FEW),
    ("spark.shuffle.spill.compress", "false", "sort", HEAP),
    ("spark.shuffle.spill.diskWriteBufferSize", "1k", "sort", HEAP),
    ("spark.sql.shuffle.partitions", "2000", "shuffle", STATIC),
    ("spark.sql.shuffle.partitions", "1", "sort", FEW),
    ("spark.default.parallelism", "800", "many_python_tasks", ()),
    ("spark.sql.files.maxPartitionBytes", "256k", "scan", FEW),
    ("spark.sql.files.maxPartitionBytes", "2g", "scan", (*FEW, ("spark.sql.files.minPartitionNum", "1"))),
    ("spark.sql.files.openCostInBytes", "128m", "many_folders", FEW),
    ("spark.sql.files.minPartitionNum", "2000", "scan", FEW),
    ("spark.sql.files.maxRecordsPerFile", "500", "write", ()),
    ("spark.sql.parquet.compression.codec", "gzip", "write", ()),
    ("spark.sql.parquet.enableVectorizedReader", "false", "scan", FEW),
    ("spark.sql.parquet.filterPushdown", "false", "scan", FEW),
    ("spark.sql.parquet.columnarReaderBatchSize", "2", "scan", FEW),
    ("spark.sql.parquet.mergeSchema", "true", "many_folders", FEW),
    ("spark.sql.orc.enableVectorizedReader", "false", "scan_orc", FEW),
    ("spark.sql.orc.filterPushdown", "false", "scan_orc", FEW),
    ("spark.sql.orc.impl", "hive", "scan_orc", FEW),
    ("spark.sql.orc.columnarReaderBatchSize", "2", "scan_orc", FEW),
    ("spark.sql.sources.parallelPartitionDiscovery.threshold", "100000", "many_folders", FEW),
    ("spark.sql.sources.parallelPartitionDiscovery.parallelism", "1", "many_folders", FEW),
    ("spark.sql.codegen.wholeStage", "false", "arithmetic", FEW),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN", "arithmetic", FEW),
    ("spark.sql.codegen.maxFields", "1", "arithmetic", FEW),
    ("spark.sql.codegen.hugeMethodLimit", "1", "arithmetic", FEW),
    ("spark.sql.inMemoryColumnarStorage.batchSize", "10", "cached", FEW),
    ("spark.sql.inMemoryColumnarStorage.enableVectorizedReader", "false", "cached", FEW),
    ("spark.sql.inMemoryColumnarStorage.compressed", "false", "cached", HEAP),
    ("spark.sql.execution.arrow.pyspark.enabled", "false", "to_pandas", (), "true"),
    ("spark.sql.execution.arrow.maxRecordsPerBatch", "5", "pandas", FEW),
    ("spark.sql.execution.pandas.udf.buffer.size", "16", "pandas", FEW),
    ("spark.buffer.size", "16", "functions", FEW),
    ("spark.python.worker.reuse", "false", "functions", FEW),
    ("spark.python.worker.reuse", "false", "many_python_tasks", ()),
    ("spark.python.use.daemon", "false", "python_groups", ()),
    ("spark.sql.autoBroadcastJoinThreshold", "-1", "small_join", FEW),
    ("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1", "small_join", SORTED),
    ("spark.sql.adaptive.enabled", "false", "shuffle", ()),
    ("spark.sql.adaptive.coalescePartitions.enabled", "false", "shuffle", ()),
    ("spark.sql.adaptive.coalescePartitions.minPartitionNum", "200", "shuffle", ()),
    ("spark.sql.adaptive.coalescePartitions.initialPartitionNum", "3000", "shuffle", ()),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "16k", "sort", ()),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "4g", "sort", (("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false"),)),
    ("spark.sql.adaptive.skewJoin.enabled", "false", "skewed_join", SKEWED),
    ("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "1000", "skewed_join", SKEWED),
    ("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "100g", "skewed_join", SPLIT, "8m"),
    ("spark.sql.execution.useObjectHashAggregateExec", "false", "collections", FEW),
    ("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "1", "collections", FEW),
    ("spark.sql.windowExec.buffer.spill.threshold", "10000", "window", FEW),
    ("spark.sql.windowExec.buffer.in.memory.threshold", "1", "window", FEW),
    ("spark.sql.sortMergeJoinExec.buffer.spill.threshold", "10", "join", SORTED),
    ("spark.sql.sortMergeJoinExec.buffer.in.memory.threshold", "1", "join", SORTED),
    ("spark.memory.fraction", "0.05", "sort", HEAP),
    ("spark.memory.storageFraction", "0.05", "cached", HEAP),
    ("spark.task.cpus", "2", "sort", FEW),
    ("spark.sql.streaming.stateStore.minDeltasForSnapshot", "1", "state", FEW),
    ("spark.sql.streaming.stateStore.compression.codec", "zstd", "state", FEW),
    ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1", "sort", FEW),
    ("spark.driver.extraJavaOptions", "-Xint", "small_join", FEW),
    ("spark.python.worker.memory", "1m", "python_groups", ()),
    ("spark.hadoop.mapreduce.input.fileinputformat.split.maxsize", "50000", "lines", ()),
]

PROPERTIES = list(dict.fromkeys(row[0] for row in ROWS))
CASES: List[Case] = [Case(*row, held_out=PROPERTIES.index(row[0]) % 3 == 2) for row in ROWS]
