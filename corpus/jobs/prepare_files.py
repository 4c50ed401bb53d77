"""Write the input of the held-out jobs that no Spark would write: plain Python, once."""

import gzip
import hashlib
import json
from pathlib import Path

DATA = Path.cwd() / "data"


def uneven_csv() -> None:
    """Twelve gzipped files; the eighth has eleven times the rows of each other."""
    folder = DATA / "uneven-csv"
    folder.mkdir(parents=True, exist_ok=True)
    first = 0
    for number in range(12):
        count = 330_000 if number == 7 else 30_000
        with gzip.open(folder / f"part-{number:02}.csv.gz", "wt", compresslevel=1) as out:
            for row in range(first, first + count):
                out.write(f"{row},{row % 97},{hashlib.md5(str(row).encode()).hexdigest()}\n")
        first += count


def tiny_json() -> None:
    """Three thousand files of a few rows each."""
    folder = DATA / "tiny-json"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(3000):
        rows = ({"kind": f"k{r % 3}", "value": number * 8 + r, "note": "x" * 20} for r in range(8))
        (folder / f"{number:04}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


def main() -> None:
    done = DATA / "held-out-files"
    if not done.exists():
        uneven_csv()
        tiny_json()
        done.touch()


if __name__ == "__main__":
    main()
