#!/usr/bin/env python3
"""Time the Fleet pages in Chromium over a store with many runs: from the click to the picture, and the server's part of it.

    python3 bench/fleet_store.py --views --store fleet.db     # makes the store: 100,000 runs
    python3 bench/fleet_pages.py fleet.db

Each page is opened in a browser that has the web UI loaded already, `--times` times after a first one that does not count.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[1]
for folder in ("tests/web", "tests/serve", "tests"):
    sys.path.insert(0, str(ROOT / folder))
from browser import Watched, launched, missing  # noqa: E402
from servers.pyrometer import Server  # noqa: E402

# From the change of the address to the frame after the one in which the answer is on the page.
WATCH = """view => new Promise(done => {
  performance.clearResourceTimings();
  const begin = performance.now();
  const answers = () => performance.getEntriesByType('resource').filter(e => e.name.includes('/fleet/' + view.split('?')[0]));
  const look = () => {
    const figures = document.querySelectorAll('section.fleet-view :is(figure.fleet-picture, table)');
    if (answers().length && figures.length && !document.querySelector('main .loading'))
      requestAnimationFrame(() => requestAnimationFrame(() => done({
        drawn: performance.now() - begin,
        answer: Math.max(...answers().map(e => e.duration)),
        bytes: Math.max(...answers().map(e => e.decodedBodySize)),
      })));
    else
      requestAnimationFrame(look);
  };
  location.hash = '#/fleet/' + view;
  look();
})"""


def measure(page: Any, origin: str, route: str, times: int) -> Dict[str, float]:
    taken: List[Dict[str, float]] = []
    for _ in range(times + 1):
        page.goto("about:blank")  # the pages keep answers
        page.goto(f"{origin}#/fleet/{'findings' if route == 'problems' else 'problems'}")
        page.wait_for_selector("section.fleet-view figure.fleet-picture", state="attached")
        page.wait_for_timeout(300)
        taken.append(page.evaluate(WATCH, route))
    rest = sorted(taken[1:], key=lambda one: one["drawn"])
    return rest[len(rest) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    if missing():
        sys.exit(missing())
    with sqlite3.connect(options.store) as db:
        (application,) = db.execute("SELECT application FROM run GROUP BY application ORDER BY count(*) DESC LIMIT 1").fetchone()
    print("| page | answer kB | answer ms | drawn after ms |\n| --- | ---: | ---: | ---: |")
    with launched() as browser, Server(f"sqlite:{options.store.absolute()}", "--config", "none") as server:
        watched = Watched(browser, origin=f"http://{server.host}:{server.port}/")
        views = [view["name"] for view in json.loads(server.request("GET", "/pyrometer/v1/fleet")[2])["views"]]
        routes = [view for view in views if view not in ("runs", "compare")]
        for route in [*routes, f"runs?app={application}"]:
            row = measure(watched.page, watched.origin, route, options.times)
            print(f"| {route.partition('?')[0]} | {row['bytes'] / 1000:.0f} | {row['answer']:.0f} | {row['drawn']:.0f} |", flush=True)
        watched.close()


if __name__ == "__main__":
    main()
