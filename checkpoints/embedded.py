"""The embedded PostgreSQL: a real server in a data folder, shared by every dragoman process of one user.

Whoever comes first starts it; all others attach, by reading ``postmaster.pid`` and connecting to its Unix socket:
no subprocess, no import of the wheel, some hundred microseconds.

When it stops: never by itself. The server stays up after the command that started it, because the next command, a
watcher or an event wants it at once, and because stopping at the end of each command would have to be agreed between
processes that can be killed. Idle it costs one small process group and next to no processor time. It ends with
``dragoman db stop`` (``stop()``), and a reboot, a logout that kills the user's processes or a ``kill -9`` do no harm:
PostgreSQL recovers at the next start. A server whose data folder was deleted ends by itself within a minute.

How starting is kept single: every process of the server inherits the lock of the file ``alive``. Who gets that lock
knows that no process of the server is left, so that ``postmaster.pid``, sockets and lock files may go and a new server
may start; who does not get it waits until the socket answers or the lock is free. Process ids play no part in it.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import stat
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import anyio
from anyio import to_thread

from checkpoints.alive_lock import is_free, take
from checkpoints.data_folder import DataFolder, prepare
from checkpoints.postgres_programs import launch, start_error
from checkpoints.server_account import ACCOUNT
from dragoman.errors import DatabaseError

PAUSE = 0.02
"""Seconds between two looks at a server that is starting or stopping."""
CUT_LOG_AT = 16 << 20


@dataclass(frozen=True)
class EmbeddedServer:
    """A server that answered when it was looked at.

    Args:
        data_dir: the data folder it serves, absolute.
        pid: its postmaster's process id; 0 where that lives in another container.
        dsn: what to connect with; it holds no secret, since only the user's own processes reach the socket.
    """

    data_dir: Path
    pid: int
    dsn: str

    @classmethod
    async def find(cls, data_dir: Path) -> EmbeddedServer | None:
        """Attach to the server of a folder if it is up; start nothing, change nothing."""
        return await to_thread.run_sync(_attach, Path(os.path.abspath(data_dir)))  # noqa: ASYNC240, PTH100 - no I/O

    @classmethod
    async def ensure(cls, data_dir: Path, *, timeout: float = 60.0) -> EmbeddedServer:  # noqa: ASYNC109 - part of the error
        """Attach to the server of a folder, starting it first where none is up.

        Args:
            data_dir: the data folder, on a local disk; created where it is missing.
            timeout: seconds to wait for a server that starts, recovers or is on its way down.

        Raises:
            SettingsError: the folder cannot be used as it is (network file system, another host's or user's, closed).
            DatabaseError: the server did not start: the disk is full, or ``server.log`` tells.
        """
        found = await cls.find(data_dir)
        if found is not None:
            return found
        absolute = Path(os.path.abspath(data_dir))  # noqa: ASYNC240, PTH100 - no I/O
        folder = await prepare(absolute)
        try:
            with anyio.fail_after(timeout):
                return await _start(absolute, folder)
        except TimeoutError as problem:
            raise DatabaseError(
                f"PostgreSQL did not answer within {timeout:g} s; it may be recovering after a crash",
                where=str(folder.root),
                cure=f"see {folder.log}, and try again in a minute; if it stays so, end with kill -INT the process "
                f"that the first line of {folder.cluster / 'postmaster.pid'} names",
            ) from problem

    async def stop(self, *, only_if_idle: bool = False, timeout: float = 30.0) -> bool:  # noqa: ASYNC109 - two stages
        """Stop the server and wait until none of its processes is left; open connections are ended, data is safe.

        Args:
            only_if_idle: leave it running while any other client is connected.
            timeout: seconds after which it is made to stop at once, and recovers at the next start.

        Returns:
            Whether it is down: False only where ``only_if_idle`` kept it up.

        Raises:
            DatabaseError: it does not stop, or belongs to another container.
        """
        if only_if_idle and await self._is_used():
            return False
        for number in (signal.SIGINT, signal.SIGQUIT):
            now = await to_thread.run_sync(_attach, self.data_dir)
            # Signal only what answered as this server just now: a process id alone may be somebody else's by now.
            if now is not None and now.pid == self.pid != 0:
                os.kill(self.pid, number)
            with anyio.move_on_after(timeout):
                while not await to_thread.run_sync(self._is_down):  # noqa: ASYNC110 - other processes set no event
                    await anyio.sleep(PAUSE)
                return True
        raise DatabaseError(
            f"PostgreSQL (process {self.pid or 'of another container'}) does not stop",
            where=str(self.data_dir),
            cure=f"see {self.data_dir / 'postgres' / 'server.log'}",
        )

    def _is_down(self) -> bool:
        """Whether none of its processes is left, or another server has taken its place since."""
        if is_free(self.data_dir / "postgres" / "alive"):
            return True
        now = _attach(self.data_dir)
        return now is not None and now.pid != self.pid

    async def _is_used(self) -> bool:
        import psycopg  # attaching must not pay for it

        query = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
            return await (await connection.execute(query)).fetchone() is not None


async def _start(data_dir: Path, folder: DataFolder) -> EmbeddedServer:
    launched, since = False, 0
    while True:
        lock = await to_thread.run_sync(take, folder.alive)
        if lock is not None:
            try:
                said = await to_thread.run_sync(_log_from, folder.log, since)
                if launched and "pre-existing shared memory block" not in said:
                    raise start_error(folder, said)
                since = await to_thread.run_sync(_log_size, folder.log)
                await launch(folder, lock)
                launched = True
            finally:
                os.close(lock)
        await anyio.sleep(PAUSE)
        found = await to_thread.run_sync(_attach, data_dir)
        if found is not None:
            return found


def _attach(data_dir: Path) -> EmbeddedServer | None:
    """Look for a server that is ready: file, socket, and the owner of the process behind the socket."""
    folder = data_dir / "postgres"
    try:
        lines = _text(folder / "cluster" / "postmaster.pid").split("\n")
        owner = folder.stat().st_uid
        if len(lines) < 8 or lines[7].strip() != "ready" or owner != _server_uid():
            return None
        pid, port, place = int(lines[0]), int(lines[3]), lines[4]
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(2.0)
            link.connect(os.path.join(place, f".s.PGSQL.{port}"))  # noqa: PTH118 - a plain string for the socket
            if sys.platform == "linux":
                credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                pid, uid, _ = struct.unpack("3i", credentials)
                if uid != owner:
                    return None
    except (OSError, ValueError, LookupError):
        return None
    with contextlib.suppress(OSError):
        if (folder / "server.log").stat().st_size > CUT_LOG_AT:
            # The server appends, so that cutting the file under it is safe.
            os.truncate(folder / "server.log", 0)
    host = quote(os.fsencode(place), safe="")
    return EmbeddedServer(data_dir, pid, f"postgresql://dragoman@/postgres?host={host}&port={port}")


def _text(path: Path) -> str:
    """What a regular file holds, and nothing otherwise: opening a pipe would wait for its other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - a descriptor
        return file.read(1 << 16) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""


def _server_uid() -> int:
    return os.geteuid() or pwd.getpwnam(ACCOUNT).pw_uid


def _log_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _log_from(path: Path, start: int) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(start)
        return file.read(1 << 16).decode(errors="replace")
