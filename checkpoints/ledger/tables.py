"""The ledger's way to the database: short statements on the running loop's pool, each a transaction of its own.

What belongs together is one statement, so that no transaction is left open while the process does something else, and a
transaction pooler may stand before the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from psycopg import DataError, errors
from psycopg.rows import DictRow

from checkpoints.database_errors import database_errors
from checkpoints.pool import LoopPools
from dragoman.errors import BadRequest, LeaseLost, UnknownName

__all__ = ["Tables", "lease_lost"]

Parameters = Mapping[str, Any]


class Tables:
    """Base of the ledger's parts.

    Args:
        pools: where connections come from.

    """

    def __init__(self, pools: LoopPools) -> None:
        self._pools = pools

    async def _all(self, sql: LiteralString, parameters: Parameters) -> list[DictRow]:
        """Rows of one statement.

        Raises:
            UnknownName: the thread, attempt or wait that it is about does not exist.
            BadRequest: a name holds a character that PostgreSQL cannot store.
            DatabaseError: the database cannot be reached.

        """
        pool = await self._pools.get()
        try:
            with database_errors("ledger"):
                async with pool.connection() as connection:
                    return await (await connection.execute(sql, parameters)).fetchall()
        except errors.ForeignKeyViolation as problem:
            name = next((str(parameters[key]) for key in ("thread_id", "tag", "wait_id") if key in parameters), "")
            raise UnknownName(
                f"there is no '{name}' in the ledger", where="ledger", cure="see 'dragoman threads'"
            ) from problem
        except DataError as problem:
            raise BadRequest(
                "a value cannot be stored: " + " ".join(str(problem).split()), where="ledger", cure="correct it"
            ) from problem

    async def _one(self, sql: LiteralString, parameters: Parameters) -> DictRow | None:
        """The first row, if any."""
        rows = await self._all(sql, parameters)
        return rows[0] if rows else None


def lease_lost(thread_id: str, epoch: int | None) -> LeaseLost:
    """The error of a write that was refused."""
    if epoch is None:
        return LeaseLost(
            "the thread is not owned by a LangGraph server, so that writing for it takes its lease",
            where=f"thread {thread_id}",
            cure="start or resume it with 'dragoman'",
        )
    return LeaseLost(
        f"the lease (epoch {epoch}) has ended: nothing was written",
        where=f"thread {thread_id}",
        cure="leave the thread to its new owner",
    )
