"""Files of this host, read and written in a thread: blocking, whole, and told apart from no answer."""

from __future__ import annotations

import errno
import os
import secrets
import stat as modes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dragoman.command import FileStat
from dragoman.errors import BadRequest, DragomanError, FileMissing, StorageFull, TransportError
from providers.transports.remote_script import encodable

__all__ = ["read", "stat", "write"]

CHUNK = 2**20


def read(path: str, max_bytes: int, *, tail: bool) -> bytes:
    """The first, or with `tail` the last, `max_bytes` bytes of a regular file."""
    try:
        # Opening a pipe or a device would wait for its other end.
        descriptor = os.open(_checked(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _read_error(path, error) from error
    try:
        found = os.fstat(descriptor)
        if not modes.S_ISREG(found.st_mode):
            raise TransportError("is no regular file", where=path, cure="name a file")
        with open(descriptor, "rb", closefd=False) as file:  # a descriptor, not a path
            if tail and found.st_size > max_bytes:
                file.seek(found.st_size - max_bytes)
            # Files of /proc and /sys say that they have no size, so the end is found by reading.
            return _last(file.read, max_bytes) if tail else file.read(max_bytes)
    except OSError as error:
        raise _read_error(path, error) from error
    finally:
        os.close(descriptor)


def _last(more: Callable[[int], bytes], max_bytes: int) -> bytes:
    kept = bytearray()
    while chunk := more(CHUNK):
        kept += chunk
        if len(kept) > max_bytes:
            del kept[: len(kept) - max_bytes]
    return bytes(kept)


def write(path: str, data: bytes, mode: int) -> None:
    """Replace a file as a whole: temporary name in the same folder, synced, renamed, folder synced.

    A link is replaced itself; where it leads to, or lies itself, a folder, pipe or device, nothing is changed.
    """
    target = Path(_checked(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not _may_be_replaced(path):
            raise TransportError("cannot be written: is no regular file", where=path, cure="name a file")
        try:
            _write_new(temporary, data, mode)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(target.parent)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(
                f"cannot be written: {error.strerror}", where=path, cure="make room", needed=len(data)
            ) from error
        raise TransportError(f"cannot be written: {error.strerror}", where=path, cure="look at its folder") from error


def _may_be_replaced(path: str) -> bool:
    try:
        return modes.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116  # the path as it was given
    except FileNotFoundError:
        return True


def _write_new(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor, not a path
        os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some file systems cannot sync a folder; the rename is atomic there all the same.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stat(path: str) -> FileStat | None:
    """What lies at a path itself; None where nothing does."""
    try:
        found = os.lstat(_checked(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _read_error(path, error) from error
    kind = "other"
    for name, test in (("file", modes.S_ISREG), ("directory", modes.S_ISDIR), ("link", modes.S_ISLNK)):
        if test(found.st_mode):
            kind = name
    return FileStat(path, kind, found.st_size, found.st_mtime, modes.S_IMODE(found.st_mode))


def _checked(path: str) -> str:
    if not path or "\0" in path:
        raise BadRequest("is no path", where=ascii(path), cure="give a path without NUL characters")
    if not encodable(path):
        raise BadRequest("a character that no path can hold", where=ascii(path), cure="remove it")
    return path


def _read_error(path: str, error: OSError) -> DragomanError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return FileMissing("there is no such file", where=path, cure="look at the path")
    return TransportError(f"cannot be read: {error.strerror}", where=path, cure="look at its permissions and its mount")
