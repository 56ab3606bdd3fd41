"""Guards taken out on purpose, one by one, to see the campaign go red. Only in the campaign's own processes."""

from __future__ import annotations

from typing import Any

from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.protocols import JobAnswers

__all__ = ["BREAKS", "SQL", "break_ledger", "break_site"]

BREAKS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "epoch": ("writes are taken whatever lease they were begun under", ("stop",), ("checkpoint", "interrupt", "wait")),
    "lease": ("whoever asks for a thread's lease gets it", ("stop", "kill"), ("checkpoint", "intent", "record")),
    "claims": ("neither the step nor the job sees an earlier claim", ("kill",), ("submit", "record")),
    "resume-id": ("a thread is resumed with whatever event there is", ("event-again", "event-stale"), ()),
    "unseen": ("a job that is not seen is taken for finished", ("lost-answer",), ("look",)),
}
"""What each takes out, and the faults (kinds, steps) that bring it to light."""

SQL = {
    "epoch": """
        CREATE OR REPLACE FUNCTION dragoman_ledger.may_write(written_thread text, held_epoch bigint) RETURNS boolean
        LANGUAGE sql AS 'SELECT true'
    """,
}
"""Guards that the database itself keeps."""


def break_ledger(name: str, ledger: Any) -> None:  # noqa: ANN401
    """Take a guard out of the ledger as this process sees it."""
    if name == "lease":

        async def acquire(thread_id: str, holder: str, seconds: float) -> int:
            await ledger._all(
                "UPDATE dragoman_ledger.threads SET lease_until = NULL WHERE thread_id = %(thread_id)s RETURNING epoch",
                {"thread_id": thread_id},
            )
            return await inner_acquire(thread_id, holder, seconds) or 1

        inner_acquire = ledger.acquire
        ledger.acquire = acquire
        ledger.runnable = lambda limit=100: _anybody(ledger, limit)
    if name == "epoch":

        async def renew(thread_id: str, epoch: int, seconds: float) -> None:
            return None

        ledger.renew = renew
    if name == "resume-id":

        async def events(wait_id: str) -> list[Any]:
            wait = await ledger.wait(wait_id)
            rows = await ledger._all(
                "SELECT e.* FROM dragoman_ledger.events e JOIN dragoman_ledger.waits w ON w.id = e.wait_id"
                " WHERE w.thread_id = %(thread_id)s ORDER BY e.id DESC",
                {"thread_id": wait.thread_id if wait else ""},
            )
            from dragoman.event import Event

            return [Event.model_validate(row) for row in rows]

        ledger.events = events


async def _anybody(ledger: Any, limit: int) -> list[str]:  # noqa: ANN401
    rows = await ledger._all(
        "SELECT thread_id FROM dragoman_ledger.threads WHERE status IN ('new', 'active') LIMIT %(limit)s",
        {"limit": limit},
    )
    parked = await ledger._all(
        "SELECT DISTINCT t.thread_id FROM dragoman_ledger.threads t JOIN dragoman_ledger.waits w USING (thread_id)"
        " WHERE t.status = 'parked' AND w.closed_at IS NULL AND w.has_event LIMIT %(limit)s",
        {"limit": limit},
    )
    return [row["thread_id"] for row in (*rows, *parked)]


def break_site(name: str, client: Any, transport: Any) -> None:  # noqa: ANN401
    """Take a guard out of the way to the site."""
    if name == "claims":
        inner = transport.run

        async def run(command: Command) -> Completed:
            argv = command.argv
            if len(argv) > 5 and argv[3] == "dragoman" and argv[4] == "submit":
                await inner(Command(("rm", "-rf", f"{argv[5]}/submit", f"{argv[5]}/run")))
            done: Completed = await inner(command)
            return done

        transport.run = run
    if name == "unseen":
        inner_status = client.status

        async def status(refs: list[JobRef], **named: Any) -> JobAnswers:  # noqa: ANN401
            answers: JobAnswers = await inner_status(refs, **named)
            unseen = {
                ref.job_id: JobStatus(ref=ref, state=JobState.COMPLETED, exit_code=0)
                for ref in refs
                if ref.job_id not in answers.jobs
            }
            return JobAnswers(jobs={**answers.jobs, **unseen})

        client.status = status
