"""Python pairs partitioned into 120 files a task, each synchronized to disk."""

from common import session


def main() -> None:
    sc = session().sparkContext
    for seed in range(3):
        rows = sc.range(seed, seed + 600_000, 1, 24).map(lambda row: (row, "x" * 60))
        print(rows.partitionBy(120).mapValues(len).values().sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
