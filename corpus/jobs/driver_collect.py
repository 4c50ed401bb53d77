"""Whole tables are brought to the driver, four times, where a filter there would have been a filter here."""

from common import session, text, wait_where


def main() -> None:
    spark = session()
    for seed in range(4):
        rows = text(spark.range(seed, 1_000_000 + seed, 1, 8)).withColumn(
            "w", wait_where("id % 25000 = 1", "150")
        )
        collected = rows.collect()
        print(sum(row.text.startswith("00") for row in collected), flush=True)
        del collected
    spark.stop()


if __name__ == "__main__":
    main()
