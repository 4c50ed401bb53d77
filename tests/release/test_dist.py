"""What ./dev dist makes: each artefact is unpacked into an empty folder and used there, without anything else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Dict, List, Set

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("PYROMETER_BINARY", ROOT / "build" / "pyrometer"))
CACHE = Path(os.environ.get("PYROMETER_CACHE", ROOT / ".cache"))
LOG = ROOT / "corpus" / "logs" / "data_skew.zst"

pytestmark = pytest.mark.slow


def output_of(*words: object, folder: Path = ROOT, env: Dict[str, str] | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr or done.stdout}"
    return done.stdout


def why_not() -> str:
    """What is missing here, or nothing."""
    for program in ("git", "gcc", "ninja", "dpkg-deb", "dpkg-shlibdeps", "strip"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not (ROOT / ".git").exists():
        return "this is no clone"
    if not (BINARY.parent / "web" / "web_assets.web" / "names.json").exists():
        return "this build has no web UI"
    for library in ("libstdc++", "libarchive", "libnettle", "liblzma", "libbz2", "libzstd", "liblz4", "libsnappy", "libsqlite3"):
        found = subprocess.run(["gcc", f"-print-file-name={library}.a"], capture_output=True, text=True, check=True)
        if not os.path.isabs(found.stdout.strip()):
            return f"{library}.a is not installed"
    return ""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All artefacts, made once."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    output = tmp_path_factory.mktemp("dist") / "out"
    own = CACHE / "meson" / "bin" / "meson"
    meson = own if own.exists() else "meson"
    bundle = BINARY.parent / "web" / "web_assets.web"
    words = [sys.executable, ROOT / "tools" / "dist.py", "--bundle", bundle, "--output", output, "--meson", meson]
    output_of(*words)
    return output


def one(made: Path, pattern: str) -> Path:
    found = list(made.glob(pattern))
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(scope="module")
def expected() -> str:
    return output_of(BINARY, "diagnose", "--format", "json", LOG.name, folder=LOG.parent)


@pytest.fixture(scope="module")
def installed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both packages, unpacked into an empty folder."""
    folder = tmp_path_factory.mktemp("root")
    for deb in made.glob("*.deb"):
        output_of("dpkg-deb", "-x", deb, folder)
    return folder


def test_the_front_door_makes_it() -> None:
    body = re.search(r"^cmd_dist\(\).*?^}", (ROOT / "dev").read_text(encoding="utf-8"), re.M | re.S)
    assert body
    assert "tools/dist.py --bundle build/web/web_assets.web --output build-dist" in body.group()


def test_checksums_cover_everything(made: Path) -> None:
    rows = dict(line.split("  ")[::-1] for line in (made / "SHA256SUMS").read_text().splitlines())
    files = {path.name for path in made.iterdir()} - {"SHA256SUMS"}
    assert set(rows) == files
    assert len(files) == 5
    for name, digest in rows.items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest


def test_archives_are_the_same_on_every_machine(made: Path) -> None:
    """Sorted, with the commit's time, and no user's name."""
    epoch = int(output_of("git", "log", "-1", "--format=%ct"))
    for path in made.glob("*.tar.gz"):
        assert path.read_bytes()[4:8] == b"\0\0\0\0"  # the time of gzip's header
        with tarfile.open(path) as archive:
            members = archive.getmembers()
        assert [member.name for member in members] == sorted(member.name for member in members)
        assert {(member.mtime, member.uid, member.gid, member.uname, member.gname) for member in members} == {
            (epoch, 0, 0, "root", "root")
        }
        assert len({member.name.split("/")[0] for member in members}) == 1
    for path in made.glob("*.deb"):
        listing = output_of("dpkg-deb", "-c", path)
        assert {line.split()[1] for line in listing.splitlines()} == {"root/root"}


def test_the_source_archive_has_what_is_needed_to_build_without_npm(made: Path) -> None:
    with tarfile.open(one(made, "pyrometer-[0-9]*[0-9].tar.gz")) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"web/bundle/app.js", "web/bundle/names.json", "dev", "meson.build", "LICENSE", "tests/conftest.py"} <= names
    assert not [name for name in names if "node_modules" in name or name.startswith((".git/", "build"))]
    tracked = output_of("git", "ls-files", "-z").split("\0")
    assert {name for name in tracked if name} <= names


def test_the_front_door_of_a_source_archive_needs_no_npm(made: Path, tmp_path: Path) -> None:
    """./dev build in it asks for everything but node: with none of it on PATH, need_web is content."""
    with tarfile.open(one(made, "pyrometer-[0-9]*[0-9].tar.gz")) as archive:
        for member in archive.getmembers():
            name = member.name.split("/", 1)[1]
            if name == "dev" or name.startswith("web/bundle/"):
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                file = archive.extractfile(member)
                assert file is not None
                path.write_bytes(file.read())
    (tmp_path / "bin").mkdir()
    for program in ("sh", "dirname", "getconf", "date", "sed"):
        found = shutil.which(program)
        assert found
        (tmp_path / "bin" / program).symlink_to(found)
    script = '. "$0" >/dev/null; need_web; echo "missing:$missing"'
    run = output_of("sh", "-c", script, tmp_path / "dev", "help", env={"PATH": str(tmp_path / "bin")})
    assert run == "missing:\n"


def packages_of(libraries: Set[str]) -> Set[str]:
    """Which packages the libraries come from. Where /lib is a link, dpkg may know either of two paths."""
    spellings: Dict[str, str] = {}
    for library in libraries:
        real = os.path.realpath(library)
        spellings.update({path: library for path in (library, real, re.sub("^/usr/lib", "/lib", real))})
    done = subprocess.run(["dpkg", "-S", *spellings], capture_output=True, text=True, check=False)
    owners = [line.rsplit(": ", 1) for line in done.stdout.splitlines() if line.rsplit(": ", 1)[-1] in spellings]
    assert {spellings[path] for _, path in owners} == libraries, done.stderr
    return {re.split(r"[:,]", names)[0] for names, _ in owners}


def needed_by(command: Path) -> Set[str]:
    """What the linker noted: libsqlite3.so.0."""
    return set(re.findall(r"NEEDED.*\[(.+)\]", output_of("readelf", "-d", command)))


def loaded_by(command: Path) -> Set[str]:
    """What the command itself loads when it is needed."""
    return {name.decode() for name in re.findall(rb"\0(lib[a-z0-9]+\.so\.\d+)(?=\0)", command.read_bytes())} - needed_by(command)


def path_of(library: str) -> str:
    """Where the dynamic linker finds it."""
    return re.findall(rf"{re.escape(library)} .*=> (/\S+)", output_of("/sbin/ldconfig", "-p"))[0]


def closure(packages: Set[str]) -> Set[str]:
    """With all that they depend on."""
    seen: Set[str] = set()
    queue = list(packages)
    while queue:
        package = queue.pop()
        if package in seen:
            continue
        seen.add(package)
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}\n", package], capture_output=True, text=True, check=False)
        queue += re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]+)", done.stdout)
    return seen


def test_the_package_works_and_links_what_it_declares(made: Path, installed: Path, expected: str) -> None:
    command = installed / "usr" / "bin" / "pyrometer"
    assert output_of(command, "diagnose", "--format", "json", LOG.name, folder=LOG.parent) == expected
    # Built without node, it has the very pages of this build.
    page = output_of(BINARY, "diagnose", "--format", "html", LOG.name, folder=LOG.parent)
    assert output_of(command, "diagnose", "--format", "html", LOG.name, folder=LOG.parent) == page
    declared = output_of("dpkg-deb", "-f", one(made, "pyrometer_*.deb"), "Depends")
    names = set(re.findall(r"(?:^|, )([a-z0-9][a-z0-9.+-]+)", declared))
    assert "libc6" in names and "libsqlite3-0" in names
    libraries = set(re.findall(r"=> (/\S+)", output_of("ldd", command)))
    needed = needed_by(command)
    direct = {library for library in libraries if Path(library).name in needed}
    assert len(direct) == len(needed)
    assert packages_of(direct) <= names
    on_demand = {path_of(name) for name in loaded_by(command)}
    assert len(on_demand) == 7
    assert packages_of(on_demand) <= names
    assert packages_of(libraries) <= closure(names)


def test_the_package_has_manual_pages_completions_and_licence(installed: Path) -> None:
    share = installed / "usr" / "share"
    verbs = re.findall(r"^VERB\((\w+)", (ROOT / "src" / "cli" / "verbs.def").read_text(), re.M)
    pages = {path.name for path in (share / "man" / "man1").iterdir()}
    assert pages == {"pyrometer.1.gz", *(f"pyrometer-{verb}.1.gz" for verb in verbs)}
    for path in ("bash-completion/completions/pyrometer", "zsh/site-functions/_pyrometer", "fish/vendor_completions.d/pyrometer.fish"):
        assert "diagnose" in (share / path).read_text()
    assert "Apache-2.0" in (share / "doc" / "pyrometer" / "copyright").read_text()
    assert (share / "doc" / "pyrometer" / "examples" / "pyrometer.service").exists()


def test_a_program_builds_with_the_development_package(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(
        '#include <pyrometer.h>\n#include <stdio.h>\nint main(void)\n{\n    return puts(pyro_version()) < 0;\n}\n'
    )
    folder = one(installed, "usr/lib/*/pkgconfig")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(installed)}
    flags = output_of("pkg-config", "--cflags", "--libs", "pyrometer", env=environment).split()
    output_of("gcc", "own.c", "-o", "own", *flags, f"-L{folder.parent}", folder=tmp_path)
    run = output_of(tmp_path / "own", env={**os.environ, "LD_LIBRARY_PATH": str(folder.parent)})
    assert run == output_of(BINARY, "version").split(" ")[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="dpkg installs as root only")
def test_dpkg_installs_the_packages(made: Path, tmp_path: Path) -> None:
    (tmp_path / "var" / "lib" / "dpkg" / "info").mkdir(parents=True)
    (tmp_path / "var" / "lib" / "dpkg" / "updates").mkdir()
    (tmp_path / "var" / "lib" / "dpkg" / "status").touch()
    words = ["dpkg", f"--root={tmp_path}", "--force-depends", "--log=/dev/null", "-i", *sorted(made.glob("*.deb"), reverse=True)]
    output_of(*words)
    listing = output_of("dpkg-query", f"--admindir={tmp_path}/var/lib/dpkg", "-W", "-f", "${Package} ${Status}\n")
    assert listing == "libpyrometer-dev install ok installed\npyrometer install ok installed\n"


@pytest.fixture
def static(made: Path, tmp_path: Path) -> Path:
    """The static command in a folder that has nothing else but a log."""
    with tarfile.open(one(made, "*-static.tar.gz")) as archive:
        for member in archive.getmembers():
            path = tmp_path / member.name.split("/", 1)[1]
            path.parent.mkdir(exist_ok=True)
            file = archive.extractfile(member)
            assert file is not None
            path.write_bytes(file.read())
            path.chmod(member.mode)
    shutil.copy(LOG, tmp_path)
    return tmp_path


def test_the_static_command_needs_nothing(static: Path, expected: str) -> None:
    assert "NEEDED" not in output_of("readelf", "-d", static / "pyrometer")
    assert "INTERP" not in output_of("readelf", "-lW", static / "pyrometer")
    assert output_of("./pyrometer", "diagnose", "--format", "json", LOG.name, folder=static, env={}) == expected
    assert output_of("./pyrometer", "sql", LOG.name, "SELECT count(*) AS n FROM tasks", folder=static, env={}).split()[-1] == "60"
    assert (static / "licences" / "libzstd-dev.txt").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root folder")
def test_the_static_command_runs_where_nothing_else_is(static: Path, expected: str) -> None:
    run = output_of("chroot", static, "/pyrometer", "diagnose", "--format", "json", LOG.name)
    assert run == expected
    assert "<!doctype html>" in output_of("chroot", static, "/pyrometer", "diagnose", "--format", "html", LOG.name)


@pytest.mark.parametrize("words", [["serve", "."], ["diagnose", "http://127.0.0.1:9/history/app-1"]])
def test_the_static_command_says_that_it_has_no_network_parts(static: Path, words: List[str]) -> None:
    run = subprocess.run(["./pyrometer", *words], cwd=static, capture_output=True, text=True, check=False)
    assert run.returncode in (2, 3)
    assert "this build has no network parts" in run.stderr


def test_the_static_command_says_that_it_reads_no_lzf(static: Path) -> None:
    (static / "log.lzf").write_bytes(b"ZV\0\0\1x")
    run = subprocess.run(["./pyrometer", "diagnose", "log.lzf"], cwd=static, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "made without liblzf" in run.stderr
    rows = json.loads(output_of("./pyrometer", "doctor", "--format", "json", folder=static))["features"]
    missing = {row["name"] for row in rows if not row["available"] and row["kind"] in ("codec", "layout", "optional", "report")}
    assert missing == {"lzf", "http", "optimiser"}


def test_the_sbom_is_spdx_and_lists_what_is_linked(made: Path, installed: Path) -> None:
    path = one(made, "*.spdx.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    names = {package["name"]: package for package in document["packages"]}
    artefacts = {other.name for other in made.iterdir()} - {"SHA256SUMS", path.name}
    assert artefacts <= set(names)
    for name in artefacts:
        assert names[name]["checksums"][0]["checksumValue"] == hashlib.sha256((made / name).read_bytes()).hexdigest()
    described = {row["relatedSpdxElement"] for row in document["relationships"] if row["relationshipType"] == "DESCRIBES"}
    assert described == {names[name]["SPDXID"] for name in artefacts}
    # As many as the command needs or loads, the C library's own besides.
    command = installed / "usr" / "bin" / "pyrometer"
    needed = needed_by(command) | loaded_by(command)
    deb = names[one(made, "pyrometer_*.deb").name]["SPDXID"]
    linked = [row for row in document["relationships"] if row["spdxElementId"] == deb and row["relationshipType"] == "DYNAMIC_LINK"]
    assert len(linked) == len(needed - {"libc.so.6", "libm.so.6"})
    by_id = {package["SPDXID"]: package for package in document["packages"]}
    assert all(by_id[row["relatedSpdxElement"]].get("versionInfo") for row in linked)


def test_the_sbom_is_valid(made: Path) -> None:
    parsing = pytest.importorskip("spdx_tools.spdx.parser.parse_anything", reason="spdx-tools is not installed")
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    document = parsing.parse_file(str(one(made, "*.spdx.json")))
    assert [str(message) for message in validate_full_spdx_document(document)] == []
