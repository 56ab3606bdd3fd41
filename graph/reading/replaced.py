"""Numbers that stand in place of others: `48 instead of 32 cores` is 48 cores, `not 4 but 8 nodes` is 8 nodes.

Only bare numbers are read so. Where each has its unit (`64 GB instead of 128 GB`) two amounts are found, and the words
between them tell which counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS, NUMBER_WORDS
from graph.reading.separators import dashes

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
    rf"|processes|cores|gpus"
    r"|knoten|kerne|prozesse|nœuds|noeuds|cœurs|coeurs|processus)(?![\w-]))"
)
"""`at least 3, at most 5 nodes`."""
_COUNTED = r"(?:(?:compute )?nodes?|tasks|ranks|processes|cores|gpus?|hours|hrs?|h|minutes|days)"
_EITHER_END = re.compile(
    rf"(?i)(?<![\w.-])(?:(?:min(?:imum)?\.?|minimal) (?P<low>{_N}),? (?:and |but )?max(?:imum)?\.? (?P<high>{_N})"
    rf"(?P<unit> {_COUNTED})|(?P<low2>{_N})(?P<unit2> {_COUNTED}) (?:at least|min(?:imum)?\.?),? (?:and |but )?"
    rf"(?P<high2>{_N})(?: {_COUNTED})? (?:at most|max(?:imum)?\.?))(?![\w-])"
)
"""`min 4 max 8 nodes`, `4 nodes minimum, 8 maximum`."""
_HYBRID = re.compile(
    r"(?i)(?<![\w.,/-])(?P<tasks>\d{1,6}) ?mpi(?: ranks| tasks| processes| procs)? ?(?:x|\u00d7|\*|by|times|\+|/) ?"
    r"(?P<threads>\d{1,4}) ?(?:omp|openmp)(?: threads)?(?: per (?:mpi )?(?:rank|task|process))?(?![\w-])"
)
"""`8 MPI x 6 OMP`."""
_NODES_OF_GPUS = re.compile(
    r"(?i)(?<![\w.,/x\u00d7*-])(?P<nodes>\d{1,4}) ?[x\u00d7*] ?(?P<gpus>\d{1,2})(?= ?(?:[ahbv]\d{2,3}|gh200"
    r"|l40s?|mi\d{3}x?|gpus?)s?(?!\w))"
)
"""`4x8 H100`: nodes and what each has."""
_ONE_CORE_EACH = re.compile(
    r"(?i)(?<![\w.,-])(?P<n>\d{1,6}) (?:simultaneous|parallel|concurrent) (?:single|one|1)[ -]core "
    r"(?P<what>tasks|processes|procs)(?![\w-])"
)
"""`10 single-core processes`."""
_OF_MORE = re.compile(
    r"(?i)(?<![\w.,/-])(?P<kept>\d{1,5}) of (?:the |its |their |our )?\d{1,5}(?= (?:physical )?(?:cores?|gpus?"
    r"|cpus?)(?![\w-]))"
)
"""`64 of 128 cores`."""
_HOURS_AND = re.compile(
    r"(?i)(?<![\w.,:/-])(?P<hours>\d{1,2}|one|two|three|four|five|six) (?:hours?|heures?|stunden?)"
    r" (?P<minutes>[1-5]?\d)"
    r"(?= ?(?:[.,;)]|$))"
)
"""`1 hour 10`."""
_FUSED_GPUS = re.compile(r"(?i)(?<![\w.-])(?P<model>[ahblv]\d{1,3}s?|mi\d{2,3}x?|gh200)(?P<what>gpus?|cards?)(?!\w)")
"""`4 H100GPUs`."""
_SOCKETS = re.compile(
    r"(?i)(?<![\w.,/-])(?P<sockets>[1-8]|one|two|four) (?:cpu )?(?:sockets?|cpus|processors) ?(?:x|\u00d7|\*|of"
    r"|with|at)"
    r" ?(?P<cores>\d{1,3}) cores(?: each)?(?![\w-])"
)
"""`2 sockets x 32 cores`."""
_NOT_ENOUGH = re.compile(
    rf"(?i)(?:(?<![\w-])last time,? )?(?:(?<![\w-])(?:the|our|my) )?(?<![\w.,-]){_N} (?P<unit>[a-z]{{1,8}})"
    r"(?: of (?:last time|before|the last (?:run|time)))? (?:(?:were|was|are|is) (?:not|too)|(?:were|was|are|is)n't"
    r"|did(?:n't| not)) (?:quite )?(?:enough|sufficient|suffice|short|few|little),?"
    r" (?:so|hence|therefore|thus|now)?,? ?"
    r"(?:please )?(?:(?:give (?:it|me|us)|make it|take|use|set|let it have|let's say|i need|we need|better) )?"
    rf"(?P<kept>{_N})(?= ?(?:please|this time|now|[,.;!)]|$))"
)
"""`Last time 8 hours weren't enough, so 12 please`."""
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
    for match in _EITHER_END.finditer(text):
        low, high = (_digits((match[name] or match[f"{name}2"]).lower()) for name in ("low", "high"))
        yield match.start(), match.end(), f"between {low} and {high}{match['unit'] or match['unit2']}"
    for match in _HYBRID.finditer(text):
        yield match.start(), match.end(), f"{match['tasks']} mpi ranks x {match['threads']} openmp threads"
    for match in _FUSED_GPUS.finditer(text):
        yield *match.span(), f"{match['model'].lower()} {match['what'].lower()}"
    for match in _HOURS_AND.finditer(text):
        yield *match.span(), f"{_digits(match['hours'].lower())} h {match['minutes']} min"
    for match in _SOCKETS.finditer(text):
        yield *match.span(), f"{int(_digits(match['sockets'].lower())) * int(match['cores'])} cores"
    for match in _NODES_OF_GPUS.finditer(text):
        yield *match.span(), f"{match['nodes']} nodes with each {match['gpus']}"
    for match in _ONE_CORE_EACH.finditer(text):
        yield *match.span(), f"{match['n']} {match['what'].lower()} with 1 core each"
    for start, end in dashes(text):
        yield start, end, ";"
    for match in re.finditer("[≥≤]", text):
        yield *match.span(), ">=" if match[0] == "≥" else "<="
    for match in _NOT_ENOUGH.finditer(text):
        yield match.start(), match.end(), f"{_digits(match['kept'].lower())} {match['unit']}"
    for match in (found for rule in (_COUNTER, _OF_MORE) for found in rule.finditer(text)):
        yield match.start(), match.end(), match["kept"]


def _digits(number: str) -> str:
    return str(NUMBER_WORDS.get(number, FOREIGN_WORDS.get(number, number)))
