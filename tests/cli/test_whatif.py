"""whatif: scenarios of real runs, their documents, and questions that are refused."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest

from cli_command import ROOT, Command, pyrometer  # noqa: F401 (fixture)
from test_verbs import validate

LOGS = ROOT / "corpus" / "logs"
BASE = LOGS / "pair_base.zst"


def whatif(pyrometer: Command, log: Any, *words: str) -> Any:
    """The prediction, with what must hold of every one."""
    run = pyrometer("whatif", log, *words, "--format", "json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    validate(document, "whatif")
    for scenario in document["scenarios"]:
        wall = scenario["wall_ms"]
        assert 0 <= wall["low"] <= wall["expected"] <= wall["high"]
        assert all(0 <= job["start_ms"] <= job["end_ms"] <= wall["expected"] for job in scenario["jobs"])
        assert scenario["utilization"] is None or 0 <= scenario["utilization"] <= 1.01
    return document


@pytest.mark.parametrize("name", ["pair_base", "healthy_threads", "executor_churn", "stage_retries", "locality_wait"])
def test_the_unchanged_scenario_is_the_replay(pyrometer: Command, name: str) -> None:
    document = whatif(pyrometer, LOGS / f"{name}.zst")
    report = json.loads(pyrometer("diagnose", LOGS / f"{name}.zst", "-f", "json").stdout)
    (scenario,) = document["scenarios"]
    base = document["base"]
    assert scenario["wall_ms"]["expected"] == base["replayed_ms"] == report["replay"]["replayed_ms"]
    assert base["measured_ms"] == report["application"]["duration_ms"]
    assert scenario["core_ms"] == base["core_ms"]
    assert (scenario["settings"], scenario["models"]) == ({}, [])


def test_a_sweep_of_executors(pyrometer: Command) -> None:
    document = whatif(pyrometer, BASE, "--sweep", "executors=1..64")
    scenarios = document["scenarios"]
    assert [row["executors"] for row in scenarios] == list(range(1, 65))
    walls = [row["wall_ms"]["expected"] for row in scenarios]
    assert walls[1] == document["base"]["replayed_ms"]
    assert walls[0] > walls[1] > walls[3]
    assert all(row["wall_ms"]["expected"] >= row["critical_path_ms"] for row in scenarios)
    assert scenarios[1]["critical_path_ms"] == document["base"]["critical_path_ms"]
    assert all(row["models"][0]["name"] == "executors" for row in scenarios)
    assert all(row["models"][0]["doubt_ms"]["above"] > 0 for row in scenarios if row["executors"] != 2)


def test_options_and_settings_say_the_same(pyrometer: Command) -> None:
    one = whatif(pyrometer, BASE, "--executors", "3", "--cores", "1")["scenarios"][0]
    other = whatif(
        pyrometer, BASE, "--set", "spark.executor.instances=3", "--set", "spark.executor.cores=1"
    )["scenarios"][0]
    assert other.pop("settings") == {"spark.executor.instances": "3", "spark.executor.cores": "1"}
    assert one.pop("settings") == {}
    assert one == other


@pytest.mark.parametrize(
    "setting, model",
    [
        ("spark.dynamicAllocation.enabled=true", "allocation"),
        ("spark.scheduler.mode=FAIR", "pools"),
        ("spark.sql.shuffle.partitions=64", "partitions"),
        ("spark.executor.memory=4g", "memory"),
        ("scale-input=2", "input"),
        ("hosts=7", "host"),
        ("spark.speculation=true", "speculation"),
        ("spark.sql.autoBroadcastJoinThreshold=1g", "broadcast"),
    ],
)
def test_every_model_says_what_it_did(pyrometer: Command, setting: str, model: str) -> None:
    (scenario,) = whatif(pyrometer, BASE, "--set", setting)["scenarios"]
    # other executors bring other first tasks, where the run tells what these cost
    assert [row["name"] for row in scenario["models"] if row["name"] != "first_tasks"] == [model]
    key, value = setting.split("=")
    assert scenario["settings"] == ({key: value} if key.startswith("spark.") else {})
    if model == "input":
        assert scenario["scale_input"] == 2 and scenario["wall_ms"]["expected"] > 60000
    if model == "host":
        assert scenario["hosts"] == "7"
    if model == "memory":
        assert scenario["memory_bytes"] == 4 << 30


@pytest.mark.slow
def test_real_pairs(pyrometer: Command) -> None:
    """The same jobs were recorded with other executors, partitions and adaptive execution (docs/whatif_accuracy.md)."""
    folder = ROOT / "corpus" / "whatif"
    errors = []
    for pair in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["pairs"]:
        if pair["split"] != "development":
            continue
        (told,) = whatif(pyrometer, folder / pair["base"], *pair["options"])["scenarios"]
        jobs = [job for job in told["jobs"] if job["id"] >= pair["first_job"]]
        length = max(job["end_ms"] for job in jobs) - min(job["start_ms"] for job in jobs)
        errors.append(abs(length / pair["measured_jobs_ms"] - 1))
    assert len(errors) > 8
    # What is reached is published; these are the lines behind which something broke.
    assert sum(errors) / len(errors) < 0.12
    assert sorted(errors)[-3] < 0.5


def test_processors_of_one_host_are_shared(pyrometer: Command) -> None:
    (more,) = whatif(pyrometer, BASE, "--executors", "4")["scenarios"]
    (said,) = [row["effect"] for row in more["models"] if row["name"] == "host"]
    longer, then = map(float, re.findall(r"([0-9.]+) times as long", said))
    assert 1 < longer < then


def test_threads_never_show(pyrometer: Command) -> None:
    words = ["whatif", BASE, "--sweep", "executors=1..9", "--sweep", "cores=1..3", "-f", "json"]
    assert pyrometer(*words, "--threads", "1").stdout == pyrometer(*words, "--threads", "5").stdout


def test_csv(pyrometer: Command) -> None:
    out = pyrometer("whatif", BASE, "--sweep", "spark.executor.cores=2,4", "-f", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["spark.executor.cores"] for row in rows] == ["2", "4"]
    assert [row["cores_per_executor"] for row in rows] == ["2", "4"]
    assert all(int(row["wall_low_ms"]) <= int(row["wall_expected_ms"]) <= int(row["wall_high_ms"]) for row in rows)


def test_text(pyrometer: Command) -> None:
    run = pyrometer("whatif", BASE, "--sweep", "executors=1,2,4", "--width", "120")
    assert (run.returncode, run.stderr) == (0, "")
    assert "unchanged" in run.stdout and "█" in run.stdout and "\x1b" not in run.stdout
    assert "\x1b" in pyrometer("whatif", BASE, "--color", "always").stdout


def test_a_narrow_terminal_keeps_the_interval(pyrometer: Command) -> None:
    keys = ("spark.sql.shuffle.partitions=400", "spark.sql.adaptive.coalescePartitions.enabled=false")
    sets = [word for key in keys for word in ("--set", key)]
    for words in (sets, [*sets, "--sweep", "executors=1,2,4"]):
        out = pyrometer("whatif", BASE, *words, "--width", "80").stdout
        assert all(len(line) <= 80 for line in out.splitlines())
        assert all(key in " ".join(out.split()) for key in keys), "what all scenarios have in common is said once"
        table = out[out.index("SCENARIOS") :].splitlines()
        assert "between" in table[1] and re.search(r"\d-[\d.]+ (?:s|min) +[-+]\d+ %", table[2]), table[:3]


def test_locality(pyrometer: Command) -> None:
    """A run that waited ten seconds for locality in four stages, and one that never did."""
    waits = ["--sweep", "spark.locality.wait=0,3s,10s,20s"]
    none, short, same, long = (row["wall_ms"] for row in whatif(pyrometer, LOGS / "locality_wait.zst", *waits)["scenarios"])
    assert none["expected"] < short["expected"] < same["expected"] < long["expected"]
    assert none["low"] < none["expected"] < none["high"]
    (base,) = whatif(pyrometer, BASE)["scenarios"]
    (other,) = whatif(pyrometer, BASE, "--set", "spark.locality.wait=0s")["scenarios"]
    assert other["wall_ms"] == base["wall_ms"]
    assert "no stage of this run waited" in other["models"][0]["effect"]


@pytest.mark.parametrize(
    "words, says",
    [
        (["--executors", "0"], "from 1 to"),
        (["--executors", "99999999999999999999"], "from 1 to"),
        (["--cores", "many"], "whole number"),
        (["--set", "spark.no.such.key=1"], "spark.no.such.key has no model"),
        (["--set", "spark.locality.wait=soon"], "a time such as 30s"),
        (["--set", "spark.executor.instances"], "KEY=VALUE"),
        (["--sweep", "executors=1..64", "--sweep", "cores=1..64"], "1000 scenarios"),
        (["--sweep", "executors=1..64..0"], "from 1 to"),
        (["--sweep", "executors=1..2", "--sweep", "executors=3..4"], "swept twice"),
    ],
)
def test_refusals(pyrometer: Command, words: list[str], says: str) -> None:
    run = pyrometer("whatif", BASE, *words)
    assert (run.returncode, run.stdout) == (2, "")
    assert says in run.stderr
    assert run.stderr.startswith("pyrometer whatif: ")


def has_optimiser(pyrometer: Command) -> bool:
    run = pyrometer("whatif", BASE, "--optimize", "time", "-f", "json")
    return "no optimizer" not in run.stderr


def test_the_best_configuration(pyrometer: Command) -> None:
    if not has_optimiser(pyrometer):
        pytest.skip("this build has no NLopt")
    document = whatif(pyrometer, BASE, "--optimize", "cost", "--deadline", "50s")
    front, optimum = document["scenarios"], document["optimum"]
    assert (optimum["goal"], optimum["deadline_ms"], optimum["met"]) == ("cost", 50000, True)
    walls = [row["wall_ms"]["expected"] for row in front]
    cores = [row["core_ms"] for row in front]
    assert walls == sorted(walls) and cores == sorted(cores, reverse=True)
    assert walls[optimum["best"]] <= 50000
    fits = [row["core_ms"] for row in front if row["wall_ms"]["expected"] <= 50000]
    assert front[optimum["best"]]["core_ms"] == min(fits)
    assert not whatif(pyrometer, BASE, "--optimize", "cost", "--deadline", "1s")["optimum"]["met"]
    again = ["whatif", BASE, "--optimize", "time", "-f", "json"]
    assert pyrometer(*again, "--threads", "1").stdout == pyrometer(*again, "--threads", "4").stdout
    assert "Least time" in pyrometer("whatif", BASE, "--optimize", "time").stdout


@pytest.mark.parametrize(
    "words, says",
    [
        (["--optimize", "speed"], "time"),
        (["--deadline", "30m"], "limits of a search"),
        (["--optimize", "time", "--deadline", "soon"], "a time such as 90s"),
        (["--optimize", "time", "--deadline", "0"], "a time such as 90s"),
        (["--optimize", "time", "--max-cost", "-1"], "a number greater than 0"),
        (["--optimize", "time", "--sweep", "executors=1..3"], "exclude each other"),
    ],
)
def test_searches_that_are_refused(pyrometer: Command, words: list[str], says: str) -> None:
    run = pyrometer("whatif", BASE, *words)
    assert (run.returncode, run.stdout) == (2, "")
    assert says in run.stderr or "no optimizer" in run.stderr


def test_findings_on_scenarios(pyrometer: Command) -> None:
    (same,) = whatif(pyrometer, LOGS / "data_skew.zst")["scenarios"]
    assert same["findings"]["judged"] > 0
    assert (same["findings"]["vanish"], same["findings"]["appear"]) == ([], [])
    # behind many waves of other tasks one long task costs nothing
    (small,) = whatif(pyrometer, LOGS / "data_skew.zst", "--executors", "1", "--cores", "1")["scenarios"]
    assert [row["rule"] for row in small["findings"]["vanish"]] == ["data-skew"]


def test_prices(pyrometer: Command) -> None:
    """Executors' core time at a price of one a core second, and memory for nothing: the driver's lasts as long as the run."""
    (pyrometer.folder / "prices.yaml").write_text(
        """
schema: pyrometer.prices/1
currency: EUR
source: a contract
dated: 2026-01-01
prices:
  - {service: cluster, unit: core-hour, price: 3600}
  - {service: cluster, unit: gib-hour, price: 0}
""",
        encoding="utf-8",
    )
    words = ["--sweep", "executors=1,2,4", "--prices", "prices.yaml"]
    document = whatif(pyrometer, BASE, *words)
    base, scenarios = document["base"], document["scenarios"]
    assert base["currency"] == "EUR"
    assert scenarios[1]["cost"] == pytest.approx(base["cost"], rel=1e-6)
    driver = base["cost"] - base["core_ms"] / 1000
    for row in scenarios:
        longer = row["wall_ms"]["expected"] / base["replayed_ms"]
        assert row["cost"] == pytest.approx(row["core_ms"] / 1000 + driver * longer, rel=0.001)
    text = pyrometer("whatif", BASE, *words).stdout
    assert "Cost" in text and text.count("EUR") + text.count("€") >= len(scenarios), text
    assert whatif(pyrometer, BASE)["scenarios"][0]["cost"] is None


def test_no_log_is_3(pyrometer: Command) -> None:
    assert pyrometer("whatif", "missing").returncode == 3


def test_every_setting_is_documented() -> None:
    rows = (ROOT / "src" / "predict" / "settings.def").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "whatif.md").read_text(encoding="utf-8")
    keys = re.findall(r'^PYRO_PREDICTED\([A-Z_]+,\s*"([^"]+)"', rows, re.M)
    assert len(keys) >= 2
    assert [key for key in keys if key not in page] == []


def test_models_left_out(pyrometer: Command) -> None:
    log = LOGS / "healthy_etl.zst"
    without = ["--without", "partitions", "--without", "host"]
    whole, plain = (whatif(pyrometer, log, "-e", "8", *words)["scenarios"][0] for words in ([], without))
    assert "partitions" in {model["name"] for model in whole["models"]}
    assert not {"partitions", "host"} & {model["name"] for model in plain["models"]}
    run = pyrometer("whatif", log, "--without", "weather")
    assert run.returncode == 2 and "weather" in run.stderr
    run = pyrometer("whatif", log, "-e", "8", "--without", "executors")
    assert run.returncode == 2 and "needs it" in run.stderr
