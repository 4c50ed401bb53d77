"""Limited: each order is a request to a service that refuses too many of them, and the client waits and tries again."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from typing import Callable, Iterable

from prices import Service, one_by_one
from riddle import start

ORDERS, PARTITIONS = 320, 8


def main(prices: Callable[[str, Iterable[int]], Iterable[int]] = one_by_one) -> None:
    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{service.server_port}"
    spark = start()
    orders = spark.sparkContext.range(0, ORDERS, 1, PARTITIONS)
    print(orders.mapPartitions(lambda part: prices(address, part)).sum(), flush=True)
    spark.stop()
    service.shutdown()


if __name__ == "__main__":
    main()
