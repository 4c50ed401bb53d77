"""Heckler: the words of texts are counted with a language model, which is loaded for each text."""

from __future__ import annotations

from typing import Callable

from pipelines import words_with_own_model
from pyspark.sql import functions as F
from riddle import start

TEXTS, PARTITIONS = 160, 8


def main(words: Callable[[int, str], int] = words_with_own_model) -> None:
    spark = start()
    texts = spark.range(0, TEXTS, 1, PARTITIONS)
    texts = texts.withColumn("text", F.expr("concat('Order ', id, ' was sent to Dr. No, who lives in St. Ives; it weighs 5kg.')"))
    counts = texts.withColumn("words", F.udf(words, "int")("id", "text"))
    print(counts.agg(F.sum("words"), F.max("words")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
