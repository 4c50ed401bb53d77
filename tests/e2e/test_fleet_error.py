"""The models on recorded runs: against the oracle, and the tables of docs/models.md are what the script writes."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "corpus"))

import fleet_error  # noqa: E402
import fleet_models as oracle  # noqa: E402
import pytest  # noqa: E402
from conftest import binary_path  # noqa: E402

pytestmark = pytest.mark.xdist_group("fleet_error")
Json = Dict[str, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tuple[List[Json], str]:
    runs: List[Json] = fleet_error.manifest()["runs"]
    folder = tmp_path_factory.mktemp("fleet")
    return runs, fleet_error.make_store(str(binary_path()), folder, (row["log"] for row in runs))


def test_there_are_enough_runs(recorded: Tuple[List[Json], str]) -> None:
    runs, _ = recorded
    assert len(runs) >= 60
    assert len({row["application"] for row in runs if row["split"] == "held-out"}) >= 4
    assert all(row["foreign_share"] <= 0.06 for row in runs)


def test_errors_equal_the_oracle(recorded: Tuple[List[Json], str]) -> None:
    """Fits in exact fractions on what the manifest measured give the errors and intervals of the three formulas."""
    runs, store = recorded
    compared = 0
    for name in {row["application"] for row in runs}:
        document = json.loads(fleet_error.run(str(binary_path()), "fleet", "model", name, store, "--format", "json"))
        if document["runs"]["outliers"]:
            continue  # which ones, the manifest does not say
        with sqlite3.connect(store.partition(":")[2]) as db:
            largest = dict(
                db.execute(
                    "SELECT run.duration_ms, value FROM aggregate JOIN aggregate_name ON aggregate_name.id = aggregate.name"
                    " JOIN run ON run.key = aggregate.run WHERE aggregate_name.name = 'stages.inputBytes.max'"
                    " AND run.application = ?",
                    (name,),
                )
            )
            inputs = dict(db.execute("SELECT duration_ms, input_bytes FROM run WHERE application = ?", (name,)))
        db.close()
        known = [
            oracle.Run(row["wall_ms"], row["executors"], row["cores"], inputs[row["wall_ms"]], largest[row["wall_ms"]])
            for row in runs
            if row["application"] == name
        ]
        for model in document["models"]:
            if model["name"] != "simulator" and model["error"] is not None:
                fit = oracle.analytic(model["name"], known, known[-1])
                found = (model["predictions"], model["error"], model["interval"]["low"], model["interval"]["high"])
                assert found == pytest.approx((fit.predictions, fit.error, fit.low, fit.high), rel=1e-6, abs=1e-9), name
                compared += 1
    assert compared >= 6


def test_the_page_has_these_figures(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    for name, lines in fleet_error.sections(str(binary_path()), tmp_path).items():
        begin, end = f"<!-- fleet_error.py: {name} -->\n", f"<!-- fleet_error.py: end of {name} -->"
        assert page.partition(begin)[2].partition(end)[0] == "\n".join(lines) + "\n", name
