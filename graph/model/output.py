"""JSON in what a model wrote: alone, among words, or in a fence. What cannot be read is counted, never dropped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

__all__ = ["Found", "find_objects", "read_as", "text_of"]

M = TypeVar("M", bound=BaseModel)
MOST_CHARACTERS = 200_000
MOST_OBJECTS = 64


@dataclass(frozen=True, slots=True)
class Found:
    """Objects in their order, and how many beginnings of one could not be read."""

    objects: tuple[dict[str, Any], ...] = ()
    unreadable: int = 0


def find_objects(text: str) -> Found:
    """Every outermost JSON object of a text. Braces in sentences are no objects and count only where quotes follow."""
    decoder = json.JSONDecoder()
    objects: list[dict[str, Any]] = []
    unreadable, at = 0, 0
    text = text[:MOST_CHARACTERS]
    while len(objects) + unreadable < MOST_OBJECTS and (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            unreadable += text[at + 1 :].lstrip()[:1] in ('"', "'")
            at += 1
            continue
        objects.append(value)
        at = end
    return Found(tuple(objects), unreadable)


def read_as(text: str, model: type[M]) -> tuple[M | None, int]:
    """The last object of a text that is such a model, and how many objects or beginnings of one were none."""
    found = find_objects(text)
    good, bad = None, found.unreadable
    for each in found.objects:
        try:
            good = model.model_validate(each)
        except ValidationError:
            bad += 1
    return good, bad


def text_of(content: object) -> str:
    """The text of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        str(block.get("text", "")) if isinstance(block, dict) else block
        for block in blocks
        if isinstance(block, str | dict)
    )
