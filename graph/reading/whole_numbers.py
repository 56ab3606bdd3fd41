"""Names with a bare whole number behind: software with its version (`Gaussian 16`), or things with a number.

`NGC 253`, `room B 112` and `in Telemark in 1968` have the same form. A whole number is a version only where it looks
like one, and where the name stands in the place of software.
"""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.software_needs import joined

__all__ = ["is_a_version"]

_CUE = re.compile(
    r"(?<![\w-])(?:run|runs|running|starten|rechnen|nutzen|verwenden|use|uses|used|using|need|needs|needed|want"
    r"|wants|with|have|has|having|require|requires"
    r"|required|requiring|load|loaded|install|installed|execute|executes|launch|call|calls|called|via|by|through|under"
    r"|submit|start|try|love|like|expect|expects|prefer|give|get|take|buy|is|be|it's|software|package|program|code"
    r"|solver"
    r"|application|app|module|tool|licen[cs]es? (?:of|for)|(?:input|job|run|calculation|simulation|computation"
    r"|version|copy"
    r"|installation|build|release|model|script|case)s? (?:of|for|in)|(?:done|run|made|written|built|computed|calculated"
    r"|performed|set up|modelled|prepared) in|or|plus|if|unless"
    r"|instead of|rather than|avoid|without|not|no|than"
    r"|least|most|either)"
    r"(?: (?:to|run|use|have|the|a|an|our|my|either|both|you|sie|commercial|licensed|parallel|software|package"
    r"|program|code|solver"
    r"|plain|standard)){0,4}[:=]? [\"'`*(]?$"
)
"""What stands right before software."""
_OPENS = re.compile(
    r"(?:^|[.;:!?(,/+&\x00\u2013\u2014-]) ?[\"'`*(]?$|(?:^|[.;:!?] )(?:hi|hello|hey|dear all|please|pls)[,!]? $"
)
_GOES_ON = re.compile(
    r"[\"'`*)]?(?: ?(?:[,;.:)!/+&(\x00]|$)| (?:on|with|for|using|and|or|via|jobs?|runs?|to|must|should|has to"
    r"|needs?|please"
    r"|simulations?|calculations?|workloads?|optimi[sz]ations?|scripts?|models?|installed|required|x|\d))"
)
_NEEDED = re.compile(
    r" (?:jobs?|(?:can|could|will|would|may|should|must|shall|is to) (?:run|start|work|be (?:run|started|used))"
    r"|(?:is |are |has to be |have to be |must be |should be |needs to be )(?:installed|available|needed|required"
    r"|loaded|there|used)|installed|required|licen[cs]es?)(?![\w-])"
)
_OF_WHAT_WAS_READ = re.compile(r"\x00 (?:for|and) $")
"""`48 cores for Gaussian 16`"""
_TOLD_OF = re.compile(
    r" (?:again|once|papers?|conference|workshop|deadline|submission|revision|rebuttal|survey|catalogue|campaign|data"
    r"|is|was|are|were|has|had)(?![\w-])"
)
"""Behind a name and a number that open a request, but are what it tells of."""
_YEARS = range(1990, 2036)
_TWO_DIGITS = 100
_MONTHS = 12


def is_a_version(draft: Draft, start: int, end: int, number: str) -> bool:
    """Whether the whole number behind the name at a stretch, which ends the match at `end`, can be its version."""
    if not _looks_like_one(number):
        return False
    norm = draft.line.norm
    before, behind = norm[max(0, start - 80) : start], norm[end : end + 40]
    if _CUE.search(before) or _NEEDED.match(behind) or joined(draft, start):
        return True
    if not before.strip() and not _TOLD_OF.match(behind):
        return True
    opens = (
        _OPENS.search(before) is not None
        or _begins_a_line(draft, start)
        or _OF_WHAT_WAS_READ.search(draft.line.open[:start][-8:]) is not None
    )
    return opens and _GOES_ON.match(behind) is not None


def _looks_like_one(number: str) -> bool:
    value = int(number)
    if value < _TWO_DIGITS or value in _YEARS:
        return True
    if len(number) == 4:  # year and month
        return 15 <= value // 100 <= 35 and 1 <= value % 100 <= _MONTHS
    return len(number) in (6, 8)  # a date


def _begins_a_line(draft: Draft, start: int) -> bool:
    before = draft.line.text[: draft.line.span(start, start + 1)[0]].rstrip(" \t*-•")
    return before.endswith("\n") or not before
