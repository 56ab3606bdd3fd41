"""What a duration is said of: the job, or a wait, the time in a model, or all runs of an array together."""

from __future__ import annotations

import re

from dragoman.request import ArraySpec
from graph.reading.draft import Draft
from graph.reading.reading import Option

__all__ = ["is_a_dimension", "is_no_walltime"]

_OF_A_WAIT = re.compile(
    r"(?<![\w-])(?:wait(?:s|ed|ing)?|delay(?:s|ed|ing)?|queue[ds]?|queue?ing|pending|postpone[ds]?|defer(?:red)?"
    r"|hold (?:it|this|the job)|warten|gewartet|wartezeit|attendre|attente)"
    r"(?: (?:it|this|the|job|start|run|time|for|by|at|most|up|to|max\.?|maximum|no|not|more|longer|than|about|around"
    r"|another|of|is|only|or|max\.? of|in|within|as|i|we|can)){0,6}[:=]? $"
)
_IN_THE_QUEUE = re.compile(
    r" ?(?:(?:at most|max(?:imum)?|or less) )?(?:(?:waiting|wait|queue|queue?ing)(?: time)?"
    r"|(?:in|of) (?:the |a |any )?(?:queue?ing|queue|waiting|wait|warteschlange|file d'attente)"
    r"(?: time(?!\w)|(?= ?(?:[,.;!?)]|$)))"
    r"|warten|wartezeit|gewartet)(?![\w-])"
)
_OF_A_MODEL = re.compile(
    r" (?:of |in )?(?:the )?(?:model|modell?ed|simulated|simulation|physical|real-world|biological|weather|climate"
    r"|video|audio|footage|film|speech|music|recorded|recordings?|sound|observation(?:al)?)(?: time)(?![\w-])"
    r"| of (?:(?:the|a|an|raw|hd|4k) ){0,2}(?:weather|climate|video|audio|footage|film|speech|music|recordings?|sound"
    r"|observations?|forecast|movies?|eeg|ecg|data)(?![\w-])"
)
_MORE_THAN = re.compile(
    r"(?<![\w-])(?:(?:longer|more|greater|bigger|larger|beyond|plus) (?:than|as|of|de|que)|> ?|above"
    r"|exceed(?:s|ing)?|(?:takes?|runs?|lasts?|needs?|well|time) over) ?(?:about |around |roughly )?$"
)
_BOUNDED = re.compile(
    r"(?<![\w-])(?:no|not|[a-z]*n't|never|without|nicht|nichts|kein\w*|ne|pas|cannot|nothing|nor|neither|none|avoid"
    r"|kill\w*|stop\w*|cancel\w*|abort\w*|terminat\w*|at(?= more))(?![\w-])"
)
_LASTS = re.compile(
    r"(?<![\w-])(?:time ?steps?|steps?|intervals?|cadence|resolution|sampling|films?|movies?|videos?|clips?"
    r"|recordings?|songs?|talks?"
    r"|lectures?|movements?|flights?|voyages?|cruises?|lead time|half-lives|half-life|storms?|events?|heatwaves?"
    r"|eruptions?)"
    r"(?: (?:of|is|are|was|were|last|lasts|lasting|took|takes)){1,2}(?: (?:about|around|only|some|exactly|up to))? $"
)
"""Before how long something else lasts."""
_IN_ALL = re.compile(
    r" ?,? ?\(?(?:in (?:total|all|sum)|altogether|total|overall|all together|combined|insgesamt|zusammen|en tout"
    r"|au total"
    r"|for (?:all|everything|the whole (?:array|lot|set)|all (?:of them|the runs|runs|jobs|tasks|together))"
    r"|summed(?: up)?)(?![\w-])"
)
_IN_ALL_BEFORE = re.compile(
    r"(?<![\w-])(?:in total|altogether|a total of|total|overall|all together|insgesamt"
    r"|total (?:time|walltime|run ?time)(?: of| is)?)[:,]? (?:of |about |for )?$"
)


def is_no_walltime(draft: Draft, match: re.Match[str], seconds: int) -> bool:
    """Tell or ask about a duration that is not how long the job may run; False for any other."""
    start, at, end = match.start(), match.start("time"), match.end("time")
    lead, behind = draft.line.norm[max(0, start - 60) : at], draft.line.open[end : end + 60]
    sentence = re.split(r"[;!?\n]|\.(?= )|,", lead)[-1]
    for rule in (_IN_THE_QUEUE, _OF_A_MODEL):
        if (found := rule.match(behind)) and not match["intro"]:
            _tell(draft, start, end + found.end())
            return True
    if _OF_A_WAIT.search(sentence) or (not match["intro"] and _LASTS.search(lead)):
        _tell(draft, start, match.end())
        return True
    words = draft.words(start, match.end())
    if lead.endswith("à "):
        draft.ask("walltime_s", start, match.end(), f"{words!r}: by the clock, or how long?", [])
        return True
    if _MORE_THAN.search(lead) and not _BOUNDED.search(sentence):
        draft.ask("walltime_s", start, match.end(), f"More than {words!r}: how long at most?", [])
        return True
    spec = draft.fields.get("array")
    if isinstance(spec, ArraySpec) and spec.size > 1 and (_IN_ALL.match(behind) or _IN_ALL_BEFORE.search(sentence)):
        each = -(-seconds // spec.size)
        options = [
            Option(label=f"each of the {spec.size} runs takes that long", patch={"walltime_s": seconds}),
            Option(label=f"each takes its share, {each} s", patch={"walltime_s": each}),
        ]
        draft.ask("walltime_s", start, match.end(), f"{words!r} in total: how long does each run take?", options)
        return True
    return False


_DIMENSION = re.compile(r"[1-4]-?[dD]")
_NO_NOUN = re.compile(
    r" (?:of|on|with|for|and|or|max\w*|limit|at|by|please|pls|each|per|in|total|using|run|runs|long|is|should|must"
    r"|wall|walltime"
    r"|time|runtime|to|from|via|under|apiece|only|tops|should|would|will|then|if|but|as|so|\d+)(?![\w-])"
)
_OF_A_THING = re.compile(r"(?<![\w-])(?:an?|the|our|my|this|that|full|fully|real|true|new|in|of|and|or|from) $")


def is_a_dimension(draft: Draft, match: re.Match[str]) -> bool:
    """Whether `3D` is how many dimensions a thing has, which is no time; claims it then, or asks."""
    written = draft.line.words(*match.span("time"))
    if not _DIMENSION.fullmatch(written) or match["intro"] or match["mode"] not in (None, "in"):
        return False
    start, end = match.span("time")
    behind = draft.line.norm[end : end + 24]
    noun = re.match(r" [a-z]{3,}", behind) is not None and not _NO_NOUN.match(behind)
    of_a_thing = _OF_A_THING.search(draft.line.norm[max(0, start - 12) : start]) is not None
    capital = written.endswith("D")
    if noun or match["mode"] == "in" or (capital and (of_a_thing or "-" in written)):
        draft.default(f"{written!r} is a number of dimensions, no time")
        draft.aside(start, end)
        return True
    if not capital:
        return False
    days = int(written[0])
    options = [
        Option(label=f"it runs at most {days} days", patch={"walltime_s": days * 86400}),
        Option(label="no time"),
    ]
    draft.ask("walltime_s", start, end, f"{written!r}: days, or how many dimensions?", options)
    return True


def _tell(draft: Draft, start: int, end: int) -> None:
    draft.unread.append(draft.words(start, end).strip())
    draft.line.claim(start, end)
