"""The ranked proposals, what the person answered, and the written rules that may answer for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from dragoman.model import JsonObject, Model, Moment
from dragoman.request import Policy

__all__ = ["Approval", "ApprovalRule", "Ranked", "Selection"]


class Ranked(Model):
    """One proposal's place."""

    site: str
    rank: PositiveInt | None
    """1 is the best; None: cannot take the work."""
    why: str


class Selection(Model):
    """The ranked proposals under a policy, with why each one stands where it does."""

    policy: Policy
    round: NonNegativeInt
    site: str | None
    """The best; None: no site can."""
    why: str
    ranking: tuple[Ranked, ...]
    seed: int | None = None
    """Of a random policy, so that the decision can be replayed."""
    inputs: JsonObject = {}
    """What was compared, by site, for replay."""


class ApprovalRule(Model):
    """A written rule that may approve by itself. Every stated condition must hold."""

    name: str = Field(min_length=1, max_length=80)
    sites: tuple[str, ...] = ()
    """Only these sites; empty: any site of the file."""
    max_cost: NonNegativeFloat | None = None
    """Approves only a known cost of at most this amount."""
    cost_unit: str | None = None
    max_walltime_s: PositiveInt | None = None
    max_nodes: PositiveInt | None = None
    verdicts: tuple[Literal["READY", "BUSY"], ...] = ("READY", "BUSY")


class Approval(Model):
    """Who decided what, when, and by which rule."""

    decision: Literal["approve", "refuse", "edit", "hold"]
    site: str | None = None
    by: str = "person"
    rule: str | None = None
    reason: str = Field(default="", max_length=2000)
    edited_request: JsonObject | None = None
    hold_until: Moment | None = None
    site_digest: str = ""
    """Of the approved proposal: what the sites file said of the site."""
    at: Moment | None = None
