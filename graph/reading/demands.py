"""How a clause demands something: by a modal verb about the job and its data, an order, a ban, a correction."""

from __future__ import annotations

import re

from graph.reading.bearing import TIMES

__all__ = ["corrects", "demands", "is_of_the_job", "orders"]

_DEMANDS = re.compile(
    r"(?<![\w-])(?:please|pls|must|mustn't|needs?|needed|needing|wants?|wanted|wanting|requires?|required|requiring"
    r"|should|shouldn't|shall|prefers?|preferred|avoid|avoids|avoiding|excludes?|excluding|insists?|demands?|use|uses"
    r"|using|(?:has|have|had|got) to|ready|deadline|called|named|expects?|approved|granted|assigned|reserved|booked"
    r"|limited|allowed|permitted|may only|can only|forbid\w*|bann?(?:s|ed|ing)?|prohibit\w*|refus\w+|reject\w*|veto\w*"
    r"|disallow\w*|outlaw\w*|stays?|remains?|keeps?|wait (?:for|until|till)|parked|on hold|relies|rely|depends?"
    r"|fetches|pulls|pushes|clones|queries|downloads|uploads|connects|contacts|talks to"
    r"|bitte|muss|müssen|soll|sollen|darf|dürfen|bleiben|bleibt|verlassen|doit|doivent|faut|rester|restent)(?![\w-])"
)
_BY_THEN = re.compile(r"(?<![\w-])(?:by|until|till|before) (?:the |next |this |my |our )?(?P<when>[^\W\d_]+)")
_WHEN = TIMES | {"then", "end", "start", "beginning", "middle", "next", "that", "this", "1"}
_ORDER = re.compile(
    r" ?(?:and |then |but |so )?(?:please )?(?:only|never|don't|do not|not|no|without|except|rather|or|nobody|nothing"
    r"|keep|put|save|upload|send|drop|e-?mail|ping|notify|wipe|abort|stop|kill|give|let|leave|hold|submit|begin|try"
    r"|restart|requeue|run|do|repeat|fetch|copy|move|store|delete|wait|make|use|take|start|avoid|call|write|place|pick"
    r"|choose|pin|bind|mount|load|set|export|restrict|confine|beware|steer|stay)(?![\w-])"
)
"""How a clause begins that orders, or turns what stands before it."""
_PERSON = (
    r"(?:i|we|you|he|she|who|(?:my|our|the|his|her|a|an|your)(?: [a-z-]+){0,2} (?:supervisors?|boss|bosses|directors?"
    r"|professors?|students?|colleagues?|clients?|customers?|teams?|groups?|referees?|reviewers?|editors?|partners?"
    r"|people|users?|board|ministry|authority|committee|laboratory|lab|institute|office|company|department|sponsor"
    r"|insurers?|insurer|coach|doctor|mayor|ward|community|collaboration|collaborators?|workshop|school|course))"
)
_MODAL = (
    r"(?:must|has to|have to|had to|needs? to|should|shall|is to|are to|may not|may only|cannot|can't|could not|won't"
    r"|mustn't|shouldn't|ought to|is not to|are not to|muss|müssen|soll|sollen|darf|dürfen|doit|doivent)"
)
_OF_THE_JOB = re.compile(
    rf"^(?: ?(?:and|but|so|because|since|as|that|therefore|hence|which))* ?(?!{_PERSON}(?![\w-]))"
    rf"(?:[^\s,;.]+ ){{1,6}}{_MODAL}(?![\w-])"
)
_CORRECTS = re.compile(
    r"(?<![\w-])(?:moved|changed|closed|withdrawn|switched|doubled|halved|cancell?ed|dropped|extended|postponed"
    r"|increased"
    r"|reduced|replaced|expired|mistake|shifted|updated|upgraded|instead|no longer|any ?more|corrected)(?![\w-])"
)


def demands(clause: str) -> bool:
    """Whether a clause, in normal form, holds a word with which something is asked for or forbidden."""
    return _DEMANDS.search(clause) is not None or any(found["when"] in _WHEN for found in _BY_THEN.finditer(clause))


def orders(clause: str) -> bool:
    """Whether a clause begins like an order, or with a word that turns what stands before it."""
    return _ORDER.match(clause) is not None


def is_of_the_job(clause: str) -> bool:
    """Whether something that is no person must, should or cannot be or do something (`the nodes must be alike`)."""
    return _OF_THE_JOB.match(clause) is not None


def corrects(clause: str) -> bool:
    """Whether a clause can take back or change what was said (`the deadline was moved`)."""
    return _CORRECTS.search(clause) is not None
