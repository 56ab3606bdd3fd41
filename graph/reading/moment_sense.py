"""What a moment is meant as by the words about it: the end of a wait, a latest start, a story, the day after."""

from __future__ import annotations

import re
from typing import Literal

from graph.reading.draft import Draft

__all__ = ["Sense", "behind_the_day", "sense_of"]

Sense = Literal["deadline", "start_after", "told"]

_UNTIL = ("until", "till", "bis", "jusqu'à")
_HELD = re.compile(
    r"(?<![\w-])(?:hold|held|waits?|waiting|attendre|delay(?:ed)?|postponed?|defer(?:red)?|park(?:ed)?|paused?"
    r"|(?:put|stay|be|is) on hold"
    r"|not (?:to )?(?:be )?(?:start(?:ed)?|run|begin|launch(?:ed)?))(?P<between>,?(?: [^.;:!?]{1,40})?,?) $"
)
_HELD_AFTER = re.compile(
    r",? ?(?:(?:mit|dem|den|der|the|start|job|noch|with|das|ihn|it|erst) ){0,4}(?:warten|gewartet|wait|zurückhalten"
    r"|zurückgehalten|zurückstellen|verschieben|verschoben|aufschieben|pausieren|attendre)(?![\w-])"
)
_FINISHED = re.compile(
    r"(?<![\w-])(?:done|finish\w*|ready|completed?|results?|ends?|over|deadline|due|fertig)(?![\w-])"
)
_NOT_HELD = re.compile(r"(?:not|n't|never|can|may|could|might|nicht|pas|no)(?: (?:have to|need to|be|to|ne))? $")
_STARTS = (
    r"(?:start(?:s|ed|ing)?|begin(?:s|ning)?|begun|launch(?:ed|ing)?|kick(?:ed)?(?: it| this)? off|commencer|démarrage"
    r"|début|lancement|beginn|démarrer|starten"
    r"|(?:be|is|it|have it|job) (?:up and )?(?:running|under ?way|going))"
)
_STARTS_BEFORE = re.compile(
    rf"(?<![\w-]){_STARTS}(?: (?:it|this|the|job|running|off|execution|at|on|work|up)){{0,4}},? $"
)
_STARTS_BEHIND = re.compile(
    r",? ?(?:gestartet|starten|anfangen|angefangen|beginnen|begonnen|losgehen|loslaufen|gestartet werden|anlaufen"
    r"|démarr\w+|commenc\w+|(?:be |to |must )?(?:start(?:ed)?|begun))(?![\w-])"
)
_NOT_STARTED = re.compile(
    rf"(?<![\w-])(?:[a-z]*n't|not|never|nothing|cannot|pas|nicht)(?: (?!but\b)[^\s.;,:]+){{0,3}}? {_STARTS}"
    r"(?: (?:it|this|the|job|running)){0,3} $"
)
_LATEST = re.compile(r"(?<![\w-])latest(?: possible)? $")
_STOPPED = re.compile(
    r"(?<![\w-])(?:stop|kill|cancel|terminate|abort|end|quit|shut down|interrupt|arrêter|finish)(?:s|ped|ed|led)?"
    r"(?: (?:it|this|the|job|jobs|them|everything|running|execution|run)){0,3} $"
)
_STOPPED_BEHIND = re.compile(
    r",? ?(?:(?:the|den|job|it|ihn) )?(?:beenden|beendet|abbrechen|abgebrochen|stoppen|gestoppt|killen)(?![\w-])"
)
_NOT_RUNNING = re.compile(
    r"(?<![\w-])(?:[a-z]*n't|not|never|cannot|no longer)(?: (?:be|still|to|it|any|longer|is)){0,3} (?:run"
    r"|running|active|executing|busy|continue|go on)(?: (?:it|this|anymore|any more|any longer)){0,2} $"
)
_NOT_LET_RUN = re.compile(
    r"(?<![\w-])(?:[a-z]*n't|not|never)(?: (?:let|allow|keep|it|this|the|job|to|go|be)){0,5} (?:run|running|go on) $"
)
_ENDED = re.compile(r"(?<![\w-])(?:end|finish|be (?:done|finished|over|ready))(?:s|ed|es)? $")
_NOT_RUNNING_BEHIND = re.compile(r" (?:not|nicht)(?: more| mehr)? (?:run|laufen|running)(?![\w-])")
_STORY = re.compile(
    r"(?<![\w-])(?:used to|last time|previously|formerly|yesterday|last (?:week|month|year|run)"
    r"|(?:usually|normally|always|typically) (?:is |was |gets )?(?:finish\w*|done|ends?|ended|ready|completes?))"
    r"(?![\w-])[^.;!?\x00]{0,40}$"
)
_EVENT = re.compile(
    r"(?<![\w-])(?:maintenance|downtime|outage|shutdown|wartung|holidays?|meeting|conference)[^.;!?]{0,24}$"
)
_AWAY = re.compile(
    r"(?<![\w-])(?:is|are|am|'m|be|was|i|we|cluster|machine|system|site|nodes?|lasts?|stays?|goes|ist|bin|sind|est"
    r"|suis|sont)"
    r"(?: (?:going|still|also|all|on|in|under|for))* (?:away|down|off|out|out of (?:office|service)|leave|holidays?"
    r"|vacation|closed|cut|cut off|interrupted|switched off|shut down|unavailable|offline|occupied|maintenance"
    r"|travell?ing|blocked|reserved|drained|abroad|booked|wartung"
    r"|urlaub|weg|vacances|absente?|fermée?) $"
    r"|(?<![\w-])(?:maintenance|downtime|outage|shutdown|wartung|holidays?)(?: [a-z]+){0,2} $"
)
_PERSON = re.compile(
    r"(?:^|[.,;:!?(\x00] ?|(?<![\w-])(?:and|but|because|as|since|so|that|when|while) )(?:(?:i|we|he|she|they"
    r"|you)(?: (?:am|are|is|was"
    r"|were|will|'ll|shall)|'m|'re|'s|'ll)?|(?:my|our|his|her) (?!job|run|simulation|calculation"
    r"|results?)[a-z]+(?: is| are| was"
    r"| will)?)(?: (?:be|not|only|still|also|already|all|both|usually|often)){0,3}"
    r" (?:in|at|on|out|off|away|back|here|there|busy|teaching|travelling|traveling|reachable|available|free|asleep"
    r"|leaving"
    r"|flying|going|coming|returning|retiring|moving|meeting|sitting|working|closed|come|comes|came|leave|leaves"
    r"|fly|flies|go"
    r"|goes|travel|travels|return|returns|work|works|stay|stays|teach|teaches|sit|sits|sleep|retire|retires|move"
    r"|moves|meet"
    r"|meets|arrive|arrives|cannot be|can't be)(?![\w-])(?P<rest>[^.,;:!?]{0,40}) $"
)
"""Before a moment that somebody is away until, comes back after or leaves at, which is no time of the job's."""
_OF_THE_WORK = re.compile(
    r"(?<![\w-])(?:finish\w*|done|ready|complet\w*|need\w*|want\w*|must|have to|has to|should|start\w*|run\w*|begin\w*"
    r"|submit\w*|results?|deliver\w*|due|job|calculat\w*|comput\w*|live|production|schedul\w*)(?![\w-])"
)
_INPUT_THERE = re.compile(
    r"(?<![\w-])(?:the|our|my|all) (?:input |raw |new |training ){0,2}(?:data|inputs?|dataset|data ?sets?|files?)"
    r" [^.;,:]{0,16}(?:there|ready|available|uploaded|arrives?|comes?|in place|transferred|copied|complete) $"
)
_NOTHING_BEFORE = re.compile(
    r"(?<![\w-])(?:nothing|never|not|[a-z]*n't|nicht|nichts|pas|rien|no one|nobody)(?: [^\s.;,:\x00]+){0,4} $"
)
_WAITS = re.compile(r"(?<![\w-])(?:wait|waits|warten|attendre)(?P<between>(?: [^\s.;,:]+){0,3}) $")
_OWN = re.compile(
    r"(?:^|\x00|[.,;:!?]|(?<![\w-])(?:simulation|run|training|calculation|analysis|workflow|computation|job|it|this"
    r"|task"
    r"|array|which|that|script|program|lauf|rechnung|berechnung|calcul)"
    r"(?: (?:must|should|may|can|to|only|please))?) ?$"
)
_ENDS_ITSELF = re.compile(
    r"(?<![\w-])(?:the|an?|our|my|this|die|der|das|la|le) (?:[a-z-]+ ){0,2}"
    r"(?!(?:jobs?|runs?|simulations?|calculations?|computations?|training|analysis|work|everything|experiments?|campaign"
    r"|should|must|shall|to|can|may|will)(?![\w-]))[a-zäöüé-]+ (?:will |would |officially )?"
    r"(?:ends?|finish(?:es)?|quits?|stops?) $"
)
"""`our project ends on`: its end is none of the job's."""
_SUBJECT = re.compile(
    r"(?<![\w-])(?:the|a|an|our|my|die|der|das|la|le|next) (?:[a-z-]+ ){0,2}"
    r"(?!must |should |to |can |may |only |please )[a-zäöüé-]+ $"
)


def sense_of(draft: Draft, match: re.Match[str], *, is_deadline: bool) -> Sense:
    """What the moment of a match is: the words about it may turn round what the word before it says."""
    named = "before" if match.groupdict().get("before") is not None else "after"
    word = match.groupdict().get(named) or ""
    at = match.start(named) if word else match.start()
    lead, behind = draft.line.norm[max(0, at - 60) : at], draft.line.norm[match.end() : match.end() + 60]
    written = draft.words(match.end(), min(len(draft.line.norm), match.end() + 40)).lower()
    person = _PERSON.search(draft.line.norm[max(0, match.start() - 80) : match.start()])
    if person and word not in ("by", "no later than", "not later than") and not _OF_THE_WORK.search(person["rest"]):
        return "told"
    if not is_deadline:
        in_hours = word == "at" and re.search(r"\d ?h$", match[0])  # `stop at 8h`: by the clock, or how long
        return "start_after" if in_hours else _of_start(draft, word, at, match.start(), lead, behind)
    if word in (*_UNTIL, "by") and (held := _held(draft, word, at, lead, behind)):
        return held
    if _STORY.search(lead) or _INPUT_THERE.search(draft.line.norm[max(0, match.end() - 100) : at]):
        return "told"
    if word in _UNTIL and _AWAY.search(lead):
        return "told"
    if word in ("before", "avant", "vor", *_UNTIL) and (found := _NOT_STARTED.search(lead)):
        _claim(draft, at, lead, found)
        return "start_after"
    waits = _WAITS.search(lead)
    if (waits and not _FINISHED.search(waits["between"])) or (
        word in ("before", "avant", "vor") and _NOTHING_BEFORE.search(lead)
    ):
        return "told"
    if word in _UNTIL and _NOT_LET_RUN.search(lead):
        return "told"
    if _STARTS_BEFORE.search(lead) or _STARTS_BEHIND.match(written) or (word in _UNTIL and _NOT_STARTED.search(lead)):
        return "told"  # a latest start, which no site can be asked for
    return "deadline"


def _of_start(draft: Draft, word: str, at: int, start: int, lead: str, behind: str) -> Sense:
    if not word.endswith(("at", "on", "um", "à", "from")) and (_STOPPED.search(lead) or _ENDED.search(lead)):
        return "told"  # an earliest end
    if word.startswith(("start", "begin")) and (_LATEST.search(lead) or (not _OWN.search(lead) and _of_event(lead))):
        return "told"
    if word in ("from", "at", "on", "ab", "dès", "after") and (
        _AWAY.search(lead) or _EVENT.search(lead) or _AWAY.search(draft.line.norm[max(0, start - 60) : start])
    ):
        return "told"
    if word.endswith(("at", "on", "um", "à")) and (found := _STOPPED.search(lead) or _STOPPED_BEHIND.match(behind)):
        if _ENDS_ITSELF.search(lead):
            return "told"
        if found.re is _STOPPED:
            _claim(draft, at, lead, found)
        return "deadline"
    if word in ("after", "past", "beyond"):
        if found := _NOT_RUNNING.search(lead):
            _claim(draft, at, lead, found)
            return "deadline"
        if _NOT_RUNNING_BEHIND.match(behind):
            return "deadline"
        if word != "after" or _NOT_STARTED.search(lead):
            return "told"
    return "start_after"


def _of_event(lead: str) -> bool:
    """Whether what begins then is none of the job: `the maintenance begins Friday`."""
    subject = _SUBJECT.search(lead)
    return subject is not None or _EVENT.search(lead) is not None


def _held(draft: Draft, word: str, at: int, lead: str, behind: str) -> Sense | None:
    found = _HELD.search(lead) if word in _UNTIL else None
    if found is not None and not _FINISHED.search(found["between"]):
        if _NOT_HELD.search(lead[: found.start()]):
            return "told"
        verb = re.match(r"[a-zé]+(?: on hold)?", found[0])
        first = at - len(lead) + found.start()
        draft.line.claim(first, first + (verb.end() if verb else 0))
        return "start_after"
    return "start_after" if _HELD_AFTER.match(behind) else None


def _claim(draft: Draft, at: int, lead: str, found: re.Match[str]) -> None:
    draft.line.claim(at - len(lead) + found.start(), at)


def behind_the_day(draft: Draft, match: re.Match[str]) -> bool:
    """Whether `after Friday` means that the whole day is over."""
    word = match.groupdict().get("after") or ""
    return word.split(" ")[-1] in ("after", "nach", "après") and not draft.line.norm[: match.start()].endswith(" or ")
