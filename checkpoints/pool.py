"""Pools of connections to PostgreSQL: one for each event loop.

Source: psycopg manual, "Connection pools" and "Prepared statements".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from checkpoints.database_errors import database_errors
from checkpoints.dsn import read_dsn
from dragoman.errors import DatabaseError

Pool: TypeAlias = AsyncConnectionPool[AsyncConnection[DictRow]]

DEFAULTS = {
    "application_name": "dragoman",
    "connect_timeout": "10",
    # A database that vanished without a word (power, firewall) is noticed within a minute.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""libpq parameters that a DSN may set otherwise; times in seconds, ``tcp_user_timeout`` in milliseconds."""
WAIT_FOR_CONNECTION = 30.0
"""Seconds that a caller waits for a free connection of the pool."""
RECONNECT_FOR = 10.0
"""Seconds of growing pauses before a caller's next wish starts over with short ones: a database that comes back after a
long time is met within seconds."""


async def open_pool(
    dsn: str,
    *,
    min_size: int = 1,
    max_size: int = 8,
    pooler: bool = False,
    again: Callable[[], Awaitable[str]] | None = None,
    connect_s: int | None = None,
) -> Pool:
    """Open a pool of autocommit connections whose rows are dicts, each checked before it is given out.

    Args:
        dsn: ``DATABASE_URL``; it may carry ``pooler=1`` or ``pooler=0`` (see ``checkpoints.dsn``).
        again: finds the DSN anew for each further connection, which starts an embedded server that has stopped.
        min_size: connections kept open.
        max_size: connections at most.
        connect_s: seconds to connect within, where the DSN does not say; None: as in `DEFAULTS`.
        pooler: a transaction pooler stands before the database; nothing is prepared then, since the next statement may
            meet another server process. Without one every statement is prepared at its first use.

    Raises:
        SettingsError: the DSN is no connection string.
        DatabaseError: the database does not answer, or refuses.
    """
    read = read_dsn(dsn)
    given = conninfo_to_dict(read.conninfo)
    defaults = DEFAULTS if connect_s is None else {**DEFAULTS, "connect_timeout": str(connect_s)}
    arguments: dict[str, Any] = {
        **{key: value for key, value in defaults.items() if key not in given},
        "autocommit": True,
        "row_factory": dict_row,
        "prepare_threshold": None if pooler or read.pooler else 0,
    }
    # The pool only says that it timed out; one plain connection says why.
    try:
        with database_errors(read.where):
            await (await AsyncConnection.connect(read.conninfo, **arguments)).close()
    except DatabaseError as problem:
        cure = "see that it runs and accepts this user, or correct DATABASE_URL"
        raise DatabaseError(f"cannot connect: {problem.what}", where=read.where, cure=cure) from problem
    opened = False

    async def found_again() -> str:
        return read_dsn(await again()).conninfo if opened and again is not None else read.conninfo

    pool: Pool = AsyncConnectionPool(
        read.conninfo if again is None else found_again,
        connection_class=AsyncConnection[DictRow],
        kwargs=arguments,
        min_size=min_size,
        max_size=max_size,
        timeout=WAIT_FOR_CONNECTION,
        reconnect_timeout=RECONNECT_FOR,
        check=Pool.check_connection,
        name="dragoman",
        open=False,
    )
    try:
        with database_errors(read.where):
            await pool.open(wait=True, timeout=WAIT_FOR_CONNECTION)
    except BaseException:
        await pool.close()
        raise
    opened = True
    return pool


class LoopPools:
    """One pool for each event loop, opened at its first use there.

    A pool belongs to the loop it was opened on, and ``langgraph dev`` runs nodes on more than one.

    Args:
        dsn: the DSN, or what finds it at first use (such as starting the embedded server).
        min_size: as for ``open_pool``, for each loop.
        max_size: as for ``open_pool``, for each loop.
        pooler: as for ``open_pool``.
        connect_s: as for ``open_pool``.
    """

    def __init__(
        self,
        dsn: str | Callable[[], Awaitable[str]],
        *,
        min_size: int = 1,
        max_size: int = 8,
        pooler: bool = False,
        connect_s: int | None = None,
    ) -> None:
        self._dsn = dsn
        self._min_size, self._max_size = min_size, max_size
        self._pooler = pooler
        self._connect_s = connect_s
        self._opening: dict[asyncio.AbstractEventLoop, asyncio.Task[Pool]] = {}

    async def get(self) -> Pool:
        """Give the open pool of the running loop.

        Raises:
            DatabaseError: as ``open_pool``; the next call tries again.
        """
        loop = asyncio.get_running_loop()
        task = self._opening.get(loop)
        if task is None or (task.done() and (task.cancelled() or task.exception() or task.result().closed)):
            for other in [other for other in list(self._opening) if other.is_closed()]:
                self._opening.pop(other, None)
            # A task of its own: that the first caller is cancelled must not take the pool from those who wait with it.
            task = self._opening[loop] = loop.create_task(self._open(), name="dragoman: open pool")
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Close the pools of all loops; those of loops that no longer run can only be dropped."""
        here = asyncio.get_running_loop()
        while self._opening:
            loop, task = self._opening.popitem()
            if loop is here:
                await _close(task)
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_close(task), loop))

    async def _open(self) -> Pool:
        given = self._dsn
        found, again = (given, None) if isinstance(given, str) else (await given(), given)
        return await open_pool(
            found,
            min_size=self._min_size,
            max_size=self._max_size,
            pooler=self._pooler,
            again=again,
            connect_s=self._connect_s,
        )


async def _close(task: asyncio.Task[Pool]) -> None:
    await asyncio.wait([task])
    if not task.cancelled() and task.exception() is None:
        await task.result().close()
