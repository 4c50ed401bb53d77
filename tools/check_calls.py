#!/usr/bin/env python3
"""Some calls have one home: everything else uses what that home offers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import project


@dataclass(frozen=True)
class Rule:
    """A call that only some files may hold."""

    pattern: re.Pattern[str]
    homes: tuple[str, ...]
    instead: str
    in_strings: bool = False  # the pattern is about what strings hold


RULES = (
    # A thread of its own would take the caller's signals.
    Rule(re.compile(r"\b(?:pthread_create|thrd_create)\b"), ("src/base/threads/thread.c",), "pyro_thread_start() of src/base/threads/thread.h"),
    # A second estimate would sooner or later contradict the first.
    Rule(
        re.compile(r"\bsaves(?:\.|->)\w+\s*=[^=]"),
        ("src/advice/price.c", "src/advice/diagnose.c", "src/advice/scenario_findings.c"),
        "a way to fix the fault (rules/fixes/remedy.h, pyro_advice_set()): src/advice/price.c takes the saving from its simulation",
    ),
    # A literal count does not follow the table of keys.
    Rule(re.compile(r"\bpyro_json_next(?:_known|_any)?\([^;]*,\s*[1-9][0-9]*\)"), (), "PYRO_JSON_KEYS() and PYRO_JSON_NEXT() of src/base/json/json_read.h"),
    # A comma and a name by hand: who writes them must also know when no comma comes, and what to escape.
    Rule(
        re.compile(r'\bpyro_strbuf_(?:add_text|printf)\([^";]*"(?:%s)?,\\"'),
        (),
        "pyro_compact_name() and the others of src/text/json_compact.h",
        in_strings=True,
    ),
    # A file of another mode, which other users read. The command, which has only the public header, makes what -o names, and
    # asks in doctor whether folders can be written; links and renames are of files that were made so.
    Rule(
        re.compile(
            r"\b(?:O_CREAT|O_TMPFILE|creat\(|mk(?:o?stemps?|dtemp|dir(?:at)?|fifo|nod)\(|tmpfile\(|fd?open64\(|symlink(?:at)?\()"
            r'|\bf(?:re)?open\([^;]*,\s*"[wa+]|\bfopen\([^;]*,\s*"r[a-z]*\+'
        ),
        ("src/base/files/new_file.c", "src/cli/result_output.c", "src/cli/checks.c"),
        "pyro_new_file() and the others of src/base/files/new_file.h",
        in_strings=True,
    ),
    Rule(
        re.compile(r"(?<![\w.>])(?:rename(?:at2?)?|link(?:at)?)\("),
        ("src/base/files/replace_file.c", "src/serve/uploads.c", "src/cli/result_output.c"),
        "pyro_replace_file() of src/base/files/replace_file.h",
    ),
    # SQLite makes files by the umask.
    Rule(re.compile(r"\bsqlite3_open(?:_v2|16)?\("), ("src/store/database.c", "src/query/sql_query.c"), "pyro_database_open() of src/store/database.h"),
    Rule(re.compile(r"\\\\u%0"), ("src/text/escape.c", "src/cli/result_output.c"), "pyro_add_json() of src/text/escape.h", in_strings=True),
)


def without_comments(text: str) -> str:
    """Line by line as before."""
    return re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment.group().count("\n"), text, flags=re.S)


def code_of(text: str) -> str:
    """Without comments and strings, line by line as before."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', without_comments(text))


def problems_in(name: str, text: str) -> list[str]:
    """The lines of a file that hold a call whose home is elsewhere."""
    code, with_strings = code_of(text), without_comments(text)
    return [
        f"{name}:{found.string.count(chr(10), 0, found.start()) + 1}: {found.group().split('(')[0]}: use {rule.instead}"
        for rule in RULES
        if name not in rule.homes
        for found in rule.pattern.finditer(with_strings if rule.in_strings else code)
    ]


def main() -> None:
    # The check refuses what it is for.
    assert problems_in("x.c", "a;\npthread_create(&t, 0, f, 0);") == ["x.c:2: pthread_create: use pyro_thread_start() of src/base/threads/thread.h"]
    assert problems_in("x.c", "finding->saves.wall_expected_ms = 5;")
    assert not problems_in("x.c", "return finding->saves.wall_expected_ms == 5;")
    assert problems_in("x.c", "k = pyro_json_next(&json, &object, keys, 3);")
    assert problems_in("x.c", 'pyro_strbuf_printf(to, ",\\"id\\":%d", id);')
    assert not problems_in("x.c", 'pyro_strbuf_printf(to, "%s, \\"%s\\"", a, b);')
    assert problems_in("x.c", 'snprintf(text, 7, "\\\\u%04x", code);')
    assert problems_in("x.c", "open(path, O_WRONLY | O_CREAT, 0644);") and problems_in("x.c", 'fopen(path, "we");')
    assert problems_in("x.c", "mkdir(path, 0755);") and problems_in("x.c", "rename(a, b);") and problems_in("x.c", "sqlite3_open(path, &db);")
    assert not problems_in("x.c", 'fopen(path, "re");') and not problems_in("x.c", "view->rename(a);") and not problems_in("x.c", "cant_mkdir(a);")
    assert not problems_in("x.c", "/* pthread_create() */ pyro_json_next(json, object, keys, count);")
    paths = list(project.files(".c", ".h", under="src"))
    problems = [problem for path in paths for problem in problems_in(project.relative(path), path.read_text(encoding="utf-8"))]
    project.finish(problems, f"{len(paths)} files")


if __name__ == "__main__":
    main()
