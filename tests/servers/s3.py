"""A real S3 server over a folder, and the libraries of S3A."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Dict

from servers import collector, jars, spark
from servers.process import ServerProcess

KEY, SECRET = "pyrometer-key", "pyrometer-secret"
S3A = ("org.apache.hadoop:hadoop-aws:3.3.4", "com.amazonaws:aws-java-sdk-bundle:1.12.262")
# Of the second SDK single modules do, 12 MB instead of a bundle of more than 500; the rest of what they need Spark has.
SPARK_HAS = "io.netty,org.apache.httpcomponents,commons-codec,commons-logging,org.slf4j"
S3A_4 = (
    "org.apache.hadoop:hadoop-aws:3.5.0!*", "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1!*",
    "org.apache.spark:spark-hadoop-cloud_2.13:4.1.1!*",  # the newest that can be had; with it Spark 4.3 uses the magic committer
    *(f"software.amazon.awssdk:{name}:2.35.4!{SPARK_HAS}" for name in ("s3", "s3-transfer-manager", "apache-client", "netty-nio-client")),
)


@lru_cache(maxsize=None)
def libraries(version: str = spark.SPARK_3) -> str:
    """For spark.jars: hadoop-aws of Spark 3.5 and its bundle (281 MB), or that of Spark 4 with modules of the SDK and the magic
    committer. What Hadoop's client has already is left out."""
    if version == spark.SPARK_3:
        found = sorted(jars.download("s3a", *S3A).glob("*.jar"))
        return ",".join(str(path) for path in found if path.name.startswith(("hadoop-aws", "aws-java")))
    return ",".join(str(path) for path in sorted(jars.download("s3a-4", *S3A_4).glob("*.jar")))


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

    def conf(self, port: int = 0) -> Dict[str, str]:
        """Settings of an application that uses it; `port`: of a server before it."""
        return {
            "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{port or self.port}", "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET, "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false", "spark.hadoop.fs.s3a.multipart.size": "5M",
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            # The server keeps objects as files, and does not delete folders that are not empty.
            "spark.hadoop.fs.s3a.directory.marker.retention": "keep",
        }
