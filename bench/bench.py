#!/usr/bin/env python3
"""Measure Pyrometer beside other programs, all in one run on one machine.

See docs/benchmarks.md for what each row does. Everything is kept in .cache/bench
(or PYROMETER_CACHE/bench).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

import amplify
import inputs
import latency
import measuring
import peers
import serving
from inputs import CannotRun, Log
from measuring import Cost
from peers import Bench, Row

ROOT = Path(__file__).resolve().parents[1]
PEERS = (
    *("pyrometer", "wc", "grep", "zstd", "simdjson", "orjson", "duckdb", "history", "rapids"),
    *("html", "whatif", "small", "sparklens", "serve"),
)
SHORT_TASKS = "1 GB, short tasks"

CPU_SHARE = 0.4
GREP_CPU = 2.0
GREP_WALL = 1.5
ZSTD_SHARE = 1.03
FRAMES_SHARE = 0.15
MEMORY_BYTES = 64_000_000
MEMORY_BYTES_A_TASK = 100
GROWTH = 10.2
WHATIF_S = 0.5
SMALL_S = 0.006
HTML_S = 2.0
HTML_BYTES = 5_000_000

BUSY = 0.5  # load above which times by the clock are not trusted
WAIT_S = 600  # how long to wait for less
LOOK_S = 5.0
DOCS = ROOT / "docs" / "benchmarks.md"
DOCS_MARKS = ("<!-- results: begin -->\n", "<!-- results: end -->\n")
SERVING_MARKS = ("<!-- serving: begin -->\n", "<!-- serving: end -->\n")


HEADINGS = ("what", "log", "does", "wall s", "user + system s", "peak memory", "wall ratio", "CPU ratio", "runs")


@dataclass
class Results:
    """What was measured, and what could not be."""

    rows: list[tuple[Row, Cost, int]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)

    def cost(self, key: str, log: str, name: str = "") -> Optional[Cost]:
        for row, cost, _ in self.rows:
            if row.key == key and row.log.name == log and (not name or row.name == name):
                return cost
        return None

    def log(self, name: str) -> Optional[Log]:
        return next((row.log for row, _, _ in self.rows if row.log.name == name), None)


@dataclass
class Aim:
    """One aim of the project, and how near it is."""

    text: str
    measured: str
    met: Optional[bool]


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


# ---- Which rows -----------------------------------------------------------------------------------------------------

Maker = Callable[[], Row]


def row_makers(bench: Bench, quick: bool) -> list[tuple[str, Maker]]:
    """The rows that can be asked for, with the name each goes by in --only."""
    main = "100 MB" if quick else "1 GB"
    logs = bench.logs

    def plain() -> Log:
        return logs.plain(main)

    def zstd() -> Log:
        return logs.zstd(main)

    makers: list[tuple[str, Maker]] = [
        ("pyrometer", lambda: peers.pyrometer_row(bench, plain())),
        ("pyrometer", lambda: peers.pyrometer_row(bench, plain(), 1)),
        ("wc", lambda: peers.wc_row(bench, plain())),
        ("grep", lambda: peers.grep_row(bench, plain())),
        ("simdjson", lambda: peers.simdjson_row(bench, plain())),
        ("orjson", lambda: peers.python_row(bench, "orjson", "orjson", "reads one field of every line", plain())),
        ("duckdb", lambda: peers.python_row(bench, "duckdb", "DuckDB", "reads one field of every line", plain())),
        ("history", lambda: peers.history_row(bench, plain())),
        ("rapids", lambda: peers.rapids_row(bench, plain())),
        ("pyrometer", lambda: peers.pyrometer_row(bench, zstd())),
        ("zstd", lambda: peers.zstd_row(bench, zstd())),
        ("pyrometer", lambda: peers.pyrometer_row(bench, logs.frames(main))),
        ("zstd", lambda: peers.zstd_row(bench, logs.frames(main))),
        ("html", lambda: peers.html_row(bench, plain())),
    ]
    if quick:
        return [(key, maker) for key, maker in makers if key not in ("history", "rapids")]
    return makers + [
        ("pyrometer", lambda: peers.pyrometer_row(bench, logs.plain("100 MB"))),
        ("pyrometer", lambda: peers.pyrometer_row(bench, logs.plain("4 GB"))),
        ("pyrometer", lambda: peers.pyrometer_row(bench, logs.plain(SHORT_TASKS))),
        ("grep", lambda: peers.grep_row(bench, logs.plain(SHORT_TASKS))),
        ("small", lambda: peers.small_row(bench, logs.small())),
        ("whatif", lambda: peers.whatif_row(bench, logs.plain("1.9 GB"))),
        ("sparklens", lambda: peers.sparklens_row(bench, logs.plain("1.9 GB"))),
    ]


def make_rows(makers: Sequence[tuple[str, Maker]], only: Sequence[str], results: Results) -> list[Row]:
    rows: list[Row] = []
    for key, maker in makers:
        if only and key not in only:
            continue
        try:
            rows.append(maker())
        except (CannotRun, measuring.RunFailed) as error:
            results.missing.append((key, str(error)))
            say(f"{key}: {error}")
    return rows


# ---- Measuring ------------------------------------------------------------------------------------------------------


def measure_rows(rows: Sequence[Row], runs: int, slow_runs: int, results: Results) -> None:
    """Runs alternate, so that whatever else the machine does falls on all alike. Slow rows come last.

    The first round of the fast rows is not counted: it warms programs, pages and the memory of a virtual machine.
    """
    costs: dict[int, list[Cost]] = {}
    broken: set[int] = set()
    for slow, rounds in ((False, runs + 1), (True, slow_runs)):
        for number in range(rounds):
            counted = slow or number > 0
            chosen = [(place, row) for place, row in enumerate(rows) if row.slow == slow and place not in broken]
            if chosen:
                say(f"{'slow ' if slow else ''}round {number + 1} of {rounds}")
            for place, row in chosen:
                try:
                    cost = row.run()
                    if counted:
                        costs.setdefault(place, []).append(cost)
                except measuring.RunFailed as error:
                    broken.add(place)
                    results.missing.append((row.key, str(error)))
                    say(f"{row.key}: {error}")
    for place, row in enumerate(rows):
        if place not in broken and costs.get(place):
            results.rows.append((row, measuring.median(costs[place]), len(costs[place])))


# ---- Aims -----------------------------------------------------------------------------------------------------------


def ratio_aim(text: str, mine: Optional[float], other: Optional[float], limit: float) -> Aim:
    if mine is None or not other:
        return Aim(text, "not measured", None)
    ratio = mine / other
    return Aim(text, f"{ratio:.2f} x ({mine:.2f} s to {other:.2f} s)", ratio <= limit)


def cpu_aim(results: Results, main: str) -> Aim:
    mine, other = results.cost("pyrometer", main), results.cost("simdjson", main)
    text = f"CPU time at most {CPU_SHARE} x that of simdjson reading one field a line"
    return ratio_aim(text, mine and mine.cpu_s, other and other.cpu_s, CPU_SHARE)


def grep_aims(results: Results, name: str) -> list[Aim]:
    mine, other = results.cost("pyrometer", name), results.cost("grep", name)
    cpu = f"CPU time at most {GREP_CPU} x that of `grep -c` ({name})"
    wall = f"at most {GREP_WALL} x `grep -c` by the clock ({name})"
    return [
        ratio_aim(cpu, mine and mine.cpu_s, other and other.cpu_s, GREP_CPU),
        ratio_aim(wall, mine and mine.wall_s, other and other.wall_s, GREP_WALL),
    ]


def zstd_aim(results: Results, name: str, what: str, share: float) -> Aim:
    mine, other = results.cost("pyrometer", name), results.cost("zstd", name)
    text = f"{what}, at most {share} x `zstd -dc` by the clock"
    return ratio_aim(text, mine and mine.wall_s, other and other.wall_s, share)


def html_aim(results: Results, main: str, report: Path) -> Aim:
    mine, text = results.cost("html", main), f"HTML report in {HTML_S:g} s and {HTML_BYTES / 1e6:g} MB"
    if mine is None:
        return Aim(text, "not measured", None)
    size = report.stat().st_size
    measured = f"{mine.wall_s:.2f} s, {size / 1e6:.1f} MB"
    return Aim(text, measured, mine.wall_s <= HTML_S and size <= HTML_BYTES)


def memory_aim(results: Results, name: str) -> Aim:
    mine, log = results.cost("pyrometer", name), results.log(name)
    text = f"anonymous memory at most 64 MB + {MEMORY_BYTES_A_TASK} bytes a task ({name})"
    if mine is None or log is None or mine.anonymous_bytes is None:
        return Aim(text, "not measured", None)
    limit = MEMORY_BYTES + MEMORY_BYTES_A_TASK * log.tasks
    return Aim(
        text, f"{mine.anonymous_bytes / 1e6:.0f} MB; allowed {limit / 1e6:.0f} MB", mine.anonymous_bytes <= limit
    )


def growth_aim(results: Results, small: str, large: str) -> Aim:
    text = f"10 x the log, at most {GROWTH} x the time ({small} to {large})"
    costs = results.cost("pyrometer", small), results.cost("pyrometer", large)
    logs = results.log(small), results.log(large)
    if not (costs[0] and costs[1] and logs[0] and logs[1]):
        return Aim(text, "not measured", None)
    bytes_ratio = logs[1].plain_bytes / logs[0].plain_bytes
    time_ratio = costs[1].wall_s / costs[0].wall_s
    scaled = 10 * time_ratio / bytes_ratio
    return Aim(text, f"{scaled:.1f} x ({bytes_ratio:.2f} x the bytes, {time_ratio:.2f} x the time)", scaled <= GROWTH)


def whatif_aim(results: Results) -> Aim:
    """CPU time over all cores, reading the log included."""
    mine, log, cores = results.cost("whatif", "1.9 GB"), results.log("1.9 GB"), os.cpu_count() or 1
    text = f"{peers.WHATIF_SIZES} sizes of 160,000 tasks in {WHATIF_S:g} s of CPU time a core, reading the log included"
    if mine is None or log is None:
        return Aim(text, "not measured", None)
    each = mine.cpu_s / cores
    return Aim(text, f"{each:.2f} s on {cores} cores ({log.tasks:,} tasks)", each <= WHATIF_S)


def small_aim(results: Results) -> Aim:
    mine = next((cost for row, cost, _ in results.rows if row.key == "small"), None)
    text = f"a small log in {1000 * SMALL_S:g} ms"
    if mine is None:
        return Aim(text, "not measured", None)
    measured = f"{1000 * mine.wall_s:.1f} ms by the clock, {1000 * mine.cpu_s:.1f} ms of CPU time"
    return Aim(text, measured, mine.wall_s <= SMALL_S)


def all_aims(results: Results, quick: bool, report: Path) -> list[Aim]:
    main = "100 MB" if quick else "1 GB"
    aims = [cpu_aim(results, main), *grep_aims(results, main)]
    aims.append(zstd_aim(results, f"{main}, zstd", "one frame", ZSTD_SHARE))
    aims.append(zstd_aim(results, f"{main}, zstd frames", "the frames that Spark writes", FRAMES_SHARE))
    aims.append(html_aim(results, main, report))
    if quick:
        return aims + [memory_aim(results, main)]
    aims += [memory_aim(results, name) for name in ("1 GB", "1 GB, zstd", "4 GB")]
    aims += [growth_aim(results, "100 MB", "1 GB"), growth_aim(results, "1 GB", "4 GB")]
    aims += [*grep_aims(results, SHORT_TASKS), memory_aim(results, SHORT_TASKS)]
    return aims + [whatif_aim(results), small_aim(results)]


# ---- Writing --------------------------------------------------------------------------------------------------------


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def ratios(cost: Cost, mine: Optional[Cost]) -> tuple[str, str]:
    """Wall and CPU time as multiples of Pyrometer's on the same log."""
    if mine is None:
        return "", ""
    return times(cost.wall_s / mine.wall_s), times(cost.cpu_s / mine.cpu_s)


def memory_text(cost: Cost) -> str:
    text = f"{cost.peak_bytes / 1e6:.0f} MB"
    return text if cost.anonymous_bytes is None else f"{text} ({cost.anonymous_bytes / 1e6:.0f} anonymous)"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, aligned so that it can be read as text."""
    cells = [list(headings), *map(list, rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(headings))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def results_table(results: Results) -> str:
    rows = []
    for row, cost, runs in results.rows:
        own = "whatif" if row.key in ("whatif", "sparklens") else "pyrometer"
        wall, cpu = ratios(cost, results.cost(own, row.log.name))
        rows.append(
            [
                *(row.name, row.log.name, row.does, seconds(cost.wall_s)),
                f"{seconds(cost.user_s)} + {seconds(cost.system_s)}",
                *(memory_text(cost), wall, cpu, str(runs)),
            ]
        )
    return table(HEADINGS, rows)


def aims_table(aims: Sequence[Aim]) -> str:
    words = {True: "met", False: "**not met**", None: "not measured"}
    return table(["aim", "measured", "met"], [[aim.text, aim.measured, words[aim.met]] for aim in aims])


def logs_table(results: Results) -> str:
    seen: dict[str, list[str]] = {}
    for row, _, _ in results.rows:
        log = row.log
        numbers = (log.path.stat().st_size, log.plain_bytes, log.lines, log.tasks)
        seen[log.name] = [log.name, *(f"{number:,}" for number in numbers)]
    return table(["log", "bytes", "bytes, plain", "lines", "tasks"], list(seen.values()))


def versions(results: Results) -> str:
    return "; ".join(dict.fromkeys(row.version for row, _, _ in results.rows if row.version))


def document(results: Results, aims: Sequence[Aim], load: float) -> str:
    """All that is known, as Markdown."""
    facts = [*measuring.machine(), ("versions", versions(results)), ("load at the start", f"{load:.2f}")]
    facts.append(("day", time.strftime("%Y-%m-%d", time.gmtime())))
    parts = [results_table(results), aims_table(aims), logs_table(results)]
    if load > BUSY:
        warning = f"Measured on a busy machine (load {load:.1f}): times by the clock are too long. Repeat it."
        parts.insert(0, f"**{warning}**")
    parts.append("\n".join(f"- {name}: {value}" for name, value in facts))
    if results.missing:
        parts.append("\n".join(f"- not measured: {name}: {reason}" for name, reason in results.missing))
    return "\n\n".join(parts) + "\n"


def update_docs(text: str, marks: tuple[str, str], path: Path = DOCS) -> None:
    """Put the results into docs/benchmarks.md, in place of the present ones."""
    page = path.read_text()
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (begin and end):
        raise OSError(f"{path} has no place for results")
    path.write_text(f"{before}{begin}{text}{end}{after}")


def publish(texts: dict[tuple[str, str], str], loads: Sequence[float], path: Path = DOCS) -> bool:
    """Put all results into the page, unless the machine was busy at the start of any of them."""
    if max(loads, default=0.0) > BUSY:
        say(f"{path.name} stays as it is: the load was {max(loads):.1f}, and may be {BUSY} at most. Repeat it.")
        return False
    for marks, text in texts.items():
        update_docs(text, marks, path)
    return True


# ---- The command ----------------------------------------------------------------------------------------------------


def chosen_peers(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(PEERS)}")
    return names


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=chosen_peers, default=[], metavar="NAME,...", help=", ".join(PEERS))
    parser.add_argument("--quick", action="store_true", help="only 100 MB logs, no peers on the JVM")
    parser.add_argument("--runs", type=int, default=7, help="runs of each row (default 7)")
    parser.add_argument("--slow-runs", type=int, default=3, help="runs of the JVM peers (default 3)")
    parser.add_argument("--base", type=Path, default=amplify.BASE, help="the real log to multiply")
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pyrometer", help="pyrometer to measure")
    parser.add_argument(
        "--wait", type=float, default=WAIT_S, metavar="SECONDS", help=f"for a load below {BUSY} (default {WAIT_S})"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the result there, as Markdown")
    parser.add_argument("--update-docs", action="store_true", help="put the result into docs/benchmarks.md")
    options = parser.parse_args(argv)
    if options.runs < 1 or options.slow_runs < 1:
        parser.error("there must be at least one run")
    return options


def wait_for_quiet(most_load: float = BUSY, wait_s: float = WAIT_S) -> float:
    """The load once it is low enough, or after the wait whatever it is then."""
    until = time.monotonic() + wait_s
    load = os.getloadavg()[0]
    if load > most_load and wait_s > 0:
        say(f"the machine is busy (load {load:.1f}): waiting up to {wait_s / 60:.0f} minutes for {most_load}")
    while load > most_load and time.monotonic() < until:
        time.sleep(min(LOOK_S, max(0.0, until - time.monotonic())))
        load = os.getloadavg()[0]
    if load > most_load:
        say(f"the machine is busy (load {load:.1f}): these numbers will not be good ones")
    return load


def measure_programs(bench: Bench, options: argparse.Namespace, results: Results, loads: list[float]) -> str:
    rows = make_rows(row_makers(bench, options.quick), options.only, results)
    for path in {row.log.path for row in rows}:
        inputs.warm(path)
    load = wait_for_quiet(wait_s=options.wait)
    loads.append(load)
    measure_rows(rows, options.runs, options.slow_runs, results)
    return document(results, all_aims(results, options.quick, peers.html_report(bench)), load)


def measure_serving(bench: Bench, options: argparse.Namespace, loads: list[float]) -> str:
    log = bench.logs.plain("100 MB" if options.quick else "1 GB")
    inputs.warm(log.path)
    load = wait_for_quiet(wait_s=options.wait)
    loads.append(load)
    measured = serving.measure(bench, log, not options.quick)
    try:
        measured.waits = latency.measure(bench, log)
    except (CannotRun, measuring.RunFailed) as error:
        measured.missing.append(("first bytes, summaries and long lists", str(error)))
        say(f"serve: {error}")
    return serving.document(measured, load, BUSY, table)


def measure_all(
    bench: Bench, options: argparse.Namespace, results: Results, loads: list[float]
) -> dict[tuple[str, str], str]:
    """What was asked for, as Markdown, by its place in the docs. `loads` gets that of the machine at each start."""
    texts: dict[tuple[str, str], str] = {}
    if options.only != ["serve"]:
        texts[DOCS_MARKS] = measure_programs(bench, options, results, loads)
    if not options.only or "serve" in options.only:
        texts[SERVING_MARKS] = measure_serving(bench, options, loads)
    return texts


def main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    cache = inputs.cache_folder(ROOT)
    cache.mkdir(parents=True, exist_ok=True)
    results = Results()
    loads: list[float] = []
    try:
        logs = inputs.Inputs(cache, options.base.absolute(), say)
        bench = Bench(cache, logs, measuring.Meter(cache), options.binary.absolute(), say)
        texts = measure_all(bench, options, results, loads)
    except (amplify.AmplifyError, measuring.RunFailed, OSError) as error:
        print(f"bench.py: {error}", file=sys.stderr)
        return 1
    whole = "\n".join(texts.values())
    print(whole, end="")
    if options.output:
        options.output.write_text(whole)
    if options.update_docs and not publish(texts, loads):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
