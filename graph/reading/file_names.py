"""Names of files in words: paths, addresses, patterns, and lists of them."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["FILE", "LIST", "last_part", "names_of"]

# `4000MB/core` is an amount, not a file in a folder.
_AMOUNT = r"\d[\d.,]*[a-z]*/(?:core|cpu|node|host|task|rank|process|proc|thread|gpu|card|job|socket|slot)s?(?![\w/.])"
FILE = (
    r"(?:(?:s3|gs|https?|globus|ftp|file|gsiftp)://[^\s,;\x00]+|(?:[\w.-]+:)?~?/[\w.*/@+-]+[\w*/]"
    rf"|[\w*][\w.*/+-]*\.(?!\d)[a-z*][\w*]{{0,9}}(?:\.[a-z]\w{{0,5}})?(?![\w/])"
    rf"|(?!{_AMOUNT})[\w.-]+/[\w.*/+-]*[\w*/](?![\w*/])(?! v?\d+\.\d))"
)
LIST = (
    rf"(?P<files>[\"'`]?(?>{FILE})[\"'`]?(?:(?:,? (?:and|together with|as well as|along with|plus) |, ?|;? ?\+ ?"
    rf"| & )(?:a |the )?[\"'`]?(?>{FILE})[\"'`]?){{0,20}})"
)


def last_part(name: str) -> str:
    """What a path or an address ends with."""
    return name.rstrip("/").rsplit("/", 1)[-1]


def names_of(draft: Draft, start: int, end: int) -> list[str]:
    """The names in a stretch of the normal form, as written."""
    words = draft.line.words(start, end)
    found = re.findall(FILE, words, re.IGNORECASE)
    return [name.rstrip(".") for name in found]
