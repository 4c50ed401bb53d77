"""The mining behind `logs top` against oracles: random logs, and a recording whose statements are known."""

from __future__ import annotations

import random
import tempfile
from typing import List, Sequence, Tuple

import log_chunks as oracle
import pytest
from conftest import ROOT, binary_path, run_command
from log_sites import grouping_accuracy, recorded_sites

Found = List[Tuple[int, List[bytes]]]
SITES = ROOT / "tests" / "artefacts" / "templates"
HEADERS = (
    b"24/03/01 10:15:02 INFO ",
    b"24/03/01 10:15:02 info\t ",
    b"2024-03-01 10:15:02,123 WARN  ",
    b"24/03/01 10:15:02 Error ",
    b"24/03/01 10:15:02 WARNING ",
    b"24/03/01 10:15:02 DEBUG retry after error ",
    b"24/03/01 10:15:02 INFO retry after error code ",
    b"\tat ",
    b"INFO ",
)


def run_on(arguments: Sequence[str], lines: Sequence[bytes]) -> List[bytes]:
    """What the program writes about logs, log after log."""
    program = binary_path().parent / "tests" / "e2e" / "log_chunks"
    with tempfile.TemporaryFile() as logs:
        logs.write(b"".join(line + b"\n" for line in lines))
        logs.seek(0)
        run = run_command([str(program), *arguments], stdin=logs, limit_s=60)
    assert run.exit == 0, run.explain()
    return run.out.split(b"\f\n")


def chunks_in(output: bytes) -> Found:
    """Count and lines of each chunk; the shares must fit them."""
    chunks: Found = []
    shares: List[float] = []
    lines = iter(output.split(b"\n")[:-1])
    for line in lines:
        count, length, share = line.split()
        chunks.append((int(count), [next(lines) for _ in range(int(length))]))
        shares.append(float(share))
    total = sum(count * len(one) for count, one in chunks)
    assert shares == pytest.approx([count * len(one) / total for count, one in chunks])
    return chunks


def random_items(source: random.Random, alphabet: Sequence[bytes]) -> List[bytes]:
    """A log of few different lines, in which pieces repeat."""
    items: List[bytes] = []
    for _ in range(source.randrange(6)):
        piece = source.choices(alphabet, k=source.choice((1, 1, 2, 3, 5, 21)))
        items += piece * source.choice((1, 1, 2, 3, 4))
    return items


def random_logs(count: int, seed: int) -> List[List[bytes]]:
    """Half of the logs have one header, so that everything in them counts."""
    source = random.Random(seed)
    logs = []
    for number in range(count):
        items = random_items(source, [b"a", b"b", b"c"][: source.randint(1, 3)])
        headers = HEADERS[:1] if number % 2 else HEADERS
        logs.append([source.choice(headers) + item for item in items])
    return logs


@pytest.mark.parametrize("level", ["", "warn"])
def test_exact_on_random_logs(level: str) -> None:
    logs = random_logs(10000, seed=17)
    found = run_on(["exact", *([level] if level else [])], [line for log in logs for line in (*log, b"\f")])
    assert len(found) == len(logs) + 1
    for log, output in zip(logs, found):
        assert chunks_in(output) == oracle.top_chunks(log, level.encode()), log


def test_exact_on_recorded_logs() -> None:
    """Real logs, as they are, and with values left out so that lines repeat."""
    logs = []
    for records in recorded_sites(SITES).values():
        logs.append([b"24/03/01 10:15:02 INFO " + one.message for one in records])
        logs.append([b"24/03/01 10:15:02 INFO " + one.message.split(b" ")[0] for one in records])
    assert logs
    found = run_on(["exact"], [line for log in logs for line in (*log, b"\f")])
    for log, output in zip(logs, found):
        assert chunks_in(output) == oracle.top_chunks(log)


def random_files(source: random.Random) -> List[List[str]]:
    """One log of some files, in which sequences of symbols return, now and then disturbed."""
    symbols = "abcdefghijklmnopqrstuvwxyz"[: source.randint(2, 26)]
    sequences = [source.sample(symbols, source.randint(1, len(symbols))) for _ in range(source.randint(1, 3))]
    files = []
    for _ in range(source.randint(1, 3)):
        one = [symbol for _ in range(source.randint(0, 8)) for symbol in source.choice(sequences)]
        disturbed = [i for i in range(len(one)) if source.random() < 0.05]
        for i in disturbed:
            one[i] = source.choice(symbols)
        files.append(one)
    return files


def test_blocks_on_random_logs() -> None:
    source = random.Random(17)
    logs = [random_files(source) for _ in range(2000)]
    lines = []
    for files in logs:
        lines += [line for one in files for line in [*(f"Test\t{symbol}".encode() for symbol in one), b"\v"]] + [b"\f"]
    found = run_on(["chunks"], lines)
    blocks = 0
    for files, output in zip(logs, found):
        chunks = chunks_in(output)
        sizes = [count * len(one) for count, one in chunks]
        assert sizes == sorted(sizes, reverse=True)
        expected = sorted((count, [symbol.encode() for symbol in one]) for count, one in oracle.block_chunks(files))
        assert sorted(chunks) == expected, files
        blocks += sum(len(one) > 1 for _, one in chunks)
    assert blocks > len(logs) / 2  # else the logs prove nothing


def test_grouping_accuracy_on_recorded_logs() -> None:
    """Of lines of real Spark logs, the group of their template is that of the statement that wrote them."""
    right = total = 0
    for records in recorded_sites(SITES).values():
        lines = [one.logger + b"\t" + one.message for one in records]
        templates = run_on(["templates"], [*lines, b"\f"])[0].split()
        part = grouping_accuracy([one.site for one in records], templates)
        right += round(part * len(records))
        total += len(records)
    assert total > 5000
    assert right / total >= 0.9
