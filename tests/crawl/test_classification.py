"""Which application a run is of: compared with an independent version, rule by rule."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from fleet import crawl, make_log, rows

NAMES = [
    "nightly",
    "etl-orders_v12",
    "etl-_v",
    "Standardisation 2.1 orders 3 2026-01-01 1",
    "Dynamic Conformance 2.1 orders 3 2026-01-01 1",
    "a b;c,d.e-f%g_h",
    "..",
    "\u00fcber gro\u00df-artig",
    "$1 ${name} $$",
    "x" * 300,
    "etl-orders_v12 (again)",
]
RULES: List[Dict[str, Any]] = [
    {"match": r"^(?<job>[a-z-]+)_v(?<version>\d+)$", "application": "${job}", "version": "${version}", "tags": {"team": "$1!"}},
    {"match": r"^Standardisation (\S+) (\S+)", "type": "standardization", "version": "$1", "tag": "std_$1_$2"},
    {"match": r"^(x)(y)?", "application": "$1-$2-$9", "type": "$$1"},
    {"of": "property.spark.app.name", "match": r"Conformance", "application": "conformance"},
    {"of": "tag.no", "match": "", "application": "never"},
]


def expected(name: str, rules: List[Dict[str, Any]], properties: Dict[str, str]) -> Tuple[str, str, str, str, Dict[str, str]]:
    fields = {"application": name, "type": name, "version": "", "tag": name}
    for rule in rules:
        of = rule.get("of", "name")
        subject: Optional[str] = name if of == "name" else properties.get(of[len("property.") :]) if of.startswith("property.") else None
        found = re.search(rule["match"].replace("(?<", "(?P<"), subject) if subject is not None else None
        if not found:
            continue

        def expand(text: str, found: "re.Match[str]" = found) -> str:
            def one(match: "re.Match[str]") -> str:
                if match.group() == "$$":
                    return "$"
                key = match.group(1) or match.group(2)
                try:
                    return found.group(int(key) if key.isdigit() else key) or ""
                except IndexError:
                    return ""

            return re.sub(r"\$\$|\$\{([^}]*)\}|\$(\d)", one, text)

        fields.update({key: expand(rule[key]) for key in fields if key in rule})
        tags = {key: expand(value) for key, value in rule.get("tags", {}).items()}
        return (*fields.values(), tags)  # type: ignore[return-value]
    parts = re.split(r"[ ;,.\-%_]", name)
    return (*fields.values(), {str(i): part for i, part in enumerate(parts, 1)})  # type: ignore[return-value]


def test_as_the_independent_version(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    chance = random.Random(7)
    names = NAMES + ["".join(chance.choice("ab1 ;,.-%_v") for _ in range(chance.randint(1, 20))).strip() or "z" for _ in range(30)]
    made = {make_log(logs, number, name=name).id: name for number, name in enumerate(names, 1)}
    config = tmp_path / "crawl.yaml"
    for label, rules in (("none", []), ("rules", RULES)):
        store = tmp_path / f"{label}.db"
        config.write_text(json.dumps({"classification": rules, "sources": [str(logs)]}))
        done = crawl("-c", config, "--store", f"sqlite:{store}", "--once")
        assert done.returncode == 0, done.stderr
        tags: Dict[str, Dict[str, str]] = {}
        for app, key, value in rows(store, "SELECT app_id, key, value FROM tags"):
            tags.setdefault(app, {})[key] = value
        properties: Dict[str, Dict[str, str]] = {}
        for app, key, value in rows(store, "SELECT app_id, key, value FROM properties"):
            properties.setdefault(app, {})[key] = value
        found = rows(store, "SELECT app_id, application, type, version, tag FROM runs")
        assert len(found) == len(names)
        for app, *fields in found:
            wanted = expected(made[app], rules, properties.get(app, {}))
            assert (*fields, tags.get(app, {})) == wanted, made[app]


def test_expressions_cannot_take_forever(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    logs.mkdir()
    make_log(logs, 1, name="a" * 4000 + "!")
    config = tmp_path / "crawl.yaml"
    config.write_text(json.dumps({"classification": [{"match": "^(a+)+$", "application": "slow"}], "sources": [str(logs)]}))
    done = crawl("-c", config, "--store", f"sqlite:{store}", "--once", limit_s=30)
    assert done.returncode == 0 and rows(store, "SELECT count(*) FROM runs WHERE application = 'slow'") == [(0,)]
