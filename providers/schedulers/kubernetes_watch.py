"""The event stream of Jobs and pods (API concepts, "Efficient detection of changes"): one JSON object a line.

A watch that begins at a version which the server has forgotten is answered with HTTP 200 and one ERROR event, code 410:
the list is to be asked for again, and nothing is known of what happened between.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from providers.schedulers.base import one_line
from providers.schedulers.kubernetes_status import Thing, part

__all__ = ["WatchAnswer", "read_watch"]


class WatchAnswer(NamedTuple):
    """What one watch told until it ended."""

    things: tuple[tuple[str, Thing], ...] = ()
    """`ADDED`, `MODIFIED` or `DELETED`, and the object as it was then."""
    version: str | None = None
    """Where the next watch begins."""
    expired: bool = False
    """List again: events were missed."""
    trouble: str = ""


def read_watch(text: str) -> WatchAnswer:
    """Events of a watch, in their order. A last line that is cut off is left for the next watch to tell."""
    things: list[tuple[str, Thing]] = []
    version: str | None = None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines) - 1:
                break
            return WatchAnswer(tuple(things), version, trouble=f"no event: {one_line(line, limit=200)}")
        kind, thing = part(event, "type"), part(event, "object")
        if kind == "ERROR":
            expired = part(thing, "code") == 410 or part(thing, "reason") in ("Expired", "Gone")
            words = one_line(str(part(thing, "message") or "the server ended the watch"))
            return WatchAnswer(tuple(things), None if expired else version, expired, "" if expired else words)
        if not isinstance(kind, str) or not isinstance(thing, dict):
            return WatchAnswer(tuple(things), version, trouble=f"no event: {one_line(line, limit=200)}")
        told = part(thing, "metadata", "resourceVersion")
        version = str(told) if told else version
        if kind != "BOOKMARK":
            things.append((kind, thing))
    return WatchAnswer(tuple(things), version)
