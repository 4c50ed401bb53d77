"""What a row of the table is: a form of file that people have, its generator, and the right answer.

    @form("log without its beginning", "Databricks, delivered logs", Run(...))
    def no_beginning(app: str) -> Files: ...

The generator gets the id of its application, unlike that of any other row, and returns files by their paths. The first part
of each path has the id, so that all rows fit into one folder.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Tuple, Union

Files = Dict[str, bytes]
Maker = Callable[[str], Files]

# Ways in.
FILE, FOLDER, ZIP, TAR, STDIN, UPLOAD, CRAWL, REST = "file", "folder", "zip", "tar", "stdin", "upload", "crawl", "REST"
WAYS = (FILE, FOLDER, ZIP, TAR, STDIN, UPLOAD, CRAWL, REST)
TEXT_WAYS = (FILE, FOLDER, ZIP, TAR, STDIN, UPLOAD)  # text logs are not crawled, and have no REST API
ONE_FILE = (FILE, STDIN)  # only where the form is one file

ANY = object()  # not compared
# Confidence.
WHOLE = (1.0, 1.0)
NEARLY = (0.8, 0.99)
PART = (0.3, 0.799)
LITTLE = (0.05, 0.3)


class Run(NamedTuple):
    """What the report of a run says."""

    confidence: Tuple[float, float] = WHOLE  # at least, at most
    marks: Tuple[str, ...] = ()  # members of `integrity` that are true or above 0; no others are
    notes: Tuple[str, ...] = ()  # texts of `integrity.notes`
    says: Mapping[str, Any] = {}  # values by their path, such as totals.tasks, wall.driver, executors.1.busy_ms
    findings: Tuple[str, ...] = ()  # rules that have one; no others have
    causes: Mapping[str, str] = {}  # texts in causes of findings
    settings: Tuple[str, ...] = ()  # those that are recommended; no others are


class Runs(NamedTuple):
    """Several runs in one form."""

    runs: Tuple[Run, ...]


class Refused(NamedTuple):
    """Not read: the message has this text."""

    reason: str


class Error(NamedTuple):
    """A kind of error of a text log."""

    level: str
    text: str  # is part of it
    cause: Any = None
    count: int = 1


class Text(NamedTuple):
    """What is read of text logs."""

    errors: Tuple[Error, ...]
    jobs: int = 0
    tasks: int = 0  # that started
    ended: int = 3
    containers: Tuple[str, ...] = ()
    notes: Tuple[str, ...] = ()  # texts of notes
    is_run: bool = True  # an application is made of them


class Collections(NamedTuple):
    """What is read of logs of the garbage collector next to an event log."""

    pauses: int
    pause_ms: int
    problem: str = ""  # text of what could not be read


# What a report says of the healthy run of spark.py.
HEALTHY: Mapping[str, Any] = {
    "application.duration_ms": 122_500,
    "totals.tasks": 16,
    "totals.run_ms": 16 * 59_980,
    "wall.resource_wait": 1_000,
    "wall.driver": 1_500,
    "wall.scheduling": 0,
    "wall.scheduler_delay": 20,
    "core.compute": 16 * 59_980,
    "core.failed_tasks": 0,
    "core.idle_no_work": 0,
    "core.idle_driver": 8 * 1_500,
    "bounds.critical_path_ms": 62_500,
    "stages.0.task_ms": 16 * 60_000,
}


def healthy(**changes: Any) -> Mapping[str, Any]:
    """Of the healthy run, what a form does not change; in names, __ stands for the period. ANY: it is not compared."""
    made = {**HEALTHY, **{name.replace("__", "."): value for name, value in changes.items()}}
    return {name: value for name, value in made.items() if value is not ANY}


Answer = Union[Run, Runs, Refused, Text, Collections]


class Differs(NamedTuple):
    """An answer of one way in that is not that of the others, and why."""

    answer: Answer
    why: str


class Form(NamedTuple):
    name: str
    writers: str  # who writes or sends such files
    answer: Answer
    make: Maker
    ways: Tuple[str, ...]
    differs: Mapping[str, Differs]

    @property
    def id(self) -> str:
        return self.make.__name__

    def comes_by(self, way: str) -> bool:
        return way in self.ways and (way not in ONE_FILE or len(self.make("app")) == 1)


def make_form(rows: List[Form], all_ways: Tuple[str, ...] = WAYS) -> Callable[..., Callable[[Maker], Maker]]:
    """The decorator of a module: its rows go to `rows`, and come by `all_ways` unless they say otherwise."""

    def form(
        name: str, writers: str, answer: Answer, ways: Tuple[str, ...] = all_ways, differs: Mapping[str, Differs] | None = None
    ) -> Callable[[Maker], Maker]:
        def add(make: Maker) -> Maker:
            rows.append(Form(name, writers, answer, make, ways, differs or {}))
            return make

        return add

    return form
