"""A program with its arguments as lines of a POSIX shell that run exactly it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

__all__ = ["command_body"]


def command_body(command: Sequence[str]) -> str:
    """The command quoted word by word; carriage returns are written out, for line ends of scripts are mended."""
    line = " ".join(shlex.quote(word) for word in command)
    if "\r" not in line:
        return f"{line}\n"
    return "cr=$(printf '\\r')\n" + line.replace("\r", "'\"$cr\"'") + "\n"
