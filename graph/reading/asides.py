"""Clauses that only tell of the work and its people: nothing was read in them, and nothing can be asked for in them.

Three kinds are told apart. What tells how it was (`the old footage from 2009 looked poor`) may name other programs,
machines and times; a reason (`since the station data only come in during the night`) may name times; anything else
(`we are three microbiologists in the Jura`) only people, places and things. Words that turn a sentence round turn
nothing that was read where they stand in such a clause.
"""

from __future__ import annotations

import re

from graph.reading.bearing import BEARING, HOW_IT_WAS, LOOSE, TIMES, TURNING
from graph.reading.closed_words import is_closed_word
from graph.reading.demands import corrects, demands, is_unmet, orders
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.file_names import names_a_file
from graph.reading.lexicon import PADDING, UNIT_WORDS
from graph.reading.ordinary import base_form, clauses_of, is_ordinary
from graph.reading.verbs import VERBS

__all__ = ["pass_over_asides"]

_BREAK = re.compile(
    r"(?<!\b[a-z])(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)(?<!\bprof)(?<!\bno)[.!?]+(?= |$)|[,;:()\n]| [-\u2013\u2014] "
    r"| (?=(?:because|since|so that|but|while|whereas|although|otherwise|and (?:we|i|he|she|they|it|my|our|the"
    r"|then))\b)"
)
_WORD = re.compile(r"[^\s,;:!?()\"“”«»*`]*[^\s,;:!?()\"“”«»*`.]")
_PAST = re.compile(
    r"(?<![\w-])(?:was|were|wasn't|weren't|had|hadn't|did|didn't|got|gave|went|came|took|ate|blew|broke|fell|found|kept"
    r"|lost|ran|said|sat|sent|spent|stood|stuck|told|thought|threw|turned|went|won|wrote|made|left|led|held"
    r"|brought"
    r"|bought|built|began|became|felt|flew|forgot|hit|met|paid|saw|sold|showed|slept|spoke|swore|taught|tore|used"
    r"|woke|(?!need|speed|feed|seed|breed|indeed|exceed|proceed|shared|based)[a-z]{2,}ed)(?![\w-])"
)
_REASON = re.compile(r" ?(?:because|since|as|for|so that|so|otherwise|while|whereas|although|which|who|where|when) ")
_EQUIPPED = re.compile(
    r"(?<![\w-])(?:installed|compiled|built|linked|loaded|equipped|connected|mounted|enabled"
    r"|supported"
    r"|hosted|capped|bounded|restricted|fixed|set|pinned|cooled|powered|encrypted|isolated|located|stored|shared"
    r"|dedicated"
    r"|based|attached|included|provided|covered|spread|put)(?![\w-])"
)
"""What a site or a job can have been made to be: no story."""
_WHY = re.compile(r" ?(?:because|since) ")
_ESTIMATE = re.compile(
    r"(?<![\w-])(?:estimated|reckoned|calculated|planned|told (?:me|us)|asked|agreed"
    r"|promised)(?![\w-])"
)
_YEAR = re.compile(r"(?<![\w.-])(?:1[5-9]|20)\d\d(?![\w.-])")
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_PROGRAM = re.compile(r"[^\W\d_][\w+-]*")
_IS = re.compile(
    r"(?:^|[ ])(?:is|are|be|called|named|with|using|(?:[a-z]{2,}ed|done|run|made|written|built) (?:in"
    r"|under)) (?:the |a |an |our |my )?$"
)
"""What may stand before the name of a program."""
_SHORTEST = 3
_YEARS = re.compile(r"\s*(?:from |of )?(?:1[5-9]\d\d|20[012]\d)(?: ?(?:to|and|-|\u2013) ?(?:1[5-9]\d\d|20[012]\d))\s*")
_OF_A_YEAR = re.compile(r"(?<![\w-])(?:from|of|since|the) $")
_FIELD = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(UNIT_WORDS))})(?![\w-])")
_PLACED = re.compile(
    r"(?<!ed)(?<!done)(?<!run)(?<!made)(?<!written)(?<!built) (?:from|near|off|along|outside|of"
    r"|in) (?:the )?$"
)
_COUNTED = re.compile(r" (?:of (?:the|our|my|them) )?(?:[a-z]+-)?(?P<what>[^\W\d_]{3,})")


def pass_over_asides(draft: Draft) -> None:
    """Claim clauses that tell nothing a site can be asked for, and name them."""
    if not {"command", "software", "script", "containers"} & draft.fields.keys():
        return
    text, last = draft.open_but_asides(), -1
    for start, end in clauses_of(draft.line.norm, _BREAK):
        follows = last >= 0 and re.fullmatch(r"[ ,]*", draft.line.norm[last:start]) is not None
        if _is_aside(draft, text, start, end, follows=follows):
            last = end
            words = draft.words(start, end).strip(" ,.;!?")
            draft.default(f"{words!r} tells of the work, and asks for nothing")
            draft.aside(start, end)


def _is_aside(draft: Draft, text: str, start: int, end: int, *, follows: bool) -> bool:
    """Whether a clause holds what tells something, or follows one that does, and no word that can ask for anything."""
    clause = text[start:end]
    if not clause.strip(" \x00"):
        return False
    if _YEARS.fullmatch(clause):
        return True
    whole = draft.line.norm[start:end]
    if "\x00" in clause or orders(whole) or is_unmet(whole) or names_a_file(clause):
        return False
    why = _WHY.match(clause) is not None
    demanding = not why and demands(clause)
    past = _PAST.search(clause) is not None and not demanding and not _ESTIMATE.search(clause)
    past = past and not _EQUIPPED.search(clause) and not corrects(clause)
    tells = HOW_IT_WAS if past else frozenset() if demanding else LOOSE | TIMES if _REASON.match(clause) else LOOSE
    telling = unknown = 0
    for match in _WORD.finditer(clause):
        word = match[0].strip("'’-\u2013\u2014")  # noqa: RUF001  # as typed
        written = draft.line.words(start + match.start(), start + match.end()).strip("'’-.\u2013\u2014")  # noqa: RUF001
        if not word or word in PADDING or (word in TURNING and not demanding):
            continue
        if word.isdigit():
            if not _counts_nothing(clause, match, spelt=written.isalpha(), past=past and not _FIELD.search(clause)):
                return False
        elif is_closed_word(word, "") and (word not in BEARING or word in tells):
            continue
        elif is_ordinary(written, foreign=draft.line.foreign) or word in tells or base_form(word) in tells:
            telling += len(word) >= _SHORTEST
        elif word in EVERYDAY or (word in VERBS and word not in BEARING and base_form(word) not in BEARING):
            telling += 1
        elif (
            word in BEARING
            or base_form(word) in BEARING
            or not _PROGRAM.fullmatch(written)
            or (not past and _IS.search(clause[: match.start()]))
        ):
            return False
        elif past:
            telling += 1
        elif not _NAME.fullmatch(written) or (demanding and not _PLACED.search(clause[: match.start()])):
            unknown += 1
    enough = 0 if past else -1 if follows and not unknown and not demanding else 1 + 2 * unknown
    return telling > enough and not (demanding and unknown)


def _counts_nothing(clause: str, match: re.Match[str], *, spelt: bool, past: bool) -> bool:
    """Whether a number is a year that has been, or counts what no site has (`three microbiologists`)."""
    if _YEAR.fullmatch(match[0]) and (past or _OF_A_YEAR.search(clause[: match.start()])):
        return True
    counted = _COUNTED.match(clause, match.end())
    if counted is None:
        return past and not clause[match.end() :].strip()
    return past or (spelt and (is_ordinary(counted["what"]) or counted["what"] in LOOSE))
