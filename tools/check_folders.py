#!/usr/bin/env python3
"""Refuse folders of src/ with too many files, and a name of a .c file that stands for several things."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import PurePosixPath

import project

# Files that a folder may have of its own, without meson.build.
MOST = 30
# Folders with a file for each row of a table: they grow with it, and the row gives the name.
BY_TABLE = {
    "cli/verbs": "cli/verbs.def",
    "fleet/views": "fleet/views/views.def",
    "model/tables": "model/tables/tables.def",
    "report/flame": "report/flame/formats.def",
    "report/views": "report/views/views.def",
    "rules/catalogue": "rules/rules.def",
    "rules/profiles": "rules/profiles/profiles.def",
}
# Folders that do the same for something else each: a name in all of them says which part of it the file has.
FAMILIES = {
    "formats of documents": {"report/comparison", "report/cost", "report/diagnosis", "report/profiling", "report/whatif"},
    "parts of an application, as Spark names them": {
        "decode/eventlog",
        "decode/rest",
        "decode/sparkview",
        "model/history",
        "report/sparkview",
        "report/views",
        "serve/spark",
    },
    "documents about text logs": {"decode/logs", "decode/logs/repeats", "decode/logs/timeline", "report/logs"},
    "parts of a store": {"store", "store/opensearch", "store/sqlite"},
    "services": {"serve/api", "serve/mcp", "serve/spark"},
}


def problems_in(paths: list[str]) -> list[str]:
    """What is wrong with files at these paths below src/."""
    folders: Counter[str] = Counter()
    named: dict[str, set[str]] = defaultdict(set)
    for path in map(PurePosixPath, paths):
        folders[str(path.parent)] += 1
        if path.suffix == ".c":
            named[path.name].add(str(path.parent))
    problems = [
        f"src/{folder}: has {count} files, {MOST} at most: move those that belong together into a folder"
        for folder, count in sorted(folders.items())
        if count > MOST and folder not in BY_TABLE
    ]
    for name, places in sorted(named.items()):
        free = places - BY_TABLE.keys()
        if len(free) > 1 and not any(free <= family for family in FAMILIES.values()):
            problems.append(f"{name}: is in {', '.join(f'src/{place}' for place in sorted(places))}: let the name say what each holds")
    return problems


def check_self() -> None:
    """Finds what it must, and nothing else."""
    many = [f"base/file_{number}.c" for number in range(MOST)]
    assert problems_in(many) == []
    assert len(problems_in([*many, "base/one_more.h"])) == 1
    assert problems_in([path.replace("base", "cli/verbs") for path in [*many, "base/one_more.c"]]) == []
    assert problems_in(["base/list.h", "cost/list.h"]) == []
    assert problems_in(["base/list.c", "cost/list.c"]) == ["list.c: is in src/base, src/cost: let the name say what each holds"]
    assert problems_in(["cost/money.c", "fleet/views/money.c"]) == []
    assert problems_in(["serve/api/select.c", "serve/spark/select.c"]) == []
    assert len(problems_in(["cost/select.c", "serve/api/select.c", "serve/spark/select.c"])) == 1


def main() -> None:
    check_self()
    paths = [
        str(path.relative_to(project.ROOT / "src").as_posix()) for path in project.files(".c", ".h", ".def", ".inc", under="src")
    ]
    problems = [f"src/{table}: is missing: src/{folder} may be large because of it" for folder, table in BY_TABLE.items() if table not in paths]
    project.finish(problems + problems_in(paths), f"{len(paths)} files have a name and a folder of their own")


if __name__ == "__main__":
    main()
