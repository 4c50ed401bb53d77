"""Which applications run again and again, and with what: input, executors and cores vary, the program does not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

SPARK_3, SPARK_4 = "3.5.6", "4.3.0"
DEVELOPMENT, HELD_OUT = "development", "held-out"
VARIED = 9  # runs of an application before the last one, of 16 that could be
TEXT, COLUMNS = "csv/lineitem/lineitem.{}.csv", "lineitem/lineitem.{}.parquet"
# Five virtual machines share two cores: parallel collectors and the second compiler would keep these busy.
SETTINGS = {
    "spark.executor.memory": "900m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "8",
    "spark.eventLog.includeTaskMetricsAccumulators": "false",  # Spark 4: the log has them as metrics already
}


@dataclass(frozen=True)
class Configuration:
    """What differs between the runs of one application."""

    executors: int
    cores: int  # of an executor
    parts: int  # of the input
    again: int = 0  # distinguishes equal ones

    @property
    def name(self) -> str:
        again = f"-again{self.again}" if self.again else ""
        return f"{self.executors}x{self.cores}-{self.parts}{again}"


@dataclass(frozen=True)
class Application:
    """A program that runs again and again, with inputs of these sizes: numbers of files."""

    name: str
    split: str
    version: str
    form: str = TEXT
    sizes: tuple[int, int, int] = (2, 4, 6)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def logged_name(self) -> str:
        return f"fleet_{self.name}"

    def default(self) -> Configuration:
        return Configuration(2, 1, self.sizes[1])

    def configurations(self) -> list[Configuration]:
        """Return those of all runs, in an order that looks like chance and is always the same, the default one at the end."""
        small, middle, large = self.sizes
        found = [Configuration(executors, 1, size) for executors in (1, 2, 3, 4) for size in self.sizes]
        found += [Configuration(1, 2, middle), Configuration(2, 2, large), Configuration(2, 1, middle, 1)]
        found += [Configuration(2, 1, small, 1)]
        random.Random(self.name).shuffle(found)
        return [*found[:VARIED], replace(self.default(), again=2)]


FIRST = (
    Application("ledger", DEVELOPMENT, SPARK_4),
    Application("callouts", DEVELOPMENT, SPARK_3),
    Application("ranking", HELD_OUT, SPARK_3, COLUMNS, (4, 8, 12)),
    Application("letters", HELD_OUT, SPARK_4),
    Application("couriers", HELD_OUT, SPARK_3),
    Application("fitting", HELD_OUT, SPARK_4, COLUMNS, (4, 8, 12)),
)
# Written when the choice of models was final; they run after all others.
LATER = (
    Application("tills", HELD_OUT, SPARK_3, COLUMNS, (4, 8, 12)),
    Application("archivist", HELD_OUT, SPARK_4),
    Application("matcher", HELD_OUT, SPARK_3, COLUMNS, (4, 8, 12)),
    Application("glossary", HELD_OUT, SPARK_4, sizes=(1, 2, 4)),
    Application("digest", HELD_OUT, SPARK_4, COLUMNS, (3, 6, 9)),
    Application("rehearsal", HELD_OUT, SPARK_3, COLUMNS, (4, 8, 12)),
)
APPLICATIONS = (*FIRST, *LATER)


def runs() -> Iterator[tuple[Application, Configuration]]:
    """Yield all runs: the applications take turns, so that a slow hour of the machine is not that of one of them."""
    for group in (FIRST, LATER):
        for row in zip_longest(*(one.configurations() for one in group)):
            yield from ((one, configuration) for one, configuration in zip(group, row) if configuration)
