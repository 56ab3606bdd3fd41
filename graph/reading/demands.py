"""How a clause demands something: by a modal verb about the job and its data, an order, a ban, a correction."""

from __future__ import annotations

import re

from graph.reading.bearing import TIMES

__all__ = ["corrects", "demands", "is_of_the_job", "is_unmet", "orders"]

_DEMANDS = re.compile(
    r"(?<![\w-])(?:please|pls|must|mustn't|needs?|needed|needing|wants?|wanted|wanting|requires?|required|requiring"
    r"|should|shouldn't|shall|prefers?|preferred|avoid|avoids|avoiding|excludes?|excluding|insists?|demands?|use|uses"
    r"|using|(?:has|have|had|got) to|ready|deadline|called|named|expects?|approved|granted|assigned|reserved|booked"
    r"|limited|allowed|permitted|may only|can only|forbid\w*|bann?(?:s|ed|ing)?|prohibit\w*|refus\w+|veto\w*"
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
    rf"^(?: ?(?:and|but|so|because|since|as|that|therefore|hence|which))*+ ?(?!{_PERSON}(?![\w-]))"
    rf"(?:[^\s,;.]+ ){{1,6}}(?P<modal>{_MODAL})(?![\w-])"
)
_ORDERED = re.compile(
    r" ?(?:and |then |but |so )?(?:please |kindly |pls )?(?:keep|put|save|upload|send|drop|e-?mail|ping|notify|wipe"
    r"|abort"
    r"|stop|kill|leave|hold|submit|begin|try|restart|requeue|do|repeat|fetch|copy|move|store|delete|wait|avoid|call|pin"
    r"|bind|mount|restrict|confine|beware|steer|stay|shred|bring|handle|revive|destroy|erase|encrypt|hide|watch|start"
    r"|take|use) (?=[a-z])"
)
_WANTED_OF_IT = re.compile(
    r"(?<![\w-])(?:wants?|needs?|would like|would love|insists?|demands?|prefers?|expects?|promised|vowed|swore"
    r"|decided)"
    r" (?:that |on )?(?:it|them|this|these|everything|nothing|each|the work|the (?:job|data|scans|images|recordings"
    r"|results"
    r"|files|samples|genomes|tapes)|its own|his own|her own)(?![\w-])"
    r"|(?<![\w-])(?:stays?|stayed|remains?|remained|keep(?:s|ing)?|kept|belongs?) (?:it |them |this |everything "
    r"|the data )?(?:in|inside"
    r"|within|at|here|on|under|with)(?![\w-])"
    r"|(?<![\w-])(?:leave|leaves|left|cross|leak|leaked|quit) (?:the |our )?(?:country|building|house|hospital|border)"
    r"|(?<![\w-])(?:forbid\w*|bann?(?:s|ed|ing)?|prohibit\w*|refus\w+|veto\w*|disallow\w*|outlaw\w*|decided against)"
    r"|(?<![\w-])(?:fetches|pulls|pulled|pushes|clones|queries|streams|downloads|uploads|connects|contacts|talks to"
    r"|hands"
    r" over|is called (?:in|by|at|when|from)|calls|depends on|(?:must|should|to|please|and|has to) wait for"
    r"|waits for it|under embargo|subject to"
    r"|covered by|falls? under)(?![\w-])"
    r"|(?<![\w-])(?:made|written|optimi[sz]ed|tuned|meant|designed|developed|compiled|built) (?:for|with|under) "
    r"|(?<![\w-])if (?:it|a (?:node|machine|job))(?:'s| is| dies| crashes| fails)|(?<![\w-])should it(?![\w-])"
    r"|(?<![\w-])(?:asked|told|wants?|wanted|said|obliges?|obliged|requires?|begged|ordered) (?:us"
    r"|me) to(?! (?:repeat|redo|run|compute"
    r"|simulate|model|check|test|look|try|make|help|show|write|ask|analyse|analyze|see)(?![\w-]))"
    r"|(?<![\w-])(?:said|asked|want|wants) to (?:put|keep|hold|leave|stay|avoid|wait)(?![\w-])"
    r"|(?<![\w-])(?:confidential|nda|itar|hipaa|gdpr|export control)(?![\w-])"
    r"|(?<![\w-])(?:on (?:the )?condition that|as long as)(?![\w-])"
    r"|(?<![\w-])before (?:it|anything|the job|she|he|they) (?:starts?|runs?|begins?|is|are|has|have)(?![\w-])"
    r"|(?<![\w-])(?:has|have|must|needs?) to (?:agree|approve|sign|confirm|look)(?![\w-])"
    r"|(?<![\w-])(?:prefer|take|choose|use) (?:any|some|an?)(?: other| different)|(?<![\w-])(?:elsewhere|woanders"
    r"|ailleurs)(?![\w-])"
    r"|(?<![\w-])(?:it|the (?:job|code|program|run|solver|script|simulation)) (?:also )?(?:needs|wants|requires"
    r"|expects)(?![\w-])"
    r"|(?<![\w-])nobody (?:outside|else|but|except)|(?<![\w-])(?:restent|rester|quittent|bleiben|verlassen)(?![\w-])"
)
"""What is said of the job, its data and its surroundings, that asks for something."""
_PERSON_BEFORE = re.compile(rf"(?<![\w-]){_PERSON} (?:[a-z]+ly )?$")
_REFERS = re.compile(
    r"(?<![\w-])(?:finished|done|ready|there|over|complete) by then(?![\w-])|(?<![\w-])(?:that|it|this|them|these"
    r"|those|which)(?: one| 1)? (?:(?:has|have|needs?) to|must|should|is to|are to)"
    r" (?:be |have )?(?:there|present|available|mounted|installed|loaded|done|ready|finished|read|that"
    r"|had)(?: by then)?(?![\w-])"
    r"|(?<![\w-])(?:use|take|have|need|want|run|try|start|pick|choose|stay (?:below|under|within)) (?:it|that|this"
    r"|them|those)"
    r"(?: one| 1)?(?: please| too| then| there| here)? ?$"
    r"|(?<![\w-])needs? to have (?:that|it|this|them)(?![\w-])"
)
"""What only points to something that was read."""
_CONTENT = re.compile(
    r"(?<![\w-])(?:can't|cannot|can not) wait(?![\w-])|(?<![\w-])(?:should|would|will|must|has to|have to|shall"
    r"|can) (?:all )?(?:be |do |work |go |run "
    r"|finish )?(?:just |quite |more than )?"
    r"(?:enough|fine|ok|okay|plenty|sufficient|suffice|suffices|do|possible|easy|doable|good|right|well|smoothly"
    r"|quick|in time)(?![\w-])"
    r"|^ ?(?:please )?(?:take (?:care|your time)|keep up|call me|do (?:tell|let)|keep in (?:mind|touch)|start (?:it "
    r"|this )?with)(?![\w-])"
)
"""What only says that something is enough, or is a turn of phrase."""
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
    found = _OF_THE_JOB.match(clause)
    return found is not None and _PERSON_BEFORE.search(clause[: found.start("modal")]) is None


def is_unmet(clause: str) -> bool:
    """Whether a clause in which nothing was read demands something all the same."""
    clause = re.sub(r" {2,}", " ", clause)
    if _CONTENT.search(clause) or _REFERS.search(clause):
        return False
    return is_of_the_job(clause) or _ORDERED.match(clause) is not None or _WANTED_OF_IT.search(clause) is not None


def corrects(clause: str) -> bool:
    """Whether a clause can take back or change what was said (`the deadline was moved`)."""
    return _CORRECTS.search(clause) is not None
