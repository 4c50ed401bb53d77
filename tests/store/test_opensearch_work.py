"""Crawlers that share work by a real OpenSearch: each step is one process (tests/store/store_work.c)."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import conftest
import pytest
import zstandard
from servers import opensearch
from servers.between import Between
from servers.shared import ON_OPENSEARCH

pytestmark = ON_OPENSEARCH
PROGRAM = conftest.binary_path().parent / "tests" / "store" / "store_work"
LOG = conftest.ROOT / "corpus" / "logs" / "straggler.zst"
LEASE_MS, PAUSE_MS, TRIES = 300000, 60000, 5


class Work(NamedTuple):
    node: opensearch.Node
    prefix: str

    def __call__(self, *words: Any, exit: int = 0) -> str:
        return self.at(self.node.url, *words, exit=exit)

    def at(self, url: str, *words: Any, exit: int = 0) -> str:
        command = [str(PROGRAM), f"opensearch:{url}/{self.prefix}", *map(str, words)]
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, env={"HOME": "/nonexistent"}, text=True)
        assert done.returncode == exit, done.stdout
        return done.stdout.strip()

    def claim(self, owner: str, most: int = 9) -> List[List[str]]:
        return [line.split() for line in self("claim", owner, most).splitlines()]

    def documents(self, index: str = "work") -> List[Dict[str, Any]]:
        self.node.call("POST", f"/{self.prefix}-{index}/_refresh")
        body = {"size": 1000, "version": True, "sort": ["_seq_no"]}
        return self.node.call("POST", f"/{self.prefix}-{index}/_search", body).json["hits"]["hits"]

    def item(self, key: str) -> Dict[str, Any]:
        return next(hit["_source"] for hit in self.documents() if hit["_source"].get("key") == key)

    def change(self, key: str, **members: Any) -> None:
        """What no crawler does: to let time pass."""
        answer = self.node.call("POST", f"/{self.prefix}-work/_update/{key}?refresh=true", {"doc": members})
        assert answer.status == 200, answer

    def counts(self) -> List[int]:
        """New, leased, done, failed, dead; low; when all was listed."""
        return [int(word) for word in self("counts").split()]


@pytest.fixture
def work(opensearch_node: opensearch.Node, index_prefix: str) -> Work:
    return Work(opensearch_node, index_prefix)


def test_items_are_claimed_once(work: Work) -> None:
    assert [work("offer", *item) for item in (("b", 1, 20), ("a", 1, 10), ("b", 1, 20), ("c", 1, 30))] == ["1", "1", "0", "1"]
    assert work.claim("one", 2) == [["a", "1", "10", "1", "0"], ["b", "1", "20", "1", "0"]]
    assert work.claim("two") == [["c", "1", "30", "1", "0"]]
    assert work.claim("one") == []
    leased = work.item("a")
    assert leased["owner"] == "one" and leased["state"] == "leased" and leased["source"] == "/logs"


def test_two_that_claim_at_once_share(work: Work) -> None:
    keys = {f"key-{number:02}" for number in range(24)}
    for number, key in enumerate(sorted(keys)):
        work("offer", key, 1, number)
    got: Dict[str, List[str]] = {"one": [], "two": [], "three": []}

    def crawl(owner: str) -> None:
        for _ in range(12):
            got[owner] += [item[0] for item in work.claim(owner, 4)]

    threads = [threading.Thread(target=crawl, args=(owner,)) for owner in got]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(got.values(), [])) == sorted(keys)


def test_a_lease_that_ended_goes_to_another(work: Work) -> None:
    work("offer", "a", 1, 10)
    (_,) = work.claim("one")
    before = work.item("a")["until_ms"]
    work.change("a", until_ms=1)
    assert work("renew", "a", 1, 1) == "held"  # as long as no other worker has taken it
    assert work.item("a")["until_ms"] >= before and work.claim("two") == []
    work.change("a", until_ms=1)
    assert work.claim("two") == [["a", "1", "10", "2", "0"]]
    assert work("renew", "a", 1, 1) == "lost"
    for late in ("release", "skip", "fail", "lasts"):
        work(late, "a", 1, 1)
    assert work.item("a")["owner"] == "two" and work.item("a")["state"] == "leased" and work.documents("err") == []
    work("release", "a", 1, 2)
    assert work.item("a")["state"] == "new" and "owner" in work.item("a") and work.item("a")["owner"] is None


def test_a_lease_is_over_only_after_the_grace(work: Work) -> None:
    work("offer", "a", 1, 10)
    work.claim("one")
    now_ms = work.item("a")["until_ms"] - LEASE_MS
    work.change("a", until_ms=now_ms - 2000)
    assert work.claim("two") == []
    work.change("a", until_ms=now_ms - 30000)
    assert len(work.claim("two")) == 1


def test_what_is_not_wanted_is_done(work: Work) -> None:
    work("offer", "a", 1, 10)
    (item,) = work.claim("one")
    work("skip", "a", 1, item[3])
    assert work.item("a")["state"] == "done" and work.documents("agg") == []
    assert work("offer", "a", 1, 10) == "0" and work("offer", "a", 2, 10) == "1"


def test_failures_are_due_later_and_then_dead(work: Work) -> None:
    work("offer", "a", 1, 10)
    for tried in range(TRIES):
        (item,) = work.claim("one")
        assert item[4] == str(tried)
        leased_ms = work.item("a")["until_ms"] - LEASE_MS
        work("fail", "a", 1, item[3])
        if tried + 1 < TRIES:
            later_ms = work.item("a")["next_ms"] - leased_ms
            assert abs(later_ms - PAUSE_MS * 4**tried) < 50000  # the cluster's clock, in seconds
            assert work.claim("two") == []
            work.change("a", next_ms=0)
    assert work.item("a")["state"] == "dead" and work.claim("one") == []
    assert len(work.documents("err")) == TRIES
    assert work("offer", "a", 1, 10) == "0" and work("offer", "a", 2, 10) == "1"
    (item,) = work.claim("one")
    assert item[1] == "2" and item[4] == "0"
    work("lasts", "a", 2, item[3])
    assert work.counts()[:5] == [0, 0, 0, 0, 1]
    assert work("retry") == "1" and work.counts()[:5] == [1, 0, 0, 0, 0]


def test_no_item_fails_without_its_error(work: Work) -> None:
    work("offer", "a", 1, 10)
    work.claim("one")
    for block in (True, False):
        assert work.node.call("PUT", f"/{work.prefix}-err/_settings", {"index.blocks.write": block}).status == 200
        work("lasts", "a", 1, 1, exit=1 if block else 0)
        assert work.item("a")["state"] == ("leased" if block else "dead")
    assert len(work.documents("err")) == 1
    work.change("a", state="leased")  # it ended before it could say that of the item
    work("lasts", "a", 1, 1)
    assert len(work.documents("err")) == 1


def test_new_items_come_first(work: Work) -> None:
    for key, end in (("leased", 1), ("failed", 2), ("new", 3)):
        work("offer", key, 1, end)
    work.change("leased", state="leased", until_ms=1, epoch=3)
    work.change("failed", state="failed", next_ms=5, tries=2)
    assert [item[0] for item in work.claim("one", 2)] == ["new", "failed"]
    assert work.claim("one", 2) == [["leased", "1", "1", "4", "0"]]


def test_an_answer_with_more_than_was_asked_for(work: Work) -> None:
    work("offer", "a", 1, 10)
    work("offer", "b", 1, 20)

    def swell(path: str, answer: Any) -> Any:
        if path.endswith("_search") and answer["hits"]["hits"]:
            answer["hits"]["hits"] = [answer["hits"]["hits"][0]] + 400 * answer["hits"]["hits"][1:]
            for hit in answer["hits"]["hits"]:
                hit["_source"]["epoch"] = 2**63 - 1
        return answer

    with Between(work.node.url, change=swell) as between:
        claimed = work.at(between.url, "claim", "one", 2).splitlines()
    assert claimed == [f"{key} 1 {end} {2**63 - 1} 0" for key, end in (("a", 10), ("b", 20))]


def test_counts(work: Work) -> None:
    assert work.counts() == [0, 0, 0, 0, 0, -1, -1]
    for key, end in (("a", 10), ("b", 20), ("c", 30)):
        work("offer", key, 1, end)
    work.change("a", state="done")
    assert work.counts()[:6] == [2, 0, 1, 0, 0, 19]
    work("listed")
    for key in "bc":
        work.change(key, state="done")
    counts = work.counts()
    assert counts[:6] == [0, 0, 3, 0, 0, 30] and counts[6] > 1600000000000
    assert work("offer", "b", 2, 20) == "1" and work.counts()[5] == 19


# ---- Recording under a lease -------------------------------------------------------------------------------------


def test_a_run_ends_its_item(work: Work) -> None:
    work("offer", "a", 1, 10)
    (item,) = work.claim("one")
    assert work("record", "a", 1, item[3], LOG) == "kept"
    assert work.item("a")["state"] == "done" and work.item("a")["source"] == "/logs" and work.item("a")["end_ms"] == 10
    (run,) = work.documents("agg")
    assert run["_version"] == 1 and run["_source"]["source"] == "/logs"
    assert "spark.master=local-cluster[2,2,1024]" in run["_source"]["properties"]
    assert work("record", "a", 1, item[3], LOG) == "late"  # the lease is over
    assert work("offer", "a", 1, 10) == "0"


def test_who_is_late_gives_up(work: Work) -> None:
    work("offer", "a", 1, 10)
    work.claim("one")
    work.change("a", until_ms=1)
    assert work.claim("two") == [["a", "1", "10", "2", "0"]]
    assert work("record", "a", 1, 1, LOG) == "late" and work.documents("agg") == []
    assert work("record", "a", 1, 2, LOG) == "kept"
    assert {hit["_version"] for index in ("agg", "raw", "rows") for hit in work.documents(index)} == {2}


def test_another_item_takes_a_run_over(work: Work) -> None:
    """Epochs are of items: that of another source, or of a server with another name, begins with 1 again."""
    work("offer", "a", 1, 10)
    work.change("a", epoch=2)
    assert work.claim("one") == [["a", "1", "10", "3", "0"]]
    assert work("record", "a", 1, 3, LOG) == "kept"
    work("offer", "b", 1, 10)
    assert work.claim("one") == [["b", "1", "10", "1", "0"]]
    assert work("record", "b", 1, 1, LOG) == "kept"
    assert {hit["_version"] for index in ("agg", "raw", "rows") for hit in work.documents(index)} == {3}
    assert work.item("b")["state"] == "done" and work.item("b")["epoch"] == 3
    work("offer", "a", 2, 10)
    assert work.claim("one") == [["a", "2", "10", "4", "0"]] and work("record", "a", 2, 4, LOG) == "kept"


@pytest.mark.parametrize("sent", [1, 2, 3], ids=["nothing", "the raw document", "rows"])
def test_who_is_overtaken_leaves_nothing(work: Work, tmp_path: Path, sent: int) -> None:
    """The first one looked before the second one claimed, and sends its raw document, rows, or the run only then."""
    shorter = tmp_path / "shorter"
    lines = zstandard.ZstdDecompressor().stream_reader(LOG.read_bytes()).read().splitlines(keepends=True)
    shorter.write_bytes(b"".join(lines[: len(lines) // 4]))
    wanted: Dict[str, List[Dict[str, Any]]] = {}
    work("offer", "a", 1, 10)
    work.claim("one")

    def overtake(path: str) -> Optional[int]:
        if path == "/_bulk" and between.paths.count(path) == sent:
            work.change("a", until_ms=1)
            assert work.claim("two") == [["a", "1", "10", "2", "0"]]
            assert work("record", "a", 1, 2, shorter) == "kept"
            wanted.update({index: work.documents(index) for index in ("raw", "rows", "agg", "work")})
        return None

    with Between(work.node.url, before=overtake) as between:
        assert work.at(between.url, "record", "a", 1, 1, LOG) == "late"
    assert {hit["_version"] for index in ("agg", "raw", "rows") for hit in wanted[index]} == {2}
    assert {index: work.documents(index) for index in wanted} == wanted
    if sent == 1:
        assert between.paths.count("/_bulk") == 1


def test_rows_of_a_writer_that_died_go(work: Work) -> None:
    work("offer", "a", 1, 10)
    work.claim("one")
    assert work("record", "a", 1, 1, LOG) == "kept"
    (run,) = work.documents("agg")
    count = len(work.documents("rows"))
    stray = {**next(hit["_source"] for hit in work.documents("rows") if hit["_source"]["kind"] == "finding"), "position": 99}
    path = f"/{work.prefix}-rows/_doc/stray?version=1&version_type=external_gte&refresh=true"
    assert work.node.call("PUT", path, stray).status == 201
    work.change("a", state="leased", epoch=2)
    assert work("record", "a", 2, 2, LOG) == "kept"
    assert len(work.documents("rows")) == count and {hit["_version"] for hit in work.documents("rows")} == {2}
    assert work.item("a")["stamp"] == "2" and run["_id"] == work.documents("agg")[0]["_id"]


def test_prune_removes_what_a_late_writer_left(work: Work, tmp_path: Path) -> None:
    """It dies between its rows and their removal; another one had no time to write the run."""
    shorter = tmp_path / "shorter"
    lines = zstandard.ZstdDecompressor().stream_reader(LOG.read_bytes()).read().splitlines(keepends=True)
    shorter.write_bytes(b"".join(lines[: len(lines) // 4]))
    wanted: List[Dict[str, Any]] = []
    work("offer", "a", 1, 10)
    work.claim("one")

    def overtake(path: str) -> Optional[int]:
        if path == "/_bulk" and between.paths.count(path) == 2:
            work.change("a", until_ms=1)
            work.claim("two")
            assert work("record", "a", 1, 2, shorter) == "kept"
            wanted.extend(work.documents("rows"))
        return 403 if wanted and path.endswith("/_refresh") else None

    with Between(work.node.url, before=overtake) as between:
        work.at(between.url, "record", "a", 1, 1, LOG, exit=1)
    rows = work.documents("rows")
    assert wanted and {hit["_source"]["epoch"] for hit in rows} == {1, 2}
    fresh = {**wanted[0]["_source"], "run": "app-without-a-run", "epoch": 1}
    for name, recorded_ms in (("new", fresh["recorded_ms"]), ("old", fresh["recorded_ms"] - 2 * 86_400_000)):
        path = f"/{work.prefix}-rows/_doc/{name}?version=1&version_type=external_gte&refresh=true"
        document = {**fresh, "run": f"{fresh['run']}-{name}", "recorded_ms": recorded_ms}
        assert work.node.call("PUT", path, document).status == 201
    for words, count in ((["--dry-run"], len(rows) + 2), ([], len(wanted) + 1)):
        command = [str(conftest.binary_path()), "store", "prune", f"opensearch:{work.node.url}/{work.prefix}", "--keep", "3650d"]
        subprocess.run([*command, *words], check=True, env={"HOME": "/nonexistent"}, stdout=subprocess.PIPE)
        assert len(work.documents("rows")) == count
    assert [hit for hit in work.documents("rows") if hit["_id"] != "new"] == wanted
    assert work("record", "-", 1, 0, LOG) == "kept"


def test_a_record_without_a_lease_fits_in(work: Work) -> None:
    work("offer", "a", 1, 10)
    work.claim("one")
    assert work("record", "a", 1, 1, LOG) == "kept"
    assert work("record", "-", 1, 0, LOG) == "kept" and work.documents("agg")[0]["_version"] == 1
    work("offer", "a", 2, 10)
    (item,) = work.claim("one")
    assert work("record", "a", 2, item[3], LOG) == "kept" and work.documents("agg")[0]["_version"] == 2
    assert work("record", "-", 1, 0, LOG) == "kept" and work.documents("agg")[0]["_version"] == 2
    environment = {"HOME": "/nonexistent", "PYROMETER_STORE": f"opensearch:{work.node.url}/{work.prefix}"}
    subprocess.run([str(conftest.binary_path()), "diagnose", str(LOG)], check=True, env=environment, stdout=subprocess.PIPE)
    assert work.documents("agg")[0]["_source"]["source"] == "/logs"  # where a crawler found it


def test_another_run_of_the_same_id_ends_the_item(work: Work, tmp_path: Path, small_log: Path) -> None:
    lines = small_log.read_text().splitlines(keepends=True)
    other = tmp_path / "other"
    other.write_text("".join(line.replace('"Timestamp":1', '"Timestamp":2') if "ApplicationStart" in line else line for line in lines))
    assert work("record", "-", 1, 0, small_log) == "kept"
    work("offer", "a", 1, 10)
    work.claim("one")
    assert work("record", "a", 1, 1, other) == "conflict"
    assert work.item("a")["state"] == "dead"
    (error,) = work.documents("err")
    assert error["_source"]["type"] == "id-conflict"
