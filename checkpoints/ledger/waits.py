"""What paused threads wait for (`dragoman.ledger.Waits`)."""

from __future__ import annotations

from datetime import datetime

from psycopg.rows import DictRow

from checkpoints.ledger.rows import as_json
from checkpoints.ledger.tables import Tables, lease_lost
from checkpoints.storable import storable_text
from dragoman.event import Event, Wait, WaitKind
from dragoman.model import JsonObject

__all__ = ["WaitTables"]

_OPEN = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(epoch)s) AS held)
, added AS (
    INSERT INTO dragoman_ledger.waits (id, thread_id, step, sequence, kind, site, subject, due_at, opened_at)
    SELECT %(id)s, %(thread_id)s, %(step)s, %(sequence)s, %(kind)s, %(site)s, %(subject)s,
           coalesce(%(due_at)s, clock_timestamp() + make_interval(secs => %(due_in_s)s)),
           coalesce(%(opened_at)s, clock_timestamp())
    FROM lease WHERE lease.held
    ON CONFLICT (id) DO NOTHING
    RETURNING *
)
SELECT lease.held, added.* FROM lease LEFT JOIN added ON true
"""
_UPDATE = """
UPDATE dragoman_ledger.waits SET subject = %(subject)s WHERE id = %(id)s AND closed_at IS NULL RETURNING id
"""
# A thread that went on is not parked any more: if its run dies now, it was left in the middle and is found as such.
_CLOSE = """
WITH went_on AS (
    UPDATE dragoman_ledger.threads t SET status = 'active', updated_at = clock_timestamp()
    FROM dragoman_ledger.waits w
    WHERE w.id = %(id)s AND w.closed_at IS NULL AND t.thread_id = w.thread_id
        AND t.status = 'parked' AND t.master = 'direct'
)
UPDATE dragoman_ledger.waits SET closed_at = clock_timestamp() WHERE id = %(id)s AND closed_at IS NULL RETURNING id
"""
_WAIT = "SELECT * FROM dragoman_ledger.waits WHERE id = %(id)s"
_OPEN_WAITS = """
SELECT * FROM dragoman_ledger.waits
WHERE closed_at IS NULL
    AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s)
    AND (%(site)s::text IS NULL OR site = %(site)s)
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
ORDER BY opened_at, number
"""
_DUE = """
SELECT * FROM dragoman_ledger.waits
WHERE closed_at IS NULL AND NOT has_event AND due_at IS NOT NULL AND due_at <= coalesce(%(at)s, clock_timestamp())
ORDER BY due_at, number
"""
# The wait's row is locked, so that it cannot be closed meanwhile and its events are numbered in the order they came.
_ADD_EVENT = """
INSERT INTO dragoman_ledger.events (wait_id, key, kind, payload, by, at)
SELECT id, %(key)s, %(kind)s, %(payload)s, %(by)s, coalesce(%(at)s, clock_timestamp())
FROM dragoman_ledger.waits WHERE id = %(wait_id)s AND closed_at IS NULL FOR NO KEY UPDATE
ON CONFLICT DO NOTHING
RETURNING id
"""
_EVENTS = "SELECT * FROM dragoman_ledger.events WHERE wait_id = %(wait_id)s ORDER BY id"

LONGEST_KEY = 200


class WaitTables(Tables):
    """Waits and their events."""

    async def open_wait(self, wait: Wait, *, epoch: int | None) -> Wait:
        """Keep a wait before the interrupt; the same id gives the stored one back.

        Raises:
            LeaseLost: the epoch has moved on; nothing was stored.
            UnknownName: there is no such thread.

        """
        row = await self._one(
            _OPEN,
            {
                **wait.model_dump(mode="python", exclude={"closed_at"}),
                "epoch": epoch,
                "subject": as_json(wait.subject),
            },
        )
        if row is None or not row["held"]:
            raise lease_lost(wait.thread_id, epoch)
        if row["id"] is not None:
            return _wait(row)
        return await self.wait(wait.id) or wait

    async def update_wait(self, wait_id: str, subject: JsonObject) -> None:
        """Keep what was last told about an open wait; a closed one stays as it is."""
        await self._all(_UPDATE, {"id": wait_id, "subject": as_json(subject)})

    async def close_wait(self, wait_id: str) -> None:
        """The thread went on, and is active if it was parked; closing twice is fine."""
        await self._all(_CLOSE, {"id": wait_id})

    async def wait(self, wait_id: str) -> Wait | None:
        """One wait."""
        row = await self._one(_WAIT, {"id": wait_id})
        return None if row is None else _wait(row)

    async def open_waits(
        self, *, thread_id: str | None = None, site: str | None = None, kind: WaitKind | None = None
    ) -> list[Wait]:
        """Open waits, the oldest first."""
        rows = await self._all(_OPEN_WAITS, {"thread_id": thread_id, "site": site, "kind": kind})
        return [_wait(row) for row in rows]

    async def due_waits(self, at: datetime | None = None) -> list[Wait]:
        """Open waits whose `due_at` has come and that have no event yet, the longest due first.

        Args:
            at: None: now, by the database's clock.

        """
        return [_wait(row) for row in await self._all(_DUE, {"at": at})]

    async def add_event(self, event: Event) -> bool:
        """Keep an event once.

        False: (wait, key) is known already, or another answer came first, or the wait is closed or unknown.
        """
        row = await self._one(
            _ADD_EVENT,
            {
                "wait_id": event.wait_id,
                "key": storable_text(event.key)[:LONGEST_KEY],
                "kind": event.kind,
                "payload": as_json(event.payload),
                "by": storable_text(event.by),
                "at": event.at,
            },
        )
        return row is not None

    async def events(self, wait_id: str) -> list[Event]:
        """Events of a wait in the order they were stored."""
        return [Event.model_validate(row) for row in await self._all(_EVENTS, {"wait_id": wait_id})]


def _wait(row: DictRow) -> Wait:
    return Wait.model_validate({name: row[name] for name in Wait.model_fields if name in row})
