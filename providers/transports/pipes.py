"""The three streams of a command on this host, as plain pipes.

Not those of asyncio's subprocesses, because something that a command leaves behind may keep its streams open for hours:
then reading has to stop, and the near ends have to be closed, all the same.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

import anyio
import anyio.abc
import anyio.lowlevel

from dragoman.errors import TransportError

__all__ = ["LINGER_S", "Pipes", "Stream"]

LINGER_S = 0.5
"""How long output is still read after a command's end while something that it left behind keeps a stream open."""
CHUNK = 65536


@dataclass(slots=True)
class Stream:
    """One stream of a command: read to its end, kept up to a limit."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def take(self, chunk: bytes) -> None:
        """Keep what there is room for."""
        room = self.limit - len(self.data)
        self.data += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room


class Pipes:
    """Pipes for one command. The far ends go to the command, the near ends are never inherited.

    Args:
        with_input: whether there is something to write to the command; else its input is empty.
        limit: bytes that are kept of each stream.

    """

    def __init__(self, *, with_input: bool, limit: int) -> None:
        self.output, self.errors = Stream(limit), Stream(limit)
        self._open: set[int] = set()
        try:
            self._near_output, self.far_output = self._pipe()
            self._near_errors, self.far_errors = self._pipe()
            self.far_input, self._near_input = self._pipe() if with_input else (subprocess.DEVNULL, -1)
        except BaseException:
            self._close(*self._open)
            raise
        for near in {self._near_output, self._near_errors, self._near_input} - {-1}:
            os.set_blocking(near, False)

    def __enter__(self) -> Pipes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(*self._open)

    def _pipe(self) -> tuple[int, int]:
        try:
            ends = os.pipe()
        except OSError as error:
            raise TransportError(
                f"no pipe to a command: {error.strerror}", where="this host", cure="close files, or try again later"
            ) from error
        self._open.update(ends)
        return ends

    def _close(self, *descriptors: int) -> None:
        for descriptor in set(descriptors) & self._open:
            self._open.discard(descriptor)
            os.close(descriptor)

    def close_far_ends(self) -> None:
        """When the command has them: else a stream would never end."""
        self._close(self.far_output, self.far_errors, self.far_input)

    async def until_end(self, process: anyio.abc.Process, data: bytes) -> int:
        """Feed and read until the command has ended; its return code as of `subprocess`."""
        async with anyio.create_task_group() as group:
            if data:
                group.start_soon(self._feed, data)
            ended = [anyio.Event(), anyio.Event()]
            group.start_soon(self._drain, self._near_output, self.output, ended[0])
            group.start_soon(self._drain, self._near_errors, self.errors, ended[1])
            rc = await process.wait()
            with anyio.move_on_after(LINGER_S):
                for event in ended:
                    await event.wait()
            group.cancel_scope.cancel()
        return rc

    async def _drain(self, descriptor: int, into: Stream, ended: anyio.Event) -> None:
        while True:
            try:
                chunk = os.read(descriptor, CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(descriptor)
                continue
            if not chunk:
                break
            into.take(chunk)
            await anyio.lowlevel.checkpoint()
        ended.set()

    async def _feed(self, data: bytes) -> None:
        rest = memoryview(data)
        # A command may end, or close its input, without having read all of it.
        with suppress(BrokenPipeError):
            while rest:
                try:
                    rest = rest[os.write(self._near_input, rest[:CHUNK]) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._near_input)
                await anyio.lowlevel.checkpoint()
        self._close(self._near_input)
