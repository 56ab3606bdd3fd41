"""Files at a remote site as a mover needs them: what lies there, how much room there is, SHA-256. One sh for all.

For POSIX sh with `sha256sum` (GNU, busybox), `shasum` (BSD, macOS) or `openssl`. Every path is an argument.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.command import Command, Completed
from dragoman.errors import TransferError, TransportError
from dragoman.protocols import Transport
from providers.transports.remote_files import free_bytes

__all__ = ["Seen", "list_folder", "look", "make_folders", "remove_parts", "room_at"]

PATHS_AT_ONCE = 400
HASH_BYTES_PER_S = 20 * 2**20
"""Slowest file system that is waited for."""

_LOOK = r"""
LC_ALL=C; export LC_ALL
hash=$1; shift
sum() { sha256sum; }
if [ "$hash" = yes ] && ! command -v sha256sum >/dev/null 2>&1; then
  if command -v shasum >/dev/null 2>&1; then sum() { shasum -a 256; }
  elif command -v openssl >/dev/null 2>&1; then sum() { openssl dgst -sha256 -r; }
  else echo none; exit 0; fi
fi
for p do
  if [ -L "$p" ]; then echo link; continue; fi
  if [ -d "$p" ]; then echo folder; continue; fi
  if [ ! -e "$p" ]; then
    a=$p; while [ -n "$a" ] && [ ! -e "$a" ]; do a=${a%/*}; done; a=${a:-/}
    if [ ! -d "$a" ] || [ -x "$a" ]; then echo absent; else echo trouble Permission denied; fi
    continue
  fi
  if [ ! -f "$p" ]; then echo other; continue; fi
  if [ ! -r "$p" ]; then echo trouble Permission denied; continue; fi
  m=$(stat -c %a "$p" 2>/dev/null || stat -f %Lp "$p" 2>/dev/null) || m=644
  n=$(wc -c <"$p") h=-
  if [ "$hash" = yes ]; then h=$(sum <"$p") || { echo trouble it cannot be read; continue; }; fi
  echo file $((n)) "$m" "${h%% *}"
done
"""
_ROOM = r"""
LC_ALL=C; export LC_ALL
a=$1; while [ -n "$a" ] && [ ! -d "$a" ]; do a=${a%/*}; done
df -Pk "${a:-/}" | tail -n 1
"""
_LIST = 'cd "$1" && find -P . ! -type d ! -type f -print0 && printf "//\\000" && find -P . -type f -print0'
_REMOVE = r"""
part=$1; shift
for p do
  d=${p%/*}
  rm -rf "$d/$part"; rm -f "$p"
done
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What lies at one path: `file`, `folder`, `link`, `other`, `absent`."""

    path: str
    kind: str
    bytes: int = 0
    mode: int = 0
    sha256: str = ""


async def look(transport: Transport, paths: Sequence[str], *, digest: bool, bytes_: int = 0) -> dict[str, Seen]:
    """What lies at these paths.

    Args:
        transport: to the site.
        paths: absolute.
        digest: also the SHA-256 of files.
        bytes_: how much there is to read in all, for the time limit.

    Raises:
        TransferError: a file cannot be read, or the site has no program for SHA-256.
        TransportError: no answer, or not a whole one.

    """
    found: dict[str, Seen] = {}
    for start in range(0, len(paths), PATHS_AT_ONCE):
        part = paths[start : start + PATHS_AT_ONCE]
        done = await transport.run(
            Command(
                ("/bin/sh", "-c", _LOOK, "dragoman", "yes" if digest else "no", *part),
                timeout_s=120 + bytes_ / HASH_BYTES_PER_S,
            )
        )
        lines = done.out.splitlines()
        if lines == ["none"]:
            raise TransferError(
                "the site has no program for SHA-256",
                where=transport.identity,
                cure="install coreutils or openssl there",
            )
        if done.rc != 0 or len(lines) != len(part):
            raise TransportError(
                f"the site's answer about files came incomplete: {_last(done)}", where=part[0], cure="look again"
            )
        found |= {path: _read(path, line) for path, line in zip(part, lines, strict=True)}
    return found


def _read(path: str, line: str) -> Seen:
    kind, *rest = line.split(" ")
    if kind == "trouble":
        raise TransferError(f"cannot be read at the site: {' '.join(rest)}", where=path, cure="make it readable")
    if kind != "file":
        return Seen(path, kind)
    return Seen(path, kind, int(rest[0]), int(rest[1], 8) & 0o777, rest[2] if rest[2] != "-" else "")


async def list_folder(transport: Transport, folder: str) -> list[str]:
    """Names of all files below a folder, relative to it.

    Raises:
        TransferError: something there is no file: a link, a pipe, a device.
        TransportError: no answer.

    """
    done = await transport.run(Command(("/bin/sh", "-c", _LIST, "dragoman", folder), timeout_s=300))
    others, mark, files = done.stdout.partition(b"//\0")
    if done.rc != 0 or done.truncated or not mark:
        raise TransportError(f"the folder could not be listed: {_last(done)}", where=folder, cure="look again")
    names = [raw.decode("utf-8", "surrogateescape") for raw in others.split(b"\0") if raw]
    if names:
        raise TransferError(
            "is a link or no file", where=posixpath.join(folder, names[0]), cure="have the job leave files, not links"
        )
    return sorted(raw.decode("utf-8", "surrogateescape").removeprefix("./") for raw in files.split(b"\0") if raw)


async def room_at(transport: Transport, folder: str) -> int | None:
    """Free bytes where a folder is or would be; None where that cannot be told. Raises `TransportError`."""
    done = await transport.run(Command(("/bin/sh", "-c", _ROOM, "dragoman", folder)))
    return free_bytes(done.out) if done.rc == 0 else None


async def make_folders(transport: Transport, folders: Sequence[str]) -> None:
    """Make folders with their parents; again is fine. Raises `TransferError`, `TransportError`."""
    for start in range(0, len(folders), PATHS_AT_ONCE):
        done = await transport.run(Command(("mkdir", "-p", "--", *folders[start : start + PATHS_AT_ONCE])))
        if done.rc != 0:
            raise TransferError(
                f"a folder cannot be made at the site: {_last(done)}", where=folders[0], cure="see to it"
            )


async def remove_parts(transport: Transport, partial: str, files: Sequence[str]) -> None:
    """Remove temporary files, and the folder of that name beside each. Raises `TransportError`."""
    for start in range(0, len(files), PATHS_AT_ONCE):
        part = files[start : start + PATHS_AT_ONCE]
        await transport.run(Command(("/bin/sh", "-c", _REMOVE, "dragoman", partial, *part)))


def _last(done: Completed) -> str:
    lines = done.err.strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {done.rc}"
