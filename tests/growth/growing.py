"""Inputs in which one thing is repeated n times: each kind of event, and each kind of record of other files."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Callable, Dict, List, Tuple

import cramjam

import conftest

LOGS = ("aqe_off", "healthy_cache", "healthy_stream", "broadcast_large", "driver_oom")
TABLE = conftest.ROOT / "src" / "decode" / "eventlog" / "events.def"
# What says the kind of a thing, and not which one it is.
FIXED = {"Event", "Reason", "Task Type", "Locality", "metricType", "Result", "Spark Version", "Attempt", "Stage Attempt ID", "Replication", "Port"}
EXCLUDED = {"time": 5, "executorId": "1", "hostId": "h", "taskFailures": 2, "stageId": 1, "stageAttemptId": 0, "executorFailures": 2, "reason": "r"}
OPERATION = {"jobTag": "tag", "operationId": "op", "eventTime": 5, "sessionId": "s", "userId": "u", "userName": "u",
             "statementText": "select 1", "errorMessage": "bad"}
PROCESS = {"time": 5, "processId": "am", "info": {"hostPort": "h:1", "cores": 1, "logUrlInfo": {"stdout": "http://x"}}}
LEVEL = {"Use Disk": True, "Use Memory": True, "Deserialized": False, "Replication": 1}
BLOCK = {"Block Updated Info": {"Block Manager ID": {"Executor ID": "1", "Host": "h", "Port": 7}, "Block ID": "rdd_1_2",
                                "Storage Level": LEVEL, "Memory Size": 10, "Disk Size": 0}}
# Of events that no recorded log of the tests has.
MADE: List[Tuple[str, Dict[str, Any]]] = [("BlockUpdated", BLOCK), ("MiscellaneousProcess", PROCESS), ("ConnectOperation", OPERATION),
                                          ("DBCEventLogging", {"Rollover Number": 0, "Databricks Version": "15.4"}), ("xcluded", EXCLUDED), ("lacklisted", EXCLUDED)]

Event = Dict[str, Any]


def decoded() -> List[str]:
    """The events of the table that a decoder or the history reads, one of those that both read alike."""
    rows = re.findall(r'^PYRO_EVENT\("([^"]+)", (\w+), (\w+)\)', TABLE.read_text(encoding="utf-8"), re.M)
    first = {(decoder, history, name if decoder == "hot" else ""): name for name, decoder, history in reversed(rows)}
    return [name for key, name in reversed(first.items()) if key[:2] != ("none", "none")]


def small(value: Any) -> Any:
    """Without the many members of an environment."""
    if isinstance(value, dict):
        members = list(value.items())
        return {key: small(one) for key, one in (members if len(members) < 30 else members[:5])}
    if isinstance(value, list):
        return [small(one) for one in value[:2]]
    return value[:200] if isinstance(value, str) else value


@lru_cache(maxsize=None)
def samples() -> Dict[str, Event]:
    """One event of each name. A new row of the table needs one here."""
    found: Dict[str, Event] = {}
    wanted = set(decoded())
    for log in LOGS:
        text = bytes(cramjam.zstd.decompress((conftest.ROOT / "corpus" / "logs" / f"{log}.zst").read_bytes()))
        for line in text.splitlines():
            name = re.match(rb'\{"Event":"([^"]+)"', line)
            if name and name.group(1).decode() in wanted - set(found):
                found[name.group(1).decode()] = small(json.loads(line))
    for name in decoded():
        made = [event for part, event in MADE if part in name]
        assert name in found or made, f"an event of {name} is missing here"
        found.setdefault(name, {"Event": name, **(made[0] if made else {})})
    return {name: found[name] for name in decoded()}


def other(value: Any, number: int, key: str = "") -> Any:
    """Another one of the same kind."""
    if isinstance(value, dict):
        return {name: other(one, number, name) for name, one in value.items()}
    if isinstance(value, list):
        return [other(one, number, key) for one in value]
    if isinstance(value, bool) or key in FIXED:
        return value
    if isinstance(value, int):
        return value + number
    if isinstance(value, str):
        return f"rdd_{number // 7}_{number % 7}" if key == "Block ID" else f"{value}{number}"
    return value


def event_log(lines: List[str]) -> bytes:
    known = samples()
    sql = next(name for name in known if name.endswith("SQLExecutionStart"))
    head = [known[f"SparkListener{name}"] for name in ("LogStart", "ApplicationStart", "ExecutorAdded", "JobStart", "StageSubmitted")]
    tail = [known[f"SparkListener{name}"] for name in ("TaskEnd", "StageCompleted", "JobEnd", "ApplicationEnd")]
    return "\n".join([*map(json.dumps, [*head, known[sql]]), *lines, *map(json.dumps, tail), ""]).encode()


def of_event(name: str, different: bool) -> Callable[[int], bytes]:
    def make(count: int) -> bytes:
        event = samples()[name]
        return event_log([json.dumps(other(event, i) if different else event) for i in range(count)])

    return make


def expressions(count: int) -> bytes:
    event = samples()["SparkListenerEnvironmentUpdate"]
    return event_log([json.dumps({**event, "Spark Properties": {"spark.redaction.regex": f"x{i}y", f"spark.k{i}": f"value {i}"}}) for i in range(count)])


def name_with_parts(count: int) -> bytes:
    event = {**samples()["SparkListenerApplicationStart"], "App Name": "part-" * (8 * count)}
    return "\n".join([json.dumps(samples()["SparkListenerLogStart"]), json.dumps(event), json.dumps(samples()["SparkListenerApplicationEnd"]), ""]).encode()


def members(count: int) -> bytes:
    """Of an object that one event has."""
    event = samples()["SparkListenerJobStart"]
    return event_log([json.dumps({**event, "Properties": {f"spark.k{i}": f"value {i}" for i in range(8 * count)}})])


def frames(count: int) -> bytes:
    event = json.loads(json.dumps(samples()["SparkListenerStageCompleted"]))
    event["Stage Info"]["Failure Reason"] = "x" + "".join(f"\n\tat com.acme.C{i}.m(C{i}.java:{i})" for i in range(8 * count))
    return event_log([json.dumps(event)])


def text_time(number: int) -> str:
    return f"26/01/02 {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"


def errors(count: int) -> bytes:
    return "".join(
        f"{text_time(i)} ERROR Acme: cannot read part{i} of job\njava.io.IOException: no part{i}\n\tat com.acme.R{i}.read(R.java:{i})\n" for i in range(count)
    ).encode()


def lines_of_one_record(count: int) -> bytes:
    return (f"{text_time(0)} ERROR Acme: one\n" + "".join(f"\tat com.acme.C{i}.m(C.java:{i})\n" for i in range(4 * count))).encode()


def collections(count: int) -> bytes:
    return "".join(f"[{i}.500s][info][gc] GC({i}) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms\n" for i in range(2 * count)).encode()


def stacks(count: int) -> bytes:
    return "".join(f"main;read{i};sum{i % 7} {i + 1}\n" for i in range(2 * count)).encode()


def deep_stack(count: int) -> bytes:
    return "".join(";".join(f"f{i % 13}" for i in range(depth % 90 + 1)) + " 1\n" for depth in range(count)).encode()
