"""Holds a watch of a site for as long as a block lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio

from dragoman.errors import DatabaseError
from dragoman.ledger import Watches
from dragoman.thread import SiteWatch

__all__ = ["held"]


@asynccontextmanager
async def held(ledger: Watches, watch: SiteWatch, lease_s: float) -> AsyncIterator[None]:
    """Keep the watch during the block; one that was broken off leaves it to others at once."""
    failure: Exception | None = None
    finished = False

    async def renew() -> None:
        while True:
            await anyio.sleep(lease_s / 3)
            with suppress(DatabaseError):
                await ledger.hold_watch(watch, lease_s)

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(renew)
            try:
                yield
                finished = True
            except Exception as error:  # noqa: BLE001  # raised below, as itself
                failure = error
            group.cancel_scope.cancel()
    finally:
        if not finished:
            with anyio.CancelScope(shield=True), anyio.move_on_after(5), suppress(DatabaseError):
                await ledger.hold_watch(watch, 0)
    if failure is not None:
        raise failure
