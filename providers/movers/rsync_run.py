"""One call of rsync, and what its exit codes mean (rsync(1), EXIT VALUES)."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

import anyio

from dragoman.errors import Cancelled, DragomanError, SourceChanging, StorageFull, TransferError, TransportError
from providers.transports.openssh_errors import classify
from providers.transports.pipes import Pipes

__all__ = ["NoRsync", "outcome", "rsh_text", "run_rsync"]

NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|File too large")
_ABSENT = re.compile(r"rsync: (?:command )?not found|not found: rsync|rsync: No such file|is your shell clean")


class NoRsync(Exception):
    """Rsync cannot be used between these two ends: why."""


def rsh_text(argv: Sequence[str]) -> str:
    """The remote shell as one text, in rsync's own quoting (rsync(1), --rsh)."""
    return " ".join("'" + word.replace("'", "''") + "'" if re.search(r"[\s'\"]", word) else word for word in argv)


async def run_rsync(
    argv: Sequence[str], environment: Mapping[str, str], data: bytes, stop: threading.Event
) -> tuple[int, str]:
    """Run it to its end: exit code and complaints. It and its ssh are ended when cancelled.

    Raises:
        NoRsync: there is none on this host.
        Cancelled: `stop` was set.

    """
    with Pipes(with_input=True, limit=256 * 1024) as pipes:
        try:
            process = await anyio.open_process(
                list(argv), stdin=pipes.far_input, stdout=pipes.far_output, stderr=pipes.far_errors,
                env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise NoRsync(f"this host has no rsync ({error.strerror})") from error
        pipes.close_far_ends()
        try:
            async with anyio.create_task_group() as group:

                async def watch() -> None:
                    # Set from another thread or loop: only looking shows it.
                    while not stop.is_set():  # noqa: ASYNC110
                        await anyio.sleep(0.1)
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGTERM)

                group.start_soon(watch)
                rc = await pipes.until_end(process, data)
                group.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await process.wait()
        said = bytes(pipes.errors.data).decode("utf-8", "replace")
    if stop.is_set():
        raise Cancelled("the transfer was cancelled")
    return rc, said


def outcome(rc: int, said: str, *, host: str, needed: int, free: int | None) -> DragomanError | NoRsync | None:
    """What an exit code means; None: all was moved.

    Args:
        rc: the exit code.
        said: complaints.
        host: for messages.
        needed: bytes of the plan.
        free: bytes at the destination, where known.

    """
    if rc == 0:
        return None
    words = _words(said) or f"rsync ended with exit code {rc}"
    if NO_SPACE.search(said):
        return StorageFull(
            f"there is no room: {words}", where=host, cure="make room, then go on", needed=needed, free=free
        )
    if rc in (1, 2, 4, 5, 6, 14, 127) or (rc in (12, 126) and _ABSENT.search(said)):
        return NoRsync(words)
    if rc == 24 or "file has vanished" in said:
        return SourceChanging(f"a file went away while it was copied: {words}", where=host, cure="wait, then try again")
    if rc == 255 or rc < 0:
        return classify(said, host=host, rc=rc)
    if rc in (10, 12, 20, 30, 35):
        return TransportError(f"the connection broke: {words}", where=host, cure="try again: what is there is kept")
    return TransferError(words, where=host, cure="see to what rsync says, then try again")


def _words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith("rsync: ")] or lines
    return "; ".join(dict.fromkeys(telling[:2]))[:400]
