"""The loop behind `dragoman watch`, behind a waiting command and behind the catching up of every command."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from continuation.watcher import Watcher
from dragoman.errors import DatabaseError, DragomanError, TransportError
from dragoman.ledger import Ledger
from dragoman.protocols import Progress, Resumer

__all__ = ["Service"]

log = logging.getLogger(__name__)


class Service:
    """Looks at sites, then runs every thread on that has something to do.

    Args:
        ledger: the work to do.
        watcher: looks at sites.
        resumer: runs threads on.
        at_once: threads that are run side by side.

    """

    def __init__(self, ledger: Ledger, watcher: Watcher, resumer: Resumer, *, at_once: int = 8) -> None:
        self.ledger = ledger
        self.watcher = watcher
        self.resumer = resumer
        self.at_once = at_once

    async def catch_up(self, progress: Callable[[str], Progress] | None = None) -> int:
        """One round: look, then resume until no thread has anything to do. Returns how many were run on."""
        await self.watcher.look()
        total = 0
        while True:
            threads = await self.ledger.runnable(limit=self.at_once * 4)
            ran = await self._resume_all(threads, progress)
            total += ran
            if ran == 0:
                return total

    async def _resume_all(self, threads: list[str], progress: Callable[[str], Progress] | None) -> int:
        ran = 0
        limiter = anyio.CapacityLimiter(self.at_once)

        async def one(thread_id: str) -> None:
            nonlocal ran
            async with limiter:
                try:
                    ran += await self.resumer.resume(thread_id, progress(thread_id) if progress else None)
                except TransportError as error:
                    log.info("%s", error, extra={"action": "resume-later", "thread_id": thread_id})

        async with anyio.create_task_group() as group:
            for thread_id in threads:
                group.start_soon(one, thread_id)
        return ran

    async def run(
        self,
        until: Callable[[], Awaitable[bool]] | None = None,
        *,
        idle_s: float = 1.0,
        progress: Callable[[str], Progress] | None = None,
    ) -> None:
        """Go on until the awaitable `until()` answers true, or for ever.

        A database that is down is waited for with growing pauses; nothing else ends the loop.
        """
        failures = 0
        while True:
            try:
                await self.catch_up(progress)
                if until is not None and await until():
                    return
                failures = 0
            except DatabaseError as error:
                failures += 1
                log.warning("%s", error, extra={"action": "database-down", "failures": failures})
                if until is not None and failures > 20:
                    raise
            except DragomanError as error:
                log.warning("%s", error, extra={"action": "round-failed"})
            await anyio.sleep(min(30.0, idle_s * 2 ** min(failures, 5)))
