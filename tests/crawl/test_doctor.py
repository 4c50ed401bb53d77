"""`doctor --config` says what of a configuration works; `crawl --from-spot` makes one of Spot's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional

import conftest
from fleet import crawl, make_fleet
from site_of_tests import ChosenSite, Reply, as_json

SPOT = """\
[SPARK_HISTORY]
api_base_url = http://127.0.0.1:9/api/v1

[CRAWLER]
sleep_seconds = 10
skip_exceptions = True

[SPOT_ELASTICSEARCH]
elasticsearch_url = https://spot:es-secret@search.invalid:9200
username = 'spot: user'
password = "es-secret"
raw_index = spot_raw_1
agg_index = spot_agg_1
err_index = spot_err_1

# comment
[MENAS]
api_base_url: http://127.0.0.1:9/menas/api/
username = menas
password = menas-secret

[MISC]
output_dir = output
log_level = debug

[OTHER]
some_key = 1
"""


def doctor(config: Path, env: Optional[Dict[str, str]] = None, exit: int = 0) -> List[Any]:
    words = ["env", *(f"{key}={value}" for key, value in (env or {}).items())]
    words += [str(conftest.binary_path()), "doctor", "--format", "json", "--config", str(config)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == exit, done.stderr
    if exit:
        return [done.stderr]
    return [(row["name"], row["available"], row["detail"]) for row in json.loads(done.stdout)["features"] if row["kind"] == "crawl"]


def test_what_works_and_what_does_not(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    make_fleet(logs, 3)
    config = tmp_path / "crawl.yaml"
    with ChosenSite() as site:
        site.pages["/api/v1/applications"] = as_json([])
        site.pages["/ws/v1/cluster/metrics"] = as_json({"clusterMetrics": {}})
        site.pages["/menas/login"] = lambda asked: Reply(b"", 403)
        enrichers = [
            {"yarn": site.url},
            {"yarn": "http://127.0.0.1:9"},
            {"menas": site.url + "/menas", "user": "me", "password": "env:PW"},
            {"http": site.url + "/runs/{app_id}", "tags": {"a": "{/a}"}},
        ]
        sources = [str(logs), str(tmp_path / "nowhere"), {"url": site.url}, {"url": "http://127.0.0.1:9"}]
        config.write_text(json.dumps({"store": f"sqlite:{tmp_path}/runs.db", "sources": sources, "enrichers": enrichers}))
        found = doctor(config, {"PW": "secret-pw"})
    assert [works for _, works, _ in found] == [True, True, False, True, False, True, False, False, True], found
    assert found[0][0] == "store" and "3 logs" in found[1][2] and "secret-pw" not in str(found)
    assert not (tmp_path / "runs.db").exists()  # it only looks
    make_fleet(logs, 1, first=9)
    assert crawl(logs, "--store", f"sqlite:{tmp_path}/runs.db", "--once").returncode == 0
    config.write_text(json.dumps({"store": f"sqlite:{tmp_path}/runs.db"}))
    assert doctor(config)[0][1:] == (True, "can be read and written")
    config.write_text(json.dumps({"store": f"sqlite:{tmp_path}/no/such/folder/runs.db"}))
    assert not doctor(config)[0][1]
    config.write_text("storr: x\n")
    assert "did you mean 'store'" in doctor(config, exit=2)[0]


def test_from_spot(tmp_path: Path) -> None:
    spot, config = tmp_path / "config.ini", tmp_path / "crawl.yaml"
    spot.write_text(SPOT)
    done = crawl("--from-spot", spot)
    assert done.returncode == 0, done.stderr
    assert "secret" not in done.stdout.lower() and "not translated: [OTHER] some_key" in done.stdout
    config.write_text(done.stdout)
    text = done.stdout
    for line in (
        "url: 'opensearch:https://search.invalid:9200/spot'",
        "user: 'spot: user'",
        "password: env:SPOT_ELASTICSEARCH_PASSWORD",
        "raw: 'spot_raw_1'",
        "every: 10s",
        "- url: 'http://127.0.0.1:9'",
        "- menas: 'http://127.0.0.1:9/menas/api'",
        "password: env:MENAS_PASSWORD",
    ):
        assert line in text, line
    found = doctor(config, {"SPOT_ELASTICSEARCH_PASSWORD": "a", "MENAS_PASSWORD": "b"})
    assert [name for name, _, _ in found] == ["store", "http://127.0.0.1:9", "http://127.0.0.1:9/menas/api"]


def test_from_a_small_spot(tmp_path: Path) -> None:
    spot, config = tmp_path / "config.ini", tmp_path / "crawl.yaml"
    spot.write_text("[SPARK_HISTORY]\napi_base_url=http://127.0.0.1:9/api/v1/\n[CRAWLER]\nsleep_seconds = soon\n")
    done = crawl("--from-spot", spot)
    config.write_text(done.stdout)
    assert done.returncode == 0 and len(doctor(config)) == 2
    assert crawl("--from-spot", tmp_path / "none.ini").returncode == 3
    (tmp_path / "empty.ini").write_text("nothing\n")
    assert crawl("--from-spot", tmp_path / "empty.ini").returncode == 3


def test_from_a_large_spot(tmp_path: Path) -> None:
    """Nothing is cut off: the last key counts, or there is an error."""
    spot, end = tmp_path / "config.ini", "[SPARK_HISTORY]\napi_base_url=http://127.0.0.1:9/api/v1\n"
    spot.write_text("# comment\n" + "#" * (2**20 - len(end) - 11) + "\n" + end)
    assert spot.stat().st_size == 2**20
    done = crawl("--from-spot", spot)
    assert done.returncode == 0 and "- url: 'http://127.0.0.1:9'" in done.stdout
    with spot.open("a") as file:
        file.write("#")
    done = crawl("--from-spot", spot)
    assert (done.returncode, done.stdout) == (3, "")
    assert str(spot) in done.stderr and "larger than 1 MiB" in done.stderr
    done = crawl("--from-spot", tmp_path)
    assert done.returncode == 3 and "cannot read" in done.stderr


