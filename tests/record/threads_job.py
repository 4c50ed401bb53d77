"""A small application that saves what its REST API says of the threads of its JVMs while tasks run."""

from __future__ import annotations

import sys
import threading
import time
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession

OUT = Path(sys.argv[1])

spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
sc.setLogLevel("WARN")
work = threading.Thread(target=lambda: spark.range(0, 2_000_000_000, 1, 2).selectExpr("sum(sqrt(id))").collect())
work.start()
time.sleep(3)
for executor in ("driver", "0"):
    address = f"{sc.uiWebUrl}/api/v1/applications/{sc.applicationId}/executors/{executor}/threads"
    with urllib.request.urlopen(address, timeout=30) as reply:
        name = "driver" if executor == "driver" else f"executor-{executor}"
        (OUT / f"{name}-threads.json").write_bytes(reply.read())
sc.cancelAllJobs()
work.join()
spark.stop()
