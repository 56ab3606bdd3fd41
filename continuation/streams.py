"""Hears of ended jobs at once where the site's scheduler has a stream of events (Kubernetes, Flux).

One process follows the stream of a site for all that watch it, under a lease of its own. What the stream tells is a
hint and never the truth: it has the watcher look at the site now instead of later, never more often than the site's
bound allows, and a job ends by what that look shows. A stream that dies, lies, repeats itself or leaves something out
costs time and nothing else, for the looks go on without it.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence

import anyio

from continuation.held import held
from continuation.places import Places
from continuation.watcher import LEASE_S
from dragoman.errors import DragomanError
from dragoman.job import JobRef
from dragoman.ledger import Ledger
from dragoman.protocols import TellsEnds
from dragoman.thread import SiteWatch
from providers.schedulers.client import SchedulerClient
from providers.schedulers.following import EndStream

__all__ = ["SiteStreams"]

log = logging.getLogger(__name__)

AT_ONCE = 16
"""Sites followed by one process; the others are looked at as ever."""
LONGEST_PAUSE_S = 120.0
EMPTY_S = 1.0
"""A turn that told nothing and was shorter than this is followed by a pause."""


class SiteStreams:
    """Follows the event streams of awaited sites.

    Args:
        ledger: which sites and jobs are awaited, and who follows which site.
        places: opens sites.
        holder: this process's name.
        sites_every_s: between two looks at which sites are awaited.
        pause_s: before a stream that failed is tried again; doubled each time, to two minutes.
        lease_s: how long a site stays this process's after it has died.

    """

    def __init__(
        self,
        ledger: Ledger,
        places: Places,
        holder: str,
        *,
        sites_every_s: float = 2.0,
        pause_s: float = 1.0,
        lease_s: float = LEASE_S,
    ) -> None:
        self.ledger = ledger
        self.places = places
        self.holder = holder
        self.sites_every_s = sites_every_s
        self.pause_s = pause_s
        self.lease_s = lease_s
        self._without: set[str] = set()
        """Sites whose stream cannot be followed."""

    async def run(self, heard: Callable[[], None]) -> None:
        """Hasten the look at a site, and call `heard`, whenever its stream tells of an end; for ever."""
        followed: set[str] = set()

        async def follow(site: str) -> None:
            try:
                await self._follow(site, heard)
            except DragomanError as error:
                log.info("%s", error, extra={"action": "stream-unheard", "site": site})
            except Exception:
                log.exception("stream failed", extra={"action": "stream-failed", "site": site})
                self._without.add(site)
            finally:
                followed.discard(site)

        async with anyio.create_task_group() as group:
            while True:
                try:
                    for site in await self.ledger.awaited_sites():
                        if site not in followed and site not in self._without and len(followed) < AT_ONCE:
                            followed.add(site)
                            group.start_soon(follow, site)
                except DragomanError as error:
                    log.info("%s", error, extra={"action": "streams-unheard"})
                await anyio.sleep(self.sites_every_s)

    async def _follow(self, site: str, heard: Callable[[], None]) -> None:
        runtime = await self.places.open(site)
        scheduler = runtime.scheduler
        if not isinstance(scheduler, SchedulerClient) or not isinstance(scheduler.dialect, TellsEnds):
            self._without.add(site)
            return
        watch = await self.ledger.take_watch(site, f"{runtime.identity} (events)", self.holder, self.lease_s)
        if watch is None:
            return
        async with held(self.ledger, watch, self.lease_s):
            turns = _Turns(self, watch, EndStream(scheduler.dialect, scheduler.transport), heard)
            trouble = await turns.take()
            if trouble is None:
                self._without.add(site)
            failures = watch.failures + 1 if trouble else 0
            pause = min(LONGEST_PAUSE_S, self.pause_s * 2 ** min(failures - 1, 10)) if failures else 0.01
            # Jitter keeps many processes from trying in step.
            planned = {"interval_s": pause * random.uniform(1.0, 1.3), "failures": failures}  # noqa: S311  # no secret
            await self.ledger.note_look(watch.model_copy(update={**planned, "error": (trouble or "")[:1000]}))
            if trouble:
                log.info("the events of %s: %s", site, trouble, extra={"action": "stream-broken", "site": site})


class _Turns:
    """One process's time with the stream of one site."""

    def __init__(self, streams: SiteStreams, watch: SiteWatch, stream: EndStream, heard: Callable[[], None]) -> None:
        self.streams = streams
        self.watch = watch
        self.stream = stream
        self.heard = heard
        self.told: dict[str, tuple[int, float]] = {}
        """By job id, how often its end was told, and until when it is not to be told again."""

    async def take(self) -> str | None:
        """Turn after turn until nothing is awaited there or another process has the site; the trouble that ended it.

        None: this site's stream cannot be followed at all.
        """
        ledger, site = self.streams.ledger, self.watch.site
        empty = 0
        while await ledger.hold_watch(self.watch, self.streams.lease_s):
            awaited = [ref for _, ref, _ in await ledger.awaited_jobs(site)]
            if not awaited:
                return ""
            refs = self._due(awaited)
            if not refs:
                await anyio.sleep(EMPTY_S)
                continue
            begun = anyio.current_time()
            told = await self.stream.turn(refs)
            if told is None:
                return None
            ended = told.ended & {ref.job_id for ref in refs}
            self._note(ended)
            if ended or told.look:
                await ledger.hasten_watch(site)
                self.heard()
            if told.trouble:
                return told.trouble
            empty = 0 if ended or anyio.current_time() - begun > EMPTY_S else empty + 1
            await anyio.sleep(min(LONGEST_PAUSE_S, 0.01 * 2 ** min(empty, 14)) if empty > 1 else 0)
        return ""

    def _due(self, awaited: Sequence[JobRef]) -> list[JobRef]:
        ids = {ref.job_id for ref in awaited}
        self.told = {job_id: told for job_id, told in self.told.items() if job_id in ids}
        at = anyio.current_time()
        return [ref for ref in awaited if self.told.get(ref.job_id, (0, 0.0))[1] <= at]

    def _note(self, ended: frozenset[str]) -> None:
        """An end that was told is left to the looks; it may be told again after ever longer times."""
        for job_id in ended:
            times = self.told.get(job_id, (0, 0.0))[0] + 1
            self.told[job_id] = (times, anyio.current_time() + min(LONGEST_PAUSE_S, 5.0 * 2 ** min(times, 5)))
