"""Where the sockets of shared connections lie: a folder of the user's own, with names short enough for a socket."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from dragoman.errors import TransportError

__all__ = ["locked", "remove", "socket_folder", "socket_path"]

LONGEST_FOLDER = 60
"""A socket's whole path has at most 104 bytes on some systems, and ssh appends 17 while it makes one (unix(7))."""


def socket_folder(runtime_dir: str | None) -> Path:
    """The folder, made if need be.

    Args:
        runtime_dir: the user's own folder for such things (`XDG_RUNTIME_DIR`), where there is one.

    Raises:
        TransportError: somebody else's folder is in its place.

    """
    base = Path(runtime_dir) if runtime_dir else None
    if base is not None and base.is_dir() and len(os.fsencode(base)) <= LONGEST_FOLDER - 12:
        folder = base / "dragoman-ssh"
    else:
        parent = tempfile.gettempdir()
        folder = Path(parent if len(parent) < LONGEST_FOLDER - 30 else "/tmp") / f"dragoman-ssh-{os.getuid()}"  # noqa: S108
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise TransportError(
            "is not a folder of this user alone: ssh connections are not kept there",
            where=str(folder),
            cure="remove it, or see who made it",
        )
    return folder


def socket_path(folder: Path, argv: Sequence[str]) -> Path:
    """The socket of one connection: the same for all who would connect in the same way."""
    return folder / hashlib.sha256("\0".join(argv).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def remove(path: Path) -> None:
    """Remove a socket that nobody answers at."""
    with suppress(FileNotFoundError):
        path.unlink()


@asynccontextmanager
async def locked(path: Path, patience_s: float) -> AsyncIterator[None]:
    """Hold a socket's name against other processes, so that only one of them connects."""
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        deadline = anyio.current_time() + patience_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if anyio.current_time() > deadline:
                    raise TransportError(
                        "another process is connecting and does not finish", where=str(path), cure="try again later"
                    ) from None
                await anyio.sleep(0.05)
        yield
    finally:
        os.close(descriptor)
