"""What the person prefers: cheapest, soonest, right now, and the most that may be spent."""

from __future__ import annotations

import re

from dragoman.request import Budget
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
    r"|costs? (?:the )?least"
    r"|(?:i |we )?(?:only |mostly |mainly )?(?:care|worry)(?: most)? about (?:the )?(?:price|costs?|money)"
    r"|(?:costs?|price) (?:should|must|shall|is to|has to) be (?:as (?:low|small|little) as possible|minimal"
    r"|minimi[sz]ed"
    r"|kept (?:low|to a minimum))"
    r"|price matters(?: most)?",
    "soonest": r"soonest(?: (?:possible|start))?|as soon as (?:possible|you (?:possibly )?can)|asap|a\.s\.a\.p\.?"
    r"|earliest(?! (?:[a-z]+ )?start (?:is|time|date|on|at|:))(?: possible)?(?: start)?"
    r"|as early as possible|as quick(?:ly)? as possible|as fast as possible|fastest(?: start| turnaround)?"
    r"|quickest(?: start)?"
    r"|quickly|minimi[sz]e (?:the )?wait(?:ing)?(?: time)?|shortest wait|(?:so (?:schnell|soon|early) wie möglich"
    r"|as possible (?:schnell|bald|früh))|schnellstmöglich"
    r"|dès que possible|first to start",
    "queue-depth": r"(?:the )?queue is (?:the )?(?:shortest|emptiest|least busy)"
    r"|(?:shortest|least busy|emptiest|shallowest) queue|least busy(?: site)?"
    r"|least[- ]loaded(?: site)?|queue[- ]depth",
    "min-energy": r"(?:energy|power|electricity)(?: consumption| use| usage)? (?:(?:should|must|shall|is to"
                  r"|has to) be )?"
    r"(?:as (?:low|small|little) as possible|minimal|minimi[sz]ed|kept (?:low|to a minimum))"
    r"|(?:as possible |so )?(?:wenig (?:energie|strom)\w*|(?:strom|energie)sparend\w*|économe en énergie)"
    r"|as little (?:energy|power|electricity) as possible|greenest"
    r"|(?:needs|uses|takes) (?:the )?least (?:energy|power|electricity)"
    r"|least energy|lowest (?:energy|carbon|emissions?)(?: use| consumption| footprint)?|min[- ]energy"
    r"|minimi[sz]e (?:the )?(?:energy|carbon)(?: use| footprint)?|most energy[- ]efficient",
    "run-anytime": r"any ?time|no (?:hurry|rush)|not urgent|whenever(?: (?:possible|convenient|there is room))?"
    r"|low priority|run[- ]anytime|no deadline|when(?:ever)? it fits",
    "first-ready": r"first[- ]ready|first (?:free|available)(?: site| one)?|whichever is (?:free|ready) first"
    r"|any site that is ready"
    r"|first (?:site|one|machine) (?:that is|that's|which is|to be) (?:ready|free|available)",
    "random": r"random(?:ly)?(?: site| choice)?",
}  # fmt: skip
URGENT = (
    r"(?<![\w-])(?:(?:this |it )?(?:is |must |has to |needs to |should )?(?:start |run |begin |be |started )?"
    r"(?:right now|right away|immediately|(?<!\d )(?<!running )(?<!run )at once"
    r"|(?<=start )now|(?<=run )now|(?<=begin )now|(?<=it )now(?= ?[.!]|$)|(?<=needed )now"
    r"|very urgent(?:ly)?|urgent(?:ly)?|sofort"
    r"|dringend|tout de suite"
    r"|instantly|without (?:any )?(?:queue|queueing|waiting)))(?![\w-])"
)
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
    r"|limit)(?: limit| cap)?(?: is| of|:| ?=)? ?)?"
    r"(?:(?:please |must |should |can |can't |do |don't |not |never ){0,4}"
    r"(?:cost |costs |costing |spend |pay |use |go |burn |keep |stay |remain |be |is ){0,2}"
    r"(?:it |this |the costs? |me |us )?(?:more than|over|above|beyond|at more|under|below|less than"
    r"|no more than|not more than|at most|max(?:imum)?\.?(?: of)?|up to|within|for|<=?|≤|cheaper than"
    r"|not exceed(?:ing)?|limit(?:ed to)?|not over|at) ?)?"
)
BUDGET = (
    rf"(?<![\w-])(?P<lead>{_LIMIT})(?:(?P<sign>us\$|[$€]) ?(?P<a>{NUMBER.replace('(?<![', '(?<![')})"
    rf"|(?P<b>{NUMBER}) ?-?(?:(?P<money>us\$|us dollars?|\$|€|usd|eur|euros?|dollars?)|{_HOURS}))(?![\w-])(?: (?:budget"
    rf"|in total|max(?:imum)?|at (?:the )?(?:very )?most|limit))?"
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
    rf"(?<![\w-]){_LIMIT}(?P<n>{NUMBER}) ?(?:h|hours?)(?: of (?:compute|computing|cpu)(?: time)?"
    r"(?: (?:in|of|from) (?:the |our |my )?(?:budget|allocation))?| (?:in|of|from|as|for) (?:the |our |my |its "
    r"|a )?(?:budget"
    r"|allocation))(?![\w-])"
)
NO_REQUEUE = (
    r"(?<![\w-])(?:(?:please |and |but |must |should ){0,3}(?:do not|don't|never|not|no)(?: be| to be)?"
    r" (?:(?:restart(?:s|ed)?|requeue)/)?(?:re-?queue(?:d|ing)?)(?: it| this| the job)?(?:/(?:restart(?:s|ed)?))?"
    r"(?: (?:if|when|after) (?:a |the |one |it )?(?:nodes? )?(?:dies|die|fails?|crash(?:es)?|goes down|is lost))?"
    r"|not re-?queu(?:e?able)|requeue[:=] ?(?:no|false|off))(?![\w-])"
)
REQUEUE = (
    r"(?<![\w-])(?:(?:it |this |the job )?(?:can|may|should|must) be re-?queued|you (?:may|can"
    r"|should) re-?queue(?: it)?|please re-?queue(?: it)?"
    r"|re-?queue(?: it)?(?= (?:if|when|after|on))|re-?queueable|requeue[:=] ?(?:yes|true|on))"
    r"(?: (?:if|when|after|on)(?: it| is| was| gets| a| node){0,3} (?:preempt\w*|fail\w*|interrupt\w*"
    r"|kill\w*))?(?![\w-])"
)
SUM = r"budget(?: is| of|:| ?=)? ?"


def read_wishes(draft: Draft) -> None:
    """Find objective, urgency and budget."""
    for match in draft.line.find(BUDGET):
        number = match["a"] or match["b"]
        unit = _MONEY.get(match["sign"] or match["money"] or "") or re.sub(
            r"[- ]?(?:hours?|hrs?|h)$", "-hours", match["hours"] or ""
        ).replace("cpu", "core")
        values = amounts_of(number)
        if len(values) == 2 and draft.line.foreign and "," not in number:
            values = values[:1]  # `1.500 Kernstunden`
        label = draft.words(*match.span())
        if len(values) == 1 and values[0] > 0:
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
    for match in draft.line.find(REQUEUE):
        draft.put("requeue", True, *match.span())
    for name, words in OBJECTIVES.items():
        for match in draft.line.find(
            rf"{_LEAD}(?:{words})(?![\w-])(?: please| possible|(?: is| would be)? (?:preferred|preferable|best|nice))?"
        ):
            draft.put("objective", name, *match.span(), label=name)
    for match in draft.line.find(URGENT):
        draft.put("urgent", True, *match.span())
