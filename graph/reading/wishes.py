"""What the person prefers: cheapest, soonest, right now, and the most that may be spent."""

from __future__ import annotations

import re

from dragoman.request import Budget
from graph.reading.at_once import is_together
from graph.reading.draft import Draft
from graph.reading.numbers import NUMBER, amounts_of
from graph.reading.reading import Option

__all__ = ["read_wishes"]

_LEAD = (
    r"(?<![\w-])(?:(?:as|at|in|for|the|my|preferably|ideally|possibly|please|prefer|preference|objective|policy"
    r"|whichever|wherever"
    r"|whatever|machine|site|cluster|system|place|one|it's"
    r"|optimi[sz]e for|go for|take|pick|choose|use|find|is|on|:) ){0,4}"
)
OBJECTIVES = {
    "min-cost": r"cheapest(?: (?:one|site|option|place|possible|offer))?|as cheap(?:ly)? as possible"
    r"|lowest (?:cost|price|charge)"
    r"|low(?:est)?[- ]cost|minimi[sz]e (?:the )?costs?|min[- ]cost|least expensive|cheap(?:ly)?|cheaper"
    r"|cost[- ]optimal|am günstigsten"
    r"|(?:le )?(?:moins|least) cher(?: possible)?|(?:so |as possible )?(?:günstig|billig)(?: wie möglich)?"
    r"|kostengünstig\w*|günstigste\w*|billigste\w*|(?:at|au) moindre coût|save money"
    r"|costs? (?:the )?least|rather wait(?: longer| a bit| more)? than (?:pay|spend)(?: more| much| a lot)?"
    r"|rather pay (?:little|less) than wait(?: little| less)?"
    r"|(?:i |we )?(?:only |mostly |mainly )?(?:care|worry)(?: most)? about (?:the )?(?:price|costs?|money)"
    r"|(?:costs?|price) (?:should|must|shall|is to|has to) be (?:as (?:low|small|little) as possible|minimal"
    r"|minimi[sz]ed"
    r"|kept (?:low|to a minimum))"
    r"|(?:(?:a )?low )?price (?:matters|counts|comes first|is what counts)(?: most)?"
    r"|(?:at |for )(?:the )?(?:lowest|least|smallest|minimal|minimum) (?:possible )?(?:price|cost|costs|charge"
    r"|expense)"
    r"|where (?:it|this) (?:is|costs) (?:the )?(?:cheapest|least)|(?:at|with) (?:as )?little (?:cost|expense|money)"
    r"(?: as possible)?|at (?:the )?best price|for (?:the )?least money|am billigsten|zum niedrigsten (?:preis|tarif)"
    r"|so (?:günstig|billig) es geht|as possible preiswert|le (?:more|plus) économique(?: possible)?"
    r"|au (?:meilleur|more bas) prix|at (?:meilleur|more bas) prix|(?:at|au) prix (?:the |le )?(?:more"
    r"|plus) (?:bas|faible)|à moindre coût|the (?:more|plus) économique",
    "soonest": r"soonest(?: (?:possible|start))?|as soon as (?:possible|you (?:possibly )?can)|asap|a\.s\.a\.p\.?"
    r"|earliest(?! (?:[a-z]+ )?start (?:is|time|date|on|at|:))(?: possible)?(?: start)?"
    r"|as early as possible|as quick(?:ly)? as possible|as fast as possible|fastest(?: start| turnaround)?"
    r"|quickest(?: start)?"
    r"|quickly|minimi[sz]e (?:the )?wait(?:ing)?(?: time)?|shortest wait|(?:so (?:schnell|soon|early) wie möglich"
    r"|as possible (?:schnell|bald|früh))|schnellstmöglich"
    r"|dès que possible|first to start|rather (?:pay|spend)(?: more| a lot)? than wait(?: long(?:er)?)?"
    r"|(?:wherever|where|whichever|whatever) (?:(?:it|this|one|site|machine|that|the job) ){0,2}(?:can |will "
    r"|would )?"
    r"(?:(?:start|begin|run)s?(?: running)? (?:the )?(?:first|soonest|earliest|fastest|sooner|earlier)"
    r"|gets? (?:it )?going first)"
    r"|the sooner the better|with the (?:least|shortest) (?:wait|waiting time|delay)|(?:at|au) (?:more"
    r"|plus) (?:vite|tôt)"
    r"(?: possible)?(?! (?:the |le )?(?:\d|lun|mar|mer|jeu|ven|sam|dim|tomorrow|demain))|le plus (?:vite"
    r"|tôt) possible"
    r"|the more (?:vite|tôt) possible|as possible schnell|baldmöglichst|frühestmöglich|so (?:schnell|bald"
    r"|soon) es geht",
    "queue-depth": r"(?:the )?(?:waiting )?queue is (?:the )?(?:shortest|most short|emptiest"
    r"|most empty|least busy|least long)"
    r"|(?:shortest|least busy|emptiest|shallowest) queue|least busy(?: site)?"
    r"|least[- ]loaded(?: site)?|queue[- ]depth"
    r"|(?:the )?(?:fewest|least) jobs (?:are )?(?:waiting|queued|in (?:the )?queue)|kürzeste (?:warteschlange"
    r"|queue)|(?:wo |où |where )?(?:the |la )?(?:queue|file)(?: d'attente)? (?:(?:at|on|am) kürzesten"
    r"(?: is)?|(?:est|is) (?:the |la )?(?:more|plus) courte)|(?:queue|file)(?: d'attente)? (?:the |la )?(?:more"
    r"|plus) courte"
    r"|(?:with|having) the (?:shortest|emptiest) queue|(?:the )?queues? (?:is|are) (?:nearly )?empty",
    "min-energy": r"(?:energy|power|electricity)(?: consumption| use| usage)? (?:(?:should|must|shall|is to"
                  r"|has to) be )?"
    r"(?:as (?:low|small|little) as possible|minimal|minimi[sz]ed|kept (?:low|to a minimum))"
    r"|(?:as possible |so )?(?:wenig (?:energie|strom)\w*|(?:strom|energie)sparend\w*|économe en énergie)"
    r"|as little (?:energy|power|electricity) as possible|greenest"
    r"|(?:needs|uses|takes) (?:the )?least (?:energy|power|electricity)"
    r"|least energy|lowest (?:energy|carbon|emissions?)(?: use| consumption| footprint)?|min[- ]energy"
    r"|minimi[sz]e (?:the )?(?:energy|carbon)(?: use| footprint)?|most energy[- ]efficient"
    r"|(?:most )?energy[- ](?:efficient|saving) (?:site|machine|system|place|cluster)s?(?: (?:preferred|please"
    r"|wanted|first))?",
    "run-anytime": r"any ?time(?: (?:is|will be|would be) (?:fine|ok|okay|good|alright))?"
    r"|(?:(?:there|it) )?(?:is |being |'s )?(?:absolutely )?"
    r"(?:no|not any|without|not in (?:a|any)|in no|never any) (?:hurry|rush|urgency|haste)"
    r"(?: (?:whatsoever|at all|about it|with it|with this|here|involved|really))?"
    r"|(?:not|isn't|is not|rien d'|nichts|rien de|pas|nicht|nothing|hardly) ?(?:at all |so |si |very |too "
    r"|really |particularly )?(?:urgent|dringend|eilig|pressing|time[- ]critical)(?: (?:whatsoever|at all))?"
    r"|take (?:all )?(?:your|its) time|(?:as late|as long) as (?:you|it) (?:like|likes|want|wants|takes)"
    r"|no eile|keine eile|(?:es )?eilt not|not eilig|(?:aucune|no|pas d'|not d') ?(?:urgence|urgency)|rien ne presse"
    r"|not pressé"
    r"|without hâte|whenever (?:the |a |your )?(?:machine|cluster|system|site|computer|capacity)s? (?:is|are"
    r"|has) (?:idle|free"
    r"|quiet|empty|available|room|space)|whenever(?: (?:possible|convenient|there is room))?"
    r"|low priority|run[- ]anytime|no deadline|when(?:ever)? it fits",
    "first-ready": r"first[- ]ready|first (?:free|available)(?: site| one)?|whichever is (?:free|ready) first"
    r"|(?:the )?first (?:site|machine|place|center|centre|cluster|one) (?:that|which|to) (?:says?|answers?|accepts?)"
    r"(?: yes| ok)?|(?:whichever|whoever|wherever) (?:(?:site|machine|center|centre|place|one) )?(?:says"
    r"|answers|accepts)"
    r" (?:yes )?first|any site that is ready|(?:whichever|whatever|wherever|where|the one that|the site that)"
    r" (?:(?:one|site"
    r"|machine|cluster|place) )?"
    r"(?:(?:frees|opens) up|becomes (?:free|available)|is (?:free|available)|has (?:room|space|a slot|capacity)"
    r"|(?:gets|is) ready"
    r"|responds|answers) (?:first|soonest|earliest)"
    r"|first (?:site|one|machine) (?:that is|that's|which is|to be) (?:ready|free|available)",
    "random": r"random(?:ly)?(?: site| choice)?",
}  # fmt: skip
URGENT = (
    r"(?<![\w-])(?:(?:this |it )?(?:is |must |has to |needs to |should )?(?:start |run |begin |be |started )?"
    r"(?:right now|right away|immediately|(?<!\d )(?<!running )(?<!run )at once"
    r"|(?<=start )now|(?<=run )now|(?<=begin )now|(?<=it )now(?= ?[.!]|$)|(?<=needed )now"
    r"|very urgent(?:ly)?|urgent(?:ly)?|sofort"
    r"|dringend|tout de suite"
    r"|instantly|(?:and )?without (?:any )?(?:queue|queueing|waiting|delay)(?: (?:time )?in (?:a|the|any) queue)?"
    r"|(?:has|have|needs?|must|ought|got|gotta|going)(?: to)? (?:go|run|start|be started|be run) (?:out )?now"
    r"|now,? not later|this very (?:minute|moment|instant)|as a matter of urgency|unverzüglich|umgehend|on the spot"
    r"|(?:an? |the )?immediate (?:start|execution|run|launch)(?: (?:is|would be))?(?: (?:mandatory|needed"
    r"|required|requested"
    r"|necessary|essential|a must|wanted|demanded|vital|imperative))?|c'est (?:très )?urgent|en urgence|d'urgence"
    r"|immédiatement|it (?:is|'s) (?:an|a real) emergency|es eilt(?! not| nicht)(?: sehr)?"
    r"|eilt(?: sehr)?(?= ?[.,;!]|$)))(?![\w-])"
)
_SAYS_NO = re.compile(r"(?:no|not|nothing|without|rien|aucune?|nichts?|isn't|hardly|pas)\b")
_NOT_URGENT = re.compile(
    r"(?:not|n't|never|no|nothing|rien|aucune?|pas|kein\w*|nichts?|neither|nor|hardly|isn't|ne)"
    r"(?: (?:really|so|at all|very|too|particularly|exactly|terribly|that|an?|is|be|to|si|très|de|des|any"
    r"|in)){0,3}(?: d')? ?$"
)
"""Before a word of urgency, what turns it round."""
_MONEY = {
    "$": "USD",
    "usd": "USD",
    "dollars": "USD",
    "us dollars": "USD",
    "us dollar": "USD",
    "dollar": "USD",
    "us$": "USD",
    "€": "EUR",
    "eur": "EUR",
    "euros": "EUR",
    "euro": "EUR",
}
_HOURS = r"(?P<hours>(?:node|core|cpu|gpu)[- ]?(?:hours?|hrs?|h))"
_LIMIT = (
    r"(?:(?:with |on |a |the |my |our |and |but |for |at ){0,6}(?:budget|cost|costs|price|spend(?:ing)?|charge"
    r"|limit)(?: limit| cap| maximal| maximum| most)?(?: is| of|:| ?=)? ?)?"
    r"(?:(?:please |must |should |can |can't |do |don't |not |never ){0,4}"
    r"(?:cost |costs |costing |spend |pay |use |go |burn |keep |stay |remain |be |is ){0,2}"
    r"(?:it |this |the costs? |me |us )?(?:more than|over|above|beyond|at more|under|below|less than"
    r"|no more than|(?:ne )?not more (?:than|as|of)|at most(?: of)?|max(?:imum|imal)?\.?(?: of)?|up to"
    r"|within|for|<=?|≤|cheaper than"
    r"|not exceed(?:ing)?|limit(?:ed to)?|not over|at) ?)?"
)
BUDGET = (
    rf"(?<![\w-])(?P<lead>{_LIMIT})(?:(?P<sign>us\$|[$€]|usd(?= ?\d)"
    rf"|eur(?= ?\d)) ?(?P<a>{NUMBER.replace('(?<![', '(?<![')})"
    rf"|(?P<b>{NUMBER}) ?-?(?:(?P<money>us\$|us dollars?|\$|€|usd|eur|euros?|dollars?)"
    rf"|{_HOURS}))(?![\w-])(?: (?:budget"
    rf"|in total|max(?:imum)?|at (?:the )?(?:very )?most|limit|(?:as (?:a |the )?)?(?:an? |the )?(?:hard|strict"
    rf"|absolute|firm)"
    rf" (?:cap|limit|maximum|ceiling)|cap|ceiling|tops))?(?:,? (?:which )?(?:must|may|should|shall|can) (?:not"
    rf"|never) be"
    rf" (?:exceeded|overspent|overrun|passed|surpassed)|,? (?:which )?(?:must|may"
    rf"|should) not (?:be )?exceed(?:ed)?(?= ?[.,;)]|$))?"
)
BARE_BUDGET = (
    rf"(?<![\w-])(?:a |my |the |with |within ){{0,6}}budget(?: is| of|:| ?=)? ?(?P<n>{NUMBER})(?: ?h(?:ours?)?)?"
    r"(?![\w%:-]|\.\w)"
)
SPENT_HOURS = (
    rf"(?<![\w-])(?:spend|burn|pay)(?: at most| up to| no more than| not more than| only)? (?P<n>{NUMBER}) ?(?:h"
    rf"|hours?)"
    r"(?: (?:on|for) (?:this|it|that))?(?![\w-])"
)
COMPUTE_HOURS = (
    rf"(?<![\w-]){_LIMIT}(?P<n>{NUMBER}) ?(?:h|hrs?|hours?)(?: of (?:compute|computing|cpu)(?: time)?"
    r"(?: (?:in|of|from) (?:the |our |my )?(?:budget|allocation))?| (?:in|of|from|as|for) (?:the |our |my |its "
    r"|a )?(?:budget"
    r"|allocation))(?![\w-])"
)
NO_REQUEUE = (
    r"(?<![\w-])(?:(?:please |and |but |must |should ){0,3}(?:do not|don't|never|not|no)(?: be| to be)?"
    r" (?:(?:restart(?:s|ed)?|requeue)/)?(?:re-?queue(?:d|ing)?)(?: it| this| the job)?(?:/(?:restart(?:s|ed)?))?"
    r"(?: (?:if|when|after) (?:a |the |one |it )?(?:nodes? )?(?:dies|die|fails?|crash(?:es)?|goes down|is lost))?"
    r"|not re-?queu(?:e?able)|re-?queue(?:ing)?[:=]? ?(?:no|false|off|not (?:ok|okay|allowed|wanted)|is not (?:ok"
    r"|okay|allowed)|forbidden))(?![\w-])"
)
REQUEUE = (
    r"(?<![\w-])(?:(?:it |this |the job )?(?:can|may|should|must) be re-?queued|you (?:may|can"
    r"|should) re-?queue(?: it)?|please re-?queue(?: it)?|(?:allow|let|permit) (?:it|this"
    r"|the job)(?: to)? be re-?queued"
    r"|(?:allow|permit) re-?queu(?:e?ing|es?)|re-?queue?ing (?:it )?(?:is|would be) (?:fine|ok|okay|allowed)"
    r"|re-?queue(?: it)?(?= (?:if|when|after|on))|re-?queueable|re-?queue[:=]? ?(?:yes|true|on|ok|okay|fine|allowed"
    r"|possible|is (?:ok|okay|fine|allowed)))"
    r"(?: (?:if|when|after|on)(?: it| is| was| gets| a| node){0,3} (?:preempt\w*|fail\w*|interrupt\w*"
    r"|kill\w*))?(?![\w-])"
)
_NODE_DIES = (
    r"(?:(?:if|when|should|in case|after) (?:an?|any|one|the|some) (?:compute )?nodes? (?:dies|die|fails?"
    r"|crash(?:es)?|breaks"
    r"|goes (?:down|away)|is lost))"
)
REQUEUE_THEN = (
    rf"(?<![\w-])(?P<lead>(?:(?:i|we|to|not|never|was|were|had|have) ){{1,3}})?(?:{_NODE_DIES},? (?:(?:just|please"
    rf"|then|simply"
    rf"|you (?:may|can|should)) ){{0,3}}re-?queue(?: (?:it|them|this|(?:the|this|these|those|all) (?:jobs?|runs?"
    rf"|tasks?)))?"
    rf"|(?:(?:just|please|then|simply) ){{0,3}}re-?queue (?:them|(?:the|this|these|those|all) (?:jobs?|runs?"
    rf"|tasks?)) {_NODE_DIES}"
    r")(?![\w-])"
)
LEFT = (
    rf"(?<![\w-])(?:(?:we|i|there|our|my|the|project|group|grant|account|allocation|budget|only|just|about|some"
    rf"|still) ){{0,5}}"
    rf"(?:(?:(?:have|has|had|holds?|are|is|got|remain|remains)(?: still| only| about| some| just)? )?{NUMBER} ?"
    rf"(?:us\$|\$|€|usd|eur|euros?|dollars?|{_HOURS.replace('(?P<hours>', '(?:')})"
    rf"(?: (?:are|is|were|that are|which are))?(?: (?:still|only|just))? (?:left(?: over)?|remaining|available"
    rf"|unspent|unused|to our name"
    rf"|remain|in (?:the|our|my) (?:account|allocation|grant|project|pot|bank)))"
    rf"(?: (?:in|on|of|for|until|till) (?:the|our|my|this) (?:[a-z]+ )?[a-z]+)?(?![\w-])"
)
"""What is still there to be spent, which is no bound of this job where another amount is."""
_UNIT_OF_SPENDING = rf"(?:us\$|\$|€|usd|eur|euros?|dollars?|{_HOURS.replace('(?P<hours>', '(?:')})"
SPENT = (
    rf"(?<![\w-])(?:(?:have|has|had|'ve|already|we|i|it|they|that|run|runs|job|previous|last|previously) ){{1,5}}"
    rf"(?:used(?: up)?|spent|consumed|burn(?:t|ed)(?: up)?|wasted|cost|eaten|paid)(?: (?:already|about|around"
    rf"|roughly|some"
    rf"|nearly|almost|up)){{0,2}} {NUMBER} ?{_UNIT_OF_SPENDING}(?: (?:already|so far|until now|before|last [a-z]+"
    rf"|this [a-z]+"
    rf"|yesterday|in [a-z]+|on (?:it|that)))?(?![\w-])"
    rf"|(?<![\w-])(?:our |my |the )?(?:budget|cost|price"
    rf"|consumption) was {NUMBER} ?{_UNIT_OF_SPENDING}(?: (?:last|in|before"
    rf"|earlier)(?: [a-z]+)?)?(?![\w-])"
)
"""What was spent before, which bounds nothing."""
SHARE = (
    rf"(?<![\w.-])(?P<n>{NUMBER}) (?:out )?of (?:our|the|my|these|those|its|all)(?: remaining| last| total)? {NUMBER}"
    rf" ?(?:(?P<money>us\$|\$|€|usd|eur|euros?|dollars?)|{_HOURS})(?![\w-])(?: (?:may|can) be (?:used|spent))?"
)
"""`500 of our 2000 core-hours`: the first is meant."""
SUM = r"budget(?: is| of|:| ?=)? ?"


def _left_over(draft: Draft) -> None:
    """Take what is left in an account as background where another amount bounds the job; what was spent is told."""
    for match in draft.line.find(SPENT):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    for match in draft.line.find(SHARE):
        values, unit = amounts_of(match["n"]), _unit(match["money"], match["hours"])
        if len(values) == 1 and values[0] > 0:
            draft.put("budget", Budget(amount=values[0], unit=unit), *match.span())  # type: ignore[arg-type]  # from the tables
    amounts = [match.span() for match in draft.line.find(BUDGET)]
    for match in draft.line.find(LEFT):
        if any(end <= match.start() or start >= match.end() for start, end in amounts):
            draft.default(f"{draft.words(*match.span()).strip()!r} is what is there, not the budget of this job")
            draft.line.claim(*match.span())


def _unit(money: str | None, hours: str | None) -> str:
    named = re.sub(r"[- ]?(?:hours?|hrs?|h)$", "-hours", hours or "").replace("cpu", "core")
    return _MONEY.get(money or "") or named


_BILL = re.compile(
    r"(?<![\w-])(?:bills?|invoices?|refunds?|receipts?|fees?|prizes?|awards?|salar(?:y|ies)|deposits?|fines?"
    r"|donations?|tickets?)"
    r"(?: (?:of|was|is|over|for|from|last|about|were|are)){0,3} $"
)
"""Before an amount of money that is none of the job's."""
_AT_LEAST = re.compile(r"(?:at least|no less than|not less than|more than|minimum(?: of)?|min\.) $")
_NO_LESS = re.compile(r"(?<![\w-])(?:not?|never) (?:[a-z]+ )?(?:less than|below|under) ?$")
_OVER = re.compile(r"(?<![\w-])(?:more than|over|above|beyond|exceed(?:s|ing)?) ?$")
_BOUNDED = re.compile(
    r"(?<![\w-])(?:no|not|[a-z]*n't|never|without|nicht|nichts|kein\w*|ne|pas|cannot|nothing|nor|neither|none|avoid\w*"
    r"|hardly)(?![\w-])"
)
PRICE = (
    rf"(?<![\w.])(?:about |at most |under |less than |no more than |~ ?)?(?:(?:us\$|\$|€|usd|eur) ?{NUMBER}|{NUMBER} ?"
    r"(?:us\$|\$|€|usd|eur|euros?|dollars?|cents?)) ?(?:per|an?|/|each|every|the) ?(?:(?:core|node|gpu|cpu|card)[ -]?)?"
    r"(?:hours?|h|days?|weeks?|months?|years?)(?![\w-])(?: at most| max(?:imum)?)?"
)
"""`0.5 EUR per core-hour`: a price, which bounds no job as a whole."""


def read_wishes(draft: Draft) -> None:
    """Find objective, urgency and budget."""
    for match in draft.line.find(PRICE):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    _left_over(draft)
    for match in draft.line.find(BUDGET):
        number = match["a"] or match["b"]
        unit = _unit(match["sign"] or match["money"], match["hours"])
        values = amounts_of(number)
        if len(values) == 2 and draft.line.foreign and "," not in number:
            values = values[:1]  # `1.500 Kernstunden`
        label = draft.words(*match.span())
        number_at = match.start("a") if match["a"] else match.start("b")
        least = _AT_LEAST.search(draft.line.open[max(0, match.start() - 24) : match.start()])
        if _NO_LESS.search(match["lead"]) or _BILL.search(draft.line.norm[max(0, match.start() - 40) : number_at]):
            draft.unread.append(label)
            draft.line.claim(*match.span())
        elif least is not None:
            draft.unread.append(draft.words(match.start() - len(least[0]), match.end()))
            draft.line.claim(match.start() - len(least[0]), match.end())
        elif _OVER.search(match["lead"]) and not _BOUNDED.search(
            draft.line.norm[max(0, match.start() - 40) : number_at]
        ):
            draft.unread.append(label)  # `over 100 EUR is fine`
            draft.line.claim(*match.span())
        elif len(values) == 1 and values[0] > 0:
            draft.put("budget", Budget(amount=values[0], unit=unit), *match.span())  # type: ignore[arg-type]  # from the tables
        elif len(values) == 2:
            options = [
                Option(label=f"{v:g} {unit}", patch={"budget": {"amount": v, "unit": unit}}) for v in values if v > 0
            ]
            draft.ask("budget", *match.span(), f"{label!r}: which amount is meant?", options)
    for match in (found for rule in (SPENT_HOURS, COMPUTE_HOURS, BARE_BUDGET) for found in draft.line.find(rule)):
        values = amounts_of(match["n"])
        options = [
            Option(label=f"{value:g} {unit}", patch={"budget": {"amount": value, "unit": unit}})
            for value in values[:1] if value > 0 for unit in ("node-hours", "core-hours", "gpu-hours", "USD", "EUR")
        ]  # fmt: skip
        draft.ask("budget", *match.span(), f"{draft.words(*match.span())!r}: in which unit?", options)
    for match in draft.line.find(NO_REQUEUE):
        draft.fields["requeue"] = False
        draft.source("requeue", *match.span())
    for match in draft.line.find(REQUEUE_THEN):
        if not match["lead"]:
            draft.put("requeue", True, *match.span())
    for match in draft.line.find(REQUEUE):
        draft.put("requeue", True, *match.span())
    for name, words in OBJECTIVES.items():
        for match in draft.line.find(
            rf"{_LEAD}(?:{words})(?![\w-])(?: please| possible|(?: is| would be)? (?:preferred|preferable|best"
            rf"|nice))?"
        ):
            if name == "run-anytime" and _SAYS_NO.match(match[0]) and "objective" not in draft.fields:
                draft.fields["objective"] = name  # `no hurry` is what is said, not what is denied
                draft.source("objective", *match.span())
                continue
            draft.put("objective", name, *match.span(), label=name)
    for match in draft.line.find(URGENT):
        if _NOT_URGENT.search(draft.line.norm[max(0, match.start() - 40) : match.start()]):
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            continue
        if draft.line.norm[: match.start()].endswith((" free ", " available ", " idle ", " open ", " empty ")):
            continue  # `where would 512 cores be free right now?`
        if "at once" in match[0] and is_together(draft, match):
            continue
        if "without" in match[0]:  # no waiting, which is what is wanted
            draft.fields["urgent"] = True
            draft.source("urgent", *match.span())
            continue
        draft.put("urgent", True, *match.span())
