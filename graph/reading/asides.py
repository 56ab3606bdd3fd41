"""Clauses that only tell of the work and its people: nothing was read in them, and nothing can be asked for in them.

Three kinds are told apart. What tells how it was (`the old footage from 2009 looked poor`) may name other programs,
machines and times; a reason (`since the station data only come in during the night`) may name times; anything else
(`we are three microbiologists in the Jura`) only people, places and things. Words that turn a sentence round turn
nothing that was read where they stand in such a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.bearing import BEARING, HOW_IT_WAS, TIMES, TURNING
from graph.reading.closed_words import is_closed_word
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.file_names import names_a_file
from graph.reading.lexicon import PADDING
from graph.reading.ordinary import is_ordinary
from graph.reading.verbs import VERBS

__all__ = ["pass_over_asides"]

_BREAK = re.compile(
    r"(?<!\b[a-z])(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)(?<!\bprof)(?<!\bno)[.!?]+(?= |$)|[,;:()\n]| [-\u2013\u2014] "
    r"| (?=(?:because|since|so that|but|while|whereas|although|otherwise|and (?:we|i|he|she|they|it|my|our|the"
    r"|then))\b)"
)
_WORD = re.compile(r"[^\s,;:!?()\"“”«»*`]*[^\s,;:!?()\"“”«»*`.]")
_DEMANDS = re.compile(
    r"(?<![\w-])(?:please|pls|must|mustn't|needs?|needed|needing|wants?|wanted|wanting|requires?|required|requiring"
    r"|should|shouldn't|shall|prefers?|preferred|avoid|avoids|avoiding|excludes?|excluding|insists?|demands?|use|uses"
    r"|using|(?:has|have|had|got) to|ready|deadline|called|named|expects?|approved|granted|assigned|reserved|booked"
    r"|limited|allowed|permitted|may only|can only|bitte|muss|müssen|soll|sollen|darf|dürfen|doit|doivent"
    r"|faut)(?![\w-])"
)
_BY_THEN = re.compile(r"(?<![\w-])(?:by|until|till|before) (?:the |next |this |my |our )?(?P<when>[^\W\d_]+)")
_ORDER = re.compile(r" ?(?:and |but |so )?(?:only|never|don't|do not|not|no|without|except|rather|or)(?![\w-])")
"""How a clause begins that turns what stands before it."""
_PAST = re.compile(
    r"(?<![\w-])(?:was|were|wasn't|weren't|had|hadn't|did|didn't|got|gave|went|came|took|ate|blew|broke|fell|found|kept"
    r"|lost|ran|said|sat|sent|spent|stood|stuck|took|told|thought|threw|turned|went|won|wrote|made|left|led|held"
    r"|brought"
    r"|bought|built|began|became|felt|flew|forgot|hit|met|paid|saw|sold|showed|slept|spoke|swore|taught|tore|used"
    r"|woke|(?!need|speed|feed|seed|breed|indeed|exceed|proceed|shared|based|speed)[a-z]{2,}ed)(?![\w-])"
)
_REASON = re.compile(r" ?(?:because|since|as|for|so that|so|otherwise|while|whereas|although|which|who|where|when) ")
_YEAR = re.compile(r"(?<![\w.-])(?:1[5-9]|20)\d\d(?![\w.-])")
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_PROGRAM = re.compile(r"[^\W\d_][\w+-]*")
_IS = re.compile(
    r"(?:^|[ ])(?:is|are|be|called|named|with|using|(?:[a-z]{2,}ed|done|run|made|written|built) (?:in"
    r"|under)) (?:the |a |an |our |my )?$"
)
"""What may stand before the name of a program."""
_SHORTEST = 3
_WHEN = TIMES | {"then", "end", "start", "beginning", "middle", "next", "that", "this", "1", "he", "she", "it", "we"}
_PLACED = re.compile(
    r"(?<!ed)(?<!done)(?<!run)(?<!made)(?<!written)(?<!built) (?:from|near|off|along|outside|of"
    r"|in) (?:the )?$"
)
_COUNTED = re.compile(r" (?:of (?:the|our|my|them) )?(?:[a-z]+-)?(?P<what>[^\W\d_]{3,})")


def pass_over_asides(draft: Draft) -> None:
    """Claim clauses that tell nothing a site can be asked for, and name them."""
    if not {"command", "software", "script"} & draft.fields.keys():
        return
    text = draft.open_but_asides()
    for start, end in [*_clauses(text)]:
        if _is_aside(draft, text, start, end):
            words = draft.words(start, end).strip(" ,.;!?")
            draft.default(f"{words!r} tells of the work, and asks for nothing")
            draft.aside(start, end)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in [*_BREAK.finditer(text)]:
        if text[start : stop.start()].strip():
            yield start, stop.start()
        start = stop.end()
    if text[start:].strip():
        yield start, len(text)


def _is_aside(draft: Draft, text: str, start: int, end: int) -> bool:
    """Whether a clause holds what tells something, and no word that can ask for anything."""
    clause = text[start:end]
    if "\x00" in clause or _ORDER.match(clause) or names_a_file(clause):
        return False
    demands = _DEMANDS.search(clause) is not None or any(m["when"] in _WHEN for m in _BY_THEN.finditer(clause))
    past = _PAST.search(clause) is not None and not demands
    tells = HOW_IT_WAS if past else TIMES if _REASON.match(clause) and not demands else frozenset()
    telling = unknown = 0
    for match in _WORD.finditer(clause):
        word = match[0].strip("'’-\u2013\u2014")  # noqa: RUF001  # as typed
        written = draft.line.words(start + match.start(), start + match.end()).strip("'’-.\u2013\u2014")  # noqa: RUF001
        if not word or word in PADDING or (word in TURNING and not demands):
            continue
        if word.isdigit():
            if not _counts_nothing(clause, match, spelt=written.isalpha(), past=past):
                return False
        elif is_closed_word(word, "") and (word not in BEARING or word in tells):
            continue
        elif is_ordinary(written, foreign=draft.line.foreign) or word in tells:
            telling += len(word) >= _SHORTEST
        elif word in EVERYDAY or (word in VERBS and word not in BEARING):
            telling += 1
        elif word in BEARING or not _PROGRAM.fullmatch(written) or _IS.search(clause[: match.start()]):
            return False
        elif past:
            telling += 1
        elif not _NAME.fullmatch(written) or (demands and not _PLACED.search(clause[: match.start()])):
            unknown += 1
    return telling > 1 + 2 * unknown and not (demands and unknown)


def _counts_nothing(clause: str, match: re.Match[str], *, spelt: bool, past: bool) -> bool:
    """Whether a number is a year that has been, or counts what no site has (`three microbiologists`)."""
    if past and _YEAR.fullmatch(match[0]):
        return True
    counted = _COUNTED.match(clause, match.end())
    if counted is None:
        return past and not clause[match.end() :].strip()
    return (spelt or past) and (is_ordinary(counted["what"]) or (past and counted["what"] in ("million", "thousand")))
