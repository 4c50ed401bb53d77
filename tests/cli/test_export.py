"""pyrometer export --anonymized: the same diagnosis, and no private words."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from cli_command import ROOT, Command, pyrometer  # noqa: F401  (fixture)

LOGS = ROOT / "corpus" / "logs"
NAMES = ("data_skew", "straggler", "disk_spill", "task_failures", "executor_lost", "healthy_stream", "small_input_files")
NUMBERS = ("totals", "accounting", "bounds", "memory", "executors")


def export(pyrometer: Command, log: Path, target: Path) -> str:  # noqa: F811
    run = pyrometer("export", log, "--anonymized", "-o", target)
    assert run.returncode == 0, run.stderr
    return target.read_text(encoding="utf-8")


def report(pyrometer: Command, log: Path) -> dict:  # noqa: F811
    return json.loads(pyrometer("diagnose", "-f", "json", log).stdout)


@pytest.mark.parametrize("name", NAMES)
def test_the_diagnosis_stays(pyrometer: Command, tmp_path: Path, name: str) -> None:  # noqa: F811
    log = LOGS / f"{name}.zst"
    export(pyrometer, log, tmp_path / "shared.log")
    before, after = report(pyrometer, log), report(pyrometer, tmp_path / "shared.log")
    for section in NUMBERS:
        old, new = json.dumps(before[section]), json.dumps(after[section])
        assert re.sub(r'"host": "[^"]*"', "", old) == re.sub(r'"host": "[^"]*"', "", new)
    assert before["integrity"]["events"] == after["integrity"]["events"]
    assert after["integrity"]["bad_lines"] == 0
    found = [[(one["rule"], one["severity"], one["saves"]) for one in document["findings"]] for document in (before, after)]
    assert found[0] == found[1]


def secrets() -> str:
    """A small log whose every text is private."""
    stage = {
        "Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "count at PayrollSecret.scala:12", "Number of Tasks": 1,
        "RDD Info": [{"RDD ID": 0, "Name": "hdfs://vault.acme.internal:8020/salaries/2024", "Scope": '{"id":"1234","name":"Scan acmeTable"}',
                      "Parent IDs": [], "Storage Level": {"Use Disk": False, "Use Memory": False, "Deserialized": False, "Replication": 1},
                      "Number of Partitions": 1, "Number of Cached Partitions": 0, "Memory Size": 0, "Disk Size": 0}],
        "Parent IDs": [], "Details": "com.acme.PayrollSecret$.main(PayrollSecret.scala:12)\norg.apache.spark.sql.Dataset.count(Dataset.scala:3616)",
        "Submission Time": 1700000001000, "Accumulables": [],
    }
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "payroll-acme", "App ID": "application_1699999999999_0042",
         "Timestamp": 1700000000000, "User": "jdoe"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {
            "spark.executor.memory": "512m", "spark.app.name": "payroll-acme", "spark.acme.apiKey": "s3cr3t-t0ken-ZZ9",
            "spark.hadoop.fs.s3a.secret.key": "AKIAIOSFODNN7EXAMPLE", "spark.driver.host": "ip-10-11-12-13.acme.internal"},
         "JVM Information": {}, "System Properties": {"user.name": "jdoe"}, "Classpath Entries": {"/opt/acme/payroll.jar": "System Classpath"},
         "Hadoop Properties": {}, "Metrics Properties": {}},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1700000000500, "Executor ID": "1",
         "Executor Info": {"Host": "ip-10-11-12-13.acme.internal", "Total Cores": 2, "Log Urls": {"stdout": "http://10.11.12.13:8042/jdoe"}}},
        {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 0,
         "description": "select * from salaries where ssn = 123456789 and boss = 'M\u00fcller'", "details": "", "time": 1700000000900,
         "physicalPlanDescription": "== Physical Plan ==\nFilter (ssn#1 = 123456789)\n+- Exchange hashpartitioning(ssn#1, 200)",
         "sparkPlanInfo": {"nodeName": "Filter", "simpleString": "Filter (boss#2 = Miller)", "children": [], "metadata": {}, "metrics": []}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage, "Properties": {"spark.job.description": "pay jdoe"}},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
         "Task End Reason": {"Reason": "ExceptionFailure", "Class Name": "com.acme.SalaryException",
                             "Description": "Jane Doe of +41 79 123 45 67 earns 98765 on 10.11.12.13, exit code 137", "Stack Trace": [],
                             "Full Stack Trace": "com.acme.SalaryException: Jane\n\tat java.lang.Thread.run(Thread.java:840)"},
         "Task Info": {"Task ID": 0, "Index": 0, "Attempt": 0, "Launch Time": 1700000001000, "Executor ID": "1",
                       "Host": "ip-10-11-12-13.acme.internal", "Locality": "ANY", "Speculative": False, "Getting Result Time": 0,
                       "Finish Time": 1700000002000, "Failed": True, "Killed": False, "Accumulables": []}},
        {"Event": "com.acme.AuditEvent", "who": "jdoe"},
    ]
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events) + '{"Event":"SparkListenerJob'


WORDS = ("acme", "payroll", "salar", "jdoe", "doe", "jane", "vault", "secret", "ssn", "boss", "miller", "ller", "zz9", "AKIA",
         "12345", "98765", "123 45", "10.11", "10-11", "0042", "1699999", "s3cr3t")


def test_nobodys_words_remain(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    log = tmp_path / "app"
    log.write_text(secrets(), encoding="utf-8")
    run = pyrometer("export", log, "--anonymized")
    assert run.returncode == 0
    assert "7 records written; 2 left out" in run.stderr
    # keys of Spark's own that happen to hold one of the words
    text = re.sub(r"internal\.metrics|fs\.s3a\.secret\.key", "", run.stdout).lower()
    left = [word for word in WORDS if word.lower() in text]
    assert not left, left
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    by_event = {line["Event"].rsplit(".", 1)[-1]: line for line in lines}
    task, added = by_event["SparkListenerTaskEnd"], by_event["SparkListenerExecutorAdded"]
    assert task["Task Info"]["Host"] == added["Executor Info"]["Host"] == "host-1"
    assert task["Task Info"]["Finish Time"] == 1700000002000
    assert "exit code 137" in task["Task End Reason"]["Description"]
    assert "java.lang.Thread.run(Thread.java:840)" in task["Task End Reason"]["Full Stack Trace"]
    properties = by_event["SparkListenerEnvironmentUpdate"]["Spark Properties"]
    assert properties["spark.executor.memory"] == "512m" and properties["spark.driver.host"] == "host-1"
    stage = by_event["SparkListenerStageSubmitted"]["Stage Info"]
    assert re.fullmatch(r"count at n\d+\.scala:12", stage["Stage Name"])
    assert "org.apache.spark.sql.Dataset.count(Dataset.scala:3616)" in stage["Details"]
    assert json.loads(stage["RDD Info"][0]["Scope"])["id"] == "1234"
    sql = by_event["SparkListenerSQLExecutionStart"]
    assert re.search(r"hashpartitioning\(n\d+#1, 200\)", sql["physicalPlanDescription"])
    name = by_event["SparkListenerApplicationStart"]["App Name"]
    assert name == properties["spark.app.name"] and re.fullmatch(r"n\d+-n\d+", name)


def test_same_input_same_output(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    log = LOGS / "straggler.zst"
    assert export(pyrometer, log, tmp_path / "a") == export(pyrometer, log, tmp_path / "b")
    again = export(pyrometer, tmp_path / "a", tmp_path / "c")
    assert len(again.splitlines()) == len((tmp_path / "a").read_text(encoding="utf-8").splitlines())


def test_mistakes(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    assert pyrometer("export", LOGS / "straggler.zst").returncode == 2
    (tmp_path / "junk").write_text("junk\n")
    assert pyrometer("export", tmp_path / "junk", "--anonymized").returncode == 3
    assert pyrometer("export", tmp_path / "gone", "--anonymized").returncode == 3
    deep = '{"Event":"SparkListenerLogStart","Spark Version":' + "[" * 5000 + "]" * 5000 + "}\n"
    (tmp_path / "deep").write_text('{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n' + deep)
    run = pyrometer("export", tmp_path / "deep", "--anonymized")
    assert run.returncode == 0 and "1 left out" in run.stderr


def test_a_closed_pipe_ends_it(pyrometer: Command) -> None:  # noqa: F811
    log = LOGS / "straggler.zst"
    command = f"'{pyrometer.binary}' export '{log}' --anonymized | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith('{"Event":"SparkListenerLogStart"')


# What a text may hold, and what of it must not be in the export.
ADDRESSES = {
    "10.11.12.13": ["10.11.12.13"],
    "10.11.12.13,10.11.12.14": ["10.11", "12.14"],
    "10.11.12.13:8042, 10.11.12.14:43211;x": ["10.11", "8042", "43211"],
    "fe80::1ff:fe23:4567:890a": ["fe80", "890a"],
    "cannot reach [2001:db8::8a2e:370:7334]:7337.": ["2001", "db8", "8a2e", "7337"],
    "::1 and 2001:db8::1, fe80::a": ["2001", "db8", "fe80"],
    "eth0 00:1b:44:11:3a:b7 or 00-1B-44-11-3A-B8": ["1b:44", "1B-44", "3A-B8", "3a:b7"],
    "vault-7.acme.internal:9083": ["9083", "acme"],
    "thrift://meta:9083,meta2:9084/x": ["9083", "9084"],
    "at org.apache.spark.acmecorp.Secretly.run(Secretly.scala:12)": ["acmecorp", "Secretly"],
    "org.apache.spark.sql.acmecorp.Payroll": ["acmecorp", "Payroll"],
    "scala.acmecorp.x.Payroll, io.netty.acmecorp.Y": ["acmecorp", "Payroll"],
    "Exchange hashpartitioning((ssn#1L = 4915112345678), 200)": ["4915"],
    "Exchange hashpartitioning(pmod(ssn#1L, 86231), 4915112345678)": ["86231", "4915"],
    "invoice #4915112345678": ["4915"],
}
KEPT = [
    "at org.apache.spark.sql.execution.WholeStageCodegenExec$$anon$1.hasNext(WholeStageCodegenExec.scala:760)",
    "java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)",
    "scala.collection.immutable.List.foreach(List.scala:431)",
    "org.apache.hadoop.hdfs.DFSClient",
    "Exchange rangepartitioning(a#1234567L ASC NULLS FIRST, 200), ENSURE_REQUIREMENTS, [plan_id=12]",
]


def test_addresses_and_packages(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    texts = list(ADDRESSES) + KEPT
    events = [
        {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "y", "Timestamp": 1, "User": "z"},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": {
            "spark.driver.port": "43219", **{f"spark.n{i}": text for i, text in enumerate(texts)}},
         "System Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": {"Executor ID": "driver", "Host": "h", "Port": 43217},
         "Maximum Memory": 1, "Timestamp": 1},
    ]
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
    shown = [json.loads(line) for line in export(pyrometer, log, tmp_path / "out").splitlines()]
    values = list(shown[1]["Spark Properties"].values())
    assert "4321" not in values[0]
    assert "4321" not in str(shown[2]["Block Manager ID"]["Port"])
    for (text, gone), value in zip(ADDRESSES.items(), values[1:]):
        for part in gone:
            assert part not in value, (text, value)
    for text, value in zip(KEPT, values[1 + len(ADDRESSES):]):
        assert value == text


def test_times_of_streaming_queries_stay(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    """Like those that are numbers; any other text under that key is one like all."""
    events = [
        {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "y", "Timestamp": 1769860800000, "User": "z"},
        *({"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent",
           "progress": {"id": "q", "runId": "r", "timestamp": time, "batchId": 1, "sources": []}}
          for time in ("2026-01-31T12:00:01.250Z", "2026-01-31T12:00:01.250Z of 86231")),
    ]
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
    shown = [json.loads(line) for line in export(pyrometer, log, tmp_path / "out").splitlines()]
    first, second = (record["progress"]["timestamp"] for record in shown[1:])
    assert first == "2026-01-31T12:00:01.250Z"
    assert "2026" not in second and "86231" not in second
