"""What all transports over a connection share: commands and files put into exchanges, and answers taken out of them."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import anyio

from dragoman.command import Command, Completed, FileStat, Told
from dragoman.errors import BadRequest, CommandTimeout, DragomanError, TransportError
from providers.transports import remote_files
from providers.transports.remote_breaks import once_more
from providers.transports.remote_environment import MOST_BYTES, KeptEnvironment
from providers.transports.remote_frames import BatchReader, Frame, answer, environment_told
from providers.transports.remote_script import (
    LANES,
    batch_seconds,
    batch_text,
    check,
    encode,
    fits_batch,
    fresh_mark,
    line,
    single_text,
    whole,
)

__all__ = ["RemoteTransport"]

GRACE_S = 10.0
"""The site ends a command at its time limit and says so; only this much later is it given up here."""
BATCH_COMMANDS = 128
BATCH_BYTES = 256 * 1024


class RemoteTransport(ABC):
    """Runs commands and moves small files at a remote site.

    A subclass says one thing: how to start a line in the login shell there and pass the streams (`_exchange`). An
    answer is only what stands between the marks of its own call; without an end mark there is none (`TransportError`),
    whatever the exit code of the connection says. A command that ran into its time limit is ended at the site with its
    process group; one whose connection broke runs on there until then.

    A connection that was found dead before the command began is made anew, once. Questions (`run_many`, `read_file`,
    `stat`) are put a second time also where they may have begun and gave no answer; what may act (`run`) never is.

    Args:
        login: read the start-up files of a login shell, so that the PATH is as the user knows it.
        file_timeout_s: for reading, writing and looking at small files.

    """

    def __init__(self, *, login: bool, file_timeout_s: float = 60.0) -> None:
        self._line, self._plain = line(login=login), line(login=False)
        self._kept = KeptEnvironment() if login else None
        self._file_timeout_s = file_timeout_s

    @property
    @abstractmethod
    def identity(self) -> str:
        """`user@host:port`."""

    @property
    def local(self) -> bool:
        """No: paths are the site's."""
        return False

    @abstractmethod
    async def _ready(self) -> None:
        """See to it that there is a connection; this time is no command's."""

    @abstractmethod
    async def _exchange(self, line: str, data: bytes, out: Frame, err: Frame) -> None:
        """Start the line, feed it, and feed the frames until both have ended.

        Raises:
            Broken: the connection ended before that, or was dead already.
            TransportError: there is no answer, and there would be none over another connection.

        """

    @abstractmethod
    async def _gave_no_answer(self) -> None:
        """An exchange ran out of time without having begun: the connection may be dead without anybody telling."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close what is open."""

    async def run(self, command: Command) -> Completed:
        """Run one command to its end.

        Raises:
            BadRequest: an argument that no command can be given.
            CommandMissing: the site has no such command.
            FileMissing: there is no folder `cwd` there.
            CommandTimeout: no end within `timeout_s`.
            LoginNeeded, HostKeyChanged: a person is needed.
            TransportError: no answer.

        """
        check(command)
        return await self._alone(command, b"", question=False)

    async def _asked(self, command: Command) -> Completed:
        check(command)
        return await self._alone(command, b"", question=True)

    async def _alone(self, command: Command, known: bytes, *, question: bool) -> Completed:
        begins = self._plain if known else self._line

        async def say() -> Completed:
            begun = time.monotonic()
            mark = fresh_mark()
            out, err = Frame(mark, command.max_output_bytes), Frame(mark, command.max_output_bytes)
            data = encode(single_text(command, mark, environment=known)) + command.stdin
            await self._spoken(begins, data, out, err, math.ceil(command.timeout_s), command.argv[0])
            return answer(command, out, err, time.monotonic() - begun)

        return await once_more(say, lambda: question)

    async def _spoken(self, line: str, data: bytes, out: Frame, err: Frame, timeout_s: float, where: str) -> None:
        await self._ready()
        try:
            with anyio.fail_after(timeout_s + GRACE_S):
                await self._exchange(line, data, out, err)
        except TimeoutError:
            if not out.begun:
                await self._gave_no_answer()
            raise CommandTimeout(
                f"no answer within {timeout_s + GRACE_S:g} s", where=where, cure="try again, or allow more time"
            ) from None

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        """Run commands side by side; up to 128 of them share a round trip.

        What has ended is told about a second after the begin, and then from second to second: a command that hangs
        holds up nobody else's answer.

        They are questions: those whose connection broke before the first answer came are put once more.

        Start-up files of a login shell may take seconds: what they exported once is kept for a few minutes, for
        commands that come together; a command by itself (a submit) always has them read anew.
        Those that do share one may not write files of more than 256 MB, output included.
        """
        answers: list[Completed | Exception] = [TransportError("was not run")] * len(commands)

        async def part(indexes: list[int]) -> None:
            chosen = [commands[index] for index in indexes]

            def take(place: int, item: Completed | Exception) -> None:
                answers[indexes[place]] = item
                if told is not None:
                    told(indexes[place], item)

            await (self._batch(chosen, take) if len(chosen) > 1 else self._apart(chosen, take))

        async with anyio.create_task_group() as group:
            for indexes in _parts(commands, answers):
                group.start_soon(part, indexes)
        return answers

    async def _batch(self, commands: list[Command], take: Told) -> None:
        known = self._kept.text if self._kept else b""
        tell = self._kept is not None and not known
        begins = self._plain if known else self._line
        size = sum(2 * (command.max_output_bytes + 256) for command in commands) + MOST_BYTES
        reader = BatchReader(commands, Frame("", 0))

        async def say() -> Frame:
            nonlocal reader
            mark = fresh_mark()
            out, err = Frame(mark, size), Frame(mark, 4096)
            reader = BatchReader(commands, out)
            out.heard = heard
            data = whole(batch_text(commands, mark, environment=known, tell=tell), mark)
            await self._spoken(begins, data, out, err, batch_seconds(commands), f"{len(commands)} commands")
            return out

        def heard() -> None:
            for place in reader.take():
                take(place, reader.answers[place])

        try:
            out = await once_more(say, lambda: len(reader.open) == len(commands))
        except DragomanError as error:
            for place in sorted(reader.open):
                take(place, error)
            return
        if tell and self._kept:
            self._kept.take(environment_told(out))
        why = out.end.why if out.end else ""
        if why == "nowhere":
            # Without a folder to write to, nothing of the batch was run.
            await self._apart(commands, take)
            return
        full = TransportError("the site has no room for the output of commands", cure="make room in its TMPDIR")
        for place in sorted(reader.open):
            take(place, full if why == "full" else reader.answers[place])

    async def _apart(self, commands: list[Command], take: Told) -> None:
        limit = anyio.Semaphore(LANES)
        known = self._kept.text if self._kept else b""

        async def one(index: int) -> None:
            async with limit:
                try:
                    take(index, await self._alone(commands[index], known, question=True))
                except DragomanError as error:
                    take(index, error)

        async with anyio.create_task_group() as group:
            for index in range(len(commands)):
                group.start_soon(one, index)

    async def read_file(self, path: str, *, max_bytes: int = 16 * 2**20, tail: bool = False) -> bytes:
        """The first or last bytes of a regular file.

        Raises:
            FileMissing: the site shows that there is none.
            TransportError: it cannot be read, or no answer.

        """
        limit = remote_files.file_seconds(max_bytes, self._file_timeout_s)
        done = await self._asked(remote_files.read_command(path, max_bytes, tail=tail, timeout_s=limit))
        return remote_files.read_answer(path, done)

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a whole file atomically; parents are made.

        Raises:
            StorageFull: no room or quota; nothing was changed.
            TransportError: it was not written, or no answer: then it is there as a whole or not at all.

        """
        limit = remote_files.file_seconds(len(data), self._file_timeout_s)
        done = await self.run(remote_files.write_command(path, data, mode, timeout_s=limit))
        remote_files.write_answer(path, data, done)

    async def stat(self, path: str) -> FileStat | None:
        """What lies at a path, without following links; None where the site shows that nothing does."""
        done = await self._asked(remote_files.stat_command(path, timeout_s=self._file_timeout_s))
        return remote_files.stat_answer(path, done)


def _parts(commands: Sequence[Command], answers: list[Completed | Exception]) -> Iterator[list[int]]:
    """Indexes that share a round trip; commands that cannot be run get their error at once."""
    part: list[int] = []
    size = 0
    for index, command in enumerate(commands):
        try:
            check(command)
        except BadRequest as error:
            answers[index] = error
            continue
        if not fits_batch(command):
            yield [index]
            continue
        bytes_ = sum(map(len, command.argv)) + 4 * len(command.stdin)
        if part and (len(part) == BATCH_COMMANDS or size + bytes_ > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(index)
        size += bytes_
    if part:
        yield part
