"""Python counts the items of each way to ship, how many were late, and how their comments rhyme."""

from common import session
from inputs import text_files


def courier(line: str) -> tuple:
    fields = line.split(",")
    endings = {word[-2:] for word in fields[15].split()}
    return fields[14], (1, int(fields[12] > fields[11]), sum(hash(ending) % 7 for ending in endings))


def main() -> None:
    spark = session()
    lines = spark.sparkContext.textFile(",".join(text_files()))
    items = lines.filter(lambda line: not line.startswith("l_orderkey"))
    totals = items.map(courier).reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), 4)
    print(sorted(totals.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
