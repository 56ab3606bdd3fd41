r"""Turns of phrase that add nothing to what has been read: `not more` after a budget, `Dauer:` before a time.

They are looked for when every rule is through, so that what was read is claimed (`\x00`), and each counts only where
the field that it speaks of was read. Where that field was not read, its words are told back.
"""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import PADDING

__all__ = ["read_idioms"]

_END = r"(?= ?(?:[,.;:!?)\x00]|$))"
_NEVER = r"(?:please )?(?:don't|do not|can't|cannot|must not|should not|rather not|not|never)"
_DONE = r"(?:used|done|tried|been|run|seen|worked|touched|timed|measured|had|heard|needed|taken|asked|submitted)"

IDIOMS: tuple[tuple[str, str], ...] = (
    # Of anything that was read
    (r"(?<=\x00)[ ,;]{0,2}(?:and |but |so )?(?:not|no|never|nothing) (?:more|over|longer"
     r"|beyond)(?: than that)?" + _END, ""),
    (r"(?<=\x00) or so" + _END, ""),
    (r"(?<=\x00)[ ,]{0,2}(?:instead of|rather than) (?:(?:the|our|my|usual|previous) ){0,2}\d{1,6}(?: usual"
     r"| previous)?" + _END, ""),
    (r"(?:load )?modules? (?=\x00)|(?:the |an? )?image(?: file)? (?=\x00)"
     r"|(?:is )?called(?: like this)?:? ?(?=\x00)", ""),
    (r"(?:w|w/) ?(?=[\x00 ])|together (?:with )?(?=\x00)|as (?:an? )?inputs?" + _END, ""),
    (r"(?<![^;,|\n] )[a-z][a-z /-]{2,30} ?[:=] ?(?:none|n/a|nothing|not applicable|nil|tbd)" + _END, ""),
    # A bound on what is a bound already
    (r"(?<=\x00)[ ,]{0,2}(?:is |being )?(?:the |a |our |my |at (?:the )?(?:very )?)?(?:max|maxi|maximum|maximal|most"
     r"|tops|limit)"
     + _END, "walltime_s budget array.at_once"),
    (r"(?<=\x00) or (?:less|under|below|cheaper|shorter)" + _END, "walltime_s budget"),
    (r"(?<=\x00)[ ,]{0,2}(?:at (?:the )?(?:very )?least"
     r"|minimum)" + _END, "networks storage shapes.0.memory shapes.0.gpus"),
    (r"(?<=\x00) (?:or|and) (?:more|better|faster|higher|above|up|greater)", "networks storage"),
    (r"(?:max|maxi|maximum|maximal) (?=\x00)", "budget walltime_s"),
    (r"(?:i |we )?(?:don't|do not) (?:want|wish|like) to (?=\x00)|(?:don't|do not) let (?:it|them|this) (?=\x00)"
     r"|without (?:paying|spending|costing) (?=\x00)", "budget walltime_s"),
    (r"(?:this|for|a|every|per|all|some) weeks?" + _END, "walltime_s"),
    (rf"{_NEVER} (?:spend|use|burn|exceed|cost|pay|go)(?: (?:any )?more| over| above| beyond)?(?: than)?(?: that"
     rf"| this| it)?"
     + _END, "budget"),
    (r"(?:is )?(?:the |at )?(?:most|maximum|limit|all)?(?: that)? ?(?:i|we) (?:may|can|want to|am allowed to"
     r"|are allowed to)"
     r" (?:spend|use|pay|burn)(?: on)?", "budget"),
    (r"(?:for |on )?(?:grant )?(?:money|funds) (?:is|are|being) (?:tight|short|scarce|limited)"
     r"|(?:grant )?money", "budget objective"),
    # Of arrays
    (r"(?:for |in |as )?(?:an? |the |each |every |one |per )?(?:job )?(?:array )?(?:tasks?|elements?|members?"
     r"|ind(?:ex|ices|exes)|jobs?"
     r"|arrays?)(?= ?[,.;:)\x00]|$| (?:runs?|is|are|gets?|uses?|needs?|takes?|consists|has|covers|goes|with|of"
     r"|from)(?![\w-]))", "array"),
    (r"(?:run(?:ning)? )?together" + _END, "array.at_once"),
    (r"(?:as )?(?:the |an? )?(?:either )?(?:mpi )?librar(?:y|ies)", "mpi"),
    # Of places and what comes first
    (r"(?:and |but )?(?:nowhere else|only there|not anywhere else|not elsewhere)", "sites"),
    (r"(?:and |but )?only (?:then|after|when|once|if)?(?= ?,? ?\x00)", "dependencies start_after"),
    (r"(?:where|how|which|what|when|that)? ?(?:it |this )?(?:runs? )?(?:i |we )(?:really )?(?:don't"
     r"|do not) (?:really )?"
     r"(?:care|mind)(?: (?:which|where|how|what|when|at all))?", "sites objective"),
    (r"(?:i |we )?(?:can't|cannot|can not|must not|mustn't) (?:wait|sit|queue)(?: in (?:a|the|any) queue)?", "urgent"),
    (r"not (?:to be )?shared(?: with (?:any(?:body|one)|others?))?", "exclusive shapes.0.exclusive"),
    (r"(?:i |we )?(?:(?:want|would|like|have|need|get|bring|brought|it|them|that|to|be|must|should|please|fetch|fetched"
     r"|copied|sent|shipped|returned|hätte|i) ){0,6}back(?: again| to me| to us| home)?" + _END, "outputs"),
    (r"(?:and |but )?nothing else|(?:and |but )?no (?:other|others|other site)s?" + _END, "sites"),
    (r"(?:and |but )?no (?:accelerators?|gpus?|graphics cards?)(?: (?:needed|required|necessary|involved|please))?"
     + _END, "shapes.0.cpus shapes.0.tasks shapes.0.cpus_per_task shapes.0.cpus_per_node shapes.0.tasks_per_node"),
    (r"(?:it |this )?(?:is |'s )?not (?:at all )?(?:urgent|pressing)" + _END, "objective"),
    (r"(?:i |we )?(?:do not|don't|dont) (?:want|wish|like|care) to (?:wait|sit|queue)(?: (?:long|forever|around))?"
     r"(?: in (?:a|the|any) (?:long )?queue)?", "objective urgent"),
    (r"(?:and |but )?(?:certainly |definitely )?(?:not|never|no) (?:earlier|before|sooner)(?: than that| that)?" + _END,
     "start_after"),
    (r"(?:the |our |my |all )?results?(?: (?:must|should|please|are|is|be|has|have|to|needed|ready|due|expected)){0,5}"
     r"(?= ?\x00)", "deadline"),
    (r"(?:and |but )?(?:certainly |definitely )?(?:not|never|no) later(?: than that| that)?" + _END, "deadline"),
    (r"(?:is |are )?(?:to be )?(?:run |started |executed )?after (?:it|that|this|them|those)(?= ?(?:[,.;:!?)\x00]|$)"
     r"| (?:on|for|with|in|at|by|and|using)(?![\w-]))", "dependencies"),
    (r"after which,?", "dependencies outputs"),
    (r"(?:and )?(?:its |the )?completion(?: (?:being|is|must be|has to be|due)){0,2}(?= ?\x00)", "deadline"),
    (r"simultaneously|at the same time", "components"),
    (r"(?:(?:whose|its|the|total|overall) )*consumption(?: (?:may|must|should|can|shall|will))?" + _END, "budget"),
    (r"(?:for|of) the (?:[a-z]+ )?(?:run|runs|job|jobs|calculation|work)" + _END, "budget walltime_s"),
    # Of stories and courtesy
    (rf"(?:(?:have|has|had|i've|we've) )?(?:really )?never (?:really |yet )?{_DONE}(?: [a-z]+){{0,5}}? (?:before|yet"
     rf"|it|one|this)", ""),
    (r"(?:is|was|would|were) (?:it|that|this) (?:at all |perhaps |be )*possible|perhaps be possible", ""),
    (r"(?<=\x00) (?:as )?possible" + _END, "objective"),
    (r"(?:runs?|running|ran|lack|short|shortage|want) (?:out )?of memory|memory (?:is|was|gets|got) (?:full"
     r"|exhausted|short)"
     r"|(?:eats?|hogs?) memory", "shapes.0.memory"),
    (r"(?:i )?(?:do )?hope (?:this|the|my) (?:e-?mail|message|mail|note) finds you(?: all)?(?: well)?", ""),
    (r"(?:i'm |i am |am )?not (?:quite |really |so |too )?sure (?:if|whether|that)? ?(?:i|this|that|it)", ""),
    (r"(?:what |which )?(?:i |we )?(?:am|are|is) after|looks? after|(?:i |we )?(?:don't|do not) ask", ""),
    (r"(?:depending on )?(?:what|whatever|which|whichever|where|wherever|when|whenever) (?:is |are |it is )?free", ""),
    (r"(?:in|into) (?:the|a|your) queue" + _END, ""),
    (r"(?:a |the |my |our |this |some )?(?:python|r|julia|perl|fortran|java|bash|shell|c\+\+) (?:script|program|code"
     r"|notebook)s?",
     "command script"),
    (r"(?:(?:ticket|case|incident|request|req|issue|job ticket|ref|re)[ :#.-]*)?(?:#|inc-?|req-?|rt ?#?)\d{3,9}\]?"
     r"|tickets?:? ?#?\d{3,9}", ""),
    (r"(?:from|requester|requested by|user|contact|reply to|cc|to|sender) ?: ?[\w.@+-]+(?: [\w.-]+){0,2}" + _END, ""),
)  # fmt: skip
_LABELS = {
    "dauer|duration|time|wall ?time|run ?time|laufzeit|durée|rechenzeit": "walltime_s",
    "budget": "budget",
    "cmd|command|aufruf|befehl|call|commande|text|programme?|to run|prog|executable|exe|binary|run|script": "command",
    "fs|file ?systems?|storage|dateisystem": "storage",
    "fabric|network|net|netzwerk|réseau|interconnect": "networks",
    "gpus?|cards?|graphics cards?": "gpus",
    "cpus?|cores?": "cpus",
    "mem|memory|ram|speicher|hauptspeicher|arbeitsspeicher": "memory",
    "nodes?|machines?": "nodes",
    "software|code|app|application|model|tool|solver": "software",
    "queue|partition|file": "queue",
    "account|project|projekt|compte|konto": "account",
    "image|container": "containers",
    "inputs?|data|daten": "inputs",
    "outputs?|results?|ergebnisse?": "outputs",
    "policy|objective|preference|strategy|goal|ziel": "objective",
    "env|environment|variables|umgebung": "environment",
    "dependency|dependencies|depends on|after": "dependencies",
    "mpi|mpi library": "mpi",
    "deadline|due|finish by|frist": "deadline",
    "sites?|where|cluster|system": "sites",
}
"""What stands before `:` or `=`, and a part of the path of the field whose value must follow."""
_NOUNS = {
    "nodes": r"(?:gpu |compute )?nodes?|machines?",
    "memory": "memory|ram|hauptspeicher|arbeitsspeicher|grafikspeicher|speicher",
    "gpus": r"gpus?|graphics cards?|cards?",
    "cpus": "cores?|cpus?",
    "tasks": "tasks?|ranks?|process(?:es)?",
    "queue": "queues?|partitions?",
    "containers": "containers?|images?",
    "budget": "budget|costs?|kosten|coûts?",
    "walltime_s": "run ?time|duration|wall ?time",
    "inputs": r"inputs?|data|files?",
    "outputs": r"outputs?|results?|data|files?",
    "reservation": "reservations?",
    "account": "accounts?|projects?",
}
"""Words for what a field states, by a part of the field's path."""


def read_idioms(draft: Draft) -> None:
    """Claim what only repeats or rounds off what was read."""
    stated = {source.field for source in draft.sources} | set(draft.fields)
    for rule, fields in IDIOMS:
        if not fields or any(_is_stated(name, stated) for name in fields.split()):
            for match in draft.line.find(rf"(?<![\w'-])(?:{rule})(?![\w'-])"):
                draft.line.claim(*match.span())
    for words, part in _LABELS.items():
        for match in draft.line.find(rf"(?:^|(?<=[ ;,\n\x00]))(?:{words}) ?[:=] ?(?=\x00)"):
            if part in _begun_at(draft, match.end()):
                draft.line.claim(*match.span())
    for match in draft.line.find(r"(?<![\w-])(?:before|after|once|while) (?:the run of )?(?=\x00)"):
        if "command" in _begun_at(draft, match.end()):
            draft.line.claim(*match.span())  # what is loaded before it, what is wanted once it has run
    for part, words in _NOUNS.items():
        if any(part in field for field in stated):
            alone = (
                r"(?:^|(?<=[ ,.;:(\x00]))(?<!not )(?<!no )(?<!other )(?<!same )(?<!more )"
                rf"(?:{words})(?= ?(?:[,.;:!?)\x00]|$)| [a-z])"
            )
            for match in draft.line.find(alone):
                if not _described(draft, match.start()):
                    draft.line.claim(*match.span())


def _begun_at(draft: Draft, at: int) -> set[str]:
    """The parts of the paths of fields whose words begin at a place of the normal form."""
    begun = [
        source.field for source in draft.sources if source.start is not None and draft.line.place(source.start) == at
    ]
    return {part for field in begun for part in field.split(".")}


def _is_stated(name: str, stated: set[str]) -> bool:
    return any(field == name or field.startswith(f"{name}.") for field in stated)


def _described(draft: Draft, at: int) -> bool:
    """Whether an open word before it says which kind is meant (`fat nodes`), or how many."""
    before = re.search(r"([^\s\x00]+) ?$", draft.line.open[:at])
    if before is None:
        return False
    word = before[1].strip(".,;:!?()'\"")
    return bool(word) and word == before[1].lstrip("('\"") and word not in PADDING and word not in EVERYDAY
