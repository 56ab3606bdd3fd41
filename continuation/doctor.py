"""Finds what should not be: stuck leases, orphan jobs, threads without waits, waits without threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dragoman.errors import DragomanError
from dragoman.ledger import Ledger
from dragoman.model import Model, now
from dragoman.site import Site
from dragoman.thread import ThreadStatus
from providers.schedulers.client import SchedulerClient
from providers.site_runtime import SiteRuntime
from providers.without_effect import without_effect

__all__ = ["Finding", "examine"]


class Finding(Model):
    """One thing that is not as it should be, and what to do."""

    kind: str
    """`lease`, `thread-without-wait`, `wait-without-thread`, `poisoned`, `orphan-job`, `site`, `watch`."""
    subject: str
    words: str
    cure: str


async def examine(ledger: Ledger, sites: Sequence[Site], open_site: Callable[[str], SiteRuntime]) -> list[Finding]:
    """Look at everything; nothing is changed."""
    findings = await _threads(ledger)
    findings += await _waits(ledger)
    findings += await _watches(ledger)
    for site in sites:
        if site.simulated is None:
            findings += await _orphans(ledger, site, open_site)
        findings += _notes(site)
    return findings


def _notes(site: Site) -> list[Finding]:
    names = ", ".join(without_effect(site))
    if not names:
        return []
    words, cure = f"nothing is decided by what its file says of {names}", "keep it as a note, or leave it out"
    return [Finding(kind="site", subject=site.name, words=words, cure=cure)]


async def _threads(ledger: Ledger) -> list[Finding]:
    findings = []
    unfinished = (ThreadStatus.NEW, ThreadStatus.ACTIVE, ThreadStatus.PARKED, ThreadStatus.POISONED)
    for row in await ledger.threads(statuses=unfinished, limit=100_000):
        if row.status is ThreadStatus.POISONED:
            cure = f"mend the cause, then `dragoman doctor --retry {row.thread_id[:8]}`"
            findings.append(
                Finding(kind="poisoned", subject=row.thread_id, words=f"parked with its error: {row.error}", cure=cure)
            )
        elif row.lease_until is not None and row.lease_until < now() and row.lease_holder:
            words = f"its owner {row.lease_holder} is gone since {row.lease_until.isoformat(timespec='seconds')}"
            cure = "nothing: any `dragoman` command or watcher takes it over"
            findings.append(Finding(kind="lease", subject=row.thread_id, words=words, cure=cure))
        elif row.status is ThreadStatus.PARKED and not await ledger.open_waits(thread_id=row.thread_id):
            cure = f"`dragoman doctor --retry {row.thread_id[:8]}` runs it on from its checkpoint"
            findings.append(
                Finding(
                    kind="thread-without-wait", subject=row.thread_id, words="parked, and waits for nothing", cure=cure
                )
            )
    return findings


async def _waits(ledger: Ledger) -> list[Finding]:
    findings = []
    for wait in await ledger.open_waits():
        row = await ledger.thread(wait.thread_id)
        if row is None or row.status is ThreadStatus.DONE:
            words = f"an open {wait.kind} wait of a thread that {'is not there' if row is None else 'has ended'}"
            cure = "nothing is lost; `dragoman db prune` removes it"
            findings.append(Finding(kind="wait-without-thread", subject=wait.id, words=words, cure=cure))
    return findings


async def _watches(ledger: Ledger) -> list[Finding]:
    return [
        Finding(
            kind="watch",
            subject=watch.site,
            words=f"no answer since {watch.last_ok_at or 'it was first asked'}: {watch.error}",
            cure="check the connection and credentials; jobs there go on and are looked at again by themselves",
        )
        for watch in await ledger.site_watches()
        if watch.failures > 2
    ]


async def _orphans(ledger: Ledger, site: Site, open_site: Callable[[str], SiteRuntime]) -> list[Finding]:
    try:
        scheduler = open_site(site.name).scheduler
        answers = await scheduler.ours() if isinstance(scheduler, SchedulerClient) else None
    except DragomanError as error:
        return [Finding(kind="site", subject=site.name, words=str(error), cure=error.cure or "check the site")]
    if answers is None:
        return []
    if answers.trouble:
        return [Finding(kind="site", subject=site.name, words=answers.trouble, cure="check the scheduler there")]
    known = await ledger.tags(site.name)
    return [
        Finding(
            kind="orphan-job",
            subject=f"{site.name}:{job_id}",
            words=f"job {job_id} carries our tag {status.ref.tag} and is in no ledger here",
            cure="another database of yours may own it; otherwise cancel it at the site",
        )
        for job_id, status in answers.jobs.items()
        if status.ref.tag is not None and status.ref.tag not in known and not status.state.final
    ]
