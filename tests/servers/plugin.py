"""The Spark plugin, built from jvm/, and applications that run with it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

import conftest

from servers import Unavailable, spark

SOURCES = conftest.ROOT / "jvm"
PLUGIN = "io.pyrometer.spark.PyrometerPlugin"
INTERCEPTOR = "io.pyrometer.spark.connect.TraceContextInterceptor"
TIME_LIMIT_S = 600
UNREACHABLE = re.compile(r"[Cc]ould not (?:be resolved|resolve|transfer|find) |Unknown host|Connection refused")
SAMPLE = re.compile(r'^([a-z_]+)\{(.*)\} (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def fingerprint() -> str:
    """Of all that the JAR is made of."""
    digest = hashlib.sha256()
    for path in sorted([SOURCES / "pom.xml", *(SOURCES / "src").rglob("*.java")]):
        digest.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=None)
def jar() -> Path:
    """The JAR; of several processes, one builds it, with its unit tests, when its sources have changed."""
    for command, package in (("javac", "openjdk-17-jdk-headless"), ("mvn", "maven")):
        if shutil.which(command) is None:
            raise Unavailable(f"the plugin needs {command} (as Debian calls it: {package})")
    folder = conftest.cache_folder().absolute() / "pyrometer-plugin"
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / "target" / "pyrometer-spark-plugin.jar"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "fingerprint"
        if not built.is_file() or not stamp.is_file() or stamp.read_text(encoding="utf-8") != fingerprint():
            stamp.unlink(missing_ok=True)
            command = ["mvn", "-q", "-B", "-f", str(SOURCES / "pom.xml"), f"-Dbuild.folder={folder / 'target'}", "package"]
            run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIME_LIMIT_S)
            if run.returncode != 0 and UNREACHABLE.search(run.stdout):
                raise Unavailable(f"the plugin cannot be built: {run.stdout[-300:]}")
            assert run.returncode == 0, run.stdout[-4000:]
            stamp.write_text(fingerprint(), encoding="utf-8")
    return built


class Sample(NamedTuple):
    name: str
    labels: Dict[str, str]
    value: float


def samples(text: str) -> List[Sample]:
    """Of an answer in the text format of Prometheus."""
    found = []
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        match = SAMPLE.match(line)
        assert match, line
        labels = {name: re.sub(r"\\(.)", r"\1", value) for name, value in LABEL.findall(match.group(2))}
        found.append(Sample(match.group(1), labels, float(match.group(3))))
    return found


class Watched(NamedTuple):
    """An application that ran with the plugin."""

    samples: List[Sample]  # just before its end
    log: Path  # its event log
    output: str  # what it printed
    result: Any  # what its script found

    def value(self, name: str, **labels: str) -> float:
        """The one sample of that name with these labels, among others."""
        values = [s.value for s in self.samples if s.name == name and labels.items() <= s.labels.items()]
        assert len(values) == 1, (name, labels, values)
        return values[0]


def run(version: str, script: Path, folder: Path, conf: Mapping[str, str], environment: Mapping[str, str] = {}) -> Watched:
    """Runs a script with the plugin in client mode. The script gets a file for its results, as JSON: {"metrics": text, ...}."""
    events = folder / "events"
    events.mkdir(parents=True)
    answer = folder / "answer.json"
    settings = {
        "spark.master": "local-cluster[2,1,1024]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars": str(jar()),
        "spark.plugins": PLUGIN,
        "spark.pyrometer.metrics.port": "0",
        **conf,
    }
    command = [str(spark.home(version) / "bin" / "spark-submit")]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    python = spark.venv(version)
    done = subprocess.run([*command, str(script), str(answer)], check=False, cwd=folder, capture_output=True, text=True,
                          timeout=TIME_LIMIT_S, env={**spark.spark_runs.spark_env(python), **environment})
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-4000:]
    (log,) = events.iterdir()
    result = json.loads(answer.read_text(encoding="utf-8"))
    return Watched(samples(result.get("metrics", "")), log, output, result)


def phases(report: Mapping[str, Any]) -> Tuple[float, float, float]:
    """Waiting, computing and writing in a report, in seconds."""
    known = report["accounting"]["phases"]
    return known["wait_ms"] / 1000, known["compute_ms"] / 1000, known["write_ms"] / 1000
