"""Names that mean two things are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_names  # noqa: E402
import project  # noqa: E402


def problems_of(folder: Path, monkeypatch: pytest.MonkeyPatch, sources: dict[str, str]) -> list[str]:
    """What the check says of a tree with these files in src/."""
    for name, text in sources.items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(project, "ROOT", folder)
    return check_names.problems()


def test_a_tag_of_two_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = problems_of(tmp_path, monkeypatch, {
        "base/a.h": "/* struct pyro_a {\n */\nstruct pyro_a {\n    int a;\n};\n",
        "model/b.h": "struct pyro_a {\n    int b;\n};\n",
    })
    assert found == ["src/base/a.h:3: pyro_a is defined again in src/model/b.h:1"]


def test_a_short_tag_of_a_header_and_a_source_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = problems_of(tmp_path, monkeypatch, {"serve/a.h": "struct a {\n    int a;\n};\n", "model/b.c": "enum a { A };\n"})
    assert found == ["src/model/b.c:1: a is defined again in src/serve/a.h:1"]


def test_short_tags_of_two_source_files_are_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not problems_of(tmp_path, monkeypatch, {"base/a.c": "struct a {\n    int a;\n};\n", "model/b.c": "enum a { A };\n"})


def test_things_of_two_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = problems_of(tmp_path, monkeypatch, {
        "base/a.c": "bool pyro_door_open(struct pyro_door *door,\n                    int a)\n{\n}\n",
        "serve/b.c": "void pyro_door_free(struct door *door)\n{\n}\nvoid pyro_door_look(struct door *door)\n{\n}\n",
    })
    assert found == ["pyro_door_ means a thing of 2 layers: base: pyro_door_open(); serve: pyro_door_free()"]


def test_static_functions_and_those_of_one_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not problems_of(tmp_path, monkeypatch, {
        "base/a.c": "bool pyro_door_open(struct pyro_door *door)\n{\n}\n",
        "base/b.c": "void pyro_door_free(struct pyro_door *door)\n{\n}\n",
        "serve/c.c": "static void pyro_door_close(struct door *door)\n{\n}\n",
    })


def test_the_tree_has_none() -> None:
    assert not check_names.problems()
