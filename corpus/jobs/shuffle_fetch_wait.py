"""Three wide shuffles served by a shuffle service that is stopped most of the time."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(3):
        rows = text(spark.range(seed, seed + 1_200_000, 1, 24)).repartition(32, "id")
        rows.agg(F.max("text"), F.count("*")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
