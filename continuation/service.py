"""The loop behind `dragoman watch`, behind a waiting command and behind the catching up of every command."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol

import anyio
import anyio.abc

from continuation.watcher import Watcher
from dragoman.errors import DatabaseError, DragomanError, SiteNotHere
from dragoman.ledger import Ledger
from dragoman.protocols import Progress, Resumer

__all__ = ["Service"]

log = logging.getLogger(__name__)

Tellers = Callable[[str], Progress] | None

LONGEST_PAUSE_S = 30.0
PATIENCE = 20
"""Times in a row that a waiting command meets a database that is down before it gives up; a watcher never does."""
BREATH_S = 0.02
"""Between two rounds, however much news there is."""
REST_S = 2.0
"""That others' threads get once a command's own is done; then they are left, as stored, to whoever comes next."""


class HearsEnds(Protocol):
    """Hears of ended jobs before the next look would show them."""

    async def run(self, heard: Callable[[], None]) -> None:
        """Call `heard` whenever there is a reason to look; for ever."""
        ...


class _Bell:
    """Wakes a loop from its pause."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def ring(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Until it rings, or has rung since the last wait, at most so long."""
        with anyio.move_on_after(seconds):
            await self._event.wait()
        self._event = anyio.Event()
        await anyio.sleep(BREATH_S)


class Service:
    """Looks at sites, and runs every thread on that has something to do.

    Args:
        ledger: the work to do.
        watcher: looks at sites.
        resumer: runs threads on.
        at_once: threads that are run side by side.
        news: words as work comes (`LISTEN`), so that nobody waits for the next round; None: there is only the round.
        ends: what hears of ended jobs at once; without, they are seen at the next look.

    """

    def __init__(
        self,
        ledger: Ledger,
        watcher: Watcher,
        resumer: Resumer,
        *,
        at_once: int = 8,
        news: Callable[[], AsyncIterator[str]] | None = None,
        ends: Sequence[HearsEnds] = (),
    ) -> None:
        self.ledger = ledger
        self.watcher = watcher
        self.resumer = resumer
        self.at_once = at_once
        self.news = news
        self.ends = ends
        self.elsewhere: dict[str, SiteNotHere] = {}
        """Threads that only a process which knows their site can run on."""

    async def catch_up(self, progress: Tellers = None) -> int:
        """One round: look, then resume until no thread has anything to do. Returns how many were run on.

        Raises:
            DatabaseError: when PostgreSQL cannot be reached.

        """
        await self.watcher.look(progress)
        total, failed = 0, set[str]()
        while True:
            due = [each for each in await self.ledger.runnable(limit=self.at_once * 4) if each not in failed]
            limiter = anyio.CapacityLimiter(self.at_once)

            async def one(thread_id: str, limiter: anyio.CapacityLimiter = limiter) -> None:
                nonlocal total
                async with limiter:
                    if await self._resume(thread_id, progress):
                        total += 1
                    else:
                        failed.add(thread_id)

            async with anyio.create_task_group() as group:
                for thread_id in due:
                    group.start_soon(one, thread_id)
            if not due:
                return total

    async def _resume(self, thread_id: str, progress: Tellers) -> bool:
        """Run a thread on; what goes wrong is that thread's matter and ends no loop."""
        try:
            return await self.resumer.resume(thread_id, progress(thread_id) if progress else None)
        except SiteNotHere as error:
            self.elsewhere[thread_id] = error
            log.info("%s", error, extra={"action": "site-not-here", "thread_id": thread_id})
        except DragomanError as error:
            log.info("%s", error, extra={"action": "resume-later", "thread_id": thread_id})
        except Exception:
            log.exception("resume failed", extra={"action": "resume-failed", "thread_id": thread_id})
        return False

    async def run(
        self,
        until: Callable[[], Awaitable[bool]] | None = None,
        *,
        idle_s: float = 1.0,
        progress: Tellers = None,
    ) -> None:
        """Go on until the awaitable `until()` answers true, or for ever.

        Threads that are being run then get a little while (`REST_S`) to come to their rest, and are left after it: a
        site that is silent to another thread does not keep a command whose own thread is done.

        Looking at sites and running threads do not wait for each other. A database that is down is waited for with
        growing pauses; nothing else ends the loop.

        Raises:
            DatabaseError: with `until`, when PostgreSQL stays away.

        """
        looks, work = _Bell(), _Bell()
        failure: DatabaseError | None = None

        def heard() -> None:
            looks.ring()

        async with anyio.create_task_group() as beside:
            beside.start_soon(self._look_on, looks, work, idle_s, progress)
            if self.news is not None:
                beside.start_soon(self._hear, self.news, work)
            for each in self.ends:
                beside.start_soon(each.run, heard)
            async with anyio.create_task_group() as runs:
                try:
                    await self._resume_on(runs, work, until, idle_s, progress)
                except DatabaseError as error:
                    failure = error
                if until is not None:
                    runs.cancel_scope.deadline = anyio.current_time() + REST_S
            if runs.cancel_scope.cancelled_caught:
                log.info("other threads are left to whoever comes next", extra={"action": "others-left"})
            beside.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _look_on(self, looks: _Bell, work: _Bell, idle_s: float, progress: Tellers) -> None:
        failures = 0
        while True:
            try:
                if await self.watcher.look(progress):
                    work.ring()
                failures = 0
            except DragomanError as error:
                failures += 1
                log.info("%s", error, extra={"action": "look-failed", "failures": failures})
            except Exception:
                failures += 1
                log.exception("look failed", extra={"action": "look-failed", "failures": failures})
            await looks.wait(min(LONGEST_PAUSE_S, idle_s * 2 ** min(failures, 5)))

    async def _hear(self, news: Callable[[], AsyncIterator[str]], work: _Bell) -> None:
        while True:
            try:
                async for _ in news():
                    work.ring()
            except DragomanError as error:
                log.info("%s", error, extra={"action": "news-unheard"})
            await anyio.sleep(1.0)

    async def _resume_on(
        self,
        runs: anyio.abc.TaskGroup,
        work: _Bell,
        until: Callable[[], Awaitable[bool]] | None,
        idle_s: float,
        progress: Tellers,
    ) -> None:
        running: set[str] = set()
        resting: dict[str, float] = {}
        failures = 0

        async def one(thread_id: str) -> None:
            if not await self._resume(thread_id, progress):
                resting[thread_id] = anyio.current_time() + idle_s
            running.discard(thread_id)
            work.ring()

        while True:
            try:
                if until is not None and await until():
                    return
                if len(running) < self.at_once:
                    for each in [each for each, due in resting.items() if due <= anyio.current_time()]:
                        del resting[each]
                    for thread_id in await self.ledger.runnable(limit=self.at_once * 2 + len(resting)):
                        if len(running) < self.at_once and thread_id not in running and thread_id not in resting:
                            running.add(thread_id)
                            runs.start_soon(one, thread_id)
                failures = 0
            except DatabaseError as error:
                failures += 1
                log.warning("%s", error, extra={"action": "database-down", "failures": failures})
                if until is not None and failures > PATIENCE:
                    raise
            except DragomanError as error:
                log.warning("%s", error, extra={"action": "round-failed"})
            await work.wait(min(LONGEST_PAUSE_S, idle_s * 2 ** min(failures, 5)))
