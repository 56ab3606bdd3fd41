"""Commands that a text only tells of: `qsub old.sh was how it went, now ./new.sh`, `./a is wrapped in ./run_a.sh`."""

from __future__ import annotations

import re

from dragoman.secrets import redact
from graph.reading.draft import Draft
from graph.reading.find_commands import Found

__all__ = ["without_earlier"]

_PAST = (
    r"(?:was|were|did|had|went|ran|used|worked|started|submitted|called|launched|old|former(?:ly)?|previous(?:ly)?"
    r"|earlier"
    r"|last (?:time|week|month|year|night|run)|before|until now|so far|back then|in the past|originally|once|used to"
    r"|yesterday|ago|no longer|not any ?more)"
)
_BEFORE = re.compile(rf"(?i)(?<![\w-]){_PAST}(?![\w-])[^;\n]*$")
_BEHIND = re.compile(
    r"(?i)^[`\"'”]?[ \t,.…(–—-]*(?:that|this|which|it|so)?[ \t]*(?:'s|is|was|were)?[ \t]*"  # noqa: RUF001  # as typed
    r"(?:(?:how|what|the way|where)[ \t])?"
    rf"[^.;\n]{{0,40}}?(?<![\w-]){_PAST}(?![\w-])"
)
_NOW = re.compile(
    r"(?i)(?<![\w-])(?:now|nowadays|today|this time|instead|simply|new|newer|from now on|currently|but|please|need"
    r"|want)"
    r"(?![\w-])[^;\n]*$"
)
_AS = re.compile(r"(?i)(?<![\w-])(?:as|like|by|with|via|command|call|line)(?: follows| this)?:?[ \t\n]*[`\"'“]?$")
_WRAPPED = re.compile(
    r"(?i)^[`\"'”]?[ \t,]*(?:which |that |it )?(?:is |are |gets |being |has been |was )?"
    r"(?:wrapped|packed|hidden|contained|called|started|launched|run|invoked|replaced)(?: up)? "
    r"(?:in|by|inside|from|within|into|through) (?:the |a |my |our )?(?:script |wrapper |file )*[`\"'“]?$"
)


def without_earlier(draft: Draft, found: list[Found]) -> list[Found]:
    """The commands that are to be run, without those that the words call earlier ones or parts of another."""
    if len(found) < 2:
        return found
    text = draft.line.text
    kept: list[Found] = []
    for index, item in enumerate(found):
        later = found[index + 1] if index + 1 < len(found) else None
        between = text[item.end : later.start] if later else ""
        if later is not None and _is_named(item, later, between):
            draft.line.claim_text(item.start, item.end)
        elif later is not None and _WRAPPED.match(between):
            draft.default(
                f"{redact(item.body)[:200]!r} is started by {redact(later.body)[:200]!r}, which is the command"
            )
            draft.line.claim_text(item.start, later.start)
        else:
            kept.append(item)
    now = [item for item in kept if not _is_told(text, item)]
    if len({item.body.strip() for item in now}) != 1 or len(now) == len(kept):
        return kept
    others = [item for item in kept if item not in now]
    if not all(_NOW.search(_clause_before(text, item.start)) for item in now):
        return kept
    for item in others:
        draft.default(f"{redact(item.body)[:200]!r} tells how it was, and asks for nothing")
    return now


def _is_named(item: Found, later: Found, between: str) -> bool:
    """`./x is to be started as "mpirun -np 16 ./x in.dat"`: the program is named first, and the line is the command."""
    words = later.body.split()
    return item.body.strip() in words and len(words) > 1 and _AS.search(between) is not None


def _clause_before(text: str, start: int) -> str:
    return re.split(r"(?<=[.;!?])\s|\n", text[max(0, start - 100) : start])[-1]


def _is_told(text: str, item: Found) -> bool:
    """Whether words before or behind a command put it into the past."""
    before, behind = _clause_before(text, item.start), re.split(r"\n", text[item.end : item.end + 90])[0]
    if _NOW.search(before):
        return False
    behind = re.split(r"(?i)[.;,:]\s+(?=now|today|this time|but|please|from now)", behind)[0]
    return _BEFORE.search(before) is not None or _BEHIND.match(behind) is not None
