"""When: deadlines and earliest starts, with their time zone; asked back where a day or a zone is not certain."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from dragoman.errors import BadRequest
from graph.reading.draft import Draft
from graph.reading.line import pattern
from graph.reading.moment_sense import behind_the_day, sense_of
from graph.reading.moment_words import (
    AT_THE,
    BRACKETED,
    CLOCK_HOUR,
    CORRECTED,
    DAY_AFTER,
    DAY_ALONE,
    DAY_AT,
    DAY_BEFORE,
    DAY_FIRST,
    DAYS,
    DONE_AFTER,
    DONE_BEFORE,
    FOREIGN_DAYS,
    FOREIGN_MONTHS,
    LATEST_START,
    MONTHS,
    OF_SOMETHING_ELSE,
    RULE,
    TIME_AFTER,
    VAGUE,
    WEEKEND,
    WORDS,
)
from graph.reading.reading import Option
from graph.reading.zones import unknown_zone, zone_named

__all__ = ["read_moments"]

_AT = ("on", "at", "um", "à")
_LATE = ("afternoon", "evening", "abend", "nachmittag", "soir")
_OF_THE_JOB = re.compile(
    r"(?:but|and|only|please|run|it|to|should|must|can|the job|earliest|may|start|begin|schedule)\b"
)


def read_moments(draft: Draft) -> None:
    """Find deadline and earliest start."""
    for match in draft.line.find(LATEST_START):
        _tell(draft, match)  # no site can be asked for a latest start
    for match in draft.line.find(AT_THE):
        _take(draft, match, is_deadline=match["end"] in ("latest", "tard"))
    for match in (found for rule in (BRACKETED, DAY_FIRST, DAY_AT, RULE) for found in draft.line.find(rule)):
        if match.re is pattern(DAY_AT) and not DAY_ALONE.search(draft.line.norm[: match.start()]):
            continue
        _take(draft, match, is_deadline=match["before"] is not None or _done_then(draft, match))
    for match in draft.line.find(CLOCK_HOUR):
        if not _ESTIMATED.search(_before(draft, match)):
            _ask_clock(draft, match)
    for match in draft.line.find(WEEKEND):
        if "start_after" in draft.fields:
            draft.line.claim(*match.span())
        else:
            _weekend(draft, match)
    start, end = draft.fields.get("start_after"), draft.fields.get("deadline")
    if start is not None and end is not None and start >= end:
        del draft.fields["start_after"]
        draft.ask(
            "start_after", 0, 0,
            f"It would start at {start:%Y-%m-%d %H:%M} UTC, not before the deadline {end:%Y-%m-%d %H:%M}. When then?",
            [],
        )  # fmt: skip
    for match in draft.line.find(r"(?<![\w-])(?:run |start |it ){0,6}tonight(?![\w-])"):
        if "start_after" in draft.fields:
            draft.line.claim(*match.span())
        elif not OF_SOMETHING_ELSE.search(draft.line.norm[max(0, match.start() - 60) : match.start()]):
            _tonight(draft, match)


_ESTIMATED = re.compile(r"(?:estimated?|estimates?|put|set|limited|capped|fixed|kept|reckoned|guessed|rated) (?:it )?$")
"""`estimated at 14h`: how long."""


def _before(draft: Draft, match: re.Match[str]) -> str:
    return draft.line.norm[max(0, match.start() - 40) : match.start()]


def _tell(draft: Draft, match: re.Match[str]) -> None:
    draft.unread.append(draft.words(*match.span()))
    draft.line.claim(*match.span())


def _ask_clock(draft: Draft, match: re.Match[str]) -> None:
    zone = zone_named(draft.time_zone) if draft.time_zone else None
    options = [Option(label=f"it runs at most {match['n']} h", patch={"walltime_s": int(match["n"]) * 3600})]
    if zone is not None:
        now = draft.now.astimezone(zone)
        moment = datetime.combine(now.date(), time(int(match["n"])), zone)
        moment = moment if moment > now else moment + timedelta(days=1)
        field, label = ("deadline", "is over") if match["stop"] else ("start_after", "starts")
        then = Option(label=f"it {label} at {moment:%a %H:%M}", patch={field: moment.astimezone(UTC).isoformat()})
        options.insert(0, then)
    if int(match["n"]):
        draft.ask("walltime_s", *match.span(), f"{draft.words(*match.span())!r}: by the clock, or how long?", options)


def _weekend(draft: Draft, match: re.Match[str]) -> None:
    if re.search(
        r"(?<![\w-])(?:avoid\w*|not?|never|except|[a-z]*n't|nicht|pas|sauf)(?: [a-z]+)? $", _before(draft, match)
    ):
        _tell(draft, match)
        return
    zone = zone_named(draft.time_zone) if draft.time_zone else None
    options: list[Option] = []
    if zone is not None and "next " not in match[0]:
        first = datetime.combine(_relative("weekend", draft.now.astimezone(zone).date())[0], time(0), zone)
        last = datetime.combine(first.date() + timedelta(days=2), time(0), zone)
        options = [
            Option(
                label=f"start at {first:%a %H:%M} or later", patch={"start_after": first.astimezone(UTC).isoformat()}
            ),
            Option(label=f"finished by {last:%a %H:%M}", patch={"deadline": last.astimezone(UTC).isoformat()}),
        ]
    words = draft.words(*match.span())
    draft.ask("start_after", *match.span(), f"{words!r}: start then, or be finished when it is over?", options)


def _done_then(draft: Draft, match: re.Match[str]) -> bool:
    """Whether it must be done at that moment: `must be done on Friday 12:00`, `muss am Freitag fertig sein`."""
    if match["after"] not in (*_AT, "for"):
        return False
    before, after = draft.line.norm[max(0, match.start() - 40) : match.start()], draft.line.norm[match.end() :]
    said = f"{before}{match[0][: match.start('after') - match.start()]}"
    return any(
        (
            DONE_BEFORE.search(before),
            DONE_BEFORE.search(said),
            DONE_AFTER.match(after),
            DONE_AFTER.search(match[0][match.end("after") - match.start() :]),
        )
    )


def _group(match: re.Match[str], name: str) -> str | None:
    groups = match.groupdict()
    return groups.get(name) or groups.get(f"b_{name}")


def _take(draft: Draft, match: re.Match[str], *, is_deadline: bool) -> None:
    sense = sense_of(draft, match, is_deadline=is_deadline)
    if sense == "told":
        _tell(draft, match)
        return
    is_deadline = sense == "deadline"
    after = match.groupdict().get("after")
    if (
        not is_deadline
        and after in ("on", "at", "from")
        and not (
            _group(match, "clock")
            or _group(match, "ampm2")
            or any(_group(match, n) for n in ("iso", "weekday", "relative", "month", "month2", "dotted", "ordinal"))
        )
    ):
        return
    if _group(match, "ordinal") and not is_deadline and not _timed(match):
        return  # `after the 2nd`: of what
    if (
        _group(match, "relative") == "tonight"
        and not (_group(match, "clock") or _group(match, "hour") or _group(match, "hour3"))
        and not is_deadline
    ):
        _tonight(draft, match)
        return
    words = draft.words(*match.span())
    if (
        not is_deadline
        and (
            after in ("on", "at")
            or (
                after == "from"
                and not _timed(match)
                and any(_group(match, n) for n in ("weekday", "month", "relative"))
            )
        )
        and match[0].startswith(("on ", "at ", "from "))
        and draft.of_a_story(match.start())
    ):
        draft.unread.append(words)
        draft.line.claim(*match.span())
        return
    if _dateless(match) and DAY_BEFORE.search(draft.line.norm[max(0, match.start() - 24) : match.start()]):
        draft.unread.append(words)  # `tomorrow from 14:00` is not today's
        draft.line.claim(*match.span())
        return
    field = "deadline" if is_deadline else "start_after"
    beyond = (
        unknown_zone(draft, match)
        or (_dateless(match) and DAY_AFTER.match(draft.line.norm, match.end()))
        or (not _timed(match) and TIME_AFTER.match(draft.line.norm, match.end()))
    )
    if beyond:  # a part of the moment that is not read with it
        draft.unread.append(draft.words(match.start(), beyond.end()))
        draft.line.claim(match.start(), beyond.end())
        return
    zone_word = _group(match, "zone")
    if zone_word in ("local", "our", "my"):
        zone_word = draft.time_zone
    zone = zone_named(zone_word) if zone_word else zone_named(draft.time_zone) if draft.time_zone else None
    if draft.time_zone and zone is None and not zone_word:
        raise BadRequest(
            f"{draft.time_zone!r} is no time zone", where="time_zone", cure="write it like Europe/Berlin or UTC"
        )
    if zone is None:
        guess = _moments(draft, match, UTC, is_deadline)
        options = [
            Option(label=f"{moment:%Y-%m-%d %H:%M} UTC", patch={field: moment.isoformat()}) for moment in guess[:1]
        ]
        draft.ask(field, *match.span(), f"{words!r}: in which time zone?", options)
        return
    later = pattern(CORRECTED).match(draft.line.open, match.end())
    found = (later and _moments(draft, later, zone, is_deadline)) or _moments(draft, match, zone, is_deadline)
    if not found:
        return
    if later:
        draft.default(f"{draft.words(*later.span())!r} counts, not what was said before")
        draft.line.claim(*later.span())
    if len(found) > 1:
        options = [
            Option(label=f"{m:%a %Y-%m-%d %H:%M %Z}", patch={field: m.astimezone(UTC).isoformat()}) for m in found
        ]
        draft.ask(field, *match.span(), f"{words!r}: which day is meant?", options)
    elif found[0] <= draft.now:
        draft.ask(field, *match.span(), f"{words!r} is {found[0]:%Y-%m-%d %H:%M %Z}, which is past. When is meant?", [])
    elif (match.groupdict().get("before") or "").startswith("not ") and field not in draft.fields:
        draft.fields[field] = found[0].astimezone(UTC)  # `not after Friday 18:00` is no `not`
        draft.source(field, *match.span())
    else:
        draft.put(field, found[0].astimezone(UTC), *match.span())


def _dateless(match: re.Match[str]) -> bool:
    names = ("iso", "dotted", "slashed", "day", "month2", "relative", "weekday", "ordinal")
    return not any(_group(match, name) for name in names)


def _timed(match: re.Match[str]) -> bool:
    return any(_group(match, name) for name in ("clock", "word", "hour", "hour3", "hour4", "hour5"))


def _moments(draft: Draft, match: re.Match[str], zone: tzinfo, is_deadline: bool) -> list[datetime]:
    """The moments that a match can mean, in order; named defaults go to the draft."""
    today = draft.now.astimezone(zone).date()
    at, has_time = _time(draft, match, is_deadline)
    if at is None:
        return []
    days = _days(match, today)
    if days is None:
        now = draft.now.astimezone(zone)
        moment = datetime.combine(today, at, zone)
        return [moment if moment > now else moment + timedelta(days=1)]
    if not has_time:
        ends = re.search(r"week-?end|wochenende", _group(match, "relative") or "")
        strict = ends or (
            match.groupdict().get("before") in ("before", "vor", "avant") and not _group(match, "relative")
        )
        if not is_deadline and behind_the_day(draft, match):
            long = 2 if ends else 7 if _group(match, "relative") == "next week" else 1
            days = [day + timedelta(days=long) for day in days]
            draft.default(f"{draft.words(*match.span())!r}: when that is over")
        if is_deadline and not strict:
            days = [day + timedelta(days=1) for day in days]
            draft.default(f"{draft.words(*match.span())!r}: by the end of that day")
    if _group(match, "word") in ("midnight", "minuit"):
        days = [
            later for day in days[:1] for later in (day, day + timedelta(days=1))
        ]  # the one before it, or behind it
    moments = [datetime.combine(day, at, zone) for day in days]
    future = [moment for moment in moments if moment > draft.now]
    return (future or moments)[:3] if _group(match, "weekday") else moments


def _time(draft: Draft, match: re.Match[str], is_deadline: bool) -> tuple[time | None, bool]:
    clock = _group(match, "clock")
    hour = next((found for name in ("hour", "hour3", "hour4", "hour5") if (found := _group(match, name))), None)
    word, half = _group(match, "word"), (_group(match, "ampm") or _group(match, "ampm2") or "").replace(".", "")
    if word:
        if word in VAGUE:
            draft.default(f"{draft.words(*match.span())!r}: {VAGUE[word]:02d}:00 is taken")
        return time(WORDS.get(word, VAGUE.get(word, 0))), True
    if not clock and not hour:
        return time(0), False
    parts = [int(part) for part in re.split(r"[:h]", clock or hour or "0")]
    half = half or {"morning": "am", "afternoon": "pm", "evening": "pm"}.get(_group(match, "part") or "", "")
    if half:
        if not 1 <= parts[0] <= 12:
            return None, True
        parts[0] = parts[0] % 12 + (12 if half.startswith("p") else 0)
    part = _group(match, "pre") or _group(match, "pre2")
    if not half and parts[0] < 12 and (part in _LATE or (part == "night" and parts[0] > 5)):
        parts[0] += 12
    if parts[0] > 23 or any(part > 59 for part in parts[1:]):
        return None, True
    hours, minutes, seconds = (*parts, 0, 0)[:3]
    return time(hours, minutes, seconds), True


def _days(match: re.Match[str], today: date) -> list[date] | None:
    """The days a date can mean; None where none is stated."""
    try:
        if iso := _group(match, "iso"):
            year, month, day = (int(part) for part in iso.split("-"))
            return [date(year, month, day)]
        if dotted := _group(match, "dotted"):
            parts = [int(part) for part in dotted.strip(".").split(".")]
            return [_dated(today, parts[0], parts[1], parts[2] if len(parts) > 2 else None)]
        if slashed := _group(match, "slashed"):
            parts = [int(part) for part in slashed.split("/")]
            year_given = parts[2] if len(parts) > 2 else None
            both = {(parts[0], parts[1]), (parts[1], parts[0])}
            return sorted(_dated(today, d, m, year_given) for d, m in both if m <= 12 and d <= 31)
        for suffix in ("", "2"):
            if named := _group(match, f"month{suffix}"):
                number = next((n for n, m in enumerate(MONTHS, 1) if named.startswith(m)), 0) or next(
                    (n for m, n in FOREIGN_MONTHS.items() if named.startswith(m)), 0
                )
                year_word = _group(match, f"year{suffix}")
                return [
                    _dated(
                        today, int(_group(match, f"day{suffix}") or 0), number, int(year_word) if year_word else None
                    )
                ]
        if ordinal := _group(match, "ordinal"):
            return [_of_a_month(today, int(ordinal))]
    except ValueError:
        return []
    relative, weekday = _group(match, "relative"), _group(match, "weekday")
    if relative:
        return _relative(relative, today)
    if weekday:
        number = FOREIGN_DAYS.get(weekday, -1)
        number = number if number >= 0 else DAYS.index(weekday[:3])
        ahead = (number - today.weekday()) % 7
        first = today + timedelta(days=ahead)
        which = _group(match, "which")
        unsure = ahead == 0 or which in ("next", "nächsten")
        return [first, first + timedelta(days=7)] if unsure else [first]
    return None


def _relative(word: str, today: date) -> list[date]:
    if ("week" in word and word.startswith("end")) or word == "eow":
        return [today + timedelta(days=(4 - today.weekday()) % 7), today + timedelta(days=6 - today.weekday())]
    if re.search(r"week-?end|wochenende", word) or word == "next week":
        ahead = 7 - today.weekday() if word == "next week" else 5 - today.weekday()  # on a Sunday it is this one
        return [today + timedelta(days=ahead)]
    if "month" in word:
        return [(today.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)]
    ahead = (
        2
        if "after" in word or word in ("übermorgen", "après-demain")
        else 1
        if word in ("tomorrow", "morgen", "demain")
        else 0
    )
    return [today + timedelta(days=ahead)]


def _of_a_month(today: date, day: int) -> date:
    """The next day of that number."""
    if day >= today.day:
        return today.replace(day=day)
    return (today.replace(day=28) + timedelta(days=4)).replace(day=day)


def _dated(today: date, day: int, month: int, year: int | None) -> date:
    if year is not None:
        return date(year + 2000 if year < 100 else year, month, day)
    this = date(today.year, month, day)
    # A day that has just passed was hardly meant a year later: it is asked about.
    return this if this >= today - timedelta(days=60) else date(today.year + 1, month, day)


def _tonight(draft: Draft, match: re.Match[str]) -> None:
    zone = zone_named(draft.time_zone) if draft.time_zone else None
    options: list[Option] = []
    if zone is not None:
        evening = datetime.combine(draft.now.astimezone(zone).date(), time(18), zone)
        morning = evening + timedelta(hours=14)
        options = [
            Option(label="start at 18:00 or later", patch={"start_after": evening.astimezone(UTC).isoformat()}),
            Option(label="finished by 08:00 tomorrow", patch={"deadline": morning.astimezone(UTC).isoformat()}),
        ]
    draft.ask("start_after", *match.span(), "'tonight': start then, or be finished after the night?", options)
