"""Threads and where they stand (`dragoman.ledger.Threads`, first half; the other is `leases`)."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from checkpoints.ledger.rows import as_json
from checkpoints.ledger.tables import Tables, lease_lost
from checkpoints.storable import storable_text
from dragoman.errors import LeaseLost
from dragoman.thread import ThreadRow, ThreadStatus

__all__ = ["ThreadTables"]

_CREATE = """
INSERT INTO dragoman_ledger.threads (thread_id, title, status, master, graph, input)
VALUES (%(thread_id)s, %(title)s, %(status)s, %(master)s, %(graph)s, %(input)s)
ON CONFLICT (thread_id) DO NOTHING
RETURNING *
"""
_THREAD = "SELECT * FROM dragoman_ledger.threads WHERE thread_id = %(thread_id)s"
_FIND = """
SELECT * FROM dragoman_ledger.threads WHERE thread_id ^@ %(prefix)s ORDER BY created_at DESC, thread_id LIMIT 20
"""
_THREADS = """
SELECT * FROM dragoman_ledger.threads
WHERE cardinality(%(statuses)s::text[]) = 0 OR status = ANY(%(statuses)s)
ORDER BY created_at DESC, thread_id LIMIT %(limit)s
"""
# Both halves read an index that holds only threads with something to do, however many are parked.
_RUNNABLE = """
WITH candidates AS (
    (SELECT thread_id, updated_at FROM dragoman_ledger.threads
     WHERE status IN ('new', 'active') AND master = 'direct'
         AND (lease_until IS NULL OR lease_until <= clock_timestamp())
         AND (next_try_at IS NULL OR next_try_at <= clock_timestamp())
     ORDER BY updated_at LIMIT %(limit)s)
    UNION
    (SELECT t.thread_id, t.updated_at
     FROM (SELECT DISTINCT thread_id FROM dragoman_ledger.waits WHERE closed_at IS NULL AND has_event) w
     JOIN dragoman_ledger.threads t ON t.thread_id = w.thread_id
     WHERE (t.status = 'parked' OR t.status = 'active' AND t.master = 'api')
         AND (t.lease_until IS NULL OR t.lease_until <= clock_timestamp())
         AND (t.next_try_at IS NULL OR t.next_try_at <= clock_timestamp())
     ORDER BY t.updated_at LIMIT %(limit)s)
)
SELECT thread_id FROM candidates ORDER BY updated_at, thread_id LIMIT %(limit)s
"""
# Beginning a run again is no progress: only parking, ending or a person resets the count of failed tries.
_SET_STATUS = """
WITH changed AS (
    UPDATE dragoman_ledger.threads SET
        status = %(status)s, outcome = %(outcome)s, error = %(error)s, updated_at = clock_timestamp(),
        tries = CASE WHEN %(status)s = 'active' THEN tries ELSE 0 END, next_try_at = NULL
    WHERE thread_id = %(thread_id)s AND CASE
        WHEN %(epoch)s::bigint IS NULL THEN master = 'api'
        ELSE master = 'direct' AND epoch = %(epoch)s AND lease_until > clock_timestamp()
    END
    RETURNING thread_id
)
, closed AS (
    UPDATE dragoman_ledger.waits SET closed_at = clock_timestamp() FROM changed
    WHERE waits.thread_id = changed.thread_id AND closed_at IS NULL AND %(status)s = 'done'
)
SELECT thread_id FROM changed
"""
# The pause doubles with each failure in a row, so that what fails at once does not fail in a tight loop.
_FAILED_TRY = """
UPDATE dragoman_ledger.threads SET
    next_try_at = clock_timestamp() + make_interval(secs => least(60, %(pause)s * 2 ^ least(tries, 10))),
    tries = tries + 1, error = %(error)s, updated_at = clock_timestamp(),
    status = CASE WHEN tries + 1 >= %(most)s THEN 'poisoned' ELSE status END
WHERE thread_id = %(thread_id)s AND epoch = %(epoch)s AND lease_until > clock_timestamp()
RETURNING status
"""
_RETRY = """
UPDATE dragoman_ledger.threads SET status = 'active', tries = 0, next_try_at = NULL, updated_at = clock_timestamp()
WHERE thread_id = %(thread_id)s AND status = 'poisoned'
RETURNING thread_id
"""
_ADOPT = """
WITH added AS (
    INSERT INTO dragoman_ledger.threads (thread_id, title, status, master, input)
    VALUES (%(thread_id)s, %(title)s, 'active', 'api', '{}')
    ON CONFLICT (thread_id) DO NOTHING
    RETURNING master
)
SELECT master FROM added UNION ALL SELECT master FROM dragoman_ledger.threads WHERE thread_id = %(thread_id)s
"""


class ThreadTables(Tables):
    """Threads, and which of them have something to do."""

    async def create_thread(self, row: ThreadRow) -> ThreadRow:
        """Keep a new thread (its id, title, status, master, graph and input); the same id gives the stored one back."""
        added = await self._one(
            _CREATE,
            {
                "thread_id": row.thread_id,
                "title": storable_text(row.title),
                "status": row.status.value,
                "master": row.master,
                "graph": row.graph,
                "input": as_json(row.input),
            },
        )
        return _thread(added) if added is not None else await self.thread(row.thread_id) or row

    async def thread(self, thread_id: str) -> ThreadRow | None:
        """One thread by its id."""
        row = await self._one(_THREAD, {"thread_id": thread_id})
        return None if row is None else _thread(row)

    async def find_threads(self, prefix: str) -> list[ThreadRow]:
        """Threads whose id begins so (at most 20), the newest first."""
        return [_thread(row) for row in await self._all(_FIND, {"prefix": prefix})]

    async def threads(self, *, statuses: Sequence[ThreadStatus] = (), limit: int = 100) -> list[ThreadRow]:
        """Threads, the newest first."""
        parameters = {"statuses": [status.value for status in statuses], "limit": limit}
        return [_thread(row) for row in await self._all(_THREADS, parameters)]

    async def runnable(self, *, limit: int = 100) -> list[str]:
        """Threads with something to do and no live lease, the longest untouched first.

        New ones, those left in the middle, and those parked with an event to take; of a LangGraph server's threads
        only those with an event to take, since the server begins and finishes their runs itself.
        """
        return [row["thread_id"] for row in await self._all(_RUNNABLE, {"limit": limit})]

    async def set_status(
        self, thread_id: str, status: ThreadStatus, *, epoch: int | None, outcome: str = "", error: str = ""
    ) -> None:
        """Keep where the thread stands. Parking and ending reset `tries`; ending closes its waits.

        Raises:
            LeaseLost: the epoch has moved on, or the thread does not exist; nothing was changed.

        """
        changed = await self._one(
            _SET_STATUS,
            {
                "thread_id": thread_id,
                "status": status.value,
                "epoch": epoch,
                "outcome": storable_text(outcome),
                "error": storable_text(error),
            },
        )
        if changed is None:
            raise lease_lost(thread_id, epoch)

    async def failed_try(
        self, thread_id: str, error: str, *, epoch: int, most: int, pause_s: float = 1.0
    ) -> ThreadStatus:
        """Count a failed run; at `most` in a row the thread is poisoned. Returns its status.

        Until then it rests before it is runnable again: `pause_s` after the first failure, twice as long after each
        further one, at most a minute.

        Raises:
            LeaseLost: the epoch has moved on; nothing was changed.

        """
        row = await self._one(
            _FAILED_TRY,
            {"thread_id": thread_id, "epoch": epoch, "most": most, "error": storable_text(error), "pause": pause_s},
        )
        if row is None:
            raise lease_lost(thread_id, epoch)
        return ThreadStatus(row["status"])

    async def retry(self, thread_id: str) -> bool:
        """Take a poisoned thread back into work; False: it is not poisoned."""
        return await self._one(_RETRY, {"thread_id": thread_id}) is not None

    async def adopt_thread(self, thread_id: str, title: str = "") -> None:
        """Note a thread that a LangGraph server owns (master `api`), so that no process of ours runs it.

        A known one keeps its title.

        Raises:
            LeaseLost: it is one of ours already, and no thread has two masters.

        """
        row = await self._one(_ADOPT, {"thread_id": thread_id, "title": storable_text(title)})
        if row is not None and row["master"] != "api":
            raise LeaseLost(
                "the thread was begun by dragoman itself: a LangGraph server cannot take it over",
                where=f"thread {thread_id}",
                cure="continue it with 'dragoman', or begin a new thread",
            )


def _thread(row: DictRow) -> ThreadRow:
    return ThreadRow.model_validate(row)
