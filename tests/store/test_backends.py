"""The same questions to every kind of store, compared with an oracle that shares no code with Pyrometer."""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import schemas  # noqa: E402
from cli_command import Command  # noqa: E402
from fleet_logs import FIRST_MS, write_fleet  # noqa: E402
from question_oracle import Oracle, Ranked, Viewer  # noqa: E402
from questions import QUESTIONS, VIEWED, Question  # noqa: E402
from servers import opensearch  # noqa: E402
from servers.shared import ON_OPENSEARCH  # noqa: E402

BACKENDS = ["sqlite", pytest.param("opensearch", marks=ON_OPENSEARCH)]
VIEWERS = [
    Viewer("ann"),
    Viewer("zoe"),
    Viewer("nobody"),
    Viewer("nobody", ("staff",)),
    Viewer("nobody", ("admins", "other")),
    Viewer("root", always=True),
    Viewer("ann", ("night",), always=True),
    Viewer(""),
]


class Backend(NamedTuple):
    """A store with the fleet, and what its answers must be."""

    url: str
    oracle: Oracle
    exact: bool  # else sums agree to 1e-9 of their value, and percentiles to 0.5 % of their rank


def add_rows(store: Path) -> None:
    """What no command records yet: tags, clusters, suggestions; more properties, usage and advice than the logs give."""
    with sqlite3.connect(store) as db:
        runs = db.execute("SELECT key, start_ms FROM run ORDER BY app_id, attempt").fetchall()
        for table in ("property", "run_usage", "run_advice", "run_allocation"):
            db.execute(f"DELETE FROM {table}")
        names = ["spark.executor.memory", "spark.sql.shuffle.partitions"]
        db.executemany("INSERT OR IGNORE INTO property_name (name) VALUES (?)", [(name,) for name in names])
        db.execute("INSERT OR IGNORE INTO tag_name (name) VALUES ('team')")
        memory, partitions = [db.execute("SELECT id FROM property_name WHERE name = ?", (name,)).fetchone()[0] for name in names]
        team = db.execute("SELECT id FROM tag_name WHERE name = 'team'").fetchone()[0]
        for place, (key, start_ms) in enumerate(runs):
            db.execute("INSERT INTO property VALUES (?, ?, ?)", (memory, key, ["1g", "2g", "4g"][place % 3]))
            if place % 4:
                db.execute("INSERT INTO property VALUES (?, ?, ?)", (partitions, key, str(50 * (place % 4))))
                db.execute("INSERT INTO run_tag VALUES (?, ?, ?)", (team, key, ["red", "blue", "böse"][place % 3]))
            db.execute("INSERT INTO run_allocation VALUES (?, ?, ?, NULL, ?, ?, NULL)", (key, place * 1000, place * 7, "emr" if place % 5 else None, "m5" if place % 2 else None))
            for span in range(place % 4):
                begin = (start_ms // 300_000 + span) * 300_000
                numbers = [span * 10 + place, place * 60_000, place * 31_000 + span, place << 40, span << 50, place, span]
                db.execute("INSERT INTO run_usage VALUES (?, ?, 300000, ?, ?, ?, ?, ?, ?, ?)", (key, begin, *numbers))
            for at in range(place % 3):
                saves = None if at else place * 1000 - 20_000
                db.execute("INSERT INTO run_advice VALUES (?, ?, 'x', 'r', ?, ?, ?, ?, ?, ?, ?)", (key, at, f"spark.k{at}", None if at else "1", str(place), saves, place, place, place))
            db.execute("UPDATE run SET queue = ?, input_bytes = ? WHERE key = ?", ([None, "a", "b"][place % 3], None if place % 6 == 0 else place << 55, key))
        db.execute("DELETE FROM run_access WHERE run IN (SELECT key FROM run WHERE app_id LIKE '%7')")
        for place in range(20):
            time_ms, value = FIRST_MS + place // 3 * 20_000, (place - 9) * 1.1
            db.execute("INSERT INTO cluster VALUES (?, ?, ?, ?)", (f"rm{place % 2}", time_ms, f"n{place % 3}", value))
            db.execute("INSERT INTO run_day VALUES (?, ?, ?, ?, ?, ?, ?)", (f"app{place % 3}", FIRST_MS + place // 3 * 86_400_000, place, place // 2, place * 7, place << 54, 0))
            state = ["suggested", "kept"][place % 2]
            db.execute("INSERT INTO suggestion VALUES (?, ?, ?, ?, 'cheaper', NULL, '{}', NULL)", (f"s{place:02}", f"app{place % 4}", time_ms, state))
            db.execute("INSERT INTO error (time_ms, app_id, step, type, message, tries) VALUES (?, ?, ?, 't', 'm', ?)", (time_ms, f"app{place % 2}", ["fetch", "read"][place % 2], place))


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("backends"))


@pytest.fixture(scope="session")
def logs(command: Command) -> List[Path]:
    return write_fleet(command.folder)


PREFIX = "fleet"
RUNS = "SELECT app_id || CASE attempt WHEN '' THEN '' ELSE '/' || attempt END AS id, * FROM run"
KINDS = {"finding": "run_finding", "usage": "run_usage", "allocation": "run_allocation", "advice": "run_advice"}


def pairs(db: sqlite3.Connection, table: str, names: str, run: int) -> List[str]:
    statement = f"SELECT n.name || '=' || value FROM {table} t JOIN {names} n ON n.id = t.name WHERE run = ?"
    return [text for (text,) in db.execute(statement, (run,))]


def known(row: sqlite3.Row) -> Dict[str, Any]:
    return {name: row[name] for name in row.keys() if row[name] is not None and name not in ("run", "key_of_row")}


def mirror(node: opensearch.Node, database: Path) -> None:
    """The rows of the reference that no command makes, as documents: those of a run repeat what its document says."""
    recorded = {hit["_id"]: hit["_source"] for hit in node.call("POST", f"/{PREFIX}-agg/_search", {"size": 1000}).json["hits"]["hits"]}
    lines: List[Any] = []
    with sqlite3.connect(database) as db:
        db.row_factory = sqlite3.Row
        for run in db.execute(RUNS):
            document = recorded.pop(run["id"])
            lists = db.execute("SELECT * FROM run_access WHERE run = ?", (run["key"],)).fetchone()
            own = {name: value for name, value in document.items() if name not in ("queue", "input_bytes")}
            own.update({name: run[name] for name in ("queue", "input_bytes") if run[name] is not None})
            own["properties"] = pairs(db, "property", "property_name", run["key"])
            own["tags"] = pairs(db, "run_tag", "tag_name", run["key"])
            if lists is None:  # it is not known who may see it: its owner
                own["seen_by"] = [f"u:{run['user']}"]
            lines += [{"index": {"_index": f"{PREFIX}-agg", "_id": run["id"]}}, own]
            for kind, table in KINDS.items():
                for place, row in enumerate(db.execute(f"SELECT * FROM {table} WHERE run = ?", (run["key"],))):
                    fields = [name for name in row.keys() if name != "run"]
                    of_run = {name: value for name, value in own.items() if name not in fields}
                    lines += [{"index": {"_index": f"{PREFIX}-rows"}}, {**of_run, "position": place, **known(row), "kind": kind}]
        for row in db.execute("SELECT * FROM suggestion"):
            lines += [{"index": {"_index": f"{PREFIX}-rows"}}, {**known(row), "kind": "suggestion"}]
        for row in db.execute("SELECT source, time_ms, name, value AS number FROM cluster"):
            lines += [{"index": {"_index": f"{PREFIX}-rows"}}, {**known(row), "kind": "cluster"}]
        for row in db.execute("SELECT * FROM run_day"):
            lines += [{"index": {"_index": f"{PREFIX}-rows"}}, {**known(row), "kind": "day"}]
        for row in db.execute("SELECT * FROM error ORDER BY key"):
            lines += [{"index": {"_index": f"{PREFIX}-err"}}, {**known(row), "kind": "error"}]
    assert not recorded
    everything = {"query": {"terms": {"kind": [*KINDS, "error"]}}}
    assert node.call("POST", f"/{PREFIX}-rows,{PREFIX}-err/_delete_by_query?refresh=true", everything).status == 200
    answer = node.call("POST", "/_bulk?refresh=true", lines)
    assert answer.status == 200 and not answer.json["errors"], answer


@pytest.fixture(scope="session")
def opensearch_store(opensearch_node: opensearch.Node) -> Iterator[str]:
    yield f"opensearch:{opensearch_node.url}/{PREFIX}"
    opensearch_node.remove(PREFIX)


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest, command: Command, logs: List[Path]) -> Backend:
    """What the command records, and rows that no command makes."""
    reference = command.folder / f"{request.param}.db"
    assert command("diagnose", *logs, "-f", "json", "--store", f"sqlite:{reference}").returncode == 0
    add_rows(reference)
    if request.param == "sqlite":
        return Backend(f"sqlite:{reference}", Oracle(reference), True)
    url = request.getfixturevalue(f"{request.param}_store")
    assert command("diagnose", *logs, "-f", "json", "--store", url).returncode == 0
    mirror(request.getfixturevalue("opensearch_node"), reference)
    return Backend(url, Oracle(reference), False)


def ask(command: Command, backend: Backend, question: Question, viewer: Optional[Viewer]) -> List[Dict[str, Any]]:
    """The answer, in as many pages as the question's limit makes."""
    options: List[str] = []
    if viewer is not None:
        options = ["--user", viewer.user, "--groups", ",".join(viewer.groups)] + (["--always"] if viewer.always else [])
    pages: List[Dict[str, Any]] = []
    while not pages or pages[-1]["after"]:
        more = {"after": pages[-1]["after"]} if pages else {}
        done = command("store", "query", backend.url, json.dumps({**question, **more}), *options)
        assert done.returncode == 0, done.stderr
        pages.append(schemas.validate(json.loads(done.stdout)))
        if len(pages) > 1:
            assert pages[-1]["rows"], "a page without rows"
    return pages


def same(found: Any, expected: Any, exact: bool) -> bool:
    if isinstance(expected, Ranked):
        slack = 0 if exact else max(1, math.ceil(0.005 * len(expected.values)))
        low, high = max(expected.rank - slack, 0), min(expected.rank + slack, len(expected.values) - 1)
        return found is not None and expected.values[low] <= found <= expected.values[high]
    if found is None or expected is None or isinstance(expected, str) or isinstance(found, str):
        return bool(found == expected)
    if exact and isinstance(found, int) and isinstance(expected, int):
        return found == expected
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def compare(command: Command, backend: Backend, question: Question, viewer: Optional[Viewer] = None) -> None:
    schemas.check(question, "pyrometer.store_query-1.json")
    columns, expected = backend.oracle.answer(question, viewer)
    pages = ask(command, backend, question, viewer)
    assert all(page["columns"] == columns for page in pages)
    limit = question.get("limit", 100_000)
    assert [len(page["rows"]) for page in pages[:-1]] == [limit] * (len(pages) - 1) and len(pages[-1]["rows"]) <= limit
    found = [row for page in pages for row in page["rows"]]
    for row, (one, other) in enumerate(zip(found, expected)):
        assert all(same(a, b, backend.exact) for a, b in zip(one, other)), f"row {row}: {one}, expected {other}"
    assert len(found) == len(expected)


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_questions_are_answered_alike(command: Command, backend: Backend, number: int) -> None:
    compare(command, backend, QUESTIONS[number])


@pytest.mark.parametrize("viewer", VIEWERS, ids=map(str, range(len(VIEWERS))))
def test_users_get_what_they_may_see(command: Command, backend: Backend, viewer: Viewer) -> None:
    for question in VIEWED:
        compare(command, backend, question, viewer)


def test_the_fleet_has_something_of_everything(backend: Backend) -> None:
    """So that no comparison above is between two empty answers."""
    assert len(QUESTIONS) >= 200
    assert {row["status"] for row in backend.oracle.lists["runs"]} > {"completed"}
    assert len(backend.oracle.runs) == 48 and len({run for run in backend.oracle.runs if run[1]}) > 2
    seen = [len(backend.oracle.rows({"from": "runs"}, viewer)) for viewer in VIEWERS]
    assert len(set(seen)) >= 5 and 0 < min(seen) and max(seen) < 48, seen
    if backend.exact:
        assert all(backend.oracle.lists.values()) and all(backend.oracle.named.values())
