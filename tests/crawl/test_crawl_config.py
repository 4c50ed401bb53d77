"""crawl.yaml: what it may say, what it may not, and that the examples are valid."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, Optional

import pytest
from fleet import crawl, kinds, make_fleet, events, rows

import conftest

EXAMPLES = sorted((conftest.ROOT / "deploy" / "crawl").glob("*.yaml"))


def with_config(tmp_path: Path, text: str, *words: str, env: Optional[Dict[str, str]] = None) -> "tuple[int, str, str]":
    config = tmp_path / "crawl.yaml"
    config.write_text(text)
    done = crawl("--config", config, "--once", "--log-format", "json", *words, env=env)
    return done.returncode, done.stdout, done.stderr


def test_everything_can_stand_in_the_file(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 2)
    text = f"store: sqlite:{store}\njobs: 1\nevery: 10s\nstill: 1h\nsources:\n  - folder: {logs}\n    rate: 100\n"
    (tmp_path / "crawl.yaml").write_text(text)
    done = crawl("-c", tmp_path / "crawl.yaml", "--once", "--log-format", "json")
    assert done.returncode == 0, done.stderr
    assert kinds(events(done)) == {"listed": 1, "stored": 2, "passed": 1}
    # Options have priority.
    assert crawl("-c", tmp_path / "crawl.yaml", "--once", "--store", f"sqlite:{tmp_path / 'other.db'}").returncode == 0
    assert rows(tmp_path / "other.db", "SELECT count(*) FROM runs") == [(2,)]


def test_name_filters(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 2)
    head = f"store: sqlite:{store}\nsources: [{logs}]\n"
    status, out, err = with_config(tmp_path, head + "names: {include: ['^night'], exclude: ['ly$']}\n")
    assert status == 0 and out.count('"skipped"') == 3, out + err  # two logs, and the sum
    assert rows(store, "SELECT count(*) FROM runs") == [(0,)] and rows(store, "SELECT DISTINCT state FROM work") == [(2,)]
    store.unlink()
    assert with_config(tmp_path, head + "names: {include: ['^night']}\n")[0] == 0
    assert rows(store, "SELECT count(*) FROM runs") == [(2,)]


@pytest.mark.parametrize(
    "text, said",
    [
        ("sorces: []", "did you mean 'sources'"),
        ("sources:\n  - ulr: http://h:1", "did you mean 'url'"),
        ("sources:\n  - {rate: 5}", "url"),
        ("sources:\n  - url: http://me:pw@h:1", "user and password"),
        ("sources:\n  - http://me:pw@h:1", "user and password"),
        ("sources:\n  - http://me:p/w@h:1/x", "user and password"),
        ("sources:\n  - {url: 'http://h:1', user: me, password: topsecret}", "env:NAME or file:PATH"),
        ("sources:\n  - {url: 'http://h:1', token: 'env:NOT_SET_ANYWHERE'}", "not set"),
        ("sources:\n  - {url: 'http://h:1', token: 'file:/no/such/file'}", "cannot be read"),
        ("sources:\n  - {url: 'http://h:1', remote: always}", "line 2"),
        ("sources:\n  - {folder: /x, rate: fast}", "a number of logs"),
        ("sources:\n  - {folder: 'http://ann:hidden@h:1'}", "use the key url"),
        ("sources: http://h:1", "this is a list"),
        ("every: soon", "a duration"),
        ("every: 9d", "7 days"),
        ("jobs: 0", "1 to 64"),
        ("min_end_date: yesterday", "in UTC"),
        ("names: {include: ['(']}", "not valid"),
        ("names: {only: []}", "include"),
        ("classification: [{application: a}]", "match"),
        ("classification: [{match: a, of: user}]", "property.KEY"),
        ("classification: [{match: a, aplication: b}]", "did you mean 'application'"),
        ("enrichers: [{timeout: 5s}]", "one of the keys"),
        ("enrichers: [{http: 'http://h', yarn: 'http://h'}]", "one of the keys"),
        ("enrichers: [{http: 'http://h'}]", "takes something"),
        ("enrichers: [{http: 'http://h', aggregates: {x: '1 +'}}]", "a value is missing"),
        ("enrichers: [{http: 'http://h', aggregates: {x: '(1'}}]", "parenthesis"),
        ("enrichers: [{http: 'http://h', aggregates: {x: '{app}'}}]", "POINTER"),
        ("enrichers: [{http: 'http://h', aggregates: {x: '1 2'}}]", "does not belong"),
        ("enrichers: [{http: 'ftp://h', tags: {x: '{/a}'}}]", "an address"),
        ("store: {user: me}", "has a url"),
        ("store: {url: 'sqlite:x.db', index: {raw: a}}", "opensearch"),
        ("store: {url: 'opensearch:http://h:1/x', index: {row: a}}", "raw, agg"),
        ("a: &x 1", "line 1"),
        ("[1, 2]", "keys with values"),
        ("store: [", "line"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    status, out, err = with_config(tmp_path, text + "\n")
    assert status == 2 and said in err and "crawl.yaml" in err, err
    assert "topsecret" not in err and ":pw@" not in err


def test_secrets_come_from_the_environment_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from-file\n")
    text = f"sources:\n  - {{url: 'http://127.0.0.1:9', user: me, password: env:PW_OF_TEST}}\n  - {{url: 'http://127.0.0.2:9', token: 'file:{tmp_path}/secret'}}\nstore: sqlite:{tmp_path}/runs.db\n"
    status, out, err = with_config(tmp_path, text, env={"PW_OF_TEST": "from-environment"})
    assert status == 3 and "from-" not in out + err


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_examples(path: Path, tmp_path: Path) -> None:
    """They are valid: what fails is only what is not there."""
    text = path.read_text().replace("/run/secrets/opensearch", str(tmp_path / "secret")).replace("/var/", f"{tmp_path}/")
    (tmp_path / "secret").write_text("x")
    text = text.replace(".example", ".invalid")
    names = ("HISTORY_PASSWORD", "INVENTORY_TOKEN", "MENAS_USER", "MENAS_PASSWORD")
    store = f"sqlite:{tmp_path}/runs.db"
    status, out, err = with_config(tmp_path, text, "--store", store, "--timeout", "2", env={**dict.fromkeys(names, "x")})
    assert EXAMPLES and status == 3 and "unreachable" in out, out + err
    assert os.path.exists(tmp_path / "runs.db")
