"""Fatso: the last word of each letter, found by collecting all words into lists and sorting these."""

from __future__ import annotations

from typing import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from riddle import start


def last_of_list(words: DataFrame) -> DataFrame:
    """All words of a letter become objects of one list."""
    lists = words.groupBy("letter").agg(F.collect_list("word").alias("words"))
    return lists.selectExpr("letter", "element_at(array_sort(transform(words, w -> concat(w, ' ', upper(w)))), -1) AS last")


def main(last: Callable[[DataFrame], DataFrame] = last_of_list) -> None:
    spark = start()
    for day in range(6):
        words = spark.range(day, 2_000_000 + day, 1, 4).selectExpr("id % 96 AS letter", "concat('value ', id) AS word")
        print(last(words).agg(F.max("last"), F.count("letter")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
