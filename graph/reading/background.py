r"""What a request tells besides what it asks: how it went last time, what somebody owns, why it is done.

Stories are hidden before any rule counts their numbers; remarks, reasons and purposes are passed over at the end, where
nothing in them was read. Each is named, so that a person sees what was not taken for a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from graph.reading.draft import Draft
from graph.reading.file_names import names_a_file
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, PADDING

__all__ = ["hide_failures", "hide_stories", "pass_over_remarks"]

_END = re.compile(r"(?<![ .]\w)(?<!max)(?<!min)(?<!ca)(?<!approx)(?<!vs)[.;!?]+(?=[ \x00]|$)| - (?=but|so|that|it )")
_JOINED = re.compile(r",? (?=(?:but|so|because|whereas|hence|therefore|this time|now|today)\b)|, (?=and now\b)")
_PAST = (
    r"(?:was|were|did|had|took|ran|used|got|crashed|failed|died|needed|worked|finished|went|came|became|hit|tried"
    r"|wasted|spent|required|lasted|reached|killed|aborted|exceeded|timed out|started|ended|didn't|wasn't|weren't)"
)
_BEFORE = (
    r"(?:last (?:time|week|month|year|night|run|attempt|semester|summer|winter|spring|autumn|fall)|the last|our last"
    r"|my last|previous(?:ly)?|former(?:ly)?|in the past|back then|so far|until now|up to now|yesterday|ago|earlier"
    r"|before that|originally|initially|at first|the first (?:try|time|attempt|run))"
)
_OWN = (
    r"(?:(?:my|our|his|her|their)(?: own| old| new| local| little| small| tiny| poor| current| group's| lab's"
    r"| office| home){0,3} (?:laptop|workstation|desktop|pc|notebook|macbook|office machine|cluster|server|box)"
    r"|the (?:laptop|workstation|desktop|pc|notebook|macbook))"
)
_TELLS = re.compile(
    rf"(?<![\w-])(?:{_BEFORE}\b.{{0,160}}\b{_PAST}|(?P<first>{_PAST})\b.{{0,160}}\b{_BEFORE}"
    r"|used to (?:run|take|be|need|use|do)"
    rf"|(?:and |but |because |as )?(?:it|they|we|i|this|that|he|she) (?:always |often |only |just |then "
    rf"|already )?{_PAST}"
    rf"|(?:the|our|my|all|these|those)(?: [\w-]+){{1,3}} (?:was|were|had|took|ran|crashed|failed|died|got|came)"
    rf"|{_OWN}\b.{{0,60}}\b(?:has|have|offers|takes?|is|only|cannot|can't|does not|doesn't|with)|on {_OWN}"
    r"|(?:my|our) quota (?:is|there)|(?:have|has|had|'ve) been told)(?![\w-])"
)
_ASKS = re.compile(
    r"(?<![\w-])(?:built|compiled|linked|needs?|requires?|wants?|please|pls|must|should|shall|would|'d|could|can you"
    r"|asks? for|to ask"
    r"|requests?|recommend\w*|advis\w+|suggest\w*|enough|suffic\w+|same|again|as before|likewise|use|using|let|give"
    r"|twice|double|half|instead|deadline|ensure|budget|euros?|dollars?|usd|eur|where (?:we|i|it)|ha(?:s|ve"
    r"|d) to (?:be|have|use|run)|looking for|similar|like that"
    r"|settled|decided|agreed|told (?:me |us )?to|in mind|hoping|hoped|planned|estimated?|wanted|meant|asked|wish\w*"
    r"|not before|no later|until|by(?= (?:the )?(?:\d|mon|tue|wed|thu|fri|sat|sun|tom|noon|mid|end|next)))(?![\w-])"
)
_REPEATS = re.compile(
    r"(?<![\w-])(?:same|again|as before|likewise|like (?:last time|before)|as (?:usual|always))(?![\w-])"
)
_ME_AGAIN = re.compile(r"^(?:[a-z]+[,!]? )?(?:it's |this is )?[a-z]+ again(?=[,.:!]| here)")
"""`hey, Kim again`: who writes, not what is to be done once more."""
_SAYS = re.compile(
    r"(?<![\w'-])(?:i|we|you|it|he|she|they|this|that|there|the|my|our|is|are|do)(?:'s|'m|'re|'ve|'ll)?(?![\w-]).{0,120}?"
    r"(?:'s|'m|'re|'ve|'ll|(?<![\w-])(?:is|are|was|were|am|has|have|had|do|does|did|will|can|may|might|know|think|hope"
    r"|guess|[a-z]{3,}(?:ed|s)))(?![\w-])"
)
_CLAIMS = re.compile(
    rf"{_ASKS.pattern}|(?<![\w-])(?:only|with|without|no|not|never|none|per|each|at least|at most|more|less|fewer"
    rf"|faster"
    r"|larger|bigger|avoid|except|prefer\w*|available|installed|run|runs|running|start|starts|support\w*|enabled|on"
    r"|shared?|exclusive\w*|free|free of|license\w*|licence\w*|secret|password|nvme|ssd|disk|internet|network"
    r"|inputs?|outputs?|results?|files?|data)(?![\w-])|\d"
)
_FIELD_WORDS = KEYWORDS - PADDING - FUNCTION_WORDS - {"so", "that", "while", "when", "where", "which", "thanks", "as"}
_REASON = r"(?<![\w-])(?:because|since|so that|in order to) (?:[a-z][\w'-]*[ ]){1,12}[a-z][\w'-]*(?= ?(?:[.;!?,)]|$))"
_ONE = r"[^\W\d_]+(?:['-][^\W\d_]+)*'?"
_PURPOSE = rf"(?<![\w-])for (?:the|our|my|a|an|his|her|their|this|these) (?P<what>{_ONE}(?: {_ONE}){{0,4}})"
_OF_THEM = re.compile(r" ?(?:they|these|those|it|them|all of (?:them|it)) ")
_SUPPOSED = re.compile(r"(?:whether|if|how|what|when|once|after|until|unless) $")
_COMMA = re.compile(r",(?= )")
_ADVERB = re.compile(rf"[\x00 ]*(?:and |but )?(?:in |at |on |for )?{_BEFORE}(?: [a-z]+){{0,2}}")
_GOES_ON = re.compile(r" ?(?:which|where|who|and (?:it|that|they|we|i|so)) ")
_FILES = re.compile(r"[\w*]\.[a-z*]\w*|/\w")
_WORD = re.compile(r"[a-z][\w'-]*")


_A_NODE_FAILS = (
    r"(?<![\w-])(?:if|when|in case|after|should|because) (?:a|one|one of the|any|some|the) (?:compute "
    r"|gpu )?nodes? (?:of "
    r"it )?(?:dies|die|fails?|crash(?:es)?|goes (?:down|away)|breaks?|is lost|has failed|failure|reboots?)(?![\w-])"
)


def hide_stories(draft: Draft) -> bool:
    """Hide clauses that tell how it was (`last month it ran on 16 nodes and crashed`); True if there were any."""
    text = draft.line.open
    told: list[tuple[int, int]] = []
    parts = [*_parts(text)]
    for start, end in parts:
        begins = _story(text[start:end])
        if begins is not None:
            told.append((start + begins, end))
        elif told and told[-1][1] == start and _GOES_ON.match(text[start:end]) and _tells_only(text[start:end]):
            told.append((start, end))
    if len(told) == len(parts) or _REPEATS.search(_ME_AGAIN.sub("", draft.line.norm)):
        return False  # nothing else is said, or it is asked for once more
    for start, end in told:
        _name(draft, start, end, "tells how it was or what there is, and asks for nothing")
    return bool(told)


def hide_failures(draft: Draft) -> None:
    """Hide `if a node dies`, which counts no node; what is wanted then has been read."""
    for match in draft.line.find(_A_NODE_FAILS):
        draft.line.claim(*match.span())


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, and what stands on both sides of `but`, `so` or `because` in them."""
    start = 0
    for stop in [*(match.end() for match in _END.finditer(text)), len(text)]:
        begin = start
        for joint in _JOINED.finditer(text, start, stop):
            if text[begin : joint.start()].strip():
                yield begin, joint.start()
            begin = joint.end()
        if text[begin:stop].strip():
            yield begin, stop
        start = stop


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Clauses cut at their commas; `last month,` stays with what follows."""
    for start, end in _clauses(text):
        begin = start
        for comma in _COMMA.finditer(text, start, end):
            if _ADVERB.fullmatch(text[begin : comma.start()]):
                continue
            yield begin, comma.end()
            begin = comma.end()
        if text[begin:end].strip():
            yield begin, end


def _story(part: str) -> int | None:
    """Where a story begins in a part of a sentence; None: there is none."""
    match = _TELLS.search(part)
    if match is None or not _tells_only(part[match.start() :]) or _SUPPOSED.search(part[: match.start()]):
        return None
    if match["first"]:
        return 0 if _tells_only(part) else None  # `16 nodes were enough last time`
    return match.start()


def _tells_only(part: str) -> bool:
    return "\x00" not in part.strip("\x00 ") and not _FILES.search(part) and not _ASKS.search(part)


def pass_over_remarks(draft: Draft) -> None:
    """Pass over sentences, reasons and purposes in which nothing was read and nothing can be asked for."""
    if not {"command", "software", "script"} & draft.fields.keys():
        return
    text = draft.open_but_asides()
    for start, end in [*_clauses(draft.line.norm)]:
        clause = text[start:end]
        if (
            _SAYS.search(clause)
            and len(clause.split()) > 3
            and not _OF_THEM.match(clause)
            and "\x00" not in clause
            and not _may_ask(clause)
            and not names_a_file(clause)
        ):
            _name(draft, start, end, "is a remark, and asks for nothing")
    for match in draft.line.find(_REASON):
        if not _may_ask(match[0]):
            _name(draft, *match.span(), "is why, and asks for nothing")
    for match in draft.line.find(_PURPOSE):
        words = [*takewhile(_is_open, match["what"].split())]
        following = match["what"].split()[len(words) : len(words) + 1]
        if words and not _may_ask(" ".join([*words, *following])):
            end = match.start("what") + len(" ".join(words))
            draft.aside(match.start(), end)


def _is_open(word: str) -> bool:
    return word not in PADDING | FUNCTION_WORDS | KEYWORDS


def _may_ask(words: str) -> bool:
    return _CLAIMS.search(words) is not None or bool(_FIELD_WORDS & set(_WORD.findall(words)))


def _name(draft: Draft, start: int, end: int, why: str) -> None:
    words = draft.words(start, end).strip(" ,.;!?")
    if words:
        draft.default(f"{words!r} {why}")
    draft.aside(start, end)
