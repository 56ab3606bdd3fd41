"""Lines that quote an earlier mail: somebody else's words, and no part of the request."""

from __future__ import annotations

import re

__all__ = ["without_quoted_lines"]

# `> 16 GB` at the beginning of a line is more than 16 GB.
_QUOTED = re.compile(r"^[ \t]*>(?!=?[ \t]*\d).*$", re.MULTILINE)


def without_quoted_lines(text: str) -> tuple[str, bool]:
    """The text with blanks in the place of quoted lines, so that all else keeps its place; whether there were any.

    A text of quoted lines alone is read as it is.
    """
    rest = _QUOTED.sub(lambda match: " " * len(match[0]), text)
    return (rest, rest != text) if rest.strip() else (text, False)
