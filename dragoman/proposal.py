"""Requirements, checks, verdicts and proposals (design: a verdict is computed from observations, not asserted)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from dragoman.kleene import Truth
from dragoman.model import JsonObject, Model, Moment
from dragoman.run_plan import RunPlan

__all__ = [
    "Check",
    "CheckKind",
    "Cost",
    "ModelUse",
    "Proposal",
    "StartEstimate",
    "Suggestion",
    "TokensTaken",
    "Verdict",
    "verdict_of",
]


CheckKind = Literal[
    "software", "container", "shape", "walltime", "network", "storage", "mpi",
    "policy", "budget", "time", "data", "access", "script",
]  # fmt: skip


class Verdict(StrEnum):
    """A site's answer to a request."""

    READY = "READY"
    """Fits, and can start now."""
    BUSY = "BUSY"
    """Fits, and starts later (perhaps not known when)."""
    INCOMPATIBLE = "INCOMPATIBLE"
    """Shown not to fit."""
    NEEDS_INFORMATION = "NEEDS_INFORMATION"
    """Not decided, and the person who asks can settle it."""
    UNKNOWN = "UNKNOWN"
    """Not decided: the site could not be seen well enough."""

    @property
    def possible(self) -> bool:
        """Whether the site is shown to be able to take the work."""
        return self in (Verdict.READY, Verdict.BUSY)


class Check(Model):
    """One requirement held against observations."""

    requirement: str
    """What is needed, in one line, such as `software lammps >= 2Aug2023`."""
    field: str
    """Dotted path into the request."""
    result: Truth
    reason: str = Field(max_length=1000)
    """What was seen, such as `has 4.3, asked >= 4.4`."""
    kind: CheckKind
    observations: tuple[str, ...] = ()
    """Ids of the observations it rests on."""
    person_can_settle: bool = False
    options: tuple[str, ...] = ()
    """What the person may answer, where that is known, such as the names of accounts."""
    children: tuple[Check, ...] = ()
    """Alternatives (`any`) or parts (`all`) that the result was computed from."""
    combine: Literal["all", "any"] | None = None


class StartEstimate(Model):
    """When the job would start, in seconds from `made_at`, with an interval. All None: not known."""

    now: Truth = Truth.UNKNOWN
    expected_s: NonNegativeFloat | None = None
    low_s: NonNegativeFloat | None = None
    high_s: NonNegativeFloat | None = None
    method: str = "none"
    """Who says so: `idle-nodes`, `scheduler`, `queue-model`, `simulated`."""
    made_at: Moment | None = None
    observations: tuple[str, ...] = ()


class Cost(Model):
    """What the job would be charged at most. `amount` None: not known, which is not zero."""

    amount: NonNegativeFloat | None = None
    unit: str = "none"
    basis: str = ""
    """How it was computed: `2 nodes x 1 h x 0.5 USD`."""


class Suggestion(Model):
    """A change of the request with which the site would fit, together with those of the same words."""

    field: str
    asked: str
    offered: str
    words: str


class TokensTaken(Model):
    """What some calls of a model are known to have taken."""

    tokens_in: NonNegativeInt = 0
    tokens_out: NonNegativeInt = 0
    cost_usd: NonNegativeFloat | None = None


class ModelUse(Model):
    """What a language model did and cost for one proposal.

    Where a call was not answered, what it took is not known: tokens and cost are None then, and `at_least` has those of
    the other calls.
    """

    model: str
    calls: NonNegativeInt = 0
    """Each one that was made, those included that were not answered and were made again."""
    uncounted: NonNegativeInt = 0
    """Calls of which it is not known what they took."""
    tokens_in: NonNegativeInt | None = 0
    tokens_out: NonNegativeInt | None = 0
    seconds: NonNegativeFloat = 0
    cost_usd: NonNegativeFloat | None = None
    """None where prices are not known, either."""
    at_least: TokensTaken | None = None
    most_usd: NonNegativeFloat | None = None
    """What was counted against a bound: uncounted calls at the most that they can have cost."""
    outcome: str = "ok"
    reasoning: str = Field(default="", max_length=8000)


class Proposal(Model):
    """A site's answer: verdict with checks, expected start, cost and constraints."""

    schema_version: Literal[1] = 1
    site: str
    round: NonNegativeInt = 0
    verdict: Verdict
    fits: Truth
    start: StartEstimate = StartEstimate()
    checks: tuple[Check, ...] = ()
    reasons: tuple[str, ...] = ()
    """For people, the most important first."""
    cost: Cost = Cost()
    shape_index: NonNegativeInt = 0
    """Which of the request's alternative shapes it answers."""
    queue: str | None = None
    account: str | None = None
    scheduler: str = ""
    queue_depth: NonNegativeInt | None = None
    constraints: JsonObject = {}
    suggestions: tuple[Suggestion, ...] = ()
    run: RunPlan | None = None
    """How the command would be run there; None: as it stands, or the site cannot run work."""
    simulated: bool = False
    site_digest: str = ""
    """What the sites file said of a real site when the proposal was made (`dragoman.site_meaning`)."""
    energy_kwh: NonNegativeFloat | None = None
    model: ModelUse | None = None
    made_at: Moment
    seconds: NonNegativeFloat = 0
    """How long the secretary took."""
    error: str = ""


def verdict_of(fits: Truth, start_now: Truth, *, person_can_settle: bool = False) -> Verdict:
    """The verdict that follows from two Kleene values (design, section 5)."""
    if fits is Truth.NO:
        return Verdict.INCOMPATIBLE
    if fits is Truth.UNKNOWN:
        return Verdict.NEEDS_INFORMATION if person_can_settle else Verdict.UNKNOWN
    return Verdict.READY if start_now is Truth.YES else Verdict.BUSY
