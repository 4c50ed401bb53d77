#!/usr/bin/env python3
"""Changes every threshold of a rule and every constant of a model by a third, and says which changes no test notices.

    python3 tools/mutate.py                        # all constants, with the unit tests of their layers
    python3 tools/mutate.py data-skew predict/     # those whose name contains one of these texts
    python3 tools/mutate.py --logs data-skew       # survivors also meet the tests over recorded logs: slow
    python3 tools/mutate.py --list                 # the names, and what is exempt and why

All changes are in one build of a copy of the tree: there, a constant is a call that looks up whether it is the one that
PYRO_MUTANT names. The working tree itself is only read. `--scratch FOLDER` keeps the copy, so that the next run builds only
what changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from project import ROOT

# Folders of src/ whose constants decide answers, and the unit tests that hold them.
FOLDERS = {
    "rules": ("rules", "advice"),
    "replay": ("replay", "predict", "rules", "advice"),
    "cost": ("cost", "predict"),
    "predict": ("predict", "advice"),
    "advice": ("advice", "rules"),
    "fleet/models": ("fleet",),
    "fleet/suggest": ("fleet",),
}
# What other tools report, by their own formulas; how rules are run and shown, not what they find.
LEFT_OUT = ("src/rules/profiles/", "src/rules/config", "src/rules/finding.", "src/rules/judge.", "src/rules/rule.h", "src/rules/stable_id.")
# Compares the tables with what is read from them: it would notice each mutant, though no rule does.
UNFIT = ("rules/config",)
# The tests over recorded logs of the same folders.
LOGS = {
    "rules": ("tests/e2e/test_finding_ids.py",),
    "advice": ("tests/e2e/test_finding_ids.py", "tests/e2e/test_plans.py"),
    "replay": ("tests/e2e/test_simulator.py", "tests/e2e/test_replay.py", "tests/cli/test_whatif.py"),
    "predict": ("tests/cli/test_whatif.py", "tests/e2e/test_plans.py"),
    "cost": ("tests/e2e/test_cost_oracle.py", "tests/cli/test_cost.py"),
    "fleet": ("tests/e2e/test_fleet_models.py", "tests/cli/test_suggest.py"),
}
# What a third more or less does not make wrong, by reason. "FILE:NAME" below src/, or a NAME anywhere.
EXEMPT_NAMES = {
    "a unit": "MIB GIB MS_PER_MINUTE HOUR_MS DAY_MS NS_PER_MS",
    "bounds memory or work, far beyond what runs have": """
        CAUSES_KEPT IDS_MAX INDICES_MAX LEADS NAMED_MAX NEARBY PAIRS_MAX PRICED_MAX READ_ROWS SHOWN SITES_MAX SLICES STAGES_MAX
        TEXT_BYTES WAITS_MAX FINDINGS_MAX PYRO_KNOWN_SETTINGS_MAX PYRO_OUTLIERS_MAX PYRO_RELIEFS_MAX PYRO_PLAN_VALUES PYRO_PLAN_CASES_MAX
        PYRO_RAMP_STRETCHES PYRO_SAMPLED_VALUES GAPS_SHOWN OTHERS_MAX
        ROOM_MAX GROUPS_MAX POOLS_MAX WINDOWS_MAX ATTEMPTS_LOOKED_AT PARENTS_MAX LANES_LOOKED_AT LOOKED_AT FAIR_LOOKED_AT WAITING_PARTITIONS_MAX
        REPLAY_TIME_MAX REPLAY_MS_MAX REPLAY_NEEDS_MAX REPLAY_ATTEMPTS_MAX REPLAY_HOLDING_MAX REPLAY_KNOWN_MAX PYRO_REPLAY_PARTITIONS
        EVENTS_BETWEEN_LOOKS
        SIZES SHAPES LINES NOTES TASKS NODES_MAX EXECUTORS_MAX CORES_MAX PYRO_COST_ADVICE_MAX cost/attempt_uses.c:RUN
        SWEEPS_MAX STARTS_MAX PROFILES TYPICAL SAMPLE WRITERS_LOOKED_AT SCANS_LOOKED_AT EVALUATIONS PYRO_EFFECTS_MAX PYRO_SCENARIOS_MAX
        PYRO_SWEEP_VALUES_MAX TASKS_MAX PYRO_PRICED_TASKS_MAX AGAIN_TASKS AGAIN_MAX
        EXECUTOR_VALUES CORE_VALUES PYRO_REPLAY_LOGS PYRO_REPLAY_OPEN PYRO_REPLAY_BYTES PYRO_DEFAULTS_FILE_BYTES PYRO_CANDIDATE_SETTINGS
        PYRO_CANDIDATES PYRO_HISTORY_RUNS PYRO_HISTORY_INPUTS""",
    "form of data, not a quantity": """
        rules/tasks/task_outliers.c:HEAVY rules/tasks/task_outliers.c:SLOW rules/tasks/task_outliers.c:LATE REPLAY_KIND_BITS REPLAY_FACTOR_BITS
        replay/times.h:BYTES replay/times.h:MEAN DIMENSIONS PYRO_FLEET_COLUMNS""",
    "a hundredth more or less of the input changes a prediction by about as much": "fleet/suggest/simulate_logs.c:SCALE_EQUAL",
    "only decides between answers that are equally good": "predict/optimise.c:0.01 predict/optimise.c:0.01#2",
    "absorbs rounding": "EQUAL_ERROR DEPENDENT ROUNDING fleet/models/nnls.c:EQUAL fleet/suggest/run_settings.c:0.5",
}
EXEMPT = {name: reason for reason, names in EXEMPT_NAMES.items() for name in names.split()}
# Mutants that do what the original does, and why.
EQUAL = {
    "data-skew.tasks_min x 0.67": "of two tasks none takes twice the median, which is their mean",
    "driver-memory.fill x 1.33": "half as much again as the limit is more than the peak, which is at most the limit, divided by it",
    "too-many-partitions.waves_min x 0.67": "less than four waves are less than twice the two of target_waves: nothing to advise",
}
MUTANT_HEADER = "src/base/mutant.h"
HEADER = """\
#ifndef PYRO_MUTANT_H
#define PYRO_MUTANT_H
double pyro_mutant_real(int index, double value);
long long pyro_mutant_integer(int index, long long value);
double pyro_mutant_threshold(const char *rule, const char *name, const char *unit, double value);
#define PYRO_MUTANT(index, value) \\
    _Generic((value), float: pyro_mutant_real, double: pyro_mutant_real, default: pyro_mutant_integer)((index), (value))
#endif
"""
SOURCE = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
static const char *chosen;
static double factor;
static int number = -1;
__attribute__((constructor)) static void choose_mutant(void)
{
    const char *by = getenv("PYRO_MUTANT_FACTOR");
    chosen = getenv("PYRO_MUTANT");
    factor = by ? strtod(by, NULL) : 1;
    if (chosen && *chosen >= '0' && *chosen <= '9')
        number = atoi(chosen);
}
static double whole(double value)
{
    double changed = round(value * factor);
    return changed != value || factor == 1 ? changed : factor > 1 ? value + 1 : value - 1;
}
double pyro_mutant_real(int index, double value)
{
    return index == number ? value * factor : value;
}
long long pyro_mutant_integer(int index, long long value)
{
    return index == number ? (long long)whole((double)value) : value;
}
double pyro_mutant_threshold(const char *rule, const char *name, const char *unit, double value)
{
    size_t len = strlen(rule);
    if (!chosen || strncmp(chosen, rule, len) != 0 || chosen[len] != '.' || strcmp(chosen + len + 1, name) != 0)
        return value;
    return strcmp(unit, "count") == 0 && value >= 1 ? whole(value) : value * factor;
}
"""


@dataclass(frozen=True)
class Constant:
    """One number: its name in reports, what PYRO_MUTANT calls it, its folder of FOLDERS and its text."""

    name: str
    key: str
    folder: str
    value: str


class Rewriter:
    """Makes the constants of a copy of the tree changeable."""

    def __init__(self, tree: dict[str, bytes]) -> None:
        self.tree = tree
        self.constants: list[Constant] = []
        self.exempt: list[str] = []
        self.seen: set[str] = set()

    def rewrite(self) -> None:
        self.thresholds()
        for folder in FOLDERS:
            for name in sorted(self.tree):
                if name.startswith(f"src/{folder}/") and name.endswith((".c", ".h")) and not name.startswith(LEFT_OUT):
                    self.file(folder, name)
        self.tree["src/base/mutant.h"] = HEADER.encode()
        self.tree["src/base/memory/arena.c"] += SOURCE.encode()
        unknown = set(EXEMPT) - set(self.exempt) - {name.split(":")[-1] for name in self.exempt}
        unknown |= {name for name in EQUAL if name.rpartition(" x ")[0] not in {one.name for one in self.constants}}
        if unknown:
            sys.exit(f"tools/mutate.py exempts what does not exist: {', '.join(sorted(unknown))}")

    def thresholds(self) -> None:
        """The tables of the rules stay as they are; those who read them ask for the mutant."""
        row = re.compile(r'\{"([a-z_0-9]+)",\s*([^,]+),\s*"\w+"')
        read = re.compile(r"(?<![\w>&])((?:\w+(?:\[\w+\])?)->)thresholds\[(\w+)\]\.value")
        found = 0
        for name in sorted(self.tree):
            if not name.startswith("src/rules/") or not name.endswith(".c"):
                continue
            text = self.tree[name].decode()
            table = re.search(r"struct pyro_threshold \w+\[\] = \{(.*?)\n\};", text, re.S)
            rule = re.search(r'\.id = "([a-z-]+)"', text)
            for threshold, value in row.findall(table[1]) if table and rule else ():
                key = f"{rule[1]}.{threshold}" if rule else threshold
                self.add(Constant(key, key, "rules", value))
            text, count = read.subn(r"pyro_mutant_threshold(\1id, \1thresholds[\2].name, \1thresholds[\2].unit, \1thresholds[\2].value)", text)
            found += count
            self.tree[name] = text.encode()
        if not found:
            sys.exit("nothing in src/rules reads `->thresholds[i].value`: tools/mutate.py must learn where limits come from")

    def add(self, constant: Constant) -> bool:
        """Lists the constant, unless it is exempt."""
        if exemption(constant.name):
            self.exempt.append(constant.name)
            return False
        self.constants.append(constant)
        return True

    def wrap(self, folder: str, file: str, label: str, value: str) -> str:
        """The value, as a call unless it is exempt."""
        name = first = f"{file[len('src/'):]}:{label}"
        times = 1
        while name in self.seen:
            times += 1
            name = f"{first}#{times}"
        self.seen.add(name)
        key = str(len(self.constants))
        return f"PYRO_MUTANT({key}, {value})" if self.add(Constant(name, key, folder, value)) else value

    def file(self, folder: str, name: str) -> None:
        text = self.tree[name].decode()
        lines = zip(text.split("\n"), mask(text).split("\n"))
        self.tree[name] = "\n".join(self.line(folder, name, line, code) for line, code in lines).encode()

    def line(self, folder: str, file: str, line: str, code: str) -> str:
        define = re.match(r"#define ([A-Z]\w*) +([-(0-9].*?) *$", code)
        if define and not re.search(r"[{;,]", define[2]):
            return f"#define {define[1]} ({self.wrap(folder, file, define[1], define[2])})"
        enum = re.match(r" *enum \{(.*)\};", code)
        if enum:
            return self.enum(folder, file, enum[1])
        table = re.match(r"static const double (\w+)\[\] = \{(.*)\};", code)
        if table:
            values = (self.wrap(folder, file, f"{table[1]}[{at}]", value.strip()) for at, value in enumerate(table[2].split(",")))
            return f"#define {table[1]} ((const double[]){{{', '.join(values)}}})"
        if not code.startswith(" ") or code.lstrip().startswith(("#", "[", "{")) or file.startswith("src/rules/catalogue/"):
            return line  # outside functions, and rows of tables; unnamed numbers of rules are confidences
        done = 0
        result = ""
        for literal in re.finditer(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?(?![\w.])", code):
            if literal[0] in ("0.0", "1.0") or (literal[0] == "0.5" and code[: literal.start()].endswith("+ ")):
                continue  # for its type, or to round
            result += line[done : literal.start()] + self.wrap(folder, file, literal[0], literal[0])
            done = literal.end()
        return result + line[done:]

    def enum(self, folder: str, file: str, body: str) -> str:
        kept, defined = [], []
        for entry in filter(None, (one.strip() for one in body.split(","))):
            name, _, value = (part.strip() for part in entry.partition("="))
            changed = self.wrap(folder, file, name, value) if re.match(r"[-(0-9]", value) else value
            if changed.startswith("PYRO_MUTANT"):
                defined.append(f"#define {name} ((int){changed})")
            else:
                kept.append(entry)
        return "\n".join(([f"enum {{ {', '.join(kept)} }};"] if kept else []) + defined)


def exemption(name: str) -> Optional[str]:
    """Why a constant may change, or None."""
    return EXEMPT.get(name) or EXEMPT.get(name.split(":")[-1])


def mask(text: str) -> str:
    """The text with comments and strings blanked out, everything at the same place."""
    strings_and_comments = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
    return re.sub(strings_and_comments, lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def read_tree() -> dict[str, bytes]:
    """The files that git knows or would add, without the recorded logs."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout
    names = [name for name in listed.decode().split("\0") if name and not name.startswith(("corpus/", "tests/logs/"))]
    return {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}


def write_tree(tree: dict[str, bytes], folder: Path) -> None:
    """Writes what differs, so that a kept copy builds only that."""
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if old.relative_to(folder).as_posix() not in tree:
            old.unlink()
    for name, content in tree.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if (ROOT / name).is_file():
                shutil.copymode(ROOT / name, path)


def run(command: list[str], **options: Any) -> None:
    """Runs a command; its output is shown if it fails."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if ran.returncode:
        sys.exit(f"{ran.stdout[-6000:]}\n{' '.join(command)} failed")


@dataclass(frozen=True)
class Tests:
    """What a mutant meets: commands by layer, quick ones first."""

    units: dict[str, list[tuple[str, list[str]]]]
    environment: dict[str, str]
    logs: bool

    def of(self, constant: Constant) -> list[tuple[str, list[str]]]:
        found = [test for layer in FOLDERS[constant.folder] for test in self.units.get(layer, []) if self.speaks_of(test[0], constant)]
        if self.logs:
            files = LOGS[constant.folder.split("/")[0]]
            found.append(("recorded logs", [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *(str(ROOT / file) for file in files)]))
        return found

    @staticmethod
    def speaks_of(test: str, constant: Constant) -> bool:
        """A threshold is held by tests that name its rule: the others would only cost time."""
        rule = constant.key.partition(".")[0]
        layer, _, name = test.partition("/")
        return rule.isdigit() or rule in (ROOT / f"tests/unit/{layer}/test_{name}.c").read_text(encoding="utf-8")

    def killer(self, constant: Constant, factor: float) -> Optional[str]:
        """The first test that fails with the mutant."""
        environment = {**self.environment, "PYRO_MUTANT": constant.key, "PYRO_MUTANT_FACTOR": repr(factor)}
        for name, command in self.of(constant):
            try:
                ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, timeout=900)
            except subprocess.TimeoutExpired:
                return f"{name} (out of time)"
            if ran.returncode:
                return name
        return None


def build(scratch: Path, logs: bool, layers: set[str]) -> Tests:
    """Builds the tests of the layers, and the command if it is needed."""
    tree, output = scratch / "tree", scratch / "build"
    if not (output / "build.ninja").is_file():
        header = tree / MUTANT_HEADER
        options = ["-Dbuildtype=plain", "-Dweb=disabled", "-Dserve=disabled", f"-Dc_args=-O1 -include {header}"]
        run(["meson", "setup", str(output), str(tree), *options])
    run(["ninja", "-C", str(output), "build.ninja"])
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", str(output)], check=True, capture_output=True).stdout)
    units: dict[str, list[tuple[str, list[str]]]] = {}
    for test in listed:
        layer = test["name"].split("/")[0]
        if "pyrometer:unit" in test["suite"] and layer in layers and test["name"] not in UNFIT:
            units.setdefault(layer, []).append((test["name"], test["cmd"]))
    targets = [str(Path(command[0]).relative_to(output)) for tests in units.values() for _, command in tests]
    run(["ninja", "-C", str(output), *targets, *(["pyrometer"] if logs else [])])
    return Tests(units, {**os.environ, "PYROMETER_BINARY": str(output / "pyrometer"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", help="only constants whose names contain one of these texts")
    parser.add_argument("--list", action="store_true", help="print the names of the constants, and what is exempt and why")
    parser.add_argument("--logs", action="store_true", help="also run the tests over recorded logs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants tested at the same time")
    parser.add_argument("--scratch", type=Path, help="folder of the copy and its build, kept for the next run")
    asked = parser.parse_args()
    rewriter = Rewriter(read_tree())
    rewriter.rewrite()
    chosen = [one for one in rewriter.constants if not asked.names or any(text in one.name for text in asked.names)]
    if asked.list:
        for one in chosen:
            print(f"{one.name} = {one.value}")
        for name in rewriter.exempt:
            print(f"exempt: {name}: {exemption(name)}")
        return
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (asked.scratch or Path(temporary)).resolve()
        if scratch.is_relative_to(ROOT):
            sys.exit("--scratch must name a folder outside the working tree")
        write_tree(rewriter.tree, scratch / "tree")
        tests = build(scratch, asked.logs, {layer for one in chosen for layer in FOLDERS[one.folder]})
        for folder in {one.folder: one for one in chosen}.values():
            broken = tests.killer(folder, 1)
            if broken:
                sys.exit(f"{broken} fails without a mutant")
        mutants = [(one, factor) for one in chosen for factor in (4 / 3, 2 / 3)]
        counts = {"killed": 0, "equal": 0, "survived": 0}
        with ThreadPoolExecutor(asked.jobs) as pool:
            for (one, factor), killer in zip(mutants, pool.map(lambda mutant: tests.killer(*mutant), mutants)):
                equal = EQUAL.get(f"{one.name} x {factor:.2f}")
                verdict = "killed" if killer else "equal" if equal else "survived"
                counts[verdict] += 1
                why = f" by {killer}" if killer else f" ({equal})" if equal else ""
                print(f"{verdict}{why}: {one.name} = {one.value} x {factor:.2f}", flush=True)
    print(f"{len(chosen)} constants, {len(mutants)} mutants: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["survived"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
