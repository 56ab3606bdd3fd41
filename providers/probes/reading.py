"""Many files of a site in one command: the reading script, and its output taken apart.

The script's text is fixed; paths are its arguments, so that nothing in them is ever read as shell.
"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.command import Command, Completed
from dragoman.observation import Outcome
from providers.probes.base import FileRead

__all__ = ["read_command", "split_reads"]

MAX_FILE_BYTES = 512 * 1024

# IFS is empty, so an unquoted $p is expanded as a pattern and never split. The frame's mark is random for each call:
# no file can forge it. Where a path is not seen, the nearest folder above that is there tells absent from forbidden.
# What the kernel makes up (sysfs(5)) is small, and is read by the shell itself: a process for each of its files would
# take longer than all else. Where that gives nothing, `head` and `ls` tell empty from forbidden and faulty.
_SCRIPT = r"""
mark=$1 limit=$2; shift 2
IFS=; set +f; index=0
if command -v timeout >/dev/null 2>&1; then bounded() { timeout 5 "$@"; }; else bounded() { "$@"; }; fi
here() {
  any='' line=''
  while read -r line; do printf '%s\n' "$line"; any=y; done <"$1"
  [ -z "$line" ] || { printf %s "$line"; any=y; }
  [ -n "$any" ]
}
names() {
  any=''
  for e in "$1"/*; do { [ -e "$e" ] || [ -L "$e" ]; } && { printf '%s\n' "${e##*/}"; any=y; }; done
  [ -n "$any" ]
}
for p do
  for f in $p; do
    if [ -d "$f" ]; then kind=d
    elif [ -e "$f" ]; then kind=f
    else
      kind=m above=$f
      while [ -n "$above" ] && [ ! -e "$above" ]; do above=${above%/*}; done
      above=${above:-/}
      if [ -d "$above" ]; then { [ -x "$above" ] && [ -r "$above" ]; } || kind=x; fi
    fi
    printf '%s%s %s %s\000' "$mark" "$kind" "$index" "$f"
    case $kind$f in
      d/sys/*) [ -r "$f" ] && [ -x "$f" ] && names "$f" || bounded ls -A -- "$f/" ;;
      f/sys/*|f/proc/sys/*) [ -r "$f" ] && here "$f" || bounded head -c "$limit" -- "$f" ;;
      d*) bounded ls -A -- "$f/" ;;
      f*) bounded head -c "$limit" -- "$f" ;;
    esac 2>/dev/null
    printf '%s%s\n' "$mark" "$?"
  done
  index=$((index + 1))
done
"""


def read_command(paths: Sequence[str], mark: str, *, timeout_s: float = 20.0) -> Command:
    """Read all these files; `mark` is a fresh random word."""
    argv = ("/bin/sh", "-c", _SCRIPT, "sh", mark, str(MAX_FILE_BYTES + 1), *paths)
    return Command(argv=argv, environment={"LC_ALL": "C"}, timeout_s=timeout_s, max_output_bytes=32 * 2**20)


def split_reads(done: Completed | Exception, paths: Sequence[str], mark: str) -> dict[str, tuple[FileRead, ...]]:
    """What was read, by path or pattern as asked. What the output does not tell is unknown."""
    reads: dict[str, list[FileRead]] = {path: [] for path in paths}
    if isinstance(done, Exception):
        return {path: (FileRead(path, Outcome.UNKNOWN, reason=str(done)),) for path in paths}
    parts = done.stdout.split(mark.encode())[1:]
    for head_and_data, end in zip(parts[::2], parts[1::2], strict=False):
        head, _, data = head_and_data.partition(b"\0")
        kind, index, path = head.decode("utf-8", "surrogateescape").split(" ", 2)
        code = end.strip()
        if not index.isdigit() or int(index) >= len(paths) or not code.isdigit():
            continue
        reads[paths[int(index)]].append(_read(path, kind, int(code), data))
    why = "the answer was cut" if done.truncated else f"the site's shell ended with exit {done.rc}"
    return {
        path: tuple(found) if found else (FileRead(path, Outcome.UNKNOWN, reason=why),) for path, found in reads.items()
    }


def _read(path: str, kind: str, code: int, data: bytes) -> FileRead:
    if kind == "m":
        return FileRead(path, Outcome.ABSENT, reason=f"{path} is not there")
    if kind == "x":
        return FileRead(path, Outcome.UNKNOWN, reason=f"{path} cannot be looked at: permission denied")
    if code == 124:
        return FileRead(path, Outcome.UNKNOWN, reason=f"{path} did not answer within 5 s")
    if code != 0:
        return FileRead(path, Outcome.UNKNOWN, reason=f"{path} cannot be read (exit {code})")
    if len(data) > MAX_FILE_BYTES:
        return FileRead(path, Outcome.UNKNOWN, reason=f"{path} is larger than {MAX_FILE_BYTES} bytes")
    return FileRead(path, Outcome.OK, data=data, folder=kind == "d")
