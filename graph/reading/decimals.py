"""Whether the numbers of a text have decimal commas or points, so that `9.500` beside `1,5 GB` is read as 9500."""

from __future__ import annotations

import re

__all__ = ["decimal_comma", "grouping_points"]

_AMOUNT = (
    r"(?:[kmgtp]i?b|[kmgt]o|gigabytes?|gigs?|terabytes?|megabytes?|h|hrs?|hours?|std|stunden?|heures?|jours?"
    r"|tagen?|days?|minutes?|minuten|min"
    r"|(?:core|node|cpu|gpu|kern|knoten)[ -]?(?:hours?|hrs?|h|stunden?)|heures?-\w+|usd|eur|euros?|dollars?|€|\$)"
)
_COMMA = re.compile(rf"(?i)(?<![\w.,:/-])\d{{1,4}},\d{{1,2}}[ \u00a0-]?{_AMOUNT}(?![\w-])")
_POINT = re.compile(rf"(?i)(?<![\w.,:/-])\d{{1,4}}\.\d{{1,2}}[ \u00a0-]?{_AMOUNT}(?![\w-])")
_GROUPED = re.compile(rf"(?i)(?<![\w.,:/-])\d{{1,3}}(?:\.\d{{3}})+(?=[ \u00a0-]?{_AMOUNT}(?![\w-]))")


def decimal_comma(text: str) -> bool:
    """Whether the amounts of a text say that its commas are decimal (`1,5 GB`), and none says otherwise."""
    return _COMMA.search(text) is not None and _POINT.search(text) is None


def grouping_points(text: str) -> set[int]:
    """Where points of thousands stand in amounts (`9.500 core hours`), in a text with decimal commas."""
    return {at for match in _GROUPED.finditer(text) for at in range(*match.span()) if text[at] == "."}
