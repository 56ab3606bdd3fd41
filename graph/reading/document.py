"""JSON and YAML texts as mappings: every scalar of YAML stays text, so that `4:00` and `no` keep their words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from dragoman.errors import BadRequest

__all__ = ["NoForm", "check_letters", "looks_like_form", "parse_document"]

_KEY_LINE = re.compile(r"(?P<key>[A-Za-z][\w.-]{0,63}|\"[\w.-]{1,64}\"|'[\w.-]{1,64}')[ \t]*:(?P<rest>[ \t].*|)$")
_OTHER_LINE = re.compile(r"(?:[ \t]+\S.*|- .*|#.*|---|\.\.\.)$")
_SAID = frozenset(("command", "cmd"))
"""Fields whose one line is what somebody says: `command: ./x on 4 cores`."""
_MAX_DEPTH = 40
_MOST_VALUES = 1_000_000
_HALF = re.compile("[\ud800-\udfff]")


class NoForm(BadRequest):
    """A text with labels that is no form: a document is refused, somebody's notes are read as words."""


def looks_like_form(text: str, fields: frozenset[str]) -> bool:
    """Whether a text is JSON or YAML of a request, and not words of a person."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return True
    lines = [line.rstrip() for line in stripped.splitlines() if line.strip()]
    keys: list[str] = []
    for line in lines:
        match = _KEY_LINE.match(line)
        if match:
            keys.append(match["key"].strip("\"'").lower().replace("-", "_"))
        elif not _OTHER_LINE.match(line):
            return False
    if len(lines) == 1 and keys:
        rest = lines[0].split(":", 1)[1]
        return keys[0] in fields - _SAID and not re.search(r": |[,;|]|\. |[ \t]/[ \t]", rest)
    known = [key for key in keys if key in fields or difflib.get_close_matches(key, fields, 1, 0.8)]
    return bool(keys) and keys[0] not in ("hi", "hello", "subject", "dear") and 2 * len(known) > len(keys)


def parse_document(text: str) -> dict[str, Any]:
    """The mapping that a JSON or YAML text holds.

    Raises:
        BadRequest: naming line and column; duplicate keys, anchors and very deep nesting are refused.

    """
    try:
        return _parse_json(text) if text.strip().startswith("{") else _parse_yaml(text)
    except RecursionError as error:
        raise BadRequest(
            "the request is nested too deeply", where="request", cure="use the fields of the schema"
        ) from error


def check_letters(value: Any, where: str) -> None:  # noqa: ANN401  # plain data of any shape
    r"""Refuse text with half a letter in it (`"\ud800"` of JSON), which nothing can store or show.

    Raises:
        BadRequest: naming the field.

    """
    texts, seen = [value], 0
    while texts and seen < _MOST_VALUES:
        one, seen = texts.pop(), seen + 1
        if isinstance(one, str) and _HALF.search(one):
            raise BadRequest("half a letter (a lone surrogate)", where=where, cure="give plain text (UTF-8)")
        if isinstance(one, Mapping):
            texts += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            texts += one


class _Written(float):
    """A number that remembers how it was written."""

    def __new__(cls, written: str) -> _Written:
        made = super().__new__(cls, written)
        made.written = written
        return made

    written: str


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parse_json(text: str) -> dict[str, Any]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found:
                raise BadRequest(f"{key!r} is stated twice", where=key, cure="keep one of them")
            # A version is text: 2.10 is not 2.1.
            found[key] = getattr(value, "written", str(value)) if key == "version" and _is_number(value) else value
        return found

    def constant(name: str) -> Any:  # noqa: ANN401  # never returns
        raise BadRequest(f"{name} is no number that can be asked for", where="request", cure="give a plain number")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=_Written)
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"this is no JSON: {error.msg}", where=f"line {error.lineno}, column {error.colno}", cure="correct it there"
        ) from error
    except ValueError as error:
        raise BadRequest("a number is too long", where="request", cure="give a plain number") from error
    if not isinstance(value, dict):
        raise BadRequest("the request must be one object", where="request", cure="write {…}")
    return value


# `walltime: -`: a sign for nothing, which YAML would take for the beginning of a list or a key.
_NOTHING = re.compile(r"^(?P<key>[ \t]*[\w.-]+:[ \t]+)(?P<sign>[-?]{1,3})[ \t]*$", re.MULTILINE)


def _parse_yaml(text: str) -> dict[str, Any]:
    text = _NOTHING.sub(r"\g<key>'\g<sign>'", text)
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "request"
        raise NoForm(
            f"this is no YAML: {getattr(error, 'problem', None) or 'it cannot be read'}", where=place,
            cure="correct it there, or put the value into quotes",
        ) from error  # fmt: skip
    value = _plain(node, set(), 0)
    if not isinstance(value, dict):
        raise BadRequest("the request must be one mapping", where="request", cure="write `field: value` lines")
    return value


def _plain(node: yaml.Node | None, seen: set[int], depth: int) -> Any:  # noqa: ANN401  # plain data of any shape
    if node is None:
        return None
    if id(node) in seen:
        raise BadRequest(
            "anchors and aliases are not read", where=f"line {node.start_mark.line + 1}", cure="write it out"
        )
    if depth > _MAX_DEPTH:
        raise BadRequest("the request is nested too deeply", where="request", cure="use the fields of the schema")
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        empty = node.style is None and node.value in ("", "~", "null", "Null", "NULL")
        return None if empty else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, seen, depth + 1) for item in node.value]
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _plain(key_node, seen, depth + 1)
        if not isinstance(key, str):
            raise BadRequest(
                "a field's name must be text", where=f"line {key_node.start_mark.line + 1}", cure="name a field"
            )
        if key in found:
            raise BadRequest(
                f"{key!r} is stated twice", where=f"line {key_node.start_mark.line + 1}", cure="keep one of them"
            )
        found[key] = _plain(value_node, seen, depth + 1)
    return found
