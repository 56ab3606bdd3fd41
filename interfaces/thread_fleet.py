"""A thread keeps the fleet that it was begun with: another is told apart, and taken only where a person says so."""

from __future__ import annotations

from dragoman.errors import BadRequest, SiteNotHere
from dragoman.site_meaning import FleetOrigin, differences, origin_of
from dragoman.thread import ThreadRow
from interfaces.app import App

__all__ = ["fleet_origin", "refuse_other_fleet"]

MOST_TOLD = 12


async def fleet_origin(app: App, row: ThreadRow) -> FleetOrigin | None:
    """The fleet that a thread goes by; None: that of the process that runs it (a server's thread)."""
    if row.master == "api":
        return None
    snapshot = await app.graph.aget_state({"configurable": {"thread_id": row.thread_id}})
    return origin_of(snapshot.values.get("options") or row.input.get("options"))


def refuse_other_fleet(app: App, origin: FleetOrigin | None) -> None:
    """Refuse a sites file that was named for a thread of another one, unless both mean the same.

    Where the thread's own cannot be read here, the thread goes on where it can.

    Raises:
        BadRequest: which sites differ, and how the other fleet can be taken.

    """
    if origin is None:
        return
    own = str(app.sites.path) if app.sites.path is not None else "this machine alone"
    theirs = origin.file or "this machine alone"
    cure = "leave --sites out, or take the other fleet with --take-sites"
    try:
        fleet = app.sites.fleet_for(origin)
    except SiteNotHere:
        return
    told = [*differences(fleet, app.sites.fleet)]
    if told:
        more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
        raise BadRequest(
            f"the thread was begun with {theirs}, and in {own} {'; '.join(told[:MOST_TOLD])}{more}",
            where="--sites",
            cure=cure,
        )
