"""A real API server of Kubernetes over etcd. It checks and keeps objects; nothing runs pods."""

from __future__ import annotations

import json
import os
import secrets
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

from servers import collector, tls_proxy
from servers.process import ServerProcesses

LIMIT_S = 60
ADVERTISED = "192.0.2.1"  # of a range for examples: an API server wants an address that is not loopback, and never uses it
SERVICES = "10.0.0.0/24"
RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}


class Answer(NamedTuple):
    status: int
    body: bytes
    warnings: List[str]  # what kubectl and Helm print as "Warning: ..."

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Kubernetes(ServerProcesses):
    """etcd and kube-apiserver on free ports of the loopback interface, for as long as the context lasts."""

    def __init__(self) -> None:
        super().__init__()
        programs = {name: collector.program(name) for name in ("etcd", "kube-apiserver")}
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-kubernetes-")
        self.folder = Path(self.work.name)
        self.token = secrets.token_hex(16)
        try:
            authority, chain, key = tls_proxy.make_certificates(self.folder)
            self.context = ssl.create_default_context(cafile=str(authority))
            store = self.start_etcd(programs["etcd"])
            self.start_server(programs["kube-apiserver"], store, chain, key)
            self.config = self.write_config(authority)
        except BaseException:
            self.stop()
            raise

    def start_etcd(self, program: Path) -> str:
        """Returns the URL for its clients."""
        client, peer = (f"http://127.0.0.1:{collector.free_port()}" for _ in range(2))
        command = [
            str(program), "--data-dir", str(self.folder / "etcd"), "--unsafe-no-fsync", "--log-level", "warn",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
        ]
        started = self.start(command, self.folder / "etcd.out", cwd=self.folder)
        started.wait_for(lambda: answers(f"{client}/health"), "etcd did not start")
        return client

    def start_server(self, program: Path, store: str, chain: Path, key: Path) -> None:
        """The token is one of an administrator. Accounts get theirs from `account_token`, signed with the server's own key."""
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{self.token},administrator,administrator,"system:masters"\n', encoding="ascii")
        port = collector.free_port()
        self.url = f"https://127.0.0.1:{port}"
        command = [
            str(program), f"--etcd-servers={store}", "--bind-address=127.0.0.1", f"--secure-port={port}",
            f"--advertise-address={ADVERTISED}", "--endpoint-reconciler-type=none", f"--service-cluster-ip-range={SERVICES}",
            f"--tls-cert-file={chain}", f"--tls-private-key-file={key}", f"--token-auth-file={tokens}",
            f"--service-account-key-file={chain}", f"--service-account-signing-key-file={key}",
            f"--service-account-issuer={self.url}", "--authorization-mode=RBAC", "--anonymous-auth=false",
            # Nothing makes the accounts that the one wants of pods, or ends the protection of claims that the other adds.
            "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",
        ]
        started = self.start(command, self.folder / "server.out", cwd=self.folder)
        started.wait_for(self.is_ready, "the API server did not start")

    def write_config(self, authority: Path) -> Path:
        """What Helm and kubectl read."""
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority": str(authority)}}],
            "users": [{"name": "test", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        path = self.folder / "config"
        path.touch(mode=0o600)
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def is_ready(self) -> bool:
        """Ready, and with the namespaces that every cluster has."""
        try:
            return self.call("GET", "/readyz").body == b"ok" and self.call("GET", "/api/v1/namespaces/default").status == 200
        except OSError:
            return False

    def call(self, method: str, path: str, document: Any = None, token: Optional[str] = None) -> Answer:
        """One request with a document; an answer with any status. Unknown fields of the document are errors."""
        if method in ("POST", "PUT"):
            path += ("&" if "?" in path else "?") + "fieldValidation=Strict"
        body = None if document is None else json.dumps(document).encode()
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", method=method, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S, context=self.context) as answer:
                return Answer(answer.status, answer.read(), warnings_of(answer.headers.get_all("Warning")))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), warnings_of(error.headers.get_all("Warning")))

    def create(self, path: str, document: Any) -> Any:
        answer = self.call("POST", path, document)
        assert answer.status == 201, answer
        return answer.json

    def items(self, path: str) -> List[Any]:
        answer = self.call("GET", path)
        assert answer.status == 200, answer
        found: List[Any] = answer.json["items"]
        return found

    def add_namespace(self, name: str, labels: Optional[Dict[str, str]] = None) -> None:
        """With the labels RESTRICTED, pods must keep the strictest of Kubernetes' standards, and Deployments get warnings."""
        self.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels or {}}})

    def add_definition(self, file: Path) -> None:
        """A custom resource definition. Its kinds can be used when this returns."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        made = self.create(path, json.loads(file.read_text(encoding="utf-8")))["spec"]
        group, plural = made["group"], made["names"]["plural"]

        def is_served() -> bool:
            """What Helm asks for first exists, and so are lists of the kind itself."""
            answers = [self.call("GET", f"/apis/{group}/{version['name']}") for version in made["versions"]]
            return all(
                answer.status == 200 and any(each["name"] == plural for each in answer.json["resources"]) for answer in answers
            ) and self.call("GET", f"/apis/{group}/{made['versions'][0]['name']}/{plural}").status == 200

        self.servers[-1].wait_for(is_served, f"{plural} did not come into use")

    def account_token(self, namespace: str, account: str) -> str:
        """A token of a service account, as a pod would have."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        made = self.create(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        token: str = made["status"]["token"]
        return token

    def helm(self, program: Path, *words: str) -> "subprocess.CompletedProcess[str]":
        """Helm, with its own files in the folder of this server."""
        own = {f"HELM_{kind}_HOME": str(self.folder / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        environment = {**os.environ, **own, "KUBECONFIG": str(self.config), "HOME": str(self.folder)}
        return subprocess.run(
            [str(program), *words], check=False, capture_output=True, text=True, env=environment, timeout=LIMIT_S)

    def stop(self) -> None:
        super().stop()
        self.work.cleanup()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def warnings_of(headers: Optional[List[str]]) -> List[str]:
    """The texts of `299 - "TEXT"`."""
    return [each.split('"', 1)[1].rsplit('"', 1)[0].replace('\\"', '"') for each in headers or []]
