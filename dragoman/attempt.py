"""One submission for one step of a thread: intended before it is made, recorded after, settled where in doubt."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Literal

from pydantic import Field, NonNegativeInt

from dragoman.job import JobRef, JobSpec, Tag
from dragoman.model import JsonObject, Model, Moment

__all__ = ["Attempt", "AttemptRecord", "AttemptState", "attempt_tag"]


class AttemptState(StrEnum):
    """Where a submission stands."""

    INTENDED = "intended"
    """Stored, perhaps submitted, no answer recorded: the site must be asked before anything else."""
    SUBMITTED = "submitted"
    """The scheduler's id is known."""
    REFUSED = "refused"
    """Shown not to have been taken."""
    IN_DOUBT = "in-doubt"
    """Neither presence nor absence could be shown: a person decides."""
    ABANDONED = "abandoned"
    """Cancelled before it was submitted: the site-side claim is held so that it never will be."""


class Attempt(Model):
    """The intent to submit one job once. `tag` follows from thread, step and number."""

    tag: Tag
    thread_id: str
    step: str
    number: NonNegativeInt
    site: str
    scheduler: str
    spec: JobSpec
    described: JsonObject | None = None
    """The site as its sites file described it then; None: an older release did not record it."""
    intended_at: Moment | None = None


class AttemptRecord(Model):
    """An attempt and what became of its submission."""

    attempt: Attempt
    state: AttemptState = AttemptState.INTENDED
    job: JobRef | None = None
    answer: str = Field(default="", max_length=4000)
    """The scheduler's own words."""
    adopted: bool = False
    """Found by its tag rather than told by the submit command."""
    reason_class: Literal["wait", "never", "person", "unknown"] = "unknown"
    recorded_at: Moment | None = None


def attempt_tag(thread_id: str, step: str, number: int) -> str:
    """The unique tag of an attempt: the same after every crash and replay."""
    digest = hashlib.sha256(f"{thread_id}\0{step}".encode()).hexdigest()[:12]
    return f"dgm-{digest}-a{number}"
