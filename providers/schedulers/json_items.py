"""Long JSON documents item by item: a queue of 200,000 jobs is never in memory as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

from dragoman.model import Json, JsonObject

__all__ = ["decode_items"]

T = TypeVar("T")

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def decode_items(text: str, key: str, each: Callable[[Json], T]) -> tuple[JsonObject, list[T] | None]:
    """An object without its list `key`, and what `each` made of the items of that list; None: there is no such list.

    Raises:
        ValueError: no JSON, or no object.
        RecursionError: nested too deep.

    """
    rest: JsonObject = {}
    made: list[T] | None = None
    at = _expect(text, _skip(text, 0), "{")
    if text[at : at + 1] == "}":
        _end(text, at + 1)
        return rest, made
    while True:
        name, at = _DECODER.raw_decode(text, at)
        if not isinstance(name, str):
            raise ValueError(f"a key is no text at {at}")
        at = _expect(text, _skip(text, at), ":")
        if name == key and text[at : at + 1] == "[":
            made, at = _list(text, at + 1, each)
        else:
            rest[name], at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            _end(text, _expect(text, at, "}"))
            return rest, made
        at = _skip(text, at + 1)


def _list(text: str, at: int, each: Callable[[Json], T]) -> tuple[list[T], int]:
    made: list[T] = []
    at = _skip(text, at)
    if text[at : at + 1] == "]":
        return made, at + 1
    while True:
        value, at = _DECODER.raw_decode(text, at)
        made.append(each(value))
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            return made, _expect(text, at, "]")
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found is not None else at


def _expect(text: str, at: int, mark: str) -> int:
    """Past the mark and the blanks after it."""
    if text[at : at + 1] != mark:
        raise ValueError(f"no {mark!r} at {at}")
    return _skip(text, at + 1)


def _end(text: str, at: int) -> None:
    if _skip(text, at) != len(text):
        raise ValueError(f"more than one document, from {at}")
