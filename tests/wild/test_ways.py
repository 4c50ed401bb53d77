"""corpus/wild: each odd form of a file gives the same right answer by every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List

import pytest
import ways
from answers import wrong
from ways import FORMS, Seen

from wild.forms import CRAWL, FILE, FOLDER, REST, STDIN, TAR, UPLOAD, ZIP, Form

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
SERVED = (UPLOAD, REST)


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.server] if way in SERVED else []) for way in READERS])
def test_every_form(tmp_path: Path, way: str) -> None:
    forms = [form for form in FORMS if form.comes_by(way)]
    assert len(forms) > 5
    seen = READERS[way](tmp_path, forms)
    found = [f"{form.id}: {fault}" for form in forms for fault in wrong(form, way, seen[form.id])]
    assert not found, "\n".join(found)
