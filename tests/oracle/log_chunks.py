"""What `pyrometer logs top` has to find, computed the slow way: repeats as phil_stopwatch has them, and blocks.

Both follow their descriptions (docs/logs_templates.md, src/decode/logs/*.h) and share nothing with the C sources.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Dict, List, Sequence, Tuple, TypeVar

Item = TypeVar("Item")
Pieces = List[Tuple[int, List[Item]]]

LEVEL = re.compile(rb".* (error|info|warn)(.*)", re.IGNORECASE | re.DOTALL)
WHITE = b" \t\n\v\f\r\x1c\x1d\x1e\x1f"
LONGEST_REPEAT = 20
LONGEST_BLOCK = 20


def message_parts(lines: Sequence[bytes], level: bytes = b"") -> List[bytes]:
    """What follows the last level of each line that has one."""
    found = [LEVEL.fullmatch(line.strip(WHITE)) for line in lines]
    return [match.group(2).strip(WHITE) for match in found if match and (not level or match.group(1).lower() == level)]


def repeats(items: Sequence[Item], place: int, length: int) -> int:
    """How often the items of that length follow each other there."""
    first = items[place : place + length]
    count = 1
    while items[place + count * length : place + (count + 1) * length] == first:
        count += 1
    return count


def collapse(items: Sequence[Item]) -> Pieces:
    """Immediate repeats from left to right; quadratic and worse."""
    pieces: Pieces = []
    single: List[Item] = []
    place = 0
    while place < len(items):
        lengths = range(1, min(LONGEST_REPEAT, (len(items) - place) // 2) + 1)
        found = [(length, repeats(items, place, length)) for length in lengths]
        found = [(length, count) for length, count in found if count >= 2]
        if not found:
            single.append(items[place])
            place += 1
            continue
        length, count = max(found, key=lambda one: (one[0] * one[1], -((one[0] - one[1]) ** 2)))
        if single:
            pieces.append((1, single))
            single = []
        pieces.append((count, list(items[place : place + length])))
        place += length * count
    return pieces + ([(1, single)] if single else [])


def top_chunks(lines: Sequence[bytes], level: bytes = b"") -> Pieces:
    """get_top_log_chunks(): the pieces by their count, equal ones in the order of the log."""
    return sorted(collapse(message_parts(lines, level)), key=lambda piece: -piece[0])


def pairs_of(files: Sequence[Sequence[str]]) -> Counter:
    return Counter(pair for one in files for pair in zip(one, one[1:]))


def chains_of(files: Sequence[Sequence[str]]) -> List[List[str]]:
    """Chains of symbols of which each follows the one before in three quarters of the cases of both."""
    counts = Counter(symbol for one in files for symbol in one)
    order = list(dict.fromkeys(symbol for one in files for symbol in one))
    after: Dict[str, str] = {
        a: b
        for (a, b), count in pairs_of(files).items()
        if a != b and count >= 2 and 4 * count >= 3 * counts[a] and 4 * count >= 3 * counts[b]
    }
    starts = [a for a in order if a in after and a not in after.values()]
    chains: List[List[str]] = []
    for first in starts + [a for a in order if a in after]:
        if any(first in chain for chain in chains):
            continue
        chain = [first]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        chains.append(chain)
    return [chain[i : i + LONGEST_BLOCK] for chain in chains for i in range(0, len(chain), LONGEST_BLOCK)]


def occurrences(block: Sequence[str], files: Sequence[Sequence[str]]) -> int:
    size = len(block)
    return sum(list(one[i : i + size]) == list(block) for one in files for i in range(len(one) - size + 1))


def blocks_of(files: Sequence[Sequence[str]]) -> List[Tuple[int, List[str]]]:
    """Chains that explain half of each of their symbols, cut at their rarest pairs until they do."""
    counts = Counter(symbol for one in files for symbol in one)
    pairs = pairs_of(files)
    open_chains = chains_of(files)
    blocks: List[Tuple[int, List[str]]] = []
    while open_chains:
        chain = open_chains.pop()
        if len(chain) < 2:
            continue
        count = occurrences(chain, files)
        if count >= 2 and all(2 * count >= counts[symbol] for symbol in chain):
            blocks.append((count, chain))
            continue
        weakest = min(range(len(chain) - 1), key=lambda i: (pairs[chain[i], chain[i + 1]], i))
        open_chains += [chain[: weakest + 1], chain[weakest + 1 :]]
    return blocks


def block_chunks(files: Sequence[Sequence[str]]) -> List[Tuple[int, List[str]]]:
    """Blocks, and what they do not explain, in no order."""
    left = Counter(symbol for one in files for symbol in one)
    blocks = blocks_of(files)
    for count, block in blocks:
        left.subtract({symbol: count for symbol in block})
    return blocks + [(count, [symbol]) for symbol, count in left.items() if count]
