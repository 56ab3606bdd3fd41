"""How words become rows and rows become words again."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeVar

from psycopg.types.json import Jsonb
from pydantic import JsonValue, ValidationError
from pydantic_core import PydanticSerializationError

from checkpoints.storable import MARK, storable
from dragoman.errors import BadRequest
from dragoman.model import JsonObject, Model

__all__ = ["as_json", "exactly", "stored", "stored_texts"]

M = TypeVar("M", bound=Model)


def as_json(value: JsonValue) -> Jsonb:
    """Any JSON value as a parameter, made storable."""
    return Jsonb(storable(value))


def stored(model: Model, *, without: tuple[str, ...] = ()) -> Jsonb:
    """A model as a parameter, made storable so that it can still be read back as the same model.

    Text grows by a mark where a character of it was replaced; where it is too long for its field then, it is cut before
    the mark.

    Args:
        model: what to store.
        without: fields that have columns of their own.

    Raises:
        BadRequest: a field that takes only certain text (a name, a path) holds characters that cannot be stored.

    """
    dumped = {name: value for name, value in model.dump().items() if name not in without}
    clean = storable(dumped)
    if clean is dumped:
        return Jsonb(dumped)
    assert isinstance(clean, dict)  # noqa: S101 - storable keeps the kind of a value
    try:
        type(model).model_validate({**model.dump(), **clean})
    except ValidationError as error:
        for problem in error.errors():
            longest = problem.get("ctx", {}).get("max_length")
            if problem["type"] != "string_too_long" or longest is None:
                where = ".".join(str(part) for part in problem["loc"])
                raise BadRequest("holds characters that cannot be stored", where=where, cure="remove them") from error
            _cut(clean, problem["loc"], longest)
    return Jsonb(clean)


_DOUBTFUL = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def stored_texts(models: Sequence[Model]) -> str:
    """Many models, as `stored`, in one JSON array as text.

    An array of jsonb parameters would be escaped character by character in the client.
    """
    return "[" + ",".join(_text(model) for model in models) + "]"


def _text(model: Model) -> str:
    try:
        text = model.model_dump_json(exclude_defaults=True)
    except PydanticSerializationError:
        text = ""  # half of a surrogate pair
    return json.dumps(stored(model).obj) if not text or _DOUBTFUL.search(text) else text


def exactly(model: Model, *, without: tuple[str, ...] = ()) -> Jsonb:
    """A model as a parameter, for what is acted on (a script, paths): stored as it is or not at all.

    Raises:
        BadRequest: it holds characters that PostgreSQL cannot store.

    """
    dumped = {name: value for name, value in model.dump().items() if name not in without}
    if storable(dumped) is not dumped:
        raise BadRequest(
            "holds the character NUL, or half of a surrogate pair",
            where=_first_unstorable(dumped),
            cure="remove it from the script, name or path",
        )
    return Jsonb(dumped)


def _first_unstorable(value: JsonValue, at: str = "") -> str:
    """Dotted path of the first text that cannot be stored."""
    parts: list[tuple[str, JsonValue]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = [(str(number), item) for number, item in enumerate(value)]
    for name, item in parts:
        if storable(name) is not name or (storable(item) is not item and not isinstance(item, dict | list)):
            return f"{at}.{name}".lstrip(".")
        if storable(item) is not item:
            return _first_unstorable(item, f"{at}.{name}".lstrip("."))
    return at


def _cut(clean: JsonObject, place: tuple[int | str, ...], longest: int) -> None:
    """Shorten one text inside, keeping the mark at its end."""
    holder: object = clean
    for part in place[:-1]:
        holder = holder[part]  # type: ignore[index]
    text = holder[place[-1]]  # type: ignore[index]
    holder[place[-1]] = text[: max(0, longest - len(MARK))] + MARK  # type: ignore[index]
