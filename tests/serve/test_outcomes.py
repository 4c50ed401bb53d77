"""What became of a run: one word in reports, lists, pages, stores and tools; and runs that have one id."""

from __future__ import annotations

import json
import os
import shutil
import time
import urllib.request
from pathlib import Path
from typing import Any, Dict, List

import conftest
import pytest
import zstandard
from servers.pyrometer import Server

CORPUS = conftest.ROOT / "corpus" / "logs"
FAILED, COMPLETED = CORPUS / "job_failed_udf.zst", CORPUS / "data_skew.zst"
STREAMS = ("healthy_stream", "healthy_stream_windows", "stream_overrun")
DAY_S = 86_400


def text_of(path: Path) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()


def event(line: bytes, name: str) -> bool:
    return f'"SparkListener{name}"'.encode() in line[:60]


def id_of(lines: List[bytes]) -> str:
    return str(json.loads(next(line for line in lines if event(line, "ApplicationStart")))["App ID"])


def applications(server: Server, question: str = "") -> List[Dict[str, Any]]:
    return list(json.loads(server.request("GET", f"/pyrometer/v1/applications?limit=1000&{question}")[2])["applications"])


def outcomes(server: Server) -> Dict[str, str]:
    """By the name of the log."""
    return {Path(one["attempts"][0]["log"]).name: one["attempts"][0]["outcome"] for one in applications(server)}


def tool_says(server: Server, app: str) -> str:
    call = {"name": "diagnose", "arguments": {"app": app}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    request = urllib.request.Request(f"http://{server.host}:{server.port}/mcp", data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(json.loads(answer.read())["result"]["content"][0]["text"])


def test_every_way_says_the_same_word(tmp_path: Path) -> None:
    logs = sorted(CORPUS.glob("*.zst"))
    chosen = sorted({*logs[::8], *(log for log in logs if "fail" in log.name or log.stem in STREAMS or log.stem == "result_limit")})
    folder, store = tmp_path / "logs", tmp_path / "runs.sqlite"
    folder.mkdir()
    for log in chosen:
        shutil.copy(log, folder / log.name)
    reports = {log.name: conftest.run_on_log(log).json for log in chosen}
    expected = {name: report["application"]["outcome"] for name, report in reports.items()}
    assert {name[:-4]: expected[name] for name in (f"{stem}.zst" for stem in STREAMS)} == dict.fromkeys(STREAMS, "stopped")
    assert set(expected.values()) == {"completed", "job_failed", "failed", "stopped"}
    for log in chosen:
        word = expected[log.name].replace("_", " ")
        for form, before in (("text", "    "), ("markdown", "| ")):
            text = conftest.run_on_log(log, form=form).out.decode()
            assert f"{before}{word}" in text[:1500], (log.name, form)
    kinds = {name: report for name, report in reports.items() if name[:-4] in (*STREAMS, "result_limit", "data_skew")}
    command = [str(conftest.binary_path()), "diagnose", "--store", f"sqlite:{store}", *(str(folder / name) for name in kinds)]
    assert conftest.run_command(command).exit == 0
    kept = [str(conftest.binary_path()), "sql", "--format", "json", str(folder / "result_limit.zst"), "SELECT outcome FROM applications"]
    assert conftest.run_command(kept).json == [{"outcome": "job_failed"}]
    with Server(folder) as server:
        assert outcomes(server) == expected
        for name in ("result_limit.zst", "healthy_stream.zst"):
            said = tool_says(server, reports[name]["application"]["id"])
            assert f", {expected[name]}, took" in said, said[:300]
    with Server(Path(f"sqlite:{store}")) as server:
        by_id = {report["application"]["id"]: expected[name] for name, report in kinds.items()}
        assert {one["id"]: one["attempts"][0]["outcome"] for one in applications(server)} == by_id


@pytest.mark.parametrize("log", conftest.corpus_logs())
def test_stopped_streams_have_no_failed_job(log: Path) -> None:
    report = conftest.run_on_log(log).json
    outcome, rules = report["application"]["outcome"], {finding["rule"] for finding in report["findings"]}
    assert (report["application"]["status"] == "failed") == (outcome == "failed")
    assert outcome != "stopped" or "job-failed" not in rules
    assert (report["failure"] is not None) == (outcome in ("failed", "job_failed")), outcome


def test_the_last_job_is_found_wherever_it_is(tmp_path: Path) -> None:
    """In plain files it is looked for backwards: across pieces, across parts, before much else, and never in a text."""
    lines = text_of(FAILED).splitlines(keepends=True)
    app = id_of(lines)
    end = max(i for i, line in enumerate(lines) if event(line, "JobEnd"))
    assert b"JobFailed" in lines[end]
    trap = b'{"Event":"SparkListenerBlockUpdated","Block Updated Info":{"Note":"%s \\"SparkListenerJobEnd\\" JobSucceeded"}}\n'
    noise = [trap % (b"x" * (i % 300)) for i in range(14_000)]
    assert sum(map(len, noise)) > 3 << 20
    canceled = lines[end][: lines[end].index(b'"Job Result"')] + b'"Job Result":{"Result":"JobFailed","Exception":{"Message":"Job 3 cancelled as asked"}}}\n'
    last = max(i for i, line in enumerate(lines) if event(line, "ApplicationEnd"))
    code = json.loads(lines[last])
    variants = {
        "plain": (lines, "failed"),
        "far": ([*lines[: end + 1], *noise, *lines[end + 1 :]], "failed"),
        "succeeded": ([*lines[:end], lines[end][: lines[end].index(b'"Job Result"')] + b'"Job Result":{"Result":"JobSucceeded"}}\n', *noise, *lines[end + 1 :]], "completed"),
        "canceled": ([*lines[:end], canceled, *lines[end + 1 :]], "stopped"),
        "canceled_after": ([*lines[: end + 1], *noise[:9000], canceled, *noise, canceled, *lines[end + 1 :]], "failed"),
        "canceled_all": ([*(canceled if event(line, "JobEnd") else line for line in lines), *noise], "stopped"),
        "no_jobs": ([line for line in lines if not event(line, "JobEnd")], "completed"),
        "exit_code": ([*lines[:last], json.dumps({**code, "ExitCode": 0}).encode() + b"\n", *lines[last + 1 :]], "job_failed"),
        "exit_code_1": ([*lines[:last], json.dumps({**code, "ExitCode": 1}).encode() + b"\n", *lines[last + 1 :]], "failed"),
    }
    for name, (content, _) in variants.items():
        data = b"".join(content).replace(app.encode(), name.encode())
        (tmp_path / name).write_bytes(data)
        (tmp_path / f"{name}_zst.zstd").write_bytes(zstandard.ZstdCompressor().compress(data.replace(name.encode(), f"{name}_zst".encode())))
    rolling = tmp_path / "eventlog_v2_rolled"
    rolling.mkdir()
    (rolling / "appstatus_rolled").touch()
    parts = [lines[: end + 1], noise, [*noise[:10], *lines[end + 1 :]]]
    for i, part in enumerate(parts, 1):
        (rolling / f"events_{i}_rolled").write_bytes(b"".join(part).replace(app.encode(), b"rolled"))
    with Server(tmp_path) as server:
        shown = {one["id"]: one["attempts"][0]["outcome"] for one in applications(server)}
        for name, (_, expected) in variants.items():
            report = json.loads(server.request("GET", f"/pyrometer/v1/applications/{name}/-/report")[2])
            assert report["application"]["outcome"] == expected, name
    assert shown == {
        **{name: expected for name, (_, expected) in variants.items()},
        **{f"{name}_zst": expected for name, (_, expected) in variants.items()},
        "rolled": "failed",
    }


def test_logs_without_an_end(tmp_path: Path) -> None:
    """Truncated, or running by their name unless they have not grown for a day; then they end at their last event."""
    lines = text_of(COMPLETED).splitlines(keepends=True)
    app = id_of(lines)
    stop = len(lines) * 2 // 3
    cut = [line for line in lines[:stop] if not event(line, "ApplicationEnd")]
    now = time.time()
    for name, age_s in (("fresh.inprogress", 0.0), ("stale.inprogress", 2 * DAY_S), ("stale", 2 * DAY_S), ("fresh", 3600.0)):
        path = tmp_path / name
        path.write_bytes(b"".join(cut).replace(app.encode(), name.encode()))
        os.utime(path, (now - age_s, now - age_s))
    shutil.copy(COMPLETED, tmp_path / COMPLETED.name)
    closed = tmp_path / "closed.inprogress"
    closed.write_bytes(b"".join(lines).replace(app.encode(), closed.name.encode()))
    expected = {"closed.inprogress": "completed", "fresh.inprogress": "running", "fresh": "truncated", "stale.inprogress": "truncated", "stale": "truncated", COMPLETED.name: "completed"}
    with Server(tmp_path) as server:
        assert outcomes(server) == expected
        for state in ("completed", "running", "truncated", "failed"):
            named = {Path(one["attempts"][0]["log"]).name for one in applications(server, f"status={state}")}
            assert named == {name for name, outcome in expected.items() if outcome == state}
        listed = applications(server)
        assert listed[0]["id"] == "fresh.inprogress"
        for name, outcome in expected.items():
            log = tmp_path / name
            served = next(one["id"] for one in listed if one["attempts"][0]["log"] == str(log))
            report = json.loads(server.request("GET", f"/pyrometer/v1/applications/{served}/-/report")[2])
            own = conftest.run_command([str(conftest.binary_path()), "diagnose", "--format", "json", str(log)])
            assert report["application"]["outcome"] == outcome == own.json["application"]["outcome"], name
        ended = next(one["attempts"][0] for one in listed if one["id"] == app)
        lost = next(one["attempts"][0] for one in listed if one["id"] == "stale")
        assert lost["start_ms"] < lost["last_event_ms"] <= ended["end_ms"] == ended["last_event_ms"]
        assert all(one["attempts"][0]["completed"] is (one["id"] == app) for one in listed)
        spark = {one["id"]: one["attempts"][0]["completed"] for one in json.loads(server.get("applications")[2])}
        assert spark == {one["id"]: one["id"] == app for one in listed}, "in Spark's own words"
    os.utime(tmp_path / "fresh.inprogress", (now - 3600, now - 3600))
    with Server(tmp_path, "--stale-after", "30m") as server:
        assert outcomes(server) == {**expected, "fresh.inprogress": "truncated"}
        report = json.loads(server.request("GET", "/pyrometer/v1/applications/fresh.inprogress/-/report")[2])
        assert report["application"]["outcome"] == "truncated"
    for wrong in ("soon", "0s", "-1h"):
        run = conftest.run_command([str(conftest.binary_path()), "serve", str(tmp_path), "--stale-after", wrong])
        assert run.exit == 2 and b"--stale-after" in run.err


@pytest.fixture(name="twins", scope="module")
def make_twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with one id, and a copy of the first."""
    folder = tmp_path_factory.mktemp("twins")
    first, second = text_of(COMPLETED), text_of(FAILED)
    ids = [id_of(text.splitlines(keepends=True)).encode() for text in (first, second)]
    (folder / "first").write_bytes(first.replace(ids[0], b"twin"))
    (folder / "copy_of_first").write_bytes(first.replace(ids[0], b"twin"))
    (folder / "second").write_bytes(second.replace(ids[1], b"twin"))
    return folder


def test_two_runs_with_one_id_are_both_there(twins: Path) -> None:
    with Server(twins) as server:
        document = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])
        listed = {one["id"]: one["attempts"][0] for one in document["applications"]}
        starts = sorted(one["start_ms"] for one in listed.values())
        assert set(listed) == {"twin", f"twin~{starts[0]}"}, "the newest keeps the id"
        assert listed["twin"]["start_ms"] == starts[1]
        assert [Path(one["path"]).name for one in document["unreadable"]] in (["copy_of_first"], ["first"])
        names = {}
        for name in (*listed, f"twin~{starts[1]}"):
            report = json.loads(server.request("GET", f"/pyrometer/v1/applications/{name}/-/report")[2])
            spark = json.loads(server.get(f"applications/{name}")[2])
            names[name] = report["application"]["name"]
            assert report["application"]["start_ms"] == spark["attempts"][0]["startTimeEpoch"] == listed.get(name, listed["twin"])["start_ms"]
        assert names["twin"] == names[f"twin~{starts[1]}"] != names[f"twin~{starts[0]}"]
        for wrong in ("twin~", "twin~1", "twin~x", f"twin~0{starts[0]}", "~"):
            assert server.get(f"applications/{wrong}")[0] == 404
