"""Lines of text in small parts that Python counts: sold quantities by mode."""

from tpch import TABLES, start


def main() -> None:
    spark = start()
    lines = spark.sparkContext.textFile(str(TABLES / "plain"), 120).filter(lambda line: not line.startswith("l_"))
    modes = lines.map(lambda line: line.split(",")).map(lambda one: (one[14], float(one[4])))
    print(sorted(modes.reduceByKey(lambda a, b: a + b, 2).collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
