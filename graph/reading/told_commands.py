"""Commands that a text names and does not ask to run: `stop ./sim`, `how long does ./sim take?`; and open quotes."""

from __future__ import annotations

import re
import shlex

__all__ = ["end_of_refusal", "only_asked", "open_quote", "refused_behind", "stopped_before"]

_FARTHEST = 200
_STOPPED = re.compile(
    r"(?i)(?:^|(?<=[.;:,!?\n])[ \t]*|(?<![\w-])(?:please|pls|don't|do not|never|not|can you|could you"
    r"|would you|to|and|then|bitte|must|should|just)[ \t]+)"
    r"(?:stop|cancel|kill|abort|terminate|pause|suspend|delete|remove|halt|interrupt|quit|end|stopp|stoppe|stoppen"
    r"|beende|beenden|storniere|lösche|arrête|arrêter|arrêtez|annule|annuler|annulez|supprime|supprimer|tue|tuer)"
    r"(?:[ \t]+(?:the|my|our|this|that|all|running|run|runs|job|jobs|of|process|script|program|den|die|das|le|la|l'"
    r"|mon|ma|execution|executing|starting|launching|submitting)){0,5}[ \t:]*[`\"']?$"
)
_FRENCH_NOT = re.compile(
    r"(?i)(?<![\w-])(?:(?:ne |n')(?:surtout )?(?:pas |jamais )?(?:lance[rz]?|exécute[rz]?|démarre[rz]?"
    r"|soumet(?:s|tez|tre)?)(?: pas| jamais| plus)?|nicht (?:starten|ausführen|laufen lassen|rechnen))[ \t:]*[`\"']?$"
)
_NOT_BEHIND = re.compile(
    r"(?i)[`\"']?[ \t,]+(?:(?:should|must|is|has|needs|ought|can|may|shall|will)(?: to)?(?: now| please)? be (?:now )?"
    r"(?:stopped|cancell?ed|killed|aborted|terminated|paused|suspended|deleted|removed)"
    r"|(?:(?:should|must|may|can|shall|will|is|does|ought)(?: not|n['’]t)|cannot)(?: to)?(?: ever)?"  # noqa: RUF001  # as typed
    r"(?: be)? (?:run|started|launched|executed|submitted|used|called|start)"
    r"|(?:(?:darf|soll|muss|sollte) )?nicht (?:zu )?(?:starten|gestartet|ausführen|ausgeführt|laufen"
    r"|rechnen|aus)(?: werden| lassen)?"
    r"|ne (?:doit|peut) pas être (?:lancée?|exécutée?|démarrée?))(?![\w-])(?=[ \t]*(?:[.,;!\n]|$|at all|any))"
)
_WAITS = re.compile(
    r"(?i)[`\"']?[ \t]+(?:right |any )?(?:before|until|till|after|earlier|later|sooner|unless|if|while|when|longer|more"
    r"|vor|bis|nach|wenn|bevor|avant|après|jusqu\S*|si|tant)(?![\w-])[^.,;!?\n]{0,200}"
)
"""`do not start ./x before Friday`: what is refused is only that."""
_WH = re.compile(
    r"(?i)[ \t]*(?:(?:and|so|hi|hello|hey|also|but|just wondering|i wonder|please tell me|tell me|do you know"
    r"|can you tell me|could you tell me)[,:!]?[ \t]+){0,3}"
    r"(?:how[ \t]+(?:long|much|many|fast|often|well|big|expensive|does|do|did|is|was)|why|when|what[ \t]+(?:is|are"
    r"|does|do|would|happens|will)|does|did|is|was|has|wie[ \t]+(?:lange|viel|viele|oft|schnell)|warum|wann|was"
    r"|combien|pourquoi|quand|est-ce)(?![\w-])[^?!\n]*$|(?i:.*(?<![\w-])(?:would|could|can|will|should|might|läuft"
    r"|passt|kann)[ \t]+(?:the |my |our )?(?:program |script |code )?$)"
)
_INDIRECT = re.compile(
    r"(?i)(?<![\w-])(?:(?:tell|show)(?: me| us)?|wonder(?:ing)?|know|estimate|predict|find out|calculate|curious"
    r"|question is|curious about)[ \t,:]+(?:me )?(?:how (?:long|much|many|fast|well|big)|what|why|when|whether|if)"
    r"(?![\w-])(?!.*(?<![\w-])(?:run|start|launch|execute|submit)(?![\w-]))[^.;?!\n]*$"
    r"|^[ \t]*how (?:long|much|many|fast)(?![\w-])[ \t]+(?:[a-z-]+[ \t]+){0,3}(?:would|will|does|do|did|can"
    r"|could)[ \t]+(?:the |my |our )?(?:program |script |code )?$|^[ \t]*what (?:does|would|will)[ \t]+$"
)
_POSSIBLE = re.compile(
    r"(?i)(?:is|was|est-ce|would) (?:it|this|that|there) (?:be )?(?:possible|ok|okay|fine|feasible|any way|a way)"
)
_ASKED_FOR = re.compile(
    r"(?i)(?<![\w-])(?:could|may|might|would it be possible that|please can)[ \t]+(?:the |my "
    r"|our )?[`\"']?$"
)
_TO_BE_RUN = re.compile(
    r"(?i)[`\"']?[ \t]+(?:please[ \t]+)?be[ \t]+(?:run|started|launched|executed|scheduled|submitted)"
    r"(?=[^?]{0,160}\d|[^?]{0,160}(?<![\w-])(?:one|two|three|four|eight|a|an)(?![\w-]))"
)
"""`could ./x be run on two nodes?`: a polite wish."""
_QUOTED = re.compile(r"\"[^\"]*\"|(?<![^\W\d_])'[^']*'")
_INSIDE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")


def stopped_before(text: str, start: int) -> int | None:
    """Where `stop` or `cancel` begins that stands right before a command; None where nothing says so."""
    first = max(0, start - 80)
    found = _STOPPED.search(text[first:start]) or _FRENCH_NOT.search(text[first:start])
    return None if found is None or (first and not found.start()) else first + found.start()


def refused_behind(text: str, end: int) -> int | None:
    """Where words end that say behind a command that it is not to be run (`./x must not be run`); None: none do."""
    found = _NOT_BEHIND.match(text, end, end + _FARTHEST)
    return None if found is None else found.end()


def end_of_refusal(text: str, end: int) -> int:
    """Where a refusal ends that began before a command: behind the time or case that it is for, too."""
    found = _WAITS.match(text, end, end + _FARTHEST)
    return end if found is None else found.end()


def only_asked(text: str, start: int, end: int) -> bool:
    """Whether a command stands in a question about it (`how long does ./sim take?`), which asks for no job."""
    before = re.split(r"[.;!?]\s|\n", text[max(0, start - _FARTHEST) : start])[-1]
    behind = re.match(r"[^?!\n]{0,200}?(?P<end>[?!\n]|\.\s|$)", text[end : end + _FARTHEST])
    asks = behind is not None and behind["end"] == "?"
    if _INDIRECT.search(before):
        return True
    if _ASKED_FOR.search(before) and behind is not None and _TO_BE_RUN.match(behind[0]):
        return False
    return asks and _WH.match(before) is not None and _POSSIBLE.search(before) is None


def open_quote(body: str) -> bool:
    """Whether a quotation begins in a line and does not end, or an apostrophe in a word would be taken for one."""
    if "\n" in body.strip() or "<<" in body:
        return False
    if _INSIDE.search(_QUOTED.sub(" ", body)):
        return True
    try:
        shlex.split(body, posix=True)
    except ValueError as error:
        return "quotation" in str(error)
    return False
