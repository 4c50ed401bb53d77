"""corpus/wild: each odd form of a file gives the same right answer by every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
import text_ways
import ways
from answers import wrong, wrong_in_text
from ways import FORMS, Seen

from wild.forms import CRAWL, FILE, FOLDER, REST, STDIN, TAR, UPLOAD, ZIP, Form, Text

Reader = Callable[[Path, List[Form]], Dict[str, Seen]]
READERS: Dict[str, Reader] = {
    FILE: ways.by_file,
    FOLDER: ways.by_folder,
    ZIP: lambda folder, forms: ways.by_archive(folder, forms, "zip", ways.zipped),
    TAR: lambda folder, forms: ways.by_archive(folder, forms, "tar.gz", ways.tarred),
    STDIN: lambda _, forms: ways.by_stdin(forms),
    UPLOAD: ways.by_upload,
    CRAWL: ways.by_crawl,
    REST: ways.by_rest,
}
TEXT_READERS = {
    FILE: text_ways.by_file,
    FOLDER: text_ways.by_folder,
    ZIP: text_ways.by_zip,
    TAR: text_ways.by_tar,
    STDIN: text_ways.by_stdin,
    UPLOAD: text_ways.by_upload,
}


def ways_in(readers: Dict[str, Any]) -> List[Any]:
    marks = {UPLOAD: [pytest.mark.server], REST: [pytest.mark.server], FILE: [pytest.mark.sanitize], TAR: [pytest.mark.sanitize]}
    return [pytest.param(way, marks=marks.get(way, [])) for way in readers]


def forms_by(way: str, texts: bool) -> List[Form]:
    forms = [form for form in FORMS if form.comes_by(way) and isinstance(form.answer, Text) == texts]
    assert len(forms) > 5
    return forms


@pytest.mark.parametrize("way", ways_in(READERS))
def test_event_logs(tmp_path: Path, way: str) -> None:
    forms = forms_by(way, texts=False)
    seen = READERS[way](tmp_path, forms)
    found = [f"{form.id}: {fault}" for form in forms for fault in wrong(form, way, seen[form.id])]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("way", ways_in(TEXT_READERS))
def test_text_logs(tmp_path: Path, way: str) -> None:
    forms = forms_by(way, texts=True)
    read = TEXT_READERS[way](tmp_path, forms)
    found = []
    for form in forms:
        assert isinstance(form.answer, Text)
        found += [f"{form.id}: {fault}" for fault in wrong_in_text(form.answer, way, read[form.id])]
    assert not found, "\n".join(found)
