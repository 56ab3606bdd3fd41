"""One call of the ssh client on this host: started without a terminal, fed, read, and ended in time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

import anyio
import anyio.abc

from dragoman.errors import TransportError
from providers.transports.pipes import Pipes, Stream
from providers.transports.remote_frames import Frame

__all__ = ["client_environment", "say", "talk"]

AFTER_END_S = 0.5
"""A client that stays after the answer's end (something was left running there) is ended here."""


def client_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of the ssh client: no window asks for a password (ssh(1), SSH_ASKPASS_REQUIRE)."""
    kept = {name: value for name, value in base.items() if name != "SSH_ASKPASS"}
    return {**kept, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}


class _Fed(Stream):
    """A stream that goes into a frame."""

    def __init__(self, frame: Frame, ended: anyio.Event) -> None:
        super().__init__(0)
        self.frame = frame
        self.ended = ended

    def take(self, chunk: bytes) -> None:
        self.frame.feed(chunk)
        if self.frame.end is not None:
            self.ended.set()


async def talk(argv: Sequence[str], environment: Mapping[str, str], data: bytes, out: Frame, err: Frame) -> int:
    """Run the client until both frames have ended or it has; its exit code. Cancelling ends it."""
    ended = [anyio.Event(), anyio.Event()]
    with Pipes(with_input=True, limit=0) as pipes:
        pipes.output, pipes.errors = _Fed(out, ended[0]), _Fed(err, ended[1])
        process = await _start(argv, environment, pipes)
        try:
            async with anyio.create_task_group() as group:

                async def hang_up() -> None:
                    for event in ended:
                        await event.wait()
                    await anyio.sleep(AFTER_END_S)
                    with suppress(ProcessLookupError):
                        process.terminate()

                group.start_soon(hang_up)
                rc = await pipes.until_end(process, data)
                group.cancel_scope.cancel()
        finally:
            await _end(process)
    return rc


async def say(argv: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int | None, str, str]:
    """Run the client to its end: exit code (None: it had to be ended), what it wrote, and what it complained of."""
    rc: int | None = None
    with Pipes(with_input=False, limit=256 * 1024) as pipes:
        process = await _start(argv, environment, pipes)
        try:
            with anyio.move_on_after(timeout_s):
                rc = await pipes.until_end(process, b"")
        finally:
            await _end(process)
        texts = [bytes(stream.data).decode("utf-8", "replace") for stream in (pipes.output, pipes.errors)]
    return rc, texts[0], texts[1]


async def _start(argv: Sequence[str], environment: Mapping[str, str], pipes: Pipes) -> anyio.abc.Process:
    try:
        process = await anyio.open_process(
            list(argv),
            stdin=pipes.far_input if pipes.far_input >= 0 else subprocess.DEVNULL,
            stdout=pipes.far_output,
            stderr=pipes.far_errors,
            env=environment,
            # Without a terminal of its own it cannot ask there either.
            start_new_session=True,
        )
    except OSError as error:
        raise TransportError(
            f"the ssh client cannot be started: {error.strerror}", where=argv[0], cure="install OpenSSH's client"
        ) from error
    pipes.close_far_ends()
    return process


async def _end(process: anyio.abc.Process) -> None:
    if process.returncode is None:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
