"""Everything that must survive, put together from settings: the database, the ledger, checkpoints and the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checkpoints.database_errors import database_errors
from checkpoints.embedded import EmbeddedServer
from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.listen import listen
from checkpoints.migrate import migrate, migration_status
from checkpoints.pool import LoopPools, Pool
from checkpoints.prune import prune
from checkpoints.saver import FencedSaver

if TYPE_CHECKING:
    from langgraph.store.postgres.aio import AsyncPostgresStore

    from dragoman.model import JsonObject
    from dragoman.settings import Settings

__all__ = ["Checkpoints", "open_checkpoints"]

_STATUS = """
SELECT current_setting('server_version') AS server_version,
       pg_database_size(current_database()) AS database_bytes,
       (SELECT jsonb_object_agg(status, number)
        FROM (SELECT status, count(*) AS number FROM dragoman_ledger.threads GROUP BY status) s) AS threads,
       (SELECT count(*) FROM dragoman_ledger.waits WHERE closed_at IS NULL) AS open_waits,
       pg_total_relation_size('checkpoints') + pg_total_relation_size('checkpoint_blobs')
           + pg_total_relation_size('checkpoint_writes') AS checkpoints_bytes
"""


class MigratedPools(LoopPools):
    """Pools whose database has this code's tables before anybody gets a connection."""

    async def _open(self) -> Pool:
        pool = await super()._open()
        try:
            await migrate(pool)
        except BaseException:
            await pool.close()
            raise
        return pool


@dataclass(frozen=True)
class Checkpoints:
    """What the other rooms are handed. Nothing connects, starts or migrates before the first use.

    Args:
        pools: a pool for each event loop.
        ledger: `dragoman.ledger.Ledger`.
        saver: LangGraph's checkpointer.
        dsn: finds the database's DSN, starting the embedded server where it is one.
        pooler: a transaction pooler stands before the database.
        embedded: whether the database is the embedded one.

    """

    pools: LoopPools
    ledger: PostgresLedger
    saver: FencedSaver
    dsn: Callable[[], Awaitable[str]]
    pooler: bool
    embedded: bool

    async def ready(self) -> None:
        """Connect now, and migrate where that is needed.

        Raises:
            SettingsError: the database cannot be used as it is: wrong DSN, a newer dragoman's tables, a bad folder.
            DatabaseError: it cannot be reached.

        """
        await self.pools.get()

    async def migrate(self) -> list[str]:
        """Bring the tables up to this code; the names of the migrations that were applied.

        Raises:
            SettingsError: the tables are a newer dragoman's.
            DatabaseError: the database cannot be reached.

        """
        plain = LoopPools(self.dsn, max_size=1, pooler=self.pooler)
        try:
            return list(await migrate(await plain.get()))
        finally:
            await plain.aclose()

    async def status(self) -> JsonObject:
        """Server, schema, threads and sizes (in bytes), for people."""
        pool = await self.pools.get()
        with database_errors("database"):
            async with pool.connection() as connection:
                row = await (await connection.execute(_STATUS)).fetchone() or {}
        applied = [each for each in await migration_status(pool) if each.applied_at is not None]
        threads = row.get("threads") or {}
        return {
            "database": "embedded" if self.embedded else "DATABASE_URL",
            "server_version": row.get("server_version"),
            "schema_version": applied[-1].version if applied else 0,
            **{f"threads_{status}": threads[status] for status in sorted(threads)},
            "open_waits": row.get("open_waits"),
            "checkpoints_bytes": row.get("checkpoints_bytes"),
            "database_bytes": row.get("database_bytes"),
        }

    async def prune(self, *, older_than_s: float) -> dict[str, int]:
        """Forget what is finished (`checkpoints.prune.prune`)."""
        return await prune(self.pools, self.saver, older_than_s)

    async def listen(self, *, every: float = 30.0) -> AsyncIterator[str]:
        """Ids of threads with news; an empty word: look at everything (`checkpoints.listen.listen`)."""
        await self.pools.get()
        async for word in listen(self.dsn, pooler=self.pooler, every=every):
            yield word

    async def store(self) -> AsyncPostgresStore:
        """LangGraph's store for the running event loop; it lives as long as the loop's pool."""
        from langgraph.store.postgres.aio import AsyncPostgresStore

        return AsyncPostgresStore(await self.pools.get())

    async def aclose(self) -> None:
        """Close all connections. The embedded server goes on: other processes may use it, and the next surely will."""
        await self.pools.aclose()


def open_checkpoints(settings: Settings) -> Checkpoints:
    """Put the database's parts together; no event loop has to run yet, and nothing is connected.

    Args:
        settings: `database_url` (None: the embedded server in `data_dir`), `database_pooler`, `database_pool_size`.

    """
    url = settings.database_url

    async def dsn() -> str:
        if url is not None:
            return url.get_secret_value()
        return (await EmbeddedServer.ensure(settings.data_dir)).dsn

    pools = MigratedPools(dsn, max_size=settings.database_pool_size, pooler=settings.database_pooler)
    return Checkpoints(
        pools=pools,
        ledger=PostgresLedger(pools),
        saver=FencedSaver(pools),
        dsn=dsn,
        pooler=settings.database_pooler,
        embedded=url is None,
    )
