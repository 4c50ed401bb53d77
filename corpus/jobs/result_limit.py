"""Reports are collected that are larger than spark.driver.maxResultSize: the first ends the application."""

from common import session, text, wait_where


def main() -> None:
    spark = session()
    for rows in (360_000, 370_000, 480_000):
        report = text(spark.range(0, rows, 1, 12)).withColumn(
            "w", wait_where("id % 15000 = 1", "250")
        )
        print(len(report.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
