"""Commands that a text names and does not ask to run: `stop ./sim`, `how long does ./sim take?`; and open quotes."""

from __future__ import annotations

import re
import shlex

__all__ = ["only_asked", "open_quote", "stopped_before"]

_FARTHEST = 200
_STOPPED = re.compile(
    r"(?i)(?:^|(?<=[.;:,!?\n])[ \t]*|(?<![\w-])(?:please|pls|can you|could you|would you|to|and|then|bitte|must"
    r"|should|just)[ \t]+)"
    r"(?:stop|cancel|kill|abort|terminate|pause|suspend|delete|remove|halt|interrupt|quit|end|stopp|stoppe|stoppen"
    r"|beende|beenden|storniere|lösche|arrête|arrêter|arrêtez|annule|annuler|annulez|supprime|supprimer|tue|tuer)"
    r"(?:[ \t]+(?:the|my|our|this|that|all|running|run|runs|job|jobs|of|process|script|program|den|die|das|le|la|l'"
    r"|mon|ma|execution|executing|starting|launching|submitting)){0,5}[ \t:]*[`\"']?$"
)
_WH = re.compile(
    r"(?i)[ \t]*(?:(?:and|so|hi|hello|hey|also|but|just wondering|i wonder|please tell me|tell me|do you know"
    r"|can you tell me|could you tell me)[,:!]?[ \t]+){0,3}"
    r"(?:how[ \t]+(?:long|much|many|fast|often|well|big|expensive|does|do|did|is|was)|why|when|what[ \t]+(?:is|are"
    r"|does|do|would|happens|will)|does|did|is|was|has|wie[ \t]+(?:lange|viel|viele|oft|schnell)|warum|wann|was"
    r"|combien|pourquoi|quand|est-ce)(?![\w-])[^?!\n]*$"
)
_POSSIBLE = re.compile(
    r"(?i)(?:is|was|est-ce|would) (?:it|this|that|there) (?:be )?(?:possible|ok|okay|fine|feasible|any way|a way)"
)


def stopped_before(text: str, start: int) -> int | None:
    """Where `stop` or `cancel` begins that stands right before a command; None where nothing says so."""
    first = max(0, start - 80)
    found = _STOPPED.search(text[first:start])
    return None if found is None or (first and not found.start()) else first + found.start()


def only_asked(text: str, start: int, end: int) -> bool:
    """Whether a command stands in a question about it (`how long does ./sim take?`), which asks for no job."""
    before = re.split(r"[.;!?]\s|\n", text[max(0, start - _FARTHEST) : start])[-1]
    behind = re.match(r"[^?!\n]{0,200}?(?P<end>[?!\n]|\.\s|$)", text[end : end + _FARTHEST])
    asks = behind is not None and behind["end"] == "?"
    return asks and _WH.match(before) is not None and _POSSIBLE.search(before) is None


def open_quote(body: str) -> bool:
    """Whether a quotation begins in a single line and does not end."""
    if "\n" in body.strip() or "<<" in body:
        return False
    try:
        shlex.split(body, posix=True)
    except ValueError as error:
        return "quotation" in str(error)
    return False
