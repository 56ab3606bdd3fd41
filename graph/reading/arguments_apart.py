"""Arguments that stand as an item of their own: `program: ./x; args: --fast 3`."""

from __future__ import annotations

import re

from graph.reading.extent import extent

__all__ = ["arguments_apart"]

_APART = re.compile(
    r"(?im)(?:^|[;,|])[ \t]*(?:[-*•][ \t]+)?(?:(?:command[- ]line|program|input)[ \t]+)?"
    r"(?:args?|arguments?|parameters?)(?:[ \t]*[:=][ \t]*|[ \t]+(?=-))(?P<rest>(?![ \t:=])\S[^\n;|]*)"
)
_NONE = re.compile(r"(?i)(?:none|n/a|no|nothing|-)?[ \t.]*")


def arguments_apart(text: str) -> tuple[int, int, str] | None:
    """Where such an item stands, and its arguments; None where there is none, or more than one."""
    found = [match for match in _APART.finditer(text) if not _NONE.fullmatch(match["rest"])]
    if len(found) != 1:
        return None
    start = found[0].start("rest")
    quoted = re.match(r"([\"'`])(?P<words>[^\"'`\n]*)\1", found[0]["rest"])
    if quoted is not None:
        return found[0].start(), start + quoted.end(), quoted["words"]
    end = extent(text, start, found[0].end())
    words = text[start:end]
    sure = re.match(r"--?[A-Za-z]", words) or re.search(r"[./=\d]", words)
    return (found[0].start(), end, words) if sure else None
