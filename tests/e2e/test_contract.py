"""The promises of the command line: exit codes, schemas, standard input, several logs, determinism, plain text."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, List

import logfiles
import pytest
from conftest import ROOT, Run, log_paths, run_command, run_on_log
from schemas import schemas, validate, validator

def numbers(run: Run) -> Any:
    """A report without what may name the container that the log came in."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in ("path", "codec")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    assert run.exit == 0, run.explain()
    return strip(run.json)


@pytest.fixture(scope="module")
def some_logs() -> List[Path]:
    """One log of each kind among those committed."""
    found = log_paths(ROOT / "tests" / "logs")
    if len(found) < 2:
        pytest.skip("fewer than two logs in tests/logs")
    return found


# ---- exit codes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-verb"],
        ["diagnose"],
        ["diagnose", "--no-such-option", "x"],
        ["diagnose", "--format", "no-such-format", "x"],
        ["diagnose", "x", "--format"],
        ["diagnose", "-", "-"],
    ],
)
def test_bad_usage_is_2(binary: str, arguments: List[str]) -> None:
    run = run_command([binary, *arguments])
    assert run.exit == 2, run.explain()
    assert run.out == b"" and run.err, run.explain()


def test_help_is_0(binary: str) -> None:
    for arguments in (["help"], ["--help"], ["diagnose", "--help"], ["version"], ["--version"]):
        run = run_command([binary, *arguments])
        assert run.exit == 0 and run.out and not run.err, run.explain()


def test_unreadable_input_is_3_with_one_line(diagnose: Callable[..., Run], tmp_path: Path) -> None:
    run = diagnose(tmp_path / "missing")
    assert run.exit == 3 and run.out == b"", run.explain()
    assert run.err.count(b"\n") == 1, run.explain()
    assert str(tmp_path / "missing").encode() in run.err, run.explain()


def test_unwritable_output_is_4(binary: str, small_log: Path, tmp_path: Path) -> None:
    for output in (tmp_path / "no folder" / "report", Path("/dev/full")):
        if output == Path("/dev/full") and not output.exists():
            continue
        run = run_command([binary, "diagnose", str(small_log), "--format", "json", "-o", str(output)])
        assert run.exit == 4, run.explain()
        assert run.err.count(b"\n") == 1, run.explain()


def test_full_stdout_is_4(binary: str, small_log: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full does not exist here")
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [binary, "diagnose", "--format", "json", str(small_log)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert process.returncode == 4, process.stderr


def test_output_file(binary: str, small_log: Path, tmp_path: Path) -> None:
    for output_format in ("json", "text"):
        output = tmp_path / output_format
        printed = run_command([binary, "diagnose", "--format", output_format, str(small_log)])
        written = run_command([binary, "diagnose", "--format", output_format, str(small_log), "-o", str(output)])
        assert printed.exit == written.exit == 0, written.explain()
        assert written.out == b"" and output.read_bytes() == printed.out


# ---- documents --------------------------------------------------------------------------------------------------


def test_schemas_are_committed_and_valid() -> None:
    assert schemas(), "docs/schema holds no JSON Schema"
    for file in schemas():
        validator(file)  # which checks the schema itself


def test_references_to_other_schemas_are_found_next_to_the_file() -> None:
    """An $id without a host would be their base instead of the file's own address."""
    linked = {name: schema for name, schema in schemas().items() if '"$ref": "pyrometer.' in json.dumps(schema)}
    assert "pyrometer.reports-1.json" in linked
    assert [name for name, schema in linked.items() if "$id" in schema] == []


def test_report_follows_its_schema(log_path: Path) -> None:
    run = run_on_log(log_path)
    if run.exit == 3:
        assert run.err.count(b"\n") == 1, run.explain()
        return
    assert run.exit == 0, run.explain()
    document = run.json
    validate(document)
    for report in document.get("reports", [document]):
        findings = report["findings"]
        assert len({finding["id"] for finding in findings}) == len(findings), "two findings with one id"
        for finding in findings:
            low, expected, high = (finding["saves"]["wall_ms"][key] for key in ("low", "expected", "high"))
            assert 0 <= low <= expected <= high <= max(report["accounting"]["wall"]["total_ms"], 0)
            assert 0 <= finding["confidence"] <= 1
            assert finding["severity"] in ("critical", "severe", "moderate", "low")


def test_other_verbs_give_json(binary: str) -> None:
    for verb in (["rules"], ["rules", "data-skew"], ["doctor"]):
        run = run_command([binary, *verb, "--format", "json"])
        assert run.exit == 0, run.explain()
        document = run.json
        validate(document)


def test_several_logs(diagnose: Callable[..., Run], some_logs: List[Path], tmp_path: Path) -> None:
    first, second = some_logs[0], some_logs[1]
    missing = tmp_path / "missing"
    run = diagnose(first, missing, second)
    assert run.exit == 0, run.explain()
    document = run.json
    assert document["schema"] == "pyrometer.reports/1"
    validate(document)
    single = [diagnose(path).json for path in (first, second)]
    assert document["reports"] == single
    assert [row["path"] for row in document["unreadable"]] == [str(missing)]
    assert document["unreadable"][0]["error"]


def test_several_logs_all_unreadable_is_3(diagnose: Callable[..., Run], tmp_path: Path) -> None:
    run = diagnose(tmp_path / "a", tmp_path / "b")
    assert run.exit == 3, run.explain()


def test_folder_of_logs(diagnose: Callable[..., Run], small_log: Path, tmp_path: Path) -> None:
    shutil.copy(small_log, tmp_path / "one")
    shutil.copy(small_log, tmp_path / "two")
    (tmp_path / ".two.crc").write_bytes(b"crc")
    document = diagnose(tmp_path).json
    assert document["schema"] == "pyrometer.reports/1"
    assert len(document["reports"]) == 2


# ---- the same log, the same numbers -----------------------------------------------------------------------------


def test_standard_input(binary: str, diagnose: Callable[..., Run], small_log: Path) -> None:
    from_file = numbers(diagnose(small_log))
    with open(small_log, "rb") as stream:
        from_stdin = diagnose("-", stdin=stream)
    assert numbers(from_stdin) == from_file
    with subprocess.Popen(["cat", str(small_log)], stdout=subprocess.PIPE) as pipe:
        from_pipe = diagnose("-", stdin=pipe.stdout)
    assert numbers(from_pipe) == from_file


def test_empty_standard_input_is_3(diagnose: Callable[..., Run]) -> None:
    run = diagnose("-")
    assert run.exit == 3 and run.err.count(b"\n") == 1, run.explain()


def threads_of(log: Path) -> List[int]:
    """One thread and four for every log, more numbers for every eighth."""
    return [1, 4] if hash_of(log) % 8 else [1, 2, 3, 4, 8]


def hash_of(log: Path) -> int:
    return zlib.crc32(log.name.encode())


def test_threads_do_not_show(log_path: Path) -> None:
    for form in ("json", "text"):
        runs = [run_on_log(log_path, form=form, threads=threads) for threads in (0, *threads_of(log_path))]
        assert len({run.exit for run in runs}) == 1
        assert len({run.out for run in runs}) == 1, f"{form} depends on --threads"


@pytest.mark.parametrize("codec", sorted(logfiles.ENCODERS))
def test_compression_does_not_show(diagnose: Callable[..., Run], small_log: Path, tmp_path: Path, codec: str) -> None:
    data = small_log.read_bytes()
    packed = tmp_path / "packed"
    encoded = logfiles.ENCODERS[codec](data)
    decode = logfiles.codec_of(encoded[:16])
    assert decode is not None and decode(encoded) == (data, False)
    packed.write_bytes(encoded)
    assert numbers(diagnose(packed)) == numbers(diagnose(small_log))
    if codec in ("zstd", "gzip", "lz4"):  # several streams joined are one
        packed.write_bytes(encoded + logfiles.ENCODERS[codec](b""))
        assert numbers(diagnose(packed)) == numbers(diagnose(small_log))


def test_layout_does_not_show(diagnose: Callable[..., Run], small_log: Path, tmp_path: Path) -> None:
    """One log as a single file, as a rolling one, as Databricks would keep it, and each of them in a zip archive."""
    import gzip
    import zipfile

    lines = small_log.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    parts = b"".join(lines[:half]), b"".join(lines[half:])
    expected = numbers(diagnose(small_log))

    rolling = tmp_path / "eventlog_v2_app-1"
    rolling.mkdir()
    (rolling / "appstatus_app-1").touch()
    (rolling / "events_1_app-1").write_bytes(parts[0])
    (rolling / "events_2_app-1.zstd").write_bytes(logfiles.encode_zstd(parts[1]))
    databricks = tmp_path / "databricks"
    databricks.mkdir()
    (databricks / "eventlog-2026-01-02--03-00.gz").write_bytes(gzip.compress(parts[0]))
    (databricks / "eventlog").write_bytes(parts[1])
    archive = tmp_path / "single.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stream:
        stream.write(small_log, small_log.name)
    rolling_archive = tmp_path / "rolling.zip"
    with zipfile.ZipFile(rolling_archive, "w") as stream:
        for path in sorted(rolling.iterdir()):
            stream.write(path, f"{rolling.name}/{path.name}")
    for path in (rolling, databricks, archive, rolling_archive):
        assert numbers(diagnose(path)) == expected, path.name


# ---- text -------------------------------------------------------------------------------------------------------


def test_text_is_plain_and_narrow_in_a_pipe(log_path: Path) -> None:
    run = run_on_log(log_path, form="text")
    if run.exit == 3:
        return
    assert run.exit == 0, run.explain()
    assert run.err == b"", "progress belongs on a terminal only"
    text = run.out.decode("utf-8")
    assert "\x1b" not in text and "\r" not in text and "\t" not in text
    wide = [line for line in text.splitlines() if len(line) > 80]
    assert not wide, "\n".join(wide[:10])
    assert not [line for line in text.splitlines() if line != line.rstrip()], "trailing blanks"


def test_closed_pipe_is_no_crash(binary: str, small_log: Path) -> None:
    process = subprocess.Popen(
        [binary, "diagnose", "--format", "json", str(small_log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    process.wait(timeout=20)
    # Ended by SIGPIPE as any filter, or exit 4: never a crash.
    assert process.returncode in (0, 4, -13), process.returncode
    if process.stderr:
        process.stderr.close()
