"""The chart: what it makes of values, and which values it refuses."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml
from conftest import ROOT
from servers import Unavailable, collector, shared

CHART = ROOT / "charts" / "spark-3.5"
pytestmark = [pytest.mark.slow]
MATRIX = list(itertools.product(("true", "false"), ("true", "false"), ("image", "initContainer", "url")))


@pytest.fixture(scope="module")
def helm() -> str:
    return str(shared.or_skip(collector.program, "helm"))


def run_helm(helm: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([helm, *words], check=False, capture_output=True, text=True)


def rendered(helm: str, *sets: str) -> List[Dict[str, Any]]:
    words = [word for one in sets for word in ("--set", one)]
    run = run_helm(helm, "template", "spark", str(CHART), *words)
    assert run.returncode == 0, run.stderr
    return [document for document in yaml.safe_load_all(run.stdout) if document]


def one(documents: List[Dict[str, Any]], kind: str, ending: str = "") -> Dict[str, Any]:
    (found,) = [each for each in documents if each["kind"] == kind and each["metadata"]["name"].endswith(ending)]
    return found


def conf(documents: List[Dict[str, Any]]) -> Dict[str, str]:
    lines = one(documents, "ConfigMap", "-conf")["data"]["spark-defaults.conf"].splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_lint(helm: str) -> None:
    run = run_helm(helm, "lint", "--strict", str(CHART))
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("otel, monitor, delivery", MATRIX)
def test_matrix(helm: str, otel: str, monitor: str, delivery: str) -> None:
    documents = rendered(helm, f"monitoring.openTelemetry.enabled={otel}", f"monitoring.podMonitor.enabled={monitor}",
                         f"monitoring.prometheusRule.enabled={monitor}", f"plugin.delivery={delivery}", "plugin.url=s3a://b/p.jar")
    found = conf(documents)
    assert (found.get("spark.pyrometer.otel.enabled") == "true") == (otel == "true")
    assert ("spark.jars" in found) == (delivery != "image")
    assert {"PodMonitor", "PrometheusRule"} <= {each["kind"] for each in documents} or monitor == "false"
    pods = [each["spec"]["template"]["spec"] for each in documents if each["kind"] == "Deployment"]
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in pod["containers"] + pod.get("initContainers", []):
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
        for container in pod["containers"]:
            assert container["readinessProbe"] and container["livenessProbe"] and container["resources"]["limits"]


def test_plugins_are_joined(helm: str) -> None:
    found = conf(rendered(helm, r"connect.conf.spark\.plugins=my.Plugin"))
    assert found["spark.plugins"].split(",") == [
        "org.apache.spark.sql.connect.SparkConnectPlugin", "io.pyrometer.spark.PyrometerPlugin", "my.Plugin"]


def test_connect_starts_once(helm: str) -> None:
    """In Spark 3.5 its own server class and Connect's plugin would both listen on the port."""
    for sets in ((), ("monitoring.metrics.enabled=false",)):
        documents = rendered(helm, *sets)
        deployment = one(documents, "Deployment", "spark-spark-3-5")
        command = deployment["spec"]["template"]["spec"]["containers"][0]["command"]
        by_class = "org.apache.spark.sql.connect.service.SparkConnectServer" in command
        assert by_class != ("SparkConnectPlugin" in conf(documents).get("spark.plugins", ""))


def test_open_telemetry_values_reach_the_plugin(helm: str) -> None:
    found = conf(rendered(helm, "monitoring.openTelemetry.enabled=true", "monitoring.openTelemetry.resourceAttributes.team=data"))
    assert found["spark.pyrometer.otel.endpoint"] == "http://otel-collector:4317"
    assert found["spark.pyrometer.otel.protocol"] == "grpc"
    assert found["spark.pyrometer.otel.samplingRatio"] == "1.0"
    assert found["spark.pyrometer.otel.serviceName"] == "spark-connect-35"
    assert found["spark.pyrometer.otel.exporterType"] == "otlp"
    assert found["spark.pyrometer.otel.resourceAttributes"] == "team=data"


def test_dashboards_are_config_maps(helm: str) -> None:
    documents = rendered(helm)
    for name in ("job-phase-timeline", "profiling"):
        found = one(documents, "ConfigMap", f"dashboard-{name}")
        assert json.loads(found["data"][f"spark-{name}.json"]) == json.loads((CHART / "dashboards" / f"{name}.json").read_text())


@pytest.mark.parametrize("value", ["monitoring.openTelemetry.samplingRatio=1.5", "monitoring.openTelemetry.protocol=udp",
                                   "monitoring.openTelemetry.endpoint=collector", "monitoring.metrics.port=0",
                                   "plugin.delivery=carrier-pigeon", "monitoring.openTelemetry.sampleRatio=1", "connect.replicas=-1"])
def test_wrong_values_are_refused(helm: str, value: str) -> None:
    run = run_helm(helm, "template", "spark", str(CHART), "--set", value)
    assert run.returncode != 0
    assert value.split("=")[0].split(".")[-1] in run.stderr, run.stderr


def test_alerts_are_rules(helm: str, tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool (Debian's package prometheus has it)")
    spec = one(rendered(helm, "monitoring.prometheusRule.enabled=true"), "PrometheusRule")["spec"]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "alerts.yaml", tmp_path / "test.yml")
    for words in (["check", "rules", "rules.yml"], ["test", "rules", "test.yml"]):
        run = subprocess.run([promtool, *words], check=False, capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stdout + run.stderr
