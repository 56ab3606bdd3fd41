"""What a tool of a site answered, kept as evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from pydantic import Field, NonNegativeFloat

from dragoman.model import JsonObject, Model, Moment

__all__ = ["Answer", "Category", "Observation", "Outcome"]


class Category(StrEnum):
    """The seven kinds of provider."""

    WORKLOAD = "workload"
    SOFTWARE = "software"
    CONTAINER = "container"
    STORAGE = "storage"
    NETWORK = "network"
    HARDWARE = "hardware"
    PARALLEL = "parallel"


class Outcome(StrEnum):
    """`ok`: the answer is the fact. `absent`: the site showed that there is none. `unknown`: nothing was shown."""

    OK = "ok"
    ABSENT = "absent"
    UNKNOWN = "unknown"


F = TypeVar("F", bound=Model)


class Answer(Model, Generic[F]):
    """A typed tool answer. `value` is there exactly when the outcome is ok; `reason` says why it is not."""

    outcome: Outcome
    value: F | None = None
    reason: str = Field(default="", max_length=2000)

    @classmethod
    def ok(cls, value: F) -> Answer[F]:
        """The site showed this."""
        return cls(outcome=Outcome.OK, value=value)

    @classmethod
    def absent(cls, reason: str) -> Answer[F]:
        """The site showed that there is none."""
        return cls(outcome=Outcome.ABSENT, reason=reason[:2000])

    @classmethod
    def unknown(cls, reason: str) -> Answer[F]:
        """Nothing was shown, for this reason."""
        return cls(outcome=Outcome.UNKNOWN, reason=reason[:2000])


class Observation(Model):
    """One tool answer with its arguments, time and outcome. Checks cite it by id."""

    id: str = Field(min_length=1, max_length=64)
    site: str
    provider: str
    """Such as `workload/slurm` or `software/spack`."""
    tool: str
    """The verb, such as `resources` or `find_package`."""
    arguments: JsonObject = {}
    outcome: Outcome
    value: JsonObject | None = None
    reason: str = ""
    observed_at: Moment
    max_age_s: NonNegativeFloat
    """How long the fact may be used: slow facts (hardware, software) hours, fast ones (queue) seconds."""
    simulated: bool = False
