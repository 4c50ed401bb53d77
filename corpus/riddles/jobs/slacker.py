"""Slacker: the price of each order comes from a service, one request for each order."""

from __future__ import annotations

import time
from typing import Callable, Iterable, Iterator

from riddle import start

ORDERS, PARTITIONS = 1_600, 16
REQUEST_S, ORDER_S = 0.05, 0.0005  # what the service takes for a request, and for an order of it


def ask_service(orders: list[int]) -> list[int]:
    """Wait for the service, which answers with the prices of some orders."""
    time.sleep(REQUEST_S + ORDER_S * len(orders))
    return [order * 31 % 97 for order in orders]


def one_by_one(orders: Iterable[int]) -> Iterator[int]:
    """A request for each order."""
    for order in orders:
        yield from ask_service([order])


def main(prices: Callable[[Iterable[int]], Iterable[int]] = one_by_one) -> None:
    spark = start()
    orders = spark.sparkContext.range(0, ORDERS, 1, PARTITIONS)
    print(orders.mapPartitions(prices).sum(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
