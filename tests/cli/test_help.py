"""Help, did-you-mean, manual pages and completions: all made from the verb and option tables."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cli_command import ROOT, Command, log, pyrometer, verbs  # noqa: F401 (fixtures)


def test_alone_it_prints_a_short_help(pyrometer: Command) -> None:
    run = pyrometer()
    assert run.returncode == 0
    assert "pyrometer diagnose LOG" in run.stdout
    assert len(run.stdout.splitlines()) < 10


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_help_lists_every_verb(pyrometer: Command, words: list[str]) -> None:
    run = pyrometer(*words)
    assert run.returncode == 0
    for verb in verbs():
        assert re.search(rf"^    {verb} ", run.stdout, re.M)


def test_the_views_of_fleets_are_in_help_manual_and_completions(pyrometer: Command) -> None:
    listed = re.search(r"^Views:\n((?: .*\n)+)", pyrometer("help", "fleet").stdout, re.M)
    assert listed
    views = re.findall(r"^    (\w+) ", listed[1], re.M)
    rows = (ROOT / "src" / "fleet" / "views" / "views.def").read_text(encoding="utf-8")
    assert views == [*re.findall(r"^FLEET_VIEW\((\w+),", rows, re.M), "model"]
    assert set(views) <= set(re.findall(r"\w+", pyrometer("completions", "bash").stdout))
    page = pyrometer("man", "fleet").stdout
    assert all(f"\n.TP\n.B {view}\n" in page for view in views)


@pytest.mark.parametrize("verb", verbs())
def test_help_of_a_verb(pyrometer: Command, verb: str) -> None:
    run = pyrometer(verb, "--help")
    assert (run.returncode, run.stderr) == (0, "")
    assert f"Usage: pyrometer {verb}" in run.stdout
    assert "Examples:\n    pyrometer" in run.stdout or "Examples:\n    source" in run.stdout
    assert all(len(line) <= 100 for line in run.stdout.splitlines())
    assert pyrometer("help", verb).stdout == run.stdout


@pytest.mark.parametrize("verb", verbs())
def test_the_page_of_a_verb_names_its_options(pyrometer: Command, verb: str) -> None:
    page = (ROOT / "docs" / "cli" / f"{verb}.md").read_text(encoding="utf-8")
    for option in re.findall(r"^    (?:-\w, )?(--[\w-]+)", pyrometer(verb, "--help").stdout, re.M):
        assert option in page or option == "--help"


def statuses_of(text: str) -> list[int]:
    """The exit statuses that a help lists."""
    section = re.search(r"^Exit status:\n((?:    .*\n)+)", text, re.M)
    assert section
    return [int(number) for number in re.findall(r"^    (\d+)  ", section.group(1), re.M)]


def test_help_lists_every_exit_status(pyrometer: Command) -> None:  # noqa: F811
    assert statuses_of(pyrometer("help").stdout) == [0, 1, 2, 3, 4, 130]
    assert re.findall(r"^\.TP\n(\d+)$", pyrometer("man").stdout, re.M) == ["0", "1", "2", "3", "4", "130"]
    table = re.search(r"## Exit status\n\n(.*?)\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert table
    assert re.findall(r"^\| (\d+) \|", table.group(1), re.M) == ["0", "1", "2", "3", "4", "130"]


@pytest.mark.parametrize("verb", verbs())
def test_help_manual_and_page_of_a_verb_agree_on_its_exit_statuses(pyrometer: Command, verb: str) -> None:  # noqa: F811
    said = statuses_of(pyrometer(verb, "--help").stdout)
    assert (1 in said) == (verb == "gate")
    assert (3 in said) == (verb not in ("rules", "doctor", "help", "version", "completions", "man"))
    assert (130 in said) == (verb not in ("crawl", "serve"))  # Ctrl-C is how a server is ended
    manual = pyrometer("man", verb).stdout.split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    assert [int(number) for number in re.findall(r"^\.TP\n(\d+)$", manual, re.M)] == said
    page = (ROOT / "docs" / "cli" / f"{verb}.md").read_text(encoding="utf-8").split("## Exit status\n")[1].split("\n## ")[0]
    assert [int(number) for number in re.findall(r"(?:^|\s)(\d+):\s", page)] == said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["diagnoze", "x"], "did you mean 'diagnose'"),
        (["diag"], "did you mean 'diagnose'"),
        (["mann"], "did you mean 'man'"),
        (["diagnose", "--fromat", "json", "x"], "did you mean '--format'"),
        (["diagnose", "--thread=2", "x"], "did you mean '--threads'"),
        (["rules", "data-skw"], "did you mean 'data-skew'"),
    ],
)
def test_did_you_mean(pyrometer: Command, words: list[str], meant: str) -> None:
    run = pyrometer(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert meant in run.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--no-such-option"],
        ["serve"],
        ["diagnose"],
        ["diagnose", "-q", "x"],
        ["diagnose", "--format", "xml", "x"],
        ["diagnose", "--format"],
        ["diagnose", "--details=yes", "x"],
        ["diagnose", "--threads", "many", "x"],
        ["diagnose", "--threads", "-1", "x"],
        ["diagnose", "--threads", "99999999999999999999", "x"],
        ["diagnose", "--width", "3", "x"],
        ["diagnose", "--tz", "Mars", "x"],
        ["diagnose", "--tz", "+25:00", "x"],
        ["diagnose", "--max-record-size", "12Q", "x"],
        ["diagnose", "--max-record-size", "99999999T", "x"],
        ["diagnose", "-", "-"],
        ["sql", "x"],
        ["sql", "x", "SELECT 1", "more"],
        ["sql", "-", "-"],
        ["rules", "no-such-rule-at-all"],
        ["doctor", "x"],
        ["completions", "tcsh"],
        ["completions"],
        ["man", "nothing"],
        ["help", "nothing"],
    ],
)
def test_a_wrong_command_line_exits_with_2(pyrometer: Command, words: list[str]) -> None:
    run = pyrometer(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("pyrometer")
    assert "Try 'pyrometer help" in run.stderr


def test_a_log_without_a_verb_hints_at_diagnose(pyrometer: Command, log: Path) -> None:
    run = pyrometer(log)
    assert run.returncode == 2
    assert f"pyrometer diagnose {log}" in run.stderr


def test_version(pyrometer: Command) -> None:
    declared = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))
    assert declared
    for word in ("version", "--version", "-V"):
        assert pyrometer(word).stdout == f"pyrometer {declared.group(1)}\n"


@pytest.mark.parametrize("verb", ["", *verbs()])
def test_manual_pages_are_clean_roff(pyrometer: Command, verb: str) -> None:
    page = pyrometer("man", *([verb] if verb else [])).stdout
    assert page.startswith(".TH ")
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    run = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stderr == ""
    assert "PYROMETER" in run.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_parse(pyrometer: Command, shell: str) -> None:
    script = pyrometer("completions", shell).stdout
    assert "diagnose" in script
    assert "data-skew" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    run = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pyrometer", "dia"], {"diagnose"}),
        (["pyrometer", "diagnose", "--for"], {"--format"}),
        (["pyrometer", "diagnose", "--format", "j"], {"json", "junit"}),
        (["pyrometer", "help", "do"], {"doctor"}),
        (["pyrometer", "rules", "data-s"], {"data-skew"}),
    ],
)
def test_bash_completes(pyrometer: Command, words: list[str], expected: set[str]) -> None:
    line = " ".join(f"'{word}'" for word in words)
    script = f"""
{pyrometer("completions", "bash").stdout}
COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _pyrometer; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert set(run.stdout.split()) == expected


def test_sql_names_every_table(pyrometer: Command) -> None:  # noqa: F811
    tables = re.findall(r"^PYRO_TABLE\((\w+),", (ROOT / "src/model/tables/tables.def").read_text(encoding="utf-8"), re.M)
    assert len(tables) > 10
    words = re.findall(r"\w+", pyrometer("sql", "--help").stdout)
    assert [table for table in tables if table not in words] == []
