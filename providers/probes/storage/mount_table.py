"""The mounts of a Linux host: proc(5) on mountinfo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Mount", "parse_mountinfo"]


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo, its escapes undone."""

    point: str
    kind: str
    source: str
    root: str = "/"
    options: tuple[str, ...] = ()
    super_options: tuple[str, ...] = ()

    @property
    def read_only(self) -> bool:
        """Whether the mount or the file system below it is read-only."""
        return "ro" in self.options or "ro" in self.super_options


def _unescape(text: str) -> str:
    r"""The kernel writes space, tab, newline and backslash as `\040`, `\011`, `\012` and `\134`, some tools any byte.

    Each escape is one byte of the path, which is UTF-8 where it is more than ASCII.
    """
    return re.sub(r"(?:\\[0-3][0-7]{2})+", _bytes, text)


def _bytes(escapes: re.Match[str]) -> str:
    return bytes(int(part, 8) for part in escapes[0].split("\\")[1:]).decode("utf-8", "replace")


@lru_cache(maxsize=16)  # every probe of storage reads the same text
def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """All mounts that can be reached: of several on one point, the last covers the others."""
    mounts: dict[str, Mount] = {}
    for line in text.split("\n"):
        left, dash, right = line.partition(" - ")
        fields, after = left.split(" "), right.split(" ")
        if not dash or len(fields) < 6 or len(after) < 2:
            continue
        point = _unescape(fields[4])
        mounts.pop(point, None)
        mounts[point] = Mount(
            point=point,
            kind=after[0],
            source=_unescape(after[1]),
            root=_unescape(fields[3]),
            options=tuple(fields[5].split(",")),
            super_options=tuple(after[2].split(",")) if len(after) > 2 else (),
        )
    return tuple(mounts.values())
