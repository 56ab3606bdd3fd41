r"""Turns of phrase that add nothing to what has been read: `not more` after a budget, `Dauer:` before a time.

They are looked for when every rule is through, so that what was read is claimed (`\x00`), and each counts only where
the field that it speaks of was read. Where that field was not read, its words are told back.
"""

from __future__ import annotations

import re

from graph.reading.bearing import LOOSE
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import PADDING
from graph.reading.ordinary import is_ordinary

__all__ = ["read_idioms"]

_END = r"(?= ?(?:[,.;:!?)\x00]|$))"
_NEVER = r"(?:please )?(?:don't|do not|can't|cannot|must not|should not|rather not|not|never)"
_DONE = r"(?:used|done|tried|been|run|seen|worked|touched|timed|measured|had|heard|needed|taken|asked|submitted)"

_BEHIND = r"(?<=\x00)"
_IMPORTANT = r"(?:needed|necessary|required|important|of (?:any )?importance|critical|crucial|mandatory|a must)"
_MORE = r"(?!more|less|fewer|longer|it |to |that |this |them |any more)"

IDIOMS: tuple[tuple[str, str], ...] = (
    # What is said not to be needed
    (rf"(?:but |and |while )?(?:(?!if|unless|whether)[\w+./-]+ ){{0,3}}(?:isn't|aren't|is not|are not|not|of no)"
     rf" (?:really |strictly |at all )?(?:{_IMPORTANT}|importance)(?: (?:here|for (?:this|it|us)|at all|either))?", ""),
    (rf"(?:there is |we have |i have )?no need (?:for|of|to have) (?:an? |any )?{_MORE}[\w+./-]+", ""),
    (rf"(?:and |but |so )?(?:i |we |it |they )?(?:don't|doesn't|do not|does not) (?:really )?need (?:an? |any )?{_MORE}"
     r"[\w+./-]+(?: cards?| nodes?| librar(?:y|ies))?(?= ?(?:[,.;:!?)\x00]|and |but |or |so |$))", ""),
    (r"(?:it |that |which |this )?(?:doesn't|does not|don't|do not) (?:really )?matter(?: (?:which|to (?:us|me)|much))?"
     r"(?: one)?" + _END, ""),
    (r"(?:i |we )?(?:don't|do not) (?:really )?(?:care|mind) (?:about )?(?:the |which )?(?:versions?|releases?)"
     + _END, ""),
    (r"(?:i |we )?(?:don't|do not) (?:really )?(?:care|mind)(?: (?:which|where))(?: (?:one|of them|it (?:runs"
     r"|happens)))?"
     + _END, ""),
    (r"(?:(?:i|we) have |there are )?(?:no|without)(?: other| further| special| particular| strong| specific| more)?"
     r" (?:preferences?|wishes)(?: (?:as to|about|on|for|regarding) (?:the )?(?:site|machine|system|where|place))?"
     + _END, ""),
    (r"(?:vibrational |harmonic )?frequency (?:calculations?|calcs?\.?|analys[ei]s|jobs?|runs?)" + _END, ""),
    (r"zu (?:run|let|start|[a-zäöüß]{3,16}en)(?: let)?" + _END, ""),
    (r"(?:(?:get|give|send|have|need|want) )?(?:me |us )?(?:the )?results? (?:of|from) (?=\x00)", "command software"),
    (r"(?:no|without)(?: any)? (?:internet|external network|outside)(?: access| connection)?"
     r"(?: (?:is )?(?:needed|required|necessary))?" + _END, ""),
    (r"(?:please |and )?(?:bring|send|copy|get|fetch|return|give|ship) (?:(?:me|us) )?(?:those|these|them|it|that|both"
     r"|all (?:of )?(?:them|those|it)?) ?(?:back|home)(?: to (?:me|us))?", "outputs"),
    (r"(?:and |but |because |as |since )?(?:my|our) (?:own )?(?:laptop|workstation|desktop|pc|computer)"
     r" (?:is(?:n't| not)|can(?:'t|not)|does(?:n't| not))(?: [a-z]+){1,5}" + _END, ""),
    (r"(?:both |all )?(?:running |run |at work )?(?:at the same time|together|simultaneously|concurrently)" + _END,
     "components"),
    (r"coupled (?:run|job|experiment|simulation|model|case)?", "components"),
    (r"(?<=\x00) (?:per|for each|for every|each) [a-z]{3,16}" + _END, "array"),
    (r"(?:we |i )?(?:need|want|must have|would like) (?:the |our |its |all )?(?:outputs?|results?) (?=\x00)",
     "deadline"),
    (r"(?:no|without)(?: any)? mpi(?: (?:is )?(?:needed|required|used|necessary))?" + _END, ""),
    (r"(?:because |as |since )?(?:that|this|it)(?: one| release| version)? (?:is|was|does) (?:broken|buggy|not work)"
     r"(?: (?:for|with) (?:us|me))?" + _END, "software"),
    # Of anything that was read
    (r"(?<=\x00)[ ,;]{0,2}(?:and |but |so )?(?:not|no|never|nothing) (?:more|over|longer"
     r"|beyond)(?: than that)?" + _END, ""),
    (r"(?<=\x00) or so" + _END, ""),
    (r"(?<=\x00)[ ,]{0,2}(?:instead of|rather than) (?:(?:the|our|my|usual|previous) ){0,2}\d{1,6}(?: usual"
     r"| previous)?" + _END, ""),
    (r"(?:exe|executable|binary|bin|prog|cmd) (?=\x00)", "command"),
    (r"(?:load )?modules? (?=\x00)|(?:the |an? )?image(?: file)? (?=\x00)"
     r"|(?:is )?called(?: like this)?:? ?(?=\x00)", ""),
    (r"(?:w|w/) ?(?=[\x00 ])|together (?:with )?(?=\x00)|as (?:an? )?inputs?" + _END, ""),
    (r"(?<![^;,|\n] )[a-z][a-z /-]{2,30} ?[:=] ?(?:none|n/a|nothing|not applicable|nil|tbd|not (?:needed"
     r"|required|necessary))(?: (?:needed|required|necessary))?" + _END, ""),
    # A bound on what is a bound already
    (r"(?<=\x00)[ ,]{0,2}(?:is |being )?(?:the |a |our |my |at (?:the )?(?:very )?)?(?:max|maxi|maximum|maximal|most"
     r"|tops|limit)"
     + _END, "walltime_s budget array.at_once"),
    (r"(?<=\x00)[ ,]{0,2}(?:at (?:the )?(?:very )?)?latest" + _END, "deadline"),
    (r"(?:that |provided that )?(?:the |its |our |my )?(?:bill|costs?|price|charges?|spending|expenses?)(?: (?:is"
     r"|are|must"
     r"|be|may|should|will|stays?|remains?|comes?|to)){0,3} ?(?=\x00)", "budget"),
    (r"(?<=\x00),? or,? (?:where|if|when) (?:that|it|this|the former)(?: one)? is(?:n't| not) (?:installed|there"
     r"|available"
     r"|present|possible|supported|around),? (?=\x00)", "containers mpi"),
    (r"(?<=\x00) or (?:less|under|below|cheaper|shorter)" + _END, "walltime_s budget"),
    (r"(?<=\x00)[ ,]{0,2}(?:at (?:the )?(?:very )?least"
     r"|minimum)" + _END, "networks storage shapes.0.memory shapes.0.gpus"),
    (r"(?<=\x00) (?:or|and) (?:more|better|faster|higher|above|up|greater)", "networks storage"),
    (r"(?:max|maxi|maximum|maximal) (?=\x00)", "budget walltime_s"),
    (r"(?:i |we )?(?:don't|do not) (?:want|wish|like) to (?=\x00)|(?:don't|do not) let (?:it|them|this) (?=\x00)"
     r"|without (?:paying|spending|costing) (?=\x00)", "budget walltime_s"),
    (r"(?:not|never) (?:to )?(?:take|run|last|need|exceed)(?: for)?(?: (?:any )?(?:more|longer) than)? ?(?=\x00)",
     "walltime_s"),
    (r"(?:this|for|a|every|per|all|some) weeks?" + _END, "walltime_s"),
    (rf"(?:(?:it|this|that|which|they) )?{_NEVER} (?:spend|use|burn|exceed|cost|pay|go)(?: (?:any )?more| over|"
     r" above| beyond)?(?: than)?(?: that| this| it)?"
     + _END, "budget"),
    (r"(?:is )?(?:the |at )?(?:most|maximum|limit|all)?(?: that)? ?(?:i|we) (?:may|can|want to|am allowed to"
     r"|are allowed to)"
     r" (?:spend|use|pay|burn)(?: on)?", "budget"),
    (r"(?:for |on )?(?:grant )?(?:money|funds) (?:is|are|being) (?:tight|short|scarce|limited)"
     r"|(?:grant )?money", "budget objective"),
    (r"(?:in no case|under no circumstances|by no means|on no account)(?: may| must| can| should)?(?: it| this)?",
     "budget walltime_s sites_not"),
    (r"(?:i |we )?(?:cannot|can't|could not|couldn't) (?:afford|spend|pay|exceed|go)(?: any)?(?: more)?(?: than)?",
     "budget"),
    # What is over when, and what is meanwhile
    (r"until (?=\x00)|(?:(?:are|is|have|has|been|be) )?(?:over|elapsed|spent|used up)" + _END, "walltime_s budget"),
    (r"(?:overnight|a night|one night|1 night|for a night)(?: is| would be)?(?: (?:not|too|more than))?"
     r" ?(?:enough|long|short|plenty)?(?: so| hence)?", "walltime_s"),
    (r"(?:while|whilst|when|once|before|after) (?:it |the (?:job|run|program|code|calculation|simulation) )?(?:is "
     r"|was )?"
     r"(?:running|runs?|starts?|begins?|started|launched|has started)" + _END, "command software"),
    (r"(?:while|whilst) (?:running|computing|executing|at it)", "command software"),
    (r"(?:maybe|perhaps|probably|possibly|say|like) (?=\x00)|,? (?:maybe|perhaps|possibly) (?:longer|shorter|more|less)"
     + _END, "walltime_s shapes.0.memory shapes.0.cpus shapes.0.tasks"),
    (r"(?:(?:is|are|be|stays?) )?(?:currently |now |still )?free(?: for (?:us|me))?(?= ?[,.;:!?)\x00]| for | on |$)",
     "nodes gpus cpus memory local_disk_bytes storage networks licenses"),
    (r"(?:least expensive |cheapest |greenest |best )?(?:options?|choices?|variants?|solutions?)", "objective"),
    (r"(?:for|out of) reasons? of [a-z]+(?: [a-z]+)?"
     r"|for [a-z]+(?:[ -][a-z]+)? reasons", "sites sites_not exclusive storage"),
    (r"(?:either|any|both|one|each)(?: of the| of them| of these| of those)?(?: two| 2| three| 3)?"
     r" (?:will|would|is|are) (?:do|fine|okay|ok|good|be (?:fine|okay|ok"
     r"|good))", "software sites mpi networks storage"),
    (r"after all|above all|all in all|first of all|by the way|in any case" + _END, ""),
    (r"(?:because of|due to|owing to) (?:the |our |my "
     r"|an? )?[a-z]+(?: [a-z]+)?" + _END, "sites sites_not array budget"),
    (r"(?:ab initio|de novo|in (?:vitro|vivo|situ|silico)|a priori|per se|ad hoc)", ""),
    (r"(?:(?:1|2|3|some|many|a few|a couple of) )?more(?= (?!(?:nodes?|cores?|cpus?|gpus?|tasks?|ranks?|threads?"
     r"|memory|ram"
     r"|space|time|disk|hours?|days?|than|or|if)(?![\w-]))[a-z]{3,})", "command software"),
    (r"(?:has to be |have to be |must be |to be |is |are )?staged(?: in| out)?", "inputs outputs"),
    (r"(?:my|our|his|her|their|[a-z]+'s) (?:[a-z]+(?:'s)? )?(?:workstation|laptop|desktop|notebook|pc|macbook)s?", ""),
    (r"(?:to )?queue(?= (?:the following|this|it|up))|once (?:more|again)|one more time", ""),
    (r"(?:or|and),? (?:failing that|alternatively)(?=,? (?:by |with |in |on )?\x00)", "containers software"),
    (r"only(?= (?:need|want|require|ask)(?:s|ed)?(?![\w-]))", "nodes tasks cpus gpus memory walltime_s"),
    (r"(?:with )?(?:the |my |our )?(?:usual |following |same )?(?:options?|flags|settings"
     r"|parameters)", "queue account"),
    (r"if (?:it's|it is|that's|that is) (?:no|not too much) (?:trouble|bother|problem|effort)", ""),
    (r"(?:any(?:where|thing| site| place)?|every(?:where|thing)? )?else (?:is|will be|would be) (?:ok|okay|fine"
     r"|good)", "sites_not"),
    (r"(?:or )?(?:else|otherwise) (?:nothing|do nothing|not)" + _END, "dependencies"),
    # How the field speaks
    (r"(?:built|compiled|linked) (?:against|with|for)|builds? of", "mpi software"),
    (r"(?:fast|high-speed|quick|good|proper|decent)(?= ?\x00)|at no less(?: than)?", "networks"),
    (r"(?:a |one |1 )?(?:fat|big|large|huge|high-?mem(?:ory)?|bigmem) (?:node|machine|box|server)s?", "memory"),
    (r"(?:a )?gpu (?:node|machine|box|server)s?", "gpus"),
    (r"(?:(?:it(?:'s| is)|is) )?(?:an? )?(?:pure|plain|purely|only)? ?cpu(?:[ -]only)? (?:code|job|run|program|work)s?",
     ""),
    (r"(?:as |like )?(?:in |to |for |with |the )?(?:sbatch|qsub|slurm|pbs|lsf|bsub|sge|srun)(?:[ -]style| style| speak"
     r"| terms| options?| opts| flags| lines?| hand| way)?(?= ?[:,]? ?\x00)", "walltime_s shapes queue account"),
    (r"(?:with |without |and )?(?:no|any) (?:other |further )?(?:options?|arguments?|flags|parameters)", "command"),
    (r"(?:please|to|can you|could you|kindly|and) (?:process|charge|link|test|keep|provide|load|hold|launch)"
     r"(?= (?:the|our|my|a|an|it|this|these|\x00))", "command software"),
    (r"(?:the |a )?(?:work(?:ing)? )?director(?:y|ies)(?: has to be| must be| should be)?", "storage"),
    # Of arrays
    (r"(?:for |in |as )?(?:an? |the |each |every |one |per )?(?:job )?(?:array )?(?:tasks?|elements?|members?|cop"
     r"(?:y|ies)"
     r"|ind(?:ex|ices|exes)|jobs?"
     r"|arrays?)(?= ?[,.;:)\x00]|$| (?:runs?|is|are|gets?|uses?|needs?|takes?|consists|has|covers|goes|with|of"
     r"|from)(?![\w-]))", "array"),
    (r"(?:run(?:ning)? )?together" + _END, "array.at_once"),
    (r"(?:as )?(?:the |an? )?(?:either )?(?:mpi )?librar(?:y|ies)", "mpi"),
    # Of places and what comes first
    (r"(?:may |must |can |should |has to |have to )?(?:only|solely|exclusively)(?: to)?(?: be)?(?: processed| run"
     r"| executed"
     r"| computed| started| used| kept| done)?(?= ?\x00)", "sites"),
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
     "command script software"),
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
    "dependency|dependencies|depends on|after|deps?": "dependencies",
    "mpi|mpi library": "mpi",
    "deadline|due|finish by|frist": "deadline",
    "sites?|where|cluster|system": "sites",
}
"""What stands before `:` or `=`, and a part of the path of the field whose value must follow."""
_NOUNS = {
    "nodes": r"(?:gpu |compute )?nodes?|machines?|box(?:es)?|servers?",
    "exclusive": "nodes?|machines?",
    "memory": "memory|ram|hauptspeicher|arbeitsspeicher|grafikspeicher|speicher",
    "gpus": r"gpus?|graphics cards?|cards?|accelerators?|boards?",
    "cpus": "cores?|cpus?|processors?",
    "tasks": "tasks?|ranks?|process(?:es)?",
    "walltime_s": "hours?|minutes?|days?|wall ?time|run ?time|duration",
    "queue": "queues?|partitions?",
    "containers": "containers?|images?|img",
    "budget": "budget|expenses?|bill|costs?|price|ceiling|cap|money|kosten|coûts?",
    "inputs": r"inputs?|data|files?",
    "outputs": r"outputs?|results?|data|files?",
    "local_disk_bytes": r"data|files?|dis[kc]s?|scratch|space",
    "storage": r"data|files?|file ?systems?|storage|director(?:y|ies)|folders?|dis[kc]s?|scratch|space",
    "networks": r"networks?|interconnect|fabric|links?|(?:between )?(?:the |all )?nodes",
    "deadline": "deadline|latest",
    "requeue": "results?|restarts?|requeue(?:ing)?",
    "command": "executable|binary|program|command|script|code",
    "licenses": "licen[cs]es?|tokens?|licen[cs]e server",
    "array": "array|ind(?:ex|ices|exes)|elements?|jobs?|runs?|tasks?",
    "sites": "sites?|clusters?|cent(?:er|re)s?|places?",
    "mpi": "mpi|librar(?:y|ies)",
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
                if fields and rule.startswith(_BEHIND) and not _ends_with(draft, match.start(), fields):
                    continue
                draft.aside(*match.span())
    for words, part in _LABELS.items():
        for match in draft.line.find(rf"(?:^|(?<=[ ;,\n\x00]))(?:{words}) ?[:=] ?(?=\x00)"):
            if part in _begun_at(draft, match.end()):
                draft.aside(*match.span())
    for match in draft.line.find(r"(?<![\w-])(?:before|after|once|while) (?:the run of )?(?=\x00)"):
        if "command" in _begun_at(draft, match.end()):
            draft.aside(*match.span())  # what is loaded before it, what is wanted once it has run
    for part, words in _NOUNS.items():
        if any(part in field for field in stated):
            alone = (
                r"(?:^|(?<=[ ,.;:(\x00]))(?<!not )(?<!no )(?<!other )(?<!same )(?<!more )"
                rf"(?:{words})(?= ?(?:[,.;:!?)\x00]|$)| [a-z])"
            )
            for match in draft.line.find(alone):
                if not _described(draft, match.start()):
                    draft.aside(*match.span())


def _ends_with(draft: Draft, at: int, fields: str) -> bool:
    """Whether what ends at a place of the normal form was read into one of the fields; where that is not known, yes."""
    ends = {
        draft.line.place(source.start + len(source.words)): source.field
        for source in draft.sources
        if source.start is not None
    }
    field = ends.get(at) or ends.get(at - 1)
    return field is None or any(_is_stated(name, {field}) for name in fields.split())


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
    plain = word in PADDING or word in EVERYDAY or (is_ordinary(word) and word not in LOOSE)
    return bool(word) and word == before[1].lstrip("('\"") and not plain
