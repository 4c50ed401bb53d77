"""Recorded logs of a standalone cluster, put into the folders and behind the prefixes of other ones.

What is inside stays real output of Spark; only what surrounds it is made here.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "artefacts" / "logs"
APPLICATION = "application_1709280000000_0001"
MEMBER = re.compile(r"work/(app-[^/]+)/(\d+)/(std\w+)\.gz$")


def unpacked(path: Path) -> str:
    """The text of a recorded file."""
    return gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")


def executors(name: str) -> list[tuple[str, str, str]]:
    """(executor, stream, text) of each executor's log of a recording."""
    found = []
    for path in sorted((RECORDED / name).glob("work/*/*/*.gz")):
        match = MEMBER.search(path.as_posix())
        assert match, path
        found.append((match.group(2), match.group(3), unpacked(path)))
    return found


def driver(name: str) -> str:
    """The driver's log of a recording."""
    return unpacked(RECORDED / name / "driver.log.gz")


def containers(name: str) -> list[tuple[str, str, str]]:
    """(container, stream, text): the driver is the first container, as in cluster mode."""
    rows = [(f"container_1709280000000_0001_01_{1:06d}", "stderr", driver(name))]
    rows += [(f"container_1709280000000_0001_01_{int(n) + 2:06d}", stream, text) for n, stream, text in executors(name)]
    return rows


def standalone(name: str, target: Path) -> Path:
    """As recorded: work/APP/N/stderr, and the driver's log next to it."""
    for path in (RECORDED / name).rglob("*.gz"):
        copy = target / path.relative_to(RECORDED / name).with_suffix("")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(gzip.decompress(path.read_bytes()))
    return target


def emr(name: str, target: Path) -> Path:
    """CLUSTER/containers/application_*/container_*/std{err,out}.gz, and a step's folder, as on S3."""
    for container, stream, text in containers(name):
        path = target / "j-2AXXXXXXGAPLF" / "containers" / APPLICATION / container / f"{stream}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return target


def node_manager(name: str, target: Path) -> Path:
    """userlogs/application_*/container_*/std{err,out} of a NodeManager."""
    for container, stream, text in containers(name):
        path = target / "userlogs" / APPLICATION / container / stream
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return target


def yarn_output(name: str, target: Path) -> Path:
    """What `yarn logs -applicationId` prints."""
    parts = []
    for container, stream, text in containers(name):
        parts.append(
            f"Container: {container} on ip-10-0-0-{container[-1]}.ec2.internal_8041\n"
            "LogAggregationType: AGGREGATED\n"
            "=============================================================================================\n"
            f"LogType:{stream}\n"
            "LogLastModifiedTime:Fri Mar 01 10:15:02 +0000 2024\n"
            f"LogLength:{len(text.encode())}\n"
            f"LogContents:\n{text}\nEnd of LogType:{stream}\n"
            "***********************************************************************\n\n"
        )
    path = target / f"{APPLICATION}.log"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def databricks(name: str, target: Path) -> Path:
    """A cluster's log delivery: driver/log4j-active.log, executor/APP/N/std{err,out}."""
    path = target / "0301-101500-abcdefgh" / "driver" / "log4j-active.log"
    path.parent.mkdir(parents=True)
    path.write_text(driver(name), encoding="utf-8")
    for number, stream, text in executors(name):
        path = target / "0301-101500-abcdefgh" / "executor" / "app-20240301101500-0000" / number / stream
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return target


def cri(text: str, stream: str, cut: int = 0) -> str:
    """Lines after the prefix of Kubernetes' nodes, a second apart; `cut`: into parts of `cut` characters."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        prefix = f"2024-03-01T10:{number // 60 % 60:02d}:{number % 60:02d}.123456789Z {stream} "
        parts = [line[i : i + cut] for i in range(0, len(line), cut)] if cut and line else [line]
        lines += [f"{prefix}P {part}\n" for part in parts[:-1]] + [f"{prefix}F {parts[-1]}\n"]
    return "".join(lines)


def kubernetes(name: str, target: Path, cut: int = 100) -> Path:
    """/var/log/containers of the nodes, lines cut into parts; times of prefixes are made up."""
    folder = target / "containers"
    folder.mkdir(parents=True)
    pods = [("etl-8f1c-driver", driver(name))]
    pods += [(f"etl-8f1c-exec-{int(number) + 1}", text) for number, stream, text in executors(name) if stream == "stderr"]
    for pod, text in pods:
        path = folder / f"{pod}_spark_spark-kubernetes-{'a' * 64}.log"
        path.write_text(cri(text, "stderr", cut), encoding="utf-8")
    return target
