"""What must survive beside LangGraph's checkpoints, as the rooms see it. `checkpoints/` has it in PostgreSQL.

Every write is durable when the call returns. Methods that act for a thread take its lease's `epoch` and raise
`LeaseLost` when it has moved on; None stands for a thread that a LangGraph server owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from dragoman.attempt import Attempt, AttemptRecord
from dragoman.earlier_run import EarlierRun
from dragoman.event import Event, Wait, WaitKind
from dragoman.job import JobRef, JobStatus
from dragoman.model import JsonObject
from dragoman.observation import Observation
from dragoman.proposal import Proposal
from dragoman.thread import SiteWatch, ThreadRow, ThreadStatus, TimelineEntry
from dragoman.transfer import TransferPlan, TransferStatus

__all__ = ["Ledger", "Records", "SiteAnswer", "Threads", "Waits", "Watches"]


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """What a site answered in a round: its proposal with the evidence, and the line that the timeline gets."""

    proposal: Proposal
    observations: Sequence[Observation] = ()
    words: str = ""
    key: str | None = None
    """Of the line; None: it may be said again."""


class Records(Protocol):
    """Evidence, decisions, attempts, jobs and transfers of a thread."""

    async def save_request(self, thread_id: str, round_: int, request: JsonObject) -> None:
        """Keep the request of a round; the same round again overwrites nothing."""
        ...

    async def save_observations(self, thread_id: str, observations: Sequence[Observation]) -> None:
        """Keep evidence; an id that is there already stays as it is."""
        ...

    async def observations(self, thread_id: str, ids: Sequence[str] | None = None) -> list[Observation]:
        """Evidence of a thread, all or by id."""
        ...

    async def save_proposal(self, thread_id: str, proposal: Proposal) -> None:
        """Keep by (thread, round, site); the first one stays."""
        ...

    async def save_answers(self, thread_id: str, step: str, answers: Sequence[SiteAnswer]) -> frozenset[str]:
        """Keep what several sites answered, in one write; the sites whose proposal was not there yet."""
        ...

    async def proposals(self, thread_id: str, round_: int) -> list[Proposal]:
        """The proposals of a round so far, by site name."""
        ...

    async def save_decision(self, thread_id: str, kind: str, round_: int, record: JsonObject) -> None:
        """Keep a selection or approval for replay; the first of (thread, kind, round) stays."""
        ...

    async def decisions(self, thread_id: str) -> list[JsonObject]:
        """All decisions of a thread, the oldest first, each with `kind`, `round`, `at` and `record`."""
        ...

    async def intend(self, attempt: Attempt, *, epoch: int | None) -> AttemptRecord:
        """Keep the intent before the submit; the same tag gives the stored record back. Raises `LeaseLost`."""
        ...

    async def settle_attempt(self, record: AttemptRecord, *, epoch: int | None) -> AttemptRecord:
        """Keep what became of the submit. A recorded job is never replaced by another. Raises `LeaseLost`."""
        ...

    async def attempt(self, tag: str) -> AttemptRecord | None:
        """One attempt by its tag."""
        ...

    async def attempts(self, thread_id: str) -> list[AttemptRecord]:
        """Attempts of a thread in their order."""
        ...

    async def tags(self, site: str) -> set[str]:
        """Tags of every attempt ever intended at a site (to tell orphans)."""
        ...

    async def save_job(self, tag: str, status: JobStatus) -> JobStatus:
        """Keep the newest status and return what is kept: unknown never replaces, a final state is never replaced."""
        ...

    async def job(self, tag: str) -> JobStatus | None:
        """The newest known status of an attempt's job."""
        ...

    async def plan_transfer(self, thread_id: str, plan: TransferPlan, *, epoch: int | None) -> TransferPlan:
        """Keep a plan before it starts; the same id gives the stored plan back. Raises `LeaseLost`."""
        ...

    async def save_transfer(self, plan_id: str, status: TransferStatus) -> None:
        """Keep the newest status of a transfer."""
        ...

    async def transfers(self, thread_id: str) -> list[tuple[TransferPlan, TransferStatus | None]]:
        """Transfers of a thread in their order."""
        ...

    async def earlier_runs(self, application: str, *, limit: int = 20) -> list[EarlierRun]:
        """Ended jobs of an application (`JobRequest.application`), the newest first; none for an empty name."""
        ...

    async def say(
        self, thread_id: str, step: str, words: str, data: JsonObject | None = None, *, key: str | None = None
    ) -> bool:
        """Add one line to the thread's timeline. False: the line of this key is there already (said by a replay)."""
        ...

    async def timeline(self, thread_id: str) -> list[TimelineEntry]:
        """The thread's story, the oldest first."""
        ...


class Waits(Protocol):
    """What paused threads wait for."""

    async def open_wait(self, wait: Wait, *, epoch: int | None) -> Wait:
        """Keep a wait before the interrupt; the same id gives the stored one back. Raises `LeaseLost`."""
        ...

    async def update_wait(self, wait_id: str, subject: JsonObject) -> None:
        """Keep what was last told about an open wait (last job state), so that only changes become events."""
        ...

    async def close_wait(self, wait_id: str) -> None:
        """The thread went on; closing twice is fine."""
        ...

    async def wait(self, wait_id: str) -> Wait | None:
        """One wait."""
        ...

    async def open_waits(
        self, *, thread_id: str | None = None, site: str | None = None, kind: WaitKind | None = None
    ) -> list[Wait]:
        """Open waits, the oldest first."""
        ...

    async def due_waits(self, at: datetime | None = None) -> list[Wait]:
        """Open waits whose `due_at` has come and that have no event yet; `at` None: now, by the ledger's clock."""
        ...

    async def add_event(self, event: Event) -> bool:
        """Keep an event once.

        False: (wait, key) is known already, or another answer came first, or the wait is closed or unknown.
        """
        ...

    async def events(self, wait_id: str) -> list[Event]:
        """Events of a wait in the order they were stored."""
        ...


class Threads(Protocol):
    """Threads, their leases and their place in the queue of work."""

    async def create_thread(self, row: ThreadRow) -> ThreadRow:
        """Keep a new thread; the same id gives the stored one back."""
        ...

    async def thread(self, thread_id: str) -> ThreadRow | None:
        """One thread by its id."""
        ...

    async def find_threads(self, prefix: str) -> list[ThreadRow]:
        """Threads whose id begins so (at most 20)."""
        ...

    async def threads(self, *, statuses: Sequence[ThreadStatus] = (), limit: int = 100) -> list[ThreadRow]:
        """Threads, the newest first."""
        ...

    async def runnable(self, *, limit: int = 100) -> list[str]:
        """Threads with something to do and no live lease: new, left in the middle, or parked with an event to take."""
        ...

    async def acquire(self, thread_id: str, holder: str, seconds: float) -> int | None:
        """Take the lease if it is free or expired; the new epoch, or None where somebody holds it."""
        ...

    async def renew(self, thread_id: str, epoch: int, seconds: float) -> None:
        """Hold on longer. Raises `LeaseLost` where the epoch has moved on or the lease has expired."""
        ...

    async def release(self, thread_id: str, epoch: int) -> None:
        """Give the lease back; nothing happens where it was lost."""
        ...

    async def set_status(
        self, thread_id: str, status: ThreadStatus, *, epoch: int | None, outcome: str = "", error: str = ""
    ) -> None:
        """Keep where the thread stands; resets `tries`. Raises `LeaseLost`."""
        ...

    async def failed_try(
        self, thread_id: str, error: str, *, epoch: int, most: int, pause_s: float = 1.0
    ) -> ThreadStatus:
        """Count a failed run; at `most` in a row the thread is poisoned. Returns its status. Raises `LeaseLost`.

        Until then it is not runnable for `pause_s`, doubled with each failure in a row.
        """
        ...

    async def retry(self, thread_id: str) -> bool:
        """Take a poisoned thread back into work."""
        ...

    async def request_cancel(self, thread_id: str, by: str) -> bool:
        """Keep the wish to cancel and wake the thread (a cancel event on each open wait). False: it has ended."""
        ...

    async def cancel_requested(self, thread_id: str) -> str:
        """Who asked to cancel; empty: nobody."""
        ...

    async def adopt_thread(self, thread_id: str, title: str = "") -> None:
        """Note a thread that a LangGraph server owns (master `api`), so that no process of ours runs it.

        A known one keeps its title.
        """
        ...


class Watches(Protocol):
    """Who looks at which site for all threads."""

    async def awaited_sites(self) -> list[str]:
        """Sites with an open job or transfer wait."""
        ...

    async def awaited_jobs(self, site: str) -> list[tuple[Wait, JobRef, JobStatus | None]]:
        """Open job waits of a site without an event yet, with the job of each and what was last kept of it."""
        ...

    async def hold_watch(self, watch: SiteWatch, seconds: float) -> bool:
        """Hold on longer during a long look; 0 gives the watch back without a look. False: another has it by now."""
        ...

    async def hasten_watch(self, site: str) -> None:
        """Have the site looked at as soon as its bound allows; one that gives no answers is left its pauses."""
        ...

    async def take_watch(self, site: str, identity: str, holder: str, seconds: float) -> SiteWatch | None:
        """Lease a site's watch if it is free or expired, and due now; None otherwise."""
        ...

    async def note_look(self, watch: SiteWatch) -> None:
        """Keep when to look next and how the last look went, and give the lease back."""
        ...

    async def site_watches(self) -> list[SiteWatch]:
        """All watches, for people."""
        ...


class Ledger(Records, Waits, Threads, Watches, Protocol):
    """All of it."""
