"""Lines of text that Python counts: quantities by mode and month, then the busiest month of each mode."""

from typing import Tuple

from tpch import TABLES, start


def parse(line: str) -> Tuple[Tuple[str, str], float]:
    fields = line.split(",")
    return (fields[14], fields[10][:7]), float(fields[4])


def main() -> None:
    spark = start()
    lines = spark.sparkContext.textFile(str(TABLES / "plain")).filter(lambda line: not line.startswith("l_"))
    months = lines.map(parse).reduceByKey(lambda a, b: a + b)
    best = months.map(lambda one: (one[0][0], (one[1], one[0][1]))).reduceByKey(max)
    print(sorted(best.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
