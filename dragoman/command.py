"""One command for a site, and what came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["Command", "Completed", "FileStat", "Told"]


@dataclass(frozen=True, slots=True)
class Command:
    """An argument list to run at a site; never a shell line."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    cwd: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the site's own environment."""
    unset: tuple[str, ...] = ()
    """Variables to remove; a name ending in `*` removes all that begin so (`SBATCH_*`)."""
    timeout_s: float = 60.0
    max_output_bytes: int = 16 * 2**20
    """Each stream is cut here and `truncated` set; the command is not disturbed."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ran to its end at the site. No answer at all is a `TransportError`, never a Completed."""

    argv: tuple[str, ...]
    rc: int
    """Exit code of the command itself; 128 + n where signal n ended it."""
    stdout: bytes
    stderr: bytes
    seconds: float = 0.0
    truncated: bool = False

    @property
    def out(self) -> str:
        """Stdout as text; bytes that are no UTF-8 become U+FFFD."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def err(self) -> str:
        """Stderr as text; bytes that are no UTF-8 become U+FFFD."""
        return self.stderr.decode("utf-8", "replace")


Told = Callable[[int, Completed | Exception], None]
"""Hears of one command of many: its place and what came of it."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What `stat` told of one path; links are not followed."""

    path: str
    kind: str
    """`file`, `directory`, `link` or `other`."""
    bytes: int
    mtime: float
    """Seconds since the epoch at the site."""
    mode: int
