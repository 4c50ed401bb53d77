"""Runs, feedback and baselines in a real OpenSearch: what the command keeps there, and what it says when it cannot."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import conftest
import pytest
from servers import opensearch
from servers.pyrometer import Server
from servers.shared import ON_OPENSEARCH
from servers.tls_proxy import TlsProxy

pytestmark = ON_OPENSEARCH
LOGS = conftest.ROOT / "corpus" / "logs"
LOG, OTHER = LOGS / "straggler.zst", LOGS / "data_skew.zst"
ATTEMPTS = [conftest.ROOT / "tests" / "logs" / "attempts" / f"application_1795242757850_0001_{n}" for n in (1, 2)]


def run(*arguments: Any, **env: str) -> conftest.Run:
    settings = {"HOME": "/nonexistent", "PYROMETER_STORE": "", **env}
    command = ["env", *(f"{key}={value}" for key, value in settings.items()), str(conftest.binary_path())]
    return conftest.run_command([*command, *map(str, arguments)], limit_s=60)


class Store(NamedTuple):
    node: opensearch.Node
    prefix: str

    @property
    def url(self) -> str:
        return f"opensearch:{self.node.url}/{self.prefix}"

    def documents(self, index: str, query: Dict[str, Any] = {"match_all": {}}) -> List[Dict[str, Any]]:
        body = {"size": 5000, "query": query, "sort": ["_seq_no"]}
        answer = self.node.call("POST", f"/{self.prefix}-{index}/_search", body)
        assert answer.status == 200, answer
        return [hit["_source"] for hit in answer.json["hits"]["hits"]]

    def rows(self, kind: str) -> List[Dict[str, Any]]:
        return self.documents("rows", {"term": {"kind": kind}})

    def diagnose(self, log: Path, *options: Any) -> Dict[str, Any]:
        done = run("diagnose", log, "-f", "json", "--config", "none", "--store", self.url, *options)
        assert done.exit == 0 and done.err == b"", done.explain()
        return done.json


@pytest.fixture
def store(opensearch_node: opensearch.Node, index_prefix: str) -> Store:
    return Store(opensearch_node, index_prefix)


def in_sqlite(path: Path, statement: str) -> List[Dict[str, Any]]:
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(statement)]


def known(row: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None and name != "recorded_ms"}


def test_a_run_is_kept_as_in_sqlite(store: Store, tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    for _ in range(2):
        done = store.diagnose(LOG, "--name", "good")
        assert run("diagnose", LOG, "-f", "json", "--config", "none", "--store", f"sqlite:{database}", "--name", "good").json == done
    (kept,) = store.documents("agg")
    (expected,) = in_sqlite(database, "SELECT * FROM runs")
    assert {name: kept.get(name) for name in expected if name != "recorded_ms"} == {
        name: value for name, value in expected.items() if name != "recorded_ms"
    }
    assert kept["agg"] == {row["name"]: row["value"] for row in in_sqlite(database, "SELECT name, value FROM aggregates")}
    assert len(kept["agg"]) > 500
    assert kept["properties"] == [f"{row['key']}={row['value']}" for row in in_sqlite(database, "SELECT key, value FROM properties")]
    for kind, view in (("finding", "findings"), ("allocation", "allocations"), ("usage", "usage"), ("advice", "advice")):
        columns = in_sqlite(database, f"SELECT name FROM pragma_table_info('{view}')")
        names = [column["name"] for column in columns]
        found = [{name: row[name] for name in names if name in row} for row in store.rows(kind)]
        expected_rows = [known(row) for row in in_sqlite(database, f"SELECT * FROM {view}")]
        assert sorted(found, key=str) == sorted([{name: row[name] for name in names if name in row} for row in expected_rows], key=str), kind
        assert all(row["agg"] == kept["agg"] and row["run_start_ms"] == kept["start_ms"] for row in store.rows(kind))
    (raw,) = store.documents("raw")
    assert json.loads(raw["report"]) == done and raw["app_id"] == kept["app_id"]
    (document,) = [json.loads(row["json"]) for row in in_sqlite(database, "SELECT json FROM raw")]
    assert {**raw["raw"], "time_processed": None} == {**document, "time_processed": None} and document["stages"]
    assert [(row["id"], row["app_id"]) for row in store.rows("baseline")] == [("good", kept["app_id"])]
    assert store.documents("err") == []


def test_a_later_record_leaves_nothing_of_an_earlier_one(store: Store) -> None:
    before = store.diagnose(LOG)
    assert len(store.rows("finding")) == len(before["findings"]) >= 2
    rule = before["findings"][-1]["rule"]
    after = store.diagnose(LOG, "--suppress", rule)
    assert sorted(row["id"] for row in store.rows("finding")) == sorted(one["id"] for one in after["findings"])
    assert len(after["findings"]) < len(before["findings"])
    assert len(store.documents("agg")) == 1
    assert store.diagnose(LOG)["findings"] == before["findings"]
    assert sorted(row["id"] for row in store.rows("finding")) == sorted(one["id"] for one in before["findings"])


def test_another_run_of_the_same_id_is_refused(store: Store, tmp_path: Path, small_log: Path) -> None:
    store.diagnose(small_log)
    lines = small_log.read_text().splitlines(keepends=True)
    other = tmp_path / "other"
    other.write_text("".join(line.replace('"Timestamp":1', '"Timestamp":2') if "ApplicationStart" in line else line for line in lines))
    before = store.documents("agg")
    done = run("diagnose", other, "--store", store.url)
    assert done.exit == 4 and b"id-conflict" in done.err, done.explain()
    assert store.documents("agg") == before
    assert [(row["step"], row["type"]) for row in store.documents("err")] == [("store", "id-conflict")]


def test_only_the_last_attempt_is_final(store: Store) -> None:
    for log in reversed(ATTEMPTS):
        store.diagnose(log)
    for log in ATTEMPTS:
        store.diagnose(log)
    for kind in ("agg", "raw", "rows"):
        finals = {(one["attempt"], one["is_final_attempt"]) for one in store.documents(kind)}
        assert finals == {("1", 0), ("2", 1)}, kind
    documents = {(one["attempt"], one["raw"]["is_final_attempt"]) for one in store.documents("raw")}
    assert documents == {("1", False), ("2", True)}
    versions = store.node.call("POST", f"/{store.prefix}-*/_search", {"size": 100, "version": True}).json
    assert {hit["_version"] for hit in versions["hits"]["hits"]} == {1}


def test_feedback(store: Store) -> None:
    first = store.diagnose(LOG)
    finding = next(one for one in first["findings"] if one["rule"] == "straggler")
    for verdict, note in (("confirmed", "seen"), ("false-positive", "one slow service")):
        done = run("feedback", finding["id"], "--verdict", verdict, "--note", note, "-s", store.url)
        assert (done.exit, done.out, done.err) == (0, b"", b"")
    again = store.diagnose(LOG)
    folded = next(one for one in again["findings"] if one["id"] == finding["id"])
    assert folded["folded"] and folded["feedback"]["note"] == "one slow service"
    assert [row["verdict"] for row in store.rows("verdict")] == ["confirmed", "false-positive"]
    assert run("feedback", LOG, "--missed", "disk-spill", "-s", store.url).exit == 0
    unknown = run("feedback", "no-such-finding", "--verdict", "confirmed", "-s", store.url)
    assert unknown.exit == 2 and b"no run in the store has the finding" in unknown.err


def test_a_gate_against_a_named_run(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log.zst"
    shutil.copy(LOG, log)
    store.diagnose(log, "--name", "good")
    assert run("gate", LOG, "--baseline", "good", "--store", store.url).exit == 0
    assert b"no run" in run("gate", LOG, "--baseline", "bad", "--store", store.url).err


def test_what_cannot_be_read_is_kept(store: Store, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("this is not a log\n")
    assert b"none of its 1 lines" in run("diagnose", broken, LOG, "--store", store.url).err
    (error,) = store.documents("err")
    assert error["step"] == "read" and error["app_id"] == str(broken) and error["message"]
    assert len(store.documents("agg")) == 1


def test_a_document_that_is_refused_loses_no_run(store: Store) -> None:
    """An index that was made with fewer fields than runs have."""
    assert run("diagnose", OTHER, "--store", store.url).exit == 0
    mapping = store.node.call("GET", f"/{store.prefix}-agg/_mapping").json[f"{store.prefix}-agg"]["mappings"]
    mapping["properties"]["agg"] = {"type": "object", "dynamic": True}
    store.node.call("DELETE", f"/{store.prefix}-agg")
    settings = {"index": {"mapping.total_fields.limit": 60}}
    assert store.node.call("PUT", f"/{store.prefix}-agg", {"settings": settings, "mappings": mapping}).status == 200
    done = store.diagnose(LOG)
    (kept,) = store.documents("agg")
    assert kept["app_id"] == done["application"]["id"] and "agg" not in kept
    (error,) = store.documents("err")
    assert (error["step"], error["type"]) == ("store", "refused") and "Limit of total fields [60]" in error["message"]
    assert json.loads(error["raw"])["app_id"] == kept["app_id"]
    assert len(store.rows("finding")) >= len(done["findings"])


def test_served_without_their_logs(store: Store, tmp_path: Path) -> None:
    expected = {}
    for log in (LOG, OTHER):
        copy = tmp_path / log.name
        shutil.copy(log, copy)
        expected[copy] = store.diagnose(copy)
        copy.unlink()
    first, *others = (done["application"]["id"] for done in expected.values())
    with Server(f"{store.url}?ca=/no/file.pem", "--update-interval", "200ms") as server:  # type: ignore[arg-type]
        names = json.loads(server.request("GET", "/pyrometer/v1/fleet")[2])["stores"]
        assert names == [{"number": 1, "name": store.prefix}]
        assert {one["id"] for one in json.loads(server.get("applications")[2])} == {first, *others}
        status, _, body = server.request("GET", f"/pyrometer/v1/applications/{first}/-/report")
        assert status == 200, body[:500]
        report = json.loads(body)
        assert report["findings"] == expected[tmp_path / LOG.name]["findings"]
        third = store.diagnose(LOGS / "disk_spill.zst")["application"]["id"]
        for _ in range(100):
            if third in {one["id"] for one in json.loads(server.get("applications")[2])}:
                return
            time.sleep(0.1)
        raise AssertionError("a run that was recorded meanwhile is not listed")


# ---- What goes wrong ---------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(store: Store, opensearch_proxy: TlsProxy) -> Iterator[Tuple[Store, str, TlsProxy]]:
    address = opensearch_proxy.url.replace("https://", f"https://{opensearch_proxy.user}:p%C3%A4ss%3Aword@")
    yield store, f"opensearch:{address}/{store.prefix}", opensearch_proxy


def test_tls_and_a_password(guarded: Tuple[Store, str, TlsProxy], tmp_path: Path) -> None:
    store, url, proxy = guarded
    authority = proxy.authority
    by_environment = run("diagnose", LOG, "--store", url, CURL_CA_BUNDLE=str(authority))
    assert by_environment.exit == 0 and by_environment.err == b"", by_environment.explain()
    by_address = run("diagnose", OTHER, "--store", f"{url}?ca={authority}", CURL_CA_BUNDLE="")
    assert by_address.exit == 0, by_address.explain()
    assert len(store.documents("agg")) == 2
    netrc = tmp_path / ".netrc"
    netrc.write_text(f'machine 127.0.0.1 login {proxy.user} password "{proxy.password}"\n', encoding="utf-8")
    plain = f"opensearch:{proxy.url}/{store.prefix}?ca={authority}"
    assert run("diagnose", LOG, "--store", plain, HOME=str(tmp_path)).exit == 0
    for wrong, env, why in (
        (url, {"CURL_CA_BUNDLE": "", "SSL_CERT_FILE": ""}, b"certificate of the server is not trusted"),
        (url.replace("p%C3%A4ss", "wr0ng"), {"CURL_CA_BUNDLE": str(authority)}, b"401"),
        (plain, {}, b"401"),
    ):
        done = run("diagnose", LOG, "--store", wrong, **env)
        assert done.exit == 4 and why in done.err and done.out, done.explain()  # the report is printed nevertheless
        assert b"wr0ng" not in done.err and b"ss%3Aword" not in done.err and b"p%C3" not in done.err
        assert run("serve", wrong, "--port", "0", **env).exit == 3


def test_the_server_is_down(opensearch_node: opensearch.Node, tmp_path: Path) -> None:
    url = "opensearch:http://ann:s3cret@127.0.0.1:1/runs"
    done = run("diagnose", LOG, "--store", url)
    assert done.exit == 4 and done.out and b"cannot connect" in done.err and b"s3cret" not in done.err, done.explain()
    assert b"http://127.0.0.1:1/runs" in done.err


@pytest.mark.parametrize(
    "place, why",
    [
        ("", b"needs an address"),
        ("127.0.0.1:9200/runs", b"needs an address"),
        ("http://127.0.0.1:9200", b"ends with the prefix"),
        ("http://127.0.0.1:9200/", b"ends with the prefix"),
        ("http://127.0.0.1:9200/Runs", b"ends with the prefix"),
        ("http://127.0.0.1:9200/runs?key=1", b"has no parameter 'key'"),
        ("http://127.0.0.1:9200/runs?agg=_all", b"cannot be the name of an index"),
    ],
)
def test_addresses_that_are_none(place: str, why: bytes, opensearch_node: opensearch.Node) -> None:
    done = run("diagnose", LOG, "--store", f"opensearch:{place}")
    assert done.exit == 2 and why in done.err and done.out == b"", done.explain()


def test_indices_of_others(store: Store) -> None:
    index = f"/{store.prefix}-agg"
    store.node.call("PUT", index, {"mappings": {"properties": {"x": {"type": "long"}}}})
    done = run("diagnose", LOG, "--store", store.url)
    assert done.exit == 3 and b"is not one of a Pyrometer store" in done.err and done.out == b""
    store.node.call("DELETE", index)
    store.node.call("PUT", index, {"mappings": {"_meta": {"pyrometer": {"store": 99}}}})
    done = run("diagnose", LOG, "--store", store.url)
    assert done.exit == 3 and b"store of version 99" in done.err
    assert run("serve", store.url + "-none", "--port", "0").exit == 3


def test_names_of_indices(store: Store) -> None:
    url = f"{store.url}?agg={store.prefix}-spot-agg&err={store.prefix}-spot-err"
    assert run("diagnose", LOG, "--store", url).exit == 0
    assert len(store.documents("spot-agg")) == 1 and store.documents("spot-err") == []
    assert store.node.call("GET", f"/{store.prefix}-agg").status == 404


def test_what_is_not_opensearch(small_log: Path, tmp_path: Path, opensearch_node: opensearch.Node) -> None:
    with Server(tmp_path) as server:
        done = run("diagnose", small_log, "--store", f"opensearch:http://{server.host}:{server.port}/runs")
        assert done.exit in (3, 4) and b"the store cannot be" in done.err, done.explain()


@pytest.mark.parametrize("place", ["h:9200/My", "h:9200", "127.0.0.1:1/runs"])
def test_no_message_shows_a_password(place: str) -> None:
    done = run("store", "stat", f"opensearch:https://elastic:Ab/hidden@{place}")
    assert done.exit != 0 and done.err and b"hidden" not in done.err
