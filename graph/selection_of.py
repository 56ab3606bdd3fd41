"""Which site the thread is at."""

from __future__ import annotations

from dragoman.errors import DragomanError
from dragoman.selection import Approval
from graph.state import ThreadState

__all__ = ["chosen_site"]


def chosen_site(state: ThreadState) -> str:
    """The approved site.

    Raises:
        DragomanError: when nothing was approved: no data moves and nothing is submitted without it.

    """
    approval = Approval.model_validate(state.decision) if state.decision else None
    if approval is None or approval.decision != "approve" or approval.site is None:
        raise DragomanError("nothing was approved", where="decision", cure="approve a site first")
    return approval.site
