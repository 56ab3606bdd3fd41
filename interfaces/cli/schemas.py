"""`schema`: the JSON Schemas of what people and programs write and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from dragoman.model import JsonObject
from interfaces.cli.running import emit, leave

__all__ = ["SCHEMAS", "schema"]


def _approval() -> JsonObject:
    from graph.approval_payload import approval_schema

    return approval_schema()


def _request() -> JsonObject:
    from dragoman.request import JobRequest

    return JobRequest.model_json_schema()


def _sites() -> JsonObject:
    from providers.fleet import fleet_schema

    return fleet_schema()


SCHEMAS: dict[str, Callable[[], JsonObject]] = {"approval": _approval, "request": _request, "sites": _sites}


def schema(name: str) -> NoReturn:
    """Print one schema."""
    emit(SCHEMAS[name]())
    leave(0)
