"""Numbers that stand in place of others: `48 instead of 32 cores` is 48 cores, `not 4 but 8 nodes` is 8 nodes.

Only bare numbers are read so. Where each has its unit (`64 GB instead of 128 GB`) two amounts are found, and the words
between them tell which counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.lexicon import FOREIGN_WORDS, NUMBER_WORDS

__all__ = ["replaced_numbers"]

_WORDS = "|".join(
    sorted({*NUMBER_WORDS, *(word for word, norm in FOREIGN_WORDS.items() if norm.isdigit())}, key=len, reverse=True)
)
_N = rf"(?:\d{{1,6}}(?:[.,]\d{{1,3}})?|(?:{_WORDS})(?![\w-]))"
_WAS = (
    r"(?:(?:the|our|my|usual|previous|former|planned|bisher|bislang|zuvor|vorher|sonst|der|den|die|das|üblichen"
    r"|bisherigen|gewohnten|geplanten|les|des|mes|nos|habituelle?s|ceux|celles) ){0,3}"
)
_INSTEAD = (
    r"(?:instead of|rather than|in place of|statt|anstatt|anstelle von|an stelle von|au lieu (?:de|des)|plutôt que)"
)
_NOW = (
    r",?(?: (?:now|please|rather|better|only|jetzt|nun|bitte|diesmal|dieses mal|lieber|nur|nur noch|maintenant)){1,2} "
)
_UNIT = r"(?= ?[^\W\d_])"
_RULES = tuple(
    re.compile(rule)
    for rule in (
        rf"(?i)(?<![\w.,:/-])(?P<kept>{_N}) {_INSTEAD} {_WAS}{_N}{_UNIT}(?![\w.]*[:/])",
        rf"(?i)(?<![\w-]){_INSTEAD} {_WAS}{_N}{_NOW}(?P<kept>{_N}){_UNIT}(?![\w.]*[:/])",
        rf"(?i)(?<![\w-])(?:not|nicht|pas|non) (?:mehr |plus |any more )?{_WAS}{_N},? (?:but|sondern"
        rf"|mais)(?:{_NOW}| )(?P<kept>{_N}){_UNIT}(?![\w.]*[:/])",
    )
)


def replaced_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Two numbers of which one counts, each with its place and the one that does."""
    for rule in _RULES:
        for match in rule.finditer(text):
            kept = match["kept"].lower()
            yield match.start(), match.end(), str(NUMBER_WORDS.get(kept, FOREIGN_WORDS.get(kept, kept)))
