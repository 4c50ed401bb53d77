#!/usr/bin/env python3
"""Take the pictures of the documentation: screenshots.py PYROMETER [FOLDER]

Runs diagnose --format html on logs of corpus/logs and on a run with a made trace, serves a store of repeated runs, opens
the pages in Chromium and writes PNG files of at most 256 colors into FOLDER (docs/images). Needs Playwright and Chromium,
as the tests do, and pngquant.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "web"), str(ROOT / "tests" / "fleet"), str(ROOT / "tests" / "traces")]
MOST_BYTES = 150_000
TRACED = "cpu-hog"  # of corpus/traces

# (file, log, address below the application, theme, height)
SHOTS: List[Tuple[str, str, str, str, int]] = [
    ("web-overview.png", "data_skew", "overview", "light", 960),
    ("web-overview-dark.png", "data_skew", "overview", "dark", 960),
    ("web-timeline.png", "slow_host_python", "timeline", "light", 900),
    ("web-stage.png", "data_skew", "stage", "light", 1100),
    ("web-phases.png", "slow_store_write", "phases", "light", 1000),
    ("web-tasktime.png", "data_skew", "tasktime", "light", 1000),
    ("web-offcpu.png", TRACED, "offcpu", "light", 1000),
]

# Pages of a server: (file, address, theme, height)
FLEET_SHOTS: List[Tuple[str, str, str, int]] = [
    ("web-fleet.png", "fleet/application?app=data_skew", "light", 1000),
]


def compress(path: Path) -> None:
    subprocess.run(["pngquant", "--force", "--skip-if-larger", "--strip", "--output", str(path), "256", str(path)], check=False)
    if path.stat().st_size > MOST_BYTES:
        sys.exit(f"{path.name} has {path.stat().st_size} bytes, more than {MOST_BYTES}")


def take(watched: Any, address: str, height: int, path: Path) -> None:
    watched.page.set_viewport_size({"width": 1280, "height": height})
    watched.open(address)
    watched.page.wait_for_timeout(300)
    watched.page.screenshot(path=str(path))
    watched.check()
    watched.close()
    compress(path)
    print(f"{path.name}: {path.stat().st_size} bytes")


def take_fleet(browser: Any, folder: Path, temporary: Path) -> None:
    import repeated_runs
    from browser import Watched
    from servers.pyrometer import Server

    repeated_runs.build(temporary / "fleet.db")
    with Server(Path(f"sqlite:{temporary / 'fleet.db'}"), "--config", "none") as server:
        origin = f"http://{server.host}:{server.port}/"
        for name, route, theme, height in FLEET_SHOTS:
            take(Watched(browser, theme=theme, origin=origin), f"{origin}#/{route}", height, folder / name)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.environ["PYROMETER_BINARY"] = str(Path(sys.argv[1]).resolve())
    from browser import LOGS, Watched, app_route, launched, write_report
    from recorded_traces import unpacked

    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, launched() as browser:
        for name, log, rest, theme, height in SHOTS:
            page = Path(temporary) / f"{log}.html"
            source = unpacked(log) if log == TRACED else LOGS / f"{log}.zst"
            documents = write_report(source, page)
            if rest == "stage":
                places = [finding["where"] for finding in documents["report"]["findings"]]
                where = next(place for place in places if place["stage"] is not None)
                rest = f"stage/{where['stage']}/{where['attempt']}"
            address = page.as_uri() + app_route(documents, rest)
            take(Watched(browser, theme=theme, offline=True), address, height, folder / name)
        take_fleet(browser, folder, Path(temporary))


if __name__ == "__main__":
    main()
