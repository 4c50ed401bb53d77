"""The chart in a real API server of Kubernetes, and against the schemas of Kubernetes and of the Prometheus operator."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, List, Set

import conftest
import pytest
from conftest import ROOT
from servers import Unavailable, collector, kubernetes, shared, spark
from servers.process import ServerProcess

sys.path.insert(0, str(ROOT / "tests" / "record"))

import kube_schemas  # noqa: E402

CHART = str(ROOT / "charts" / "spark-3.5")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("Kubernetes")]
MATRIX = list(itertools.product(("true", "false"), ("true", "false"), ("image", "initContainer", "url")))
KINDS = (
    "/api/v1/{}/configmaps", "/api/v1/{}/services", "/api/v1/{}/serviceaccounts", "/apis/apps/v1/{}/deployments",
    "/apis/rbac.authorization.k8s.io/v1/{}/roles", "/apis/rbac.authorization.k8s.io/v1/{}/rolebindings",
    "/apis/networking.k8s.io/v1/{}/networkpolicies", "/apis/monitoring.coreos.com/v1/{}/podmonitors",
    "/apis/monitoring.coreos.com/v1/{}/prometheusrules",
)
EVERYTHING = (
    "monitoring.openTelemetry.enabled=true", "monitoring.openTelemetry.headersSecret=headers",
    "monitoring.s3aMetrics.enabled=true", "monitoring.podMonitor.enabled=true", "monitoring.prometheusRule.enabled=true",
    "plugin.delivery=initContainer", "networkPolicy.clients.app=client", "networkPolicy.monitors.app=prometheus",
    "imagePullSecrets[0].name=registry",
)


def setting(*values: str) -> List[str]:
    return [word for value in values for word in ("--set", value)]


@pytest.fixture(scope="module")
def helm() -> Path:
    return shared.or_skip(collector.program, "helm")


@pytest.fixture(scope="module")
def schemas() -> kube_schemas.Places:
    def make() -> kube_schemas.Places:
        try:
            return kube_schemas.make(conftest.cache_folder().absolute())
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f"schemas of Kubernetes cannot be had: {error}") from error

    return shared.or_skip(make)


@pytest.fixture(scope="module")
def cluster(schemas: kube_schemas.Places) -> Iterator[kubernetes.Kubernetes]:
    with shared.or_skip(kubernetes.Kubernetes) as running:
        for name in ("podmonitors", "prometheusrules"):
            running.add_definition(schemas.crds / f"{name}.json")
        yield running


def stored(cluster: kubernetes.Kubernetes, namespace: str) -> Set[str]:
    names = set()
    for path in KINDS:
        for each in cluster.items(path.format(f"namespaces/{namespace}")):
            names.add(f"{path.rsplit('/', 1)[1]}/{each['metadata']['name']}")
    return names


def pod_of(deployment: Any) -> Any:
    """What the controller of Deployments would make."""
    template = deployment["spec"]["template"]
    metadata = {"name": deployment["metadata"]["name"], "labels": template["metadata"]["labels"]}
    return {"metadata": metadata, "spec": template["spec"]}


@pytest.mark.parametrize("otel, monitor, delivery", MATRIX)
def test_schemas(helm: Path, schemas: kube_schemas.Places, otel: str, monitor: str, delivery: str) -> None:
    kubeconform = shared.or_skip(collector.program, "kubeconform")
    values = setting(f"monitoring.openTelemetry.enabled={otel}", f"monitoring.podMonitor.enabled={monitor}",
                     f"monitoring.prometheusRule.enabled={monitor}", f"plugin.delivery={delivery}", "plugin.url=s3a://b/p.jar")
    made = subprocess.run([str(helm), "template", "spark", CHART, *values], check=True, capture_output=True)
    command = [str(kubeconform), "-strict", "-summary", "-schema-location", schemas.location]
    run = subprocess.run(command, check=False, capture_output=True, input=made.stdout)
    assert run.returncode == 0 and b"Skipped: 0" in run.stdout, run.stdout.decode()


def test_install_upgrade_uninstall(helm: Path, cluster: kubernetes.Kubernetes) -> None:
    cluster.add_namespace("data", kubernetes.RESTRICTED)
    defaults, without = ["upgrade", "--reset-values"], ["upgrade", *setting("pyrometer.enabled=false")]
    for words in (["install", *setting(*EVERYTHING)], defaults, without, defaults):
        run = cluster.helm(helm, words[0], "spark", CHART, "-n", "data", *words[1:])
        assert run.returncode == 0 and "arning" not in run.stderr, run.stderr
        assert "sc://spark-spark-3-5.data:15002" in run.stdout  # what Helm prints to start with
        assert ("port-forward service/spark-spark-3-5-pyrometer" in run.stdout) == ("pyrometer.enabled=false" not in words)
        names = stored(cluster, "data")
        assert ("podmonitors/spark-spark-3-5" in names) == (words[0] == "install")
        assert ("deployments/spark-spark-3-5-pyrometer" in names) == ("pyrometer.enabled=false" not in words)
    run = cluster.helm(helm, "uninstall", "spark", "-n", "data")
    assert run.returncode == 0, run.stderr
    assert stored(cluster, "data") == set()


def test_pods_keep_the_strictest_standard(helm: Path, cluster: kubernetes.Kubernetes) -> None:
    cluster.add_namespace("strict", kubernetes.RESTRICTED)
    run = cluster.helm(helm, "install", "spark", CHART, "-n", "strict", *setting(*EVERYTHING))
    assert run.returncode == 0, run.stderr
    for deployment in cluster.items("/apis/apps/v1/namespaces/strict/deployments"):
        answer = cluster.call("POST", "/api/v1/namespaces/strict/pods", pod_of(deployment))
        assert answer.status == 201 and not answer.warnings, answer


def test_driver_may_start_executors_and_no_more(helm: Path, cluster: kubernetes.Kubernetes) -> None:
    cluster.add_namespace("rights")
    assert cluster.helm(helm, "install", "spark", CHART, "-n", "rights").returncode == 0
    token = cluster.account_token("rights", "spark-spark-3-5")
    pod = {"metadata": {"name": "executor"}, "spec": {"containers": [{"name": "executor", "image": "spark"}]}}
    for kind, status in (("pods", 200), ("configmaps", 200), ("secrets", 403)):
        assert cluster.call("GET", f"/api/v1/namespaces/rights/{kind}", token=token).status == status
    assert cluster.call("POST", "/api/v1/namespaces/rights/pods", pod, token=token).status == 201
    assert cluster.call("POST", "/api/v1/namespaces/default/pods", pod, token=token).status == 403


@pytest.fixture(scope="module")
def executor(helm: Path, cluster: kubernetes.Kubernetes, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The first pod that a real driver with the chart's settings asks for, where the strictest standard is enforced."""
    home = shared.home_or_skip()
    folder = tmp_path_factory.mktemp("driver")
    cluster.add_namespace("executors", kubernetes.RESTRICTED)
    values = setting("plugin.delivery=initContainer", "imagePullSecrets[0].name=registry", "image.pullPolicy=Always")
    run = cluster.helm(helm, "install", "spark", CHART, "-n", "executors", *values)
    assert run.returncode == 0, run.stderr
    data = cluster.call("GET", "/api/v1/namespaces/executors/configmaps/spark-spark-3-5-conf").json["data"]
    (folder / "executor.yaml").write_text(data["executor.yaml"], encoding="utf-8")
    deployment = cluster.call("GET", "/apis/apps/v1/namespaces/executors/deployments/spark-spark-3-5").json
    cluster.create("/api/v1/namespaces/executors/pods", pod_of(deployment))
    conf = dict(line.split(" ", 1) for line in data["spark-defaults.conf"].splitlines())
    assert conf.pop("spark.jars").startswith("file:")  # executors get it from the driver: they have no such file
    for key in ("spark.plugins", "spark.connect.grpc.interceptor.classes", "spark.metrics.conf"):
        conf.pop(key, None)
    conf.update({
        "spark.master": f"k8s://{cluster.url}", "spark.kubernetes.driver.pod.name": deployment["metadata"]["name"],
        "spark.kubernetes.authenticate.oauthToken": cluster.account_token("executors", "spark-spark-3-5"),
        "spark.kubernetes.authenticate.caCertFile": str(cluster.folder / "authority.pem"),
        "spark.kubernetes.executor.podTemplateFile": str(folder / "executor.yaml"),
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.port": "0",
        "spark.driver.blockManager.port": "0", "spark.ui.enabled": "false", "spark.eventLog.enabled": "false",
    })
    (folder / "conf").write_text("".join(f"{key} {value}\n" for key, value in conf.items()), encoding="utf-8")
    (folder / "wait.py").write_text(
        "import time\nfrom pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate()\ntime.sleep(600)\n", encoding="utf-8")
    command = [str(home / "bin" / "spark-submit"), "--properties-file", str(folder / "conf"), str(folder / "wait.py")]
    with ServerProcess(command, folder / "output", cwd=folder, env=spark.spark_runs.spark_env(spark.venv())) as driver:
        pods = driver.wait_for(
            lambda: [pod for pod in cluster.items("/api/v1/namespaces/executors/pods")
                     if pod["metadata"]["labels"].get("spark-role") == "executor"], "the driver made no executor")
    return pods[0]


def test_executors_may_do_nothing(executor: Any) -> None:
    """They run code of users."""
    assert executor["spec"]["serviceAccountName"] == "spark-spark-3-5-executor"
    assert executor["spec"]["automountServiceAccountToken"] is False
    (container,) = executor["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_executors_are_pulled_like_the_driver_and_end_with_it(executor: Any) -> None:
    assert executor["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    assert executor["spec"]["containers"][0]["imagePullPolicy"] == "Always"
    assert [owner["name"] for owner in executor["metadata"]["ownerReferences"]] == ["spark-spark-3-5"]
