"""JSON in a command's output: programs print banners and warnings before and after it."""

from __future__ import annotations

import json

__all__ = ["first_json", "json_lines"]

MOST_TRIES = 200


def first_json(text: str, kind: type[list[object]] | type[dict[str, object]]) -> object | None:
    """The first whole JSON value of that kind that begins a line and ends one; None where there is none.

    A half-written value is none, so that what was cut is never taken for all there is.
    """
    decoder = json.JSONDecoder()
    start = tries = 0
    while start < len(text) and tries < MOST_TRIES:
        end_of_line = text.find("\n", start)
        end_of_line = len(text) if end_of_line < 0 else end_of_line
        begin = start + len(text[start:end_of_line]) - len(text[start:end_of_line].lstrip())
        if text[begin : begin + 1] in ("[", "{"):
            tries += 1
            try:
                value, end = decoder.raw_decode(text, begin)
            except (ValueError, RecursionError):
                value, end = None, begin
            if isinstance(value, kind) and not text[end:].partition("\n")[0].strip():
                return value
        start = end_of_line + 1
    return None


def json_lines(text: str) -> list[dict[str, object]] | None:
    """One object a line, other lines left out; None where there are lines and none of them is an object."""
    lines = [line for line in text.splitlines() if line.strip()]
    found: list[dict[str, object]] = []
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found if found or not lines else None
