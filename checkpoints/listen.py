"""Hear of work at once: PostgreSQL's NOTIFY on the channel `dragoman`, sent by the ledger's tables themselves.

A notification is a hint and never the truth, which is in the ledger: it can be missed while a connection is down, and a
transaction pooler passes none on. Who listens therefore gets an empty word now and then, and looks at everything.
Source: PostgreSQL manual, "NOTIFY" and "LISTEN".
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from psycopg import AsyncConnection

from checkpoints.database_errors import database_errors
from checkpoints.dsn import read_dsn
from dragoman.errors import DatabaseError

__all__ = ["CHANNEL", "listen"]

CHANNEL = "dragoman"
LONGEST_PAUSE = 30.0
"""Seconds between two tries to reach a database that is down."""


async def listen(
    dsn: str | Callable[[], Awaitable[str]], *, pooler: bool = False, every: float = 30.0
) -> AsyncIterator[str]:
    """Ids of threads that are new, changed their status or got an event, as it happens.

    An empty word means: something may have been missed, look at everything. It comes first, after each interruption of
    the connection, and every `every` seconds; behind a transaction pooler nothing else comes.

    Args:
        dsn: of the database, as for `open_pool`, or what finds it, which is asked again after each interruption.
        pooler: a transaction pooler stands before it, which passes no notifications on.
        every: seconds.

    Raises:
        SettingsError: the DSN is no connection string.

    """
    found = dsn if isinstance(dsn, str) else await dsn()
    if pooler or read_dsn(found).pooler:
        while True:
            yield ""
            await anyio.sleep(every)
    pause = 0.5
    while True:
        try:
            read = read_dsn(found if isinstance(dsn, str) else await dsn())
            with database_errors(read.where):
                connection = await AsyncConnection.connect(read.conninfo, autocommit=True)
                async with connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    pause = 0.5
                    while True:
                        yield ""
                        due = time.monotonic() + every
                        while (left := due - time.monotonic()) > 0:
                            async for notification in connection.notifies(timeout=left, stop_after=1):
                                yield notification.payload
        except DatabaseError:
            await anyio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)
