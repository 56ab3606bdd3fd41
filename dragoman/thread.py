"""One request's thread as the ledger keeps it: who owns it, where it stands, what it was asked."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, NonNegativeInt

from dragoman.model import JsonObject, Model, Moment

__all__ = ["SiteWatch", "ThreadRow", "ThreadStatus", "TimelineEntry"]


class ThreadStatus(StrEnum):
    """Where a thread stands between two runs of its graph."""

    NEW = "new"
    """Stored, not begun."""
    ACTIVE = "active"
    """Begun and not parked: somebody runs it, or a crash left it in the middle."""
    PARKED = "parked"
    """Paused at an interrupt, for the open wait."""
    DONE = "done"
    """The graph ended; `outcome` tells how."""
    POISONED = "poisoned"
    """Failed too often at one place: parked with its error until a person retries it."""


class ThreadRow(Model):
    """A thread. One thread is one request: one job, one array or one chain."""

    thread_id: str
    title: str = ""
    status: ThreadStatus = ThreadStatus.NEW
    master: Literal["direct", "api"] = "direct"
    """Who may run it: our own processes under a lease, or a LangGraph server that owns it."""
    graph: str = Field(default="", max_length=200)
    """Name and version of the graph that the thread was begun with; never changes after that."""
    input: JsonObject = {}
    """What the graph is started with."""
    outcome: str = ""
    """`completed`, `failed`, `cancelled`, `refused`, `no-site`, `rejected`; empty while it goes on."""
    error: str = ""
    tries: NonNegativeInt = 0
    """Failed runs in a row at the same place."""
    next_try_at: Moment | None = None
    """After a failed run: nobody runs it before."""
    epoch: NonNegativeInt = 0
    lease_holder: str = ""
    lease_until: Moment | None = None
    cancel_requested_by: str = ""
    created_at: Moment | None = None
    updated_at: Moment | None = None


class SiteWatch(Model):
    """Who looks at a site for all threads, and when next."""

    site: str
    identity: str
    holder: str = ""
    lease_until: Moment | None = None
    next_look_at: Moment | None = None
    interval_s: float = Field(default=2.0, gt=0)
    least_s: float = Field(default=2.0, gt=0)
    """Never more often than this, whatever happens: the site's bound."""
    looked_at: Moment | None = None
    hastened: bool = False
    """Somebody asked for a look while one was under way."""
    failures: NonNegativeInt = 0
    last_ok_at: Moment | None = None
    error: str = ""


class TimelineEntry(Model):
    """One line of a thread's story, for people."""

    thread_id: str
    step: str
    words: str
    data: JsonObject = {}
    at: Moment
