"""The user's quota on a file system: how it is asked for, and the tables that tell it.

Sources: lfs-quota(1), quota(1), mmlsquota (IBM Storage Scale Command Reference), BeeGFS documentation ("Quota").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from dragoman.command import Command
from providers.probes.base import Paths
from providers.probes.storage.mount_table import Mount

__all__ = ["Quota", "QuotaQuestion", "parse_beegfs", "parse_mmlsquota", "parse_quota_table"]

KIB = 1024


@dataclass(frozen=True, slots=True)
class Quota:
    """Limit and what is left of it; both None: there is no limit."""

    limit_bytes: int | None = None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class QuotaQuestion:
    """How one kind of file system is asked, and how the answer is read (None: it tells nothing)."""

    ask: Callable[[Mount, Paths], Command]
    read: Callable[[str, Mount], Quota | None]


def _quota(used: int, soft: int, hard: int) -> Quota:
    """The hard limit counts where there is one: up to it files can be written, for the grace time."""
    limit = hard or soft
    return Quota(limit, max(0, limit - used)) if limit else Quota()


def _tightest(found: list[Quota]) -> Quota | None:
    limited = [each for each in found if each.free_bytes is not None]
    return min(limited, key=lambda each: each.free_bytes or 0) if limited else (found[0] if found else None)


_ROW = re.compile(
    r"(?<=\s)\[?(?P<used>\d{1,24})\]?\*?\s+\[?(?P<soft>\d{1,24})\]?\s+\[?(?P<hard>\d{1,24})\]?(?:\s+\S+){0,5}$"
)
"""What stands behind the place, which may hold blanks: found from its first number on, in linear time."""


def parse_quota_table(text: str, mount: Mount) -> Quota | None:
    """KiB of `lfs quota` and `quota -w -p`; `*` marks what is over, `[...]` what an absent server leaves out.

    A long place stands on a line of its own. A number in brackets is not all there is: then nothing is told.
    """
    carried = ""
    for line in text.splitlines():
        whole = f"{carried} {line}".strip()
        match = _ROW.search(whole)
        place = whole[: match.start()].rstrip() if match is not None else ""
        if match is None or place.rstrip(":") not in (mount.point, mount.source):
            carried = line if line.strip() in (mount.point, mount.source) else ""
            continue
        if "[" in match[0]:
            return None
        return _quota(int(match["used"]) * KIB, int(match["soft"]) * KIB, int(match["hard"]) * KIB)
    return None


def parse_mmlsquota(text: str, mount: Mount) -> Quota | None:
    """KiB of `mmlsquota -Y`; of several filesets, the one with the least room."""
    names: list[str] = []
    found: list[Quota] = []
    for line in text.splitlines():
        cells = [unquote(cell) for cell in line.split(":")]
        if len(cells) < 3 or not cells[0].startswith("mmlsquota"):
            continue
        if cells[2] == "HEADER":
            names = cells
            continue
        row = dict(zip(names, cells, strict=False))
        numbers = [row.get(key, "") for key in ("blockUsage", "blockQuota", "blockLimit")]
        if row.get("quotaType") == "USR" and all(number.isdigit() for number in numbers):
            used, soft, hard = (int(number) * KIB for number in numbers)
            found.append(_quota(used, soft, hard))
    return _tightest(found)


def parse_beegfs(text: str, mount: Mount) -> Quota | None:
    """Bytes of `beegfs-ctl --getquota --csv`; of several storage pools, the one with the least room."""
    found: list[Quota] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) >= 4 and cells[1].isdigit() and cells[2].isdigit():
            if cells[3].isdigit():
                found.append(_quota(int(cells[2]), 0, int(cells[3])))
            elif cells[3] == "unlimited":
                found.append(Quota())
    return _tightest(found)
