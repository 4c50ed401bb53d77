"""Fatso, repaired: an aggregate that keeps one word of each letter."""

from fatso import main
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def last_of_column(words: DataFrame) -> DataFrame:
    """Only the largest word so far is kept."""
    return words.groupBy("letter").agg(F.max(F.expr("concat(word, ' ', upper(word))")).alias("last"))


if __name__ == "__main__":
    main(last_of_column)
