"""A real Prometheus that scrapes one application every second, with rules where there are some."""

from __future__ import annotations

import json
import shutil
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Dict, List

from servers import Unavailable, collector
from servers.process import ServerProcess


def program() -> str:
    found = shutil.which("prometheus")
    if found is None:
        raise Unavailable("prometheus is missing (Debian's package has that name)")
    return found


class Prometheus(ServerProcess):
    def __init__(self, folder: Path, target: int, rules: str = "") -> None:
        binary = program()
        folder.mkdir()
        self.port = collector.free_port()
        config: Dict[str, Any] = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "scrape_configs": [{"job_name": "spark", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}],
        }
        if rules:
            (folder / "rules.yml").write_text(rules, encoding="utf-8")
            config["rule_files"] = ["rules.yml"]
        (folder / "config.yml").write_text(json.dumps(config), encoding="utf-8")
        command = [binary, f"--config.file={folder / 'config.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                   f"--web.listen-address=127.0.0.1:{self.port}"]
        super().__init__(command, folder / "output", cwd=folder)
        self.wait_for(lambda: "Server is ready" in self.printed(), "Prometheus did not start")

    def get(self, path: str, **parameters: str) -> Any:
        asked = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{asked}", timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str, time_s: float) -> List[Dict[str, Any]]:
        result: List[Dict[str, Any]] = self.get("query", query=expression, time=f"{time_s:.3f}")["result"]
        return result

    def found_in(self, expression: str, since_s: float, until_s: float) -> bool:
        """Whether a query finds data at any of the seconds."""
        return bool(self.get("query_range", query=expression, start=f"{since_s:.3f}", end=f"{until_s:.3f}", step="1")["result"])

    def fired(self, since_s: float, until_s: float) -> List[str]:
        """Names of the alerts that did so."""
        rows = self.get("query_range", query='ALERTS{alertstate="firing"}', start=f"{since_s:.3f}", end=f"{until_s:.3f}", step="1")
        return sorted({row["metric"]["alertname"] for row in rows["result"]})
