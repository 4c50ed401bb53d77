"""Write the tables of the jobs about files and formats; its own run is not recorded."""

import json

from common import DATA, session
from pyspark.sql import functions as F


def nested_json() -> None:
    """Write three files, each one JSON array over many lines."""
    folder = DATA / "nested-json"
    folder.mkdir(exist_ok=True)
    for number in range(3):
        rows = [
            {"id": i, "kind": i % 31, "tags": [f"tag {i % n}" for n in (7, 11, 13)], "note": "n" * 80}
            for i in range(number * 150_000, (number + 1) * 150_000)
        ]
        (folder / f"{number}.json").write_text(json.dumps(rows, indent=1))


def main() -> None:
    spark = session()
    out = str(DATA)
    sales = spark.read.parquet(f"{out}/sales")
    half = sales.where("id % 2 = 0")
    half.repartition(12).write.mode("overwrite").csv(f"{out}/sales-csv", header=True)
    half.repartition(12).write.mode("overwrite").json(f"{out}/sales-json")
    half.repartition(2).write.mode("overwrite").csv(f"{out}/sales-gzip", compression="gzip")
    events = sales.where("id % 3 > 0").select(
        "id",
        "customer",
        "text",
        F.expr("timestamp_seconds(1704067200 + (id % 60) * 86400 + id % 86400)").alias("at"),
        F.expr("CAST(id % 60 AS INT)").alias("day"),
    )
    events.repartition("day").write.mode("overwrite").partitionBy("day").parquet(f"{out}/events")
    nested_json()
    (DATA / "io-files").touch()
    spark.stop()


if __name__ == "__main__":
    main()
