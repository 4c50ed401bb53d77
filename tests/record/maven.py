"""Jars from Maven Central with all that they need, kept in the cache of downloads."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

TIME_LIMIT_S = 600


def project(coordinates: Sequence[str]) -> str:
    """Return a Maven project that depends on each group:artifact:version; behind "!" groups that it is taken without."""
    rows = []
    for coordinate in coordinates:
        name, _, without = coordinate.partition("!")
        group, artifact, version = map(escape, name.split(":"))
        left_out = "".join(
            f"<exclusion><groupId>{escape(each)}</groupId><artifactId>*</artifactId></exclusion>"
            for each in without.split(",")
            if each
        )
        exclusions = f"<exclusions>{left_out}</exclusions>" if left_out else ""
        rows.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{exclusions}</dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>pyrometer</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{''.join(rows)}</dependencies></project>\n"
    )


def jars(cache: Path, name: str, coordinates: Sequence[str]) -> Path:
    """Return a folder with these jars and their dependencies; of several processes, one downloads them."""
    folder = cache / f"pyrometer-{name}"
    wanted = project(coordinates)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / "complete"
        if not complete.is_file() or complete.read_text(encoding="utf-8") != wanted:
            complete.unlink(missing_ok=True)
            shutil.rmtree(folder / "lib", ignore_errors=True)
            (folder / "pom.xml").write_text(wanted, encoding="utf-8")
            goal = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
            output = f"-DoutputDirectory={(folder / 'lib').absolute()}"
            subprocess.run(
                ["mvn", "-q", "-B", *goal, output],
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=TIME_LIMIT_S,
            )
            complete.write_text(wanted, encoding="utf-8")
    return folder / "lib"
