"""Phrases that docs/STYLE.md refuses are found in comments of every language, and nowhere else in code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import List

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_words  # noqa: E402

TEXTS = {
    "one.c": 'int gone; /* read\n * anew */ const char *text = "gone"; // told\n// twice\n',
    "one.ts": "const gone = `/* gone */`; // read anew\n/** gone: told */\n",
    "one.py": '"""Read anew."""\ngone = "gone"  # told\n# twice\n\n\ndef f() -> str:\n    """Is gone."""\n    return "gone"\n',
    "meson.build": "gone = 'gone' # read\n# anew\n",
    "one.sh": "#!/bin/sh\n# read anew\necho ${#gone} gone\n",
    "one.yaml": "gone: gone # told # anew\n",
}
FOUND = {
    "one.c": ["1 anew", "2 told"],
    "one.ts": ["1 anew", "2 gone", "2 told"],
    "one.py": ["1 anew", "2 told", "7 gone"],
    "meson.build": ["1 anew"],
    "one.sh": ["2 anew"],
    "one.yaml": ["1 anew", "1 told"],
}


def found_in(path: Path) -> List[str]:
    rules = check_words.PROSE_RULES
    pieces = list(check_words.comments(path))
    return sorted(f"{line} {match[0]}" for line, text in pieces for rule, _ in rules for match in rule.finditer(text))


@pytest.mark.parametrize("name", TEXTS)
def test_comments_are_read_and_code_is_not(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXTS[name], encoding="utf-8")
    assert found_in(tmp_path / name) == FOUND[name]


def test_names_of_code_are_not_read(tmp_path: Path) -> None:
    page = tmp_path / "one.c"
    page.write_text('/* `gone`, is_gone, gone.c, src/rules/catalogue and "gone" are names. */\n', encoding="utf-8")
    assert found_in(page) == []
    page.write_text("/* The catalogue is gone. */\n", encoding="utf-8")
    assert found_in(page) == ["1 catalogue", "1 gone"]


def test_the_style_page_lists_what_is_refused() -> None:
    """Each phrase of the table "Not this, but this" that is one plain phrase is refused."""
    for phrase in ("anew", "whoever", "mend", "dearer", "in vain", "for want of", "ought", "shall", "gone", "told"):
        assert any(rule.search(f"x {phrase} y") for rule, _ in check_words.PROSE_RULES), phrase
        assert phrase in (ROOT / "docs" / "STYLE.md").read_text(encoding="utf-8")
