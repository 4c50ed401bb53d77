"""A real one-node YARN, all of whose ports are on the loopback interface."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

VERSION = "3.3.4"  # of the Hadoop client in pyspark 3.5
ARTIFACTS = (
    "hadoop-yarn-server-resourcemanager",
    "hadoop-yarn-server-nodemanager",
    "hadoop-yarn-server-timelineservice",  # which the resource manager refers to
    "hadoop-common",
)
DAEMONS = ("resourcemanager.ResourceManager", "nodemanager.NodeManager")
FIFO = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
LOOPBACK = "127.0.0.1"
# What clients and the node must know before the resource manager runs; the others are free ones that the daemons choose.
CLIENT_PORTS = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
NODE_PORTS = ("address", "localizer.address", "webapp.address", "collector-service.address")
LOG4J = """log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.SimpleLayout
"""


def coordinates() -> list[str]:
    """Return what Maven downloads."""
    return [f"org.apache.hadoop:{name}:{VERSION}" for name in ARTIFACTS]


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that nothing listens on."""
    probes = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def write_settings(file: Path, settings: Mapping[str, str]) -> None:
    """Write settings as Hadoop reads them."""
    rows = [
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>\n"
        for key, value in settings.items()
    ]
    file.write_text(f"<configuration>\n{''.join(rows)}</configuration>\n", encoding="utf-8")


def configure(base: Path, jobs_mb: int = 4096) -> tuple[Path, str]:
    """Write the settings of a node below a folder; return theirs (HADOOP_CONF_DIR), and the URL of the resource manager."""
    conf = base / "conf"
    conf.mkdir(parents=True)
    (base / "tmp").mkdir()
    addresses = [f"{LOOPBACK}:{port}" for port in free_ports(len(CLIENT_PORTS))]
    yarn = {
        "yarn.resourcemanager.hostname": LOOPBACK,
        "yarn.resourcemanager.bind-host": LOOPBACK,
        **{f"yarn.resourcemanager.{port}": address for port, address in zip(CLIENT_PORTS, addresses)},
        "yarn.nodemanager.hostname": LOOPBACK,
        "yarn.nodemanager.bind-host": LOOPBACK,
        **{f"yarn.nodemanager.{port}": f"{LOOPBACK}:0" for port in NODE_PORTS},
        "yarn.nodemanager.local-dirs": str(base / "local"),
        "yarn.nodemanager.log-dirs": str(base / "containers"),
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.resource.memory-mb": str(jobs_mb),
        "yarn.nodemanager.resource.cpu-vcores": "4",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        "yarn.nodemanager.env-whitelist": "JAVA_HOME,SPARK_HOME,PATH,SPARK_LOCAL_IP",
        "yarn.node-attribute.fs-store.root-dir": str(base / "attributes"),
        "yarn.node-labels.fs-store.root-dir": str(base / "labels"),
        "yarn.scheduler.minimum-allocation-mb": "256",
        "yarn.resourcemanager.scheduler.class": FIFO,
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "100",
    }
    write_settings(conf / "core-site.xml", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(base / "tmp")})
    write_settings(conf / "yarn-site.xml", yarn)
    (conf / "log4j.properties").write_text(LOG4J, encoding="utf-8")
    return conf, f"http://{addresses[CLIENT_PORTS.index('webapp.address')]}"


def command(jars: Path, conf: Path, daemon: str) -> list[str]:
    """Return what starts one of DAEMONS, with the jars in a folder."""
    memory = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    others = ["--add-opens", "java.base/java.lang=ALL-UNNAMED", f"-Djava.io.tmpdir={conf.parent / 'tmp'}"]
    return ["java", *memory, *others, "-cp", f"{conf}:{jars}/*", f"org.apache.hadoop.yarn.server.{daemon}"]


def environment(conf: Path, spark_environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a daemon, and of an application that is submitted to the node."""
    java = shutil.which("java")
    homes = {"JAVA_HOME": str(Path(java).resolve().parents[1])} if java else {}
    return {**homes, **spark_environment, "HADOOP_CONF_DIR": str(conf)}
