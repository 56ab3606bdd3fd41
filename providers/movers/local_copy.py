"""One file copied on this host so that it is whole or not there: temporary name, fsync, verification, rename.

Everything here blocks; the mover runs it in a thread. Folders below the root are opened one by one without following
links (openat(2), O_NOFOLLOW), so that a link that somebody puts there cannot lead a write out of the root.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from dragoman.errors import Cancelled, SourceChanging, StorageFull, TransferError
from dragoman.transfer import ManifestEntry
from providers.movers.local_tree import LocalFile

__all__ = ["copy_file", "digest_file", "folder_below", "make_folder", "part_name"]

CHUNK = 4 * 2**20
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
RACY_NS = 10 * 10**9
"""A file written this shortly before may be written again without a new time: clocks of file systems are coarse."""
Stopped = Callable[[], bool]


def part_name(plan_id: str, name: str) -> str:
    """The temporary name of one file of a plan: the same after a crash, so that nothing is left behind for good."""
    return f".dragoman-{hashlib.sha256(f'{plan_id}/{name}'.encode()).hexdigest()[:20]}.part"


@contextmanager
def folder_below(root: str, name: str, *, make: bool) -> Iterator[int]:
    """A descriptor of the folder that holds `name` below the root; no link on the way is followed.

    Raises:
        TransferError: a link or a file stands where a folder is needed.
        FileNotFoundError: a folder is not there and `make` is false.

    """
    if make:
        os.makedirs(root, exist_ok=True)  # noqa: PTH103  # descriptors below, paths as text above
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in name.split("/")[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
            try:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise TransferError(
                    f"{part} is a link or a file, where a folder is needed", where=f"{root}/{name}", cure="remove it"
                ) from error
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def digest_file(descriptor: int, stopped: Stopped) -> str:
    """SHA-256 of an open file from its beginning."""
    digest = hashlib.sha256()
    os.lseek(descriptor, 0, os.SEEK_SET)
    with suppress(OSError):  # so that the disk is read, not what was just written, where the kernel agrees
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    while chunk := os.read(descriptor, CHUNK):
        _stop_if(stopped)
        digest.update(chunk)
    return digest.hexdigest()


def copy_file(file: LocalFile, root: str, plan_id: str, *, needed: int, stopped: Stopped) -> ManifestEntry:
    """Copy and verify one file; a destination that already has this content is left alone.

    Args:
        file: what to copy.
        root: the folder that it may not leave.
        plan_id: names the temporary file.
        needed: bytes that the plan still has to write, for the message when there is no room.
        stopped: tells when somebody cancelled.

    Raises:
        SourceChanging: the source was written meanwhile.
        StorageFull: no room; nothing partial is left.
        TransferError: the content is not what the plan expects, or did not arrive as it was read.
        Cancelled: `stopped` said so; nothing partial is left.

    """
    source = _open_source(file)
    try:
        with _at_destination(root, file.name, needed), folder_below(root, file.name, make=True) as folder:
            return _copy_into(source, file, folder, plan_id, stopped)
    finally:
        os.close(source)


def make_folder(root: str, name: str) -> None:
    """An empty folder below the root. Raises as `copy_file` does."""
    with _at_destination(root, name, 0), folder_below(root, f"{name}/.", make=True):
        pass


@contextmanager
def _at_destination(root: str, name: str, needed: int) -> Iterator[None]:
    """The operating system's errors in our words."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StorageFull(
                f"there is no room for {name}", where=root, cure="make room, then go on",
                needed=needed, free=_free(root),
            ) from error  # fmt: skip
        raise TransferError(f"{error.strerror or error}", where=f"{root}/{name}", cure="see to the folder") from error


def _open_source(file: LocalFile) -> int:
    try:
        source = os.open(file.source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise TransferError(f"cannot be read: {error.strerror}", where=file.source, cure="make it readable") from error
    if not stat.S_ISREG(os.fstat(source).st_mode):
        os.close(source)
        raise TransferError("is no file any more", where=file.source, cure="leave it out")
    return source


def _copy_into(source: int, file: LocalFile, folder: int, plan_id: str, stopped: Stopped) -> ManifestEntry:
    last = file.name.rpartition("/")[2]
    part = part_name(plan_id, file.name)
    target = _locked_part(part, folder, stopped)
    try:
        before = os.fstat(source)
        present = _present(last, folder, before.st_size, stopped)
        digest = digest_file(source, stopped) if present is not None else None
        if digest is None or digest != present:
            digest = _copy(source, target, stopped)
        if time.time_ns() - before.st_mtime_ns < RACY_NS and digest_file(source, stopped) != digest:
            raise _changing(file)
        _check_unchanged(source, before, file)
        if file.sha256 is not None and digest != file.sha256:
            raise TransferError(
                "is not the file that was asked for: its SHA-256 differs", where=file.source, cure="ask again with it"
            )
        if digest != present:
            mode = stat.S_IMODE(before.st_mode) & 0o777
            os.fchmod(target, mode | stat.S_IRUSR)
            os.fsync(target)
            if digest_file(target, stopped) != digest:
                raise TransferError(
                    "did not arrive as it was read", where=file.name, cure="look at that disk; try again"
                )
            os.fchmod(target, mode)
            os.rename(part, last, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        else:
            os.unlink(part, dir_fd=folder)
        return ManifestEntry(name=file.label, bytes=before.st_size, sha256=digest, mode=stat.S_IMODE(before.st_mode))
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
        raise
    finally:
        os.close(target)


def _locked_part(part: str, folder: int, stopped: Stopped) -> int:
    """The temporary file, held by us alone: another process with the same plan is waited for, not raced."""
    while True:
        _stop_if(stopped)
        target = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            if _locked(target) and _still_named(part, target, folder):
                os.ftruncate(target, 0)
                return target
        except BaseException:
            os.close(target)
            raise
        os.close(target)
        time.sleep(0.05)


def _still_named(part: str, target: int, folder: int) -> bool:
    """Whether the name still leads to what is open: the one that held it may have renamed or removed it."""
    mine = os.fstat(target)
    try:
        there = os.stat(part, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _locked(target: int) -> bool:
    try:
        fcntl.flock(target, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: the lease on the thread has to do
    return True


def _present(last: str, folder: int, size: int, stopped: Stopped) -> str | None:
    """SHA-256 of what already stands at the destination, if it is a file of that size."""
    try:
        there = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    try:
        seen = os.fstat(there)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size != size:
            return None
        return digest_file(there, stopped)
    finally:
        os.close(there)


def _copy(source: int, target: int, stopped: Stopped) -> str:
    digest = hashlib.sha256()
    os.lseek(source, 0, os.SEEK_SET)
    while chunk := os.read(source, CHUNK):
        _stop_if(stopped)
        digest.update(chunk)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(target, rest) :]
    return digest.hexdigest()


def _check_unchanged(source: int, before: os.stat_result, file: LocalFile) -> None:
    """The same file at the same path, with the same size and time of writing; read once more from the path."""
    after = os.fstat(source)
    try:
        named = os.stat(file.source, follow_symlinks=False)  # noqa: PTH116  # whole paths as text
    except FileNotFoundError:
        named = None
    same = [(one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) for one in (before, after, named) if one is not None]
    if named is None or len(set(same)) != 1:
        raise _changing(file)


def _changing(file: LocalFile) -> SourceChanging:
    return SourceChanging("was written while it was copied", where=file.source, cure="wait until nothing writes to it")


def _stop_if(stopped: Stopped) -> None:
    if stopped():
        raise Cancelled("the transfer was cancelled")


def _free(root: str) -> int | None:
    try:
        seen = os.statvfs(root)
    except OSError:
        return None
    return seen.f_bavail * seen.f_frsize
