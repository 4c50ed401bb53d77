"""Files of no known form: what they look like is said, and what is next to them is read."""

from __future__ import annotations

import json
from typing import List

from .forms import TEXT_WAYS, Files, Form, Text, make_form

FORMS: List[Form] = []
form = make_form(FORMS, TEXT_WAYS)


@form("text without times", "output of programs", Text((), notes=("text without times",), ended=0, is_run=False))
def no_times(app: str) -> Files:
    return {f"{app}/stdout": b"starting\nrows written: 17\ndone\n" * 20}


@form("JSON lines that are not Spark's", "other programs", Text((), notes=("JSON lines, not Spark's",), ended=0, is_run=False))
def other_json(app: str) -> Files:
    return {f"{app}/stdout": b"".join(json.dumps({"user": one, "clicks": one * 3}).encode() + b"\n" for one in range(40))}
