"""Prints what Spark itself says of its properties, as JSON: {KEY: [DEFAULT, VERSION]}. Runs in an environment with pyspark.

The entries register themselves when the objects that hold them are loaded.
"""

from __future__ import annotations

import json
import sys

from pyspark.java_gateway import launch_gateway

CORE = "package Python Kryo Streaming Status UI R Network Deploy Worker History"
SQL = "internal.SQLConf internal.StaticSQLConf hive.HiveUtils execution.streaming.state.RocksDBConf"


def main() -> None:
    gateway = launch_gateway()
    load = gateway.jvm.java.lang.Class.forName
    for name in CORE.split():
        load(f"org.apache.spark.internal.config.{name}$")
    for name in SQL.split():
        try:
            load(f"org.apache.spark.sql.{name}$")
        except Exception:  # py4j has one type for all of Java's; some are in one of the versions only
            print(f"no {name}", file=sys.stderr)
    entries = load("org.apache.spark.internal.config.ConfigEntry$").getField("MODULE$").get(None).knownConfigs()
    found = {key: [entries[key].defaultValueString(), entries[key].version()] for key in entries}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file)
    gateway.shutdown()


if __name__ == "__main__":
    main()
