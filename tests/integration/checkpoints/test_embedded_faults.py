"""The embedded server after kill -9 of anything, at any time, and what it leaves behind."""

# A test may block its own event loop.
# ruff: noqa: ASYNC110, ASYNC220, ASYNC240

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import psutil
import psycopg
import pytest

from checkpoints.embedded import EmbeddedServer

REPOSITORY = Path(__file__).parents[3]
PROGRAM = """
import sys, anyio
from pathlib import Path
from typing import Any
from checkpoints.embedded import EmbeddedServer
anyio.run(EmbeddedServer.ensure, Path(sys.argv[1]))
"""


async def write(server: EmbeddedServer, value: int) -> None:
    async with await psycopg.AsyncConnection.connect(server.dsn, autocommit=True) as connection:
        await connection.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
        await connection.execute("INSERT INTO kept VALUES (%s)", [value])


async def read(server: EmbeddedServer) -> list[int]:
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        rows = await connection.execute("SELECT value FROM kept ORDER BY value")
        return [value for (value,) in await rows.fetchall()]


def program_of(data_dir: Path, end: bool) -> subprocess.Popen[Any]:
    """A process of the account that runs the server, which alone PostgreSQL mistakes for itself: alive or a zombie."""
    owner = (data_dir / "postgres").stat()
    account: dict[str, Any] = (
        {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    )
    process = subprocess.Popen(["/bin/sleep", "0" if end else "60"], **account)
    while end and psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    return process


def kill_and_wait(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    # Where nobody reaps it, a killed server stays as a zombie.
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.001)


@pytest.mark.parametrize("after", [0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.2])
async def test_a_starter_killed_at_any_moment(data_dir: Path, after: float) -> None:
    starter = subprocess.Popen([sys.executable, "-c", PROGRAM, str(data_dir)], cwd=REPOSITORY)
    await anyio.sleep(after)
    starter.kill()
    starter.wait()
    server = await EmbeddedServer.ensure(data_dir)
    await write(server, 1)
    assert await read(server) == [1]


async def test_a_killed_postmaster_loses_nothing(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    for round_ in range(3):
        await write(server, round_)
        async with await psycopg.AsyncConnection.connect(server.dsn) as left_over:
            kill_and_wait(server.pid)
            assert left_over.closed is False
            assert await EmbeddedServer.find(data_dir) is None
            server = await EmbeddedServer.ensure(data_dir)
        assert await read(server) == list(range(round_ + 1))


async def test_all_processes_of_the_server_killed(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    await write(server, 7)
    postmaster = psutil.Process(server.pid)
    for process in [postmaster, *postmaster.children(recursive=True)]:
        process.kill()
    kill_and_wait(server.pid)
    assert await read(await EmbeddedServer.ensure(data_dir)) == [7]


async def test_a_killed_backend_is_recovered_from_by_the_server_itself(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    await write(server, 7)
    connection = await psycopg.AsyncConnection.connect(server.dsn)
    os.kill(connection.info.backend_pid, signal.SIGKILL)
    with pytest.raises(psycopg.OperationalError):
        await connection.execute("SELECT pg_sleep(5)")
    await connection.close()
    with anyio.fail_after(20):
        while (again := await EmbeddedServer.ensure(data_dir)).pid != server.pid:
            await anyio.sleep(0.05)
        while True:
            try:
                assert await read(again) == [7]
                break
            except psycopg.OperationalError:
                await anyio.sleep(0.05)


@pytest.mark.parametrize("left", ["another program", "zombie", "dead", "empty", "garbage", "only the socket's lock"])
async def test_files_that_a_killed_server_left(data_dir: Path, left: str) -> None:
    """PostgreSQL itself refuses to start while a process has the number in its file, whatever process that is."""
    server = await EmbeddedServer.ensure(data_dir)
    await write(server, 3)
    folder = data_dir / "postgres"
    pid_file = folder / "cluster" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    await server.stop()
    process = program_of(data_dir, end=left in ("zombie", "dead"))
    if left == "dead":
        process.wait()
    lines[0] = str(process.pid)
    if left != "only the socket's lock":
        pid_file.write_text({"empty": "", "garbage": "x\ny\n"}.get(left, "\n".join(lines) + "\n"))
    (folder / ".s.PGSQL.5432.lock").write_text("\n".join(lines[:5]) + "\n")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / ".s.PGSQL.5432"))
    assert await EmbeddedServer.find(data_dir) is None
    assert await read(await EmbeddedServer.ensure(data_dir, timeout=20)) == [3]
    process.kill()
    process.wait()


async def test_a_socket_of_somebody_else_is_not_attached_to(data_dir: Path) -> None:
    """Whoever listens there must be the owner of the folder."""
    if os.geteuid() != 0:
        pytest.skip("needs two users")
    server = await EmbeddedServer.ensure(data_dir)
    pid_file = data_dir / "postgres" / "cluster" / "postmaster.pid"
    text = pid_file.read_text()
    await server.stop()
    pid_file.write_text(text)
    with socket.socket(socket.AF_UNIX) as impostor:
        impostor.bind(str(data_dir / "postgres" / ".s.PGSQL.5432"))
        impostor.listen()
        assert await EmbeddedServer.find(data_dir) is None
    assert (await EmbeddedServer.ensure(data_dir)).pid > 0


async def test_a_half_made_cluster_is_made_again(data_dir: Path) -> None:
    starter = subprocess.Popen([sys.executable, "-c", PROGRAM, str(data_dir)], cwd=REPOSITORY)
    new = data_dir / "postgres" / "cluster.new"
    with anyio.fail_after(20):
        while not (new / "PG_VERSION").exists():
            await anyio.sleep(0.005)
    initdb = psutil.Process(starter.pid).children(recursive=True)
    starter.kill()
    starter.wait()
    for process in initdb:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    assert not (data_dir / "postgres" / "cluster").exists()
    await write(await EmbeddedServer.ensure(data_dir), 1)
    assert not new.exists()


async def test_a_deleted_folder_gets_a_new_server_at_once(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    data_dir.rename(data_dir.with_name("old"))
    new = await EmbeddedServer.ensure(data_dir)
    assert new.pid != server.pid
    kill_and_wait(server.pid)
    await write(new, 1)
    assert await read(new) == [1]
