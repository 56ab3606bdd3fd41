"""Bring a database to the tables that this code expects: ours, LangGraph's checkpoints and LangGraph's store.

Any number of processes may do this at once: one works, the others wait and then find everything done. The lock is held
by a transaction of its own and polled for, never waited for: LangGraph creates indexes CONCURRENTLY, which waits for
every transaction that is in the middle of a statement, and so a blocking lock and its owner would wait for each other.
A transaction's lock also works behind a transaction pooler, and goes away with a process that dies.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources

import anyio
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncConnection, errors
from psycopg.rows import DictRow, dict_row

from checkpoints.database_errors import database_errors
from checkpoints.pool import Pool
from dragoman.errors import DatabaseError, SettingsError

__all__ = ["Migration", "MigrationStatus", "migrate", "migration_status", "migrations"]

LOCK = int.from_bytes(hashlib.sha256(b"dragoman migrations").digest()[:8], signed=True)
PAUSE = 0.05
"""Seconds between two tries for the lock."""
WAIT = 120.0
"""Seconds after which another process that migrates is taken to be stuck."""
WHERE = "database migrations"

_HEADER = re.compile(r"\A-- (?P<version>\d{4}): (?P<title>.+)\n-- transaction: (?P<transaction>yes|no)\n")

_TABLE = """
CREATE SCHEMA IF NOT EXISTS dragoman_ledger;
CREATE TABLE IF NOT EXISTS dragoman_ledger.migrations (
    version integer PRIMARY KEY,
    title text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""
_ALL = "SELECT version, title, checksum, applied_at FROM dragoman_ledger.migrations ORDER BY version"
_STANDING = """
SELECT (SELECT array_agg(checksum ORDER BY version) FROM dragoman_ledger.migrations) AS ours,
       (SELECT max(v) FROM checkpoint_migrations) AS saver,
       (SELECT max(v) FROM store_migrations) AS store
"""
# Without a parameter: a statement that was bound keeps its snapshot until the next one of its transaction, and the
# index that is created CONCURRENTLY would wait for it.
_TRY_LOCK = b"SELECT pg_try_advisory_xact_lock(%d) AS taken" % LOCK
_ADD = "INSERT INTO dragoman_ledger.migrations (version, title, checksum) VALUES (%s, %s, %s)"


@dataclass(frozen=True)
class Migration:
    """One SQL file of this code.

    Args:
        version: 1, 2, ... without gaps.
        name: of its file, without the ending.
        title: what it does.
        in_transaction: whether it is applied whole or not at all; if not, the file is one statement that may be
            repeated, such as CREATE INDEX CONCURRENTLY IF NOT EXISTS.
        sql: the file.

    """

    version: int
    name: str
    title: str
    in_transaction: bool
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True)
class MigrationStatus:
    """One migration as code and database know it.

    Args:
        version: its number.
        title: what it does.
        applied_at: when the database got it; None: not yet.
        known: whether this code has it.
        changed: whether its file is another one than was applied.

    """

    version: int
    title: str
    applied_at: datetime | None
    known: bool = True
    changed: bool = False


@cache
def migrations() -> tuple[Migration, ...]:
    """The migrations of this code, in their order."""
    folder = resources.files("checkpoints") / "migrations"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    read = []
    for number, name in enumerate(found, start=1):
        sql = (folder / name).read_text(encoding="utf-8")
        header = _HEADER.match(sql)
        if header is None or int(header["version"]) != number or not name.startswith(header["version"]):
            raise DatabaseError(
                f"the file must be number {number:04} and begin with '-- {number:04}: title' and '-- transaction: yes'",
                where=f"checkpoints/migrations/{name}",
                cure="reinstall dragoman",
            )
        read.append(Migration(number, name.removesuffix(".sql"), header["title"], header["transaction"] == "yes", sql))
    return tuple(read)


async def migrate(pool: Pool, *, wait: float = WAIT) -> tuple[str, ...]:
    """Apply what is missing; one query where nothing is.

    Args:
        pool: of the database; connections of their own are opened from its parameters only where work is to be done.
        wait: seconds to wait for another process that migrates.

    Returns:
        Names of the migrations that this call applied, LangGraph's own as one.

    Raises:
        SettingsError: the database belongs to a newer dragoman, or was made by files that were changed since.
        DatabaseError: it cannot be reached, or another process is still at it after `wait`.

    """
    with database_errors(WHERE):
        async with pool.connection() as connection:
            if await _is_current(connection):
                return ()
        async with await _connect(pool) as holder, _locked(holder, wait), await _connect(pool) as worker:
            if await _is_current(worker):
                return ()
            applied = await _apply(worker)
            await AsyncPostgresSaver(worker).setup()
            await AsyncPostgresStore(worker).setup()
    return (*applied, "langgraph")


async def migration_status(pool: Pool) -> list[MigrationStatus]:
    """What is applied and what is not, changing nothing."""
    with database_errors(WHERE):
        async with pool.connection() as connection:
            applied = await _applied(connection)
    known = {migration.version: migration for migration in migrations()}
    listed = [
        MigrationStatus(
            version=row["version"],
            title=row["title"],
            applied_at=row["applied_at"],
            known=row["version"] in known,
            changed=row["version"] in known and known[row["version"]].checksum != row["checksum"],
        )
        for row in applied
    ]
    missing = known.keys() - {status.version for status in listed}
    return listed + [MigrationStatus(number, known[number].title, None) for number in sorted(missing)]


async def _connect(pool: Pool) -> AsyncConnection[DictRow]:
    parameters = pool.kwargs if isinstance(pool.kwargs, dict) else {}
    # A prepared statement is one statement; our files hold many.
    ours = {**parameters, "autocommit": True, "row_factory": dict_row, "prepare_threshold": None}
    given = pool.conninfo
    conninfo = await given() if inspect.iscoroutinefunction(given) else given
    return await AsyncConnection[DictRow].connect(str(conninfo), **ours)


@asynccontextmanager
async def _locked(holder: AsyncConnection[DictRow], wait: float) -> AsyncIterator[None]:
    """Hold the lock of all who migrate, for the time of a transaction of `holder`.

    Each try is a transaction of its own: one that stayed open over several would be waited for by the index that is
    created CONCURRENTLY under the lock.
    """
    until = time.monotonic() + wait
    while time.monotonic() < until:
        async with holder.transaction():
            # A server that ends idle transactions would take the lock away in the middle of the work.
            await holder.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            row = await (await holder.execute(_TRY_LOCK)).fetchone()
            if row is not None and row["taken"]:
                yield
                return
        await anyio.sleep(PAUSE)
    raise DatabaseError(
        f"another process has been changing the tables for more than {wait:g} s",
        where=WHERE,
        cure="wait for it, or end it: it is safe to stop and to start again",
    )


async def _is_current(connection: AsyncConnection[DictRow]) -> bool:
    try:
        row = await (await connection.execute(_STANDING)).fetchone()
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return False
    expected = [migration.checksum for migration in migrations()]
    last_of_saver, last_of_store = len(AsyncPostgresSaver.MIGRATIONS) - 1, len(AsyncPostgresStore.MIGRATIONS) - 1
    return (
        row is not None
        and row["ours"] == expected
        and (row["saver"] or 0) >= last_of_saver
        and (row["store"] or 0) >= last_of_store
    )


async def _applied(connection: AsyncConnection[DictRow]) -> list[DictRow]:
    try:
        return await (await connection.execute(_ALL)).fetchall()
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return []


async def _apply(connection: AsyncConnection[DictRow]) -> list[str]:
    await connection.execute(_TABLE)
    applied = {row["version"]: row for row in await _applied(connection)}
    known = migrations()
    newest = max(applied, default=0)
    if newest > len(known):
        raise SettingsError(
            f"the database was made by a newer dragoman (its tables are at {newest}, this one knows {len(known)})",
            where=WHERE,
            cure="install that dragoman or a later one, or point DATABASE_URL to another database",
        )
    done = []
    for migration in known:
        row = applied.get(migration.version)
        if row is None:
            await _apply_one(connection, migration)
            done.append(migration.name)
        elif row["checksum"] != migration.checksum:
            raise SettingsError(
                f"migration {migration.version} ('{row['title']}') is not the one that this database was made with",
                where=WHERE,
                cure="install the dragoman that made it; applied migrations are never edited, new ones are added",
            )
    return done


async def _apply_one(connection: AsyncConnection[DictRow], migration: Migration) -> None:
    record = (migration.version, migration.title, migration.checksum)
    if migration.in_transaction:
        async with connection.transaction():
            await connection.execute(migration.sql.encode())
            await connection.execute(_ADD, record)
    else:
        await connection.execute(migration.sql.encode())
        await connection.execute(_ADD, record)
