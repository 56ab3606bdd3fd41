"""Looks at sites for all threads at once: one question per interval, site and identity, whatever waits there."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from datetime import timedelta

from dragoman.errors import DragomanError
from dragoman.event import Event, Wait
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.ledger import Ledger
from dragoman.model import now
from dragoman.protocols import Clock
from dragoman.site import Site
from dragoman.thread import SiteWatch
from dragoman.transfer import TransferState
from providers.site_runtime import SiteRuntime

__all__ = ["Watcher", "told_key"]

log = logging.getLogger(__name__)

LEASE_S = 60.0
"""A watcher that dies leaves its site to others after this time."""


def told_key(status: JobStatus) -> str:
    """What a thread was told of a job; an event is made only when this changes."""
    return f"{status.state.value}:{status.reason_class or ''}:{status.restarts or 0}"


class Watcher:
    """One process's part in looking at sites. Several share the sites by leases.

    Args:
        ledger: where waits and events are.
        open_site: the runtime of a site.
        holder: this process's name.
        clock: the time.

    """

    def __init__(
        self, ledger: Ledger, open_site: Callable[[str], SiteRuntime], holder: str, clock: Clock = now
    ) -> None:
        self.ledger = ledger
        self.open_site = open_site
        self.holder = holder
        self.clock = clock

    async def look(self) -> int:
        """Look at every awaited site that is due and free, and note the times that have come. Events made."""
        made = await self._times()
        for name in await self.ledger.awaited_sites():
            try:
                runtime = self.open_site(name)
            except DragomanError as error:
                log.warning("%s", error, extra={"action": "site-unknown", "site": name})
                continue
            watch = await self.ledger.take_watch(name, runtime.identity, self.holder, LEASE_S)
            if watch is not None:
                made += await self._look_at(runtime, watch)
        return made

    async def _look_at(self, runtime: SiteRuntime, watch: SiteWatch) -> int:
        """One look: jobs in one question, transfers each at their mover; the next look is planned whatever happens."""
        made, trouble = 0, ""
        try:
            made += await self._transfers(await self.ledger.open_waits(site=watch.site, kind="transfer"), runtime)
            events, trouble = await self._jobs(await self.ledger.open_waits(site=watch.site, kind="job"), runtime)
            made += events
        except DragomanError as error:
            trouble = str(error)
        await self.ledger.note_look(_planned(watch, runtime.site, self.clock, changed=made > 0, trouble=trouble))
        if trouble:
            log.info("%s gave no answer: %s", watch.site, trouble, extra={"action": "look-failed", "site": watch.site})
        return made

    async def _jobs(self, waits: Sequence[Wait], runtime: SiteRuntime) -> tuple[int, str]:
        refs: dict[str, tuple[Wait, JobRef]] = {}
        for wait in waits:
            record = await self.ledger.attempt(str(wait.subject.get("tag")))
            if record is not None and record.job is not None:
                refs[record.attempt.tag] = (wait, record.job.model_copy(update={"tag": record.attempt.tag}))
        if not refs:
            return 0, ""
        answers = await runtime.scheduler.status([ref for _, ref in refs.values()])
        made = 0
        for tag, (wait, ref) in refs.items():
            status = answers.jobs.get(ref.job_id)
            if status is None:
                if ref.job_id in answers.absent:
                    unseen = Event(wait_id=wait.id, key="absent", kind="job", payload={"absent": True})
                    made += await self.ledger.add_event(unseen)
                continue
            kept = await self.ledger.save_job(tag, status)
            if kept.state is not JobState.UNKNOWN and told_key(kept) != wait.subject.get("told"):
                made += await self.ledger.add_event(
                    Event(
                        wait_id=wait.id,
                        key=told_key(kept),
                        kind="job",
                        payload={"status": kept.dump()},
                        by=runtime.site.name,
                    )
                )
        return made, answers.trouble

    async def _transfers(self, waits: Sequence[Wait], runtime: SiteRuntime) -> int:
        made = 0
        for wait in waits:
            plans = {plan.id: (plan, status) for plan, status in await self.ledger.transfers(wait.thread_id)}
            plan, known = plans.get(str(wait.subject.get("plan_id")), (None, None))
            if plan is None:
                continue
            status = await runtime.movers[plan.mover].poll(plan, known.handle if known else {})
            await self.ledger.save_transfer(plan.id, status)
            if status.state is not TransferState.ACTIVE and status.state.value != wait.subject.get("state"):
                made += await self.ledger.add_event(
                    Event(wait_id=wait.id, key=f"transfer:{status.state.value}", kind="transfer", by=plan.mover)
                )
        return made

    async def _times(self) -> int:
        made = 0
        for wait in await self.ledger.due_waits(self.clock()):
            made += await self.ledger.add_event(Event(wait_id=wait.id, key="due", kind="time"))
        return made


def _planned(watch: SiteWatch, site: Site, clock: Clock, *, changed: bool, trouble: str) -> SiteWatch:
    """When to look next: often while things change, ever more seldom while not, within the site's own bounds."""
    least, most = site.min_poll_interval_s, max(site.min_poll_interval_s, site.max_poll_interval_s)
    if trouble:
        interval = min(most, max(least, watch.interval_s) * 2)
    else:
        interval = least if changed else min(most, max(least, watch.interval_s) * 1.25)
    # Jitter keeps many hubs from asking in step; it only ever lengthens, so that the site's bound holds.
    pause = interval * random.uniform(1.0, 1.15)  # noqa: S311  # no secret
    at = clock()
    return watch.model_copy(
        update={
            "interval_s": interval,
            "next_look_at": at + timedelta(seconds=pause),
            "failures": watch.failures + 1 if trouble else 0,
            "last_ok_at": watch.last_ok_at if trouble else at,
            "error": trouble[:1000],
        }
    )
