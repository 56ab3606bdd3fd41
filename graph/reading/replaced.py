"""Numbers that stand in place of others: `48 instead of 32 cores` is 48 cores, `not 4 but 8 nodes` is 8 nodes.

Only bare numbers are read so. Where each has its unit (`64 GB instead of 128 GB`) two amounts are found, and the words
between them tell which counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS, NUMBER_WORDS

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
    r",?(?: (?:now|please|rather|better|only|this time|jetzt|nun|bitte|diesmal|dieses mal|lieber|nur|nur noch"
    r"|maintenant)){1,2} "
)
_UNIT = r"(?= ?[^\W\d_])"
_OTHER = re.compile(
    rf"(?i)(?<![\w-]){_INSTEAD} {_WAS}{_N} (?P<unit>[^\W\d_]{{3,12}}){_NOW}(?P<kept>{_N})(?= ?(?:[,.;!)\n]|$))"
)
"""`instead of the usual 8 nodes please 12`: the unit is said once."""
_COUNTER = re.compile(
    r"(?i)(?<![\w.,:/-])(?P<kept>\d{1,5}) (?:pieces?|pcs\.?|nos\.?|units?|stück|stk\.?|numbers?)(?: of)?"
    r"(?= (?:[\w-]{2,12} )?(?:gpus?|nodes?|cores?|cpus?|cards?|processors?|knoten|kerne|karten|grafikkarten|servers?"
    r"|machines?)(?![\w-]))"
)
"""`8 pieces of A100 GPUs`."""
_BOTH = re.compile(
    rf"(?i)(?<![\w-])(?:at least|mindestens|au moins) (?P<low>{_N}),?(?: (?:and|but|und|aber|et|mais))? (?:at most"
    rf"|no more than"
    rf"|up to|höchstens|maximal|au plus|au maximum) (?P<high>{_N})(?= (?:[\w-]{{2,10}} )?(?:nodes?|tasks|ranks"
    rf"|processes|cores"
    r"|knoten|kerne|prozesse|nœuds|noeuds|cœurs|coeurs|processus)(?![\w-]))"
)
"""`at least 3, at most 5 nodes`."""
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
            yield match.start(), match.end(), _digits(kept)
    for match in _OTHER.finditer(text):
        unit = match["unit"].lower()
        yield match.start(), match.end(), f"{_digits(match['kept'].lower())} {FOREIGN_UNITS.get(unit, unit)}"
    for match in _BOTH.finditer(text):
        low, high = _digits(match["low"].lower()), _digits(match["high"].lower())
        yield match.start(), match.end(), f"between {low} and {high}"
    for match in _COUNTER.finditer(text):
        yield match.start(), match.end(), match["kept"]


def _digits(number: str) -> str:
    return str(NUMBER_WORDS.get(number, FOREIGN_WORDS.get(number, number)))
