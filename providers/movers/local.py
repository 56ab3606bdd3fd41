"""The mover between folders of this host: for sites whose paths are paths here."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

import anyio
from anyio.to_thread import run_sync

from dragoman.errors import Cancelled, SourceChanging, StorageFull, TransferError
from dragoman.model import JsonObject, now
from dragoman.protocols import Transport
from dragoman.site import Site
from dragoman.transfer import Manifest, ManifestEntry, TransferPlan, TransferState, TransferStatus
from providers.movers.local_copy import copy_file, digest_file, folder_below, make_folder, part_name
from providers.movers.local_tree import LocalFile, expand
from providers.registry import register_mover

__all__ = ["LocalMover"]


@register_mover("local")
class LocalMover:
    """Copies and verifies within `start`, in a thread; a repeated `start` copies only what is not there yet.

    Args:
        quiet_s: how long a source that changed must lie still before it is copied again.
        tries: how often a source that changes is tried.

    """

    name = "local"

    def __init__(self, *, quiet_s: float = 2.0, tries: int = 3) -> None:
        self.quiet_s = quiet_s
        self.tries = tries
        self._stops: dict[str, set[threading.Event]] = {}

    @classmethod
    def for_site(cls, site: Site, transport: Transport) -> LocalMover | None:
        """A mover for that site; None where its paths are not paths of this host."""
        return cls() if transport.local else None

    async def start(self, plan: TransferPlan) -> TransferStatus:
        """Copy all items, each whole or not at all, and verify them at the destination.

        Raises:
            StorageFull: no room, with the bytes that are needed and free; no partial file is left.
            SourceChanging: a source would not lie still.
            TransferError: a source is missing, names meet, or a path leads out of the root: nothing was copied.

        """
        stop = threading.Event()
        self._stops.setdefault(plan.id, set()).add(stop)
        try:
            entries = await run_sync(self._copy_all, plan, stop, abandon_on_cancel=True)
        except Cancelled:
            return TransferStatus(state=TransferState.CANCELLED, handle=_handle(plan), reason="cancelled")
        finally:
            stop.set()  # a thread that was abandoned gives up at its next block and removes what is partial
            self._stops[plan.id].discard(stop)
            if not self._stops[plan.id]:
                del self._stops[plan.id]
        manifest = Manifest(entries=tuple(entries), made_at=now())
        return TransferStatus(
            state=TransferState.SUCCEEDED, handle=_handle(plan), bytes_done=manifest.total_bytes, manifest=manifest
        )

    async def poll(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """Finish what a process that died left, or show that all is there: the same as `start`."""
        return await self.start(plan)

    async def cancel(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """Stop copying; temporary files are removed, files that arrived whole stay."""
        for stop in self._stops.get(plan.id, ()):
            stop.set()
        while plan.id in self._stops:  # noqa: ASYNC110  # `start` may run on another event loop than this one
            await anyio.sleep(0.01)
        await run_sync(_remove_parts, plan)
        return TransferStatus(state=TransferState.CANCELLED, handle=_handle(plan), reason="cancelled")

    async def verify(self, plan: TransferPlan) -> Manifest:
        """SHA-256 of every file at both ends.

        Raises:
            TransferError: a file is missing at one end, or the ends differ.

        """
        return await run_sync(_verify, plan, abandon_on_cancel=True)

    def _copy_all(self, plan: TransferPlan, stop: threading.Event) -> list[ManifestEntry]:
        files, folders = expand(plan)
        _check_room(plan.root, files)
        for folder in folders:
            make_folder(plan.root, folder)
        entries: list[ManifestEntry] = []
        left = sum(file.bytes for file in files)
        for file in files:
            entries.append(self._copy_when_quiet(plan, file, left, stop))
            left -= file.bytes
        return entries

    def _copy_when_quiet(self, plan: TransferPlan, file: LocalFile, left: int, stop: threading.Event) -> ManifestEntry:
        for _ in range(self.tries - 1):
            with suppress(SourceChanging):
                return copy_file(file, plan.root, plan.id, needed=left, stopped=stop.is_set)
            _wait_until_quiet(file.source, self.quiet_s, stop)
        return copy_file(file, plan.root, plan.id, needed=left, stopped=stop.is_set)


def _handle(plan: TransferPlan) -> JsonObject:
    return {"plan": plan.id}


def _wait_until_quiet(path: str, quiet_s: float, stop: threading.Event) -> None:
    """Wait for a stretch without writing, at most five of them."""
    deadline = time.monotonic() + 5 * quiet_s
    seen: tuple[int, int] | None = None
    while time.monotonic() < deadline and not stop.is_set():
        try:
            there = os.stat(path)  # noqa: PTH116  # whole paths as text
        except OSError:
            return
        if (there.st_size, there.st_mtime_ns) == seen:
            return
        seen = (there.st_size, there.st_mtime_ns)
        stop.wait(quiet_s)


def _check_room(root: str, files: list[LocalFile]) -> None:
    """Refuse what cannot fit before a byte is written; what already lies there as it should is not counted."""
    needed = sum(file.bytes for file in files if not _same_size(f"{root.rstrip('/')}/{file.name}", file.bytes))
    above = root
    while not os.path.isdir(above):  # noqa: PTH112  # whole paths as text
        above = os.path.dirname(above)  # noqa: PTH120
    try:
        seen = os.statvfs(above)
    except OSError:
        return
    free = seen.f_bavail * seen.f_frsize
    if needed > free:
        raise StorageFull(
            "there is no room for the files", where=root, cure="make room, then go on", needed=needed, free=free
        )


def _same_size(path: str, size: int) -> bool:
    try:
        return os.lstat(path).st_size == size
    except OSError:
        return False


def _remove_parts(plan: TransferPlan) -> None:
    try:
        files, _ = expand(plan)
    except TransferError:
        return
    for file in files:
        with suppress(OSError, TransferError), folder_below(plan.root, file.name, make=False) as folder:
            os.unlink(part_name(plan.id, file.name), dir_fd=folder)


def _verify(plan: TransferPlan) -> Manifest:
    files, _ = expand(plan)
    entries: list[ManifestEntry] = []
    for file in files:
        here = _digest(file.source, file.source)
        try:
            with folder_below(plan.root, file.name, make=False) as folder:
                there = _digest(file.name.rpartition("/")[2], f"{plan.root}/{file.name}", folder)
        except FileNotFoundError as error:
            raise TransferError("is not there", where=f"{plan.root}/{file.name}", cure="move it again") from error
        if here != there:
            raise TransferError(f"differs from {file.source}", where=f"{plan.root}/{file.name}", cure="move it again")
        entries.append(ManifestEntry(name=file.label, bytes=here[1], sha256=here[0], mode=here[2]))
    return Manifest(entries=tuple(entries), made_at=now())


def _digest(path: str, label: str, folder: int | None = None) -> tuple[str, int, int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError as error:
        raise TransferError("is not there", where=label, cure="move it again") from error
    except OSError as error:
        raise TransferError(f"cannot be read: {error.strerror}", where=label, cure="make it readable") from error
    try:
        seen = os.fstat(descriptor)
        return digest_file(descriptor, lambda: False), seen.st_size, seen.st_mode & 0o777
    finally:
        os.close(descriptor)
