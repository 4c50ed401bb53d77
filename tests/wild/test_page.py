"""docs/inputs.md has every row of corpus/wild, as the table says it."""

from __future__ import annotations

import sys

import conftest

sys.path.insert(0, str(conftest.ROOT / "corpus"))

import wild_page  # noqa: E402
from wild.table import FORMS  # noqa: E402


def test_the_page_has_the_table() -> None:
    text = "\n".join(wild_page.table())
    assert text in wild_page.PAGE.read_text(encoding="utf-8"), f"run python3 {wild_page.SCRIPT} --update-docs"


def test_names_are_not_repeated() -> None:
    assert len({form.id for form in FORMS}) == len({form.name for form in FORMS}) == len(FORMS)
