"""Older states on the way to the current schema: one function for each step up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dragoman.errors import DragomanError

__all__ = ["SCHEMA_VERSION", "graph_version", "migrate", "read_graph_version"]

SCHEMA_VERSION = 1

_STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""`_STEPS[n]` takes a state of version n to n + 1."""


def migrate(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state at the current schema version; one without a version has just been started.

    Raises:
        DragomanError: for a state that a newer release stored.

    """
    data = dict(state)
    version = data.setdefault("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise DragomanError(
            f"the thread was stored by a newer release (schema {version!r}, this one knows {SCHEMA_VERSION})",
            where="schema_version",
            cure="continue it with that release, or update this one",
        )
    while version < SCHEMA_VERSION:
        data = _STEPS[version](data)
        version += 1
        data["schema_version"] = version
    return data


def graph_version(name: str) -> str:
    """What a thread keeps of the graph it is begun with: its name and the schema version of its state."""
    return f"{name}:{SCHEMA_VERSION}"


def read_graph_version(words: str) -> tuple[str, int]:
    """Name and schema version; one that cannot be read is newer than all."""
    name, _, version = words.rpartition(":")
    return name, int(version) if version.isdecimal() else SCHEMA_VERSION + 1
