"""Commands as one script for the site's shell, and the one line that any login shell starts it with. Pure.

The line's text is always the same and holds no character that csh, fish or zsh read otherwise than sh: it starts a
POSIX shell, through a login shell where the user's PATH is wanted, which reads the script as the first line of standard
input. So nothing of a command is ever read by the login shell or seen in the list of processes, and a login script
that reads its standard input finds it empty. What follows the first line is the command's own input.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path

from dragoman.command import Command
from dragoman.errors import BadRequest

__all__ = [
    "LANES",
    "PATIENCE_S",
    "batch_seconds",
    "batch_text",
    "check",
    "encodable",
    "encode",
    "fits_batch",
    "fresh_mark",
    "line",
    "single_text",
    "whole",
]

LANES = 8
"""Commands of one batch that run side by side at the site."""
PATIENCE_S = 1
"""Seconds after which a batch passes on what it has, and what waits behind slow commands gets more lanes."""
BATCH_STDIN = 16 * 1024
"""A command with more input than this is sent by itself."""

_SOURCE = Path(__file__).with_name("remote_driver.sh").read_text(encoding="utf-8")
_DRIVER = "\n".join(each.strip() for each in _SOURCE.splitlines() if each.strip() and not each.lstrip().startswith("#"))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")

_READER = 'IFS= read -r d && eval "$(printf %b "$d")"'
_AFTER_LOGIN = 'exec /bin/sh -c "$1" sh <&3 3<&-'
# csh and fish have read the user's start-up files by now; POSIX shells only do so as login shells. Descriptor 3 keeps
# standard input from those files.
_LOGIN = (
    'case "${SHELL##*/}" in bash|zsh|ksh|ksh93|mksh|dash|ash|sh) '
    'exec "$SHELL" -l -c "$1" "$SHELL" "$2" 3<&0 </dev/null;; esac; exec /bin/sh -c "$2" sh'
)


def line(*, login: bool) -> str:
    """What the login shell is given.

    Args:
        login: whether start-up files of a login shell are read first (`/etc/profile`, `~/.profile`, ...).

    """
    if not login:
        return f"exec /bin/sh -c '{_READER}'"
    return f"exec /bin/sh -c '{_LOGIN}' sh '{_AFTER_LOGIN}' '{_READER}'"


def fresh_mark() -> str:
    """A word that nothing at the site can know before it is used."""
    return f"@@DGM-{secrets.token_hex(12)}"


def single_text(command: Command, mark: str, *, environment: bytes = b"") -> bytes:
    """The script for one command whose output comes as it is written; `environment` has lines of shell that set it."""
    return _text(mark, [_function(1, command, b"")], "single", environment)


def batch_text(commands: Sequence[Command], mark: str, *, environment: bytes = b"", tell: bool = False) -> bytes:
    """The script for several commands side by side.

    Args:
        commands: what is run.
        mark: of the frame.
        environment: lines of shell that set it first.
        tell: let the answer end with the environment that the shell was started in.

    """
    functions = [_function(number, command, command.stdin) for number, command in enumerate(commands, 1)]
    functions += [
        b"dgm_p%d=%s" % (number, _word(command.argv[0]))
        for number, command in enumerate(commands, 1)
        if _plain(command)
    ]
    functions += [f"cap{number}={command.max_output_bytes + 1}".encode() for number, command in enumerate(commands, 1)]
    return _text(
        mark, functions, f"batch {len(commands)} {LANES} {PATIENCE_S} {'tell' if tell else ''}".rstrip(), environment
    )


def batch_seconds(commands: Sequence[Command]) -> float:
    """When a batch has ended for sure: no lane is idle while something waits (Graham's bound), and ends take 3 s."""
    longest = max(command.timeout_s for command in commands)
    return (sum(command.timeout_s + 3 for command in commands) - longest) / LANES + longest


def fits_batch(command: Command) -> bool:
    """Whether a command may be sent together with others."""
    return len(command.stdin) <= BATCH_STDIN


def encode(script: bytes) -> bytes:
    """A script as one line of printable ASCII that `printf %b` turns back (POSIX printf, octal escapes)."""
    return b"".join(_ENCODED[byte] for byte in script) + b"\n"


def whole(script: bytes, mark: str) -> bytes:
    """A script that is all there is on standard input: its first line has the rest read at once.

    A shell reads a line byte by byte, which takes longer than the commands of a long script. What was cut is not run.
    """
    end = f"#{mark}-WHOLE"
    first = f'd=$(cat || /bin/cat); case $d in *"{end}") eval "$d" ;; esac'
    return encode(first.encode()) + script + end.encode() + b"\n"


_ENCODED = [
    bytes((code,)) if 32 <= code < 127 and code != ord("\\") else f"\\0{code:03o}".encode() for code in range(256)
]


def check(command: Command) -> None:
    """Refuse what no shell can pass on unchanged.

    Raises:
        BadRequest: no program, a program that looks like an option, a NUL character, or an odd variable's name.

    """
    if not command.argv or not command.argv[0]:
        raise BadRequest("there is no command to run", where="argv", cure="name a program")
    if command.argv[0].startswith("-"):
        raise BadRequest("a program's name begins with a dash", where=command.argv[0], cure="write its path")
    for text in (*command.argv, command.cwd or "", *command.environment.values()):
        if "\0" in text or not encodable(text):
            raise BadRequest("a character that no argument can hold", where=ascii(text[:80]), cure="remove it")
    for name in command.environment:
        if not _NAME.fullmatch(name):
            raise BadRequest(f"{name!r} is no variable's name", where=command.argv[0], cure="use letters, digits and _")
    for name in command.unset:
        if not _PATTERN.fullmatch(name):
            raise BadRequest(f"{name!r} is no variable's name", where=command.argv[0], cure="use letters, digits and _")


def encodable(text: str) -> bool:
    """Whether the system's calls take it: half a surrogate pair that stands for no byte is none of a name."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _text(mark: str, functions: Sequence[bytes], call: str, environment: bytes = b"") -> bytes:
    return b"\n".join([environment, f"dgm_mark={mark}".encode(), _DRIVER.encode(), *functions, call.encode(), b""])


def _function(number: int, command: Command, stdin: bytes) -> bytes:
    lines = [f"c{number}() {{".encode()]
    if stdin:
        lines.append(b"printf %b " + _quoted(encode(stdin)[:-1]) + f' >"$dgm_folder/{number}.i"'.encode())
        lines.append(f'exec 3<"$dgm_folder/{number}.i"'.encode())
    if command.cwd is not None:
        lines.append(b"enter " + _word(command.cwd) + b" || return 0")
    exact = [name for name in command.unset if not name.endswith("*")]
    patterns = [name for name in command.unset if name.endswith("*")]
    if patterns:
        lines.append(f"drop '{'|'.join(patterns)}'".encode())
    lines += [f"command unset {name}".encode() for name in exact]
    lines += [f"export {name}=".encode() + _word(value) for name, value in command.environment.items()]
    lines.append(f"go {math.ceil(command.timeout_s)} ".encode() + b" ".join(map(_word, command.argv)))
    lines.append(b"}")
    return b"\n".join(lines)


def _plain(command: Command) -> bool:
    """Whether its program is looked for along the PATH that is there already."""
    bare = "/" not in command.argv[0] and command.cwd is None and not command.stdin
    return (
        bare and "PATH" not in command.environment and not any("PATH".startswith(each[:-1]) for each in command.unset)
    )


def _word(text: str) -> bytes:
    # By bytes: a name at the site may be no UTF-8, and Python then holds it with surrogates.
    return _quoted(os.fsencode(text))


def _quoted(raw: bytes) -> bytes:
    return shlex.quote(raw.decode("latin-1")).encode("latin-1")
