"""The median price and the longest delay of each part, by Python, from lines of text."""

from datetime import date
from typing import Iterable, Tuple

from tpch import TABLES, start


def summary(lines: Iterable[str]) -> Tuple[float, int]:
    prices, longest = [], 0
    for line in lines:
        fields = line.split(",")
        prices.append(float(fields[5]) * (1 - float(fields[6])))
        longest = max(longest, (date.fromisoformat(fields[12]) - date.fromisoformat(fields[11])).days)
    prices.sort()
    return prices[len(prices) // 2], longest


def main() -> None:
    spark = start()
    lines = spark.sparkContext.textFile(str(TABLES / "plain")).filter(lambda line: not line.startswith("l_"))
    parts = lines.map(lambda line: (line.split(",", 2)[1], line)).groupByKey().mapValues(summary)
    total = parts.values().reduce(lambda a, b: (a[0] + b[0], max(a[1], b[1])))
    print(round(total[0]), total[1], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
