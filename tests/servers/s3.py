"""A real S3 server over a folder, and the libraries of S3A."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Dict

from servers import collector, jars
from servers.process import ServerProcess

KEY, SECRET = "pyrometer-key", "pyrometer-secret"
S3A = ("org.apache.hadoop:hadoop-aws:3.3.4", "com.amazonaws:aws-java-sdk-bundle:1.12.262")


@lru_cache(maxsize=None)
def libraries() -> str:
    """For spark.jars: hadoop-aws of Spark 3.5, and its bundle (281 MB). What Hadoop's client has already is left out."""
    folder = jars.download("s3a", *S3A)
    return ",".join(str(path) for path in sorted(folder.glob("*.jar")) if path.name.startswith(("hadoop-aws", "aws-java")))


class S3(ServerProcess):
    def __init__(self) -> None:
        binary = collector.program("versitygw")
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-s3-")
        self.root = Path(self.work.name) / "root"
        (self.root / "bucket").mkdir(parents=True)
        self.port = collector.free_port()
        command = [str(binary), "--port", f"127.0.0.1:{self.port}", "posix", str(self.root)]
        super().__init__(command, Path(self.work.name) / "output", cwd=self.work.name,
                         env={"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET, "PATH": "/usr/bin:/bin"})
        self.wait_for(lambda: "127.0.0.1" in self.printed() or None, "the S3 server did not start")

    def stop(self, *number: int) -> int:
        status = super().stop(*number)
        self.work.cleanup()
        return status

    def conf(self) -> Dict[str, str]:
        """Settings of an application that uses it."""
        return {
            "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{self.port}", "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET, "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false", "spark.hadoop.fs.s3a.multipart.size": "5M",
            # The server keeps objects as files, and does not delete folders that are not empty.
            "spark.hadoop.fs.s3a.directory.marker.retention": "keep",
        }
