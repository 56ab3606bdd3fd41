"""Values as Slurm prints them: times, durations, ids, memory, TRES and GRES strings."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

__all__ = [
    "Gres", "JobId", "Moment", "base_id", "gres_gpus", "read_duration", "read_gres", "read_job_id", "read_memory",
    "read_moment", "read_tres", "tres_gpus",
]  # fmt: skip


class Moment(NamedTuple):
    """An instant in UTC, or None; `ambiguous` where the wall clock shows that time twice or never."""

    at: datetime | None
    ambiguous: bool = False


_NO_TIME = Moment(None)


def read_moment(text: str, zone: tzinfo = UTC) -> Moment:
    """An instant of `2024-07-01T12:00:00` in the clock's zone, or of `@1719835200`.

    `Unknown`, `N/A`, `NONE`, `(null)`, `INVALID` and anything else that is no time give None, and so do the epoch and
    times before 1971 (an unset time).
    """
    if not text or text[0] not in "12@":
        return _NO_TIME
    try:
        if zone is UTC and len(text) == 19:  # nearly all times: one step instead of three
            at = datetime.fromisoformat(f"{text}+00:00")
        elif text[0] == "@":
            at = datetime.fromtimestamp(float(text[1:]), UTC)
        else:
            at = datetime.fromisoformat(text)
            at = at.replace(tzinfo=zone) if at.tzinfo is None else at
        if at.year < 1971 or at.year > 9000:
            return _NO_TIME
        if zone is UTC:
            return Moment(at)
        ambiguous = at.tzinfo is zone and at.utcoffset() != at.replace(fold=1).utcoffset()
        return Moment(at.astimezone(UTC), ambiguous)
    except (ValueError, OverflowError, OSError):
        return _NO_TIME


_DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:\.\d+)?", re.ASCII)


def read_duration(text: str) -> float | None:
    """Seconds of `1-02:03:04`, `02:03:04` or `05:06` (minutes and seconds); infinite for `UNLIMITED`.

    None for `NOT_SET`, `INVALID`, `N/A`, `NONE`, `Partition_Limit` and whatever else is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is not None:
        days, hours, minutes, seconds = match.groups("0")
        return float(int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds))
    return math.inf if text.strip().upper() in {"UNLIMITED", "INFINITE"} else None


class JobId(NamedTuple):
    """A job id taken apart."""

    base: str
    """The id that sbatch printed: of the whole array or heterogeneous job."""
    tasks: tuple[range, ...] = ()
    """Array indices that this id stands for; one for `13_7`."""
    at_once: int | None = None
    """How many of them may run at once."""
    component: int | None = None
    """Of a heterogeneous job: `52+1` is component 1."""
    complete: bool = True
    """False where Slurm cut the list of indices short (`...`)."""

    @property
    def size(self) -> int:
        """How many jobs this id stands for."""
        return sum(len(part) for part in self.tasks) or 1


_ID = re.compile(r"(\d+)(?:_(?:(\d+)|\[([^\[\]]*)\]|(\*))|\+(\d+))?", re.ASCII)
_INDICES = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)


def base_id(job_id: str) -> str:
    """The part before `_` or `+`."""
    return job_id.partition("_")[0].partition("+")[0]


def read_job_id(text: str) -> JobId | None:
    """`812`, `13_7`, `13_[4-7%2]`, `13_[0-20:5]`, `52+0`; None for anything else."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        return None
    base, task, listed, _, component = match.groups()
    if component is not None:
        return JobId(base, component=int(component))
    if task is not None:
        return JobId(base, (range(int(task), int(task) + 1),))
    if listed is None:
        return JobId(base)
    indices, _, at_once = listed.partition("%")
    parts: list[range] = []
    complete = True
    for item in indices.split(","):
        found = _INDICES.fullmatch(item.strip())
        if found is None:
            complete = False
            continue
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        parts.append(range(first, last + 1, max(step, 1)))
    return JobId(base, tuple(parts), int(at_once) if at_once.isascii() and at_once.isdigit() else None, None, complete)


_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)(?:i?B)?[nc]?", re.IGNORECASE | re.ASCII)
_FACTOR = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}


def read_memory(text: str, *, unit: str = "M") -> int | None:
    """Bytes of `240000M`, `62.50G` or `16000` (in `unit`); None for `UNLIMITED`, `N/A`, and the like."""
    match = _MEMORY.fullmatch(text.strip())
    return math.ceil(float(match[1]) * _FACTOR[match[2].upper() or unit]) if match is not None else None


def read_tres(text: str) -> dict[str, str]:
    """`cpu=64,mem=240000M,gres/gpu:a100=4` by name."""
    pairs = (item.partition("=") for item in text.split(","))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals and name.strip()}


def tres_gpus(tres: dict[str, str]) -> dict[str | None, int] | None:
    """GPUs by model of a TRES string; the untyped entry is the total, so it is never added to the typed ones.

    None where a number cannot be read.
    """
    typed: dict[str | None, int] = {}
    total: int | None = None
    for name, value in tres.items():
        if name == "gres/gpu" or name.startswith("gres/gpu:"):
            if not (value.isascii() and value.isdigit()):
                return None
            if name == "gres/gpu":
                total = int(value)
            else:
                typed[name.removeprefix("gres/gpu:")] = int(value)
    if not typed:
        return {None: total} if total is not None else {}
    rest = (total or 0) - sum(typed.values())
    return {**typed, None: rest} if rest > 0 else typed


class Gres(NamedTuple):
    """One entry of a GRES string."""

    name: str
    model: str | None
    amount: int
    """1 where none is written."""


def read_gres(text: str) -> list[Gres] | None:
    """Entries of `gpu:a100:4(S:0-3),nvme:1,fs:scratch:no_consume:1`; None where one cannot be read.

    `gres:` and `gres/` before a name are taken off; what stands in parentheses says where, not how many.
    """
    if text.strip().lower() in {"", "(null)", "n/a", "none", "null"}:
        return []
    entries: list[Gres] = []
    for item in re.sub(r"\([^()]*\)", "", text).split(","):
        parts = [part for part in re.split(r"[:=]", item.strip()) if part.lower() != "no_consume"]
        if len(parts) > 1 and parts[0] == "gres":
            parts = parts[1:]
        parts[0] = parts[0].removeprefix("gres/")
        count = 1
        if len(parts) > 1 and (amount := _count(parts[-1])) is not None:
            count = amount
            parts = parts[:-1]
        if not parts[0] or len(parts) > 2 or any(not part for part in parts):
            return None
        entries.append(Gres(parts[0], parts[1] if len(parts) == 2 else None, count))
    return entries


_COUNT = re.compile(r"(\d+)([KMGTP]?)", re.IGNORECASE | re.ASCII)


def _count(text: str) -> int | None:
    match = _COUNT.fullmatch(text)
    return int(match[1]) * (_FACTOR[match[2].upper()] if match[2] else 1) if match is not None else None


def gres_gpus(text: str) -> dict[str | None, int] | None:
    """GPUs by model of a GRES string; None where it cannot be read."""
    entries = read_gres(text)
    if entries is None:
        return None
    found: dict[str | None, int] = {}
    for entry in entries:
        if entry.name == "gpu":
            found[entry.model] = found.get(entry.model, 0) + entry.amount
    return found
