"""The event stream of Jobs and pods (API concepts, "Efficient detection of changes"): one JSON object a line.

A watch that begins at a version which the server has forgotten is answered with HTTP 200 and one ERROR event, code 410:
the list is to be asked for again, and nothing is known of what happened between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

from dragoman.job import JobRef
from dragoman.protocols import EndsTold
from providers.schedulers.base import one_line
from providers.schedulers.following import ends_of
from providers.schedulers.kubernetes_status import Thing, listed, part
from providers.schedulers.kubernetes_tables import CONDITIONS

__all__ = ["ENDING", "WATCH_S", "WatchAnswer", "jobs_path", "read_turn", "read_watch", "watch_path"]

WATCH_S: Final = 120
"""The server ends a watch after this time; the next one goes on where it was."""
_END_CONDITIONS = [name for name, state in CONDITIONS.items() if state.final or state.value == "completing"]
ENDING: Final = ('"ERROR"', '"DELETED"', *(f'"type":"{name}"' for name in _END_CONDITIONS))
"""A line with any of these ends a turn; the server writes JSON without blanks."""
_EXPIRED = re.compile(r"\((?:Expired|Gone)\)|too old resource version", re.IGNORECASE)


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


def jobs_path(namespace: str, selector: str, **query: str) -> str:
    """Where the API server has the Jobs of a namespace."""
    return f"/apis/batch/v1/namespaces/{namespace}/jobs?{urlencode({'labelSelector': selector, **query})}"


def watch_path(namespace: str, selector: str, version: str) -> str:
    """Where it has their events since a version; bookmarks keep that from getting old while nothing happens."""
    since = {"resourceVersion": version, "allowWatchBookmarks": "true", "timeoutSeconds": str(WATCH_S)}
    return jobs_path(namespace, selector, watch="1", **since)


def read_turn(text: str, refs: Sequence[JobRef], mark: str | None, trouble: str) -> EndsTold:
    """What a watch since `mark` told, or, without one, where the events are now.

    A new beginning is one where events were missed. An expired mark is no trouble: the next turn begins anew.
    """
    if mark is None:
        version = None
        try:
            version = part(json.loads(text), "metadata", "resourceVersion")
        except (ValueError, RecursionError):
            trouble = trouble or f"no list: {one_line(text, limit=200)}"
        known = isinstance(version, str) and bool(version)
        return EndsTold(mark=str(version) if known else None, look=known, trouble="" if known else trouble or "no list")
    codes, lines = ends_of(text)
    told = read_watch(lines)
    wanted = {ref.job_id for ref in refs}
    names = {str(part(thing, "metadata", "name")) for kind, thing in told.things if kind == "DELETED" or _ended(thing)}
    ended = frozenset(names & wanted)
    if told.expired or _EXPIRED.search(trouble):
        return EndsTold(ended=ended)
    failed = any(code not in (0, 143) for code in codes.values())
    words = told.trouble or (trouble or "kubectl ended the watch" if failed or not text.strip() else "")
    return EndsTold(ended=ended, mark=told.version or mark, trouble=words)


def _ended(thing: Thing) -> bool:
    conditions = listed(thing, "status", "conditions")
    return any(one.get("status") == "True" and one.get("type") in _END_CONDITIONS for one in conditions)
