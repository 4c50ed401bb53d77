"""The worst years of a few scenarios, four scenarios at a time."""

import random
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkContext
from tpch import start

SCENARIOS, YEARS = 12, 6_500_000


def worst_year(scenario: int) -> float:
    source, worst = random.Random(scenario), 0.0
    for _ in range(YEARS):
        worst = min(worst, source.random() ** 0.5 - source.random())
    return round(worst, 6)


def run_scenario(sc: SparkContext, scenario: int) -> float:
    return sc.parallelize([scenario], 1).map(worst_year).collect()[0]


def main() -> None:
    spark = start()
    with ThreadPoolExecutor(4) as pool:
        print(list(pool.map(lambda scenario: run_scenario(spark.sparkContext, scenario), range(SCENARIOS))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
