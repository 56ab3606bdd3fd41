"""Small files at a remote site as commands of its own shell: read, written and looked at, in one round trip each. Pure.

Every script answers with a word on its first line, so that "there is none" and "it cannot be told" stay apart on GNU,
BSD and busybox userlands, whatever language the site speaks. Paths are arguments, never text of the script.
"""

from __future__ import annotations

import math
import secrets
import stat as modes

from dragoman.command import Command, Completed, FileStat
from dragoman.errors import BadRequest, FileMissing, StorageFull, TransportError

__all__ = [
    "free_bytes", "read_answer", "read_command", "stat_answer", "stat_command", "write_answer", "write_command",
]  # fmt: skip

# A path is shown to be absent only where the nearest folder above it could be searched.
_PRELUDE = r"""
LC_ALL=C; export LC_ALL
p=$1; case $p in /*) ;; *) p=./$p ;; esac
say() { printf '%s\n' "$*"; exit 0; }
absent() {
  a=$p; while [ -n "$a" ] && [ ! -e "$a" ]; do a=${a%/*}; done; a=${a:-/}
  if [ ! -d "$a" ] || [ -x "$a" ]; then say absent; fi; say 'trouble Permission denied'
}
"""
_READ = (
    _PRELUDE
    + r"""
if [ ! -e "$p" ]; then absent; fi
if [ ! -f "$p" ]; then say 'trouble is no regular file'; fi
if [ ! -r "$p" ]; then say 'trouble Permission denied'; fi
echo found
exec "$2" -c "$3" "$p"
"""
)
_STAT = (
    _PRELUDE
    + r"""
if [ ! -e "$p" ] && [ ! -L "$p" ]; then absent; fi
for f in '%f %s %.9Y' '%f %s %Y'; do
  t=$(stat -c "$f" "$p" 2>/dev/null) || continue
  case $t in *' ?' | *%* | *[!0-9a-f.\ ]*) ;; *) say "gnu $t" ;; esac
done
for f in '%p %z %Fm' '%p %z %m'; do
  t=$(stat -f "$f" "$p" 2>/dev/null) || continue
  case $t in *[!0-9.\ ]*) ;; *) say "bsd $t" ;; esac
done
say 'trouble the site has no stat command'
"""
)
# The name is random: two writers of one path never share it. `mv` onto a folder would move into it, and onto a pipe or
# a device would put a file in its place.
_WRITE = (
    _PRELUDE
    + r"""
if [ -d "$p" ]; then cat >/dev/null; say 'trouble is a folder'; fi
if [ -e "$p" ] && [ ! -f "$p" ]; then cat >/dev/null; say 'trouble is no regular file'; fi
d=${p%/*}; d=${d:-/}
e=$(mkdir -p "$d" 2>&1) || { cat >/dev/null; say "trouble $e"; }
t=$d/.dragoman-$4.part
trap 'rm -f "$t"' EXIT
trap 'exit 1' HUP INT TERM
umask 077
e=$({ cat >"$t"; } 2>&1) || {
  f=$(df -Pk "$d" 2>/dev/null | tail -n 1)
  cat >/dev/null
  say "unwritten $f
$e"
}
n=$(wc -c <"$t") || say 'trouble cannot be read back'
if [ "$n" -ne "$3" ]; then say "cut $n"; fi
e=$(chmod "$2" "$t" 2>&1) || say "trouble $e"
sync "$t" 2>/dev/null
e=$(mv -f "$t" "$p" 2>&1) || say "trouble $e"
say written
"""
)


def read_command(path: str, max_bytes: int, *, tail: bool, timeout_s: float) -> Command:
    """Read the first, or the last, bytes of a regular file."""
    program = "tail" if tail else "head"
    argv = ("/bin/sh", "-c", _READ, "dragoman", _checked(path), program, str(max_bytes))
    return Command(argv, timeout_s=timeout_s, max_output_bytes=max_bytes + 64)


def read_answer(path: str, done: Completed) -> bytes:
    """What the file holds.

    Raises:
        FileMissing: the site shows that there is none.
        TransportError: it cannot be read, or the answer is not whole.

    """
    head, data = _split(path, done)
    if head == "found" and done.rc == 0 and not done.truncated:
        return data
    raise _no_answer(path, head, done, "read")


def stat_command(path: str, *, timeout_s: float) -> Command:
    """Look at the path itself, not at what a link leads to."""
    return Command(("/bin/sh", "-c", _STAT, "dragoman", _checked(path)), timeout_s=timeout_s)


def stat_answer(path: str, done: Completed) -> FileStat | None:
    """What lies there; None where the site shows that nothing does. Raises `TransportError`."""
    head, _ = _split(path, done)
    if head == "absent":
        return None
    try:
        family, mode, size, mtime = head.split(" ")
        bits = int(mode, {"gnu": 16, "bsd": 8}[family])
        return FileStat(path, _kind(bits), int(size), float(mtime), modes.S_IMODE(bits))
    except (ValueError, KeyError):
        raise _no_answer(path, head, done, "looked at") from None


def write_command(path: str, data: bytes, mode: int, *, timeout_s: float) -> Command:
    """Write under a temporary name in the same folder, then rename."""
    argv = (
        "/bin/sh", "-c", _WRITE, "dragoman", _checked(path), f"{modes.S_IMODE(mode):04o}", str(len(data)),
        secrets.token_hex(8),
    )  # fmt: skip
    return Command(argv, stdin=data, timeout_s=timeout_s)


def write_answer(path: str, data: bytes, done: Completed) -> None:
    """Whether it was written.

    Raises:
        StorageFull: no room or quota; what was there before is unchanged.
        TransportError: it was not written, or that is not known.

    """
    head, rest = _split(path, done)
    if head == "written":
        return
    words = rest.decode("utf-8", "replace")
    if head.startswith("unwritten") and any(each in words for each in ("No space left", "quota exceeded")):
        raise StorageFull(
            "there is no room at the site", where=path, cure="make room, then go on", needed=len(data),
            free=free_bytes(head),
        )  # fmt: skip
    if head.startswith("unwritten"):
        raise TransportError(f"cannot be written: {_last(words)}", where=path, cure="look at its folder")
    if head.startswith("cut"):
        raise TransportError("the connection broke while it was sent", where=path, cure="write it again")
    raise _no_answer(path, head, done, "written")


def free_bytes(row: str) -> int | None:
    """Free bytes in a row of `df -Pk` (POSIX): the fourth column, counted from the percentage."""
    fields = row.split()
    for index, text in enumerate(fields):
        if text.endswith("%") and index >= 1 and fields[index - 1].isdigit():
            return int(fields[index - 1]) * 1024
    return None


def file_seconds(size: int, least: float) -> float:
    """Time for a file: a slow line (1 MB in 4 s) is no fault."""
    return max(least, math.ceil(size / 250_000))


def _split(path: str, done: Completed) -> tuple[str, bytes]:
    head, newline, rest = done.stdout.partition(b"\n")
    if not newline:
        raise _no_answer(path, "", done, "looked at")
    return head.decode("utf-8", "replace"), rest


def _no_answer(path: str, head: str, done: Completed, verb: str) -> FileMissing | TransportError:
    if head == "absent":
        return FileMissing("there is no such file at the site", where=path, cure="look at the path")
    why = head.removeprefix("trouble ") if head.startswith("trouble ") else _last(done.err) or f"exit code {done.rc}"
    return TransportError(f"cannot be {verb}: {why}", where=path, cure="look at its permissions and its mount")


def _last(words: str) -> str:
    lines = words.strip().splitlines()
    return lines[-1][:300] if lines else ""


def _kind(bits: int) -> str:
    for name, test in (("file", modes.S_ISREG), ("directory", modes.S_ISDIR), ("link", modes.S_ISLNK)):
        if test(bits):
            return name
    return "other"


def _checked(path: str) -> str:
    if not path or "\0" in path:
        raise BadRequest("is no path", where=repr(path), cure="give a path without NUL characters")
    return path
