"""Pools against the real server, with and without a transaction pooler before it."""

# A test may block its own event loop.
# ruff: noqa: ASYNC110, ASYNC220, ASYNC240

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import psycopg
import pytest
from psycopg_pool import PoolTimeout

from checkpoints.database_errors import database_errors
from checkpoints.embedded import EmbeddedServer
from checkpoints.pool import LoopPools, Pool, open_pool
from dragoman.errors import DatabaseError, LeaseLost

PREPARED = "SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE 'SELECT 1 AS a%'"


async def count_prepared(pool: Pool) -> int:
    async with pool.connection() as connection:
        await connection.execute("SELECT 1 AS a WHERE %s", [True])
        row = await (await connection.execute(PREPARED, prepare=False)).fetchone()
        assert row is not None
        return int(row["n"])


async def test_connections_commit_by_themselves_give_dicts_and_prepare_at_once(server: EmbeddedServer) -> None:
    pool = await open_pool(server.dsn)
    async with pool, pool.connection() as connection:
        assert connection.autocommit
        rows = await connection.execute("SELECT current_setting('application_name') AS name")
        assert await rows.fetchall() == [{"name": "dragoman"}]
    async with await open_pool(server.dsn) as pool:
        assert await count_prepared(pool) == 1


@pytest.mark.parametrize("said", ["&pooler=1", "&pgbouncer=true", "argument"])
async def test_nothing_is_prepared_for_a_pooler(server: EmbeddedServer, said: str) -> None:
    argument = said == "argument"
    async with await open_pool(server.dsn + ("" if argument else said), pooler=argument) as pool:
        for _ in range(7):
            assert await count_prepared(pool) == 0


@pytest.fixture
async def bouncer(server: EmbeddedServer, tmp_path: Path) -> AsyncIterator[str]:
    """PgBouncer in transaction mode with two server connections, as PG04 needs it."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("no pgbouncer here")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sockets = parse_qs(urlsplit(server.dsn).query)["host"][0]
    owner = Path(sockets).stat()
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\npostgres = host={sockets} port=5432 user=dragoman pool_size=2\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\nserver_reset_query =\n"
    )
    root = os.geteuid() == 0
    with settings.open() as readable:
        process = subprocess.Popen(
            [program, "-q", f"/dev/fd/{readable.fileno()}"],
            user=owner.st_uid if root else None,
            group=owner.st_gid if root else None,
            extra_groups=[] if root else None,
            pass_fds=[readable.fileno()],
            stderr=subprocess.DEVNULL,
        )
    with anyio.fail_after(10):
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                await anyio.sleep(0.02)
    yield f"postgresql://dragoman@127.0.0.1:{port}/postgres"
    process.terminate()
    process.wait()


async def work(pool: Pool) -> None:
    async def one(number: int) -> None:
        with database_errors("work"):
            for turn in range(20):
                async with pool.connection() as connection:
                    rows = await connection.execute(f"SELECT %s::int + {turn % 5} AS n".encode(), [number])
                    assert await rows.fetchall() == [{"n": number + turn % 5}]

    await asyncio.gather(*(one(number) for number in range(6)))


async def test_pg04_behind_a_transaction_pooler(bouncer: str) -> None:
    async with await open_pool(bouncer + "?pooler=1", min_size=4) as pool:
        await work(pool)


async def test_pg04_fails_without_being_told_and_names_the_cure(bouncer: str) -> None:
    with pytest.raises(DatabaseError, match="prepared statement") as caught:
        async with await open_pool(bouncer, min_size=4) as pool:
            await work(pool)
    assert "pooler=1" in caught.value.cure or "pooler=1" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("dsn", "where"),
    [
        ("postgresql://u:sesame@127.0.0.1:1/d", "127.0.0.1:1/d"),
        ("postgresql://u:sesame@host.invalid/d", "host.invalid/d"),
        ("postgresql:///d?host=/nonexistent&user=u&password=sesame", "/nonexistent/d"),
    ],
)
async def test_an_unreachable_database_is_named_without_the_password(dsn: str, where: str) -> None:
    with pytest.raises(DatabaseError, match="cannot connect") as caught:
        await open_pool(dsn)
    assert where in caught.value.where
    assert "DATABASE_URL" in caught.value.cure
    problem: BaseException | None = caught.value
    while problem is not None:
        assert "sesame" not in str(problem)
        problem = problem.__cause__


async def test_a_database_that_does_not_answer_is_given_up(server: EmbeddedServer) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        start = time.monotonic()
        with pytest.raises(DatabaseError, match="cannot connect"):
            await open_pool(f"postgresql://u@127.0.0.1:{deaf.getsockname()[1]}/d?connect_timeout=2")
        assert time.monotonic() - start < 10


async def test_a_refusing_database_says_why(server: EmbeddedServer) -> None:
    with pytest.raises(DatabaseError, match='database "missing" does not exist'):
        await open_pool(server.dsn.replace("/postgres?", "/missing?"))


async def test_a_pool_survives_a_restart_of_the_database(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    async with await open_pool(server.dsn) as pool:
        assert await count_prepared(pool) == 1
        await server.stop()
        await EmbeddedServer.ensure(data_dir)
        assert await count_prepared(pool) == 1


async def test_what_concerns_the_database_is_translated(server: EmbeddedServer) -> None:
    async with await open_pool(server.dsn, max_size=1) as pool, pool.connection() as connection:
        with pytest.raises(DatabaseError, match="get a connection") as caught, database_errors("here"):
            async with pool.connection(timeout=0.05):
                pass
        assert isinstance(caught.value.__cause__, PoolTimeout)
        assert caught.value.where == "here"
        for code, cure in (
            ("53100", "room"),
            ("53300", "max_connections"),
            ("40P01", "try again"),
            ("57014", "try again"),
            ("25006", "primary"),
            ("26000", "pooler=1"),
            ("42P05", "pooler=1"),
        ):
            statement = f"DO $$ BEGIN RAISE EXCEPTION 'said' USING ERRCODE = '{code}', DETAIL = 'secret row'; END $$"
            with pytest.raises(DatabaseError, match="said") as caught, database_errors():
                await connection.execute(statement.encode())
            assert cure in caught.value.cure
            assert caught.value.transient
            assert "secret row" not in str(caught.value)


async def test_what_is_the_callers_own_business_passes(server: EmbeddedServer) -> None:
    async with await open_pool(server.dsn) as pool, pool.connection() as connection:
        with pytest.raises(psycopg.errors.UndefinedTable), database_errors():
            await connection.execute("SELECT * FROM no_such_table")
        with pytest.raises(psycopg.errors.UniqueViolation), database_errors():
            await connection.execute("DO $$ BEGIN RAISE unique_violation; END $$")
    lost = LeaseLost("gone")
    with pytest.raises(LeaseLost) as caught, database_errors():
        raise lost
    assert caught.value is lost


async def test_one_pool_for_a_loop_opened_once(server: EmbeddedServer) -> None:
    asked = 0

    async def find() -> str:
        nonlocal asked
        asked += 1
        return (await EmbeddedServer.ensure(server.data_dir)).dsn

    pools = LoopPools(find)
    first, *others = await asyncio.gather(*(pools.get() for _ in range(5)))
    assert all(other is first for other in others)
    assert asked == 1
    await pools.aclose()
    assert first.closed
    again = await pools.get()
    assert again is not first
    assert await count_prepared(again) == 1
    await pools.aclose()


async def test_each_loop_has_its_own_pool_and_all_are_closed(server: EmbeddedServer) -> None:
    pools = LoopPools(server.dsn)
    here = await pools.get()
    ready, done, there = threading.Event(), threading.Event(), list[Pool]()

    async def elsewhere() -> None:
        there.append(await pools.get())
        assert await count_prepared(there[0]) == 1
        ready.set()
        while not done.is_set():
            await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
    thread.start()
    assert await anyio.to_thread.run_sync(ready.wait, 20)
    assert there[0] is not here
    assert await count_prepared(here) == 1
    await pools.aclose()
    assert here.closed
    assert there[0].closed
    done.set()
    thread.join()


async def test_a_failed_opening_is_tried_again_and_a_cancelled_caller_hurts_nobody(server: EmbeddedServer) -> None:
    answers = ["postgresql://u@127.0.0.1:1/d", server.dsn]

    async def find() -> str:
        await asyncio.sleep(0.05)
        return answers.pop(0)

    pools = LoopPools(find)
    with pytest.raises(DatabaseError):
        await pools.get()
    first, second = asyncio.create_task(pools.get()), asyncio.create_task(pools.get())
    await asyncio.sleep(0.01)
    first.cancel()
    assert await count_prepared(await second) == 1
    assert first.cancelled()
    assert answers == []
    await pools.aclose()
