"""Lines of text, summed by order before they are dealt to other tasks."""

from typing import Tuple

from tpch import TABLES, start


def parse(line: str) -> Tuple[str, float]:
    fields = line.split(",")
    return fields[2], float(fields[4]) * float(fields[5])


def main() -> None:
    spark = start()
    lines = spark.sparkContext.textFile(str(TABLES / "plain")).filter(lambda line: not line.startswith("l_"))
    amounts = lines.map(parse).reduceByKey(lambda a, b: a + b)
    print(amounts.map(lambda one: one[1]).max(), amounts.count(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
