"""Pausing a thread: the wait is stored, then LangGraph interrupts; the wait's id is in the payload."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import interrupt

from dragoman.errors import Cancelled, DragomanError
from dragoman.event import Wait, WaitKind
from dragoman.ledger import Ledger
from dragoman.model import JsonObject

__all__ = ["lease_epoch", "pause", "thread_id_of", "wait_id"]


def thread_id_of(config: RunnableConfig) -> str:
    """The thread that a node runs for.

    Raises:
        DragomanError: when the graph is run without one: nothing could be paused or found again.

    """
    thread_id = config.get("configurable", {}).get("thread_id")
    if not isinstance(thread_id, str) or not thread_id:
        raise DragomanError("a run needs a thread", where="configurable.thread_id", cure="give a thread_id")
    return thread_id


def lease_epoch(config: RunnableConfig) -> int | None:
    """The epoch of the lease this run holds; None where a LangGraph server owns the thread."""
    epoch = config.get("configurable", {}).get("lease_epoch")
    return epoch if isinstance(epoch, int) else None


def wait_id(thread_id: str, sequence: int) -> str:
    """The same id for the same pause, also after a replay."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"dragoman:wait:{thread_id}:{sequence}").hex


async def pause(
    ledger: Ledger,
    config: RunnableConfig,
    *,
    step: str,
    sequence: int,
    kind: WaitKind,
    payload: JsonObject,
    site: str | None = None,
    subject: JsonObject | None = None,
    due_at: datetime | None = None,
    due_in_s: float | None = None,
    answer_schema: dict[str, Any] | None = None,
) -> JsonObject:
    """Store the wait, interrupt, and give the answer when the thread is resumed.

    Args:
        ledger: keeps the wait.
        config: of the run.
        step: the node.
        sequence: which pause of the thread it is.
        kind: what is waited for.
        payload: what people and Studio are shown.
        site: where it happens.
        subject: what the watcher needs.
        due_at: a time that a person named.
        due_in_s: seconds from now by the ledger's clock, whatever this host's clock says.
        answer_schema: of the answer.

    All before this call runs again on resume and must be free of side effects or idempotent.

    Raises:
        Cancelled: when the wait was ended by a wish to cancel.

    """
    thread_id = thread_id_of(config)
    wait = Wait(
        id=wait_id(thread_id, sequence),
        thread_id=thread_id,
        step=step,
        sequence=sequence,
        kind=kind,
        site=site,
        subject=subject or {},
        due_at=due_at,
        due_in_s=due_in_s,
    )
    await ledger.open_wait(wait, epoch=lease_epoch(config))
    answer = interrupt({"wait_id": wait.id, "kind": kind, **payload}, response_schema=answer_schema)
    await ledger.close_wait(wait.id)
    if not isinstance(answer, dict):
        answer = {"answer": answer}
    if answer.get("cancel"):
        raise Cancelled(f"cancelled by {answer.get('by') or 'its owner'}")
    return answer
