"""What the plugin's JAR contains."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from servers import plugin, shared

JAVA_8 = 52
MOST_BYTES = 10 << 20
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jar() -> Path:
    return shared.or_skip(plugin.jar)


def test_only_its_own_names(jar: Path) -> None:
    """Spark's class path has other versions of all libraries."""
    with zipfile.ZipFile(jar) as archive:
        classes = [name for name in archive.namelist() if name.endswith(".class")]
    foreign = [name for name in classes if not name.startswith("io/pyrometer/")]
    assert not foreign, foreign[:10]
    assert any("shaded/opentelemetry" in name for name in classes)


def test_runs_on_java_8(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.endswith(".class"):
                (version,) = struct.unpack(">H", archive.read(name)[6:8])
                assert version <= JAVA_8, (name, version)


def test_services_are_relocated(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        services = [name for name in archive.namelist() if name.startswith("META-INF/services/") and not name.endswith("/")]
        assert services
        for name in services:
            assert name.startswith("META-INF/services/io.pyrometer.shaded."), name
            for line in archive.read(name).decode().splitlines():
                assert not line or line.startswith("io.pyrometer.shaded."), (name, line)


def test_small(jar: Path) -> None:
    assert jar.stat().st_size < MOST_BYTES


def test_no_scala_collections(jar: Path) -> None:
    """Their methods have other signatures in Scala 2.12 and 2.13."""
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("io/pyrometer/spark/") and name.endswith(".class"):
                assert b"scala/collection" not in archive.read(name), name
