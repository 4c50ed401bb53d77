"""Words of comments that Python counts, then how many words are how frequent."""

from operator import add

from common import session
from inputs import text_files


def words(line: str) -> list:
    return [(word.strip(".,;:!?-"), 1) for word in line.rpartition(",")[2].split() if len(word) > 3]


def main() -> None:
    spark = session()
    counts = spark.sparkContext.textFile(",".join(text_files())).flatMap(words).reduceByKey(add, 8)
    levels = counts.map(lambda one: (len(str(one[1])), 1)).reduceByKey(add, 4)
    print(sorted(levels.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
