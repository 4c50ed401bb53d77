#!/usr/bin/env python3
"""How fast traces are read: Pyrometer's reader and babeltrace2, which throws the events away.

    python3 bench/ctf.py [--build build] [--runs 7] FOLDER...

Each folder is one trace. The reader takes five fields of every class of events that has some of them, and merges all streams;
babeltrace2 does the same with all fields (`-o dummy`). Both run in turns. Times are CPU time of the user and the system, the
medians of all runs but the first."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import measuring
from measuring import Cost, Meter

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.8  # events per second, as a multiple of babeltrace2's


def in_turns(meter: Meter, commands: list[list[str]], runs: int) -> list[Cost]:
    costs: list[list[Cost]] = [[] for _ in commands]
    for number in range(runs + 1):
        for place, command in enumerate(commands):
            cost = meter.run(command)
            if number > 0:
                costs[place].append(cost)
    return [measuring.median(some) for some in costs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    program = ROOT / options.build / "tests" / "traces" / "ctf_dump"
    if not shutil.which("babeltrace2") or not program.exists():
        print(f"needs babeltrace2, and {program}: build it with ninja", file=sys.stderr)
        return 2
    slow = False
    print("| trace | events | Pyrometer s | babeltrace2 s | events/s | ratio | peak MB | babeltrace2 MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter(Path(folder))
        for trace in options.folders:
            mine = [str(program), "-", str(trace)]
            events = int(subprocess.run(mine, check=True, stdout=subprocess.PIPE).stdout)
            ours, theirs = in_turns(meter, [mine, ["babeltrace2", str(trace), "-o", "dummy"]], options.runs)
            ratio = theirs.cpu_s / max(ours.cpu_s, 1e-4)
            slow |= ratio < AIM
            print(
                f"| {trace.name} | {events:,} | {ours.cpu_s:.3f} | {theirs.cpu_s:.3f} | {events / max(ours.cpu_s, 1e-4):,.0f} "
                f"| {ratio:.1f} x | {ours.peak_bytes / 1e6:.1f} | {theirs.peak_bytes / 1e6:.1f} |"
            )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
