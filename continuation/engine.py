"""Runs a thread on from what is stored until it parks again, under its lease."""

from __future__ import annotations

import logging
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from continuation.lease import Lease, leased
from dragoman.errors import DatabaseError, DragomanError, LeaseLost, SiteNotHere
from dragoman.event import Event
from dragoman.ledger import Ledger
from dragoman.protocols import Progress
from dragoman.thread import ThreadStatus
from graph.migrations import graph_version, read_graph_version

__all__ = ["Engine"]

log = logging.getLogger(__name__)

MOST_STEPS = 200
"""Nodes between two pauses; more is a loop and parks the thread with its error."""


class Engine:
    """The direct way to run threads: any number of processes may have one.

    Args:
        graph: compiled over the fenced saver.
        ledger: where threads, waits and events are.
        holder: this process's name.
        lease_s: seconds of a lease.
        most_tries: failed runs in a row before a thread is parked with its error.

    """

    def __init__(
        self,
        graph: CompiledStateGraph[Any, Any, Any, Any],
        ledger: Ledger,
        holder: str,
        *,
        lease_s: float = 30.0,
        most_tries: int = 5,
    ) -> None:
        self.graph = graph
        self.ledger = ledger
        self.made_with = graph_version(graph.name)
        self.holder = holder
        self.lease_s = lease_s
        self.most_tries = most_tries

    async def resume(self, thread_id: str, progress: Progress | None = None) -> bool:
        """Run the thread on until it parks or ends. False: somebody else owns it now, or took it over.

        A run that fails is counted; at the limit the thread is parked with its error. A database that cannot be
        reached is raised: nothing can be counted then.

        Raises:
            DatabaseError: when PostgreSQL cannot be reached.
            SiteNotHere: the thread is at a site that this process does not know; others go on with it.

        """
        try:
            async with leased(self.ledger, thread_id, self.holder, self.lease_s) as lease:
                if lease is None:
                    return False
                await self._owned(lease, progress)
        except LeaseLost as error:
            log.info("thread left to its new owner", extra={"action": "lease-lost", "thread_id": thread_id})
            log.debug("%s", error)
            return False
        return True

    async def _owned(self, lease: Lease, progress: Progress | None) -> None:
        try:
            await self._same_graph(lease.thread_id)
            await self._run(lease, progress)
        except DatabaseError:
            raise
        except Exception as error:  # whatever a node raises is kept with the thread, never lost
            cause = _single(error)
            if isinstance(cause, DatabaseError):
                raise cause from error
            if isinstance(cause, SiteNotHere):
                raise cause from error
            words = str(cause) if isinstance(cause, DragomanError) else f"{type(cause).__name__}: {cause}"
            log.debug("run failed", exc_info=error)
            log.warning("run failed: %s", words, extra={"action": "run-failed", "thread_id": lease.thread_id})
            if await self._given_up(lease, words):
                return
            status = await self.ledger.failed_try(
                lease.thread_id, words[:2000], epoch=lease.epoch, most=self.most_tries
            )
            if status is ThreadStatus.POISONED:
                await self.ledger.say(lease.thread_id, "engine", f"parked with its error: {words}")

    async def _given_up(self, lease: Lease, words: str) -> bool:
        """End a thread that is to be cancelled and cannot be run, where nothing was ever to be submitted for it."""
        by = await self.ledger.cancel_requested(lease.thread_id)
        if not by or await self.ledger.attempts(lease.thread_id):
            return False
        await self.ledger.say(lease.thread_id, "engine", f"cancelled by {by}; it could not be run on: {words}")
        await self.ledger.set_status(lease.thread_id, ThreadStatus.DONE, epoch=lease.epoch, outcome="cancelled")
        return True

    async def _same_graph(self, thread_id: str) -> None:
        """A thread goes on with the graph it was begun with: older states of it are migrated, others refused."""
        row = await self.ledger.thread(thread_id)
        if row is None or not row.graph:
            return
        name, version = read_graph_version(row.graph)
        own_name, own_version = read_graph_version(self.made_with)
        if name != own_name or version > own_version:
            raise DragomanError(
                f"the thread was begun with {row.graph}, and this process runs {self.made_with}",
                where=f"thread {thread_id}",
                cure="continue it with the release that began it or a newer one",
            )

    async def _run(self, lease: Lease, progress: Progress | None) -> None:
        config: RunnableConfig = {
            "configurable": {"thread_id": lease.thread_id, "lease_epoch": lease.epoch},
            "recursion_limit": MOST_STEPS,
        }
        before = None
        while True:
            snapshot = await self.graph.aget_state(config)
            given, finished = await self._next(lease, snapshot)
            if finished:
                return
            if given is None and snapshot.config == before:
                raise DragomanError("the graph does not go on from its checkpoint", where=lease.thread_id)
            before = snapshot.config if given is None else None
            async for part in self.graph.astream(given, config, stream_mode="custom", durability="sync"):
                if progress is not None:
                    await progress(part)

    async def _next(self, lease: Lease, snapshot: StateSnapshot) -> tuple[Any, bool]:
        """What to run the graph with now, or that it is at rest (with its status kept)."""
        if snapshot.created_at is None:
            row = await self.ledger.thread(lease.thread_id)
            await self.ledger.set_status(lease.thread_id, ThreadStatus.ACTIVE, epoch=lease.epoch)
            return (row.input if row else {}), False
        outcome = snapshot.values.get("outcome")
        if not snapshot.next and outcome:
            await self.ledger.set_status(lease.thread_id, ThreadStatus.DONE, epoch=lease.epoch, outcome=str(outcome))
            return None, True
        # Nothing next and no outcome: a node's result was kept, and the process died before the checkpoint after it.
        if not snapshot.next or not snapshot.interrupts:
            return None, False
        interrupt = snapshot.interrupts[0]
        payload = interrupt.value if isinstance(interrupt.value, dict) else {}
        event = await self._event(str(payload.get("wait_id") or ""))
        if event is None:
            await self.ledger.set_status(lease.thread_id, ThreadStatus.PARKED, epoch=lease.epoch)
            return None, True
        answer = {**event.payload, "event": event.kind, "by": event.payload.get("by") or event.by}
        if event.kind == "cancel":
            answer["cancel"] = True
        return Command(resume={interrupt.id: answer}), False

    async def _event(self, wait_id: str) -> Event | None:
        """The event that ends this very wait: a wish to cancel before anything else, else the first that came."""
        events = await self.ledger.events(wait_id) if wait_id else []
        return next((each for each in events if each.kind == "cancel"), events[0] if events else None)


def _single(error: Exception) -> Exception:
    """What went wrong inside a node's task group, rather than that something did; a lost database before all else."""
    if not isinstance(error, ExceptionGroup):
        return error
    causes = [_single(each) for each in error.exceptions]
    return next((each for each in causes if isinstance(each, DatabaseError)), causes[0])
