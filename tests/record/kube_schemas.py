#!/usr/bin/env python3
"""Make JSON schemas of what Kubernetes and the Prometheus operator accept, for kubeconform without a network.

    python3 tests/record/kube_schemas.py --cache .cache            # a few seconds

Sources are two Go modules at pinned versions, which Go checks by its checksum database: of k8s.io/kubernetes its OpenAPI
document, of the operator its custom resource definitions. Results:

    CACHE/pyrometer-kubernetes/schemas/  kubeconform -strict -schema-location 'FOLDER/{{.ResourceKind}}{{.KindSuffix}}.json'
    CACHE/pyrometer-kubernetes/crds/     the definitions, for an API server
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

KUBERNETES = "1.33.1"
OPERATOR = "0.85.0"
CUSTOM = ("podmonitors", "prometheusrules", "servicemonitors")
VERSION = f"{KUBERNETES} {OPERATOR} 1"  # the last number: of this script
SHARED = "definitions.json"
EITHER = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
LIMIT_S = 600

# Types whose description is narrower than what the API server takes.
WIDER = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": EITHER,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
}


class Places(NamedTuple):
    """Where the results are."""

    schemas: Path
    crds: Path

    @property
    def location(self) -> str:
        """Return the template that kubeconform finds a schema by."""
        return f"{self.schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"


def places(cache: Path) -> Places:
    """Return where the results are, or will be."""
    folder = cache / "pyrometer-kubernetes"
    return Places(folder / "schemas", folder / "crds")


def module(name: str, version: str) -> Path:
    """Return the folder of a Go module, downloaded if it is not there yet."""
    command = ["go", "mod", "download", "-json", f"{name}@v{version}"]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=LIMIT_S)
    return Path(json.loads(run.stdout)["Dir"])


def strict(schema: Any, references: str) -> Any:
    """Return a schema in which objects have no fields but those named. References to definitions begin with `references`."""
    if isinstance(schema, list):
        return [strict(each, references) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$ref"), str):
        return {"$ref": schema["$ref"].replace("#/definitions/", references)}
    if schema.get("format") == "int-or-string":
        return EITHER
    made = {key: strict(value, references) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and "type" in made and not made.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made


def file_name(kind: str, group: str, version: str) -> str:
    """Return the name that kubeconform looks for."""
    return "-".join(word for word in (kind.lower(), group.split(".")[0], version) if word) + ".json"


def of_kubernetes(document: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of Kubernetes' own kinds, and the definitions that they share."""
    definitions = {**document["definitions"], **WIDER}
    shared = {name: strict(each, "#/definitions/") for name, each in definitions.items()}
    made: dict[str, Any] = {SHARED: {"definitions": shared}}
    for name, each in definitions.items():
        for kind in each.get("x-kubernetes-group-version-kind", []):
            made[file_name(kind["kind"], kind["group"], kind["version"])] = {"$ref": f"{SHARED}#/definitions/{name}"}
    return made


def of_custom(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of a custom resource definition, by version."""
    made = {}
    for version in definition["spec"]["versions"]:
        schema = strict(version["schema"]["openAPIV3Schema"], "")
        schema["properties"]["metadata"] = {"$ref": f"{SHARED}#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
        made[file_name(definition["spec"]["names"]["kind"], definition["spec"]["group"], version["name"])] = schema
    return made


def make(cache: Path) -> Places:
    """Return where the results are, made if they are not or are of other versions."""
    found = places(cache)
    stamp = found.schemas.parent / "version"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == VERSION:
        return found
    shutil.rmtree(found.schemas.parent, ignore_errors=True)
    for folder in found:
        folder.mkdir(parents=True)
    document = module("k8s.io/kubernetes", KUBERNETES) / "api" / "openapi-spec" / "swagger.json"
    schemas = of_kubernetes(json.loads(document.read_text(encoding="utf-8")))
    operator = module("github.com/prometheus-operator/prometheus-operator", OPERATOR) / "jsonnet" / "prometheus-operator"
    for name in CUSTOM:
        text = (operator / f"{name}-crd.json").read_text(encoding="utf-8")
        (found.crds / f"{name}.json").write_text(text, encoding="utf-8")
        schemas.update(of_custom(json.loads(text)))
    for name, schema in schemas.items():
        (found.schemas / name).write_text(json.dumps(schema), encoding="utf-8")
    stamp.write_text(VERSION, encoding="utf-8")
    return found


def main() -> int:
    """Make what is not there, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    print(make(parser.parse_args().cache.absolute()).schemas.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
