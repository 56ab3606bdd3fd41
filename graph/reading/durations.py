"""Durations in every form that people and schedulers write, and the seconds that each can mean."""

from __future__ import annotations

import math
import re

from graph.reading.numbers import NUMBER, amounts_of

__all__ = ["DURATION", "ONE", "UNIT", "WORDED", "duration_seconds"]

_UNITS = {
    "w": 604800, "week": 604800, "d": 86400, "day": 86400, "h": 3600, "hr": 3600, "hour": 3600,
    "m": 60, "min": 60, "minute": 60, "mn": 60, "s": 1, "sec": 1, "second": 1,
}  # fmt: skip
UNIT = r"(?:weeks?|w|days?|d|hours?|hrs?\.?|h|minutes?|mins?\.?|mn|m|seconds?|secs?\.?|s)"
_HALF = (
    r"(?:half an? (?:hour|day|minute)|half a week|(?:an? )?half[ -](?:hour|day)"
    r"|(?:(?:an?|1) )?quarter(?: of an?|-)? ?hour|(?:an? |1 )?quarter of an? day|3 quarters? of an? (?:hour|day)"
    r"|\d{1,3} and (?:a |1 |3 )?quarters? hours?"
    r"|(?:an?|\d{1,3}) hours? and (?:a |1 |3 )?quarters?"
    r"|[1-9]/[2-6](?: of an?)? ?(?:hours?|days?|h))"
)
ONE = rf"(?:{NUMBER} ?-?{UNIT}(?![^\W\d]|-))"
WORDED = (
    rf"(?:{_HALF}|an? (?:full |whole |single |entire )?(?:hour|day|minute|week)(?![^\W\d_])(?: and (?:a )?half)?"
    rf"|{NUMBER} and (?:a )?half (?:hours?|days?|minutes?|weeks?)"
    rf"|{NUMBER} (?:hours?|days?|minutes?|weeks?) and (?:a )?half)"
)
_COMPACT = (
    r"(?<![\w.,:/-])\d{1,5} ?[dh](?:\d{1,2}(?: ?m(?:in)?(?: ?\d{1,2} ?s)?)?(?![\w:])"
    r"| \d{1,2}(?: ?m(?:in)?(?: ?\d{1,2} ?s)?(?![\w:])|(?= ?(?:[,;!?)\x00]|\.(?!\d)|$)"
    r"| (?:on|for|with|at|in|by|using|and|max|limit|wall ?time|run ?time|total|please|each|apiece|per|long)(?![\w-])"
    r"| \d{1,7} (?:nodes?|cores?|cpus?|tasks?|ranks?|gpus?|threads?)(?!\w))))"
)
_CLOCK = r"(?<![\w.,:/-])(?:\d{1,5}-)?\d{1,5}:\d{2}(?: ?h(?:ours?|rs?)?(?![\w:-])|(?::\d{2}){0,2}(?![\w-]|:\S))"
_ISO = r"pt?(?=\d)(?:\d{1,4}d)?t?(?:\d{1,5}h)?(?:\d{1,5}m)?(?:\d{1,6}s)?(?![\w-]|\.\w)"
_JOINED = r"(?<![\w.,:/-])\d{1,4}d\d{1,2}h(?:\d{1,2}m(?:in)?)?(?![\w:])"
_AND = "(?:,? ?(?:and )?)"
_EACH_UNIT = (
    "(?:weeks?|w)",
    "(?:days?|d)",
    r"(?:hours?|hrs?\.?"
    r"|h)",
    r"(?:minutes?|mins?\.?|mn|m)",
    r"(?:seconds?|secs?\.?|s)",
)


def _falling(at: int = 0) -> str:
    """Units that grow smaller, each once: `2 h, 30 min`, but not `6 h, 2 h`."""
    one = rf"{NUMBER} ?-?{_EACH_UNIT[at]}(?![^\W\d]|-)"
    smaller = [_falling(place) for place in range(at + 1, len(_EACH_UNIT))]
    return rf"{one}(?:{_AND}(?:{'|'.join(smaller)}))?" if smaller else one


_FALLING = "|".join(_falling(place) for place in range(len(_EACH_UNIT)))
DURATION = rf"(?:{_ISO}|{_JOINED}|{_COMPACT}|{WORDED}|{_FALLING}|{_CLOCK})"


def duration_seconds(text: str) -> tuple[int, ...]:
    """What a duration in normal form can mean, in seconds rounded up: nothing, one value, or two."""
    text = text.strip()
    worded = _worded(text)
    if worded is not None:
        return worded
    if ":" in text:
        hours = re.fullmatch(r"(\d+:\d{2}) ?h\w*", text)
        return _clock(hours[1])[:1] if hours else _clock(text)
    if re.fullmatch(r"\d+d\d+h(?:\d+m(?:in)?)?", text):
        text = re.sub(r"(?<=[dh])(?=\d)", " ", text)
    if text.startswith("p"):
        text = re.sub(r"(?<=[dhms])(?=\d)", " ", text.lstrip("p").replace("t", " ").strip())
    compact = re.fullmatch(r"(\d+) ?([dh]) ?(\d{1,2}) ?(?:m(?:in)?)?(?: ?(\d{1,2}) ?s)?", text)
    if compact and compact[2]:
        big, small = (86400, 3600) if compact[2] == "d" else (3600, 60)
        if compact[2] == "h" or "m" not in text:
            return (int(compact[1]) * big + int(compact[3]) * small + int(compact[4] or 0),)
    totals: tuple[float, ...] = (0.0,)
    parts = re.findall(rf"({NUMBER}) ?-?({UNIT})(?![a-z_-])", text)
    for number, unit in parts:
        size = _UNITS[unit.rstrip(".") if unit.rstrip(".") in _UNITS else unit.rstrip(".").rstrip("s")]
        totals = tuple(total + value * size for total in totals for value in amounts_of(number))
    return tuple(dict.fromkeys(math.ceil(total - 1e-9) for total in totals)) if parts else ()


def _worded(text: str) -> tuple[int, ...] | None:
    plain = re.sub(r"\s+", " ", text)
    half = re.fullmatch(r"(?:half an?|(?:an? )?half)[ -](hour|day|minute|week)", plain)
    if half:
        return (_UNITS[half[1]] // 2,)
    of_day = re.fullmatch(r"(?:(an?|1|3) )?quarters? of an? day", plain)
    if of_day:
        return (21600 * (3 if of_day[1] == "3" else 1),)
    above = re.fullmatch(r"(\d{1,3}) and (a |1 |3 )?quarters? hours?", plain)
    if above:
        return (int(above[1]) * 3600 + (2700 if above[2] == "3 " else 900),)
    quarter = re.fullmatch(r"(?:(an?|1|3) )?quarters?(?: of an?|-)? ?hour", plain)
    if quarter:
        return (2700 if quarter[1] == "3" else 900,)
    beyond = re.fullmatch(r"(an?|\d+) hours? and (a |1 |3 )?quarters?", plain)
    if beyond:
        whole = int(beyond[1]) if beyond[1].isdigit() else 1
        return (whole * 3600 + (2700 if beyond[2] == "3 " else 900),)
    part = re.fullmatch(r"(\d)/(\d)(?: of an?)? ?(h|hour|day)s?", plain)
    if part:
        return (math.ceil(_UNITS[part[3]] * int(part[1]) / int(part[2])),)
    one = re.fullmatch(r"an? (?:full |whole |single |entire )?(hour|day|minute|week)( and (?:a )?half)?", plain)
    if one:
        return (_UNITS[one[1]] * (3 if one[2] else 2) // 2,)
    more = re.fullmatch(rf"({NUMBER})(?: and (?:a )?half)? (hour|day|minute|week)s?(?: and (?:a )?half)?", plain)
    if more and "half" in plain:
        return tuple(math.ceil((value + 0.5) * _UNITS[more[2]]) for value in amounts_of(more[1]))
    return None


def _clock(text: str) -> tuple[int, ...]:
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if any(part > 59 for part in parts[1:] if len(parts) < 4):
        return ()
    if days:
        return (int(days) * 86400 + sum(p * s for p, s in zip(parts, (3600, 60, 1), strict=False)),)
    if len(parts) == 4:
        return (parts[0] * 86400 + parts[1] * 3600 + parts[2] * 60 + parts[3],)
    if len(parts) == 3:
        return (parts[0] * 3600 + parts[1] * 60 + parts[2],)
    return (parts[0] * 3600 + parts[1] * 60, parts[0] * 60 + parts[1])
