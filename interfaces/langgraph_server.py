"""What `langgraph.json` names: the graph, the checkpointer and the store of a LangGraph server (`langgraph dev`).

The server imports this module in a thread, before its event loops run, and takes the names from the module's own
dictionary: they have to be there, and what blocks (reading settings and sites) is done here, not in a node.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dragoman.settings import read_settings
from graph.build import build
from interfaces.app import new_app
from interfaces.sites import Sites

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.store.base import BaseStore

__all__ = ["checkpointer", "graph", "store"]

_settings = read_settings()
_app = new_app(_settings, Sites.read_now(_settings.sites_file))

graph = build(_app.deps)
"""Without a checkpointer: the server puts its own in, which is the one below."""


@asynccontextmanager
async def checkpointer() -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The saver (`checkpointer.path`); the database is migrated before it is handed out."""
    try:
        await _app.checkpoints.ready()
        yield _app.checkpoints.saver
    finally:
        await _app.aclose()


@asynccontextmanager
async def store() -> AsyncIterator[BaseStore]:
    """The store (`store.path`); the server opens one for each of its event loops."""
    yield await _app.checkpoints.store()
