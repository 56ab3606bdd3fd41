"""Clauses that only tell of the work and its people: nothing was read in them, and nothing can be asked for in them.

`the pressure solver suffers badly without it`, `as the referee did not believe us`: of ordinary words, with turning
words among them that turn nothing which was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.bearing import BEARING, TURNING
from graph.reading.closed_words import is_closed_word
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FOREIGN_WORDS, PADDING
from graph.reading.ordinary import is_ordinary
from graph.reading.verbs import VERBS

__all__ = ["pass_over_asides"]

_BREAK = re.compile(
    r"(?<!\b[a-z])[.!?]+(?= |$)|[,;:()\n]| [-\u2013\u2014] | (?=(?:because|since|as|so|but|while|whereas)\b)"
)
_WORD = re.compile(r"[^\s,;:.!?()\"“”«»*`]+(?:\.[^\s,;:.!?()]+)*")
_DEMANDS = re.compile(
    r"(?<![\w-])(?:please|pls|must|mustn't|need|needs|needed|needing|want|wants|wanted|require|requires|required"
    r"|requiring|should"
    r"|shouldn't|shall|prefer|prefers|avoid|avoids|avoiding|exclude|excludes|excluding|insist|demand|demands|use"
    r"|uses|used"
    r"|using|(?:has|have|had|got) to|ready|before|until|till|by|deadline|never|don't|do not|only|except|bitte|muss"
    r"|müssen|soll|sollen|darf|dürfen|doit|doivent|faut)(?![\w-])"
)
_CONTENT = 3
"""So long a word is no article or preposition that was not known as one."""


def pass_over_asides(draft: Draft) -> None:
    """Claim clauses that tell nothing a site can be asked for, and name them."""
    if not {"command", "software", "script"} & draft.fields.keys():
        return
    for start, end in [*_clauses(draft.line.open)]:
        if _is_aside(draft, start, end):
            words = draft.words(start, end).strip(" ,.;!?")
            draft.default(f"{words!r} tells of the work, and asks for nothing")
            draft.line.claim(start, end)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in [*_BREAK.finditer(text)]:
        if stop.start() > start:
            yield start, stop.start()
        start = stop.end()
    if len(text) > start:
        yield start, len(text)


def _is_aside(draft: Draft, start: int, end: int) -> bool:
    """Whether a clause holds what tells something, and no word that can ask for anything."""
    clause = draft.line.open[start:end]
    if not clause.strip() or any(c.isdigit() or c == "\x00" for c in clause) or _DEMANDS.search(clause):
        return False
    telling = 0
    for match in _WORD.finditer(clause):
        word = match[0].strip("'’-\u2013\u2014")  # noqa: RUF001  # as typed
        if not word or word in TURNING or word in PADDING or word in FOREIGN_WORDS.values():
            continue
        if is_closed_word(word, "") and word not in BEARING:
            continue
        written = draft.words(start + match.start(), start + match.end()).strip("'’-\u2013\u2014")  # noqa: RUF001
        if is_ordinary(written, foreign=draft.line.foreign):
            telling += len(word) >= _CONTENT
        elif word in EVERYDAY or (word in VERBS and word not in BEARING):
            telling += 1
        else:
            return False
    return telling > 1
