"""Amounts as people and schedulers write them, kept as plain numbers: bytes and seconds.

Sizes follow IEC 80000-13: `GB` is 10**9 bytes and `GiB` is 2**30. A bare letter (`64G`), as schedulers use it, is
binary, because Slurm, PBS, Flux and Kubernetes' `Gi` count so. See docs/decisions.md.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from dragoman.errors import BadRequest

__all__ = ["MOST_AMOUNT", "MOST_SECONDS", "counted", "format_bytes", "format_duration", "parse_bytes", "parse_duration"]

MOST_AMOUNT = 2**70
"""More bytes, or anything else that is counted, than any site has; floats and databases hold it."""
MOST_SECONDS = 10**10
"""Three hundred years; dates hold it."""

_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15, "e": 10**18}
_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(
    r"\s*(?P<number>\d+(?:[.,]\d+)?(?:e[+-]?\d+)?)\s*(?P<prefix>[kmgtpe]?)(?P<unit>i?b|b|i)?\s*", re.IGNORECASE
)


def parse_bytes(text: str, *, where: str = "size") -> int:
    """Bytes of `64G`, `64 GiB`, `0.5 TB`, `1024` or `1e9`, rounded up to a whole byte.

    Raises:
        BadRequest: if it is no such amount.

    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise BadRequest(
            f"{text!r} is not an amount of memory", where=where, cure="write it like 64GiB, 500MB or 1.5TB"
        )
    unit = (match["unit"] or "").lower()
    factors = _DECIMAL if unit == "b" and match["prefix"] else _BINARY
    return _whole(_exactly(match["number"]), factors[match["prefix"].lower()], MOST_AMOUNT, text, where)


def _exactly(number: str) -> Fraction:
    """As written: a float would change whole numbers from 2**53 on. What is beyond all bounds counts as just that."""
    digits, _, exponent = number.lower().replace(",", ".").partition("e")
    power = int(exponent[:6] or 0)
    if len(digits) > 60 or power > 60:
        return Fraction(10**60) if digits.strip("0.") else Fraction(0)
    return Fraction(digits) * Fraction(10) ** max(power, -60)


def _whole(number: Fraction, factor: int, most: int, text: str, where: str) -> int:
    """Rounded up, and within bounds."""
    amount = math.ceil(number * factor)
    if amount > most:
        shown = text if len(text) <= 30 else f"{text[:30]}..."
        raise BadRequest(f"{shown!r} is more than {most}", where=where, cure="write the amount that is meant")
    return amount


def format_bytes(amount: int | None) -> str:
    """`1.5 GiB` for people; `unknown` for None."""
    if amount is None:
        return "unknown"
    for prefix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
        factor = _BINARY[prefix[0].lower()]
        if amount >= factor:
            return f"{amount / factor:.4g} {prefix}B"
    return f"{amount} B"


_CLOCK = re.compile(r"(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>\d{1,2})(?::(?P<s>\d{1,2}))?")
_UNIT = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?)\s*"
    r"(?P<unit>weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)?(?P<rest>[\s,]*(?:and\b)?\s*)",
    re.IGNORECASE,
)
_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def parse_duration(text: str, *, where: str = "walltime") -> int:
    """Seconds of `90 min`, `2h30`, `1-12:00`, `02:00:00` or `1.5 hours`, rounded up.

    `4:00` alone is refused: Slurm reads four minutes and people mean four hours. With days (`1-12:00`) it is
    hours and minutes, by Slurm's sbatch(1).

    Raises:
        BadRequest: if it is no duration, or an ambiguous one.

    """
    stripped = text.strip()
    clock = _CLOCK.fullmatch(stripped)
    if clock is not None:
        return _clock_seconds(clock, text, where)
    total, position, last = Fraction(0), 0, ""
    for match in _UNIT.finditer(stripped):
        if match.start() != position:
            break
        unit = (match["unit"] or {"h": "m", "m": "s"}.get(last, ""))[:1].lower()
        if not unit:
            break
        total += _exactly(match["number"]) * _SECONDS[unit]
        position, last = match.end(), unit
    if not stripped or position != len(stripped):
        raise BadRequest(f"{text!r} is not a duration", where=where, cure="write it like 2h30, 90 min or 02:00:00")
    return _whole(total, 1, MOST_SECONDS, text, where)


def _clock_seconds(clock: re.Match[str], text: str, where: str) -> int:
    days, hours, minutes, seconds = (int(_exactly(clock[part])) if clock[part] else None for part in "dhms")
    if days is None and seconds is None:
        raise BadRequest(
            f"{text!r} can be hours and minutes or minutes and seconds", where=where, cure=f"write {text.strip()}:00"
        )
    if (minutes or 0) > 59 or (seconds or 0) > 59:
        raise BadRequest(f"{text!r} is not a duration", where=where, cure="minutes and seconds go to 59")
    total = (days or 0) * 86400 + (hours or 0) * 3600 + (minutes or 0) * 60 + (seconds or 0)
    return _whole(Fraction(total), 1, MOST_SECONDS, text, where)


def counted(number: int, noun: str) -> str:
    """`1 node`, `4 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_duration(seconds: float | None) -> str:
    """`2 d 3 h`, `1 h 30 min`, `12 s` for people; `unknown` for None."""
    if seconds is None:
        return "unknown"
    rest = round(seconds)
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
