"""Values as PBS and Torque print and read them: ids, durations, moments, sizes, hosts (qsub(1B), pbs_resources(7B))."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime
from typing import NamedTuple

__all__ = [
    "JobId", "format_size", "hosts_of", "read_exec_host", "read_job_id", "read_moment", "read_number", "read_size",
    "read_walltime",
]  # fmt: skip


class JobId(NamedTuple):
    """A job id taken apart."""

    number: str
    task: str | None
    """Index of one task of an array (`12[3].pbs`), `` for the whole array (`12[].pbs`), None for a job that is none."""
    server: str

    @property
    def key(self) -> str:
        """The id without its server: enough to tell jobs of one server apart, however they were asked for."""
        return self.number if self.task is None else f"{self.number}[{self.task}]"

    @property
    def array(self) -> str:
        """The key of the whole array."""
        return f"{self.number}[]"


_ID = re.compile(r"(\d{1,12})(?:\[(\d{0,9})\])?(?:\.([A-Za-z0-9][\w.-]{0,254})?)?(?:@[\w.-]+)?", re.ASCII)


@functools.lru_cache(maxsize=8192)
def read_job_id(text: str) -> JobId | None:
    """`0`, `1002.head01`, `1010[].head01`, `1010[3]`, `12.`; None for anything else, a name cut with `*` included."""
    match = _ID.fullmatch(text.strip())
    return JobId(match[1], match[2], match[3] or "") if match is not None else None


_CLOCK = re.compile(r"(?:(?:(?:(\d{1,6}):)?(\d{1,9}):)?(\d{1,9}):)?(\d{1,12})(?:\.(\d*))?", re.ASCII)


@functools.lru_cache(maxsize=4096)
def read_walltime(text: str) -> int | None:
    """Seconds of `3600`, `24:00` (minutes and seconds), `01:00:00` or Torque's `28:00:00:00`, rounded up; else None."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.group(1, 2, 3, 4))
    fraction = 1 if (match[5] or "").strip("0") else 0
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + fraction


_MONTHS = {"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * at : 3 * at + 3]: at + 1 for at in range(12)}
_CTIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4})", re.ASCII)


@functools.lru_cache(maxsize=4096)
def read_moment(text: str) -> datetime | None:
    """`Mon Nov 30 07:12:01 2026` of a command that ran in UTC, or seconds since the epoch; None for anything else."""
    match = _CTIME.fullmatch(text.strip())
    try:
        if match is not None and match[1] in _MONTHS:
            name, day, hour, minute, second, year = match.groups()
            clock = int(hour), int(minute), min(int(second), 59)
            at = datetime(int(year), _MONTHS[name], int(day), *clock, tzinfo=UTC)
        elif re.fullmatch(r"\d{9,11}", text.strip(), re.ASCII):
            at = datetime.fromtimestamp(int(text), UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return at if at.year > 1970 else None


_SIZE = re.compile(r"(\d{1,18})([kmgtpe]?)([bw]?)", re.IGNORECASE | re.ASCII)


@functools.lru_cache(maxsize=4096)
def read_size(text: str) -> int | None:
    """Bytes of `16000mb`, `527672492kb`, `50G`, `2gw` (words of 8 bytes) or `1024`; None for anything else."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    factor = 1 << (10 * " kmgtpe".index(match[2].lower() or " "))
    return int(match[1]) * factor * (8 if match[3].lower() == "w" else 1)


def format_size(amount: int) -> str:
    """A size in the largest unit that loses nothing, at least kilobytes (rounded up): PBS counts in 1024s."""
    kilobytes = -(-amount // 1024)
    for unit in ("kb", "mb", "gb"):
        if kilobytes % 1024 or unit == "gb":
            return f"{kilobytes}{unit}"
        kilobytes //= 1024
    return f"{kilobytes}gb"


def read_number(text: str | None) -> int | None:
    """A whole number, not negative; None for anything else."""
    stripped = (text or "").strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) < 19 else None


_HOST = re.compile(r"([A-Za-z0-9_][\w.-]*)(?:/([\d,-]+)(?:\*(\d{1,9}))?)?", re.ASCII)


def read_exec_host(text: str) -> dict[str, int]:
    """Cores by host of `n1/0*4+n2/0*4` (PBS: index and number), `n11/7+n11/6` or `n11/0-3,5` (Torque: each core)."""
    cores: dict[str, int] = {}
    for part in text.split("+"):
        match = _HOST.fullmatch(part.strip())
        if match is None:
            continue
        count = int(match[3]) if match[3] else _listed(match[2] or "0")
        cores[match[1]] = cores.get(match[1], 0) + count
    return cores


def _listed(indices: str) -> int:
    total = 0
    for item in indices.split(","):
        low, dash, high = item.partition("-")
        total += max(int(high) - int(low) + 1, 0) if dash and low and high else 1
    return total


@functools.lru_cache(maxsize=4096)
def hosts_of(text: str) -> tuple[str, ...]:
    """The hosts of an `exec_host` in their order."""
    return tuple(read_exec_host(text))
