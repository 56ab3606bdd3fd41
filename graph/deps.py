"""What the nodes need, handed in by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from dragoman.ledger import Ledger
from dragoman.model import JsonObject, now
from dragoman.protocols import Clock, ScriptReading
from dragoman.selection import ApprovalRule
from dragoman.site import Fleet, Site
from dragoman.site_meaning import FleetOrigin
from graph.model.desk import ModelDesk
from graph.verdict.conventions import STRICT, Conventions
from providers.recipes.shelf import Shelf, shipped_shelf
from providers.site_runtime import SiteRuntime

__all__ = ["Deps"]


async def _shipped(site: Site | None) -> Shelf:
    return shipped_shelf()


@dataclass(frozen=True, slots=True)
class Deps:
    """Handed to `graph.build.build`; nothing in it is stored."""

    ledger: Ledger
    fleet: Callable[[FleetOrigin | None], Fleet]
    """The sites as their file says now: that of the thread; None: the process's own. Raises `SiteNotHere`."""
    open_site: Callable[[str, FleetOrigin | None, JsonObject | None], SiteRuntime]
    """The runtime of a site, opened on first use and kept; for a job, with the description that it was handed over by.

    Raises `SiteNotHere`.
    """
    results_dir: Path
    secret: Callable[[str], Awaitable[str | None]]
    """The value of a secret by its key; None where there is none."""
    forget_secret: Callable[[str], Awaitable[None]] | None = None
    """Removes a secret that was put away for one thread."""
    script_reader: Callable[[str], ScriptReading] | None = None
    """Reads a job script by the scheduler that its directives are of."""
    approval_rules: Sequence[ApprovalRule] = ()
    site_timeout_s: float = 60.0
    sites_at_once: int = 32
    site_patience_s: float = 0.5
    """After this time a site that is asked gives its place to the next and is waited for beside it."""
    recipes: Callable[[Site | None], Awaitable[Shelf]] = _shipped
    """The recipes that count for a site, or for no site in particular."""
    conventions: Conventions = STRICT
    """What may stand for what."""
    model: ModelDesk | None = None
    """A chat model beside the rules; None: the rules alone."""
    file_latency_s: float = 30.0
    retry_after: timedelta = timedelta(seconds=30)
    """When a site that could not be reached is looked at again."""
    clock: Clock = field(default=now)
