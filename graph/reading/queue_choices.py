"""Several queues of which any will do: `queue daily or, if need be, weekly`, `either the short or the medium queue`."""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.places import NOT_NAMES, QUEUE_WORDS

__all__ = ["read_queue_choices"]

_ONE = (
    r"(?!(?:as|later|the|in|on|to|at|if|an?|not|for|with|when|else|whatever|wherever|anything|something|any|other"
    r"|earlier"
    r"|maybe|perhaps|so|otherwise|failing|even|just|only|then|run|use|is|it|queue|queues|partition"
    r"|partitions)(?![\w-]))"
    r"[\"'`]?[a-z0-9][\w@.-]*[\"'`]?"
)
_WORD = r"(?:queue|partition)"
_AT = r"(?:(?:in|on|to|into|via|with|use|using) )?(?:the )?"
_FAILING = (
    r"(?:if need be|if needed|if necessary|failing that|else|otherwise|alternatively"
    r"|if (?:that|it|this)(?: one)?(?: is|'s) (?:too )?(?:full|busy|long|not (?:available|possible|free)))"
)
_OR = rf"(?:,? or(?: else)?(?!\w)(?:,? {_FAILING}(?!\w),?)?|/|,? {_FAILING}(?!\w),?) ?"
_ENDS = r"(?= ?(?:[,.;:!?)\x00]|$|(?:or|and|are|is|please|for|with|on|would|will|should|if|because|as)(?![\w-])))"
_FINE = (
    r"(?:,? (?:(?:are|is|would be|will be) )?(?:both|either|all|each|any)(?: of them)? (?:are |is )?(?:fine|ok|okay"
    r"|good|possible|will do))?"
)
SAID_BEHIND = (
    rf"(?<![\w-])(?:(?:in|on|to|into|use|using|via|with|the|either|preferably) ){{0,4}}{_WORD}"
    rf"(?:(?: is| should be| can be| may be| named"
    rf"| called)(?!\w))?[:=]? ?(?P<all>{_ONE}(?:{_OR}{_AT}(?:{_WORD} )?{_ONE}){{1,7}})(?![\w/-])"
)
SEVERAL = (
    rf"(?<![\w-])(?:(?:in|on|to|into|use|using|via|with|the|either|any|one|of) ){{0,5}}{_WORD}s(?: are(?!\w))?[:=]? ?"
    rf"(?P<all>{_ONE}(?:(?:,? (?:or|and) |, ?|/){_ONE}{_ENDS}){{1,7}})(?![\w/-]){_FINE}"
)
SAID_BEFORE = (
    rf"(?<![\w-])(?:(?:in|on|to|into|use|using|via|with|either|any of|submit(?: it)? to) ){{1,3}}(?:the )?"
    rf"(?P<all>{_ONE}(?:(?:,? or |/){_AT}{_ONE}){{1,7}}) {_WORD}s?(?![\w-])"
)
_QUEUE_NAME = r"[\"'`]?(?!(?:if|when|or|and|else|otherwise|is|in|the|if)\b)[a-z0-9][\w@.-]*[\"'`]?"
_IF_FREE = (
    r"(?: (?:if|when|where|as long as|provided) (?:there is (?:one|1|such a (?:queue|partition))|(?:it|that|this)"
    r"(?: one)?"
    r"(?: queue)? (?:is (?:there|free|available|open|possible|up)|exists|works|has room)|possible|available|free"
    r"|you have (?:one|1|it)))"
)
SECOND_QUEUE = (
    r"(?<![\w-])(?:(?:in|on|to|into|use|using|via|with|the|either|preferably|ideally|first) )*(?:queue|partition)"
    rf"(?: is)?[:=]? ?(?P<first>{_QUEUE_NAME})(?:{_IF_FREE},?|,? (?:or|and|but)? ?(?=else|otherwise|if (?:not"
    rf"|that|it|full"
    rf"|busy)(?![\w-])|failing))"
    r",? ?(?:and |or |but )?(?:otherwise|else|if not|failing that|or else|if (?:(?:that|it)(?: one| 1)? is"
    r" )?(?:full|busy"
    r"|missing"
    r"|closed|not there|not available|unavailable|down)),? (?:then )?(?:(?:in|on|to|into|use|using|via|the|go) )*"
    rf"(?:queue |partition )?(?P<second>{_QUEUE_NAME})(?! (?:nodes?|cores?|gpus?|hours?))(?: queue"
    rf"| partition)?(?![\w/=])"
)
"""`queue long if there is one, otherwise queue normal`."""
IN_ITS_PLACE = (
    rf"(?<![\w-])(?:should|if|in case|when) (?:the )?(?:queue|partition) (?P<first>{_QUEUE_NAME}) (?:be|is) "
    rf"(?:unavailable|full"
    r"|busy|closed|missing|down|crowded|not (?:there|available|open|free)),? (?:then )?(?:use |take |go to "
    r"|go for )?(?:the )?"
    rf"(?:queue|partition) (?P<second>{_QUEUE_NAME})(?: (?:will|would|can) (?:do|be used|serve)(?: too| as well"
    rf"| instead)?)?"
    r"(?![\w/=])"
)
QUEUE_LIST = (
    rf"(?:^|(?<=[;,\n|])|(?<=[;,|] ))(?:queues|partitions) ?[:=] ?(?P<all>{_QUEUE_NAME}(?:,? (?:or |then |and )?"
    rf"{_QUEUE_NAME}){{1,7}})(?= ?(?:[;|\n\x00]|$|\.(?: |$)))"
)
_SPLIT = re.compile(rf"(?:{_OR}|,? (?:or|and) |, ?|/) ?{_AT}(?:{_WORD} )?")
_IF = re.compile(r"(?<![\w-])(?:if|when|while|as|since|because|unless|once|how|whether) (?:the |your )?$")


def read_queue_choices(draft: Draft) -> None:
    """Find queues that are named together; the first of them is the one that is wanted most."""
    for match in (found for rule in (SECOND_QUEUE, IN_ITS_PLACE) for found in draft.line.find(rule)):
        named = [draft.line.words(*match.span(group)).strip(".\"'`") for group in ("first", "second")]
        draft.fields["queues"] = tuple(named)
        draft.put("queue", named[0], *match.span())
    for match in draft.line.find(QUEUE_LIST):
        listed = [name for name in re.split(r",? (?:or |then |and )?|,", draft.line.words(*match.span("all"))) if name]
        draft.fields["queues"] = tuple(name.strip(".\"'`") for name in listed)
        draft.put("queue", draft.fields["queues"][0], *match.span())
    for match in (found for rule in (SAID_BEHIND, SEVERAL, SAID_BEFORE) for found in draft.line.find(rule)):
        names, place = [], match.start("all")
        for found in [*_SPLIT.finditer(match["all"]), None]:
            end = match.start("all") + found.start() if found else match.end("all")
            names.append(draft.line.words(place, end).strip("\"'`. "))
            place = match.start("all") + found.end() if found else end
        if _IF.search(draft.line.norm[max(0, match.start() - 16) : match.start()]) or not all(map(_is_a_name, names)):
            continue
        if not draft.negated(*match.span()):
            draft.fields["queues"] = tuple(names)
            draft.put("queue", names[0], *match.span())


def _is_a_name(name: str) -> bool:
    return bool(name) and (name.lower() not in NOT_NAMES or name.lower() in QUEUE_WORDS)
