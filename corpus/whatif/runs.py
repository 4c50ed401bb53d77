"""Which runs are recorded for the pairs, and which of them are compared: the same job, other settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SPARK_3, SPARK_4 = "3.5.6", "4.3.0"
DEVELOPMENT, HELD_OUT = "development", "held-out"
NO_AQE = {"spark.sql.adaptive.enabled": "false"}
# of files of about a megabyte each is a task of its own, whatever the number of slots
SPLIT = {"spark.sql.files.maxPartitionBytes": "4m"}


# the second compiler and parallel collectors of six virtual machines would keep two cores busy for minutes
JAVA = {
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


@dataclass(frozen=True)
class Run:
    """One recorded application."""

    job: str
    name: str  # of the log, behind the job's
    executors: int = 2
    cores: int = 1
    memory: str = "800m"  # of an executor's heap
    conf: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> str:
        return f"{self.job}-{self.name}"


@dataclass(frozen=True)
class Job:
    """A program, the settings that all its runs share, its runs and the pairs of them, by name."""

    script: str
    version: str
    split: str
    conf: dict[str, str]
    runs: tuple[Run, ...]
    pairs: tuple[tuple[str, str], ...]  # (base, other)
    repeats: tuple[str, ...] = ()  # runs that were recorded again, as NAME-again and NAME-third
    timeout_s: int = 240
    java: dict[str, str] = field(default_factory=lambda: JAVA)
    tpch: bool = False  # reads tables of TPC-H; nothing in it waits


def tpch_job(
    script: str, version: str, split: str, runs: tuple[Run, ...], pairs: tuple[tuple[str, str], ...], **more: Any
) -> Job:
    """Return a job over TPC-H tables; its virtual machines run with their own defaults."""
    conf = {"spark.sql.autoBroadcastJoinThreshold": "-1", **more.pop("conf", {})}
    return Job(script, version, split, conf, runs, pairs, java={}, tpch=True, **more)


def cuts(job: str, many: int, few: int) -> tuple[Run, ...]:
    """Return runs with many shuffle partitions, with few, and with many that adaptive execution coalesces."""
    return (
        Run(job, "many", memory="1g", conf={**AQE[False], **shuffles(many)}),
        Run(job, "few", memory="1g", conf={**AQE[False], **shuffles(few)}),
        Run(job, "adaptive", memory="1g", conf={**AQE[True], **shuffles(many)}),
    )


def splitting(job: str, **sizes: str) -> tuple[Run, ...]:
    """Return runs that read files in parts of other sizes."""
    conf = {**NO_AQE, **shuffles(8)}
    return tuple(
        Run(job, name, memory="1g", conf={**conf, "spark.sql.files.maxPartitionBytes": size})
        for name, size in sizes.items()
    )


def heaps(job: str, count: int, *sizes: str, **more: str) -> tuple[Run, ...]:
    """Return runs that differ in the heap of an executor."""
    return tuple(Run(job, size, memory=size, conf={**NO_AQE, **shuffles(count), **more}) for size in sizes)


def opening(job: str) -> tuple[Run, ...]:
    """Return runs that read many small files: a few in a task, many in a task, and with one executor."""
    conf = {**NO_AQE, **shuffles(4)}
    usual = {"spark.sql.files.openCostInBytes": "4m", "spark.sql.files.minPartitionNum": "2"}  # as by default
    cheap = {"spark.sql.files.openCostInBytes": "64k", "spark.sql.files.minPartitionNum": "4"}
    return (
        Run(job, "usual", memory="1g", conf={**conf, **usual}),
        Run(job, "cheap", memory="1g", conf={**conf, **cheap}),
        Run(job, "one", 1, memory="1g", conf={**conf, **usual}),
    )


def parallel(job: str, many: int, few: int) -> tuple[Run, ...]:
    """Return runs of RDDs in many partitions, and in few."""
    return tuple(
        Run(job, name, memory="1g", conf={"spark.default.parallelism": str(count)})
        for name, count in (("many", many), ("few", few))
    )


def sizes(job: str, *counts: int, **more: Any) -> tuple[Run, ...]:
    """Return runs that differ in the number of executors only."""
    return tuple(Run(job, str(count), count, **more) for count in counts)


def star(base: str, *others: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of one base with each of the others."""
    return tuple((base, other) for other in others)


def dynamic(low: int, high: int, first: int, backlog: str = "1s") -> dict[str, str]:
    """Return the settings of dynamic allocation."""
    prefix = "spark.dynamicAllocation"
    return {
        f"{prefix}.enabled": "true",
        f"{prefix}.minExecutors": str(low),
        f"{prefix}.maxExecutors": str(high),
        f"{prefix}.initialExecutors": str(first),
        f"{prefix}.schedulerBacklogTimeout": backlog,
    }


def shuffles(count: int) -> dict[str, str]:
    return {"spark.sql.shuffle.partitions": str(count)}


FRACTION = Run(
    "cachedtable",
    "fraction",
    memory="2g",
    conf={"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "8", "spark.memory.fraction": "0.25"},
)
BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "64m"}
SMALL_PIECES = {
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "4m",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m",
}
FIXED = {"spark.dynamicAllocation.enabled": "false"}
FAIR, FIFO = ({"spark.scheduler.mode": mode} for mode in ("FAIR", "FIFO"))
AQE = {True: {"spark.sql.adaptive.enabled": "true"}, False: NO_AQE}
COALESCE = {on: {"spark.sql.adaptive.coalescePartitions.enabled": str(on).lower()} for on in (True, False)}
SKEW = {on: {"spark.sql.adaptive.skewJoin.enabled": str(on).lower()} for on in (True, False)}
TRACKING = {
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "4s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
}

JOBS: tuple[Job, ...] = (
    Job(
        "reports",
        SPARK_3,
        DEVELOPMENT,
        {**SPLIT, **COALESCE[False]},
        (
            *sizes("reports", 1, 2, 3, 4, 6, conf=shuffles(12)),
            Run("reports", "2x2", 2, 2, conf=shuffles(12)),
            Run("reports", "4-of-30", 4, conf=shuffles(30)),
        ),
        (
            *star("2", "1", "3", "4", "6", "2x2"),
            *star("4", "1", "2", "6", "4-of-30"),
            *star("1", "2", "4"),
            *star("6", "2", "4"),
            ("2", "4-of-30"),
            ("4-of-30", "4"),
        ),
        repeats=("2", "6"),
    ),
    Job(
        "threads",
        SPARK_3,
        DEVELOPMENT,
        {**NO_AQE, **shuffles(6)},
        (*sizes("threads", 1, 2, 4, 6, conf=FIFO), Run("threads", "fair-4", 4, conf=FAIR)),
        (*star("2", "1", "4", "6"), *star("4", "1", "2", "6", "fair-4"), *star("6", "2", "4")),
        repeats=("4",),
    ),
    Job(
        "partitions",
        SPARK_4,
        DEVELOPMENT,
        NO_AQE,
        (
            Run("partitions", "16", 4, conf={**shuffles(16), **SPLIT}),
            Run("partitions", "48", 4, conf={**shuffles(48), **SPLIT}),
            Run("partitions", "160", 4, conf={**shuffles(160), **SPLIT}),
            Run("partitions", "16-split", 4, conf={**shuffles(16), "spark.sql.files.maxPartitionBytes": "16m"}),
            Run("partitions", "2-of-48", 2, conf={**shuffles(48), **SPLIT}),
        ),
        (
            *star("16", "48", "160", "16-split", "2-of-48"),
            *star("48", "16", "160", "2-of-48"),
            ("160", "16"),
            ("16-split", "16"),
        ),
    ),
    Job(
        "phases",
        SPARK_3,
        DEVELOPMENT,
        {**NO_AQE, **shuffles(4), **TRACKING},
        (
            *sizes("phases", 2, 4, conf=FIXED),
            Run("phases", "dynamic-4", 4, conf=dynamic(1, 4, 1)),
            Run("phases", "dynamic-late", 4, conf=dynamic(1, 4, 1, "5s")),
        ),
        (
            *star("2", "4", "dynamic-4"),
            *star("4", "2", "dynamic-4"),
            *star("dynamic-4", "2", "4", "dynamic-late"),
        ),
    ),
    Job(
        "memory",
        SPARK_3,
        DEVELOPMENT,
        {**NO_AQE, **shuffles(4)},
        (
            Run("memory", "1g", memory="1g"),
            Run("memory", "2g", memory="2g"),
            Run("memory", "500m", memory="500m"),
        ),
        (*star("1g", "500m", "2g"), *star("500m", "1g", "2g"), ("2g", "500m")),
        repeats=("1g",),
    ),
    Job(
        "adaptive",
        SPARK_3,
        DEVELOPMENT,
        {
            **SPLIT,
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m",
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "2m",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
        },
        (
            Run("adaptive", "off", 4, conf={**AQE[False], **shuffles(24)}),
            Run("adaptive", "on", 4, conf={**AQE[True], **SKEW[True], **COALESCE[True], **shuffles(24)}),
            Run("adaptive", "no-skew", 4, conf={**AQE[True], **SKEW[False], **COALESCE[True], **shuffles(24)}),
            Run("adaptive", "on-2", 2, conf={**AQE[True], **SKEW[True], **COALESCE[True], **shuffles(24)}),
        ),
        (
            *star("on", "on-2", "no-skew", "off"),
            *star("no-skew", "on"),
            *star("off", "on"),
        ),
    ),
    Job(
        "pools",
        SPARK_4,
        HELD_OUT,
        {**NO_AQE, **shuffles(4)},
        (*sizes("pools", 1, 2, 4, 6, conf=FAIR), Run("pools", "fifo-2", 2, conf=FIFO)),
        (*star("2", "1", "4", "6", "fifo-2"), *star("4", "2", "6")),
    ),
    Job(
        "rdd",
        SPARK_3,
        HELD_OUT,
        {},
        sizes("rdd", 1, 2, 4),
        (*star("2", "1", "4"), *star("4", "1", "2")),
        repeats=("4",),
    ),
    Job(
        "skew",
        SPARK_4,
        HELD_OUT,
        {},
        sizes("skew", 1, 2, 4, 6),
        (*star("2", "1", "4", "6"), *star("4", "1", "2", "6"), ("6", "2")),
    ),
    Job(
        "processor",
        SPARK_3,
        HELD_OUT,
        {**NO_AQE, **shuffles(4)},
        (*sizes("processor", 1, 2), Run("processor", "1x2", 1, 2)),
        (*star("1", "2", "1x2"), *star("2", "1", "1x2")),
    ),
    Job(
        "waves",
        SPARK_4,
        HELD_OUT,
        {**NO_AQE, **shuffles(4), **TRACKING},
        (
            *sizes("waves", 3, conf=FIXED),
            Run("waves", "dynamic-3", 3, conf=dynamic(1, 3, 1)),
            Run("waves", "dynamic-2", 2, conf=dynamic(1, 2, 1)),
        ),
        (*star("3", "dynamic-3"), *star("dynamic-3", "3", "dynamic-2"), ("dynamic-2", "dynamic-3")),
    ),
    # Real work on real-looking data
    tpch_job(
        "grouping",
        SPARK_4,
        DEVELOPMENT,
        (*cuts("grouping", 1600, 8), Run("grouping", "middle", memory="1g", conf={**NO_AQE, **shuffles(200)})),
        (*star("many", "few", "adaptive"), ("few", "many"), ("middle", "few"), ("adaptive", "many")),
        repeats=("few",),
    ),
    tpch_job(
        "joining",
        SPARK_3,
        DEVELOPMENT,
        (
            *cuts("joining", 800, 16),
            Run("joining", "broadcast", memory="1g", conf={**NO_AQE, **shuffles(16), **BROADCAST}),
        ),
        (*star("many", "few", "adaptive"), ("few", "broadcast"), ("adaptive", "few")),
    ),
    tpch_job(
        "splits",
        SPARK_4,
        DEVELOPMENT,
        splitting("splits", small="512k", middle="8m", large="128m"),
        (*star("small", "middle", "large"), ("large", "small")),
    ),
    tpch_job(
        "sorting",
        SPARK_4,
        DEVELOPMENT,
        heaps("sorting", 4, "600m", "1g", "2g"),
        (*star("600m", "1g", "2g"), ("2g", "600m")),
    ),
    tpch_job(
        "writing",
        SPARK_3,
        DEVELOPMENT,
        cuts("writing", 400, 6),
        (*star("many", "few", "adaptive"), ("few", "many")),
    ),
    tpch_job(
        "pythons",
        SPARK_4,
        DEVELOPMENT,
        cuts("pythons", 600, 6),
        (*star("many", "few", "adaptive"), ("few", "many")),
    ),
    tpch_job(
        "suppliers",
        SPARK_4,
        HELD_OUT,
        cuts("suppliers", 1000, 10),
        (*star("many", "few", "adaptive"), ("few", "many")),
        repeats=("few",),
    ),
    tpch_job(
        "windows",
        SPARK_3,
        HELD_OUT,
        cuts("windows", 600, 6),
        (*star("many", "few", "adaptive"), ("adaptive", "few")),
    ),
    tpch_job(
        "textfiles",
        SPARK_4,
        HELD_OUT,
        splitting("textfiles", small="512k", large="128m"),
        (("small", "large"), ("large", "small")),
    ),
    tpch_job(
        "stars",
        SPARK_4,
        HELD_OUT,
        (
            Run("stars", "sorted", memory="1g", conf={**NO_AQE, **shuffles(40)}),
            Run("stars", "broadcast", memory="1g", conf={**NO_AQE, **shuffles(40), **BROADCAST}),
            Run("stars", "adaptive", memory="1g", conf={**AQE[True], **shuffles(40)}),
        ),
        star("sorted", "broadcast", "adaptive"),
    ),
    tpch_job(
        "exports",
        SPARK_4,
        HELD_OUT,
        cuts("exports", 300, 6),
        (*star("many", "few", "adaptive"), ("few", "many")),
    ),
    tpch_job(
        "distincts",
        SPARK_3,
        HELD_OUT,
        heaps("distincts", 8, "700m", "1g", "2g"),
        (*star("700m", "1g", "2g"), ("2g", "700m")),
    ),
    tpch_job(
        "hotkey",
        SPARK_4,
        HELD_OUT,
        (
            Run("hotkey", "default", 2, memory="1g", conf={**AQE[True], **shuffles(24)}),
            Run("hotkey", "cut", 2, memory="1g", conf={**AQE[True], **shuffles(24), **SMALL_PIECES}),
        ),
        (("default", "cut"), ("cut", "default")),
    ),
    # Other kinds: small queries, files and folders, pressure on memory, RDDs, wide rows, caches
    tpch_job(
        "smallqueries",
        SPARK_3,
        DEVELOPMENT,
        cuts("smallqueries", 200, 8),
        (*star("many", "few", "adaptive"), ("few", "many")),
    ),
    tpch_job(
        "folders",
        SPARK_4,
        DEVELOPMENT,
        cuts("folders", 48, 4)[:2],
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "jsonfiles",
        SPARK_4,
        DEVELOPMENT,
        opening("jsonfiles"),
        (*star("usual", "cheap", "one"), ("cheap", "usual")),
    ),
    tpch_job(
        "hotmemory",
        SPARK_3,
        DEVELOPMENT,
        heaps("hotmemory", 12, "600m", "2g"),
        (("600m", "2g"), ("2g", "600m")),
    ),
    tpch_job(
        "rddsums",
        SPARK_3,
        DEVELOPMENT,
        parallel("rddsums", 300, 8),
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "wideaggs",
        SPARK_4,
        DEVELOPMENT,
        cuts("wideaggs", 400, 8)[:2],
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "cachedtable",
        SPARK_3,
        DEVELOPMENT,
        (*heaps("cachedtable", 8, "700m", "2g", **{"spark.memory.fraction": "0.6"}), FRACTION),
        (*star("700m", "2g"), ("2g", "700m"), ("2g", "fraction"), ("fraction", "2g")),
    ),
    tpch_job(
        "cachedrdd",
        SPARK_4,
        DEVELOPMENT,
        heaps("cachedrdd", 8, "700m", "2g"),
        (("700m", "2g"), ("2g", "700m")),
    ),
    tpch_job(
        "lookups",
        SPARK_4,
        HELD_OUT,
        cuts("lookups", 200, 6)[:2],
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "daily",
        SPARK_3,
        HELD_OUT,
        cuts("daily", 30, 3)[:2],
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "csvfiles",
        SPARK_3,
        HELD_OUT,
        opening("csvfiles"),
        (*star("usual", "cheap", "one"), ("cheap", "usual")),
    ),
    tpch_job(
        "hotwindow",
        SPARK_4,
        HELD_OUT,
        heaps("hotwindow", 12, "600m", "2g"),
        (("600m", "2g"), ("2g", "600m")),
    ),
    tpch_job(
        "rddwords",
        SPARK_4,
        HELD_OUT,
        parallel("rddwords", 200, 6),
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "pivots",
        SPARK_3,
        HELD_OUT,
        cuts("pivots", 300, 6)[:2],
        (("many", "few"), ("few", "many")),
    ),
    tpch_job(
        "cachedsteps",
        SPARK_4,
        HELD_OUT,
        (*heaps("cachedsteps", 8, "700m", "2g"), Run("cachedsteps", "one", 1, memory="2g", conf={**NO_AQE, **shuffles(8)})),
        (("700m", "2g"), ("2g", "700m"), ("2g", "one"), ("one", "2g")),
    ),
)
TPCH = {job.script for job in JOBS if job.tpch}


def run_of(job: Job, name: str) -> Run:
    """Return the run of that name."""
    return next(run for run in job.runs if run.name == name)


def settings(run: Run) -> dict[str, str]:
    """Return a run's settings that the pairs may differ in, under the names of whatif's options."""
    own = {"--cores": str(run.cores), "--memory": run.memory}
    if run.conf.get("spark.dynamicAllocation.enabled") != "true":
        own["--executors"] = str(run.executors)
    return {**own, **run.conf}


def options(base: Run, other: Run) -> list[str]:
    """Return the arguments of whatif that make the other run of the base."""
    before, after = settings(base), settings(other)
    words: list[str] = []
    for key, value in after.items():
        if before.get(key) != value:
            words += [key, value] if key.startswith("--") else ["--set", f"{key}={value}"]
    return words
