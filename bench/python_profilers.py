#!/usr/bin/env python3
"""Measure what the profilers for PySpark cost: equal runs with and without, taking turns.

    python3 bench/python_profilers.py [--rounds 5] [--update-docs]

Each number is the median of the differences to the run without a profiler in the same round. cProfile is what Spark itself
uses if `spark.python.profile` is set.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in ("tests", "tests/record", "python", "bench"):
    sys.path.insert(0, str(ROOT / folder))
import bench  # noqa: E402
import measuring  # noqa: E402
import spark_runs as sr  # noqa: E402
from make_zip import make_zip  # noqa: E402
from servers import Unavailable, spark  # noqa: E402

NONE = "none"
PROFILERS = ("stack", "cpumem", "cpumemstack", "cProfile")
PAGE = ROOT / "docs" / "python-profilers.md"
MARKS = ("<!-- overhead: begin -->\n", "<!-- overhead: end -->\n")
Seconds = dict[str, float]


def run(version: str, profiler: str, workdir: Path) -> Seconds:
    """Return the seconds of each kind of work with one profiler."""
    workdir.mkdir(parents=True, exist_ok=True)
    archive = make_zip(workdir / "pyrometer-profilers.zip")
    try:
        environment = {"PYTHONPATH": str(spark.arrow_packages())}
    except Unavailable as reason:
        bench.say(str(reason))
        environment = {}
    name = f"profiled_{profiler}"
    given = sr.Run(name, ROOT / "bench" / "python_work.py", "local[2]", {"spark.submit.pyFiles": str(archive)}, [profiler])
    sr.run_to_end(spark.venv(version), workdir, given, None, extra_env=environment)
    lines = (workdir / f"{name}.out").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith("{"))
    return json.JSONDecoder().raw_decode(line)[0]  # a log message of another thread may follow on the line


def overheads(rounds: Sequence[dict[str, Seconds]], work: str, profiler: str) -> list[float]:
    """Return the shares of time that a profiler added in each round."""
    return [one[profiler][work] / one[NONE][work] - 1 for one in rounds]


def spread(values: Sequence[float], number: str) -> str:
    """Return the median, and the smallest and the largest value in brackets."""
    return f"{number.format(statistics.median(values))} ({number.format(min(values))} to {number.format(max(values))})"


def table(version: str, rounds: Sequence[dict[str, Seconds]]) -> str:
    """Return the medians as Markdown, with the smallest and the largest value: equal runs differ too."""
    lines = [
        f"| Spark {version} | without, s | " + " | ".join(f"`{name}`" for name in PROFILERS) + " |",
        "| --- | ---: |" + " ---: |" * len(PROFILERS),
    ]
    for work in rounds[0][NONE]:
        cells = [spread([one[NONE][work] for one in rounds], "{:.1f}")]
        cells += [spread([100 * cost for cost in overheads(rounds, work, profiler)], "{:+.0f}") + " %" for profiler in PROFILERS]
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--version", action="append", dest="versions", choices=spark.VERSIONS)
    parser.add_argument("--workdir", type=sr.absolute_path, default=Path("/tmp/pyrometer-profilers"))
    parser.add_argument("--wait", type=float, default=bench.WAIT_S, metavar="SECONDS", help="for an idle machine")
    parser.add_argument("--update-docs", action="store_true", help=f"put the result into {PAGE.name}")
    options = parser.parse_args(argv)
    load = bench.wait_for_quiet(wait_s=options.wait)
    tables = []
    for version in options.versions or spark.VERSIONS:
        rounds = []
        for number in range(1, options.rounds + 1):
            rounds.append({name: run(version, name, options.workdir) for name in (NONE, *PROFILERS)})
            bench.say(f"{version} round {number}: {json.dumps(rounds[-1])}")
        tables.append(table(version, rounds))
    facts = "\n".join(f"- {name}: {value}" for name, value in measuring.machine() if name != "compiler")
    text = "\n".join([*tables, f"Medians of {options.rounds} rounds, with the smallest and the largest value.\n\n{facts}\n"])
    print(text)
    if options.update_docs and not bench.publish({MARKS: text}, [load], PAGE):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
