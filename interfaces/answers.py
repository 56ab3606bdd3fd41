"""What a person says to a paused thread: stored as the event of its wait; only the first answer counts."""

from __future__ import annotations

from dragoman.errors import BadRequest, UnknownName
from dragoman.event import Event, Wait
from dragoman.ledger import Ledger
from dragoman.model import JsonObject
from dragoman.shown_secrets import refuse_shown
from dragoman.thread import ThreadRow, ThreadStatus

__all__ = ["answer_wait", "find_thread", "person_wait"]

_CURE = "an answer is kept as it is: begin a new request; values of its variables (NAME=value) go to the secret store"


async def find_thread(ledger: Ledger, given: str) -> ThreadRow:
    """A thread by its id or the beginning of it.

    Raises:
        UnknownName: none, or more than one.

    """
    row = await ledger.thread(given)
    if row is not None:
        return row
    found = await ledger.find_threads(given) if len(given) >= 4 else []
    if len(found) == 1:
        return found[0]
    many = ", ".join(each.thread_id for each in found[:5])
    cure = f"be more exact: {many}" if found else "`dragoman threads` lists them"
    raise UnknownName(
        f"{'more than one thread begins with' if found else 'no thread'} {given!r}", where="id", cure=cure
    )


async def person_wait(ledger: Ledger, row: ThreadRow, *kinds: str) -> Wait:
    """The open wait of a thread that a person can answer.

    Raises:
        BadRequest: it does not wait for that; says what it does.

    """
    waits = await ledger.open_waits(thread_id=row.thread_id)
    for wait in reversed(waits):
        # Who holds an approval may still decide before the time has come.
        kind = "approval" if (wait.kind, wait.step) == ("until", "approval") else wait.kind
        if kind in kinds:
            return wait
    if row.status is ThreadStatus.DONE:
        raise BadRequest(f"the thread has ended: {row.outcome}", where=row.thread_id, cure="start a new request")
    now = ", ".join(f"{wait.kind} (step {wait.step})" for wait in waits) or f"nothing: it is {row.status.value}"
    raise BadRequest(
        f"it does not wait for {' or '.join(kinds)} but for {now}", where=row.thread_id, cure="see `dragoman show`"
    )


async def answer_wait(ledger: Ledger, wait: Wait, payload: JsonObject, *, by: str) -> None:
    """Store the answer; the thread goes on when it is resumed.

    Raises:
        BadRequest: somebody answered before, or a secret would be stored with it.

    """
    refuse_shown(payload, "answer", cure=_CURE)
    stored = await ledger.add_event(Event(wait_id=wait.id, key="answer", kind="answer", payload=payload, by=by))
    if not stored:
        first = next((each for each in await ledger.events(wait.id) if each.kind == "answer"), None)
        who = f" by {first.by} at {first.at.isoformat(timespec='seconds')}" if first and first.at else ""
        raise BadRequest(f"it has been answered already{who}", where=wait.thread_id, cure="see `dragoman show`")
