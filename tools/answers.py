"""What the tools give back: JSON with the same fields each time, and errors as data with their cure."""

from __future__ import annotations

from pydantic import ValidationError

from dragoman.errors import BadRequest, DragomanError, SubmitRefused
from dragoman.model import JsonObject, Model
from dragoman.observation import Observation

__all__ = ["of_error", "of_invalid", "of_model", "of_observation", "tool_name"]


def tool_name(*parts: str) -> str:
    """A name that every model API takes: letters, digits and underscores, at most 64."""
    words = "_".join(parts)
    return "".join(character if character.isalnum() and character.isascii() else "_" for character in words)[:64]


def of_observation(observation: Observation) -> JsonObject:
    """An observation as evidence: its id can be cited."""
    return observation.model_dump(mode="json", exclude_defaults=True)


def of_model(model: Model) -> JsonObject:
    """A typed answer."""
    return {"ok": True, "answer": model.model_dump(mode="json", exclude_defaults=True)}


def of_invalid(error: ValidationError | object) -> JsonObject:
    """Arguments that are none of the tool's: the field and the cure, and nothing was done."""
    found = error.errors(include_url=False, include_input=False) if isinstance(error, ValidationError) else []
    words = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:5]) or str(error)[:500]
    named = found[0].get("ctx", {}).get("field") if found else None  # of a check that looks at a whole order
    where = ".".join(map(str, (*found[0]["loc"], *([named] if named else [])))) if found else "arguments"
    return of_error(BadRequest(words, where=where, cure="call again with what the tool's schema asks for"))


def of_error(error: DragomanError) -> JsonObject:
    """An error as data: what, where, the cure, and whether the same call may succeed later."""
    answer: JsonObject = {
        "ok": False,
        "error": type(error).__name__,
        "what": error.what,
        "where": error.where,
        "cure": error.cure,
        "transient": error.transient,
    }
    if isinstance(error, SubmitRefused):
        answer["reason_class"] = error.reason_class
    return answer
