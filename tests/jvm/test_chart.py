"""The chart: what it makes of values, and which values it refuses."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml
from conftest import ROOT
from servers import Unavailable, collector, isolated, s3, shared

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


def test_numbers_keep_their_digits(helm: str, tmp_path: Path) -> None:
    """Numbers of a file of values are floating point in templates."""
    given = {"spark.sql.autoBroadcastJoinThreshold": 104857600, "spark.memory.fraction": 0.00001, "spark.speculation": True}
    (tmp_path / "values.yaml").write_text(json.dumps({"connect": {"conf": given}}), encoding="utf-8")
    run = run_helm(helm, "template", "spark", str(CHART), "-f", str(tmp_path / "values.yaml"))
    assert run.returncode == 0, run.stderr
    found = conf([document for document in yaml.safe_load_all(run.stdout) if document])
    assert [found[key] for key in given] == ["104857600", "0.00001", "true"]


@pytest.mark.parametrize("release", ["true", "123a", "my.release", "1e3"])
def test_names_are_texts(helm: str, release: str) -> None:
    run = run_helm(helm, "template", release, str(CHART))
    assert run.returncode == 0, run.stderr
    documents = [document for document in yaml.safe_load_all(run.stdout) if document]
    assert {document["metadata"]["labels"]["app.kubernetes.io/instance"] for document in documents} == {release}
    services = [document["metadata"]["name"] for document in documents if document["kind"] == "Service"]
    assert services and not any("." in name or name[0].isdigit() for name in services)


def test_images_are_those_of_the_recipes() -> None:
    """Of docker/: what they copy exists, and the chart names their versions and places."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    recipe = (ROOT / "docker" / "spark-3.5" / "Dockerfile").read_text(encoding="utf-8")
    assert f"-t {values['image']['repository']}:{values['image']['tag']} " in recipe
    assert f"FROM apache/spark:{values['image']['tag']}-scala2.12" in recipe
    assert f"-t {values['plugin']['initContainer']['image']} " in recipe
    assert recipe.count(values["plugin"]["initContainer"]["path"]) == 1
    for words in (line.split() for line in recipe.splitlines() if line.startswith("COPY ") and "--from" not in line):
        assert (ROOT / words[1]).exists(), words
    libraries = (ROOT / "docker" / "spark-3.5" / "pom.xml").read_text(encoding="utf-8")
    assert f"<version>{values['image']['tag']}</version>" in libraries
    assert all(coordinate.split(":")[2] in libraries for coordinate in s3.S3A)
    server = (ROOT / "docker" / "pyrometer" / "Dockerfile").read_text(encoding="utf-8")
    image = values["pyrometer"]["image"]
    assert f"-t {image['repository']}:{image['tag']} " in server


def test_server_answers_by_the_name_of_its_service(helm: str, binary: str, tmp_path: Path) -> None:
    """The command of the chart, in a network of its own, since it listens on all addresses."""
    documents = rendered(helm)
    (container,) = one(documents, "Deployment", "-pyrometer")["spec"]["template"]["spec"]["containers"]
    folders = {"/events": tmp_path / "events", "/tmp/cache": tmp_path / "cache"}
    for folder in folders.values():
        folder.mkdir()
    words = [binary, *container["command"][1:]]
    for inside, folder in folders.items():
        words = [word.replace(inside, str(folder)) for word in words]
    port = container["ports"][0]["containerPort"]
    service = one(documents, "Service", "-pyrometer")["metadata"]["name"]
    asked = [f"127.0.0.1:{port}", f"{service}:{port}", f"{service}.default.svc:{port}", "somewhere.else:80"]
    script = Path(__file__).parent / "jobs" / "ask_server.py"
    command = shared.or_skip(isolated.command, [sys.executable, str(script), str(port), ",".join(asked), *words])
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [200, 200, 200, 421]


def test_file_systems_are_measured_where_asked_for(helm: str) -> None:
    assert "spark.pyrometer.fileSystems.enabled" in conf(rendered(helm))
    found = conf(rendered(helm, "monitoring.s3aMetrics.enabled=true", "monitoring.s3aMetrics.interval=30s"))
    assert (found["spark.pyrometer.fileSystems.enabled"], found["spark.pyrometer.fileSystems.interval"]) == ("true", "30s")


def test_dashboards_are_config_maps(helm: str) -> None:
    documents = rendered(helm)
    for name in ("job-phase-timeline", "profiling"):
        found = one(documents, "ConfigMap", f"dashboard-{name}")
        assert json.loads(found["data"][f"spark-{name}.json"]) == json.loads((CHART / "dashboards" / f"{name}.json").read_text())


@pytest.mark.parametrize("value", ["monitoring.openTelemetry.samplingRatio=1.5", "monitoring.openTelemetry.protocol=udp",
                                   "monitoring.openTelemetry.endpoint=collector", "monitoring.metrics.port=0",
                                   "plugin.delivery=carrier-pigeon", "monitoring.openTelemetry.sampleRatio=1", "connect.replicas=-1",
                                   "connect.replicas=2", "eventLog.accessMode=ReadOnce",
                                   "serviceAccount.executors=spark-spark-3-5"])
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
