"""Puts what was stated later over what was stated before: edits over a request, words over a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import Dependency, JobRequest, Source
from dragoman.shape import Shape

__all__ = ["build_request", "merge_fields", "refusal"]

_TOGETHER = (
    {"nodes", "nodes_max"}, {"tasks", "tasks_per_node"}, {"cpus", "cpus_per_node", "cpus_per_task"},
)  # fmt: skip
"""Counts of which a later statement replaces all: `at most 8 nodes` after `16 nodes` leaves no 16."""
_BY_NAME = {"software": "name", "environment": "name", "inputs": "name", "outputs": "pattern"}
_ADDED = {"storage", "sites_not", "licenses", "native_options", "notes"}


def refusal(error: ValidationError, *, where: str = "") -> BadRequest:
    """The first complaint of a model as an error with its field and a cure; never with the value, it may be secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("function-", "tuple[")))
    place = ".".join(part for part in (where, path) if part) or "request"
    cures = {
        "greater_than": "give a positive number", "int_parsing": "give a whole number", "missing": "add the field",
        "string_pattern_mismatch": "use plain characters: no control characters, no leading sign",
        "literal_error": "use one of the values named", "timezone_aware": "add the time zone, such as +01:00",
    }  # fmt: skip
    return BadRequest(first["msg"], where=place, cure=cures.get(first["type"], "see the request schema"))


def build_request(fields: Mapping[str, Any], *, where: str = "") -> JobRequest:
    """A request from its fields.

    Raises:
        BadRequest: naming the field that cannot be used.

    """
    try:
        return JobRequest.model_validate(dict(fields))
    except ValidationError as error:
        raise refusal(error, where=where) from error


def _merged_shape(base: Shape, new: Shape) -> Shape:
    stated = {name: getattr(new, name) for name in new.model_fields_set if getattr(new, name) is not None}
    kept = {name: getattr(base, name) for name in base.model_fields_set}
    for group in _TOGETHER:
        if group & stated.keys():
            ours = group & stated.keys()
            kept = {name: value for name, value in kept.items() if name not in group or _stays(name, ours)}
    return Shape(**{**kept, **stated})


def _stays(name: str, stated: set[str]) -> bool:
    """Cores per task stay beside a new count of something else than cores in total."""
    return name == "cpus_per_task" and "cpus" not in stated and name not in stated


def _waited_for(base: tuple[Dependency, ...], new: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
    """Of a job that both name, what is waited for is said by the later."""
    named = {(each.job_id, each.thread_id) for each in new} - {(None, None)}
    kept = (each for each in base if (each.job_id, each.thread_id) not in named)
    return tuple(dict.fromkeys((*kept, *new)))


def merge_fields(base: JobRequest, new: JobRequest) -> JobRequest:
    """`base` with everything that `new` states; lists of named things are joined by name.

    Raises:
        BadRequest: if the two do not go together.

    """
    stated = {name: getattr(new, name) for name in new.model_fields_set if getattr(new, name) not in (None, ())}
    stated.pop("schema_version", None)
    fields: dict[str, Any] = {name: getattr(base, name) for name in base.model_fields_set}
    if "command" in stated:
        fields.pop("script", None)
    if "script" in stated:
        fields.pop("command", None)
    if {"command", "script"} & stated.keys():
        fields.pop("launch_line", None)
        for source in base.sources:
            if source.origin == "default" and source.field in ("recipe", "launch"):
                fields.pop(source.field, None)  # it was made for the command before
    for name, value in stated.items():
        if name == "shapes" and base.shapes and len(value) == 1:
            fields[name] = tuple(_merged_shape(shape, value[0]) for shape in base.shapes)
        elif name == "shapes" and base.components:
            raise BadRequest(
                "the job has several components, and it is not clear which one is changed",
                where="components", cure="edit the script or the components",
            )  # fmt: skip
        elif name in _BY_NAME:
            key = _BY_NAME[name]
            names = {str(getattr(item, key)).lower() for item in value}
            old = tuple(item for item in getattr(base, name) if str(getattr(item, key)).lower() not in names)
            fields[name] = old + value
        elif name == "dependencies":
            fields[name] = _waited_for(base.dependencies, value)
        elif name in _ADDED:
            fields[name] = tuple(dict.fromkeys(getattr(base, name) + value))
        elif name != "sources":
            fields[name] = value
    if new.sites_not and "sites" in fields:
        fields["sites"] = tuple(site for site in fields["sites"] if site not in new.sites_not)
    replaced = {source.field for source in new.sources}
    kept: tuple[Source, ...] = tuple(source for source in base.sources if source.field not in replaced)
    fields["sources"] = kept + new.sources
    return build_request(fields)
