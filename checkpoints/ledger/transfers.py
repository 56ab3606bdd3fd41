"""Transfers of a thread (`dragoman.ledger.Records`, third part): planned before they start, never planned twice."""

from __future__ import annotations

from checkpoints.ledger.rows import exactly, stored
from checkpoints.ledger.tables import Tables, lease_lost
from dragoman.errors import UnknownName
from dragoman.transfer import TransferPlan, TransferStatus

__all__ = ["TransferTables"]

_PLAN = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(epoch)s) AS held)
, added AS (
    INSERT INTO dragoman_ledger.transfers (id, thread_id, plan)
    SELECT %(id)s, %(thread_id)s, %(plan)s FROM lease WHERE lease.held
    ON CONFLICT (id) DO NOTHING
    RETURNING plan
)
SELECT lease.held, added.plan FROM lease LEFT JOIN added ON true
"""
_STORED_PLAN = "SELECT plan FROM dragoman_ledger.transfers WHERE id = %(id)s"
# A verified arrival stays; a status without a handle keeps the one by which the mover can be asked again.
_SAVE = """
WITH saved AS (
    UPDATE dragoman_ledger.transfers SET
        status = CASE WHEN status ? 'handle' THEN jsonb_build_object('handle', status -> 'handle') ELSE '{}' END
                 || %(status)s,
        updated_at = clock_timestamp()
    WHERE id = %(id)s AND status ->> 'state' IS DISTINCT FROM 'succeeded'
)
SELECT FROM dragoman_ledger.transfers WHERE id = %(id)s
"""
_TRANSFERS = """
SELECT plan, status FROM dragoman_ledger.transfers WHERE thread_id = %(thread_id)s ORDER BY number
"""


class TransferTables(Tables):
    """Plans and the newest status of each."""

    async def plan_transfer(self, thread_id: str, plan: TransferPlan, *, epoch: int | None) -> TransferPlan:
        """Keep a plan before it starts; the same id gives the stored plan back.

        Raises:
            LeaseLost: the epoch has moved on; nothing was stored.
            BadRequest: a path holds a character that cannot be stored exactly.
            UnknownName: there is no such thread.

        """
        parameters = {"thread_id": thread_id, "epoch": epoch, "id": plan.id, "plan": exactly(plan)}
        row = await self._one(_PLAN, parameters)
        if row is None or not row["held"]:
            raise lease_lost(thread_id, epoch)
        if row["plan"] is None:
            row = await self._one(_STORED_PLAN, {"id": plan.id})
        return plan if row is None else TransferPlan.model_validate(row["plan"])

    async def save_transfer(self, plan_id: str, status: TransferStatus) -> None:
        """Keep the newest status of a transfer; one that succeeded stays so.

        Raises:
            UnknownName: it was never planned.

        """
        if await self._one(_SAVE, {"id": plan_id, "status": stored(status)}) is None:
            raise UnknownName(f"there is no transfer '{plan_id}'", where="ledger", cure="plan it first")

    async def transfers(self, thread_id: str) -> list[tuple[TransferPlan, TransferStatus | None]]:
        """Transfers of a thread in their order."""
        return [
            (
                TransferPlan.model_validate(row["plan"]),
                None if row["status"] is None else TransferStatus.model_validate(row["status"]),
            )
            for row in await self._all(_TRANSFERS, {"thread_id": thread_id})
        ]
