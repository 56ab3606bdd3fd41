"""Signs that part the items of a request (`./x -i a / 2 h / qos high`), and that a shell would take for its own."""

from __future__ import annotations

import re
from functools import lru_cache

from graph.reading.lexicon import KEYWORDS, NUMBER_WORDS
from graph.reading.plain_programs import PLAIN, WORDLIKE

__all__ = ["arrows", "line_of", "parting_signs"]

_SIGN = re.compile(r"(?<=[ \t])(?://|/|\|\||\||\\|&|;|\+|~|\*|::|:|·|•|¦|\.\.\.|…|@|=>|->|→)(?=[ \t])")
_AMOUNT = re.compile(r"(?i)[~<>=≤≥]{0,2}[ ]?\d[\d.,:]*[ -]?(?P<unit>[^\W\d_]+[+]?)(?P<rest>[^:/]{0,60})")
_LABEL = re.compile(r"(?i)[a-z][\w '-]{0,24}(?::[ \t]|[ ]?=[ ])")
_OPTION = re.compile(r"(?:^|[ \t])--?[A-Za-z]")
_MEASURES = frozenset("h hr hrs m min mins s d g k gb gib mb mib tb tib n x gpu cpu ranks procs mpi".split())  # noqa: SIM905
_PREPOSITIONS = frozenset("on for with using at in within across over from to of the and or as by".split())  # noqa: SIM905
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


def _is_item(part: str) -> bool:
    """Whether words are an amount, a label with its value, or a word of the field with what it states."""
    amount = _AMOUNT.fullmatch(part)
    if amount is not None:
        unit = amount["unit"].lower()
        return unit in _MEASURES or unit in KEYWORDS
    if _LABEL.match(part):
        return True
    words = part.lower().split()
    if len(words) < 2 or words[0] in _PREPOSITIONS or _OPTION.search(part):
        return False
    first = words[0].rstrip(":")
    counted = first in NUMBER_WORDS or (first in WORDLIKE and words[1][0].isdigit())
    return counted or (first in KEYWORDS and first not in PLAIN | WORDLIKE)
