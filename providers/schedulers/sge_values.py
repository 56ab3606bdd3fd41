"""Times, durations and sizes as Grid Engine prints them (sge_types(5), accounting(5))."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

__all__ = ["read_seconds", "read_size", "read_time"]


def read_time(text: str, zone: tzinfo = UTC) -> datetime | None:
    """ISO time, milliseconds since the epoch (Univa), or the accounting's `Mon Nov 30 07:16:56 2026`."""
    text = text.strip()
    if not text:  # a time that has not come: for most jobs of a long queue
        return None
    if text.isascii() and text.isdigit() and 10 <= len(text) <= 14:
        seconds = int(text) / (1000 if len(text) > 11 else 1)
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.replace(tzinfo=zone)
    except ValueError:
        pass
    for form in ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S.%f"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=zone)
        except ValueError:
            continue
    return None


def read_seconds(text: str) -> float | None:
    """Seconds of `27s`, `27`, `0:10:00` or `600`."""
    text = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?s?", text, re.ASCII):
        return float(text.rstrip("s"))
    if re.fullmatch(r"\d+:\d{1,2}:\d{1,2}", text, re.ASCII):
        hours, minutes, seconds = (int(part) for part in text.split(":"))
        return float(hours * 3600 + minutes * 60 + seconds)
    return None


def read_size(text: str) -> int | None:
    """Bytes of `3.398MB`, `23.5G`, `4g`; the accounting counts by 1024 (capital letters) like the queue does."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)([KMGTkmgt]?)B?s?\s*", text, re.ASCII)
    if match is None:
        return None
    # sge_types(1): small letters count by 1000.
    base = 1000 if match[2].islower() else 1024
    exponent = " kmgt".index(match[2].lower() or " ")
    return round(float(match[1]) * float(base**exponent))
