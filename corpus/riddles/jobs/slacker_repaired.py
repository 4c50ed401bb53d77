"""Slacker, repaired: one request for all orders of a partition."""

from __future__ import annotations

from typing import Iterable

from slacker import ask_service, main


def all_at_once(orders: Iterable[int]) -> list[int]:
    """One request."""
    return ask_service(list(orders))


if __name__ == "__main__":
    main(all_at_once)
