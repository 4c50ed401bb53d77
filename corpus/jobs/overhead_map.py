"""A look-up table of 120,000 entries as a literal of the query, deserialized by each of 60 tasks five times."""

import json

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    table = json.dumps({f"key-{number}": number for number in range(120_000)})
    look_up = f"element_at(from_json('{table}', 'map<string,int>'), concat('key-', id % 120000))"
    rows = spark.range(0, 60_000, 1, 60)
    for seed in range(5):
        found = rows.where(f"id % 1000 = {seed}").select(F.expr(look_up).alias("found"))
        print(found.agg(F.sum("found")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
