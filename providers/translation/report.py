"""What a translation says: the script, what has no equivalent, and each change of the body with its reason."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from dragoman.model import Model
from dragoman.request import JobRequest

__all__ = ["Change", "Edit", "Remark", "Translation"]


class Remark(Model):
    """Something about the source that a person has to know."""

    kind: Literal["lost", "note"]
    """`lost`: the target does not say it; `note`: it is said, or need not be, and should be looked at."""
    line: PositiveInt | None = None
    """Of the source, counted from 1."""
    words: str = ""
    """As written in the source."""
    why: str
    """With the cure, where there is one."""


class Change(Model):
    """One change of the body."""

    line: PositiveInt
    """Of the source."""
    before: str
    """Empty: it was added in front of the line."""
    after: str
    reason: str


class Edit(Model):
    """A stretch of the body and what stands there instead."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    new: str
    reason: str


class Translation(Model):
    """A script for another scheduler."""

    source: str
    target: str
    script: str
    report: tuple[Remark, ...] = ()
    changes: tuple[Change, ...] = ()
    diff: str = ""
    """Unified, of the source with its directives against the source with its body changed."""
    request: JobRequest
    encoding: Literal["utf-8", "latin-1"] = "utf-8"
    """`latin-1`: the source was no UTF-8, and each byte stands for itself."""

    @property
    def lost(self) -> tuple[Remark, ...]:
        """What the target does not say."""
        return tuple(remark for remark in self.report if remark.kind == "lost")
