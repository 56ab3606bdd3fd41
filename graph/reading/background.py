r"""What a request tells besides what it asks: how it went last time, what somebody owns, why it is done.

Stories are hidden before any rule counts their numbers; remarks, reasons and purposes are passed over at the end, where
nothing in them was read. Each is named, so that a person sees what was not taken for a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from graph.reading.demands import is_unmet
from graph.reading.draft import Draft
from graph.reading.file_names import names_a_file
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, PADDING

__all__ = ["hide_failures", "hide_stories", "pass_over_remarks"]

_END = re.compile(
    r"(?<![ .][^\W\d])(?<!max)(?<!min)(?<!ca)(?<!approx)(?<!vs)[.;!?]+(?=[ \x00]|$)| - (?=but|so|that|it )"
)
_JOINED = re.compile(r",? (?=(?:but|so|because|whereas|hence|therefore|this time|now|today)\b)|, (?=and now\b)")
_PAST = (
    r"(?:was|were|did|had|took|ran|used|got|crashed|failed|died|needed|worked|finished|went|came|became|hit|tried"
    r"|wasted|spent|required|lasted|reached|killed|aborted|exceeded|timed out|started|ended|didn't|wasn't|weren't"
    r"|wurden?|(?:ont|a|avaient|avait) été|war|waren|hatten?|lief(?:en)?|brauchten?|reichten?|dauerten?|nahm(?:en)?"
    r"|ging(?:en)?|kam(?:en)?|stürzten?"
    r"|gebraucht|gelaufen"
    r"|genommen|verwendet|benutzt|genutzt|gereicht|gedauert|abgestürzt|abgebrochen|gescheitert|gehabt|gewesen|gestartet"
    r"|(?:have|has|hat) (?:[^\s,.;]+ ){1,8}run|avait|avions|avaient|était|étaient|étions|tournait|utilisait|utilisions"
    r"|(?:on|ça|cela|it|we|i|nous|je) [a-zà-ÿ]{2,20}(?<!r)(?:ait|ais|ions|aient)|prenait|fallait|durait|pris|utilisé"
    r"|lancé|duré|tourné|planté|suffi|dépassé|obtenu|eu)"
)
_BEFORE = (
    r"(?:last (?:time|week|month|year|night|run|attempt|semester|summer|winter|spring|autumn|fall)|the last|our last"
    r"|my last|previous(?:ly)?|former(?:ly)?|in the past|back then|so far|until now|up to now|yesterday|ago|earlier"
    r"|before that|originally|initially|at first|the first (?:try|time|attempt|run)"
    r"|(?:in|at|during) (?:the|our|my) (?:precedent|preceding|previous|former) [a-z]+"
    r"|(?:on|with) (?:the|our|my) (?:old|former|previous|alten?|vorigen?|früheren?|ancien(?:ne)?|vieux|vieille)"
    r" (?:cluster|machine|system|server|rechner|maschine|anlage|système|serveur|calculateur|grappe)"
    r"|(?:at |on |in )?(?:letzte[nsmr]?|vorige[nsmr]?|vergangene[nsmr]?) (?:mal|week|monat|jahr|semester|sommer|winter"
    r"|herbst|frühjahr|frühling|nacht|run|versuch|projekt|kampagne)|zuletzt|früher|damals|bisher|bislang|gestern"
    r"|vorgestern|seinerzeit|ursprünglich|anfangs|at ersten (?:mal|versuch|run)|vor (?:a|2|3|4|\d+|einigen|ein paar) "
    r"(?:week|weeks|monaten?|jahre?n?|day|days)"
    r"|(?:the |at )?(?:mois|week|an|année|semestre|été|hiver|printemps|automne|projet|essai|run|tir) (?:dernier"
    r"|dernière|passée?|précédente?)|(?:the )?(?:dernière|première|fois) (?:fois|dernière|passée)|jusqu'ici|jusqu'à "
    r"présent|auparavant|autrefois|naguère|hier|à l'époque|à l'origine|au départ|at départ|it y a (?:\d+ |quelques )"
    r"(?:weeks|mois|ans|days)"
    r"|the (?:letzten|vorigen|vergangenen|bisherigen) (?:\d{1,2} )?(?:runs?|jobs?|läufe|läufen|rechnungen|versuche|mal)"
    r"|the (?:\d{1,2} )?(?:derniers|dernières|précédents|précédentes) (?:runs?|jobs?|calculs|essais|tirs|tentatives"
    r"|fois)"
    r"|before the [a-zà-ÿ]+(?= (?:lief|liefen|war|waren|hatten?|it|we|i|the|das|on|avait|tournait|était)(?![\w-])))"
)
_OWN = (
    r"(?:(?:my|our|his|her|their)(?: own| old| new| local| little| small| tiny| poor| current| group's| lab's"
    r"| office| home){0,3} (?:laptop|workstation|desktop|pc|notebook|macbook|office machine|cluster|server|box)"
    r"|the (?:laptop|workstation|desktop|pc|notebook|macbook))"
)
_ON_OWN = re.compile(
    r"(?<![\w-])(?:(?:that|which|it|this|and) )?(?:currently |usually |now )?(?:takes?|needs?|runs?|lasts?)(?:"
    r" (?:for|about|around|some|nearly|over))?"
    r" (?:\d+(?:\.\d+)?|an?|one|two|three|several|many|half a) ?(?:h|hours?|hrs?|days?|weeks?|min|minutes?|d)"
    r" on (?:my|our|his|her|a|the|an)(?: own| old| new| local| little| small| normal| office| home)*"
    r" (?:laptop|workstation|desktop|pc|notebook|macbook|computer)(?![\w-])"
)
"""`it takes 3 days on my laptop`."""
_TELLS = re.compile(
    rf"(?<![\w-])(?:{_BEFORE}\b.{{0,160}}\b{_PAST}|(?P<first>{_PAST})\b.{{0,160}}\b{_BEFORE}"
    r"|used to (?:run|take|be|need|use|do)"
    rf"|(?:and |but |because |as )?(?:it|they|we|i|this|that|he|she) (?:always |often |only |just |then "
    rf"|already )?{_PAST}"
    r"|(?:hatten?|brauchten?|nahm(?:en)?|nutzten?|lief(?:en)?|rechneten?|reichten?) (?:i|we|it|you|das|the)"
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
    r"(?<![\w-])(?:same|as before|likewise|like (?:last time|before)|as (?:usual|always)|again,? please"
    r"|(?:run|rerun|repeat|do|start|submit|launch|need|like|want|please|have|it|that"
    r"|this) (?:[^\s.;!?]+ ){0,8}again)(?![\w-])"
)
_ME_AGAIN = re.compile(r"^(?:[a-z]+[,!]? )?(?:it's |this is )?[a-z]+ again(?=[,.:!]| here)")
"""`hey, Kim again`: who writes, not what is to be done once more."""
_SAYS = re.compile(
    r"(?<![\w'-])(?:i|we|you|it|he|she|they|this|that|there|the|my|our|is|are|do)(?:'s|'m|'re|'ve"
    r"|'ll)?(?![\w-]).{0,120}?"
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
    r"(?<![\w-])(?:if|when|in case|after|should|because) (?:a|one|one of the|any|some|the|its|their|my|our) (?:compute "
    r"|gpu )?nodes? (?:of "
    r"it )?(?:dies|die|fails?|crash(?:es)?|goes (?:down|away)|breaks?|is lost|has failed|failure|reboots?)(?![\w-])"
)


_REACHED = re.compile(
    r"(?<![\w-])(?:(?:you|sie|ihr|vous) (?:(?:can|may|could|können|pouvez|will|also|best|always) ){0,2}"
    r"(?:reach|call|phone|ring|erreichen|joindre|erreicht) (?:me|us|mich|uns)|(?:me|nous) joindre"
    r"|(?:i|we)(?: am|'m| are|'re| bin| sind)? (?:reachable|on holiday|on vacation|on leave|out of (?:the )?office"
    r"|erreichbar|im urlaub|in urlaub|in the office|joignable|travelling|traveling)|erreichbar|joignable)(?![\w-])"
)
_OF_WORK = re.compile(
    r"(?<![\w-])(?:nodes?|cores?|cpus?|gpus?|tasks?|ranks?|jobs?|runs?|memory|[kmgt]i?b|\./\S+)(?![\w-])"
)


_THEN = re.compile(
    r"\((?:(?:damals|seinerzeit|bisher|bislang|vorher|früher|zuletzt|(?:at )?letztes? mal|back then|last (?:time|month"
    r"|week"
    r"|year)|previously|formerly|à l'époque|auparavant|jusqu'ici)[ :,][^()\x00]{1,80}|before: [^()\x00]{1,80}"
    r"|[^()\x00]{1,80} (?:last (?:time|month|week|year)|back then|damals|à l'époque|beforehand|previously))\)"
)
"""`(damals 2 Knoten)`."""


def _hide_when_reached(draft: Draft) -> None:
    """Hide `you reach me until 17:00`, which is no deadline."""
    for start, end in [*_parts(draft.line.open)]:
        part = draft.line.open[start:end]
        if _REACHED.search(part) and "\x00" not in part.strip("\x00 ") and not _OF_WORK.search(part):
            _name(draft, start, end, "tells when somebody is reached, and asks for nothing")


def hide_stories(draft: Draft) -> bool:
    """Hide clauses that tell how it was (`last month it ran on 16 nodes and crashed`); True if there were any."""
    _hide_when_reached(draft)
    for match in [*_THEN.finditer(draft.line.open)]:
        if not _ASKS.search(match[0]):
            _name(draft, *match.span(), "tells how it was, and asks for nothing")
    for match in [*_ON_OWN.finditer(draft.line.open)]:
        _name(draft, *match.span(), "tells how long it takes elsewhere")
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
    if not {"command", "software", "script", "containers"} & draft.fields.keys():
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
            and not is_unmet(clause)
            and not names_a_file(clause)
        ):
            _name(draft, start, end, "is a remark, and asks for nothing")
    for match in draft.line.find(_REASON):
        if not _may_ask(match[0]) and not is_unmet(match[0]):
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
    return (
        _CLAIMS.search(words) is not None
        or _FILES.search(words) is not None
        or bool(_FIELD_WORDS & set(_WORD.findall(words)))
    )


def _name(draft: Draft, start: int, end: int, why: str) -> None:
    words = draft.words(start, end).strip(" ,.;!?")
    if words:
        draft.default(f"{words!r} {why}")
    draft.aside(start, end)
