"""What came out of reading a request: the request, what must be asked back, and what was not understood."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt

from dragoman.model import JsonObject, Model, Moment
from dragoman.request import JobRequest

__all__ = ["Option", "Question", "Reading"]


class Option(Model):
    """One way to answer a question."""

    label: str
    patch: JsonObject = {}
    """What it means: dotted paths into the request and their new values (`{"shapes.0.nodes": 2}`); None clears."""


class Question(Model):
    """Something that matters and can be understood in more than one way, or is missing."""

    id: str = Field(pattern=r"^[a-z0-9_.\-]{1,64}$")
    field: str
    """Dotted path into the request."""
    words: str
    """The words it is about, as written; empty where something is missing."""
    start: NonNegativeInt | None = None
    """Offset of the words in the text, in characters."""
    text: str
    """The question as a person reads it."""
    options: tuple[Option, ...] = ()
    free: bool = True
    """Whether an answer in one's own words is taken too."""
    origin: Literal["rules", "model"] = "rules"
    """model: a model read the words; they count when the person has said so."""


class Reading(Model):
    """A request as far as it was understood. Nothing in it was guessed silently."""

    request: JobRequest
    questions: tuple[Question, ...] = ()
    defaults: tuple[str, ...] = ()
    """Harmless choices that were made, each in a sentence."""
    unread: tuple[str, ...] = ()
    """Words that carry meaning and were not understood, as written."""
    secrets: dict[str, str] = Field(default={}, exclude=True, repr=False)
    """Secret values by the key that the request names; never dumped, for the secret store only."""
    read_at: Moment | None = None
    time_zone: str | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing is left to ask and nothing was left unread."""
        return not self.questions and not self.unread
