"""Spark's own cluster manager: a master with one worker, on loopback and free ports."""

from __future__ import annotations

import re
from pathlib import Path

from servers import spark
from servers.process import ServerProcess, ServerProcesses

MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:[0-9]+)")


class Standalone(ServerProcesses):
    def __init__(self, version: str, folder: Path, cores: int) -> None:
        super().__init__()
        self.program = str(spark.home(version) / "bin" / "spark-class")
        self.folder, self.environment = folder, spark.spark_runs.spark_env(spark.venv(version))
        folder.mkdir()
        deploy = "org.apache.spark.deploy"
        try:
            master = self.launch("master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = master.wait_for(lambda: MASTER.search(master.printed()), "the master did not start").group(1)
            worker = self.launch("worker", f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", str(cores), "--memory", "4g",
                                 "--webui-port", "0", "--work-dir", str(folder / "work"), self.url)
            worker.wait_for(lambda: "Successfully registered with master" in worker.printed(), "the worker did not register")
        except BaseException:
            self.stop()
            raise

    def launch(self, name: str, *words: str) -> ServerProcess:
        return self.start([self.program, *words], self.folder / f"{name}.out", cwd=self.folder, env=self.environment)
