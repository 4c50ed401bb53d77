"""Words of comments, counted and sorted with RDDs."""

from tpch import start, table


def main() -> None:
    spark = start()
    comments = table(spark, "orders").select("o_comment").filter("o_orderkey % 3 = 0").rdd
    words = comments.flatMap(lambda row: row[0].split(" ")).map(lambda word: (word[:4], len(word)))
    counted = words.aggregateByKey((0, 0), lambda a, n: (a[0] + 1, a[1] + n), lambda a, b: (a[0] + b[0], a[1] + b[1]))
    print(counted.sortBy(lambda pair: -pair[1][0]).take(5), flush=True)
    print(words.distinct().count(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
