"""Values of Flux: job ids in their encodings (RFC 19), durations (RFC 23), sets of ranks (RFC 22), wait statuses."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

__all__ = ["WaitStatus", "format_duration", "read_duration", "read_flux_id", "read_idset", "read_time_limit"]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_F58 = re.compile("[\u0192f]([" + _BASE58 + "]{1,11})")
_MOST = 2**64


def read_flux_id(text: str) -> int | None:
    """The integer behind `474543554560`, `ƒDTznkvT`, `fDTznkvT` (LANG=C) or `0x6e7d000000`; None for anything else."""
    match = _F58.fullmatch(text)
    if match is not None:
        number = 0
        for character in match[1]:
            number = number * 58 + _BASE58.index(character)
    elif re.fullmatch(r"\d{1,20}", text, re.ASCII):
        number = int(text)
    elif re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text, re.ASCII):
        number = int(text, 16)
    else:
        return None
    return number if number < _MOST else None


_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(ms|[smhd])?", re.ASCII)
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600), "d": Fraction(86400)}
"""Exact: 1.1 h are 3960 s, and not a little more, which would be rounded up to the next second."""


def read_duration(text: str, *, bare: float = 1.0) -> float | None:
    """Seconds of `30s`, `1.5h`, `2d`, `100ms`; infinite for `inf`; None for anything else.

    Args:
        text: a Flux standard duration.
        bare: seconds of a number without a unit.

    """
    if text.strip().lower() in {"inf", "infinity"}:
        return math.inf
    shown = re.fullmatch(r"1970-01-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?", text.strip(), re.ASCII)
    if shown is not None:  # how some versions print a duration that was to be a date
        days, hours, minutes, seconds = map(int, shown.groups())
        return float((days - 1) * 86400 + hours * 3600 + minutes * 60 + seconds)
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    return float(Fraction(match[1]) * (_SECONDS[match[2]] if match[2] else Fraction(bare)))


def read_time_limit(text: str) -> int | None:
    """Whole seconds of `--time-limit`, where a number alone is minutes; None for no limit or no duration."""
    seconds = read_duration(text, bare=60.0)
    return math.ceil(seconds) if seconds is not None and math.isfinite(seconds) and seconds > 0 else None


def format_duration(seconds: int) -> str:
    """Seconds as Flux takes them in every version."""
    return f"{seconds}s"


def read_idset(text: str) -> list[int] | None:
    """Members of `0-3,7` or `[0-3,7]`, at most a million; None where it cannot be read."""
    found: list[int] = []
    for part in text.strip().removeprefix("[").removesuffix("]").split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part, re.ASCII)
        if match is None:
            return [] if not text.strip() else None
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low or len(found) + high - low > 1_000_000:
            return None
        found.extend(range(low, high + 1))
    return found


class WaitStatus(NamedTuple):
    """How a process ended, from its raw wait status (wait(2)): 768 is exit code 3, 9 is signal 9."""

    exit_code: int | None
    signal: int | None

    @classmethod
    def decode(cls, status: int) -> WaitStatus:
        """139 is signal 11 with a core dump; 35072 is exit code 137."""
        signal = status & 0x7F
        return cls(None, signal) if signal else cls((status >> 8) & 0xFF, None)
