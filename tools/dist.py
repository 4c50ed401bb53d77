#!/usr/bin/env python3
"""Make what is released, from the last commit: ./dev dist.

    dist.py --bundle FOLDER --output FOLDER [--meson MESON]

The bundle is that of the web UI (build/web/web_assets.web). The output gets

    pyrometer-V.tar.gz                     sources with the bundle: builds without node and npm
    pyrometer_V_ARCH.deb                   command, library, manual pages, completions
    libpyrometer-dev_V_ARCH.deb            header, pkg-config file
    pyrometer-V-linux-MACHINE-static.tar.gz   one file that needs no library; without network parts, NLopt and lzf
    pyrometer-V.spdx.json                  what is in them
    SHA256SUMS

The packages are built from the source archive. All bytes depend only on the
commit and on what is installed: times are the commit's, owners root.
Uncommitted changes of known files are taken along, and said.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Iterable

import project

STATIC = ("-Dprefer_static=true", "-Dhttp=disabled", "-Dserve=disabled", "-Dnlopt=disabled", "-Dlzf=disabled")
# Debian's packages with the static libraries; their licences go with the static command.
STATIC_PACKAGES = (
    *("libzstd-dev", "liblz4-dev", "libxxhash-dev", "libsnappy-dev", "zlib1g-dev", "libarchive-dev", "libsqlite3-dev"),
    *("libyaml-dev", "libjansson-dev", "libpcre2-dev", "libbz2-dev", "liblzma-dev", "nettle-dev", "libc6-dev"),
)
MAINTAINER = "Pyrometer contributors <pyrometer@invalid>"
SUMMARY = "say why an Apache Spark application was slow"
DETAIL = """ Pyrometer reads the event log that an Apache Spark application leaves behind
 and says why it was slow, what that costs, and what to change. It needs no JVM."""


def say(text: str) -> None:
    print(f"dist: {text}", file=sys.stderr, flush=True)


def run(*words: str | Path, folder: Path = project.ROOT) -> str:
    """What a command prints; ends with what it said when it fails."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


# ---- Archives -------------------------------------------------------------------------------------------------------


def write_tar(path: Path, members: Iterable[tuple[str, int, bytes | str]], epoch: int) -> None:
    """Members by name: mode and content (text: where a symbolic link leads). The same bytes each time."""
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, mode, content in sorted(members, key=lambda member: member[0]):
                info = tarfile.TarInfo(name)
                info.mode = 0o755 if mode & 0o100 else 0o644
                info.mtime = epoch
                info.uname = info.gname = "root"
                if isinstance(content, str):
                    info.type, info.linkname, info.mode = tarfile.SYMTYPE, content, 0o777
                    archive.addfile(info)
                else:
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))


def source_members(commit: str, prefix: str, bundle: Path) -> Iterable[tuple[str, int, bytes | str]]:
    packed = subprocess.run(["git", "archive", "--format=tar", commit], cwd=project.ROOT, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        for info in archive:
            if info.issym():
                yield f"{prefix}/{info.name}", 0o777, info.linkname
            elif info.isfile():
                file = archive.extractfile(info)
                assert file is not None
                yield f"{prefix}/{info.name}", info.mode, file.read()
    for path in bundle.iterdir():
        yield f"{prefix}/web/bundle/{path.name}", 0o644, path.read_bytes()


# ---- Building -------------------------------------------------------------------------------------------------------


def configure(meson: str, source: Path, name: str, *options: str) -> subprocess.Popen[str]:
    # With the options of ./dev build, ccache has most of what is compiled here.
    warnings = ["-Dwerror=true"] if os.environ.get("PYROMETER_WERROR") else []
    return subprocess.Popen(
        [meson, "setup", name, "--buildtype=release", "--wrap-mode=nodownload", *warnings, *options],
        cwd=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    if process.returncode:
        sys.exit(f"meson failed:\n{output}")


def installed_targets(meson: str, build: Path) -> list[str]:
    targets = json.loads(run(meson, "introspect", "--targets", build))
    return [os.path.relpath(name, build) for row in targets if row["installed"] for name in row["filename"]]


# ---- Debian packages ------------------------------------------------------------------------------------------------


def multiarch() -> str:
    return run("gcc", "-print-multiarch").strip() or f"{platform.machine()}-linux-gnu"


def dependencies(tree: Path, build: Path, work: Path) -> str:
    """Packages of what the command and the library are linked with, and of what they load on demand."""
    control = work / "shlibs" / "debian" / "control"
    control.parent.mkdir(parents=True, exist_ok=True)
    control.write_text("Source: pyrometer\n\nPackage: pyrometer\nArchitecture: any\n", encoding="ascii")
    programs = [tree / "usr" / "bin" / "pyrometer", build / "src" / "libraries" / "libreferences.so"]
    programs += [path for path in tree.glob("usr/lib/*/*.so.*") if not path.is_symlink()]
    said = run("dpkg-shlibdeps", "-O", *(f"-e{program}" for program in programs), folder=control.parent.parent)
    return re.sub(r"^shlibs:Depends=", "", said.strip())


def make_deb(tree: Path, output: Path, name: str, version: str, fields: dict[str, str]) -> Path:
    """Packs a tree. Times and owners are made the same by dpkg-deb (SOURCE_DATE_EPOCH)."""
    arch = run("dpkg", "--print-architecture").strip()
    files = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]
    rows = {
        "Package": name,
        "Version": version,
        "Architecture": arch,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(sum(path.stat().st_size for path in files) // 1024 + 1),
        **fields,
        "Description": f"{fields['Description']}\n{DETAIL}",
    }
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text("".join(f"{key}: {value}\n" for key, value in rows.items()), encoding="utf-8")
    if name == "pyrometer":
        (tree / "DEBIAN" / "triggers").write_text("activate-noawait ldconfig\n", encoding="ascii")
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    deb = output / f"{name}_{version}_{arch}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, deb)
    return deb


def make_debs(stage: Path, source: Path, build: Path, work: Path, output: Path, version: str) -> list[Path]:
    """The installed tree as two packages."""
    develop = work / "libpyrometer-dev"
    for path in [*stage.glob("usr/include"), *stage.glob("usr/lib/*/*.so"), *stage.glob("usr/lib/*/pkgconfig")]:
        target = develop / path.relative_to(stage)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
    for tree, name in ((stage, "pyrometer"), (develop, "libpyrometer-dev")):
        docs = tree / "usr" / "share" / "doc" / name
        docs.mkdir(parents=True)
        (docs / "copyright").write_text(copyright_text(), encoding="utf-8")
        (docs / "changelog.gz").write_bytes(gzip.compress((source / "CHANGELOG.md").read_bytes(), mtime=0))
    examples = stage / "usr" / "share" / "doc" / "pyrometer" / "examples"
    shutil.copytree(source / "deploy", examples)
    for page in stage.glob("usr/share/man/man1/*.1"):
        page.with_name(page.name + ".gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()
    common = {"Priority": "optional"}
    return [
        make_deb(stage, output, "pyrometer", version,
                 {**common, "Section": "utils", "Depends": dependencies(stage, build, work), "Description": SUMMARY}),
        make_deb(develop, output, "libpyrometer-dev", version,
                 {**common, "Section": "libdevel", "Depends": f"pyrometer (= {version})",
                  "Description": "header of the library that says why Spark applications were slow"}),
    ]


def copyright_text() -> str:
    """Debian's machine-readable form; the web UI's parts are listed on its page About in full."""
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: pyrometer\n\n"
        "Files: *\nCopyright: The Pyrometer contributors\nLicense: Apache-2.0\n"
        " On Debian systems the licence is in /usr/share/common-licenses/Apache-2.0.\n\n"
        "Comment: Bundled into the web UI are Preact, uPlot and dagre (MIT); its page About shows their licences.\n"
    )


# ---- The static command ---------------------------------------------------------------------------------------------


def static_members(build: Path, source: Path, prefix: str) -> Iterable[tuple[str, int, bytes | str]]:
    command = build / "pyrometer-stripped"
    run("strip", "-o", command, build / "pyrometer")
    yield f"{prefix}/pyrometer", 0o755, command.read_bytes()
    for name in ("LICENSE", "README.md", "THIRD_PARTY.md"):
        yield f"{prefix}/{name}", 0o644, (source / name).read_bytes()
    for name in STATIC_PACKAGES:
        licence = Path("/usr/share/doc", name, "copyright")
        if licence.is_file():
            yield f"{prefix}/licences/{name}.txt", 0o644, licence.read_bytes()


# ---- All of it ------------------------------------------------------------------------------------------------------


def make_all(meson: str, bundle: Path, output: Path) -> list[Path]:
    if not (bundle / "names.json").is_file():
        sys.exit(f"there is no web UI in {bundle}: build it first (it needs nodejs and npm)")
    if not (project.ROOT / ".git").exists():
        sys.exit("a release is made from a clone: there is no .git here")
    commit = run("git", "stash", "create").strip()
    if commit:
        say("uncommitted changes are taken along: this is no release")
    epoch = int(run("git", "log", "-1", "--format=%ct", "HEAD"))
    os.environ.update(SOURCE_DATE_EPOCH=str(epoch), LC_ALL="C.UTF-8", TZ="UTC")
    shutil.rmtree(output, ignore_errors=True)
    work = output / "work"
    work.mkdir(parents=True)

    version = re.findall(r"version: '([^']+)'", (project.ROOT / "meson.build").read_text(encoding="utf-8"))[0]
    archive = output / f"pyrometer-{version}.tar.gz"
    say(archive.name)
    write_tar(archive, source_members(commit or "HEAD", f"pyrometer-{version}", bundle), epoch)
    run("tar", "-xzf", archive, folder=work)
    source = work / f"pyrometer-{version}"

    shared = configure(meson, source, "build-deb", "--prefix=/usr", f"--libdir=lib/{multiarch()}", "--sysconfdir=/etc")
    static = configure(meson, source, "build-static", *STATIC)
    end(shared)
    end(static)
    say("the packages, from that archive")
    build = source / "build-deb"
    run("ninja", "-C", build, *installed_targets(meson, build), folder=source)
    stage = work / "pyrometer"
    run(meson, "install", "-C", build, "--no-rebuild", "--strip", "--destdir", stage, folder=source)
    artefacts = [archive, *make_debs(stage, source, build, work, output, version)]

    name = f"pyrometer-{version}-linux-{platform.machine()}-static"
    say(name)
    run("ninja", "-C", source / "build-static", "pyrometer", folder=source)
    artefacts.append(output / f"{name}.tar.gz")
    write_tar(artefacts[-1], static_members(source / "build-static", source, name), epoch)

    sbom = output / f"pyrometer-{version}.spdx.json"
    run(sys.executable, source / "tools" / "make_sbom.py", "--version", version, "--epoch", str(epoch), "--output", sbom, *artefacts)
    artefacts.append(sbom)
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(artefacts))
    (output / "SHA256SUMS").write_text(sums, encoding="ascii")
    shutil.rmtree(work)
    return [*artefacts, output / "SHA256SUMS"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--meson", default="meson")
    options = parser.parse_args()
    for path in make_all(options.meson, options.bundle.resolve(), options.output.resolve()):
        print(f"{path.stat().st_size:>10}  {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
