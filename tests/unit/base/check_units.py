#!/usr/bin/env python3
"""Compare the readers of sizes, durations and dates with Spark's rule and Python's calendar, on generated texts.

    check_units.py build/tests/unit/base/test_base_units

The rule is written here again, from JavaUtils.byteStringAs and timeStringAs: a regular expression over the text in lower case.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone

SIZES = {"b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
TIMES = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
MOST = 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parts_of(text: str) -> tuple[int, int, str] | None:
    match = re.fullmatch(r"(-?)([0-9]+)([a-z]+)?", text.lower().strip("".join(map(chr, range(33)))))
    if not match or int(match[2]) > MOST:
        return None
    return -1 if match[1] else 1, int(match[2]), match[3] or ""


def size_of(text: str, unit: int) -> str:
    parts = parts_of(text)
    if not parts or (parts[2] and parts[2] not in SIZES):
        return "refused"
    value = parts[1] * (1024 ** SIZES[parts[2]] if parts[2] else unit)
    return str(parts[0] * value) if value <= MOST else "refused"


def time_of(text: str, unit: int) -> str:
    parts = parts_of(text)
    if not parts or (parts[2] and parts[2] != "us" and parts[2] not in TIMES):
        return "refused"
    value = parts[1] // 1000 if parts[2] == "us" else parts[1] * (TIMES[parts[2]] if parts[2] else unit)
    return str(parts[0] * value) if value <= MOST else "refused"


def some_number(chance: random.Random) -> str:
    digits = chance.choice([1, 1, 2, 3, 6, 12, 18, 19, 19, 20, 40])
    number = "".join(chance.choice("0123456789") for _ in range(digits))
    return chance.choice(["", "", "", "-", "+", "--"]) + number + chance.choice(["", "", "", "", ".5", ".", " "])


def some_amount(chance: random.Random) -> str:
    suffix = chance.choice([*SIZES, *TIMES, "", "", "us", "kib", "x", "sec", "gbb", "1", "e3"])
    suffix = "".join(letter.upper() if chance.random() < 0.3 else letter for letter in suffix)
    return chance.choice(["", "", " ", "\t"]) + some_number(chance) + suffix + chance.choice(["", "", " ", "\t "])


def some_date(chance: random.Random) -> tuple[str, str]:
    moment = EPOCH + timedelta(milliseconds=chance.randrange(0, 253_402_300_799_000))
    digits = chance.choice([0, 1, 3, 6, 9])
    fraction = "".join(chance.choice("0123456789") for _ in range(digits))
    minutes = chance.choice([0, 0, 60, -330, 14 * 60])
    sign, hours, rest = "-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60
    zone = chance.choice(["Z", "UTC", "+00:00"]) if minutes == 0 else f"{sign}{hours:02}{chance.choice(['', ':'])}{rest:02}"
    text = moment.strftime(f"%d{chance.choice('T ')}%H:%M:%S")
    text = f"{moment.year:04}-{moment.month:02}-{text}" + (f"{chance.choice('.,')}{fraction}" if digits else "") + zone
    whole = (moment.replace(microsecond=0) - EPOCH) // timedelta(seconds=1) * 1000
    return text, str(whole + int((fraction + "000")[:3]) - minutes * 60_000)


def main() -> None:
    chance = random.Random(20240131)
    asked, expected = [], []
    for _ in range(20_000):
        kind, unit, text = chance.choice(["size", "time"]), chance.choice([1, 1000, 1 << 20]), some_amount(chance)
        asked.append(f"{kind} {unit} {text}")
        expected.append((size_of if kind == "size" else time_of)(text, unit))
    for _ in range(10_000):
        text, moment = some_date(chance)
        asked.append(f"date {text}")
        expected.append(moment)
    for _ in range(10_000):
        days = chance.randrange(-719_162, 2_932_897)
        day = EPOCH.date() + timedelta(days=days)
        asked.append(f"day {days}")
        expected.append(f"{day.year}-{day.month}-{day.day} {days}")
    done = subprocess.run([sys.argv[1], "--answer"], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    wrong = [f"{q!r}: {a}, not {e}" for q, a, e in zip(asked, answers, expected) if a != e]
    if len(answers) != len(asked) or wrong:
        sys.exit("\n".join(wrong[:20]) or f"{len(answers)} answers to {len(asked)} questions")
    print(f"{len(asked)} texts")


if __name__ == "__main__":
    main()
