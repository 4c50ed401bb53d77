"""The same work under four conditions: what comparing two runs is tried on.

pair_base is the run before; each other run differs from it in one thing, which a comparison must name as the cause.
"""

from __future__ import annotations

from collections.abc import Sequence

from job import FILE_PER_TASK, SHORT, Job

JOBS: Sequence[Job] = (
    Job(
        "pair_base",
        "Two reports, each a broadcast join and aggregate over 12 files; four slots.",
        lambda n: n["tasks"] > 24 and n["slots_busy_share"] > 0.6 and n["disk_spill_bytes"] == 0,
        # the customers are two files: two tasks of some seconds, the first ones on their executors
        allowed=(*SHORT, "too-few-partitions"),
        healthy=False,  # nothing is planted, but the machine was busy
        conf=FILE_PER_TASK,
    ),
    Job(
        "pair_data",
        "The same over 24 files, twice the data.",
        lambda n: n["tasks"] > 48 and n["slots_busy_share"] > 0.6,
        allowed=SHORT,
        healthy=False,  # nothing is planted, but the machine was busy
        conf=FILE_PER_TASK,
    ),
    Job(
        "pair_slots",
        "The same on one executor of two slots instead of two.",
        lambda n: n["executors_added"] == 1 and n["slots_busy_share"] > 0.6,
        allowed=SHORT,
        master="local-cluster[1,2,1024]",
        healthy=False,  # nothing is planted, but the machine was busy
        conf=FILE_PER_TASK,
    ),
    Job(
        "pair_plan",
        "The same without broadcasts: both sides are shuffled, sorted and merged.",
        lambda n: n["shuffle_read_bytes"] > 20_000_000,
        allowed=(*SHORT, "missed-broadcast-join", "shuffle-heavy", "config-risk"),
        healthy=False,  # nothing is planted, but the machine was busy
        conf={**FILE_PER_TASK, "spark.sql.autoBroadcastJoinThreshold": "-1"},
    ),
)
