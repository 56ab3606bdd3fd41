"""The working parts of a real site; a simulated one has none."""

from __future__ import annotations

from dragoman.errors import SubmitRefused
from dragoman.protocols import Transport
from providers.schedulers.client import SchedulerClient
from providers.site_runtime import SiteRuntime

__all__ = ["mover_for", "scheduler_at", "transport_at"]


def scheduler_at(runtime: SiteRuntime) -> SchedulerClient:
    """The scheduler that runs work there.

    Raises:
        SubmitRefused: the site is simulated.

    """
    if not isinstance(runtime.scheduler, SchedulerClient):
        raise _simulated(runtime)
    return runtime.scheduler


def transport_at(runtime: SiteRuntime) -> Transport:
    """The way there.

    Raises:
        SubmitRefused: the site is simulated.

    """
    if runtime.transport is None:
        raise _simulated(runtime)
    return runtime.transport


def mover_for(runtime: SiteRuntime) -> str:
    """The mover between the person's files and this site.

    Raises:
        SubmitRefused: the site is simulated.

    """
    return "local" if transport_at(runtime).local else "rsync"


def _simulated(runtime: SiteRuntime) -> SubmitRefused:
    return SubmitRefused(
        f"site {runtime.site.name} is simulated: it can answer but not run work",
        where=runtime.site.name,
        cure="approve a real site",
        reason_class="never",
    )
