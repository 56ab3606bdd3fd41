"""Files sent through a transport piece by piece, where there is no rsync: resumable, whole or not there."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from anyio.to_thread import run_sync

from dragoman.command import Command, Completed
from dragoman.errors import Cancelled, DragomanError, SourceChanging, StorageFull, TransferError, TransportError
from dragoman.protocols import Transport
from dragoman.transfer import TransferPlan
from providers.movers.local_copy import folder_below, part_name
from providers.transports.remote_files import free_bytes

__all__ = ["Moved", "Piecewise", "part_of", "send_pieces"]

PIECE = 4 * 2**20
PIECE_S = 120.0
SIDE_BY_SIDE = 4

# What is there already is told first, so that a piece that was sent twice is taken once.
_PUT = r"""
LC_ALL=C; export LC_ALL; umask 077
p=$1 at=$2 size=$3
n=$(wc -c <"$p" 2>/dev/null) || n=0; n=$((n))
if [ "$at" = 0 ] && [ "$size" != 0 ] && [ "$n" != 0 ]; then : >"$p"; n=0; fi
if [ "$n" != "$at" ] || [ "$size" = 0 ]; then cat >/dev/null; [ -e "$p" ] || : >"$p"; echo "has $n"; exit 0; fi
e=$({ cat >>"$p"; } 2>&1) || { cat >/dev/null; echo "failed $e"; df -Pk "${p%/*}" | tail -n 1; exit 0; }
echo "has $(($(wc -c <"$p")))"
"""
_GET = 'tail -c "+$2" "$1" | head -c "$3"'
_PLACE = 'chmod "$3" "$1" && { sync "$1" 2>/dev/null || :; } && mv -f "$1" "$2"'


def part_of(plan_id: str, destination: str, name: str) -> str:
    """The temporary name beside a destination."""
    return f"{destination.rpartition('/')[0]}/{part_name(plan_id, name)}"


@dataclass(frozen=True, slots=True)
class Moved:
    """One file to move."""

    source: str
    name: str
    """Relative to the plan's root."""
    label: str
    """The name in the manifest."""
    bytes: int
    mode: int = 0o644
    sha256: str | None = None


async def send_pieces(pieces: Piecewise, plan: TransferPlan, files: Sequence[Moved]) -> None:
    """Move files, a few side by side. Raises as `Piecewise.put` does."""
    left = sum(file.bytes for file in files)
    limit = anyio.Semaphore(SIDE_BY_SIDE)
    faults: list[DragomanError] = []

    async def one(file: Moved) -> None:
        async with limit:
            if faults:
                return
            try:
                if plan.direction == "in":
                    target = f"{plan.root.rstrip('/')}/{file.name}"
                    await pieces.put(file.source, target, file.name, needed=left)
                else:
                    await pieces.get(file.source, plan.root, file.name, size=file.bytes, mode=file.mode)
            except DragomanError as error:
                faults.append(error)

    async with anyio.create_task_group() as group:
        for file in files:
            group.start_soon(one, file)
    if faults:
        raise faults[0]


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Moves single files through a transport; the mover verifies them afterwards."""

    transport: Transport
    plan_id: str
    stop: threading.Event

    async def put(self, source: str, destination: str, name: str, *, needed: int) -> None:
        """Send a file of this host.

        Raises:
            StorageFull: no room; what was sent stays under its temporary name until it is removed.
            SourceChanging: the source became shorter meanwhile.
            TransferError, TransportError: it was not moved; again goes on where it stopped.

        """
        self._go_on()
        seen = await run_sync(os.stat, source)
        if seen.st_size <= PIECE:
            await self.transport.write_file(destination, await run_sync(_piece, source, 0), mode=seen.st_mode & 0o777)
            return
        part = part_of(self.plan_id, destination, name)
        at = await self._send(part, 0, b"", needed)
        if at > seen.st_size:
            await self.transport.run(Command(("rm", "-f", "--", part)))
            at = 0
        while at < seen.st_size:
            self._go_on()
            piece = await run_sync(_piece, source, at)
            if not piece:
                raise SourceChanging("became shorter while it was copied", where=source, cure="wait, then try again")
            has = await self._send(part, at, piece, needed)
            if has <= at:
                raise TransportError("a piece did not arrive", where=destination, cure="try again: it goes on there")
            at = has
        argv = ("/bin/sh", "-c", _PLACE, "dragoman", part, destination, f"{seen.st_mode & 0o777:o}")
        done = await self.transport.run(Command(argv))
        if done.rc != 0:
            raise TransferError(f"cannot be put in place: {_said(done)}", where=destination, cure="see to the folder")

    async def _send(self, part: str, at: int, piece: bytes, needed: int) -> int:
        argv = ("/bin/sh", "-c", _PUT, "dragoman", part, str(at), str(len(piece)))
        done = await self.transport.run(Command(argv, stdin=piece, timeout_s=PIECE_S))
        head, _, rest = done.out.partition("\n")
        word, _, words = head.partition(" ")
        if word == "has" and words.isdigit():
            return int(words)
        if word == "failed" and ("No space left" in words or "quota exceeded" in words):
            raise StorageFull(
                f"there is no room for {part.rpartition('/')[0]}", where=self.transport.identity,
                cure="make room, then go on", needed=needed, free=free_bytes(rest),
            )  # fmt: skip
        raise TransferError(
            f"cannot be written at the site: {words or _said(done)}", where=part, cure="see to the folder"
        )

    async def get(self, source: str, root: str, name: str, *, size: int, mode: int) -> None:
        """Fetch a file into a folder of this host. Raises as `put` does."""
        part = part_name(self.plan_id, name)
        at = await run_sync(_size_below, root, name, part)
        if at > size:
            at = 0
        while at < size:
            self._go_on()
            want = min(PIECE, size - at)
            argv = ("/bin/sh", "-c", _GET, "dragoman", source, str(at + 1), str(want))
            done = await self.transport.run(Command(argv, timeout_s=PIECE_S, max_output_bytes=PIECE + 1))
            if done.rc != 0:
                raise TransferError(f"cannot be read at the site: {_said(done)}", where=source, cure="make it readable")
            if len(done.stdout) != want:
                raise SourceChanging("became shorter while it was copied", where=source, cure="wait, then try again")
            await run_sync(_append_below, root, name, part, at, done.stdout)
            at += want
        await run_sync(_place_below, root, name, part, mode)

    def _go_on(self) -> None:
        if self.stop.is_set():
            raise Cancelled("the transfer was cancelled")


def _piece(path: str, at: int) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123  # whole paths as text
        file.seek(at)
        return file.read(PIECE)


def _size_below(root: str, name: str, part: str) -> int:
    with folder_below(root, name, make=True) as folder:
        try:
            return os.stat(part, dir_fd=folder, follow_symlinks=False).st_size
        except FileNotFoundError:
            return 0


def _append_below(root: str, name: str, part: str, at: int, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with folder_below(root, name, make=True) as folder:
        descriptor = os.open(part, flags, 0o600, dir_fd=folder)
        try:
            os.ftruncate(descriptor, at)
            os.lseek(descriptor, at, os.SEEK_SET)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError as error:
            room = os.fstatvfs(descriptor)
            raise StorageFull(
                f"cannot be written: {error.strerror}", where=f"{root}/{name}", cure="make room, then go on",
                needed=len(data), free=room.f_bavail * room.f_frsize,
            ) from error  # fmt: skip
        finally:
            os.close(descriptor)


def _place_below(root: str, name: str, part: str, mode: int) -> None:
    with folder_below(root, name, make=True) as folder:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            os.fchmod(descriptor, mode | 0o400)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(part, name.rpartition("/")[2], src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def _said(done: Completed) -> str:
    lines = done.err.strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {done.rc}"
