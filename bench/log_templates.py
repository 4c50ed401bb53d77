#!/usr/bin/env python3
"""How well templates of log messages agree with the statements that wrote them: Pyrometer and Drain3.

    python3 bench/log_templates.py [--build build] [FOLDER]

The logs are recorded with the statement of each record (tests/record/record_templates.py). Grouping accuracy is the share
of records whose group has exactly the records of their statement. Drain3 has its default settings. It gets logger and
message as one text; or the messages of each logger alone; or these with numbers masked as in its own example.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from log_sites import Record, grouping_accuracy, recorded_sites  # noqa: E402

VENV = ROOT / ".cache" / "drain3-venv"
# Runs where drain3 is installed: records from standard input, a group a line.
DRAIN3 = r"""
import sys, time
from drain3 import TemplateMiner
from drain3.masking import MaskingInstruction
from drain3.template_miner_config import TemplateMinerConfig
config = TemplateMinerConfig()
config.profiling_enabled = False
if "masked" in sys.argv[1]:
    edge = r"((?<=[^A-Za-z0-9])|^)%s((?=[^A-Za-z0-9])|$)"
    masks = [(r"(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})", "IP"), (r"(0x[a-f0-9A-F]+)", "HEX"), (r"([\-\+]?\d+)", "NUM")]
    config.masking_instructions = [MaskingInstruction(edge % one, name) for one, name in masks]
apart = "logger" in sys.argv[1]
miners = {}
lines = sys.stdin.buffer.read().decode("utf-8", "replace").split("\n")[:-1]
began = time.monotonic()
groups = []
for line in lines:
    logger, message = line.split("\t", 1)
    name = logger if apart else ""
    if name not in miners:
        miners[name] = TemplateMiner(config=config)
    found = miners[name].add_log_message(message if apart else logger + ": " + message)
    groups.append(name + "/" + str(found["cluster_id"]))
print(time.monotonic() - began, file=sys.stderr)
print("\n".join(groups))
"""


def lines_of(records: Sequence[Record]) -> bytes:
    return b"".join(one.logger + b"\t" + one.message + b"\n" for one in records)


def output_of(command: Sequence[str], records: Sequence[Record]) -> tuple[list[Hashable], float]:
    """The groups, and the seconds that they took."""
    began = time.monotonic()
    done = subprocess.run(command, input=lines_of(records), capture_output=True, check=True)
    seconds = float(done.stderr) if done.stderr else time.monotonic() - began
    return list(done.stdout.split()), seconds


def drain3(way: str) -> Callable[[Sequence[Record]], tuple[list[Hashable], float]]:
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "-q", "--disable-pip-version-check", "install", "drain3"], check=True)
    return lambda records: output_of([str(python), "-c", DRAIN3, way], records)


def wrong_groups(records: Sequence[Record], groups: Sequence[Hashable]) -> None:
    """Statements whose records are not one group of their own, with an example of each group."""
    for site in sorted({one.site for one in records}):
        own = {group for one, group in zip(records, groups) if one.site == site}
        all_of_them = {one.site for one, group in zip(records, groups) if group in own}
        if len(own) == 1 and len(all_of_them) == 1:
            continue
        count = sum(one.site == site for one in records)
        print(f"\n{site.decode()}: {count} records, {len(own)} groups, of {len(all_of_them)} statements", file=sys.stderr)
        for group in sorted(own, key=str)[:4]:
            example = next(one.message for one, found in zip(records, groups) if found == group and one.site == site)
            print(f"  {example[:150]!r}", file=sys.stderr)


def main() -> None:
    """Print the table; with --wrong also what differs, to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "tests" / "artefacts" / "templates")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--wrong", action="store_true", help="also list the statements that Pyrometer groups wrongly")
    options = parser.parse_args()
    program = str(options.build / "tests" / "e2e" / "log_chunks")
    logs = recorded_sites(options.folder)
    ways: dict[str, Callable[[Sequence[Record]], tuple[list[Hashable], float]]] = {
        "Pyrometer": lambda records: output_of([program, "templates"], records),
        "Drain3": drain3("plain"),
        "Drain3 per logger": drain3("logger"),
        "Drain3 per logger, numbers masked": drain3("logger, masked"),
    }
    print("| log | records | statements | " + " | ".join(ways) + " |")
    print("| --- " * (3 + len(ways)) + "|")
    right = dict.fromkeys(ways, 0.0)
    took = dict.fromkeys(ways, 0.0)
    for name, records in logs.items():
        cells = [name, f"{len(records):,}", f"{len({one.site for one in records}):,}"]
        for way, groups_of in ways.items():
            groups, seconds = groups_of(records)
            accuracy = grouping_accuracy([one.site for one in records], groups)
            right[way] += accuracy * len(records)
            took[way] += seconds
            cells.append(f"{100 * accuracy:.1f} %")
            if way == "Pyrometer" and options.wrong:
                wrong_groups(records, groups)
        print("| " + " | ".join(cells) + " |")
    total = sum(map(len, logs.values()))
    print(f"| all | {total:,} | | " + " | ".join(f"{100 * one / total:.1f} %" for one in right.values()) + " |")
    print("| seconds | | | " + " | ".join(f"{one:.2f}" for one in took.values()) + " |")


if __name__ == "__main__":
    main()
