"""Files that passed through Windows or PowerShell: a byte order mark, UTF-16, carriage returns. They say what they said before."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict

import cramjam
import pytest

import conftest

FORMS: Dict[str, Callable[[bytes], bytes]] = {
    "mark": lambda text: b"\xef\xbb\xbf" + text,
    "crlf": lambda text: text.replace(b"\n", b"\r\n"),
    "utf-16-le": lambda text: b"\xff\xfe" + text.decode().encode("utf-16-le"),
    "utf-16-be": lambda text: b"\xfe\xff" + text.decode().encode("utf-16-be"),
    "powershell": lambda text: b"\xff\xfe" + text.decode().replace("\n", "\r\n").encode("utf-16-le"),
}
WRAPPERS: Dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".zst": lambda text: bytes(cramjam.zstd.compress(text))}
LOG = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"
TEXT_LOG = """24/03/01 10:15:02 INFO SparkContext: Running Spark version 3.5.1
24/03/01 10:15:03 ERROR Executor: Exception in task 3.0 in stage 1.0 (TID 7)
java.lang.IllegalStateException: größer als erlaubt 🙂
\tat com.example.Job.run(Job.scala:10)
24/03/01 10:15:04 WARN TaskSetManager: Lost task 3.0 in stage 1.0 (TID 7) (h1 executor 1): java.lang.IllegalStateException: größer
"""
YARN_LOG = f"""Container: container_1700000000001_0002_01_000003 on h1.example_45454
LogAggregationType: AGGREGATED
==================================================================
LogType:stderr
LogLastModifiedTime:Fri Mar 01 10:15:02 +0000 2024
LogLength:{len(TEXT_LOG.encode())}
LogContents:
{TEXT_LOG}
End of LogType:stderr
***********************************************************************
"""
GC_LOG = "".join(f"[2024-03-01T10:15:{i:02}.100+0000][{i}.100s][info][gc] GC({i}) Pause Young (Normal) (G1 Evacuation Pause) "
                 f"{20 + i}M->{10 + i}M(256M) {i}.500ms\n" for i in range(1, 9))
FOLDED = "main;com.example.Job.run;com.example.größer 17\nmain;com.example.Job.run 3\n"


def with_name(folder: Path, name: str, text: bytes) -> Path:
    path = folder / name
    path.write_bytes(text)
    return path


def without_places(document: Any) -> Any:
    """Sizes and offsets of what was decoded differ where characters were added."""
    document["integrity"].pop("bytes", None)
    for key in ("source", "input", "log", "path"):
        document.pop(key, None)
    return document


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_event_logs(diagnose: Any, tmp_path: Path, form: str, wrapper: str) -> None:
    plain = bytes(cramjam.zstd.decompress(LOG.read_bytes()))
    expected = without_places(diagnose(with_name(tmp_path, "log", plain)).json)
    run = diagnose(with_name(tmp_path, "log", WRAPPERS[wrapper](FORMS[form](plain))))
    assert run.exit == 0, run.explain()
    assert without_places(run.json) == expected


def errors(binary: str, path: Path) -> Any:
    run = conftest.run_command([binary, "logs", "errors", "--format", "json", str(path)])
    assert run.exit == 0, run.explain()
    return run.json["errors"], run.json["records"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [TEXT_LOG, YARN_LOG], ids=["text log", "YARN"])
def test_text_logs(binary: str, tmp_path: Path, form: str, text: str) -> None:
    expected = errors(binary, with_name(tmp_path, "stderr", text.encode()))
    assert "🙂" in json.dumps(expected, ensure_ascii=False)
    for wrap in WRAPPERS.values():
        assert errors(binary, with_name(tmp_path, "stderr", wrap(FORMS[form](text.encode())))) == expected
    with (tmp_path / "stderr").open("rb") as stream:
        run = conftest.run_command([binary, "logs", "errors", "--format", "json", "-"], stdin=stream)
    assert [row["count"] for row in run.json["errors"]] == [row["count"] for row in expected[0]], run.explain()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("stderr", FORMS[form](text.encode()))
    found = errors(binary, with_name(tmp_path, "logs.zip", packed.getvalue()))
    assert found[1] == expected[1]


def test_progress_bars_split_lines(binary: str, tmp_path: Path) -> None:
    bars = "".join(f"\r[Stage {i}:======>         ({i} + 2) / 200]" for i in range(40))
    lines = TEXT_LOG.splitlines(keepends=True)
    expected = errors(binary, with_name(tmp_path, "stderr", TEXT_LOG.encode()))
    mixed = bars + "\r" + bars.join(lines[:1]) + bars + "\r" + "".join(lines[1:]) + bars
    found = errors(binary, with_name(tmp_path, "stderr", mixed.encode()))
    assert [row["count"] for row in found[0]] == [row["count"] for row in expected[0]]
    assert [row["root"] for row in found[0]] == [row["root"] for row in expected[0]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name,text", [("a.gc", GC_LOG), ("a.folded", FOLDED)], ids=["gc", "folded"])
def test_files_of_a_run(binary: str, tmp_path: Path, form: str, name: str, text: str) -> None:
    """Next to an event log."""
    (tmp_path / "log.zst").write_bytes(LOG.read_bytes())
    statement = ("SELECT kind, count(*), sum(duration_ns) FROM spans GROUP BY kind" if name == "a.gc"
                 else "SELECT count(*), sum(weight) FROM samples")
    answers = []
    for data in (text.encode(), *(wrap(FORMS[form](text.encode())) for wrap in WRAPPERS.values())):
        (tmp_path / name).write_bytes(data)
        run = conftest.run_command([binary, "sql", str(tmp_path), statement, "--format", "json"])
        assert run.exit == 0, run.explain()
        answers.append(run.json)
    assert "gc-pause" in json.dumps(answers[0]) or name == "a.folded"
    assert all(answer == answers[0] for answer in answers)


def test_what_is_no_character(binary: str, diagnose: Any, tmp_path: Path) -> None:
    """Halves of characters, and an odd byte at the end."""
    plain = bytes(cramjam.zstd.decompress(LOG.read_bytes())).decode()
    data = b"\xff\xfe" + plain.encode("utf-16-le") + b"\x3d\xd8\n\0{\0\xd8\xdc\0\xd8\0"
    run = diagnose(with_name(tmp_path, "log", data))
    assert run.exit == 0 and run.json["integrity"]["bad_lines"] > 0, run.explain()
    for cut in range(1, 9):
        run = diagnose(with_name(tmp_path, "log", data[:cut]))
        assert run.exit == 3 and not run.timed_out, run.explain()
