"""What differential.py asks when it leaves nothing out: every query of every resource, wrong ones among them. What is
known to differ, as docs/serve.md says, is not asked."""

from __future__ import annotations

import urllib.parse
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

Get = Callable[[str], Any]  # the parsed answer to a path, [] when it is an error

QUANTILES = (
    "0", "1", "0.001", "0.999", "0.5,0.5", "1,0", "0.9,0.1,0.5", "-1", "-0.1", "2", "1.5,0.2", "1e-3", "1E0", "+0.5",
    ".5", "1.", "0x1p-1", "%200.5%20", "0.5f", "0.5d", "half", "", ",", ",,", "0.1,,0.2", "0.1,", ",0.1", "0.5;0.6",
    "1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "nan", "0,5", "0.5&quantiles=0.7", "0.25%2C0.75",
    "0.1%200.2", "1_0", "0.123456789012345678", "1e300", "-1e300", ",".join(str(n / 100) for n in range(101)),
)
SORTS = (
    "ID", "id", "Id", "INCREASING_RUNTIME", "increasing_runtime", "DECREASING_RUNTIME", "Decreasing_Runtime", "runtime",
    "RUNTIME", "-runtime", "-RUNTIME", "%2Bruntime", "+runtime", "none", "", "taskId", "duration", "-id", "index", "i",
    "runtime&sortBy=-runtime", "%20runtime",
)
NUMBERS = (
    "0", "1", "2", "5", "19", "20", "21", "100", "-1", "-5", "", "x", "1.5", "1e3", "%201", "+1", "%2B1", "0x10",
    "2147483647", "2147483648", "-2147483648", "9999999999999", "99999999999999999999", "007",
)
FLAGS = ("true", "false", "TRUE", "True", "", "1", "yes", "x", "%20true", "true&{}=false", "false&{}=true")
TASK_STATUSES = ("running", "killed", "failed", "success", "unknown")
STAGE_STATUSES = ("active", "complete", "failed", "pending", "skipped")
JOB_STATUSES = ("running", "succeeded", "failed", "unknown")


def combinations(name: str, words: Sequence[str]) -> Iterator[str]:
    """Each one, all pairs, all of them, and forms that are none or that are written unusually."""
    for word in words:
        yield from (f"{name}={word}", f"{name}={word.upper()}")
    for at, word in enumerate(words):
        for other in words[at:]:
            yield f"{name}={word}&{name}={other}"
    yield "&".join(f"{name}={word}" for word in words)
    yield from (f"{name}=", f"{name}", f"{name}=x", f"{name}={words[0]}&{name}=x", f"{name}={words[0]},{words[1]}")
    yield from (f"{name.upper()}={words[0]}", f"{name}=%20{words[0]}", f"{name}={words[0].title()}")


def flags(name: str) -> Iterator[str]:
    for value in FLAGS:
        yield f"{name}={value.format(name)}"
    yield name


def wish_queries() -> Iterator[str]:
    """Of stages: details, withSummaries, quantiles, taskStatus."""
    yield from flags("details")
    yield from (f"details=false&{one}" for one in flags("withSummaries"))
    yield from (f"details=false&withSummaries=true&quantiles={one}" for one in QUANTILES)
    yield from ("quantiles=half", "details=false&quantiles=half", "details=false&quantiles=2")
    yield from (f"details=true&{one}" for one in combinations("taskStatus", TASK_STATUSES))
    yield from (f"details=false&{one}" for one in combinations("taskStatus", TASK_STATUSES[:2]))
    yield from ("taskStatus=x&quantiles=y", "details=true&withSummaries=true&taskStatus=failed", "a=b", "=", "&")


def task_list_queries() -> Iterator[str]:
    yield from (f"offset={one}" for one in NUMBERS)
    yield from (f"length={one}" for one in NUMBERS)
    yield from (f"sortBy={one}&length=1000" for one in SORTS)
    yield from (f"length=1000&{one}" for one in combinations("status", TASK_STATUSES))
    for status in TASK_STATUSES:
        yield from (f"status={status}&length={one}" for one in ("0", "-1", "1", "3"))
        yield from (f"status={status}&sortBy={one}&length=100" for one in ("runtime", "-runtime"))
        yield from (f"status={status}&offset={one}" for one in ("-1", "1", "3", "100000"))
    yield from (f"offset={at}&length=3&sortBy={sort}" for at in (0, 1, 7, 50) for sort in ("runtime", "-runtime", "ID"))
    yield from ("offset=2&offset=0", "length=2&length=1", "taskStatus=failed", "Length=1", "offset=0&length=-1&status=success")


def stage_paths(base: str, stages: Sequence[Dict[str, Any]], get: Get, most: int) -> Iterator[str]:
    """Everything of `most` stages, those that failed or are the largest among them; of all others what is usual."""
    def interest(stage: Dict[str, Any]) -> Tuple[bool, int]:
        odd = stage["numFailedTasks"] + stage["numKilledTasks"] > 0 or stage["status"] not in ("COMPLETE", "SKIPPED")
        return (not odd, -min(stage["numTasks"], 500))

    chosen = sorted(stages, key=interest)[: most // 2]
    chosen += [stage for stage in stages[:: max(1, len(stages) // (most - most // 2))] if stage not in chosen]
    for stage in stages:
        one = f"{base}/stages/{stage['stageId']}"
        attempt = f"{one}/{stage['attemptId']}"
        yield from (one, attempt, f"{attempt}?withSummaries=true", f"{one}?details=false&withSummaries=true&quantiles=0.1,1")
        yield from (f"{attempt}/taskSummary", f"{attempt}/taskSummary?quantiles=0,0.001,0.01,0.3,0.99,1")
        yield from (f"{attempt}/taskList", f"{attempt}/taskList?length=100000&sortBy=runtime")
        yield from (f"{attempt}/taskList?length=50&sortBy=-runtime", f"{attempt}/taskList?offset=20&length=100000")
        yield from (f"{attempt}?taskStatus=failed&taskStatus=killed", f"{attempt}/taskList?status=failed&status=killed")
    for stage in chosen:
        one = f"{base}/stages/{stage['stageId']}"
        attempt = f"{one}/{stage['attemptId']}"
        small = stage["numTasks"] <= 100
        yield from (f"{attempt}?{query}" for query in wish_queries() if small or query.startswith("details=false"))
        yield from (f"{attempt}/taskSummary?quantiles={one}" for one in QUANTILES)
        yield from (f"{attempt}/taskList?{query}" for query in task_list_queries())
        yield from (f"{attempt}/", f"{attempt}/taskSummary/", f"{attempt}/taskList/", f"{one}/", f"{attempt}/none")
        yield from (f"{attempt}//taskList", f"{attempt}/tasklist", f"{attempt}/taskList/1", f"{attempt}/taskSummary/1")
        yield from (f"{attempt};a=b", f"{attempt}/taskList;a=b?length=1", f"{one}/-1", f"{one}/00{stage['attemptId']}")
    for stage in chosen[:1]:
        one = f"{base}/stages/{stage['stageId']}"
        yield from (f"{one}?{query}" for query in wish_queries())


def sql_paths(base: str, get: Get) -> Iterator[str]:
    executions = get(f"{base}/sql?length=1000000&details=false&planDescription=false")
    for one in executions:
        yield f"{base}/sql/{one['id']}"
        yield f"{base}/sql/{one['id']}?details=false"
        yield f"{base}/sql/{one['id']}?planDescription=false"
    for one in executions[:2]:
        for name in ("details", "planDescription"):
            yield from (f"{base}/sql/{one['id']}?{query}" for query in flags(name))
        yield from (f"{base}/sql/{one['id']}/", f"{base}/sql/{one['id']}/x", f"{base}/sql/+{one['id']}")
    for name in ("details", "planDescription"):
        yield from (f"{base}/sql?length=3&{query}" for query in flags(name))
    yield from (f"{base}/sql?details=false&planDescription=false&offset={one}" for one in NUMBERS)
    yield from (f"{base}/sql?details=false&planDescription=false&length={one}" for one in NUMBERS)
    yield from (f"{base}/sql?details=false&offset={len(executions) + n}" for n in (-2, -1, 0, 1))
    yield f"{base}/sql?offset=0&length=1000000"
    yield f"{base}/sql?status=COMPLETED"


def ids(collection: str) -> Iterator[str]:
    """Numbers that name nothing, or that are none."""
    for one in (
        "99999", "-1", "x", "1x", "1.0", "00000", "2147483647", "2147483648", "9223372036854775807",
        "9223372036854775808", "99999999999999999999", "0%20", "+0", "null", "0/x", "0//",
    ):
        yield f"{collection}/{one}"


def below_app(base: str, get: Get, most: int) -> Iterator[str]:
    for path in (
        "", "/", "//", "/.", "/./jobs", "/../", "?x=y", "/jobs", "/jobs?x=y", "/jobs/", "/Jobs", "/job", "/stages", "/stages/",
        "/executors", "/executors/", "/allexecutors", "/allexecutors/", "/allmiscellaneousprocess",
        "/allmiscellaneousprocess/", "/executors?x=y", "/executors/driver", "/executors/driver/threads",
        "/executors/1/threads", "/executors/x/threads", "/executors/driver/threads/", "/threads",
        "/taskthreads", "/storage", "/storage/", "/storage/rdd", "/storage/rdd/",
        "/storage/rdd?x", "/storage/RDD", "/environment", "/environment/", "/environment?x", "/sql", "/sql/",
        "/streaming", "/streaming/", "/streaming/statistics", "/streaming/receivers", "/streaming/receivers/0",
        "/streaming/receivers/x", "/streaming/batches", "/streaming/batches/1",
        "/streaming/batches/x", "/streaming/batches/1/operations", "/streaming/batches/1/operations/0",
        "/streaming/batches/1/operations/x", "/streaming/none", "/streaming/batches/99999999999999999999",
        "/logs/", "/logs/x", "/logs?x=y", "/none", "/none/none", "/1", "/1/", "/x/jobs", "/-1/jobs", "/version", "/metrics",
        "/metrics/prometheus", "/nothing/at/all", "/jobs;a=b", ";a=b/jobs", "/jobs?status", "/sql;x", "/environment;x",
    ):
        yield f"{base}{path}"
    for query in combinations("status", JOB_STATUSES):
        yield f"{base}/jobs?{query}"
    for query in combinations("status", STAGE_STATUSES):
        yield f"{base}/stages?{query}"
    stages = get(f"{base}/stages")
    jobs = get(f"{base}/jobs")
    for job in jobs:
        yield f"{base}/jobs/{job['jobId']}"
    for job in jobs[:1]:
        yield from (f"{base}/jobs/{job['jobId']}{rest}" for rest in ("/", "?x=y", "/stages", ";x"))
    for rdd in get(f"{base}/storage/rdd"):
        yield f"{base}/storage/rdd/{rdd['id']}"
    for name in ("jobs", "stages", "stages/0", "storage/rdd", "sql"):
        yield from ids(f"{base}/{name}")
    yield from sql_paths(base, get)
    yield from stage_paths(base, stages, get, most)
    # Over all stages at once, where that is not too much.
    tasks = sum(stage["numTasks"] for stage in stages)
    for query in wish_queries():
        if tasks <= 300 or (len(stages) <= 200 and query.startswith("details=false") and "withSumm" not in query):
            yield f"{base}/stages?{query}"
    if tasks <= 20000:
        yield from (f"{base}/stages?details=true", f"{base}/stages?withSummaries=true&details=true&taskStatus=success")
    yield from (f"{base}/stages?withSummaries=true", f"{base}/stages?details=true&taskStatus=failed")
    yield from (f"{base}/stages?details=true&taskStatus=killed", f"{base}/stages?details=true&taskStatus=unknown")


DATES = (
    "2016-01-01", "2026-11-21", "1970-01-01", "3000-01-01", "x", "", "2015-02-30", "2015-13-01", "2015-2-3", "15-02-03",
    "2015-02-03T16:42:40.000GMT", "2015-02-03T16:42:40.000%2B0200", "2015-02-03T16:42:40.000+0200",
    "2015-02-03T16:42:40GMT", "2015-02-03T16:42:40.000", "2015-02-03T16:42:40.000Z", "2015-02-03T16:42:40.000PST",
    "2015-02-03T16:42:40.000UTC", "2015-02-03T16:42:40.000EST", "2015-02-03T16:42:40.000gmt", "2015-02-03%2016:42", "20150203",
    "2015-02-03T", "2015-02-03x", "%202015-02-03", "2015/02/03", "0000-00-00", "-2015-01-01", "99999-01-01", "2015-02",
    "1425081758277", "2015-02-03T25:61:61.000GMT", "2015-02-03T16:42:40.5GMT", "2015-02-03T16:42:40.000GMT%2B1",
    "2015-02-03T16:42:40.000GMT-08:00", "2015-02-03T16:42:40.000CET", "2015-02-03T16:42:40.000America/New_York",
    "2999-12-31T23:59:59.999GMT", "292278995-01-01", "2015--1-01", "2015-+1-01", "+2015-01-01", "2015-02-0x3",
)


def list_paths(apps: Sequence[Dict[str, Any]]) -> Iterator[str]:
    for name in ("minDate", "maxDate", "minEndDate", "maxEndDate"):
        yield from (f"applications?{name}={date}" for date in DATES)
    for app in apps[:: max(1, len(apps) // 5)]:
        for key in ("startTime", "endTime"):
            for name in ("minDate", "maxDate", "minEndDate", "maxEndDate"):
                yield f"applications?{name}={app['attempts'][0][key]}"
    yield from (f"applications?limit={one}" for one in NUMBERS)
    yield from (f"applications?{one}" for one in combinations("status", ("completed", "running")))
    for query in (
        "", "?", "?x=y", "/", "//", "?limit=1&status=running", "?minDate=x&status=y", "?limit=x&minDate=y", "?limit=3&minDate=2020-01-01",
        "?minDate=2016-01-01&maxDate=2020-01-01", "?minDate=2016-01-01&minDate=x", "?minDate=2030-01-01&limit=x", ";a=b",
    ):
        yield f"applications{query}"
    yield from (
        "version", "version/", "version/x", "version?x", "Version", "", "/", "//", "foobar", "foobar/", "jobs", "sql", ".",
        "..", "./version", "applications/none", "applications/none/", "applications/none/1", "applications/none/1/",
        "applications/none/jobs", "applications/none/1/jobs", "applications/none/stages", "applications/none/stages/0",
        "applications/none/stages/x", "applications/none/stages/0/0", "applications/none/stages/0/0/taskList",
        "applications/none/stages/0/0/taskSummary?quantiles=x", "applications/none/environment", "applications/none/logs",
        "applications/none/1/logs", "applications/none/sql", "applications/none/sql/1", "applications/none/sql/x",
        "applications/none/storage/rdd", "applications/none/storage/rdd/0", "applications/none/executors",
        "applications/none/executors/1/threads", "applications/none/allexecutors", "applications/none/streaming/statistics",
        "applications/none/1/2/jobs", "applications/none/jobs/x", "applications//jobs",
        "applications///", "applications/a%20b", "applications/%C3%A9", "applications/%C3%A9/jobs",
        "applications/%3Cb%3E/jobs", "applications/%22/jobs", "applications/..", "applications/../version",
        "applications/%2e%2e/version", "applications/a+b/jobs", "applications/none;x=y/jobs", "applications/none/none/none",
        "applications/" + "a" * 300 + "/jobs", "applications/a%3Fb/jobs", "applications/a%25b/jobs", "applications/a%0Ab/jobs",
    )
    for app in apps[:3] + [app for app in apps if len(app["attempts"]) > 1][:3]:
        quoted = urllib.parse.quote(app["id"], safe="")
        for rest in ("", "/", "/7", "/7/", "/7/jobs", "/7/sql", "/7/logs", "/1/1/jobs", "/1", "/1/jobs", "/2", "/2/", "/01", "/1/logs",
                     "/x/logs", "/1/7/logs", "/1/environment", "/ 1/jobs".replace(" ", "%20")):
            yield f"applications/{quoted}{rest}"
        yield "applications/" + "".join(f"%{byte:02X}" for byte in app["id"].encode()) + "/jobs"
        yield f"applications/{quoted.upper()}"
        yield f"applications/{quoted}%20/jobs"


def method_paths(bases: Sequence[str]) -> Iterator[Tuple[str, str]]:
    base = bases[0] if bases else "applications/none"
    below = (
        "", "/", "/jobs", "/jobs/0", "/jobs/x", "/stages", "/stages/0", "/stages/0/0", "/stages/0/0/taskList",
        "/stages/0/0/taskSummary", "/stages/x", "/executors", "/allexecutors", "/environment", "/storage/rdd", "/storage/rdd/0",
        "/sql", "/sql/0", "/sql/x", "/none", "/streaming/statistics", "/executors/1/threads", "/allmiscellaneousprocess",
    )
    paths: List[str] = ["version", "applications", "applications/none", "applications/none/jobs", "foobar", "", "applications/none/x"]
    paths += [base + path for path in below]
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
        for path in paths:
            yield method, path
