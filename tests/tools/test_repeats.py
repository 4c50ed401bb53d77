"""Code that is written twice is found, and nothing new of it is in the tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

pytest.importorskip("lizard", reason="lizard is not installed (tests/requirements.txt)")

import check_repeats  # noqa: E402

BODY = """
static int {name}(const int *{row}, int {count})
{{
    int {sum} = 0;
    for (int i = 0; i < {count}; i++) {{
        if ({row}[i] > 3 && {row}[i] < 70)
            {sum} += {row}[i] * 2;
        else if ({row}[i] == 71)
            {sum} -= {row}[i] / 2;
        else
            {sum}++;
    }}
    while ({sum} > 1000 && {count} > 0)
        {sum} = {sum} / 10 + {row}[{count} - 1] % 7;
    for (int i = {count} - 1; i > 0 && {sum} > 5; i -= 2)
        {sum} -= {row}[i] > {row}[i - 1] ? 1 : 2;
    return {sum} > 10 ? {sum} : {count};
}}
"""


def test_a_copy_with_other_names_is_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "web" / "src").mkdir(parents=True)
    (tmp_path / "src" / "a.c").write_text(BODY.format(name="add", row="row", count="count", sum="sum"))
    (tmp_path / "src" / "b.c").write_text("\n" + BODY.format(name="total", row="cells", count="length", sum="result"))
    (tmp_path / "src" / "c.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    repeats = check_repeats.found(tmp_path)
    assert list(repeats) == [("src/a.c", "src/b.c")]
    lines, where = repeats["src/a.c", "src/b.c"]
    assert lines >= check_repeats.LINES
    assert "src/a.c:" in where and "src/b.c:" in where


@pytest.mark.slow
def test_nothing_new_is_written_twice() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "check_repeats.py")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
