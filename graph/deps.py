"""What the nodes need, handed in by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from dragoman.ledger import Ledger
from dragoman.model import now
from dragoman.protocols import Clock, ScriptReading
from dragoman.selection import ApprovalRule
from dragoman.site import Fleet
from providers.site_runtime import SiteRuntime

__all__ = ["Deps"]


@dataclass(frozen=True, slots=True)
class Deps:
    """Handed to `graph.build.build`; nothing in it is stored."""

    ledger: Ledger
    fleet: Callable[[], Fleet]
    """The sites as their file says now."""
    open_site: Callable[[str], SiteRuntime]
    """The runtime of a site, opened on first use and kept. Raises `UnknownName`."""
    results_dir: Path
    secret: Callable[[str], Awaitable[str | None]]
    """The value of a secret by its key; None where there is none."""
    script_reader: Callable[[str], ScriptReading] | None = None
    """Reads a job script by the scheduler that its directives are of."""
    approval_rules: Sequence[ApprovalRule] = ()
    site_timeout_s: float = 60.0
    sites_at_once: int = 32
    file_latency_s: float = 30.0
    retry_after: timedelta = timedelta(seconds=30)
    """When a site that could not be reached is looked at again."""
    clock: Clock = field(default=now)
