"""The end of a remote transfer that is this host. Everything here blocks; the mover runs it in a thread."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from dragoman.errors import TransferError
from providers.movers.local_copy import digest_file
from providers.movers.remote_look import Seen

__all__ = ["digest", "make", "remove_parts", "room_for"]


def digest(path: str) -> Seen:
    """What lies at a path, with its SHA-256. Raises `TransferError` where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Seen(path, "absent")
    except OSError as error:
        raise TransferError(f"cannot be read: {error.strerror}", where=path, cure="make it readable") from error
    try:
        found = os.fstat(descriptor)
        return Seen(path, "file", found.st_size, found.st_mode & 0o777, digest_file(descriptor, lambda: False))
    finally:
        os.close(descriptor)


def room_for(root: str, targets: Sequence[str]) -> tuple[int | None, dict[str, int]]:
    """Free bytes at a folder that may not be there yet, and the size of each target that is."""
    above = root
    while not os.path.isdir(above):  # noqa: PTH112  # whole paths as text
        above = os.path.dirname(above)  # noqa: PTH120
    sizes: dict[str, int] = {}
    for path in targets:
        with suppress(OSError):
            sizes[path] = os.lstat(path).st_size
    try:
        seen = os.statvfs(above)
    except OSError:
        return None, sizes
    return seen.f_bavail * seen.f_frsize, sizes


def make(folders: Sequence[str]) -> None:
    """Make folders with their parents; again is fine. Raises `TransferError`."""
    for folder in folders:
        try:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            raise TransferError(f"cannot be made: {error.strerror}", where=folder, cure="see to the folder") from error


def remove_parts(partial: str, parts: Sequence[str]) -> None:
    """Remove temporary files, and the folder of that name beside each."""
    for part in parts:
        folder = f"{part.rpartition('/')[0]}/{partial}"
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208
                os.unlink(f"{folder}/{name}")  # noqa: PTH108
            os.rmdir(folder)  # noqa: PTH106
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
