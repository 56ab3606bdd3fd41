"""What the start-up files of a login shell exported, kept for a while: reading them may take longer than the commands.

Kept in memory alone, for one transport, and only ever sent back to the site that it came from.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable

__all__ = ["MOST_BYTES", "KeptEnvironment", "export_lines"]

MOST_BYTES = 64 * 1024
"""A larger environment is not kept: sending it would take longer than making it."""
KEEP_S = 300.0

_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_OF_THE_SESSION = frozenset(
    b"BASHOPTS BASH_VERSINFO EUID OLDPWD PPID PWD SHELLOPTS SHLVL SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY UID"
    b" XDG_SESSION_ID _".split()
)
"""Each session has its own, or they cannot be set."""


def export_lines(told: bytes) -> bytes:
    """Lines of shell that export the variables of an environment as /proc/PID/environ has it; see proc(5).

    Empty where it was cut, or is none: a login shell always has a PATH.
    """
    if not told.endswith(b"\0") or len(told) >= MOST_BYTES:
        return b""
    lines, names = [], set()
    for each in told.split(b"\0"):
        name, equals, value = each.partition(b"=")
        if equals and _NAME.fullmatch(name) and name not in _OF_THE_SESSION and not name.startswith(b"dgm_"):
            names.add(name)
            lines.append(b"export " + name + b"=" + shlex.quote(value.decode("latin-1")).encode("latin-1"))
    return b"\n".join(lines) if b"PATH" in names else b""


class KeptEnvironment:
    """The lines that make it, for as long as they are kept.

    Args:
        keep_s: how long; a change of the start-up files is seen after that.
        clock: monotonic seconds.

    """

    def __init__(self, keep_s: float = KEEP_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep_s, self._clock = keep_s, clock
        self._lines, self._until = b"", 0.0

    @property
    def text(self) -> bytes:
        """Lines of shell; empty where nothing is kept."""
        return self._lines if self._clock() < self._until else b""

    def take(self, told: bytes) -> None:
        """Keep what a site told."""
        self._lines = export_lines(told)
        self._until = self._clock() + self._keep_s
