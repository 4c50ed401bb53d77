"""Three thousand JSON files of half a kilobyte, read twice: for their schema, then for the sums."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for _ in range(2):
        events = spark.read.json(str(DATA / "tiny-json"))
        print(events.groupBy("kind").agg(F.count("*"), F.sum("value")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
