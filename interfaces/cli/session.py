"""An app opened for one command, with the threads of earlier commands caught up first."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from dragoman.errors import DragomanError
from dragoman.model import JsonObject
from dragoman.protocols import Progress
from dragoman.settings import read_settings
from dragoman.thread import ThreadStatus
from interfaces.app import App, open_app
from interfaces.cli.running import say
from interfaces.documents import thread_document
from providers.transports.own_user import own_user

__all__ = ["OTHERS_S", "catch_up", "follow", "opened", "tell_of_all", "who"]

log = logging.getLogger(__name__)

TOLD_AFTER_S = 2.0
OTHERS_S = 10.0
"""That a command which is not about them gives to threads of earlier commands."""
PERSON_WAITS = ("approval", "question")


def who(by: str | None) -> str:
    """The name that a decision is kept under."""
    return by or own_user()


@asynccontextmanager
async def opened(sites: str | None) -> AsyncIterator[App]:
    """The app of one command."""
    overrides = {"sites_file": Path(sites).absolute()} if sites is not None else {}  # noqa: ASYNC240  # no I/O
    settings = read_settings(**overrides)
    logging.basicConfig(level=settings.log_level, format="%(levelname)s %(name)s: %(message)s")
    async with open_app(settings) as app:
        await app.checkpoints.ready()
        yield app


async def catch_up(app: App, most_s: float = math.inf) -> None:
    """Run on what earlier commands left: jobs that ended meanwhile are collected by whichever command comes next.

    Args:
        app: the command's.
        most_s: seconds after which the rest is left to whoever comes next; given where the command is about another
            thread than those.

    """

    async def tell_of_it() -> None:
        await anyio.sleep(TOLD_AFTER_S)
        say("running on threads of earlier commands; `dragoman watch` would do that in the background")

    try:
        with anyio.move_on_after(most_s) as bound:
            async with anyio.create_task_group() as group:
                group.start_soon(tell_of_it)
                await app.service.catch_up()
                group.cancel_scope.cancel()
        if bound.cancelled_caught:
            say("they take long and are left to the next command")
    except* DragomanError as errors:
        log.warning("could not catch up: %s", errors.exceptions[0])


def teller(thread_id: str) -> Callable[[str], Progress]:
    """Tells on stderr of each step of the thread as it happens, of others that are run on beside it nothing."""

    async def tell(part: JsonObject) -> None:
        if isinstance(part, dict) and part.get("words"):
            say(f"  {part.get('step')}: {part['words']}")

    async def leave(part: JsonObject) -> None:
        pass

    return lambda told: tell if told == thread_id else leave


def tell_of_all(thread_id: str) -> Progress:
    """Tells of every thread's steps, each line with its thread."""

    async def tell(part: JsonObject) -> None:
        if isinstance(part, dict) and part.get("words"):
            say(f"  {thread_id[:8]} {part.get('step')}: {part['words']}")

    return tell


async def follow(app: App, thread_id: str, *, wait: bool) -> JsonObject:
    """Run a thread on until it ends or waits for a person (`wait`), or until it is first parked."""
    ledger = app.checkpoints.ledger

    async def settled() -> bool:
        row = await ledger.thread(thread_id)
        if row is None or thread_id in app.service.elsewhere:
            return True
        if row.status in (ThreadStatus.DONE, ThreadStatus.POISONED):
            return True
        if row.status is not ThreadStatus.PARKED:
            return False
        waits = await ledger.open_waits(thread_id=thread_id)
        if waits and (not wait or waits[-1].kind in PERSON_WAITS):
            return not await ledger.events(waits[-1].id)
        return False

    await app.service.run(settled, idle_s=app.settings.wait_poll_s, progress=teller(thread_id))
    if thread_id in app.service.elsewhere:
        raise app.service.elsewhere[thread_id]
    row = await ledger.thread(thread_id)
    assert row is not None  # noqa: S101  # threads are never deleted while they are followed
    return await thread_document(app, row)
