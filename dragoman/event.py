"""What a paused thread waits for, and what ends or informs a wait."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt

from dragoman.model import JsonObject, Model, Moment

__all__ = ["Event", "Wait", "WaitKind"]

WaitKind = Literal["approval", "question", "job", "transfer", "until"]
"""approval and question wait for a person; job and transfer for a site; until for a time."""


class Wait(Model):
    """Stored before the thread pauses. Its id is in the interrupt's payload, so that a resume can be matched to it."""

    id: str = Field(min_length=1, max_length=64)
    thread_id: str
    step: str
    """The node that waits."""
    sequence: NonNegativeInt
    """Which wait of this thread and step it is: the same after a replay."""
    kind: WaitKind
    site: str | None = None
    subject: JsonObject = {}
    """What it is about: the job's reference and last known state, the transfer's handle, the question."""
    due_at: Moment | None = None
    """When it ends by itself (kind `until`), or is looked at again."""
    due_in_s: float | None = Field(default=None, ge=0)
    """Instead of `due_at`, when it is opened: seconds from then, by the ledger's clock. Not stored."""
    opened_at: Moment | None = None
    closed_at: Moment | None = None


class Event(Model):
    """Something that happened. Stored once: (wait, key) is unique, and of answers only the first counts."""

    id: int | None = None
    wait_id: str
    key: str = Field(min_length=1, max_length=200)
    """What makes it the same event when it comes twice: `state:running:0`, `answer`, `transfer:succeeded`."""
    kind: Literal["job", "transfer", "answer", "time", "cancel"]
    payload: JsonObject = {}
    by: str = ""
    at: Moment | None = None
