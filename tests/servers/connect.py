"""A Spark Connect server with the plugin, and its client's packages.

That of Spark 3.5 listens on all addresses: it needs a network of its own (servers.isolated)."""

from __future__ import annotations

import re
import socket
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Mapping

import conftest

from servers import Unavailable, collector, jars, plugin, spark
from servers.process import ServerProcess

CLIENT = ("googleapis-common-protos==1.70.0", "grpcio==1.76.0", "grpcio-status==1.76.0", "zstandard==0.25.0")
STARTED = re.compile(r"Spark Connect server started at: \S*:(\d+)\s")


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


@lru_cache(maxsize=None)
def server_jar() -> Path:
    """Of Spark 3.5, whose package does not have it; of the newest version that comes."""
    (jar,) = jars.download("connect-3.5", "org.apache.spark:spark-connect_2.12:3.5.7!*").glob("*.jar")
    return jar


def client_environment(version: str = spark.SPARK_4) -> Mapping[str, str]:
    environment = spark.spark_runs.spark_env(spark.venv(version))
    return {**environment, "PYTHONPATH": f"{client_packages()}:{spark.arrow_packages()}"}


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Connect(ServerProcess):
    """Listens on loopback, on a free port."""

    def __init__(self, folder: Path, conf: Mapping[str, str], version: str = spark.SPARK_4) -> None:
        client_packages()
        self.version = version
        own = [str(server_jar())] if version == spark.SPARK_3 else []
        chosen = collector.free_port() if own else 0
        settings = {
            "spark.master": "local[2]",
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(chosen),
            "spark.connect.grpc.interceptor.classes": plugin.INTERCEPTOR,
            "spark.jars": ",".join([str(plugin.jar()), *own]),
            "spark.plugins": ",".join([*(["org.apache.spark.sql.connect.SparkConnectPlugin"] if own else []), plugin.PLUGIN]),
            **conf,
        }
        command = [str(spark.home(version) / "bin" / "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        # In 3.5 as charts/spark-3.5 starts it: by Connect's own plugin.
        main = "io.pyrometer.spark.connect.ConnectServer" if own else "org.apache.spark.sql.connect.service.SparkConnectServer"
        command += ["--class", main, "spark-internal"]
        environment = spark.spark_runs.spark_env(spark.venv(version))
        super().__init__(command, folder / "connect.out", cwd=folder, env=environment)
        what = "the Connect server did not start"
        if own:  # its plugin does not print an address
            self.port = chosen
            self.wait_for(lambda: listens(chosen), what)
        else:
            self.port = int(self.wait_for(lambda: STARTED.search(self.printed()), what).group(1))

    def run(self, script: Path, parameters: str) -> str:
        """What a client prints that connects with these parameters of its address, such as traceparent=..."""
        python = str(spark.venv(self.version) / "bin" / "python")
        command = [python, str(script), f"sc://127.0.0.1:{self.port}/;{parameters}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=client_environment(self.version),
                              cwd=script.parent)
        assert done.returncode == 0, done.stderr[-3000:] + self.printed()[-3000:]
        return done.stdout
