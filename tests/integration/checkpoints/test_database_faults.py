"""The database goes away in the middle: nothing half is stored, the error says that trying again helps, and it does."""

# A test may block its own event loop.
# ruff: noqa: ASYNC240

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import anyio
import psycopg
import pytest
from langgraph.checkpoint.base import create_checkpoint, empty_checkpoint

from checkpoints.embedded import EmbeddedServer
from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.open import open_checkpoints
from checkpoints.pool import LoopPools
from checkpoints.saver import FencedSaver
from dragoman.errors import DatabaseError
from dragoman.settings import Settings
from dragoman.thread import ThreadRow


async def cut(database: str) -> int:
    """End every other connection to the database."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        rows = await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return len(await rows.fetchall())


async def test_connections_cut_while_idle_are_not_noticed(ledger: PostgresLedger, database: str) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    for epoch in range(1, 4):
        assert await cut(database) >= 1
        assert await ledger.acquire("t", "h", 30) == epoch
        await ledger.release("t", epoch)


@pytest.mark.parametrize("part", ["ledger", "saver"])
async def test_a_connection_cut_in_the_middle_of_a_write(
    ledger: PostgresLedger, pools: LoopPools, database: str, part: str
) -> None:
    """The write waits for the thread's row, so that the cut hits it in the middle."""
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 60)
    saver = FencedSaver(pools)
    checkpoint = create_checkpoint(empty_checkpoint(), None, 1)
    place = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "lease_epoch": epoch}}

    async def write() -> None:
        if part == "ledger":
            assert epoch is not None
            await ledger.renew("t", epoch, 60)
        else:
            await saver.aput(place, checkpoint, {}, {})  # type: ignore[arg-type]

    failed: list[DatabaseError] = []

    async def try_it() -> None:
        with pytest.raises(DatabaseError) as problem:
            await write()
        failed.append(problem.value)

    async with await psycopg.AsyncConnection.connect(database) as blocker, anyio.create_task_group() as group:
        await blocker.execute("SELECT FROM dragoman_ledger.threads FOR UPDATE")
        group.start_soon(try_it)
        await anyio.sleep(0.3)
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND datname = current_database()"
            )
    assert [error.transient for error in failed] == [True]
    assert await saver.aget_tuple({"configurable": {"thread_id": "t"}}) is None
    await write()
    assert (await saver.aget_tuple({"configurable": {"thread_id": "t"}}) is None) == (part == "ledger")


async def test_a_stopped_server_is_started_again_and_holds_what_was_stored() -> None:
    parent = Path(tempfile.mkdtemp(prefix="dragoman-restart-"))
    parent.chmod(0o711)
    settings = Settings(data_dir=parent / "data", database_url=None)
    checkpoints = open_checkpoints(settings)
    await checkpoints.ledger.create_thread(ThreadRow(thread_id="t"))
    assert await checkpoints.ledger.acquire("t", "h", 300) == 1
    server = await EmbeddedServer.find(settings.data_dir)
    assert server is not None
    await server.stop()
    with anyio.fail_after(60):
        row = await checkpoints.ledger.thread("t")
    assert row is not None
    assert (row.epoch, row.lease_holder) == (1, "h")
    await checkpoints.ledger.renew("t", 1, 30)
    await checkpoints.aclose()
    again = await EmbeddedServer.find(settings.data_dir)
    assert again is not None
    await again.stop()
    shutil.rmtree(parent)
