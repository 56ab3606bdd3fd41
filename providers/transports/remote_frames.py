"""Answers taken out of what a connection says: only the text between a call's own marks counts. Pure."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dragoman.command import Command, Completed
from dragoman.errors import CommandMissing, CommandTimeout, FileMissing, TransportError

__all__ = ["BatchReader", "End", "Frame", "answer", "batch_answers", "environment_told", "read_frame"]

NOISE = 16 * 1024
"""Bytes that are kept of what comes before the frame: it may tell why there is none."""
_LONGEST_END = 80


@dataclass(frozen=True, slots=True)
class End:
    """What the end of a frame says."""

    rc: int
    why: str = ""
    """`timeout`, `missing`, `folder`: not the command's own doing; `nowhere`, `full`: a batch without room."""


@dataclass(slots=True)
class Frame:
    """One stream of one exchange, fed as it comes. `data` is what lies between the marks, up to `limit` bytes."""

    mark: str
    limit: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    begun: bool = False
    end: End | None = None
    noise: bytearray = field(default_factory=bytearray)
    """Text before the frame: banners, what start-up files print, and what the ssh client itself says."""
    heard: Callable[[], None] | None = None
    """Called whenever more has come."""
    _held: bytearray = field(default_factory=bytearray)

    def feed(self, chunk: bytes) -> None:
        """Take what came next."""
        if self.end is None:
            self._feed(chunk)
            if self.begun and self.heard is not None:
                self.heard()

    def _feed(self, chunk: bytes) -> None:
        self._held += chunk
        if not self.begun and not self._begin():
            return
        found = re.search(re.escape(self.mark).encode() + rb"-END rc=(\d{1,10})(?: (\w*))?\n", self._held)
        if found:
            # The match looks into the buffer: it is read before the buffer is emptied.
            self.end = End(int(found[1]), (found[2] or b"").decode())
            self._keep(self._held[: found.start()])
            self._held.clear()
            return
        safe = len(self._held) - len(self.mark) - _LONGEST_END
        if safe > 0:
            self._keep(self._held[:safe])
            del self._held[:safe]

    def _begin(self) -> bool:
        mark = f"{self.mark}-BEGIN\n".encode()
        at = self._held.find(mark)
        if at < 0:
            safe = len(self._held) - len(mark)
            if safe > 0:
                self.noise += self._held[:safe]
                del self.noise[: max(0, len(self.noise) - NOISE)]
                del self._held[:safe]
            return False
        self.noise += self._held[:at]
        del self._held[: at + len(mark)]
        self.begun = True
        return True

    def _keep(self, part: bytearray) -> None:
        room = self.limit - len(self.data)
        self.data += part[:room]
        self.truncated = self.truncated or len(part) > room

    def restart(self) -> None:
        """Forget what was said: the exchange is begun anew, because nothing was run."""
        self.noise.clear()
        self._held.clear()

    @property
    def outside(self) -> str:
        """What was said outside of the frame, as text; of a frame that never ended, all that is left of it too."""
        last = self.data[-NOISE:] if self.begun else b""
        return bytes(self.noise + last + self._held).decode("utf-8", "replace")


def read_frame(raw: bytes, mark: str, limit: int = 16 * 2**20) -> Frame:
    """The frame in a whole output. Without its end there is no answer.

    Raises:
        TransportError: there is no end mark.

    """
    frame = Frame(mark, limit)
    frame.feed(raw)
    if frame.end is None:
        raise TransportError("the answer came without its end", cure="ask again")
    return frame


def answer(command: Command, out: Frame, err: Frame, seconds: float) -> Completed:
    """The command's own result.

    Raises:
        CommandMissing: the site has no such command.
        FileMissing: there is no folder `cwd` there.
        CommandTimeout: it was ended at its time limit.
        TransportError: there is no end mark.

    """
    if out.end is None:
        raise TransportError("the answer came without its end", where=command.argv[0], cure="ask again")
    _raise_for(command, out.end)
    return Completed(
        command.argv, out.end.rc, bytes(out.data), bytes(err.data), seconds, out.truncated or err.truncated
    )


def _raise_for(command: Command, end: End) -> None:
    if end.why == "missing":
        raise CommandMissing(
            "there is no such command at the site", where=command.argv[0], cure="install it, or mend the PATH there"
        )
    if end.why == "folder":
        raise FileMissing("there is no such folder at the site", where=command.cwd or "", cure="create it first")
    if end.why == "timeout":
        raise CommandTimeout(
            f"no end within {command.timeout_s:g} s", where=command.argv[0], cure="try again, or allow more time"
        )
    if end.why:
        raise TransportError(f"gave no answer ({end.why})", where=command.argv[0], cure="ask again")


class BatchReader:
    """Takes each command's result out of a batch as it comes, in whatever order commands end."""

    def __init__(self, commands: Sequence[Command], out: Frame) -> None:
        self.commands = commands
        self.out = out
        self.answers: list[Completed | Exception] = [
            TransportError("the answer came incomplete", where=command.argv[0], cure="ask again")
            for command in commands
        ]
        self.open = set(range(len(commands)))
        """Places of those without an answer yet."""
        self._mark = re.escape(out.mark).encode()
        self._whole = re.compile(
            self._mark + rb"-OUT (\d{1,6})\n(.*?)" + self._mark + rb"-ERR \1\n(.*?)"
            + self._mark + rb"-RC \1 rc=(\d{1,10}) (\w*)\n",
            re.DOTALL,
        )  # fmt: skip
        self._at = 0
        self._searched = 0
        self._begun = time.monotonic()

    def take(self) -> list[int]:
        """Places of the commands whose answer has come since the last call."""
        come: list[int] = []
        data, closing = self.out.data, self.out.mark.encode() + b"-RC "
        # Only where an end has come is there something to take: long outputs are not looked through again and again.
        while (end := data.find(closing, max(self._searched, self._at))) >= 0:
            line_end = data.find(b"\n", end)
            if line_end < 0:
                self._searched = end
                return come
            self._searched = line_end
            found = self._whole.search(data, self._at, line_end + 1)
            self._at = line_end + 1
            place = int(found[1]) - 1 if found is not None else -1
            if found is None or place not in self.open:
                continue
            end_told = End(int(found[4]), found[5].decode())
            seconds = time.monotonic() - self._begun
            self.answers[place] = _inner(self.commands[place], bytes(found[2]), bytes(found[3]), end_told, seconds)
            self.open.discard(place)
            come.append(place)
        self._searched = max(self._searched, len(data) - len(closing))
        return come


def batch_answers(commands: Sequence[Command], out: Frame) -> list[Completed | Exception]:
    """Each command's result in its order, from a batch that has ended."""
    reader = BatchReader(commands, out)
    reader.take()
    return reader.answers


def environment_told(out: Frame) -> bytes:
    """The environment that a batch tells after its answers, as `NAME=value` divided by NUL; empty where it does not."""
    _, found, told = bytes(out.data).rpartition(out.mark.encode() + b"-ENV\n")
    return told if found else b""


def _inner(command: Command, stdout: bytes, stderr: bytes, end: End, seconds: float) -> Completed | Exception:
    try:
        _raise_for(command, end)
    except (CommandMissing, FileMissing, TransportError) as error:
        return error
    cap = command.max_output_bytes
    return Completed(
        command.argv, end.rc, stdout[:cap], stderr[:cap], seconds, truncated=len(stdout) > cap or len(stderr) > cap
    )
