#!/usr/bin/env python3
"""Write what a release consists of, as SPDX 2.3 (JSON).

    make_sbom.py --version V --epoch SECONDS --output FILE [ARTEFACT...]

The projects are those of the first tables of THIRD_PARTY.md; their versions are those that are installed here, or are
in web/package-lock.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple, Optional

import project


class Part(NamedTuple):
    """A project that the command is linked with."""

    package: str  # its name for pkg-config
    licence: str  # as an SPDX expression
    in_static: bool  # whether the static command has it too


# By the name in THIRD_PARTY.md.
LINKED = {
    "Zstandard": Part("libzstd", "BSD-3-Clause OR GPL-2.0-only", True),
    "LZ4": Part("liblz4", "BSD-2-Clause", True),
    "xxHash": Part("libxxhash", "BSD-2-Clause", True),
    "Snappy": Part("snappy", "BSD-3-Clause", True),
    "LibLZF": Part("liblzf", "BSD-2-Clause OR GPL-2.0-or-later", False),
    "zlib": Part("zlib", "Zlib", True),
    "libarchive": Part("libarchive", "BSD-2-Clause", True),
    "SQLite": Part("sqlite3", "blessing", True),
    "LibYAML": Part("yaml-0.1", "MIT", True),
    "NLopt": Part("nlopt", "MIT AND LGPL-2.1-or-later", False),
    "Jansson": Part("jansson", "MIT", True),
    "PCRE2": Part("libpcre2-8", "BSD-3-Clause", True),
    "libsodium": Part("libsodium", "ISC", False),
    "GNU libmicrohttpd": Part("libmicrohttpd", "LGPL-2.1-or-later", False),
    "GnuTLS": Part("gnutls", "LGPL-2.1-or-later", False),
    "curl": Part("libcurl", "curl", False),
}
# In the static command alone.
STATIC_ONLY = {
    "bzip2": Part("bzip2", "bzip2-1.0.6", True),
    "XZ Utils": Part("liblzma", "LicenseRef-public-domain", True),
    "Nettle": Part("nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later", True),
    "GNU C library": Part("", "LGPL-2.1-or-later", True),
    "GNU C++ library": Part("", "GPL-3.0-or-later WITH GCC-exception-3.1", True),
}
WEB = {"Preact": "preact", "uPlot": "uplot", "dagre": "@dagrejs/dagre"}
PUBLIC_DOMAIN = {
    "licenseId": "LicenseRef-public-domain",
    "extractedText": "Its authors have put it into the public domain.",
    "name": "public domain",
}


def third_parties(heading: str) -> dict[str, str]:
    """Names and addresses of a table of THIRD_PARTY.md."""
    text = (project.ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", section, re.M))


def output_of(*words: str) -> Optional[str]:
    try:
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip() or None
    except (OSError, subprocess.CalledProcessError):
        return None


def version_of(name: str, part: Part) -> Optional[str]:
    if name == "GNU C library":
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").split(" ")[-1] or None
    if name == "bzip2":  # it has no file for pkg-config
        header = Path("/usr/include/bzlib.h")
        said = re.search(r"version ([\d.]+)", header.read_text(encoding="utf-8", errors="replace")) if header.exists() else None
        return said.group(1) if said else None
    if name == "GNU C++ library":
        return output_of("gcc", "-dumpfullversion")
    return output_of("pkg-config", "--modversion", part.package)


def identifier(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name.replace("+", "p"))


def package(name: str, version: Optional[str], licence: str, homepage: str = "", **more: Any) -> dict[str, Any]:
    row = {
        "SPDXID": identifier(name),
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
        **more,
    }
    if version:
        row["versionInfo"] = version
    if homepage:
        row["homepage"] = homepage
    return row


def relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def parts() -> list[dict[str, Any]]:
    """Every project that ends up in an artefact, or that one is linked with."""
    addresses = third_parties("Linked into the command and the library")
    unknown = set(addresses) ^ set(LINKED)
    if unknown:
        raise SystemExit(f"make_sbom.py and THIRD_PARTY.md differ in {', '.join(sorted(unknown))}")
    rows = [package(name, version_of(name, part), part.licence, addresses[name]) for name, part in LINKED.items()]
    rows += [package(name, version_of(name, part), part.licence) for name, part in STATIC_ONLY.items()]
    pages = third_parties("Inside the web UI")
    locked = json.loads((project.ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, where in WEB.items():
        entry = locked[f"node_modules/{where}"]
        rows.append(package(name, entry["version"], entry["license"], pages[name]))
    return rows


def artefact(path: Path, version: str) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    purpose = "SOURCE" if path.name.endswith(f"-{version}.tar.gz") else "INSTALL" if path.suffix == ".deb" else "APPLICATION"
    return package(
        path.name,
        version,
        "Apache-2.0",
        packageFileName=path.name,
        primaryPackagePurpose=purpose,
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
    )


def relations_of(row: dict[str, Any]) -> list[dict[str, str]]:
    """How an artefact is made of the parts."""
    own, purpose = row["SPDXID"], row["primaryPackagePurpose"]
    rows = [relation("SPDXRef-DOCUMENT", "DESCRIBES", own)]
    rows += [relation(own, "CONTAINS", identifier(name)) for name in WEB if "-dev_" not in row["name"]]
    if purpose == "APPLICATION":
        static = [name for name, part in {**LINKED, **STATIC_ONLY}.items() if part.in_static]
        rows += [relation(own, "STATIC_LINK", identifier(name)) for name in static]
    elif purpose == "INSTALL" and "-dev_" not in row["name"]:
        rows += [relation(own, "DYNAMIC_LINK", identifier(name)) for name in LINKED]
    elif purpose == "SOURCE":
        rows += [relation(own, "DEPENDS_ON", identifier(name)) for name in LINKED]
    return rows


def document(version: str, epoch: int, artefacts: list[Path]) -> dict[str, Any]:
    made = [artefact(path, version) for path in artefacts]
    packages = made + parts()
    content = json.dumps(packages, sort_keys=True)
    name = f"pyrometer-{version}"
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "creators": ["Tool: pyrometer-make_sbom"],
        },
        "hasExtractedLicensingInfos": [PUBLIC_DOMAIN],
        "packages": packages,
        "relationships": [row for one in made for row in relations_of(one)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("artefacts", nargs="*", type=Path)
    options = parser.parse_args()
    text = json.dumps(document(options.version, options.epoch, options.artefacts), indent=1) + "\n"
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
