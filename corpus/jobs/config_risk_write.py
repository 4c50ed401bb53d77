"""Tables are written with speculation and a committer that publishes what every attempt has written."""

from common import DATA, session, text, wait_where


def main() -> None:
    spark = session()
    for seed in range(3):
        rows = text(spark.range(seed, 120_000 + seed, 1, 24)).withColumn(
            "w", wait_where("id % 500 = 1", "150")
        )
        target = str(DATA.parent / "out" / f"config-risk-{seed}")
        rows.write.mode("overwrite").parquet(target)
        print(seed, spark.read.parquet(target).count(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
