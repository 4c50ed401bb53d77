"""Real servers for the tests, each started on a free port of the loopback interface and ended by its own process id.

    servers.process     any server: start, wait until it answers, end
    servers.jars        what Java servers consist of, from Maven Central
    servers.opensearch  OpenSearch
    servers.tls_proxy   TLS and a password before any of them
    servers.pyrometer   `pyrometer serve`
    servers.spark       Spark's History Server and live applications, from the PyPI package
    servers.yarn        YARN, and applications that it runs
    servers.plugin      applications with the Spark plugin
    servers.collector   a collector of OpenTelemetry
    servers.connect     Spark Connect
    servers.s3          an S3 server, and the libraries of S3A
    servers.kubernetes  an API server of Kubernetes over etcd
    servers.isolated    a network of its own, for what listens on all addresses

A server that cannot run here raises `Unavailable` with the reason, which becomes the reason of the skipped test.
"""

from __future__ import annotations


class Unavailable(Exception):
    """Why a real server cannot be started on this machine."""
