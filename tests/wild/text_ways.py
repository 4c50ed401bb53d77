"""Ways in of text logs: what `logs errors` and `logs timeline` say, and what the server says of an upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterable, NamedTuple

from servers.pyrometer import Server
from ways import Form, ask, command, made, tarred, write, zipped


class Read(NamedTuple):
    """What a way in made of text logs; `report`: of the application that is made of them, if that way makes one."""

    errors: Any = None
    timeline: Any = None
    report: Any = None
    message: str = ""


def logs(verb: str, path: Path | str, body: bytes = b"") -> Any:
    done = command("logs", verb, "--format", "json", path, body=body)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


def by_file(folder: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    paths = {form.id: write(folder, made(form)) / next(iter(made(form))) for form in forms}
    return {name: Read(logs("errors", path), logs("timeline", path)) for name, path in paths.items()}


def by_folder(folder: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    return {form.id: run_of(write(folder / form.id, made(form))) for form in forms}


def run_of(path: Path) -> Read:
    """The errors, and the application that is made of the logs."""
    done = command("diagnose", "--format", "json", "--config", "none", path)
    return Read(logs("errors", path), report=json.loads(done.stdout) if done.returncode == 0 else None, message=done.stderr.decode())


def by_archive(folder: Path, forms: Iterable[Form], ending: str, pack: Any) -> Dict[str, Read]:
    seen = {}
    for form in forms:
        path = folder / f"{form.id}.{ending}"
        path.write_bytes(pack(made(form)))
        seen[form.id] = run_of(path)
    return seen


def by_zip(folder: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    return by_archive(folder, forms, "zip", zipped)


def by_tar(folder: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    return by_archive(folder, forms, "tar.gz", tarred)


def by_stdin(_: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    return {form.id: Read(logs("errors", "-", next(iter(made(form).values())))) for form in forms}


def by_upload(folder: Path, forms: Iterable[Form]) -> Dict[str, Read]:
    """An archive, as a folder of logs is sent."""
    seen = {}
    with Server(folder, "--config", "none") as server:
        for form in forms:
            status, document = ask(server, "POST", f"uploads?name={form.id}.zip", zipped(made(form)))
            if status == 201:
                (app,) = document["applications"]
                place = f"applications/{app['id']}/-"
                seen[form.id] = Read(ask(server, "GET", f"{place}/logs/errors")[1], report=ask(server, "GET", f"{place}/report")[1])
            else:
                seen[form.id] = Read(message=document["error"]["message"])
    return seen
