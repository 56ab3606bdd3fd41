"""Attempts and their jobs (`dragoman.ledger.Records`, second half): intended once, one job each, ended once."""

from __future__ import annotations

from psycopg.rows import DictRow

from checkpoints.ledger.rows import exactly, stored
from checkpoints.ledger.tables import Tables, lease_lost
from checkpoints.storable import MARK, storable_text
from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.errors import BadRequest, UnknownName
from dragoman.job import JobRef, JobStatus

__all__ = ["AttemptTables"]

_INTEND = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(epoch)s) AS held)
, added AS (
    INSERT INTO dragoman_ledger.attempts (tag, thread_id, step, number, site, attempt, intended_at)
    SELECT %(tag)s, %(thread_id)s, %(step)s, %(number)s, %(site)s, %(attempt)s,
           coalesce(%(intended_at)s, clock_timestamp())
    FROM lease WHERE lease.held
    ON CONFLICT (tag) DO NOTHING
    RETURNING *
)
SELECT lease.held, added.* FROM lease LEFT JOIN added ON true
"""
# A job that is shown to exist is recorded whatever was thought before; nothing follows a recorded job.
_SETTLE = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(epoch)s) AS held)
, settled AS (
    UPDATE dragoman_ledger.attempts SET
        state = %(state)s, job = %(job)s, answer = %(answer)s, adopted = %(adopted)s, reason_class = %(reason_class)s,
        recorded_at = coalesce(%(recorded_at)s, clock_timestamp())
    FROM lease
    WHERE lease.held AND tag = %(tag)s AND thread_id = %(thread_id)s
        AND job IS NULL AND (%(job)s::jsonb IS NOT NULL OR state IN ('intended', 'in-doubt'))
    RETURNING tag
)
SELECT lease.held FROM lease LEFT JOIN settled ON true
"""
_ATTEMPT = "SELECT * FROM dragoman_ledger.attempts WHERE tag = %(tag)s"
_ATTEMPTS = """
SELECT * FROM dragoman_ledger.attempts WHERE thread_id = %(thread_id)s ORDER BY intended_at, step, number
"""
_TAGS = """
SELECT tag FROM dragoman_ledger.attempts WHERE site = %(site)s
UNION ALL SELECT tag FROM dragoman_ledger.past_tags WHERE site = %(site)s
"""
# The place decides within one run of a job; a requeue (more restarts) starts a new run. Of two looks that found the
# same place, the later one counts. An end is only added to: what was not known of it before.
_SAVE_JOB = """
INSERT INTO dragoman_ledger.jobs AS kept (tag, state, place, restarts, seen_at, status)
VALUES (%(tag)s, %(state)s, %(place)s, %(restarts)s, %(seen_at)s, %(status)s)
ON CONFLICT (tag) DO UPDATE SET
    state = EXCLUDED.state, place = EXCLUDED.place, seen_at = coalesce(EXCLUDED.seen_at, kept.seen_at),
    restarts = coalesce(EXCLUDED.restarts, kept.restarts),
    status = CASE WHEN kept.place = 5 THEN EXCLUDED.status || kept.status ELSE EXCLUDED.status END,
    updated_at = clock_timestamp()
WHERE CASE
    WHEN EXCLUDED.place IS NULL THEN kept.place IS NULL
    WHEN kept.place IS NULL THEN true
    WHEN kept.place = 5 THEN EXCLUDED.state = kept.state
    WHEN EXCLUDED.restarts > coalesce(kept.restarts, 0) THEN true
    WHEN EXCLUDED.restarts < kept.restarts THEN false
    WHEN EXCLUDED.place = kept.place THEN coalesce(EXCLUDED.seen_at >= kept.seen_at, true)
    ELSE EXCLUDED.place > kept.place
END
RETURNING status
"""
_JOB = "SELECT status FROM dragoman_ledger.jobs WHERE tag = %(tag)s"

LONGEST_ANSWER = 4000


class AttemptTables(Tables):
    """Intents, what became of them, and the newest status of their jobs."""

    async def intend(self, attempt: Attempt, *, epoch: int | None) -> AttemptRecord:
        """Keep the intent before the submit; the same tag gives the stored record back.

        Raises:
            LeaseLost: the epoch has moved on; nothing was stored.
            BadRequest: the script or a path holds a character that cannot be stored exactly.
            UnknownName: there is no such thread.

        """
        row = await self._one(
            _INTEND,
            {
                "thread_id": attempt.thread_id,
                "epoch": epoch,
                "tag": attempt.tag,
                "step": attempt.step,
                "number": attempt.number,
                "site": attempt.site,
                "attempt": exactly(attempt, without=("intended_at",)),
                "intended_at": attempt.intended_at,
            },
        )
        if row is None or not row["held"]:
            raise lease_lost(attempt.thread_id, epoch)
        return _record(row) if row["tag"] is not None else await self._stored(attempt.tag)

    async def settle_attempt(self, record: AttemptRecord, *, epoch: int | None) -> AttemptRecord:
        """Keep what became of the submit and return what is kept. A recorded job is never replaced by another.

        Raises:
            LeaseLost: the epoch has moved on; nothing was stored.
            BadRequest: it is told to be submitted, and as which job is not.
            UnknownName: it was never intended.

        """
        if record.state is AttemptState.SUBMITTED and record.job is None:
            raise BadRequest("a submitted attempt has a job", where=record.attempt.tag, cure="give the job's id")
        answer = storable_text(record.answer)
        if len(answer) > LONGEST_ANSWER:
            answer = answer[: LONGEST_ANSWER - len(MARK)] + MARK
        row = await self._one(
            _SETTLE,
            {
                "thread_id": record.attempt.thread_id,
                "epoch": epoch,
                "tag": record.attempt.tag,
                "state": record.state.value,
                "job": None if record.job is None else exactly(record.job),
                "answer": answer,
                "adopted": record.adopted,
                "reason_class": record.reason_class,
                "recorded_at": record.recorded_at,
            },
        )
        if row is None or not row["held"]:
            raise lease_lost(record.attempt.thread_id, epoch)
        return await self._stored(record.attempt.tag)

    async def attempt(self, tag: str) -> AttemptRecord | None:
        """One attempt by its tag."""
        row = await self._one(_ATTEMPT, {"tag": tag})
        return None if row is None else _record(row)

    async def attempts(self, thread_id: str) -> list[AttemptRecord]:
        """Attempts of a thread in their order."""
        return [_record(row) for row in await self._all(_ATTEMPTS, {"thread_id": thread_id})]

    async def tags(self, site: str) -> set[str]:
        """Tags of every attempt ever intended at a site, those of forgotten threads too."""
        return {row["tag"] for row in await self._all(_TAGS, {"site": site})}

    async def save_job(self, tag: str, status: JobStatus) -> JobStatus:
        """Keep the newest status and return what is kept.

        Unknown never replaces; a final state is never replaced, and only gains what was not known of it; going back
        in the order of states takes a restart (`JobStatus.restarts`).

        Raises:
            UnknownName: there is no such attempt.

        """
        row = await self._one(
            _SAVE_JOB,
            {
                "tag": tag,
                "state": status.state.value,
                "place": status.state.order,
                "restarts": status.restarts,
                "seen_at": status.seen_at,
                "status": stored(status),
            },
        )
        if row is not None:
            return JobStatus.model_validate(row["status"])
        return await self.job(tag) or status

    async def job(self, tag: str) -> JobStatus | None:
        """The newest known status of an attempt's job."""
        row = await self._one(_JOB, {"tag": tag})
        return None if row is None else JobStatus.model_validate(row["status"])

    async def _stored(self, tag: str) -> AttemptRecord:
        record = await self.attempt(tag)
        if record is None:
            raise UnknownName(f"there is no attempt '{tag}'", where="ledger", cure="intend it first")
        return record


def _record(row: DictRow) -> AttemptRecord:
    return AttemptRecord(
        attempt=Attempt.model_validate({**row["attempt"], "intended_at": row["intended_at"]}),
        state=row["state"],
        job=None if row["job"] is None else JobRef.model_validate(row["job"]),
        answer=row["answer"],
        adopted=row["adopted"],
        reason_class=row["reason_class"],
        recorded_at=row["recorded_at"],
    )
