"""Three JSON files of one array over many lines each: one task reads a whole file."""

from common import DATA, session
from pyspark.sql import functions as F

SCHEMA = "id BIGINT, kind INT, tags ARRAY<STRING>, note STRING"


def main() -> None:
    spark = session()
    for column in ("kind", "note"):
        rows = spark.read.json(str(DATA / "nested-json"), schema=SCHEMA, multiLine=True)
        print(rows.groupBy(column).agg(F.count("*"), F.max("tags")).collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
