"""Numbers about Structured Streaming, from the progress of its micro-batches."""

from __future__ import annotations

import statistics
from datetime import datetime
from typing import Any

Event = dict[str, Any]


def instant_ms(text: str) -> int:
    """Return an instant of the progress as epoch milliseconds."""
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def describe(batches: list[Event]) -> dict[str, Any]:
    """Return the key numbers of one run of one query; the first batch, which loads classes, is left out."""
    later = batches[1:] or batches
    times = [batch["durationMs"].get("triggerExecution", 0) for batch in later]
    begins = [instant_ms(batch["timestamp"]) for batch in batches]
    rows = [sum(state["numRowsTotal"] for state in batch["stateOperators"]) for batch in later]
    dropped = [s.get("numRowsDroppedByWatermark", 0) for b in batches for s in b["stateOperators"]]
    marks = [b["eventTime"]["watermark"] for b in later if "watermark" in b["eventTime"]]
    lag = None
    if marks:
        lag = instant_ms(later[-1]["timestamp"]) - instant_ms(marks[-1])
    return {
        "batches": len(batches),
        "median_ms": statistics.median(times),
        "max_ms": max(times),
        "median_gap_ms": statistics.median([b - a for a, b in zip(begins, begins[1:])] or [0]),
        "input_rows": sum(source["numInputRows"] for b in batches for source in b["sources"]),
        "state_rows_first": rows[0],
        "state_rows_last": rows[-1],
        "rows_dropped": sum(dropped),
        "watermarks": len(set(marks)),
        "watermark_lag_ms": lag,
    }


class StreamNumbers:
    """Progress events by run."""

    def __init__(self) -> None:
        self.runs: dict[str, list[Event]] = {}

    def feed(self, kind: str, event: Event) -> None:
        """Take in one event."""
        if kind == "StreamingQueryListener$QueryProgressEvent":
            self.runs.setdefault(event["progress"]["runId"], []).append(event["progress"])

    def summary(self) -> list[dict[str, Any]]:
        """Return one entry a run."""
        return [describe(batches) for batches in self.runs.values()]
