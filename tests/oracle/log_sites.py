"""Recorded Spark logs whose lines name the statement that wrote them (tests/record/record_templates.py)."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from pathlib import Path
from typing import Dict, Hashable, List, NamedTuple, Sequence

# 24/03/01 10:15:02 INFO Executor [org.apache.spark.executor.Executor.run:123]: message
RECORD = re.compile(rb"\d\d/\d\d/\d\d \d\d:\d\d:\d\d [A-Z]+ (\S+) \[(\S+:-?\d+)\]: (.*)")


# Statements of Spark 3.5.6 that write the same text as another one: it is not known which of them wrote a message.
SCHEDULER = b"org.apache.spark.scheduler."
POLLER = b"org.apache.spark.executor.ExecutorMetricsPoller."
STORAGE = b"org.apache.spark.storage.BlockManager"
SAME_TEXT = {
    SCHEDULER + b"DAGScheduler.handleMapStageSubmitted:1370": SCHEDULER + b"DAGScheduler.handleJobSubmitted:1330",
    SCHEDULER + b"DAGScheduler.handleMapStageSubmitted:1371": SCHEDULER + b"DAGScheduler.handleJobSubmitted:1331",
    SCHEDULER + b"DAGScheduler.handleMapStageSubmitted:1372": SCHEDULER + b"DAGScheduler.handleJobSubmitted:1332",
    SCHEDULER + b"TaskSetManager.handleFailedTask:955": SCHEDULER + b"TaskSetManager.handleFailedTask:943",
    POLLER + b"decrementCount$1:134": POLLER + b"onTaskStart:121",
    STORAGE + b".$anonfun$doPutIterator$1:1649": STORAGE + b"$BlockStoreUpdater.$anonfun$save$1:420",
    b"org.apache.spark.resource.ResourceUtils$.logResourceInfo:386": b"org.apache.spark.resource.ResourceUtils$.logResourceInfo:384",
}


class Record(NamedTuple):
    """The first line of one record."""

    logger: bytes
    site: bytes  # class, method and line of the statement that logged it, or of the one with the same text
    message: bytes


def records_in(log: bytes) -> List[Record]:
    found = (RECORD.fullmatch(line) for line in log.splitlines())
    records = [Record(*match.groups()) for match in found if match]
    return [one._replace(site=SAME_TEXT.get(one.site, one.site)) for one in records]


def recorded_sites(folder: Path) -> Dict[str, List[Record]]:
    """The records of each recorded log, by name of the file."""
    return {path.name: records_in(gzip.decompress(path.read_bytes())) for path in sorted(folder.glob("*.log.gz"))}


def grouping_accuracy(truth: Sequence[Hashable], found: Sequence[Hashable]) -> float:
    """The share of lines whose group has exactly the same lines as that of the truth (Zhu et al., 2019)."""
    groups: Dict[Hashable, List[int]] = defaultdict(list)
    sites: Dict[Hashable, List[int]] = defaultdict(list)
    assert len(truth) == len(found)
    for i, (site, group) in enumerate(zip(truth, found)):
        sites[site].append(i)
        groups[group].append(i)
    right = sum(len(lines) for lines in groups.values() if sites[truth[lines[0]]] == lines)
    return right / len(truth)
