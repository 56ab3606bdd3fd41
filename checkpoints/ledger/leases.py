"""Leases of threads, and the wish to cancel (`dragoman.ledger.Threads`, second half).

Only the database's clock counts, so that a host whose clock is wrong or jumps neither keeps nor loses a lease by it.
"""

from __future__ import annotations

from checkpoints.ledger.tables import Tables, lease_lost
from checkpoints.storable import storable_text
from dragoman.errors import UnknownName

__all__ = ["LeaseTables"]

_ACQUIRE = """
UPDATE dragoman_ledger.threads SET
    epoch = epoch + 1, lease_holder = %(holder)s, lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE thread_id = %(thread_id)s AND master = 'direct' AND (lease_until IS NULL OR lease_until <= clock_timestamp())
RETURNING epoch
"""
_EXISTS = "SELECT FROM dragoman_ledger.threads WHERE thread_id = %(thread_id)s"
_RENEW = """
UPDATE dragoman_ledger.threads SET lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE thread_id = %(thread_id)s AND epoch = %(epoch)s AND lease_until > clock_timestamp()
RETURNING thread_id
"""
_RELEASE = """
UPDATE dragoman_ledger.threads SET lease_holder = '', lease_until = NULL
WHERE thread_id = %(thread_id)s AND epoch = %(epoch)s
RETURNING thread_id
"""
# A poisoned thread is taken back into work: its job may still run, and only a run of the graph can end it.
_REQUEST_CANCEL = """
UPDATE dragoman_ledger.threads SET
    cancel_requested_by = CASE WHEN cancel_requested_by = '' THEN %(by)s ELSE cancel_requested_by END,
    tries = CASE WHEN status = 'poisoned' THEN 0 ELSE tries END, next_try_at = NULL,
    status = CASE WHEN status = 'poisoned' THEN 'active' ELSE status END,
    updated_at = clock_timestamp()
WHERE thread_id = %(thread_id)s AND status <> 'done'
RETURNING cancel_requested_by
"""
# A statement after the one above, since only a new one sees a wait that was opened while that one waited for the row;
# waits opened later get their event from the database itself.
_TELL = """
INSERT INTO dragoman_ledger.events (wait_id, key, kind, payload, by, at)
SELECT id, 'cancel', 'cancel', '{}', %(by)s, clock_timestamp()
FROM dragoman_ledger.waits WHERE thread_id = %(thread_id)s AND closed_at IS NULL FOR NO KEY UPDATE
ON CONFLICT DO NOTHING
RETURNING id
"""
_CANCEL_REQUESTED = "SELECT cancel_requested_by FROM dragoman_ledger.threads WHERE thread_id = %(thread_id)s"


class LeaseTables(Tables):
    """Who may act for a thread, and who wants it to stop."""

    async def acquire(self, thread_id: str, holder: str, seconds: float) -> int | None:
        """Take the lease if it is free or expired; the new epoch, or None where somebody holds it.

        A thread that a LangGraph server owns has no lease to take.

        Raises:
            UnknownName: there is no such thread.

        """
        parameters = {"thread_id": thread_id, "holder": storable_text(holder), "seconds": seconds}
        row = await self._one(_ACQUIRE, parameters)
        if row is not None:
            epoch: int = row["epoch"]
            return epoch
        if await self._one(_EXISTS, {"thread_id": thread_id}) is None:
            raise UnknownName(f"there is no thread '{thread_id}'", where="ledger", cure="see 'dragoman threads'")
        return None

    async def renew(self, thread_id: str, epoch: int, seconds: float) -> None:
        """Hold on longer: `seconds` from now.

        Raises:
            LeaseLost: the epoch has moved on or the lease has expired.

        """
        if await self._one(_RENEW, {"thread_id": thread_id, "epoch": epoch, "seconds": seconds}) is None:
            raise lease_lost(thread_id, epoch)

    async def release(self, thread_id: str, epoch: int) -> None:
        """Give the lease back; nothing happens where it was lost. What was not written yet is refused from now on."""
        await self._all(_RELEASE, {"thread_id": thread_id, "epoch": epoch})

    async def request_cancel(self, thread_id: str, by: str) -> bool:
        """Keep the wish to cancel and wake the thread (a cancel event on each open wait). False: it has ended.

        The first to ask is kept. A poisoned thread is taken back into work for it.

        Raises:
            UnknownName: there is no such thread.

        """
        parameters = {"thread_id": thread_id, "by": storable_text(by) or "somebody"}
        if await self._one(_REQUEST_CANCEL, parameters) is None:
            if await self._one(_EXISTS, {"thread_id": thread_id}) is None:
                raise UnknownName(f"there is no thread '{thread_id}'", where="ledger", cure="see 'dragoman threads'")
            return False
        await self._all(_TELL, parameters)
        return True

    async def cancel_requested(self, thread_id: str) -> str:
        """Who asked to cancel; empty: nobody."""
        row = await self._one(_CANCEL_REQUESTED, {"thread_id": thread_id})
        return "" if row is None else str(row["cancel_requested_by"])
