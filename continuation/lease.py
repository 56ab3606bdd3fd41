"""Holding a thread's lease while its graph runs, and letting go at once when it is lost."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio

from dragoman.errors import DatabaseError, LeaseLost
from dragoman.ledger import Threads

__all__ = ["Lease", "holder_name", "leased"]


@dataclass(slots=True)
class Lease:
    """A thread that this process owns for now."""

    thread_id: str
    epoch: int
    lost: bool = False


def holder_name() -> str:
    """A name for this process that no other has, also after a restart: host, pid and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


@asynccontextmanager
async def leased(threads: Threads, thread_id: str, holder: str, seconds: float) -> AsyncIterator[Lease | None]:
    """Own a thread for the block; None where somebody else does.

    The lease is renewed every third of its time. When it is lost, or cannot be renewed until it has run out, the block
    is cancelled and `LeaseLost` raised; the database refuses what the block might still try to write.
    """
    epoch = await threads.acquire(thread_id, holder, seconds)
    if epoch is None:
        yield None
        return
    lease = Lease(thread_id, epoch)
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_renew, threads, lease, seconds, group.cancel_scope)
            try:
                yield lease
            except Exception as error:  # noqa: BLE001  # raised below: the group would wrap it, and nobody know it
                failure = error
            group.cancel_scope.cancel()
    finally:
        if not lease.lost:
            # If the database is gone, the lease runs out by itself.
            with anyio.CancelScope(shield=True), anyio.move_on_after(5), suppress(DatabaseError):
                await threads.release(thread_id, epoch)
    if failure is not None:
        raise failure
    if lease.lost:
        raise LeaseLost("the lease of the thread is lost", where=thread_id, cure="nothing: its new owner goes on")


async def _renew(threads: Threads, lease: Lease, seconds: float, scope: anyio.CancelScope) -> None:
    last = anyio.current_time()
    while True:
        await anyio.sleep(seconds / 3)
        try:
            await threads.renew(lease.thread_id, lease.epoch, seconds)
            last = anyio.current_time()
        except LeaseLost:
            lease.lost = True
        except DatabaseError:
            lease.lost = anyio.current_time() - last >= seconds
        if lease.lost:
            scope.cancel()
            return
