"""Names of files as the values of a form."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["file_names", "no_file"]

_SENTENCE = re.compile(r"(?i)[;|]|\d ?[kmgtp]i?b\b.* |[ \t](?:in|on|at|from|under|and|with|is|are)[ \t]")
"""What stands in words about files, and in no name of one."""


def file_names(item: Any) -> list[Any]:  # noqa: ANN401  # form values are of any kind
    """`a.dat, b.dat` and `a.dat and b.dat` are two files, where each is a name without blanks."""
    parts = re.split(r",[ \t]+(?:and[ \t]+)?|[ \t]+and[ \t]+", item.strip()) if isinstance(item, str) else []
    return parts if len(parts) > 1 and all(re.fullmatch(r"[^\s;|]*[./*][^\s;|]*", part) for part in parts) else [item]


def no_file(item: str) -> bool:
    """Whether a value is words about files, which other rules read."""
    return _SENTENCE.search(item) is not None
