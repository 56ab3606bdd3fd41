"""Host lists such as `node[01-03,07],rack[0-1]_blade[0-1]` (Slurm, Flux, GNU hostlist), opened up."""

from __future__ import annotations

import functools
import itertools
import re

__all__ = ["expand_hostlist"]

_NOTHING = {"", "(null)", "none", "none assigned", "n/a", "null"}
_PART = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_ONE_RANGE = re.compile(r"([^,\[\]\s]+)\[(\d{1,6})-(\d{1,6})\]")
_MOST = 200_000


@functools.lru_cache(maxsize=512)
def expand_hostlist(text: str) -> tuple[str, ...]:
    """The single names in their order; leading zeros are kept and duplicates dropped.

    A part that is no host list is kept as it stands, so that nothing is lost without a trace. At most 200,000 names
    are made: what would exceed that is kept unopened.
    """
    if text.strip().lower() in _NOTHING:
        return ()
    usual = _ONE_RANGE.fullmatch(text)
    if usual is not None and 0 <= int(usual[3]) - int(usual[2]) < _MOST:
        before, width = usual[1], len(usual[2])
        return tuple([f"{before}{str(number).zfill(width)}" for number in range(int(usual[2]), int(usual[3]) + 1)])
    names: dict[str, None] = {}
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        part = match[0] if match is not None else ""
        position += len(part)
        if position < len(text) and text[position] != ",":
            part += text[position:]  # unbalanced bracket: kept whole
            position = len(text)
        position += 1
        if part.strip():
            names.update(dict.fromkeys(_expand(part.strip(), _MOST - len(names))))
    return tuple(names)


def _expand(part: str, most: int) -> list[str]:
    pieces: list[list[str]] = []
    total = 1
    for index, piece in enumerate(re.split(r"\[([^\[\]]*)\]", part)):
        options = _numbers(piece, most // total) if index % 2 else [piece]
        if options is None:
            return [part]
        pieces.append(options)
        total *= len(options)
    return ["".join(choice) for choice in itertools.product(*pieces)]


def _numbers(ranges: str, most: int) -> list[str] | None:
    found: list[str] = []
    for item in ranges.split(","):
        match = _RANGE.fullmatch(item.strip())
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or len(found) + last - first >= most:
            return None
        found.extend(f"{number:0{len(match[1])}d}" for number in range(first, last + 1))
    return found
