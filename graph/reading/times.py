"""How long: walltimes in every form that people and schedulers use; asked back where a form means two things."""

from __future__ import annotations

import re
from datetime import UTC, timedelta

from graph.reading.draft import Draft
from graph.reading.durations import DURATION, ONE, UNIT, WORDED, duration_seconds
from graph.reading.line import pattern
from graph.reading.numbers import NUMBER
from graph.reading.reading import Option
from graph.reading.time_sense import is_a_dimension, is_no_walltime

__all__ = ["read_times"]

_INTRO = (
    r"(?:(?P<intro>(?:will |must |should |shall )?(?:stop|kill|end|finish|ends|stops|finishes|terminates|abort"
    r"|terminate|cut|cancel)(?: it| this| the job| everything)?(?: off)? (?:after"
    r"|at) "
    r"|(?:the |a |with |and |my |requested |estimated |maximum "
    r"|max\.? ){0,6}(?:wall[ -]?(?:clock )?time(?: limit)?"
    r"|time[ -]?limit|run ?time|runtime|duration|time|wallclock|limit|walltime_s)"
    r"(?: of| is|:| ?=|\.|ing)? ?) ?)?"
)
_MODE = (
    r"(?:(?P<mode>at more|not (?:over|above)|(?:not |never )(?:take |run |last |be |need |require |use )?(?:longer"
    r"|more) (?:than|as|of)"
    r"|(?:not )?exceed(?:ing)?|at least|at most|up to|max(?:imum)?\.?(?: of)?|no more than|not more than"
    r"|no longer than"
    r"|not longer than"
    r"|less than|under|min(?:imum)?\.?(?: of)?|no less than|for|about|around|roughly|approximately|approx\.?|~"
    r"|<=?|>=|lasting|over"
    r"|takes|take|taking|needs|within|in|after|every) ?){0,3}"
)
_ENDLESS = (
    r"(?P<endless>unlimited|infinite|infinity|no (?:time |walltime |wall ?time )?limit|without (?:a "
    r"|any )?(?:time |walltime )?limit"
    r"|unbounded|0+(?::00){0,2}(?![\w:-]|[.,]\d))"
)
RULE = (
    rf"(?<![\w-]){_INTRO}{_MODE}(?P<time>{DURATION})(?P<after> (?:walltime|wall[ -]?clock(?: time)?|wall time"
    rf"|max(?:imum)?|limit|of (?:walltime|runtime|compute time|time)|at most|or less|or under|or fewer|maximum|tops"
    rf"|long|runtime|run|from now"
    rf"|(?:per|for each|for every) (?:task|run|job|element|case|array task|member|sample|point|simulation)"
    rf"|apiece)(?![\w-]))?"
)
ENDLESS_RULES = (
    rf"(?<![\w-])(?P<intro>(?:wall[ -]?(?:clock )?time|time[ -]?limit|run ?time|runtime|duration|time"
    rf"|limit)(?: of| is|:| ?=)? ?(?:is |to )?){_ENDLESS}(?: time| walltime)?",
    r"(?<![\w-])(?P<endless>unlimited(?! budget)|infinite|no (?:time |walltime "
    r"|wall ?time )limit)(?: (?:wall ?time|time|runtime|duration|walltime))?(?![\w-])",
    r"^(?P<endless>0)$",
)


RANGE = (
    rf"(?<![\w-])(?:for |takes |within )?(?:between |from |anywhere from )?(?P<low>{NUMBER})"
    rf"(?: ?(?P<unit0>{UNIT}))?(?: ?(?:-|\u2013) ?| to | and )(?P<high>{NUMBER}) ?(?P<unit>{UNIT})(?![\w-])"
    r"(?: (?:long|each|walltime|run ?time))?"
)
_LEAST_BEFORE = re.compile(r"(?<![\w-])(?:minimum|minimal|min\.?|least) $")
_TAKES = re.compile(
    r"(?:will|should|would|'ll|ought to|normally|usually|is|are|gets) (?:be |usually |normally )?(?:finished|finish"
    r"|done|over|ready|through|completed?|ends?"
    r"|run|take)s? $|(?<![\w-])(?:finishes|completes) $"
)
_EXECUTED = re.compile(
    r"(?:to be|be|is|are|being|gets?) (?:executed|run|computed|calculated|processed|performed|carried out|simulated"
    r"|solved|rendered|trained|evaluated|accomplished)(?! (?:and|or|,|with)? ?(?:done|finished|ready|over))"
    r"(?: (?!(?:results?|finished|done|ready|deadline|delivered|back|complete[ds]?|through|ended|available"
    r"|must)\b)[^\s.;!?]+){2,20} $"
)
"""A passive of execution with what it is executed by or on, before `within 3 hours`: then they are its run time."""
_TOOK = re.compile(
    r"(?:(?:has|have|had|'s|been)(?: been)? [a-z]+ing|took|taken|lasted|ran for|ran|used to (?:take|run|need)"
    r"|last time it was)"
    r"(?: (?:us|me|him|her|them|about|around|roughly|for|up to|over|nearly|almost)){0,4} $"
)
VAGUE = (
    r"(?<![\w-])(?:overnight|(?:a )?(?:few|several|couple of|couple|handful of|some) (?:hours|days|minutes"
    r"|weeks)"
    r"|(?:for |takes? )(?:an?|the|this|1) (?:(?:whole|full|entire|long) )?weekend)(?![\w-])"
)
_SOME_TIME = rf"(?:{WORDED}|{ONE})"
FROM_NOW = (
    rf"(?<![\w-])(?:(?P<before>by|before|(?:no|not) later than|until)|not before|(?:no|not) (?:earlier"
    rf"|sooner) than|after"
    rf"|earliest:?|starting(?: in)?|start(?:s|ed)? (?:in|after)) (?:about |around |roughly )?(?P<time>{_SOME_TIME})"
    rf" from (?:now|today)(?![\w-])"
    rf"|(?<![\w-])(?:start|starting|begin|beginning)(?: it| the job"
    rf"| running)? (?:only )?in (?P<time2>{_SOME_TIME})(?![\w-])"
)
"""A moment that is reckoned from now."""
STARTS_WITHIN = (
    rf"(?<![\w-])(?:start|starts|started|starting|begin|begins|beginning)(?: it| the job"
    rf"| running)? within {_SOME_TIME}"
    r"(?: from now)?(?![\w-])"
)
UNTIL_DONE = r"(?<![\w-])until (?:it is|it's|they are|it has|everything is) (?:done|finished|through|complete)(?![\w-])"
AT_LEAST_AT_MOST = (
    rf"(?<![\w-])(?:for )?at least (?P<low>{NUMBER}) ?(?P<unit>{UNIT})?,? (?:but|and) (?:no more than|not more than"
    rf"|at most|max)"
    rf" (?P<high>{NUMBER}) ?(?P<unit2>{UNIT})?(?![\w-])"
)
_SPAN = rf"{NUMBER} ?-?{UNIT}(?![\w-])"
_ENOUGH = (
    r"(?:(?:is|are|would be|would|will be|will|may be|can be|suffices?|do|does)(?: also| still| just)? ?)?"
    r"(?:acceptable|ok|okay|fine|enough|sufficient|tolerable|needed|required|necessary|mandatory|suffice|do|work"
    r"|too|as well|alright|all right|possible)?(?: too| as well| also)?"
)
_BEST = (
    r"(?:preferred|preferable|ideal|best|desired|desirable|wanted|wished for|optimal|nice|better|perfect|great"
    r"|welcome)"
)
_LEAST = (
    r"(?:no less than|not less than|no shorter than|not under|no fewer than|at least|(?:a "
    r"|the )?min(?:imum)?\.?(?: of)?"
    r"|>=?|not below)"
)
_BUT = r"(?: ?[,;]?)(?: (?:but|and|though|yet|while|although|with|or|otherwise|if not|however),?){0,2}"
PREFERRED = (
    rf"(?<![\w-])(?:(?:an? |the )?(?:walltime|run ?time|duration|time(?: limit)?"
    rf"|limit) of )?(?P<high>{_SPAN})(?: of walltime)?"
    rf" (?:is|are|would be|being|will be) {_BEST}{_BUT} (?P<least>{_LEAST} )?(?P<low>{_SPAN})"
    rf"(?: (?:is|are|as) (?:the |a )?(?P<minimum>min(?:imum)?|least))?(?: {_ENOUGH})?(?![\w-])",
    rf"(?<![\w-])(?:preferably|ideally|if possible|best"
    rf"|at best),? (?:for )?(?P<high>{_SPAN}){_BUT} (?P<least>{_LEAST} )?"
    rf"(?P<low>{_SPAN})(?: (?:is|are|as) (?:the |a )?(?P<minimum>min(?:imum)?|least))?(?: {_ENOUGH})?(?![\w-])",
    rf"(?<![\w-])(?:walltime |run ?time |time |limit |with )?(?P<least>{_LEAST}) (?:walltime |run ?time "
    rf"|time )?(?:of )?(?P<low>{_SPAN})"
    rf"{_BUT} (?:preferably|ideally|better|best|(?:a |the )?max(?:imum)?\.?(?: walltime| run ?time| time)?(?: of)?)"
    rf" (?P<high>{_SPAN})(?![\w-])(?P<minimum>)",
)
"""The time that is wanted and the least that would do: `6 hours are preferred, but no less than 2 hours is fine`."""
MORE = rf"(?<![\w.,-])(?:{NUMBER}|an?) (?:more|additional|extra|further|weitere) (?:hours?|minutes?|days?)(?![\w-])"
_OF_A_PART = re.compile(
    r" ?(?:per|each|for each|for every|every|an?|/) (?:single )?(?:iteration|epoch|(?:time ?)?step|frame|image|batch"
    r"|sample point|generation|cycle|loop|pass|file|dataset|query|request|night|day|week|month|year|sweep|fold|part"
    r"|stage|phase|chunk|tile|picture|scene|event|item|record)s?(?![\w-])"
)
"""What a duration behind it is spent on, which is not the whole job."""
UNIT_FIRST = (
    r"(?<![\w-])(?<!\d )(?P<unit>hours|hrs|minutes|mins|days) ?[:=]? ?(?P<n>\d{1,5})(?= ?(?:[,;)\x00]|\.(?!\d)|$))"
)
UNITLESS = (
    r"(?<![\w-])(?:wall[ -]?time(?: limit)?|time[ -]limit|run ?time|max(?:imum)?\.? (?:run ?)?time|time)"
    r"(?: of| is|:| ?=)? ?(?P<n>\d{1,5})(?= ?(?:[,;)\x00]|\.(?!\d)|$))"
)


_DONE = re.compile(
    r"(?:must|has to|have to|needs? to|should|results?|i need|we need)(?: (?:the|it|job|results?|to|be|is|are"
    r"|have)){0,5} "
    r"(?:complete|completed|finish|finished|done|ready|over|results?|delivered)[ ]$"
)


_PART_OF = re.compile(
    r"(?:thirds?|quarters?|fourths?|fifths?|tenths?|eighths?|sixths?|half|halves|part|fraction|most|rest|couple|few"
    r"|dozens?|%) of $|(?<![\d.])\d/$"
)

_OF_A_RUN = re.compile(r" (?:or |walltime|wall|of (?:wall|run|compute))")
_ITS_LIMIT = re.compile(r"'s? (?:time(?: limit)?|limit|walltime|runtime)(?![\w-])")


def read_times(draft: Draft) -> None:
    """Find the walltime; a range of them (`at least 1 h, at most 3 h`) gives `walltime_min_s` too."""
    for rule in ENDLESS_RULES:
        for match in draft.line.find(rule):
            draft.default(
                f"{draft.words(*match.span())!r}: no time limit is asked for; sites apply their own, so set one"
            )
            draft.source("walltime_s", *match.span())
    for match in draft.line.find(rf"(?<![\w-])(?:with)?in the next (?P<time>{ONE})(?: from now)?(?![\w-])"):
        values = duration_seconds(match["time"])
        if len(values) == 1:
            by = draft.now + timedelta(seconds=values[0])
            draft.put("deadline", by.astimezone(UTC), *match.span())
    for match in draft.line.find(FROM_NOW):
        values = duration_seconds(match["time"] or match["time2"])
        if len(values) == 1:
            moment = (draft.now + timedelta(seconds=values[0])).astimezone(UTC)
            draft.fields.setdefault("deadline" if match["before"] else "start_after", moment)
            draft.source("deadline" if match["before"] else "start_after", *match.span())
    for match in draft.line.find(STARTS_WITHIN):
        draft.unread.append(draft.words(*match.span()))  # a latest start, which no site can be asked for
        draft.line.claim(*match.span())
    for match in draft.line.find(UNTIL_DONE):
        draft.line.claim(*match.span())
    for match in draft.line.find(AT_LEAST_AT_MOST):
        if not match["unit"] and not match["unit2"]:
            continue
        low = duration_seconds(f"{match['low']} {match['unit'] or match['unit2']}")
        high = duration_seconds(f"{match['high']} {match['unit2'] or match['unit']}")
        if len(low) == len(high) == 1 and 0 < low[0] < high[0]:
            draft.fields["walltime_min_s"] = low[0]
            draft.put("walltime_s", high[0], *match.span())
    _preferred(draft)
    for match in draft.line.find(MORE):
        draft.ask("walltime_s", *match.span(), f"{draft.words(*match.span())!r}: how long at most altogether?", [])
    for match in draft.line.find(RANGE):
        low = duration_seconds(f"{match['low']} {match['unit0'] or match['unit']}")
        high = duration_seconds(f"{match['high']} {match['unit']}")
        joined = " and " in match[0] and "between" not in match[0]  # `4 nodes and 2 hours`
        if len(low) == len(high) == 1 and 0 < low[0] < high[0] and not joined and not draft.negated(*match.span()):
            draft.fields["walltime_min_s"] = low[0]
            draft.put("walltime_s", high[0], *match.span())
    for match in draft.line.find(RULE):
        _take(draft, match)
    if "walltime_s" not in draft.fields:
        for match in draft.line.find(VAGUE):
            draft.ask("walltime_s", *match.span(), f"{draft.words(*match.span())!r}: how long at most?", [])
    for match in draft.line.find(UNIT_FIRST):
        values = duration_seconds(f"{match['n']} {match['unit']}")
        if len(values) == 1:
            draft.put("walltime_s", values[0], *match.span())
    for match in draft.line.find(UNITLESS):
        count = int(match["n"])
        options = [
            Option(label=f"{count} {unit}", patch={"walltime_s": count * size})
            for unit, size in (("minutes", 60), ("hours", 3600)) if count
        ]  # fmt: skip
        draft.ask("walltime_s", *match.span(), f"{draft.words(*match.span())!r}: minutes or hours?", options)


def _preferred(draft: Draft) -> None:
    for match in (found for rule in PREFERRED for found in draft.line.find(rule)):
        low, high = duration_seconds(match["low"]), duration_seconds(match["high"])
        if len(low) == len(high) == 1 and 0 < low[0] < high[0] and "walltime_s" not in draft.fields:
            draft.fields |= {"walltime_min_s": low[0], "walltime_s": high[0]}
            draft.stated_at["walltime_s"] = match.end()
            draft.source("walltime_s", *match.span())


def _take(draft: Draft, match: re.Match[str]) -> None:
    start, end = match.span()
    if _PART_OF.search(draft.line.norm[max(0, match.start("time") - 24) : match.start("time")]):
        return  # `two thirds of an hour`, `7/8 hour`: a part of it, which is not reckoned
    if is_a_dimension(draft, match):
        return
    if _TOOK.search(draft.line.norm[max(0, start - 40) : match.start("time")]):
        draft.unread.append(draft.words(start, end))  # how long another run took
        draft.line.claim(start, end)
        return
    part = _OF_A_PART.match(draft.line.norm, match.end("time"))
    if part and not (match["intro"] or ("array" in draft.fields and "day" not in part[0])):
        draft.unread.append(draft.words(start, part.end()).strip())  # of one step of many
        draft.line.claim(start, part.end())
        return
    mode = match["mode"] or ""
    values = duration_seconds(match["time"])
    words = draft.words(*match.span("time"))
    if mode in ("within", "in", "after", "every"):
        if mode == "within" or mode == "in":
            seconds = values[0] if values else 0
            by = draft.now + timedelta(seconds=seconds)
            before = draft.line.norm[max(0, start - 60) : start]
            if len(values) == 1 and (_OF_A_RUN.match(match["after"] or "") or _ITS_LIMIT.match(draft.line.norm, end)):
                draft.put("walltime_s", seconds, start, end)
                return
            if _TAKES.search(before) and len(values) == 1:
                draft.put("walltime_s", seconds, start, end)
                return
            if _EXECUTED.search(draft.line.norm[max(0, start - 160) : start]) and len(values) == 1:
                draft.default(f"{words!r}: taken as how long it runs")
                draft.put("walltime_s", seconds, start, end)
                return
            done = _DONE.search(before)
            if done and len(values) == 1:
                draft.put("deadline", by.astimezone(UTC), start - len(done[0]), end)
                return
            draft.ask(
                "walltime_s", start, end,
                f"Does {draft.words(start, end)!r} limit how long the job runs, or when it must be done?",
                [Option(label="it runs at most that long", patch={"walltime_s": seconds}),
                 Option(label="it must be finished by then", patch={"deadline": by.isoformat()})],
            )  # fmt: skip
        return
    values = tuple(value for value in values if value > 0)
    if len(values) == 0 or is_no_walltime(draft, match, values[0]):
        return
    if len(values) > 1:
        from dragoman.units import format_duration

        options = [Option(label=format_duration(value), patch={"walltime_s": value}) for value in values]
        draft.ask(
            "walltime_s", start, end, f"{words!r} can mean {' or '.join(o.label for o in options)}. Which?", options
        )
        return
    least = _LEAST_BEFORE.search(draft.line.norm[max(0, start - 12) : start]) is not None
    low = mode in ("at least", "no less than", ">=") or mode.startswith("min") or least
    preferred = any(pattern(ONE).search(words.lower()) for words in draft.unread)
    if low and preferred and "walltime_s" not in draft.fields:
        draft.ask("walltime_s", start, end, f"{draft.words(start, end)!r} at least: how long at most?", [])
        return
    if low and "walltime_s" not in draft.fields and not pattern(DURATION).search(draft.line.open, end):
        draft.default(f"{draft.words(start, end)!r}: that long is asked for")
        low = False
    draft.put("walltime_min_s" if low else "walltime_s", values[0], start, end)
