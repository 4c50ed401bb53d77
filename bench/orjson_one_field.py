"""Read one field of every line of an event log with orjson: a peer of the benchmarks."""

import sys

import orjson

found = 0
size = 0
with open(sys.argv[1], "rb") as log:
    for line in log:
        event = orjson.loads(line).get("Event")
        if event is not None:
            found += 1
            size += len(event)
print(found, size)
