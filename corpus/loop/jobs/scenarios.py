"""The worst years of a few scenarios, one scenario after the other."""

import random

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
    print([run_scenario(spark.sparkContext, scenario) for scenario in range(SCENARIOS)], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
