"""cost: bills worked out by hand, groups, price sheets that are wrong."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cli_command import ROOT, Command, compressed_log, log, pyrometer  # noqa: F401 (fixtures)
from test_verbs import validate

START = 1_700_000_000_000
SHEET = """
schema: pyrometer.prices/1
currency: USD
source: made for this test
dated: 2026-01-01
usual: {service: ec2, unit: hour, region: us-east-1}
prices:
  - {instance: r5.2xlarge, price: 0.504}
  - {service: kubernetes, unit: core-hour, price: 3.6}
  - {service: kubernetes, unit: gib-hour, price: 0.36}
instances:
  - {name: r5.2xlarge, cores: 8, memory_gib: 64}
rates: {EUR: 0.5}
"""


def run_of(properties: dict[str, str], executors: list[tuple[str, str, int, int]], end_ms: int, tasks: list[Any]) -> str:
    """An event log. Executors: id, host, cores, ms until they are added. Tasks: launch, finish, GC ms, failed."""
    events: list[dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.app.name": "bill", **properties}},
        {"Event": "SparkListenerApplicationStart", "App Name": "bill", "App ID": "app-1", "Timestamp": START, "User": "ann"},
    ]
    for name, host, cores, added in executors:
        info = {"Host": host, "Total Cores": cores, "Log Urls": {}}
        events.append(
            {"Event": "SparkListenerExecutorAdded", "Timestamp": START + added, "Executor ID": name, "Executor Info": info}
        )
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 1, "Parent IDs": []}
    submitted = {**stage, "Submission Time": START}
    if tasks:
        events.append(
            {
                "Event": "SparkListenerJobStart",
                "Job ID": 0,
                "Submission Time": START,
                "Stage Infos": [stage],
                "Stage IDs": [0],
                "Properties": {},
            }
        )
        events.append({"Event": "SparkListenerStageSubmitted", "Stage Info": submitted, "Properties": {}})
    for number, (launch, finish, gc, failed) in enumerate(tasks):
        info = {
            "Task ID": number,
            "Index": 0,
            "Attempt": number,
            "Launch Time": START + launch,
            "Executor ID": "1",
            "Host": "a",
            "Locality": "ANY",
            "Speculative": False,
            "Getting Result Time": 0,
            "Finish Time": START + finish,
            "Failed": failed,
            "Killed": False,
            "Accumulables": [],
        }
        metrics = {"Executor Run Time": finish - launch, "JVM GC Time": gc}
        events.append(
            {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": 0,
                "Stage Attempt ID": 0,
                "Task Type": "ResultTask",
                "Task End Reason": {"Reason": "TaskKilled" if failed else "Success"},
                "Task Info": info,
                "Task Metrics": metrics,
            }
        )
    if tasks:
        done = {**submitted, "Completion Time": START + max(task[1] for task in tasks)}
        events.append({"Event": "SparkListenerStageCompleted", "Stage Info": done})
    events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": START + end_ms})
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(SHEET, encoding="utf-8")
    return path


def cost_of(pyrometer: Command, *arguments: Any) -> Any:
    run = pyrometer("cost", "--format", "json", *arguments)
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    validate(document, "cost")
    return document


def parts(cost: Any, amount: str) -> dict[str, int]:
    return {part["name"]: part[amount] for part in cost["parts"] if part[amount]}


def test_the_example_of_the_page(pyrometer: Command, tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    tasks = [(0, 4000, 1000, False), (4000, 7000, 0, True)]
    path.write_text(run_of({"spark.master": "spark://a:7077"}, [("1", "a", 2, 0)], 10_000, tasks))
    cost = cost_of(pyrometer, path)["applications"][0]["cost"]
    assert cost["core_ms"] == 30_000
    assert cost["memory_mib_ms"] == 20_480_000
    idle = {"idle_no_work": 7_000, "idle_driver": 6_000}
    assert parts(cost, "core_ms") == {"useful": 3000, "gc": 1000, "retried": 3000, "driver": 10_000, **idle}
    memory = {name: ms * 512 for name, ms in {"useful": 3000, "gc": 1000, "retried": 3000, **idle}.items()}
    assert parts(cost, "memory_mib_ms") == {**memory, "driver": 10_240_000}
    assert cost["units"]["mb_seconds"] == 20_480
    assert cost["units"]["dcu"] == pytest.approx(0.05 * 30 / 3600 + 0.005 * 20 / 3600)
    assert not cost["money"]["known"]
    assert "--instance" in cost["money"]["missing"][0]


def test_ten_nodes(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    executors = [(str(i), f"host-{i}", 8, 0) for i in range(10)]
    path.write_text(run_of({"spark.master": "yarn"}, executors, 8_928_000, []))  # 2 h 28 min 48 s
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1"]
    cost = cost_of(pyrometer, *arguments, path)["applications"][0]["cost"]
    assert cost["money"]["total_micros"] == 12_499_200
    assert cost["money"]["lines"][0]["quantity"] == pytest.approx(24.8)
    assert sum(part["cost_micros"] for part in cost["parts"]) == 12_499_200
    text = pyrometer("cost", *arguments, path).stdout
    assert "Current: 10 x r5.2xlarge = $12.50/run" in text
    euros = cost_of(pyrometer, *arguments, "--currency", "EUR", path)["applications"][0]["cost"]["money"]
    assert (euros["currency"], euros["total_micros"]) == ("EUR", 6_249_600)


def test_half_held_nodes_leave_the_other_half_unheld(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    path.write_text(run_of({"spark.master": "spark://a:7077", "spark.driver.host": "d"}, [("1", "a", 4, 0)], 3_600_000, []))
    cost = cost_of(pyrometer, "--prices", sheet, "--instance", "r5.2xlarge", path)["applications"][0]["cost"]
    # One node of executors, half of it held (idle: nothing ran), and one of the driver.
    assert parts(cost, "cost_micros") == {"idle_driver": 252_000, "unheld": 252_000, "driver": 504_000}


def test_pods_are_paid_by_cores_and_memory(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    properties = {
        "spark.master": "k8s://https://k",
        "spark.submit.deployMode": "cluster",
        "spark.executor.memory": "2g",
        "spark.executor.memoryOverhead": "1g",
        "spark.driver.memory": "1g",
        "spark.driver.memoryOverhead": "1g",
        "spark.kubernetes.executor.request.cores": "1500m",
    }
    path.write_text(run_of(properties, [("1", "a", 2, 0)], 1_000_000, []))
    cost = cost_of(pyrometer, "--prices", sheet, path)["applications"][0]["cost"]
    # 1.5 + 1 CPUs and 3 + 2 GiB for 1,000 s, at 3.6 and 0.36 an hour.
    assert [line["micros"] for line in cost["money"]["lines"]] == [2_500_000, 500_000]
    assert cost["allocation"]["executors"][0]["container_mib"] == 3072


def test_memory_as_spark_asks_for_it(pyrometer: Command, tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    base = {"spark.master": "yarn", "spark.submit.deployMode": "cluster", "spark.executor.memory": "10g"}
    offheap = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2g"}
    python = {"spark.executor.pyspark.memory": "512m", "spark.yarn.isPython": "true"}
    cases: list[tuple[dict[str, str], int]] = [
        ({}, 10240 + 1024),
        ({"spark.executor.memory": "1g"}, 1024 + 384),
        ({"spark.executor.memoryOverheadFactor": "0.1875"}, 10240 + 1920),
        ({"spark.executor.minMemoryOverhead": "2g"}, 10240 + 2048),
        ({"spark.executor.memoryOverhead": "3000"}, 10240 + 3000),
        ({**offheap, **python}, 10240 + 1024 + 2048 + 512),
        ({"spark.master": "spark://a:7077"}, 10240),
        ({"spark.master": "k8s://k", "spark.kubernetes.resource.type": "python"}, 10240 + 4096),
    ]
    for properties, expected in cases:
        path.write_text(run_of({**base, **properties}, [("1", "a", 2, 0)], 1000, []))
        document = cost_of(pyrometer, path)["applications"][0]["cost"]
        assert document["allocation"]["executors"][0]["container_mib"] == expected, properties


def test_no_executors_no_allocation(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    path.write_text(run_of({"spark.master": "local[2]"}, [], 1000, []))
    cost = cost_of(pyrometer, "--prices", sheet, "--instance", "r5.2xlarge", path)["applications"][0]["cost"]
    assert cost["core_ms"] == 0
    assert not cost["money"]["known"]
    assert "ExecutorAdded" in cost["money"]["missing"][0]
    text = pyrometer("cost", "--prices", sheet, "--instance", "r5.2xlarge", path).stdout
    assert "Unknown: " in text
    assert "Give prices" not in text, "prices are given: executors are what is missing"


def test_memory_of_unknown_settings_is_unknown(pyrometer: Command, tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    lines = run_of({"spark.executor.memory": "6g"}, [("1", "a", 2, 0)], 1000, []).splitlines(keepends=True)
    path.write_text("".join(lines))
    assert "1 executor of 2 cores and 6 GiB." in pyrometer("cost", path).stdout
    path.write_text("".join(line for line in lines if "EnvironmentUpdate" not in line))
    text = pyrometer("cost", path).stdout
    assert "Current: 0.001 core hours per run, memory unknown, at an unknown price." in text
    assert "1 executor of 2 cores." in text
    assert " GiB" not in text.replace("GiB hours", "")


def test_groups(pyrometer: Command, tmp_path: Path, log: Path) -> None:
    for number, team in enumerate(("red", "blue", "red")):
        properties = {"spark.master": "spark://a:7077", "spark.yarn.tags": f"x=1, team={team}"}
        (tmp_path / f"app-{number}").write_text(run_of(properties, [("1", "a", 1 + number, 0)], 3_600_000, []))
    groups = cost_of(pyrometer, "--by", "tag:team", *sorted(tmp_path.glob("app-*")))["groups"]
    assert [(group["key"], group["applications"], group["core_ms"] // 3_600_000) for group in groups] == [
        ("red", 2, 6),
        ("blue", 1, 3),
    ]
    for by in ("user", "queue", "platform", "pool", "group", "job", "stage", "sql", "property:spark.master"):
        document = cost_of(pyrometer, "--by", by, log)
        whole = document["applications"][0]["cost"]["core_ms"]
        assert sum(group["core_ms"] for group in document["groups"]) == whole, by
        table = pyrometer("cost", "--by", by, "--format", "csv", log).stdout.splitlines()
        assert table[0].startswith("key,applications,core_hours")
        assert len(table) == 1 + len(document["groups"])
    run = pyrometer("cost", "--by", "usr", log)
    assert run.returncode == 2
    assert "did you mean user" in run.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("prices: [", "line"),
        ("currency: USD", "schema: pyrometer.prices/1"),
        ("schema: pyrometer.prices/1\ncurrency: dollars\nprices: []", "is not a currency"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {service: ec2, instance: a, price: -1}", "line 4"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {service: ec2, instance: a, price: .nan}", "line 4"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {service: ec2, instance: a, price: 1e300}", "10^9"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {service: ec2, price: 1}", "instance: TYPE"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {service: ec2, unit: week, price: 1}", "is not a unit"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices:\n- {servce: ec2, price: 1}", "did you mean 'service'"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nprices: {a: 1}", "is a list"),
        ("schema: pyrometer.prices/1\ncurrency: USD\nrates: {EUR: 0}", "greater than 0"),
        ("schema: pyrometer.prices/1\ninstances:\n- {name: a, cores: 1.5, memory_gib: 4}", "cores"),
    ],
)
def test_wrong_price_sheets(pyrometer: Command, tmp_path: Path, log: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text, encoding="utf-8")
    run = pyrometer("cost", "--prices", path, log)
    assert run.returncode in (2, 3)
    assert run.stderr.splitlines()[0].count("wrong.yaml") >= 1
    assert complaint in run.stderr.splitlines()[0]
    assert run.stdout == ""


def test_a_currency_that_no_rate_leads_to(pyrometer: Command, log: Path, sheet: Path) -> None:
    run = pyrometer("cost", "--prices", sheet, "--currency", "XYZ", log)
    assert run.returncode == 2
    assert "rates: {XYZ" in run.stderr
    assert pyrometer("cost", "--prices", "nowhere.yaml", log).returncode == 3


def test_built_in_sheets_are_read(pyrometer: Command) -> None:
    """Every sheet that comes with the command says where its prices come from and when they were read."""
    for path in (ROOT / "prices").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert "source:" in text
        assert "read:" in text


def test_a_databricks_cluster_is_recognised(pyrometer: Command, tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    tags = "spark.databricks.clusterUsageTags."
    properties = {
        "spark.master": "spark://d:7077",
        "spark.driver.host": "d",
        tags + "clusterName": "job-12-run-3",
        tags + "clusterNodeType": "r5.2xlarge",
        tags + "driverNodeType": "m5.xlarge",
        tags + "dataPlaneRegion": "us-east-1",
        tags + "cloudProvider": "AWS",
        tags + "clusterAllTags": '[{"key":"team","value":"red"},{"key":"x","value":"y"}]',
    }
    path.write_text(run_of(properties, [("1", "a", 8, 0), ("2", "b", 8, 0)], 3_600_000, []))
    document = cost_of(pyrometer, "--by", "tag:team", path)
    assert [group["key"] for group in document["groups"]] == ["red"]
    cost = document["applications"][0]["cost"]
    assert cost["place"]["platform"] == {
        "name": "databricks",
        "confidence": 1,
        "reason": f"the property {tags}cloudProvider is set",
    }
    assert cost["place"]["instance"]["name"] == "r5.2xlarge"
    assert cost["place"]["workload"]["name"] == "jobs"
    # Two workers and the driver: instances, and DBU at 1.8 and 0.69 an hour, 0.15 each.
    assert cost["units"]["dbu"] == pytest.approx(2 * 1.8 + 0.69)
    assert [line["micros"] for line in cost["money"]["lines"]] == [1_008_000, 540_000, 192_000, 103_500]
    assert cost["money"]["known"]


def test_an_unknown_price_is_said_to_be_unknown(pyrometer: Command, tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    path.write_text(run_of({"spark.master": "spark://a:7077"}, [("1", "a.eu-north-1.compute.internal", 4, 0)], 3_600_000, []))
    cost = cost_of(pyrometer, "--instance", "m5.xlarge", path)["applications"][0]["cost"]
    assert cost["place"]["region"]["name"] == "eu-north-1"
    assert not cost["money"]["known"]
    assert cost["money"]["total"] is None
    assert "eu-north-1" in cost["money"]["missing"][0]
    assert "--prices FILE" in pyrometer("cost", "--instance", "m5.xlarge", path).stdout


def test_a_diagnosis_with_prices(pyrometer: Command, tmp_path: Path, compressed_log: Path) -> None:
    sheet = tmp_path / "ours.yaml"
    sheet.write_text("schema: pyrometer.prices/1\nnodes: {instance: r5.2xlarge, region: us-east-1}\n")
    plain = json.loads(pyrometer("diagnose", "-f", "json", compressed_log).stdout)
    assert plain["cost"] is None
    assert all(finding["saves"]["cost"] is None for finding in plain["findings"])
    run = pyrometer("diagnose", "-f", "json", "--prices", sheet, compressed_log)
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(run.stdout)
    validate(report, "report")
    cost = report["cost"]
    assert cost["money"]["known"]
    for finding in report["findings"]:  # as the scenario that fixes it
        run = pyrometer("whatif", "-f", "json", "--prices", sheet, "--fix", finding["id"], compressed_log)
        document = json.loads(run.stdout)
        (scenario,) = document["scenarios"]
        base = cost["money"]["total"] * document["base"]["replayed_ms"] / document["base"]["measured_ms"]
        assert finding["saves"]["cost"] == pytest.approx(base - scenario["cost"], abs=0.01 * base)
    assert report["plan"]["cost"] < cost["money"]["total"]
    text = pyrometer("diagnose", "--prices", sheet, compressed_log).stdout
    assert "COST OPTIMIZATION\nCurrent: 1 x r5.2xlarge = $" in text
    builtin = json.loads(pyrometer("diagnose", "-f", "json", "--prices", "builtin", compressed_log).stdout)
    assert not builtin["cost"]["money"]["known"]
    assert pyrometer("diagnose", "--prices", "nowhere.yaml", compressed_log).returncode == 3


def advice_of(cost: Any) -> dict[str, Any]:
    return {advice["kind"]: advice for advice in cost["recommendations"]}


def test_fewer_executors_for_one_long_task(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    executors = [(str(number), host, 8, 0) for number, host in enumerate("abcd", 1)]
    path.write_text(run_of({"spark.master": "spark://a:7077"}, executors, 600_000, [(0, 600_000, 0, False)]))
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1"]
    cost = cost_of(pyrometer, *arguments, path)["applications"][0]["cost"]
    assert cost["money"]["total_micros"] == 336_000
    advice = advice_of(cost)["right-size"]
    # One would be enough, but how other sizes change tasks is uncertain: 10 % for each time they are halved.
    assert advice["executors"] == 2
    assert advice["wall_ms"] == pytest.approx(600_000, rel=0.01)
    assert advice["cost_micros"] == pytest.approx(168_000, rel=0.01)
    assert advice["saves_micros"] == 336_000 - advice["cost_micros"]
    assert advice["saves_share"] == pytest.approx(0.5, abs=0.01)
    assert "Recommended: 2 x r5.2xlarge (2 executors) = $0.17/run. Savings: $0.17/run (50 %)." in " ".join(
        pyrometer("cost", *arguments, "-w", "200", path).stdout.split()
    )
    # No memory peaks: executors keep what they have, which is little for their cores.
    other = advice_of(cost)["instance"]
    assert other["text"].startswith("4 x c") and "compute-bound" in other["safety"]
    assert "it is not known whether less is safe" in other["safety"]
    late = cost_of(pyrometer, *arguments, "--deadline", "5m", path)["applications"][0]["cost"]
    assert advice_of(late)["right-size"]["text"] is None
    assert "meets the deadline" in advice_of(late)["right-size"]["safety"]
    assert pyrometer("cost", "--deadline", "soon", path).returncode == 2


def side_by_side(text: str, slots: int) -> str:
    """The same log, its tasks as partitions of their own, a number of them on each executor in turn."""
    events = [json.loads(line) for line in text.splitlines()]
    names = [event["Executor ID"] for event in events if event["Event"] == "SparkListenerExecutorAdded"]
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            info = event["Task Info"]
            info.update({"Index": info["Task ID"], "Attempt": 0})
            info["Executor ID"] = names[info["Task ID"] // slots % len(names)]
    return "".join(json.dumps(event) + "\n" for event in events)


def test_more_executors_for_a_deadline(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    """Eight tasks of a minute on one executor of two cores, four minutes; two executors take two minutes, for as much."""
    path = tmp_path / "app-1"
    tasks = [(60_000 * (place // 2), 60_000 * (place // 2) + 60_000, 0, False) for place in range(8)]
    path.write_text(side_by_side(run_of({"spark.master": "spark://a:7077"}, [("1", "a", 2, 0)], 240_000, tasks), 2))
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1", "--deadline", "170s"]
    cost = cost_of(pyrometer, *arguments, path)["applications"][0]["cost"]
    assert cost["money"]["total_micros"] == 33_600  # 4 minutes of $0.504 an hour
    advice = advice_of(cost)["right-size"]
    assert (advice["executors"], advice["wall_ms"], advice["cost_micros"]) == (2, 120_000, 33_600)
    assert "memory" in advice["safety"] and "170 s" not in advice["safety"]
    dear = cost_of(pyrometer, *arguments[:-1], "120s", path)["applications"][0]["cost"]
    assert advice_of(dear)["right-size"]["executors"] == 4


def test_another_family(pyrometer: Command, tmp_path: Path) -> None:
    """Two executors of 4 cores and 24 GiB a node; families with 2, 4 and 8 GiB for each core at the same price."""
    sheet = tmp_path / "families.yaml"
    rows = "".join(f"  - {{instance: {name}, price: {price}}}\n" for name, price in [("x.c", 1), ("x.m", 1.4), ("x.r2", 3.1)])
    shapes = "".join(
        f"  - {{name: {name}, cores: {cores}, memory_gib: {memory}}}\n"
        for name, cores, memory in [("x.c", 8, 16), ("x.m", 8, 32), ("x.r2", 16, 128)]
    )
    sheet.write_text(
        "schema: pyrometer.prices/1\ncurrency: USD\nsource: made for this test\ndated: 2026-01-01\n"
        f"usual: {{service: other, unit: hour}}\nprices:\n{rows}instances:\n{shapes}"
    )
    executors = [(str(place), "ab"[place // 2], 4, 0) for place in range(4)]
    tasks = [(0, 3_600_000, 0, False) for _ in range(16)]

    def advised(memory: str, instance: str) -> Any:
        path = tmp_path / f"app-{memory}-{instance}"
        properties = {"spark.master": "spark://a:7077", "spark.executor.memory": memory}
        path.write_text(side_by_side(run_of(properties, executors, 3_600_000, tasks), 4))
        arguments = ["--prices", sheet, "--instance", instance]
        return advice_of(cost_of(pyrometer, *arguments, path)["applications"][0]["cost"]).get("instance")

    # 6 GiB each: two fit in 0.85 x 16 GiB.
    small = advised("6g", "x.m")
    assert small["text"] == "2 x x.c" and "compute-bound" in small["safety"]
    assert (small["cost_micros"], small["saves_micros"]) == (2_000_000, 800_000)
    # 12 GiB each: one in 16 GiB, so that four nodes cost more; two in 32 GiB are what there is.
    assert advised("12g", "x.m")["text"] is None
    # 24 GiB each, which the log says is given: one on x.m (0.85 x 32 GiB), four on x.r2: memory-bound.
    large = advised("24g", "x.c")
    assert large["text"] == "2 x x.m" or large["text"] is None


def test_spot_instances(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    """Interruptions that never come, that come now and then, and so many that nothing ends."""
    sheet.write_text(sheet.read_text().replace("instances:", "  - {instance: r5.2xlarge, purchase: spot, price: 0.126}\ninstances:"))
    path = tmp_path / "app-1"
    executors = [(str(number), host, 8, 0) for number, host in enumerate("abcd", 1)]
    tasks = [(0, 3_600_000, 0, False) for _ in range(32)]
    path.write_text(side_by_side(run_of({"spark.master": "spark://a:7077"}, executors, 3_600_000, tasks), 8))
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1"]

    def spot(rate: str, *more: str) -> Any:
        document = cost_of(pyrometer, *arguments, "--interruptions", rate, *more, path)
        validate(document, "cost")
        return advice_of(document["applications"][0]["cost"])["spot"]

    never = spot("0.000001")
    assert (never["cost_micros"], never["saves_share"]) == (504_000, 0.75)  # 4 x $0.126 instead of 4 x $0.504
    assert never["spot"]["wall_ms"] == {"low": 3_600_000, "expected": 3_600_000, "high": 3_600_000}
    assert (never["spot"]["late_share"], never["spot"]["tasks_lost"], never["spot"]["recommended"]) == (0, 0, True)
    often = spot("0.25")
    # Within the hour each of four nodes stays with a chance of exp(-0.25): all of them with exp(-1) = 0.37.
    assert often["spot"]["late_share"] == pytest.approx(0.63, abs=0.1)
    assert often["spot"]["wall_ms"]["expected"] > 3_960_000 and not often["spot"]["recommended"]
    assert often == spot("0.25")
    patient = spot("0.25", "--deadline", "10h")
    assert patient["spot"]["late_share"] == 0 and patient["spot"]["wall_ms"] == often["spot"]["wall_ms"]
    assert spot("500")["text"] is None or spot("500")["spot"]["late_share"] == 1
    words = " ".join(pyrometer("cost", *arguments, "--interruptions", "0.25", path).stdout.split())
    assert "Not recommended: 4 x r5.2xlarge as spot instances" in words
    for wrong in ("0", "-1", "often", "1e9"):
        assert pyrometer("cost", "--interruptions", wrong, path).returncode == 2


def test_nothing_is_advised_beyond_what_the_log_supports(pyrometer: Command) -> None:
    for path in sorted((ROOT / "corpus" / "logs").glob("*_oom*.zst"))[:3]:
        for entry in cost_of(pyrometer, "--instance", "r5.2xlarge", path)["applications"]:
            for advice in entry["cost"]["recommendations"]:
                assert advice["safety"]
                if advice["cost_micros"] is not None and advice["kind"] != "spot":
                    assert advice["cost_micros"] < entry["cost"]["cost_micros"]


def on_a_cluster(tmp_path: Path, name: str, properties: dict[str, str], hosts: str, begin_ms: int, end_ms: int) -> Path:
    """An application that had a host each for its whole time."""
    text = run_of(properties, [(str(i), host, 8, 0) for i, host in enumerate(hosts)], end_ms - begin_ms, [])
    events = [json.loads(line) for line in text.splitlines()]
    for event in events:
        if "Timestamp" in event:
            event["Timestamp"] += begin_ms
        if "App ID" in event:
            event["App ID"] = name
    path = tmp_path / name
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def test_nodes_between_the_applications_of_a_cluster(pyrometer: Command, tmp_path: Path, sheet: Path) -> None:
    hour = 3_600_000
    standalone = {"spark.master": "spark://m:7077", "spark.driver.host": "a"}
    logs = [
        on_a_cluster(tmp_path, "app-1", standalone, "ab", 0, hour),
        on_a_cluster(tmp_path, "app-2", standalone, "a", 3 * hour, 4 * hour),  # two hours after the first one
        on_a_cluster(tmp_path, "app-3", standalone, "b", hour // 2, 2 * hour),  # half an hour at the same time
        on_a_cluster(tmp_path, "app-4", {**standalone, "spark.master": "spark://other:7077"}, "a", 0, 9 * hour),
    ]
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1"]
    clusters = cost_of(pyrometer, *arguments, *logs)["clusters"]
    # Host a has app-1 from 0 to 1 h, the driver of app-3 from 0:30 to 2 h, and app-2 from 3 h to 4 h: 4 h, one of them
    # idle. Host b has app-1 from 0 to 1 h and app-3 from 0:30 to 2 h: 2 h.
    assert [cluster["name"] for cluster in clusters] == ["spark://m:7077"]
    cluster = clusters[0]
    assert (cluster["applications"], cluster["nodes"], cluster["confidence"]) == (3, 2, 0.8)
    assert (cluster["node_ms"], cluster["idle_ms"]) == (6 * hour, hour)
    assert cluster["claimed_ms"] == 6 * hour  # 2 + 1 + 2 x 1.5
    assert (cluster["cost_micros"], cluster["idle_micros"]) == (6 * 504_000, 504_000)
    assert cluster["applications_micros"] == 6 * 504_000
    text = pyrometer("cost", *arguments, *logs).stdout
    assert "CLUSTERS" in text
    assert "Unknown: nodes that none of these applications used" in text
    unpriced = cost_of(pyrometer, *logs)["clusters"][0]
    assert (unpriced["idle_ms"], unpriced["cost_micros"], unpriced["currency"]) == (hour, None, None)
    assert cost_of(pyrometer, logs[0], logs[3])["clusters"] == []
    assert "CLUSTERS" not in pyrometer("cost", logs[0], logs[3]).stdout


@pytest.mark.parametrize(
    ("properties", "app", "host", "name", "confidence"),
    [
        ({"spark.master": "spark://m:7077"}, "app-1", "a", "spark://m:7077", 0.8),
        ({"spark.master": "yarn"}, "application_1584570187654_0001", "a", "YARN, ResourceManager of 1584570187654", 0.9),
        ({"spark.master": "yarn"}, "application_7_1", "a", None, 0),
        ({"spark.master": "yarn", "spark.dataproc.x": "y"}, "app-1", "etl-2-w-0.c.p.internal", "etl-2", 0.9),
        ({"spark.master": "yarn", "spark.dataproc.x": "y"}, "app-1", "etl-2-sw-x1y2", "etl-2", 0.9),
        ({"spark.master": "yarn", "spark.dataproc.x": "y"}, "app-1", "-w-", None, 0),
        (
            {"spark.master": "yarn", "spark.emr.x": "y", "spark.logs": "s3://l/elasticmapreduce/j-2AXXXXXXGAPLF/node"},
            "app-1",
            "a",
            "j-2AXXXXXXGAPLF",
            0.95,
        ),
        ({"spark.master": "spark://m:1", "spark.databricks.clusterUsageTags.clusterId": "1-2-x"}, "app-1", "a", "1-2-x", 1),
        ({"spark.master": "spark://m:1", "spark.databricks.x": "y"}, "app-1", "a", None, 0),
        ({"spark.master": "local-cluster[2,1,1024]"}, "app-1", "a", None, 0),
        ({"spark.master": "k8s://https://k"}, "app-1", "a", None, 0),
    ],
)
def test_clusters_are_recognised(
    pyrometer: Command, tmp_path: Path, properties: dict[str, str], app: str, host: str, name: str | None, confidence: float
) -> None:
    path = tmp_path / app
    path.write_text(run_of(properties, [("1", host, 8, 0)], 1000, []).replace('"app-1"', f'"{app}"'))
    cluster = cost_of(pyrometer, path)["applications"][0]["cost"]["place"]["cluster"]
    if name is None:
        assert cluster is None
    else:
        assert (cluster["name"], cluster["confidence"]) == (name, confidence)
        assert cluster["reason"]


def store_of(pyrometer: Command, tmp_path: Path, log: Path, runs: list[tuple[str, int, int, int]]) -> str:
    """A store with these runs: application, days from the first one's start to its start and its end, cores."""
    path = tmp_path / f"runs-{len(list(tmp_path.iterdir()))}.db"
    assert pyrometer("diagnose", "--store", f"sqlite:{path}", log).returncode == 0
    day = 86_400_000
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        for number, (name, start, end, cores) in enumerate(runs):
            span = (START + start * day, START + end * day)
            row = (f"old-{number}", "", name, *span, (end - start) * day * cores, 0)
            columns = "app_id, attempt, name, start_ms, end_ms, core_ms, recorded_ms"
            store.execute(f"INSERT INTO run ({columns}) VALUES (?,?,?,?,?,?,?)", row)
    return f"sqlite:{path}"


def test_what_is_held_steadily(pyrometer: Command, tmp_path: Path, log: Path, sheet: Path) -> None:
    path = tmp_path / "app-1"
    path.write_text(run_of({"spark.master": "spark://a:7077"}, [("1", "a", 8, 0)], 600_000, []))
    sheet.write_text(
        SHEET.replace("instances:", "  - {instance: r5.2xlarge, purchase: reserved-1y, price: 0.3024}\ninstances:")
    )
    arguments = ["--prices", sheet, "--instance", "r5.2xlarge", "--region", "us-east-1", path]

    def advice(runs: list[tuple[str, int, int, int]], *more: Any) -> Any:
        store = store_of(pyrometer, tmp_path, log, runs)
        return advice_of(cost_of(pyrometer, "--store", store, *(more or arguments))["applications"][0]["cost"])["reserve"]

    # 16 cores all the time and 24 for half of it; a node of 8 pays from 0.3024 / 0.504 = 60 % of the time on.
    steady = [("bill", 2 * number, 2 * number + 2, 16) for number in range(20)]
    half = [("bill", 2 * number, 2 * number + 1, 8) for number in range(20)]
    others = [("other", 0, 40, 800)]
    found = advice(steady + half + others)
    assert found["text"] == "2 x r5.2xlarge (reserved-1y)"
    assert found["saves_share"] == pytest.approx(0.4)
    assert "The 40 runs of 40 days" in found["safety"]
    assert "at least 16 cores for 100 % of the time (730 hours per month)" in found["safety"]
    assert "It saves 294.34 USD per month" in found["safety"]  # 730 x 2 x (0.504 - 0.3024)
    # 20 days of 39 are 51 %: less than what pays.
    found = advice(half + others)
    assert found["text"] is None
    assert "pays off if it is used at least 60 % of the time" in found["safety"]
    assert "for 51 % of the time (374 hours per month): none is recommended" in found["safety"]
    # Too little history: nothing is advised, whatever was held.
    for short in (steady[:9], [("bill", number, number + 1, 16) for number in range(27)], others):
        found = advice(short)
        assert found["text"] is None
        assert "at least 10 runs over 28 days" in found["safety"]
    # No price: the level, and that its use is unknown.
    found = advice(steady + half, path)
    assert found["text"] is None
    assert "used at least 16.0 cores for 70 % of the time (511 hours per month)" in found["safety"]
    assert "It is unknown whether reserved capacity pays off" in found["safety"]
    text = pyrometer("cost", "-w", "200", "--store", store_of(pyrometer, tmp_path, log, steady), *arguments).stdout
    assert "Reserved capacity: 2 x r5.2xlarge (reserved-1y)." in text
    assert "reserve" not in advice_of(cost_of(pyrometer, *arguments)["applications"][0]["cost"])
    assert pyrometer("cost", "--store", f"sqlite:{path}", *arguments).returncode != 0


def test_the_sample_of_the_page(pyrometer: Command, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "cli" / "cost.md").read_text(encoding="utf-8").split("## Output")[1]
    before, behind = page.split("`pyrometer cost --prices ours.yaml corpus/logs/data_skew.zst` writes")
    prices = textwrap.dedent(before[before.index("    schema:") :])
    sample = textwrap.dedent(behind.split("For several logs")[0]).strip()
    (tmp_path / "ours.yaml").write_text(prices, encoding="utf-8")
    log = ROOT / "corpus" / "logs" / "data_skew.zst"
    run = pyrometer("cost", "-w", "80", "--prices", tmp_path / "ours.yaml", log)
    assert (run.returncode, run.stderr) == (0, "")
    written = [line.rstrip() for line in run.stdout.strip().splitlines()]
    assert written == [line.rstrip() for line in sample.splitlines()]
