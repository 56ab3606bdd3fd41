"""Signs that part the items of a request (`./x -i a / 2 h / qos high`), and that a shell would take for its own."""

from __future__ import annotations

import re
from functools import lru_cache

from graph.reading.lexicon import FOREIGN_UNITS, KEYWORDS, NUMBER_WORDS
from graph.reading.plain_programs import PLAIN, WORDLIKE

__all__ = ["arrows", "dashes", "ends_an_item", "line_of", "parting_signs"]

_SIGN = re.compile(r"(?<=[ \t])(?://|/|\|\||\||\\|&|;|\+|~|\*|::|:|·|•|¦|\.\.\.|…|@|=>|->|→|-|\u2013|\u2014)(?=[ \t])")
_DASHES = frozenset("-\u2013\u2014")
_AMOUNT = re.compile(r"(?i)[~<>=≤≥]{0,2}[ ]?\d[\d.,:]*[ -]?(?P<unit>[^\W\d_]+[+]?)(?P<rest>[^:/]{0,60})")
_LABEL = re.compile(r"(?i)[a-z][\w '-]{0,24}(?::[ \t]|[ ]?=[ ])")
_OPTION = re.compile(r"(?:^|[ \t])--?[A-Za-z]")
_MEASURES = frozenset("h hr hrs m min mins s d g k gb gib mb mib tb tib n x gpu cpu ranks procs mpi".split())  # noqa: SIM905
_PREPOSITIONS = frozenset("on for with using at in within across over from to of the and or as by".split())  # noqa: SIM905
_WRAPPED = 50
"""Lines from this length on, in characters, may be wrapped ones of a paragraph."""
_GOES_ON = re.compile(
    r"(?i)(?:[-,.;:!?([{/\\|&+=\u2013\u2014]|(?<![\w-])(?:and|or|with|on|for|at|in|of|the|an?|to|by|from|per|each|using|about|than"
    r"|least|most|und|oder|mit|auf|f\u00fcr|et|ou|avec|sur|pour|de|is|are|needs?|needing|has|have|run|runs|please))$"
)
"""What a line ends with whose sentence goes on below, or that has its own sign."""
_FARTHEST = 4000
_SHORT = 4
"""So many words before the first sign are more than an amount."""


def line_of(text: str, at: int) -> str:
    """The line of a text around a place."""
    start, stop = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    first = start + (at - start) // _FARTHEST * _FARTHEST  # the same stretch for all its places, to be looked at once
    return text[max(start, first - _FARTHEST) : min(first + 2 * _FARTHEST, len(text) if stop < 0 else stop)]


@lru_cache(maxsize=64)
def parting_signs(line: str) -> frozenset[str]:
    """The signs that stand alone between blanks and have an item of a request on one side."""
    row = line.strip().startswith("| ") and line.strip().endswith(" |")
    found: set[str] = {"|"} if row else set()
    for sign in {match[0] for match in _SIGN.finditer(line)}:
        parts = re.split(rf"(?<=[ \t]){re.escape(sign)}(?=[ \t])", line)
        if sign in _DASHES and len(parts) <= 2:
            continue  # `2 - 4 nodes`, or a thought
        items = [_is_item(part.strip(" \t,;.`")) for part in parts]
        of_a_utility = len(parts) == 2 and parts[0].split()[:1] and parts[0].split()[0] in PLAIN
        if any(items[1:]) and not (of_a_utility and sign in ("/", "*", "~")):
            found.add(sign)
        elif items[0] and len(parts[0].split()) < _SHORT:
            found.add(sign)  # `2 nodes | ./x -i a`
    return frozenset(found)


def arrows(text: str) -> list[tuple[int, int]]:
    """Where arrows and the like part items: `./x => 2 nodes` asks for two nodes, not for more than two."""
    found: list[tuple[int, int]] = []
    for match in re.finditer(r"(?<=[ \t])(?:=>|->|→|@)(?=[ \t])", text):
        if match[0] in parting_signs(line_of(text, match.start())):
            found.append(match.span())
    return found


def dashes(text: str) -> list[tuple[int, int]]:
    """Where dashes part items (`OpenFOAM 11 - 128 cores - 12 hours`), none of which is between two numbers."""
    return [
        match.span()
        for match in re.finditer(r"(?<=[ \t])[-\u2013\u2014](?=[ \t])", text)
        if match[0] in parting_signs(line_of(text, match.start()))
        and not (_BARE_NUMBER.search(text[: match.start()][-40:]) and text[match.end() :].lstrip()[:1].isdigit())
    ]


_BARE_NUMBER = re.compile(
    r"(?i)(?:^|[:=;,(\n]|(?<![\w-])(?:between|from|on|with|for|of|use|nodes|tasks"
    r"|cores))[ \t]*\d+[ \t]+$"
)


def ends_an_item(text: str, end: int) -> bool:
    """Whether a line that ends at `end` is a short one by itself, as in a list, and not wrapped in a sentence."""
    line = text[text.rfind("\n", 0, end) + 1 : end].strip()
    return 0 < len(line) < _WRAPPED and _GOES_ON.search(line) is None


def _is_item(part: str) -> bool:
    """Whether words are an amount, a label with its value, or a word of the field with what it states."""
    amount = _AMOUNT.fullmatch(part)
    if amount is not None:
        unit = amount["unit"].lower()
        return unit in _MEASURES or unit in KEYWORDS or unit in FOREIGN_UNITS
    if _LABEL.match(part):
        return True
    words = part.lower().split()
    if len(words) < 2 or words[0] in _PREPOSITIONS or _OPTION.search(part):
        return False
    first = words[0].rstrip(":")
    counted = first in NUMBER_WORDS or (first in WORDLIKE and words[1][0].isdigit())
    return counted or (first in KEYWORDS and first not in PLAIN | WORDLIKE)
