"""A Spark Connect server of Spark 4 with the plugin, and its client's packages."""

from __future__ import annotations

import re
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Mapping

import conftest

from servers import Unavailable, plugin, spark
from servers.process import ServerProcess

CLIENT = ("googleapis-common-protos==1.70.0", "grpcio==1.76.0", "grpcio-status==1.76.0", "zstandard==0.25.0")
STARTED = re.compile(r"Spark Connect server started at: \S*?:(\d+)")


@lru_cache(maxsize=None)
def client_packages() -> Path:
    """A folder for PYTHONPATH with what a client needs besides pandas and pyarrow."""
    folder = conftest.cache_folder().absolute() / "pyrometer-connect"
    done = folder / "complete"
    if not done.exists():
        python = str(spark.venv(spark.SPARK_4) / "bin" / "python")
        command = [python, "-m", "pip", "install", "-q", "--target", str(folder), "--upgrade", *CLIENT]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"{' '.join(CLIENT)} cannot be installed: {error.stderr[-500:]!r}") from error
        done.touch()
    return folder


def client_environment() -> Mapping[str, str]:
    environment = spark.spark_runs.spark_env(spark.venv(spark.SPARK_4))
    return {**environment, "PYTHONPATH": f"{client_packages()}:{spark.arrow_packages()}"}


class Connect(ServerProcess):
    """Listens on loopback, on a free port."""

    def __init__(self, folder: Path, conf: Mapping[str, str]) -> None:
        client_packages()
        settings = {
            "spark.master": "local[2]",
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.connect.grpc.interceptor.classes": plugin.INTERCEPTOR,
            "spark.jars": str(plugin.jar()),
            "spark.plugins": plugin.PLUGIN,
            **conf,
        }
        command = [str(spark.home(spark.SPARK_4) / "bin" / "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        environment = spark.spark_runs.spark_env(spark.venv(spark.SPARK_4))
        super().__init__(command, folder / "connect.out", cwd=folder, env=environment)
        started = self.wait_for(lambda: STARTED.search(self.printed()), "the Connect server did not start")
        self.port = int(started.group(1))

    def run(self, script: Path, parameters: str) -> str:
        """What a client prints that connects with these parameters of its address, such as traceparent=..."""
        python = str(spark.venv(spark.SPARK_4) / "bin" / "python")
        command = [python, str(script), f"sc://127.0.0.1:{self.port}/;{parameters}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=client_environment(),
                              cwd=script.parent)
        assert done.returncode == 0, done.stderr[-3000:] + self.printed()[-3000:]
        return done.stdout
