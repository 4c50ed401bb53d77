"""A real YARN of one node, and applications that it runs."""

from __future__ import annotations

import json
import signal
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

import conftest

from servers import jars, spark
from servers.process import START_S, ServerProcess

USER = "pyrometer"
JOB = conftest.ROOT / "tests" / "servers" / "jobs" / "tiny_job.py"
ENDED = ("FINISHED", "FAILED", "KILLED")
LIMIT_S = 60


def call(method: str, url: str, document: Any = None) -> Any:
    body = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(url, method=method, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class Yarn:
    """A resource manager and a node manager, for as long as the context lasts."""

    def __init__(self) -> None:
        libraries = jars.yarn()
        self.python = spark.venv(spark.SPARK_3)
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-yarn-")
        self.folder = Path(self.work.name)
        conf, self.url = jars.yarn_node.configure(self.folder)
        environment = {**spark.spark_runs.spark_env(self.python), "SPARK_USER": USER, "HADOOP_USER_NAME": USER}
        self.environment = jars.yarn_node.environment(conf, environment)
        self.daemons: List[ServerProcess] = []
        try:
            for daemon in jars.yarn_node.DAEMONS:
                output = self.folder / f"{daemon.split('.')[0]}.out"
                command = jars.yarn_node.command(libraries, conf, daemon)
                self.daemons.append(ServerProcess(command, output, cwd=self.folder, env=self.environment))
            self.daemons[0].wait_for(lambda: self.has_node() or self.has_lost_one(), "YARN did not start")
            for daemon in self.daemons:
                daemon.wait_for(self.has_node, "YARN did not start")
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Yarn:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """At once where no container runs: SIGTERM makes the node manager wait 17 s for its log files."""
        number = signal.SIGKILL if self.is_idle() else signal.SIGTERM
        for daemon in reversed(self.daemons):
            daemon.stop(number)
        self.work.cleanup()

    def is_idle(self) -> bool:
        try:
            return bool(self.metrics()["containersAllocated"] == 0)
        except OSError:
            return False

    def metrics(self) -> Any:
        return call("GET", f"{self.url}/ws/v1/cluster/metrics")["clusterMetrics"]

    def has_node(self) -> bool:
        try:
            return bool(self.metrics()["activeNodes"] == 1)
        except OSError:
            return False

    def has_lost_one(self) -> bool:
        return any(daemon.process.poll() is not None for daemon in self.daemons)

    def application(self, identifier: str) -> Any:
        return call("GET", f"{self.url}/ws/v1/cluster/apps/{identifier}")["app"]

    def wait_for_end(self, identifier: str) -> Any:
        """The application once it has ended and its containers too: before, its memorySeconds still grow."""
        deadline = time.monotonic() + START_S
        while True:
            application = self.application(identifier)
            if application["state"] in ENDED and application["runningContainers"] <= 0:
                return application
            assert time.monotonic() < deadline, application
            time.sleep(0.1)

    def run_spark(self, events: Path, settings: Optional[Dict[str, str]] = None) -> str:
        """A small application with one executor, run to its end; its log goes into `events`, which is emptied before."""
        home = spark.spark_runs.spark_home(self.python)
        given = {
            "spark.yarn.jars": f"local:{home}/jars/*",
            "spark.yarn.stagingDir": f"file:{self.folder}/staging",
            "spark.yarn.am.memory": "512m",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.instances": "1",
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
            "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            # It need not wait as long as on a cluster that others use.
            "spark.yarn.scheduler.heartbeat.interval-ms": "200",
            "spark.yarn.scheduler.initial-allocation.interval": "100ms",
            "spark.yarn.report.interval": "200ms",
            **(settings or {}),
        }
        run = spark.spark_runs.Run("tiny", JOB, "yarn", given)
        spark.spark_runs.run_to_end(self.python, self.folder / "driver", run, events, self.environment)
        (log,) = spark.spark_runs.logs_in(events)
        identifier = log.name.split(".")[0]
        self.wait_for_end(identifier)
        return identifier

    def run_command(self, command: str, name: str = "command") -> str:
        """An application that is this command of a shell, which YARN calls failed whatever it does; quicker than Spark."""
        applications = f"{self.url}/ws/v1/cluster/apps"
        identifier = call("POST", f"{applications}/new-application?user.name={USER}", {})["application-id"]
        wanted = {
            "application-id": identifier,
            "application-name": name,
            "application-type": "SPARK",
            "max-app-attempts": 1,
            "resource": {"memory": 256, "vCores": 1},
            "am-container-spec": {"commands": {"command": command}},
        }
        call("POST", f"{applications}?user.name={USER}", wanted)
        self.wait_for_end(identifier)
        return str(identifier)
