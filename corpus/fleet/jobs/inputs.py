"""The input of a run: the first parts of the items of orders, as many as `--parts` says."""

from __future__ import annotations

import argparse
from typing import List

from tpch import TABLES

SCHEMA = """
    l_orderkey LONG, l_partkey LONG, l_suppkey LONG, l_linenumber INT, l_quantity DOUBLE, l_extendedprice DOUBLE,
    l_discount DOUBLE, l_tax DOUBLE, l_returnflag STRING, l_linestatus STRING, l_shipdate STRING, l_commitdate STRING,
    l_receiptdate STRING, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING
"""


def parts() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", type=int, required=True)
    return parser.parse_args().parts


def text_files() -> List[str]:
    """Return files of text."""
    return [str(TABLES / "csv" / "lineitem" / f"lineitem.{number}.csv") for number in range(1, parts() + 1)]


def columnar_files() -> List[str]:
    """Return Parquet files."""
    return [str(TABLES / "lineitem" / f"lineitem.{number}.parquet") for number in range(1, parts() + 1)]
