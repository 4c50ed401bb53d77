"""The tables of TPC-H that recorded jobs read, written once to a folder."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "record"))
import spark_runs as sr  # noqa: E402

CORPUS = Path(__file__).resolve().parent
GENERATOR = "tpchgen-cli==4.0.0"
VENV_VERSION = "4.3.0"


def prepare_tables(cache: Path, folder: Path) -> None:
    """Write the tables of TPC-H, columnar at scale 2, and the items of orders again as text at scale 1."""
    generator = sr.make_venv(cache, VENV_VERSION, [GENERATOR]) / "bin" / "tpchgen-cli"
    tables = "customer,nation,orders,part,partsupp,region,supplier"
    for form, scale, names, parts in (
        ("parquet", 2, tables, 4),
        ("parquet", 2, "lineitem", 12),
        ("csv", 1, "lineitem", 6),
    ):
        output = folder / "csv" if form == "csv" else folder
        done = folder / f".{form}-{parts}"
        if not done.exists():
            words = [form, "-s", str(scale), f"--tables={names}", f"--parts={parts}", f"--output-dir={output}"]
            subprocess.run([str(generator), *words, "--overwrite"], check=True)
            done.touch()


def prepare_gzip(folder: Path) -> None:
    """Write two of the text files again: as one compressed file, which no task can begin in the middle of, and as they
    are."""
    target, done = folder / "gzip" / "lineitem.csv.gz", folder / ".gzip"
    if done.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    (folder / "plain").mkdir(exist_ok=True)
    with gzip.open(target, "wb", compresslevel=1) as out:
        for part in sorted((folder / "csv" / "lineitem").glob("*.csv"))[:2]:
            shutil.copy(part, folder / "plain")
            with open(part, "rb") as text:
                shutil.copyfileobj(text, out)
    done.touch()


def prepare_modules(workdir: Path) -> None:
    """Put the modules that jobs over these tables share into the folder in which they run."""
    workdir.mkdir(parents=True, exist_ok=True)
    for name in ("jobs/common", "whatif/jobs/tpch", "whatif/jobs/warm"):
        shutil.copy(CORPUS / f"{name}.py", workdir)


def prepare_stock(cache: Path, workdir: Path, script: Path) -> None:
    """Write what a program makes of the tables for others, once."""
    done = workdir / "data" / "tpch" / f".{script.stem}"
    if not done.exists():
        run = sr.Run(script.stem, script, conf={"spark.driver.memory": "2g"})
        sr.run_to_end(sr.make_venv(cache, VENV_VERSION), workdir, run, None)
        done.touch()
