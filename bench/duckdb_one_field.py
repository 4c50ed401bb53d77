"""Read one field of every line of an event log with DuckDB: a peer of the benchmarks."""

import sys

import duckdb

QUERY = """SELECT count("Event"), sum(strlen("Event"))
FROM read_json(?, format = 'newline_delimited', columns = {'Event': 'VARCHAR'}, maximum_object_size = 67108864)"""

print(*duckdb.connect().execute(QUERY, [sys.argv[1]]).fetchone())
