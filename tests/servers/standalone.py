"""Spark's own cluster manager: a master with one worker, on loopback and free ports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import List

from servers import spark
from servers.process import ServerProcess

MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:[0-9]+)")


class Standalone:
    def __init__(self, version: str, folder: Path, cores: int) -> None:
        self.servers: List[ServerProcess] = []
        self.program = str(spark.home(version) / "bin" / "spark-class")
        self.folder, self.environment = folder, spark.spark_runs.spark_env(spark.venv(version))
        folder.mkdir()
        deploy = "org.apache.spark.deploy"
        try:
            master = self.start("master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = master.wait_for(lambda: MASTER.search(master.printed()), "the master did not start").group(1)
            worker = self.start("worker", f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", str(cores), "--memory", "4g",
                                "--webui-port", "0", "--work-dir", str(folder / "work"), self.url)
            worker.wait_for(lambda: "Successfully registered with master" in worker.printed(), "the worker did not register")
        except BaseException:
            self.stop()
            raise

    def start(self, name: str, *words: str) -> ServerProcess:
        output = self.folder / f"{name}.out"
        self.servers.append(ServerProcess([self.program, *words], output, cwd=self.folder, env=self.environment))
        return self.servers[-1]

    def stop(self) -> None:
        for server in reversed(self.servers):
            server.stop()

    def __enter__(self) -> Standalone:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
