"""All rows, in their groups."""

from __future__ import annotations

from typing import Dict, List

from . import beginnings, crashes, failures, garbage, packing, slots, tasks, text, times, unrecognized, versions
from .forms import Form

GROUPS: Dict[str, List[Form]] = {
    "Parts of logs": beginnings.FORMS,
    "Times that contradict each other": times.FORMS,
    "Tasks": tasks.FORMS,
    "Slots": slots.FORMS,
    "Executors that end": failures.FORMS,
    "Encodings, streams and archives": packing.FORMS,
    "Versions": versions.FORMS,
    "Text logs": text.FORMS,
    "Crashes without a header": crashes.FORMS,
    "Logs of the garbage collector": garbage.FORMS,
    "Files of an unknown form": unrecognized.FORMS,
}
FORMS: List[Form] = [form for group in GROUPS.values() for form in group]


def app_id(form: Form) -> str:
    return f"app-20260101000000-{FORMS.index(form) + 1:04d}"
