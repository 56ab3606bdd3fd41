"""What of a job order one scheduler can take: the fields of its submit tool, and why the others are not among them.

Asked of the dialect itself: a job with the field is written beside the same job without it. A dialect that refuses it
says so in its own words, and one that would write the same job passes it over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, create_model, model_validator
from pydantic_core import PydanticCustomError

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.model import Model
from dragoman.protocols import Dialect
from providers.translation.translate import words_of
from tools.job_order import JobOrder

__all__ = ["OrderFields", "order_model", "untaken_fields"]

_TRIED: Mapping[str, object] = {
    "queue": "default",
    "account": "default",
    "qos": "default",
    "reservation": "default",
    "array": {"ranges": [{"first": 1, "last": 2}]},
    "components": [{"nodes": 1, "tasks": 1}, {"nodes": 1, "tasks": 1}],
    "dependencies": [{"kind": "afterany", "job_id": "1"}],
    "licenses": ["default"],
    "start_after": "2035-01-01T00:00:00Z",
    "requeue": True,
    "walltime_min_s": 300,
    "image": "docker.io/library/debian:12",
}
"""A harmless value of each field that not every scheduler has."""
_PLAIN: Mapping[str, object] = {
    "tag": "dgm-000000000000-a0",
    "shape": {"nodes": 1, "tasks": 1},
    "walltime_s": 600,
    "work_dir": "/c/work",
    "control_dir": "/c",
    "body": "true\n",
}


class OrderFields(Model):
    """The base of an order for one scheduler."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    untaken: ClassVar[Mapping[str, str]] = {}
    """Field that this scheduler does not take to its own words why."""

    @model_validator(mode="before")
    @classmethod
    def _said_why(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        for name in cls.untaken:
            if given.get(name):
                raise PydanticCustomError("untaken", "{why}", {"field": name, "why": cls.untaken[name]})
        # What is given empty is left out.
        return {name: value for name, value in given.items() if name not in cls.untaken}


def untaken_fields(dialect: Dialect) -> dict[str, str]:
    """Fields of an order that a scheduler does not take, and why; a dialect that writes no plain job is not judged."""
    words = words_of(dialect)
    title = words.title if words is not None else dialect.name
    found: dict[str, str] = {}
    try:
        plain = _written(dialect, _PLAIN)
    except BadRequest:
        return found
    for name, value in _TRIED.items():
        try:
            if _written(dialect, {**_PLAIN, name: value}) == plain:
                found[name] = f"{title} has no equivalent of {name} and would pass it over (leave it out)"
        except BadRequest as error:
            if error.where.startswith(name):
                found[name] = f"{error.what} ({error.cure})"
    return found


def _written(dialect: Dialect, fields: Mapping[str, object]) -> tuple[str, tuple[str, ...], bytes | None]:
    spec = JobSpec.model_validate(fields)
    command = dialect.submit_command(spec, "/c/script")
    return dialect.render(spec), command.argv, command.stdin


def order_model(dialect: Dialect) -> type[OrderFields]:
    """The type of an order for this scheduler: what it does not take is no field, and is refused with its words."""
    untaken = untaken_fields(dialect)
    fields: dict[str, Any] = {
        name: (field.annotation, field) for name, field in JobOrder.model_fields.items() if name not in untaken
    }
    name = f"{dialect.name.capitalize()}Order"
    made = create_model(name, __base__=OrderFields, __module__=__name__, __doc__=JobOrder.__doc__, **fields)
    made.untaken = untaken
    return made
