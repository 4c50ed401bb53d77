"""Words and units in the text of reports: sizes as people read them, and bounds that say what they assume."""

from __future__ import annotations

from pathlib import Path

import conftest
import pytest
import zstandard


@pytest.mark.parametrize("log", conftest.corpus_logs(["aqe_off", "broadcast_threshold", "data_skew"]))
def test_bounds_and_evidence(log: Path) -> None:
    text, report = conftest.run_on_log(log, form="text").out.decode(), conftest.run_on_log(log).json
    assert "  the same work with unlimited cores" in text and "  the task time spread evenly over these cores\n" in text
    assert "spared task" not in text
    metrics = {evidence["metric"] for finding in report["findings"] for evidence in finding["evidence"]}
    assert ("saved task time" in " ".join(text.split())) == ("spared_task_ms" in metrics)


def test_the_limit_of_broadcasts_has_a_unit(tmp_path: Path) -> None:
    with (conftest.ROOT / "corpus" / "logs" / "join_sorted.zst").open("rb") as packed:
        lines = zstandard.ZstdDecompressor().stream_reader(packed).read()
    changed = lines.replace(b'"spark.sql.autoBroadcastJoinThreshold":"-1"', b'"spark.sql.autoBroadcastJoinThreshold":"10240"')
    assert changed != lines
    (tmp_path / "log").write_bytes(changed)
    report = conftest.run_command([str(conftest.binary_path()), "diagnose", "--format", "json", str(tmp_path / "log")]).json
    sentences = [advice["text"] for finding in report["findings"] for advice in finding["advice"] if "of this size" in advice["text"]]
    assert sentences and all("the limit is 10.0 KiB" in sentence for sentence in sentences), sentences
