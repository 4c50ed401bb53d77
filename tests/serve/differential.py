"""The answers of `pyrometer serve` against those of Spark's own History Server, for every endpoint and every parameter
that matters. Run by hand over whole folders of logs:

    python tests/serve/differential.py SPARK_HOME LOG|FOLDER... [--requests N] [--every STAGES]

With --every nothing is left out: all queries of differential_paths.py, of this number of stages of each application.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import sys
import tempfile
import urllib.parse
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import conftest  # noqa: E402 -- needs pytest, which the tests have
import differential_paths  # noqa: E402
from servers.pyrometer import Server  # noqa: E402
from servers.shared import gather  # noqa: E402
from servers.spark import Answer, HistoryServer, request  # noqa: E402

# The servlet's name in Jetty's error pages ends in a number that each start draws again.
SERVLET = re.compile(rb"(ServletContainer)-[0-9a-f]+")
MOVING = ("lastUpdated", "lastUpdatedEpoch")


class Difference(NamedTuple):
    method: str
    path: str
    what: str


# ---- What is asked ------------------------------------------------------------------------------------------------


def get(port: int, path: str) -> Any:
    status, _, body = request(port, "GET", f"/api/v1/{path}")
    return json.loads(body) if status == 200 else []


def app_paths(app: Dict[str, Any]) -> List[str]:
    """`applications/ID[/ATTEMPT]` of each attempt."""
    quoted = urllib.parse.quote(app["id"], safe="")
    attempts = [one.get("attemptId") for one in app["attempts"]]
    return [f"applications/{quoted}" + (f"/{one}" if one is not None else "") for one in attempts]


def stage_requests(base: str, stages: Sequence[Dict[str, Any]]) -> Iterator[str]:
    for stage in stages:
        one = f"{base}/stages/{stage['stageId']}"
        attempt = f"{one}/{stage['attemptId']}"
        yield from (f"{one}?details=false", attempt, f"{attempt}?details=false&withSummaries=true")
        yield from (f"{attempt}/taskSummary", f"{attempt}/taskList")
    for stage in stages[:3] + stages[-3:]:
        one = f"{base}/stages/{stage['stageId']}"
        attempt = f"{one}/{stage['attemptId']}"
        yield from (one, f"{one}?withSummaries=true&quantiles=0.1,0.5", f"{attempt}/", f"{one}/77")
        yield f"{attempt}?details=true&taskStatus=failed&taskStatus=running"
        yield f"{attempt}/taskSummary?quantiles=0.0,0.01,0.333,0.5,0.99,1.0"
        yield f"{attempt}/taskSummary?quantiles=0.5,half"
        for query in (
            "length=3", "offset=2&length=4", "sortBy=runtime", "sortBy=-runtime&length=50", "sortBy=INCREASING_RUNTIME",
            "sortBy=DECREASING_RUNTIME", "sortBy=id", "sortBy=none", "status=success", "status=failed&status=killed",
            "status=running", "status=unknown", "offset=x", "length=x", "offset=999999", "length=0",
        ):
            yield f"{attempt}/taskList?{query}"
        yield f"{one}/0/executors/1/threads"


def app_requests(base: str, port: int) -> Iterator[str]:
    """Every endpoint below an application, its parameters, and what is not there."""
    for path in (
        "", "jobs", "jobs?status=succeeded", "jobs?status=failed&status=running", "jobs?status=unknown",
        "jobs?status=bad", "jobs/99999", "jobs/x", "jobs/99999999999", "stages", "stages?status=complete",
        "stages?status=failed&status=pending", "stages?status=skipped", "stages?status=active", "stages?status=x",
        "stages?withSummaries=true", "stages?withSummaries=true&quantiles=0.2,0.4", "stages?quantiles=a",
        "stages?details=true&taskStatus=failed", "stages?details=true&taskStatus=killed&taskStatus=success",
        "stages?details=true&taskStatus=running", "stages?taskStatus=x", "stages/99999", "stages/99999/0",
        "stages/0/99999", "stages/x", "stages/99999/0/taskSummary", "stages/99999/0/taskList", "executors",
        "allexecutors", "allmiscellaneousprocess", "executors/driver/threads", "executors/1/threads",
        "executors/x/threads", "executors/1", "storage/rdd", "storage/rdd/99999", "storage", "environment", "sql",
        "sql?details=false", "sql?planDescription=false", "sql?details=false&planDescription=false",
        "sql?offset=1&length=2", "sql?offset=3&length=1000", "sql?length=0", "sql?offset=x", "sql?length=x",
        "sql?details=x", "sql/99999", "sql/x", "sql/99999999999999999999", "streaming/statistics",
        "streaming/receivers", "streaming/batches", "streaming", "logs/x", "nothing", "jobs/", "stages/", "sql/",
    ):
        yield f"{base}/{path}" if path else base
    for job in get(port, f"{base}/jobs"):
        yield f"{base}/jobs/{job['jobId']}"
    for execution in get(port, f"{base}/sql?length=100000&details=false&planDescription=false"):
        if execution["status"] != "RUNNING":
            yield f"{base}/sql/{execution['id']}"
    for one in get(port, f"{base}/sql?length=2&details=false&planDescription=false"):
        yield f"{base}/sql/{one['id']}?details=false"
        yield f"{base}/sql/{one['id']}?planDescription=false"
    for rdd in get(port, f"{base}/storage/rdd"):
        yield f"{base}/storage/rdd/{rdd['id']}"
    yield from stage_requests(base, get(port, f"{base}/stages"))


def list_requests(apps: Sequence[Dict[str, Any]]) -> Iterator[str]:
    """Of the list of applications, and of no application."""
    for query in (
        "", "?status=completed", "?status=running", "?status=x", "?limit=2", "?limit=0", "?limit=x", "?limit=-1",
        "?minDate=2016-01-01", "?maxDate=2016-01-01", "?minEndDate=2026-01-01", "?maxEndDate=2026-11-21",
        "?minDate=2015-03-16&maxEndDate=2015-05-06T13:03:00.950GMT", "?minDate=x", "?maxDate=2015-02-30",
        "?minDate=2015-02-03T16:42:40.000GMT", "?minDate=2015-02-03T16:42:40.000%2B0200", "/", "?limit=1&limit=2",
    ):
        yield f"applications{query}"
    yield from ("version", "version/", "", "foobar", "applications/none", "applications/none/", "applications/none/1")
    yield from ("applications/none/jobs", "applications/none/1/jobs", "applications/none/environment", "sql")
    yield from ("applications/none/logs", "applications/none/1/logs", "applications/none/sql", "applications//jobs")
    yield from ("applications/a%20b", "applications/%C3%A9", "applications/none/1/2/jobs")
    for app in apps[:2]:
        quoted = urllib.parse.quote(app["id"], safe="")
        yield from (f"applications/{quoted}/", f"applications/{quoted}/7", f"applications/{quoted}/7/jobs")
        yield from (f"applications/{quoted}/7/sql", f"applications/{quoted}/7/logs")
        yield f"applications/{quoted}/1/1/jobs"
        yield "applications/" + "".join(f"%{byte:02X}" for byte in app["id"].encode()) + "/jobs"


def other_methods(apps: Sequence[Dict[str, Any]]) -> Iterator[Tuple[str, str]]:
    base = app_paths(apps[0])[0] if apps else "applications/none"
    paths = ["version", "applications", f"{base}/jobs", f"{base}/environment", f"{base}/none", "foobar"]
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
        for path in paths:
            if method != "OPTIONS" or path != f"{base}/none":
                yield method, path


# ---- What is compared ---------------------------------------------------------------------------------------------


def still(value: Any, running: bool = False) -> Any:
    """Without the times at which files were written and, of what runs yet, how long it has."""
    if isinstance(value, dict):
        moving = MOVING + (("totalDuration",) if running and value.get("id") == "driver" else ())
        moving += ("duration",) if value.get("status") == "RUNNING" else ()
        return {key: still(one, running) for key, one in value.items() if key not in moving}
    return [still(one, running) for one in value] if isinstance(value, list) else value


def first_difference(wanted: Any, found: Any, where: str = "") -> Optional[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted:
            if key not in found:
                return f"{where}.{key} is missing, wanted {json.dumps(wanted[key])[:120]}"
            inner = first_difference(wanted[key], found[key], f"{where}.{key}")
            if inner:
                return inner
        more = [key for key in found if key not in wanted]
        return f"{where}.{more[0]} is too much: {json.dumps(found[more[0]])[:120]}" if more else None
    if isinstance(wanted, list) and isinstance(found, list):
        for index, (one, other) in enumerate(zip(wanted, found)):
            inner = first_difference(one, other, f"{where}[{index}]")
            if inner:
                return inner
        return None if len(wanted) == len(found) else f"{where} has {len(found)} items, wanted {len(wanted)}"
    if type(wanted) is type(found) and wanted == found:
        return None
    return f"{where} is {json.dumps(found)[:160]}, wanted {json.dumps(wanted)[:160]}"


def compare(wanted: Answer, found: Answer, running: bool = False) -> Optional[str]:
    if wanted[0] != found[0]:
        return f"status {found[0]} {found[2][:100]!r}, wanted {wanted[0]} {wanted[2][:100]!r}"
    for name in ("Content-Type", "Content-Disposition", "Allow", "X-Frame-Options", "X-XSS-Protection"):
        if wanted[1].get(name) != found[1].get(name):
            return f"{name}: {found[1].get(name)}, wanted {wanted[1].get(name)}"
    if wanted[0] == 200 and wanted[1].get("Content-Type") == "application/json" and wanted[2] and found[2]:
        return first_difference(still(json.loads(wanted[2]), running), still(json.loads(found[2]), running))
    theirs, ours = (SERVLET.sub(rb"\1", one[2]) for one in (wanted, found))
    return None if theirs == ours else f"body {ours[:300]!r}, wanted {theirs[:300]!r}"


def entries(answer: Answer) -> Dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(answer[2])) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def is_archive(path: str) -> bool:
    return path.split("?")[0].rstrip("/").endswith("/logs")


def compare_logs(wanted: Answer, found: Answer) -> Optional[str]:
    """Zip archives: the same entries, in the same order, with the same bytes."""
    if wanted[0] != 200 or found[0] != 200:
        return compare(wanted, found)
    for name in ("Content-Type", "Content-Disposition"):
        if wanted[1].get(name) != found[1].get(name):
            return f"{name}: {found[1].get(name)}, wanted {wanted[1].get(name)}"
    theirs, ours = entries(wanted), entries(found)
    # Spark takes the files of a folder in whatever order the file system has them.
    if list(theirs)[:1] != list(ours)[:1] or sorted(theirs) != sorted(ours):
        return f"entries {list(ours)}, wanted {list(theirs)}"
    unlike = [name for name in theirs if theirs[name] != ours[name]]
    return f"{unlike[0]} has other bytes" if unlike else None


class Comparison:
    """Asks both servers the same and counts."""

    def __init__(self, spark_port: int, port: int, left_out: Sequence[str] = ()) -> None:
        """`left_out`: ids of applications whose own endpoints are not asked for."""
        self.spark_port, self.port = spark_port, port
        self.left_out = set(left_out)
        self.compared = 0
        self.differences: List[Difference] = []

    def ask(self, method: str, path: str, running: bool = False) -> None:
        target = f"/api/v1/{path}"
        wanted, found = request(self.spark_port, method, target), request(self.port, method, target)
        if method == "OPTIONS":  # describes the resource in WADL, which is left out
            wanted, found = (wanted[0], wanted[1], b""), (found[0], found[1], b"")
        what = compare_logs(wanted, found) if is_archive(path) else compare(wanted, found, running)
        self.compared += 1
        if what:
            self.differences.append(Difference(method, path, what))

    def paths(self, base: str, every: int) -> List[str]:
        paths = list(app_requests(base, self.spark_port))
        if every:
            paths += differential_paths.below_app(base, lambda path: get(self.spark_port, path), every)
        return list(dict.fromkeys(paths))

    def run(self, limit: Optional[int] = None, seed: int = 1, every: int = 0) -> None:
        """All requests; with a limit, that many of each application's, the same ones every time. `every`: of this
        number of stages also what differential_paths.py asks."""
        apps = get(self.spark_port, "applications")
        listed = list(list_requests(apps))
        methods = list(other_methods(apps))
        if every:
            listed += differential_paths.list_paths(apps)
            methods += differential_paths.method_paths([base for app in apps for base in app_paths(app)])
        for path in dict.fromkeys(listed):
            self.ask("GET", path)
        for method, path in dict.fromkeys(methods):
            self.ask(method, path)
        for app in apps:
            if app["id"] in self.left_out:
                continue
            for base in app_paths(app):
                paths = self.paths(base, every)
                if limit is not None and len(paths) > limit:
                    paths = random.Random(f"{seed}{base}").sample(paths, limit)
                running = not app["attempts"][0]["completed"]
                for path in paths:
                    self.ask("GET", path, running)
                self.ask("GET", f"{base}/logs")
            quoted = urllib.parse.quote(app["id"], safe="")
            if f"applications/{quoted}" not in app_paths(app):
                for path in ("", "/jobs", "/logs", "/sql", "/environment"):
                    self.ask("GET", f"applications/{quoted}{path}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spark_home", type=Path)
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=0, metavar="STAGES", help="leave nothing out, of so many stages")
    parser.add_argument("--requests", type=int, default=None, help="at most so many of each application")
    options = parser.parse_args()
    logs: List[Path] = []
    for given in options.logs:
        logs += conftest.log_paths(given)
    with tempfile.TemporaryDirectory(prefix="pyrometer-differential-") as name:
        gather(Path(name), logs)
        with HistoryServer(options.spark_home, Path(name)) as spark, Server(Path(name)) as ours:
            print(f"{spark.wait_for_attempts(ours.count())} of {ours.count()} logs are listed by Spark", flush=True)
            comparison = Comparison(spark.port, ours.port)
            comparison.run(options.requests, every=options.every)
    for one in comparison.differences:
        print(f"{one.method} {one.path}: {one.what}")
    print(f"{comparison.compared} answers compared, {len(comparison.differences)} differ")
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
