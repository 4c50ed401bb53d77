"""Planted jobs without their fault: what fixing it really saves, compared with what its finding said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from job import SHORT, Job, Numbers
from planted.spine import JOBS as SPINE

PLANTED = {job.name: job for job in SPINE}


def worked(numbers: Numbers) -> bool:
    """It ran to its end."""
    return not numbers["failed_jobs"] and numbers["tasks"] > 0


def repaired(name: str, notes: str, conf: dict[str, str]) -> Job:
    """Return the job of that name with other settings; None of a setting leaves it out."""
    job = PLANTED[name]
    return replace(
        job,
        name=f"{name}_repaired",
        script=name,
        notes=notes,
        shows=worked,
        expected=(),
        allowed=(*SHORT, *job.expected, *job.allowed),
        healthy=False,  # short, and with what else the job brings along
        conf={**job.conf, **conf},
        repaired=None,
    )


JOBS: Sequence[Job] = (
    repaired("straggler", "No partition waits longer than the others.", {"spark.corpus.late": "120"}),
    repaired("disk_spill", "Spark's own memory fraction.", {"spark.memory.fraction": "0.6"}),
    repaired("too_many_partitions", "Eight shuffle partitions.", {"spark.sql.shuffle.partitions": "8"}),
    repaired("too_few_partitions", "Sixteen partitions on four slots.", {"spark.corpus.partitions": "16"}),
    repaired("driver_bound", "The driver does not wait between jobs.", {"spark.corpus.wait": "0"}),
    repaired(
        "data_skew",
        "Adaptive execution splits partitions from 4 MiB on.",
        {
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "4m",
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m",
        },
    ),
)
