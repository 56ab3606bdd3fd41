"""Names of files in words: paths, addresses, patterns, and lists of them."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["FILE", "LIST", "last_part", "names_a_file", "names_of"]

# `4000MB/core` is an amount, not a file in a folder.
_AMOUNT = r"\d[\d.,]*[a-z]*/(?:core|cpu|node|host|task|rank|process|proc|thread|gpu|card|job|socket|slot)s?(?![\w/.])"
_NO_VERSION = (
    r"(?! (?:v?\d+\.\d[\d.]*(?![\d.]| ?[kmgtp]i?b)|(?:>=?|<=?|==) ?v?\d|(?:version|release) v?\d"
    r"|v?\d+ or (?:newer|later|higher|above)))"
)
"""Behind a name that looks like a file's, a version tells that it is software's: `deal.II 9.5`, `Elmer/Ice >= 9`."""
FILE = (
    r"(?:(?:s3|gs|https?|globus|ftp|file|gsiftp)://[^\s,;\x00`\"\'<>]+|(?:[\w.-]+:)?~?/[\w.*/@+-]+[\w*/]"
    rf"|[\w*][\w.*/+-]*\.(?!\d)[a-z*][\w*]{{0,9}}(?:\.[a-z]\w{{0,5}})?(?![\w/]){_NO_VERSION}"
    rf"|(?!{_AMOUNT})[\w.-]+/[\w.*/+-]*[\w*/](?![\w*/]){_NO_VERSION})"
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


_SURELY = re.compile(
    r"\*\.\w|\w\*\.|/\*|\*/|(?<![\w.])(?:~|\.{1,2})?/\w+[/.]\w|(?<!\w)\.{1,2}/\w|\w{2}\.(?:[a-z]{3,4}"
    r"|[a-z]{1,2}\d)(?![\w.])"
)


def names_a_file(words: str) -> bool:
    """Whether words hold what looks like a file, a path or a pattern: such words are never passed over."""
    return _SURELY.search(words) is not None
