#!/usr/bin/env python3
"""Install Apache Airflow, once, into the cache: a virtual environment and an empty database for each version.

    python3 tests/record/airflow_venvs.py --cache .cache            # both: about two minutes, 600 MB
    python3 tests/record/airflow_venvs.py --cache .cache 2.10.5

Tests skip what is not installed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

LIMIT_S = 1200
# With OpenTelemetry from 1.37 on, what Airflow 2.10 sends has the wrong content type, and collectors refuse it.
PACKAGES = {
    "2.10.5": (
        "apache-airflow[otel]==2.10.5",
        "opentelemetry-api==1.27.0",
        "opentelemetry-sdk==1.27.0",
        "opentelemetry-exporter-otlp==1.27.0",
        "opentelemetry-exporter-prometheus==0.48b0",
    ),
    "3.3.2": (
        "apache-airflow-core[otel]==3.3.2",
        "apache-airflow-providers-standard==1.21.0",
        "opentelemetry-exporter-otlp==1.45.2",
    ),
}
DATABASE = "airflow.db"


def folder(cache: Path, version: str) -> Path:
    """Return where a version is, or will be."""
    return cache / f"pyrometer-airflow-{version}"


def installed(cache: Path, version: str) -> Path | None:
    """Return the folder of a version; None: it is not installed."""
    stamp = folder(cache, version) / "complete"
    done = stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(PACKAGES[version])
    return stamp.parent if done else None


def environment(home: Path) -> dict[str, str]:
    """Return the variables of a small installation that tells its makers nothing."""
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "SCARF_ANALYTICS": "false",
        "DO_NOT_TRACK": "true",
    }


def install(cache: Path, version: str) -> Path:
    """Return the folder of a version, installed if it is not; of several processes, one installs."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"pyrometer-airflow-{version}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = installed(cache, version)
        if found:
            return found
        made = folder(cache, version)
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        venv.create(made / "venv", with_pip=True)
        pip = [str(made / "venv" / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES[version]], check=True, timeout=LIMIT_S)
        home = made / "home"
        home.mkdir()
        command = [str(made / "venv" / "bin" / "airflow"), "db", "migrate"]
        subprocess.run(command, check=True, timeout=LIMIT_S, env=environment(home), stdout=subprocess.DEVNULL)
        shutil.move(home / DATABASE, made / DATABASE)
        shutil.rmtree(home)
        (made / "complete").write_text("\n".join(PACKAGES[version]), encoding="utf-8")
        return made


def main() -> int:
    """Install what is named, or all versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("versions", nargs="*", choices=[*PACKAGES, []], metavar="VERSION", help=", ".join(PACKAGES))
    arguments = parser.parse_args()
    for version in arguments.versions or PACKAGES:
        print(install(arguments.cache.absolute(), version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
