"""Looks at sites for all threads at once: one question per interval, site and identity, whatever waits there."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence

import anyio

from continuation.held import held
from continuation.places import Places
from dragoman.errors import DatabaseError, DragomanError
from dragoman.event import Event, Wait
from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.ledger import Ledger
from dragoman.model import now
from dragoman.protocols import Clock, Progress
from dragoman.site import Site
from dragoman.thread import SiteWatch
from dragoman.transfer import TransferState
from providers.site_runtime import SiteRuntime

__all__ = ["Watcher", "told_key"]

log = logging.getLogger(__name__)

LEASE_S = 15.0
"""A watcher that dies leaves its site to others after this time; one that looks longer renews it."""


def told_key(status: JobStatus) -> str:
    """What a thread was told of a job; an event is made only when this changes."""
    return f"{status.state.value}:{status.reason_class or ''}:{status.restarts or 0}"


def _matters(status: JobStatus) -> bool:
    """Whether a thread decides something on it: that a job runs or waits its turn is told to people, and wakes nobody.

    What is unknown is no news at all.
    """
    return (
        status.state.final
        or status.state is JobState.HELD
        or status.reason_class in (ReasonClass.NEVER, ReasonClass.PERSON)
    )


class Watcher:
    """One process's part in looking at sites. Several share the sites by leases.

    Args:
        ledger: where waits and events are.
        places: opens sites.
        holder: this process's name.
        clock: the time.
        lease_s: seconds that a site is this process's while it looks.

    """

    def __init__(
        self,
        ledger: Ledger,
        places: Places,
        holder: str,
        clock: Clock = now,
        *,
        lease_s: float = LEASE_S,
    ) -> None:
        self.ledger = ledger
        self.places = places
        self.holder = holder
        self.clock = clock
        self.lease_s = lease_s

    async def look(self, progress: Callable[[str], Progress] | None = None) -> int:
        """Look at every awaited site that is due and free, and note the times that have come. Events made.

        A site that is slow to answer does not keep the others waiting for their turn.

        Raises:
            DatabaseError: when PostgreSQL cannot be reached.

        """
        made = await self._times()
        down: list[DatabaseError] = []

        async def one(name: str) -> None:
            nonlocal made
            try:
                runtime = await self.places.open(name)
                watch = await self.ledger.take_watch(name, runtime.identity, self.holder, self.lease_s)
                if watch is not None:
                    async with held(self.ledger, watch, self.lease_s):
                        made += await self._look_at(runtime, watch, progress)
            except DatabaseError as error:
                down.append(error)
            except DragomanError as error:
                log.warning("%s", error, extra={"action": "site-unknown", "site": name})

        async with anyio.create_task_group() as group:
            for name in await self.ledger.awaited_sites():
                group.start_soon(one, name)
        if down:
            raise down[0]
        return made

    async def _look_at(self, runtime: SiteRuntime, watch: SiteWatch, progress: Callable[[str], Progress] | None) -> int:
        """One look: jobs in one question, transfers each at their mover; the next look is planned whatever happens."""
        moving = await self.ledger.open_waits(site=watch.site, kind="transfer")
        running = await self.ledger.awaited_jobs(watch.site)
        moving_at, lost = self.places.sorted(moving, lambda wait: wait, runtime)
        running_at, missing = self.places.sorted(running, lambda job: job[0], runtime)
        made, troubles = 0, [lost, missing]
        for place, waits in moving_at:
            events, trouble = await self._transfers(waits, place)
            made += events
            troubles.append(trouble)
        for place, awaited in running_at:
            try:
                events, trouble = await self._jobs(awaited, place, progress)
                made += events
            except DatabaseError:
                raise
            except DragomanError as error:
                trouble = str(error)
            troubles.append(trouble)
        trouble = "; ".join(dict.fromkeys(words for words in troubles if words))
        await self.ledger.note_look(_planned(watch, runtime.site, self.clock, changed=made > 0, trouble=trouble))
        if trouble:
            log.info("%s gave no answer: %s", watch.site, trouble, extra={"action": "look-failed", "site": watch.site})
        return made

    async def _jobs(
        self,
        awaited: Sequence[tuple[Wait, JobRef, JobStatus | None]],
        runtime: SiteRuntime,
        progress: Callable[[str], Progress] | None,
    ) -> tuple[int, str]:
        if not awaited:
            return 0, ""
        answers = await runtime.scheduler.status([ref for _, ref, _ in awaited])
        made = 0
        for wait, ref, known in awaited:
            status = answers.jobs.get(ref.job_id)
            if status is None or (known is not None and _same(status, known) and not _untold(known, wait)):
                continue
            kept = await self.ledger.save_job(str(ref.tag), status)
            if _untold(kept, wait):
                made += await self.ledger.add_event(
                    Event(
                        wait_id=wait.id,
                        key=told_key(kept),
                        kind="job",
                        payload={"status": kept.dump()},
                        by=runtime.site.name,
                    )
                )
            elif known is None or known.state is not kept.state:
                await self._tell(wait, kept, runtime.site, progress)
        return made, answers.trouble

    async def _tell(
        self, wait: Wait, status: JobStatus, site: Site, progress: Callable[[str], Progress] | None
    ) -> None:
        words = f"job {status.ref.job_id} at {site.name} is {status.state.value}"
        key = f"{status.ref.tag}:{told_key(status)}"
        if await self.ledger.say(wait.thread_id, "watcher", words, key=key) and progress is not None:
            await progress(wait.thread_id)({"step": "watcher", "words": words})

    async def _transfers(self, waits: Sequence[Wait], runtime: SiteRuntime) -> tuple[int, str]:
        """Events made, and why some could not be asked about; one transfer's trouble is not the others'."""
        made, trouble = 0, ""
        for wait in waits:
            plans = {plan.id: (plan, status) for plan, status in await self.ledger.transfers(wait.thread_id)}
            plan, known = plans.get(str(wait.subject.get("plan_id")), (None, None))
            if plan is None:
                continue
            try:
                status = await runtime.movers[plan.mover].poll(plan, known.handle if known else {})
            except DragomanError as error:
                trouble = f"transfer {plan.id}: {error}"
                continue
            await self.ledger.save_transfer(plan.id, status)
            if status.state is not TransferState.ACTIVE and status.state.value != wait.subject.get("state"):
                made += await self.ledger.add_event(
                    Event(wait_id=wait.id, key=f"transfer:{status.state.value}", kind="transfer", by=plan.mover)
                )
        return made, trouble

    async def _times(self) -> int:
        made = 0
        for wait in await self.ledger.due_waits():
            made += await self.ledger.add_event(Event(wait_id=wait.id, key="due", kind="time"))
        return made


def _untold(status: JobStatus, wait: Wait) -> bool:
    return _matters(status) and told_key(status) != wait.subject.get("told")


def _same(one: JobStatus, other: JobStatus) -> bool:
    """Whether a look showed nothing new: clocks run on without anything having happened."""
    passing = {"seen_at": None, "elapsed_s": None, "max_rss_bytes": None}
    return one.model_copy(update=passing) == other.model_copy(update=passing)


def _planned(watch: SiteWatch, site: Site, clock: Clock, *, changed: bool, trouble: str) -> SiteWatch:
    """When to look next: often while things change, ever more seldom while not, within the site's own bounds.

    The pause counts from now by the database's clock, so that a host whose clock is wrong puts off no site.
    """
    least, most = site.min_poll_interval_s, max(site.min_poll_interval_s, site.max_poll_interval_s)
    if trouble:
        interval = min(most, max(least, watch.interval_s) * 2)
    else:
        interval = least if changed else min(most, max(least, watch.interval_s) * 1.25)
    # Jitter keeps many hubs from asking in step; it only ever lengthens, so that the site's bound holds.
    return watch.model_copy(
        update={
            "interval_s": interval * random.uniform(1.0, 1.15),  # noqa: S311  # no secret
            "least_s": least,
            "next_look_at": None,
            "failures": watch.failures + 1 if trouble else 0,
            "last_ok_at": watch.last_ok_at if trouble else clock(),
            "error": trouble[:1000],
        }
    )
