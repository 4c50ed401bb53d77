"""Every way in: the files of all rows are written for it, and read by as few processes as possible."""

from __future__ import annotations

import http.client
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Sequence

import conftest
from servers.pyrometer import Server

sys.path.insert(0, str(conftest.ROOT / "corpus"))

from wild.forms import FILE, STDIN, Files, Form  # noqa: E402
from wild.table import FORMS, app_id  # noqa: E402


class Seen(NamedTuple):
    """What a way in made of a row: reports, or why there are none."""

    reports: List[Any]
    message: str = ""


MADE: Dict[str, Files] = {}  # by the row's id


def made(form: Form) -> Files:
    if form.id not in MADE:
        MADE[form.id] = form.make(app_id(form))
        assert all(app_id(form)[-4:] in path.split("/")[0] for path in MADE[form.id]), form.id
    return MADE[form.id]


def write(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def zipped(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: Files) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def command(*arguments: object, body: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    words = [str(conftest.binary_path()), *map(str, arguments)]
    return subprocess.run(words, input=body, capture_output=True, check=False, timeout=120)


def inside(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith((f"{folder}/", f"{folder}!"))


def diagnosed(paths: Mapping[str, Path]) -> Dict[str, Seen]:
    """The reports of all rows, of one process; each belongs to the path that it names. What is wrong with files next to a log
    is in the message."""
    done = command("diagnose", "--format", "json", "--config", "none", *paths.values())
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    seen = {}
    for name, path in paths.items():
        reports = [one for one in document["reports"] if inside(one["source"]["path"], path)]
        messages = [one["error"] for one in document["unreadable"] if inside(one["path"], path)]
        seen[name] = Seen(reports, "\n".join(messages))
    assert sum(len(one.reports) for one in seen.values()) == len(document["reports"])
    return seen


def by_file(folder: Path, forms: Iterable[Form]) -> Dict[str, Seen]:
    return diagnosed({form.id: write(folder, made(form)) / next(iter(made(form))) for form in forms})


def by_folder(folder: Path, forms: Iterable[Form]) -> Dict[str, Seen]:
    return diagnosed({form.id: write(folder / form.id, made(form)) for form in forms})


def by_archive(folder: Path, forms: Iterable[Form], ending: str, pack: Any) -> Dict[str, Seen]:
    paths = {form.id: folder / f"{form.id}.{ending}" for form in forms}
    for form in forms:
        paths[form.id].write_bytes(pack(made(form)))
    return diagnosed(paths)


def by_stdin(forms: Iterable[Form]) -> Dict[str, Seen]:
    seen = {}
    for form in forms:
        (body,) = made(form).values()
        done = command("diagnose", "--format", "json", "--config", "none", "-", body=body)
        assert done.returncode in (0, 3), done.stderr
        seen[form.id] = Seen([json.loads(done.stdout)] if done.returncode == 0 else [], done.stderr.decode())
    return seen


def ask(server: Server, method: str, path: str, body: bytes = b"") -> Any:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        connection.request(method, f"/pyrometer/v1/{path}", body or None)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def by_upload(folder: Path, forms: Iterable[Form]) -> Dict[str, Seen]:
    """One server gets them all; a form of several files is sent as an archive."""
    seen = {}
    with Server(folder, "--config", "none") as server:
        for form in forms:
            files = made(form)
            name, body = next(iter(files.items()))
            if len(files) > 1:
                name, body = f"{form.id}.zip", zipped(files)
            status, document = ask(server, "POST", f"uploads?name={name}", body)
            if status == 201:
                reports = [ask(server, "GET", f"applications/{one['id']}/-/report")[1] for one in document["applications"]]
                seen[form.id] = Seen(reports, "\n".join(one["error"] for one in document["unreadable"]))
            else:
                seen[form.id] = Seen([], document["error"]["message"])
    return seen


def by_crawl(folder: Path, forms: Sequence[Form]) -> Dict[str, Seen]:
    """One pass over a folder with all of them."""
    store = folder / "runs.db"
    logs = folder / "logs"
    for form in forms:
        write(logs, made(form))
    done = command("crawl", logs, "--store", f"sqlite:{store}", "--once")
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(store) as database:
        reports = [json.loads(text) for (text,) in database.execute("SELECT json FROM reports")]
        errors = database.execute("SELECT app_id, message FROM errors").fetchall()
    seen = {}
    for form in forms:
        tops = {logs / Path(path).parts[0] for path in made(form)}
        of_form = [one for one in reports if any(inside(one["source"]["path"], top) for top in tops)]
        messages = [message for name, message in errors if app_id(form) in name]
        seen[form.id] = Seen(of_form, "\n".join(messages))
    return seen


def by_rest(folder: Path, forms: Sequence[Form]) -> Dict[str, Seen]:
    """One server serves them all, and the command reads its REST answers; files without a run are in its list with the reason."""
    for form in forms:
        write(folder, made(form))
    with Server(folder, "--config", "none") as server:
        listed = ask(server, "GET", "applications")[1]
        known = {one["id"] for one in listed["applications"]}
        reports = read_rest(f"http://{server.host}:{server.port}", [app_id(form) for form in forms if app_id(form) in known])
    seen = {}
    for form in forms:
        messages = [one["error"] for one in listed["unreadable"] if app_id(form) in one["path"]]
        seen[form.id] = Seen(reports.get(app_id(form), []), "\n".join(messages))
    return seen


def read_rest(url: str, apps: Sequence[str]) -> Dict[str, List[Any]]:
    """The report of each of these applications of a server."""
    done = command("diagnose", "--format", "json", "--config", "none", "--remote", "rest", *(f"{url}/history/{app}" for app in apps))
    assert done.returncode == 0, done.stderr
    return {one["application"]["id"]: [one] for one in json.loads(done.stdout)["reports"]}
