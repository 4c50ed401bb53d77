"""The servers of the tests are what they should be: each one answers as the real one that it is."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, TypeVar

import conftest
import pytest
from servers import opensearch, spark
from servers.shared import ON_OPENSEARCH, ON_SPARK_3, ON_SPARK_4, ON_YARN, OnYarn, home_or_skip
from servers.tls_proxy import TlsProxy

DOCUMENTS = [{"application": "daily", "cores": cores} for cores in (2, 4, 8)]
Test = TypeVar("Test", bound=Callable[..., None])
LOGS = ("healthy_sql", "data_skew")


def on(marks: List[pytest.MarkDecorator]) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        for one in marks:
            test = one(test)
        return test

    return mark


def bulk(prefix: str) -> List[Dict[str, Any]]:
    return [line for number, document in enumerate(DOCUMENTS)
            for line in ({"index": {"_index": f"{prefix}-raw", "_id": str(number)}}, document)]


@on(ON_OPENSEARCH)
@pytest.mark.parametrize("again", [False, True])
def test_opensearch_finds_what_it_was_given(opensearch_node: opensearch.Node, index_prefix: str, again: bool) -> None:
    node = opensearch_node
    assert node.call("GET", "/").json["version"]["distribution"] == "opensearch"
    listed = node.call("GET", "/_cat/indices?format=json").json
    assert not [index for index in listed if index["index"].startswith("test")], "the indices of a test are removed after it"
    answer = node.call("POST", "/_bulk?refresh=true", bulk(index_prefix))
    assert answer.status == 200 and not answer.json["errors"], answer
    query = {"size": 0, "query": {"match": {"application": "daily"}}, "aggs": {"most": {"max": {"field": "cores"}}}}
    found = node.call("POST", f"/{index_prefix}-*/_search", query).json
    assert found["hits"]["total"]["value"] == 3 and found["aggregations"]["most"]["value"] == 8
    refused = node.call("PUT", f"/{index_prefix}-raw/_doc/9?op_type=create", {"cores": "many"})
    assert refused.status == 400 and refused.json["error"]["type"] == "mapper_parsing_exception"


def ask(proxy: TlsProxy, path: str, password: Optional[str], context: ssl.SSLContext) -> opensearch.Answer:
    headers = {}
    if password is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{proxy.user}:{password}".encode()).decode()
    request = urllib.request.Request(f"{proxy.url}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return opensearch.Answer(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return opensearch.Answer(error.code, error.read())


@on(ON_OPENSEARCH)
def test_the_proxy_wants_its_authority_and_its_password(
    opensearch_node: opensearch.Node, opensearch_proxy: TlsProxy, index_prefix: str
) -> None:
    proxy = opensearch_proxy
    path = f"/{index_prefix}-raw/_doc/1"
    assert opensearch_node.call("PUT", path, DOCUMENTS[1]).status == 201
    trusting = ssl.create_default_context(cafile=str(proxy.authority))
    found = ask(proxy, path, proxy.password, trusting)
    assert found.status == 200 and found.json["_source"] == DOCUMENTS[1]
    assert proxy.passed[-1] == ("GET", path)
    asked = len(proxy.passed)
    assert ask(proxy, path, None, trusting).status == 401
    assert ask(proxy, path, "wrong", trusting).status == 401
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        ask(proxy, path, proxy.password, ssl.create_default_context())
    assert len(proxy.passed) == asked, "nothing of these got to OpenSearch"


@on(ON_OPENSEARCH)
def test_the_proxy_passes_bodies_and_connections_on(opensearch_proxy: TlsProxy, index_prefix: str) -> None:
    """A body of unknown length, and a second request over the same connection."""
    proxy = opensearch_proxy
    context = ssl.create_default_context(cafile=str(proxy.authority))
    connection = http.client.HTTPSConnection("localhost", int(proxy.url.rsplit(":", 1)[1]), timeout=30, context=context)
    headers = {"Authorization": proxy.expected(), "Content-Type": "application/json"}
    lines = [json.dumps(line).encode() + b"\n" for line in bulk(index_prefix)]
    connection.request("POST", "/_bulk?refresh=true", iter(lines), headers, encode_chunked=True)
    assert json.loads(connection.getresponse().read())["errors"] is False
    socket = connection.sock
    connection.request("HEAD", f"/{index_prefix}-raw", headers=headers)
    head = connection.getresponse()
    assert (head.status, head.read()) == (200, b"")
    connection.request("GET", f"/{index_prefix}-raw/_count", headers=headers)
    assert json.loads(connection.getresponse().read())["count"] == 3
    assert connection.sock is socket and socket is not None
    connection.close()


@on(ON_YARN)
def test_yarn_knows_the_applications_that_it_ran(on_yarn: OnYarn) -> None:
    finished = on_yarn.yarn.application(on_yarn.finished)
    assert (finished["state"], finished["finalStatus"]) == ("FINISHED", "SUCCEEDED")
    assert (finished["applicationType"], finished["queue"], finished["user"]) == ("SPARK", "default", "pyrometer")
    # Each container takes 512 MiB and Spark's overhead of 384 MiB, in steps of 256 MiB.
    assert finished["memorySeconds"] >= 1024 * finished["vcoreSeconds"] > 0
    assert f'"App ID":"{on_yarn.finished}"' in on_yarn.log.read_text(encoding="utf-8")
    failed = on_yarn.yarn.application(on_yarn.failed)
    assert (failed["state"], failed["finalStatus"]) == ("FAILED", "FAILED")
    assert "exitCode: 3" in failed["diagnostics"]
    metrics = on_yarn.yarn.metrics()
    assert metrics["appsCompleted"] >= 1 and metrics["appsFailed"] >= 1 and metrics["activeNodes"] == 1
    assert metrics["availableMB"] == metrics["totalMB"] == 4096


@pytest.mark.parametrize("version", [
    pytest.param(spark.SPARK_3, marks=ON_SPARK_3),
    pytest.param(spark.SPARK_4, marks=ON_SPARK_4),
])
def test_a_history_server_sees_logs_that_are_added(version: str, tmp_path: Path) -> None:
    home = home_or_skip(version)
    with spark.HistoryServer(home, tmp_path, spark.WATCHING) as server:
        for number, name in enumerate(LOGS, 1):
            spark.add_log(conftest.ROOT / "corpus" / "logs" / f"{name}.zst", tmp_path)
            assert server.wait_for_attempts(number) == number, server.printed()[-2000:]
