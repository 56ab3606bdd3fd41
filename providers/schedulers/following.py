"""Follows a scheduler's event stream: one turn is a command that ends as soon as it has told of an end.

A transport runs a command to its end and then hands over what it printed; so a turn prints events as they come, and
ends itself a breath after the first that matters. That works wherever commands work, and a stream that was cut off, by
whatever, is only a turn without news: the next one begins where the last event was.

What a stream tells is where to look and never a job's state: it may lie, come twice or in the wrong order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.errors import CommandMissing, DragomanError
from dragoman.job import JobRef
from dragoman.protocols import EndsTold, TellsEnds, Transport

__all__ = ["EndStream", "ends_of", "sign_of_end", "turn_argv"]

_END = re.compile(r"dragoman-end:(\S+):(\d+)", re.ASCII)
_TURN = r"""
signs=$1 ids=$2; shift 2
d=$(mktemp -d) || exit 125
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$d"' EXIT
trap 'exit 143' HUP INT TERM
mkfifo "$d/told" || exit 125
exec 3<>"$d/told" 4<"$d/told"
one() {
  id=$1; shift
  for word; do [ "$word" = "{}" ] && word=$id; set -- "$@" "$word"; shift; done
  trap 'kill "$c" 2>/dev/null; exit 143' TERM
  "$@" 3>&- 4>&- 2>>"$d/err" & c=$!
  wait "$c"; printf '\ndragoman-end:%s:%s\n' "$id" "$?"
}
stop() { sleep 0.1; kill $pids; echo dragoman-stop >"$d/told"; }
for id in $ids; do one "$id" "$@" >&3 4>&- & pids="$pids $!"; done
exec 3>&-
seen=
while IFS= read -r line; do
  [ "$line" != dragoman-stop ] || break
  printf '%s\n' "$line"
  for sign in $signs; do
    case $line in *"$sign"*) [ "$seen" ] || { seen=1; stop >/dev/null 2>&1 4>&- & } ;; esac
  done
done <&4
[ ! -s "$d/err" ] || head -c 4096 "$d/err" >&2
"""
"""A breath after the first sign all commands are ended, so that events which came together are told together. A wrapper
around the scheduler's command may leave that running with the pipe in its hand, so the end is told by a line."""


def turn_argv(argv: Sequence[str], *, signs: Sequence[str], ids: Sequence[str] = ("-",)) -> tuple[str, ...]:
    """A command that runs `argv` once for each id (in place of `{}`), side by side, until a line holds a sign.

    Each line is passed on as it came; `dragoman-end:ID:CODE` says that a command ended by itself.

    Args:
        argv: what to run.
        signs: words without blanks; any of them in a line ends the turn.
        ids: words without blanks.

    """
    return ("/bin/sh", "-c", _TURN, "dragoman", " ".join(signs), " ".join(ids), *argv)


def sign_of_end(id_: str) -> str:
    """The sign that the command of this id ended well."""
    return f"dragoman-end:{id_}:0"


def ends_of(text: str) -> tuple[dict[str, int], str]:
    """How the commands of a turn ended by themselves, by id, and the lines that they printed."""
    codes: dict[str, int] = {}
    lines = []
    for line in text.split("\n"):
        match = _END.fullmatch(line)
        if match is not None:
            codes[match[1]] = int(match[2])
        else:
            lines.append(line)
    return codes, "\n".join(lines)


class EndStream:
    """The stream of one site; turns are taken one after another.

    Args:
        dialect: of a scheduler that has a stream.
        transport: how commands reach the site.

    """

    def __init__(self, dialect: TellsEnds, transport: Transport) -> None:
        self._dialect = dialect
        self._transport = transport
        self.mark: str | None = None
        """Where the next turn begins; None: from anew."""

    async def turn(self, refs: Sequence[JobRef]) -> EndsTold | None:
        """What the next turn tells; None where this site's stream cannot be followed. It may last minutes."""
        command = self._dialect.follow_command(refs, self.mark)
        if command is None:
            return None
        try:
            done = await self._transport.run(command)
        except CommandMissing:
            return None
        except DragomanError as error:
            return EndsTold(mark=self.mark, trouble=str(error))
        told = self._dialect.parse_follow(done, refs, self.mark)
        self.mark = told.mark
        return told
