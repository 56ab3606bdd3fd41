"""Whether words stand in a clause that tells how it was: then they count only where nothing else says it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.reading.draft import Amount, Draft

__all__ = ["drop_what_was", "tells_of_the_past", "was_so"]

_BREAK = re.compile(
    r"[.!?;:()]+(?= |$)|[()]|,(?= )|\n| [-\u2013\u2014] "
    r"| (?=(?:but|so|because|since|as the|as we|as it|whereas|while|although|though|otherwise|and (?:we|i|it|now"
    r"|this|then|here"
    r"|the|my|our|he|she|they|still|today))(?![\w-]))"
)
_SUBJECT = r"(?:we|i|he|she|they|it|you|who|which|that|nobody|everybody|somebody|everyone|someone)"
_IRREGULAR = (
    r"(?:was|were|wasn't|weren't|had|hadn't|did|didn't|got|went|came|took|ran|ate|sat|stood|slept|saw|left|led|lost"
    r"|broke"
    r"|fell|flew|drove|rode|sailed|spent|wrote|taught|thought|said|told|began|became|kept|held|won|woke)"
)
_PAST = re.compile(
    rf"(?<![\w-])(?:{_IRREGULAR}|{_SUBJECT}(?: (?:all|both|only|just|once|even|already|then|still|first|never"
    rf"|once)){{0,2}}"
    r" (?!need|speed|feed|exceed|proceed)[a-z]{2,}ed"
    r"|(?!(?:is|are|be|was|were|been|as|if|and|or|also|not|hours?|days?|weeks?|minutes?|nodes?|cores?|gpus?|time"
    r"|memory)"
    r"(?![\w-]))[a-z'-]{2,30} (?:crawled|crashed|failed|died|lasted|(?:needed|required|finished|worked)"
    r"(?= (?:for |about |only |some |nearly |over |almost )?(?:an?|the|\d+|us|me)(?![\w-]))))(?![\w-])"
)
_SINCE = re.compile(
    r"(?<![\w-])(?:last (?:time|week|month|year|night|run|attempt|semester|summer|winter|spring|autumn|fall)"
    r"|in the past"
    r"|back then|previously|formerly|yesterday|(?:years?|months?|weeks?|days?) ago|in (?:19|20)\d\d)(?![\w-])"
)
_ASKS = re.compile(
    r"(?<![\w-])(?:please|pls|must|mustn't|should|shouldn't|shall|would|'d|could|can|cannot|can't|may|will|'ll"
    r"|needs?|needing"
    r"|requires?|wants?|wanted|wish\w*|hop(?:e|ed|ing)|plan\w*|intend\w*|meant|estimat\w*|expect\w*|ask\w*|request\w*"
    r"|recommend\w*|advis\w+|suggest\w*|enough|suffic\w+|same|again|as before|likewise|instead|deadline|ensure|budget"
    r"|(?:has|have|had) to|decided|agreed|settled|told (?:me |us )?(?:to|that)|set|changed|raised|reduced|increased"
    r"|lowered|cut"
    r"|capped|limited|chose|chosen|picked|figured|reckoned|guess\w*|calculated|computed|measured|profiled|benchmarked"
    r"|tested|granted|given|gave|allotted|assigned|allocated|reserved|booked|approved|promised|allowed|built|compiled"
    r"|linked|prepared|attached|written|let|due|is|are|now|today|this time|call it)(?![\w-])"
)
_TOO_LITTLE = re.compile(
    r" (?:of (?:ram|memory|mem) )?(?:(?:is|are|was|were|proved|proved to be|turned out(?: to be)?) "
    r"(?:not (?:quite )?(?:enough|sufficient)|too (?:little|few|small)|insufficient)"
    r"|(?:isn't|aren't|wasn't|weren't) (?:quite )?(?:enough|sufficient)|(?:do|does|did)(?:n't| not) (?:quite )?suffice"
    r"|(?:war|waren|ist|sind) (?:zu wenig|zu knapp|nicht genug)|(?:reichen|reicht|reichte|reichten) (?:\w+ )?nicht"
    r"|ne (?:ont|a|avaient|avait) not suffi)(?: (?:last time|aus|before|for (?:it|us|this)))?(?![\w-])"
)
"""Behind an amount that did not do, which is not what is asked for."""
_LONGEST = 200


def was_so(norm: str, start: int, end: int) -> bool:
    """Whether a stretch stands in a clause that tells of the past and asks for nothing."""
    first = max(0, start - _LONGEST)
    before = [match.end() for match in _BREAK.finditer(norm, first, start)]
    behind = _BREAK.search(norm, end, end + _LONGEST)
    begin = before[-1] if before else first
    stop = behind.start() if behind else min(len(norm), end + _LONGEST)
    clause = f"{norm[begin:start]} \x00 {norm[end:stop]}"
    if _ASKS.search(clause):
        return False
    said = norm[begin:stop]
    return _PAST.search(said) is not None or (
        _SINCE.search(said) is not None and _IRREGULAR_ANY.search(said) is not None
    )


_IRREGULAR_ANY = re.compile(rf"(?<![\w-])(?:{_IRREGULAR}|[a-z]{{2,}}ed)(?![\w-])")


def tells_of_the_past(norm: str) -> bool:
    """Whether anything in a text may tell of the past."""
    return _PAST.search(norm) is not None or _SINCE.search(norm) is not None


def drop_what_was(draft: Draft) -> None:
    """Of amounts of one kind that differ, those that tell how it was do not count beside those that ask."""
    norm = draft.line.norm
    past = tells_of_the_past(norm)
    told: list[tuple[Amount, re.Match[str] | None]] = []
    for amount in draft.amounts:
        short = _TOO_LITTLE.match(norm, amount.end)
        if short or (past and was_so(norm, amount.start, amount.end)):
            told.append((amount, short))
    for amount, short in told:
        others = [one for one in draft.amounts if one.unit == amount.unit and all(one is not each for each, _ in told)]
        if not others or all((one.low, one.high) == (amount.low, amount.high) for one in others):
            continue
        draft.amounts = [one for one in draft.amounts if one is not amount]
        draft.default(f"{draft.words(amount.start, amount.end)!r} tells how it was, and does not count")
        if short:
            draft.line.claim(*short.span())
