"""Migrations: whoever comes together, everybody succeeds; what is newer or changed is refused (case PG03)."""

from __future__ import annotations

import sys
from subprocess import PIPE, STDOUT

import anyio
import psycopg
import pytest

from checkpoints.migrate import _TRY_LOCK, migrate, migration_status, migrations
from checkpoints.open import MigratedPools
from checkpoints.pool import open_pool
from dragoman.errors import DatabaseError, SettingsError

NAMES = tuple(migration.name for migration in migrations())


async def rows(dsn: str, sql: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        return await (await connection.execute(sql.encode())).fetchall()


def test_files_are_numbered_and_say_what_they_do() -> None:
    assert [migration.version for migration in migrations()] == list(range(1, len(NAMES) + 1))
    assert all(migration.title and migration.in_transaction for migration in migrations())


async def test_two_processes_that_start_together_both_succeed(empty_database: str) -> None:
    program = (
        "import sys, anyio\n"
        "from checkpoints.pool import open_pool\n"
        "from checkpoints.migrate import migrate\n"
        "async def main():\n"
        "    pool = await open_pool(sys.argv[1])\n"
        "    print(len(await migrate(pool)))\n"
        "    await pool.close()\n"
        "anyio.run(main)\n"
    )
    said: list[str] = []

    async def start() -> None:
        done = await anyio.run_process(
            [sys.executable, "-c", program, empty_database], stdout=PIPE, stderr=STDOUT, check=False
        )
        assert done.returncode == 0, done.stdout.decode()
        said.append(done.stdout.decode().strip())

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(start)
    assert sorted(said) == ["0", "0", str(len(NAMES) + 1)]
    tables = await rows(empty_database, "SELECT to_regclass('checkpoints'), to_regclass('store')")
    assert tables == [("checkpoints", "store")]
    invalid = await rows(empty_database, "SELECT count(*) FROM pg_index WHERE NOT indisvalid")
    assert invalid == [(0,)]


async def test_a_pool_of_transactions_is_migrated_all_the_same(empty_database: str) -> None:
    """CREATE INDEX CONCURRENTLY cannot run inside a transaction block: the work has connections of its own."""
    pool = await open_pool(empty_database)
    pool.kwargs = {**pool.kwargs, "autocommit": False}  # type: ignore[dict-item]
    await pool.drain()
    assert await migrate(pool) == (*NAMES, "langgraph")
    assert await migrate(pool) == ()
    await pool.close()


async def test_many_pools_that_open_together_need_no_more_than_one_connection_each(empty_database: str) -> None:
    several = [MigratedPools(empty_database, max_size=1) for _ in range(8)]
    async with anyio.create_task_group() as group:
        for pools in several:
            group.start_soon(pools.get)
    assert await rows(empty_database, "SELECT count(*) FROM dragoman_ledger.migrations") == [(len(NAMES),)]
    for pools in several:
        await pools.aclose()


async def test_a_database_that_is_up_to_date_asks_for_no_lock(database: str) -> None:
    pool = await open_pool(database)
    async with await psycopg.AsyncConnection.connect(database) as other:
        await other.execute(_TRY_LOCK)
        # Whoever asks for it while another holds it raises in the end.
        assert await migrate(pool, wait=0.5) == ()
    await pool.close()


async def test_the_lock_of_a_process_that_died_is_free(empty_database: str) -> None:
    pool = await open_pool(empty_database)
    other = await psycopg.AsyncConnection.connect(empty_database)
    await other.execute(_TRY_LOCK)
    with pytest.raises(DatabaseError, match="another process has been changing the tables") as stuck:
        await migrate(pool, wait=0.3)
    assert stuck.value.transient
    await rows(empty_database, f"SELECT pg_terminate_backend({other.info.backend_pid})")
    assert await migrate(pool, wait=10) == (*NAMES, "langgraph")
    await other.close()
    await pool.close()


async def test_a_failed_migration_leaves_nothing_half_done_and_can_be_repeated(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from checkpoints import migrate as module

    broken = replace(migrations()[2], sql=migrations()[2].sql + "\nSELECT no_such_function();\n")
    pool = await open_pool(empty_database)
    with monkeypatch.context() as patched:
        patched.setattr(module, "migrations", lambda: (*migrations()[:2], broken, *migrations()[3:]))
        with pytest.raises(psycopg.errors.UndefinedFunction):
            await migrate(pool)
    assert await rows(empty_database, "SELECT to_regclass('dragoman_ledger.attempts')") == [(None,)]
    assert await migrate(pool) == (*NAMES[2:], "langgraph")
    await pool.close()


async def test_a_database_of_a_newer_dragoman_is_refused_and_left_alone(database: str) -> None:
    await rows(
        database,
        "INSERT INTO dragoman_ledger.migrations (version, title, checksum) VALUES (99, 'later', 'x') RETURNING 1",
    )
    pools = MigratedPools(database)
    with pytest.raises(SettingsError, match="made by a newer dragoman") as refused:
        await pools.get()
    assert "install that dragoman" in refused.value.cure
    await pools.aclose()
    pool = await open_pool(database)
    status = await migration_status(pool)
    assert [(each.version, each.known) for each in status][-1] == (99, False)
    await pool.close()


async def test_a_migration_that_was_edited_afterwards_is_refused(database: str) -> None:
    await rows(database, "UPDATE dragoman_ledger.migrations SET checksum = 'other' WHERE version = 2 RETURNING 1")
    pool = await open_pool(database)
    with pytest.raises(SettingsError, match="migration 2"):
        await migrate(pool)
    assert [each.version for each in await migration_status(pool) if each.changed] == [2]
    await pool.close()


async def test_status_tells_what_is_missing_without_changing_anything(empty_database: str) -> None:
    pool = await open_pool(empty_database)
    assert [each.applied_at for each in await migration_status(pool)] == [None] * len(NAMES)
    assert await rows(empty_database, "SELECT to_regnamespace('dragoman_ledger')") == [(None,)]
    await pool.close()
