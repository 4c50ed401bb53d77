"""A log with 200 secrets of 20 kinds, in ten ways of writing each, in every text of every kind of event."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Set
from urllib.parse import quote

import cramjam

import conftest

# Every secret has this in it, also one that is cut short.
MARK = re.compile(rb"(?i)zq7[0-9a-z]{2}[0-9]{2}")
# Names, of properties too, whose values are secrets.
NAMES = ["my.password", "auth_token", "client.secret", "db.passwd", "PWD", "fs.s3a.access.key", "api_key", "apiKey",
         "credentials", "ssl.passphrase", "fs.azure.account.key.me.net"]


def mark(number: int) -> str:
    return f"Zq7{'abcdefghijklmnopqrst'[number % 20]}{'abcdefghij'[number // 20]}{number % 100:02}Kx9"


KINDS: List[Callable[[str], str]] = [
    lambda m: f"password={m}",
    lambda m: f"{{\"auth_token\": \"{m}\", \"x\": 1}}",
    lambda m: f"{{'db.passwd': '{m}'}}",
    lambda m: f"UID=sa;PWD={m};x=1",
    lambda m: f"client secret: {m}",
    lambda m: f"fs.s3a.access.key={m} x",
    lambda m: f"api_key => {m}",
    lambda m: f"credentials={m}, y",
    lambda m: f"Map(passphrase -> {m}, a -> b)",
    lambda m: f"jdbc:mysql://u:{m}@h:3306/db",
    lambda m: f"https://h/x?token={m}&y=1",
    lambda m: f"sent Bearer {m}",
    lambda m: f"Authorization: Basic {m}==",
    lambda m: f"id AKIA{m.upper()}XXXXXXXX.",
    lambda m: f"-----BEGIN RSA PRIVATE KEY-----\n{m}\n{m}\n-----END RSA PRIVATE KEY-----",
    lambda m: f"https://a.blob.core.windows.net/c?sv=1&sig={m}%3D&se=2",
    lambda m: f"AccountName=x;AccountKey={m}/+==;y",
    lambda m: f"cookie eyJhbGciOiJIUzI1NiJ9.{m}abc.{m}",
    lambda m: f"spark-submit --db-password {m} app.jar",
    lambda m: f"CREATE USER u IDENTIFIED BY '{m}' x",
]


def in_unicode(text: str) -> str:
    """As writers do that keep JSON safe for HTML."""
    return re.sub(r"[=&<>'\"]", lambda found: f"\\u{ord(found.group()):04x}", text)


WAYS: List[Callable[[str], str]] = [
    lambda text: text,
    lambda text: json.dumps({"k": text}),
    lambda text: json.dumps(json.dumps({"k": text})),
    lambda text: quote(text, safe=""),
    lambda text: quote(quote(text, safe=""), safe=""),
    lambda text: html.escape(text, quote=True),
    lambda text: html.escape(json.dumps({"k": text}), quote=True),
    lambda text: quote(json.dumps({"k": text}), safe=""),
    in_unicode,
    lambda text: re.sub(r"[=:&<>'\"/@]", lambda found: f"&#{ord(found.group())};", text),
]


def phrases() -> List[str]:
    return [WAYS[i // 20](KINDS[i % 20](mark(i))) for i in range(200)]


# What distinguishes Spark's events or joins them, and what is not a text.
STRUCTURE = {"Event", "Executor ID", "executorId", "Reason", "Task Type", "Locality", "Block ID", "nodeName", "metricType", "Metadata",
             "Result", "id", "runId", "timestamp", "operationId", "jobTags", "App ID", "Timestamp", "Spark Version", "Scope"}


class Planter:
    """Adds the next phrase to each text; `everywhere`: to those that hold the log together too."""

    def __init__(self, everywhere: bool) -> None:
        self.everywhere, self.phrases, self.next = everywhere, phrases(), 0

    def phrase(self) -> str:
        self.next += 1
        return self.phrases[self.next % len(self.phrases)]

    def plant(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            planted = {name: self.plant(one, name) for name, one in value.items()}
            if key.endswith(("Properties", "Attributes", "Log Urls")) or key in ("Properties", "metadata"):
                planted.update({f"spark.x{self.next}.{name}": mark(self.next % 200) for name in NAMES if "PWD" not in name})
                planted[f"spark.text{self.next}"] = self.phrase()
            if key == "Classpath Entries":
                planted[f"/jars/{self.phrase()}"] = "System Classpath"
            return planted
        if isinstance(value, list):
            return [self.plant(one, key) for one in value]
        if not isinstance(value, str) or key == "Event" or (key in STRUCTURE and not self.everywhere):
            return value
        # Ids are parts of addresses, which have no '/' in them.
        return f"{value} {KINDS[0](mark(0)) if key == 'App ID' else self.phrase()}"


def events(*logs: str) -> Iterator[Dict[str, Any]]:
    """The first few events of each kind, of each log."""
    for log in logs:
        first = log == logs[0]
        seen: Dict[str, int] = {}
        text = bytes(cramjam.zstd.decompress((conftest.ROOT / "corpus" / "logs" / f"{log}.zst").read_bytes()))
        for line in text.splitlines():
            event = json.loads(line)
            if not first and event["Event"].startswith("SparkListenerApplication"):
                continue
            kind = event["Event"] + event.get("Task End Reason", {}).get("Reason", "")
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] <= 3:
                yield event


def accumulables() -> List[Dict[str, Any]]:
    return [{"ID": 900001, "Name": "mine", "Update": "x", "Value": "y", "Internal": False, "Count Failed Values": False}]


def write(path: Path, everywhere: bool, megabytes: int) -> None:
    """A log of that size, in which planted lines lie across every border of 64 KiB that a reader may have."""
    planter = Planter(everywhere)
    filler = json.dumps({"Event": "SparkListenerTaskGettingResult", "Task Info": {"Task ID": 1}}).encode() + b"\n"
    with path.open("wb") as file:
        for event in events("task_failures", "healthy_sql", "healthy_stream", "executor_lost", "evicted_rdd"):
            if event["Event"] == "SparkListenerTaskEnd":
                event["Task Info"]["Accumulables"] = accumulables()
            if event["Event"] == "SparkListenerStageCompleted":
                event["Stage Info"]["Accumulables"] = accumulables()
            line = json.dumps(planter.plant(event)).encode() + b"\n"
            while megabytes and file.tell() < megabytes << 20 and (file.tell() + len(line)) >> 16 == file.tell() >> 16:
                file.write(filler)
            file.write(line)
        while megabytes and file.tell() < megabytes << 20:
            file.write(filler * 1000)
        file.write(b'{"Event":"SparkListenerJobStart","Job ID":1,"x":"' + planter.phrase().encode() + b"\n")
        file.write(planter.phrase().encode() + b"\n")
        file.write(b'{"Event":"com.acme.Own ' + KINDS[0](mark(3)).encode() + b'"}\n')
    assert planter.next > 200


def leaks(data: bytes) -> Set[bytes]:
    """The secrets that bytes show, in frames and encodings inside of them too."""
    found = set(MARK.findall(data))
    for match in re.finditer(rb"\x28\xb5\x2f\xfd", data):
        try:
            found |= set(MARK.findall(bytes(cramjam.zstd.decompress(data[match.start():]))))
        except cramjam.DecompressionError:
            pass
    for match in re.finditer(rb"[A-Za-z0-9+/]{200,}={0,2}", data):
        try:
            plain = base64.b64decode(match.group() + b"=" * (-len(match.group()) % 4))
            found |= set(MARK.findall(plain)) | set(MARK.findall(zlib.decompress(plain, 47)))
        except (ValueError, zlib.error):
            pass
    return found
