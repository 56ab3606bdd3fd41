"""Asking many sites: bounded, each with its own time, none waiting for another; answers are stored as they come.

A site that takes longer than others gives its place to the next and is waited for beside it, so that a dead site holds
up nobody. Answers that come while a write is on its way go together into the next one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from dragoman.ledger import SiteAnswer
from dragoman.site import Site

__all__ = ["Asking", "ask_sites"]

Mode = Literal["at-once", "serial", "batched"]
MOST_WRITTEN = 64
"""Answers in one write at most."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How many sites are asked at a time."""

    mode: Mode = "at-once"
    places: int = 32
    """Sites asked at the same time."""
    patience_s: float = 0.5
    """After this time a site's place is given to the next, up to four times as many."""
    batch: int = 10
    pause_s: float = 0.0
    """Between batches, or between sites in serial mode."""


@dataclass(slots=True, eq=False)
class _Held:
    """A place that is held."""

    since: float
    lent: bool = False


@dataclass(slots=True)
class _Places:
    """Places that grow by those who take long."""

    limiter: anyio.CapacityLimiter
    most: int
    patience_s: float
    held: set[_Held] = field(default_factory=set)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """A place, for a block."""
        async with self.limiter:
            one = _Held(anyio.current_time())
            self.held.add(one)
            try:
                yield
            finally:
                self.held.discard(one)
                if one.lent:
                    self.limiter.total_tokens -= 1

    async def lend(self) -> None:
        """Give the places of those who take long to the next, until it is cancelled."""
        while True:
            await anyio.sleep(self.patience_s / 2)
            late = anyio.current_time() - self.patience_s
            for one in self.held:
                if not one.lent and one.since <= late and self.limiter.total_tokens < self.most:
                    one.lent = True
                    self.limiter.total_tokens += 1


async def ask_sites(
    sites: Sequence[Site],
    ask: Callable[[Site], Awaitable[SiteAnswer]],
    keep: Callable[[Sequence[SiteAnswer]], Awaitable[None]],
    enough: Callable[[SiteAnswer], bool],
    how: Asking,
) -> int:
    """Ask sites and keep each answer as it comes; how many answered.

    Args:
        sites: in the order in which they are asked.
        ask: one site's answer; raises nothing for a site's own faults.
        keep: stores some answers in one write.
        enough: whether the others need not answer any more; checked for each answer.
        how: at once, one by one, or in batches.

    """
    send, receive = anyio.create_memory_object_stream[SiteAnswer](max_buffer_size=len(sites) + 1)
    counted = _Counted(keep)
    async with anyio.create_task_group() as group:
        group.start_soon(counted.run, receive)
        async with send:
            await _ask_in_order(sites, ask, send, enough, how)
    return counted.count


async def _ask_in_order(
    sites: Sequence[Site],
    ask: Callable[[Site], Awaitable[SiteAnswer]],
    send: MemoryObjectSendStream[SiteAnswer],
    enough: Callable[[SiteAnswer], bool],
    how: Asking,
) -> None:
    size = {"at-once": max(1, len(sites)), "serial": 1, "batched": max(1, how.batch)}[how.mode]
    places = _Places(anyio.CapacityLimiter(how.places), 4 * how.places, how.patience_s)
    async with anyio.create_task_group() as lender:
        lender.start_soon(places.lend)
        for first in range(0, len(sites), size):
            if first and how.pause_s:
                await anyio.sleep(how.pause_s)
            if await _ask_together(sites[first : first + size], ask, send, enough, places):
                break
        lender.cancel_scope.cancel()


async def _ask_together(
    sites: Sequence[Site],
    ask: Callable[[Site], Awaitable[SiteAnswer]],
    send: MemoryObjectSendStream[SiteAnswer],
    enough: Callable[[SiteAnswer], bool],
    places: _Places,
) -> bool:
    """Whether it was enough: the others are left then."""
    stopped = False
    async with anyio.create_task_group() as group:

        async def one(site: Site) -> None:
            nonlocal stopped
            async with places.hold():
                found = await ask(site)
            send.send_nowait(found)
            if enough(found):
                stopped = True
                group.cancel_scope.cancel()

        for site in sites:
            group.start_soon(one, site)
    return stopped


class _Counted:
    """Writes what has come, all of it at once."""

    def __init__(self, keep: Callable[[Sequence[SiteAnswer]], Awaitable[None]]) -> None:
        self.keep = keep
        self.count = 0

    async def run(self, receive: MemoryObjectReceiveStream[SiteAnswer]) -> None:
        async with receive:
            async for first in receive:
                answers = [first]
                while len(answers) < MOST_WRITTEN:
                    try:
                        answers.append(receive.receive_nowait())
                    except (anyio.WouldBlock, anyio.EndOfStream):
                        break
                await self.keep(answers)
                self.count += len(answers)
