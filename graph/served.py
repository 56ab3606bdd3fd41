"""Threads that a LangGraph server owns: the ledger knows them (master `api`) and where they stand, nothing more.

The server begins, resumes and repeats their runs by itself; no process of ours may. What the ledger keeps of them lets
watchers see their jobs and people see them in `dragoman threads`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langgraph.errors import GraphBubbleUp
from langgraph.graph import END
from langgraph.types import Command

from dragoman.errors import DragomanError
from dragoman.ledger import Ledger
from dragoman.secrets import redact
from dragoman.thread import ThreadStatus
from graph.state import ThreadState

__all__ = ["refused", "served"]


async def served(
    ledger: Ledger, thread_id: str, state: ThreadState, run: Callable[[], Awaitable[Command[str]]]
) -> Command[str]:
    """Run a node of a thread without a lease, and keep where that leaves the thread.

    Args:
        ledger: takes the thread in, if it does not know it yet.
        thread_id: the server's.
        state: as the node got it.
        run: the node.

    Raises:
        LeaseLost: the thread is one of our own: no thread has two masters.

    """
    await ledger.adopt_thread(thread_id, _title(state.request))
    if not state.outcome:
        await ledger.set_status(thread_id, ThreadStatus.ACTIVE, epoch=None)
    try:
        command = await run()
    except GraphBubbleUp:
        await ledger.set_status(thread_id, ThreadStatus.PARKED, epoch=None)
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:2000]
        await ledger.set_status(thread_id, ThreadStatus.ACTIVE, epoch=None, error=words)
        raise
    if command.goto == END:
        update = command.update if isinstance(command.update, dict) else {}
        outcome = str(update.get("outcome") or state.outcome)
        await ledger.set_status(thread_id, ThreadStatus.DONE, epoch=None, outcome=outcome)
    return command


async def refused(ledger: Ledger, thread_id: str, request: object, error: DragomanError) -> Command[str]:
    """End a thread whose very input cannot be read: unlike our own commands, a server checks nothing beforehand."""
    words = f"the input cannot be used: {error.where}: {error.what.rpartition('fit: ')[2]}"
    await ledger.adopt_thread(thread_id, _title(request))
    await ledger.say(thread_id, "intake", words)
    await ledger.set_status(thread_id, ThreadStatus.DONE, epoch=None, outcome="rejected")
    return Command(goto=END, update={"outcome": "rejected", "outcome_words": words})


def _title(request: object) -> str:
    """One line that names the request."""
    if isinstance(request, dict):
        command = request.get("command")
        request = request.get("name") or (" ".join(map(str, command)) if isinstance(command, list) else "")
    return redact(" ".join(str(request or "").split()))[:120]
