"""What the OpenAPI description allows is asked of a running server, and so is what it does not allow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from servers.pyrometer import Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "data_skew.zst"
# positive_data_acceptance: names of settings, prices and findings are beyond what a schema can tell.
# use_after_free, ensure_resource_availability: every upload that is made up is refused.
UNFIT = "positive_data_acceptance,use_after_free,ensure_resource_availability"


@pytest.mark.slow
def test_answers_are_as_described(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed (it needs Python 3.10)")
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(LOG, folder / LOG.name)
    with Server(folder, "--no-cache", "--config", "none", "--store", f"sqlite:{tmp_path / 'store.db'}") as server:
        status, _, body = server.request("GET", "/pyrometer/v1/applications")
        assert status == 200
        names = {"app": json.loads(body)["applications"][0]["id"], "attempt": "-", "rule": "data-skew"}
        config = tmp_path / "schemathesis.toml"
        config.write_text("[parameters]\n" + "".join(f'"path.{key}" = "{value}"\n' for key, value in names.items()))
        command = [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run",
            str(conftest.ROOT / "docs" / "api" / "openapi.json"),
            "--url", f"http://{server.host}:{server.port}/pyrometer/v1",
            "--phases", "coverage,fuzzing", "--max-examples", "8", "--generation-deterministic",
            "--no-shrink", "--continue-on-failure", "--no-color",
            "--exclude-path", "/events", "--exclude-checks", UNFIT,
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        generated = re.search(r"(\d+) generated", done.stdout)
        assert generated is not None and int(generated.group(1)) > 300, done.stdout[-1000:]
        assert server.request("GET", "/pyrometer/v1/version")[0] == 200
