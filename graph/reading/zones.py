"""Time zones by the names that people give them, and words behind a clock time that may name one nobody knows."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from graph.reading.draft import Draft
from graph.reading.moment_words import OFFSETS
from graph.reading.plain_words import plain_word

__all__ = ["unknown_zone", "zone_named"]

_REGIONS = {
    "eastern": "America/New_York", "central": "America/Chicago", "mountain": "America/Denver",
    "pacific": "America/Los_Angeles",
}  # fmt: skip
_ABBREVIATION = re.compile(
    r" \(?(?P<word>[a-z]{2,5})\)?(?:,? (?:on |the ){0,2}(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\d{1,2}(?:st|nd|rd|th|\.)?(?: of)? [a-z]{3,9}(?:,? \d{4})?|[a-z]{3,9} \d{1,2}(?:,? \d{4})?|\d{4}-\d\d-\d\d"
    r"|tomorrow|today|tonight)(?!\w)|(?= ?(?:[,.;!?)]|$|(?:at the latest|sharp|please|because|since|as|so)(?!\w))))"
)


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    """Zones by the names of their cities, in lower case; of several the first."""
    return {zone.rpartition("/")[2].lower(): zone for zone in sorted(available_timezones(), reverse=True)}


def zone_named(name: str) -> tzinfo | None:
    """A zone by IANA name, offset, or abbreviation that means one thing; None for any other word."""
    low = re.sub(r"^us (?=[a-z]{5,})| (?:standard|daylight)$", "", name.strip().lower())
    if low in _REGIONS:
        return ZoneInfo(_REGIONS[low])
    if low in OFFSETS:
        return timezone(timedelta(minutes=OFFSETS[low])) if OFFSETS[low] else UTC
    offset = re.fullmatch(r"(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?", low)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes)) if minutes < 24 * 60 else None
    try:
        return ZoneInfo("/".join(part.title() if part.islower() else part for part in name.strip().split("/")))
    except (ValueError, OSError, KeyError):
        city = _cities().get(low.replace(" ", "_"))
        return ZoneInfo(city) if city is not None else None


def unknown_zone(draft: Draft, match: re.Match[str]) -> re.Match[str] | None:
    """What stands right behind a moment and may name its zone, with a day behind it: `18:00 XYZT on Friday`."""
    if match.groupdict().get("zone") or match.groupdict().get("b_zone"):
        return None
    found = _ABBREVIATION.match(draft.line.norm, match.end())
    if found is None or plain_word(found["word"]) or not draft.line.words(*found.span("word")).isupper():
        return None
    return found
