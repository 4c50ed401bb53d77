"""Uploads cost what they weigh: of text, of lines, of processor time. Links lead nowhere."""

from __future__ import annotations

import http.client
import json
import os
import signal
import struct
from pathlib import Path
from typing import Any, Dict, Tuple

import cramjam
from servers.pyrometer import Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"
MB = 1 << 20
START = b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"app-a","Timestamp":1,"User":"eve"}\n'


def upload(server: Server, body: bytes) -> Tuple[int, Any, Dict[str, str]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        connection.request("POST", "/pyrometer/v1/uploads?name=x", body=body)
        response = connection.getresponse()
        return response.status, json.loads(response.read()), dict(response.getheaders())
    finally:
        connection.close()


def refusal(server: Server, body: bytes) -> str:
    status, document, _ = upload(server, body)
    assert status == 422, document
    return str(document["error"]["message"])


def zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


def ballast(size: int) -> bytes:
    """A frame of zstd that stands for nothing."""
    return struct.pack("<II", 0x184D2A50, size) + bytes(size)


def metric(server: Server, name: str) -> float:
    return server.metrics()[name]


def test_limits_and_their_options(tmp_path: Path) -> None:
    lines = START + (b" " * 999_999 + b"\n") * 100
    with Server(tmp_path) as server:
        zeros = zstd(bytes(100 * MB))
        assert len(zeros) < 20_000 and "decompresses to more than 67108864 bytes" in refusal(server, zeros[:])
        assert "--max-upload-ratio" in refusal(server, zstd(lines))
        assert upload(server, zstd(lines) + ballast(300_000))[0] == 201
        assert "--max-upload-line" in refusal(server, zstd(START.replace(b"app-a", b"app-b") + bytes(65 * MB)) + ballast(100_000))
        assert metric(server, "pyrometer_upload_cpu_seconds_total") > 0
    with Server(tmp_path, "--max-upload-ratio", "1000000", "--max-upload-line", "10K") as server:
        assert "more than 10240 bytes" in refusal(server, zstd(lines))
        assert upload(server, START + b"x" * 10_000)[0] == 201


def test_processor_time(tmp_path: Path) -> None:
    piece = zstd((b" " * (MB - 1) + b"\n") * 64)
    with Server(tmp_path, "--upload-cpu", "1", "--user-cpu", "1") as server:
        assert upload(server, START)[0] == 201
        status, document, _ = upload(server, zstd(b'{"Event":"Other"}\n') + ballast(40 * MB) + piece * 600)
        assert status == 429 and "--upload-cpu" in document["error"]["message"]
        status, document, headers = upload(server, LOG.read_bytes())
        assert status == 429 and "--user-cpu" in document["error"]["message"]
        assert int(headers["Retry-After"]) >= 1
        assert metric(server, "pyrometer_uploads_too_costly_total") == 2


def test_links_lead_nowhere(tmp_path: Path) -> None:
    outside, folder, root = tmp_path / "outside", tmp_path / "folder", tmp_path / "root"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret").write_bytes(LOG.read_bytes())
    (folder / "own").write_bytes(conftest.ROOT.joinpath("corpus/logs/data_skew.zst").read_bytes())
    (folder / "within").symlink_to(folder / "own")
    (folder / "linked").symlink_to(outside / "secret")
    (folder / "relative").symlink_to("../outside/secret")
    (folder / "twice").symlink_to("linked")
    rolling = folder / "eventlog_v2_app-1"
    rolling.mkdir()
    (rolling / "events_1_app-1").symlink_to(outside / "secret")
    (folder / "gone").symlink_to(tmp_path / "gone")
    root.symlink_to(folder)  # what is named may be a link
    cache = tmp_path / "cache"

    def listed(*options: str) -> Tuple[set[str], Dict[str, str]]:
        with Server(root, "--cache", str(cache), *options) as server:
            document = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])
            for app in document["applications"]:
                assert server.get(f"applications/{app['id']}/jobs")[0] == 200
            names = {app["name"] for app in document["applications"]}
            return names, {os.path.basename(row["path"]): row["error"] for row in document["unreadable"]}

    for _ in range(2):  # the second time what was found is remembered
        names, unreadable = listed()
        assert names == {"data_skew"}
        for name in ("linked", "relative", "twice", "events_1_app-1"):
            assert "leads out of the folder" in unreadable[name] and "--follow-links" in unreadable[name], unreadable
        names, unreadable = listed("--follow-links")
        assert names == {"data_skew", "healthy_sql"}


def test_a_file_that_becomes_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(LOG.read_bytes())
    (folder / "log").write_bytes(LOG.read_bytes())
    with Server(folder, "--update-interval", "1d") as server:
        one = json.loads(server.get("applications")[2])[0]["id"]
        (folder / "log").unlink()
        (folder / "log").symlink_to(tmp_path / "secret")
        assert server.get(f"applications/{one}/jobs")[0] != 200


def test_archives_on_the_command_line(tmp_path: Path) -> None:
    import zipfile  # noqa: PLC0415

    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("log", START + (b" " * (16 * MB - 1) + b"\n") * 5)
    run = conftest.run_command([str(conftest.binary_path()), "diagnose", str(bomb)])
    assert run.exit == 3 and b"decompresses to more than" in run.err and b"--no-input-limits" in run.err
    run = conftest.run_command([str(conftest.binary_path()), "diagnose", "--no-input-limits", str(bomb)])
    assert run.exit == 0, run.err
    (tmp_path / "bomb.zst").write_bytes(zstd(START + (b" " * (16 * MB - 1) + b"\n") * 5))
    run = conftest.run_command([str(conftest.binary_path()), "sql", str(tmp_path / "bomb.zst"), "SELECT 1"])
    assert run.exit == 3 and b"--no-input-limits" in run.err


def test_a_terminal_that_goes_leaves_nothing(tmp_path: Path) -> None:
    """The folder of uploads is one of the server's own, below $TMPDIR."""
    before = os.environ.get("TMPDIR")
    own = tmp_path / "tmp"
    own.mkdir()
    (tmp_path / "logs").mkdir()
    os.environ["TMPDIR"] = str(own)
    try:
        for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGTERM):
            server = Server(tmp_path / "logs")
            assert upload(server, LOG.read_bytes())[0] == 201
            assert list(own.iterdir())
            assert server.stop(number) == 0
            assert not list(own.iterdir())
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
