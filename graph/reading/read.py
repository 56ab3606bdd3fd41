"""Reads a request, whatever form it comes in: words, JSON, YAML, or a job script with or without words about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest
from dragoman.shape import Shape
from graph.reading.commands import read_commands
from graph.reading.counts import read_counts
from graph.reading.draft import Draft
from graph.reading.environment import read_environment, variable
from graph.reading.files import read_files
from graph.reading.leftover import read_leftover
from graph.reading.line import Line, check_text
from graph.reading.reading import Question, Reading
from graph.reading.shape import resolve_shape
from graph.reading.software import read_software
from graph.reading.times import read_times
from graph.reading.wishes import read_wishes

__all__ = ["read_request"]

ScriptReader = Callable[[str], ScriptReading]


def read_request(
    given: str | Mapping[str, Any],
    *,
    now: datetime,
    time_zone: str | None = None,
    options: Mapping[str, Any] | None = None,
    script_reader: ScriptReader | None = None,
) -> Reading:
    """The request that a text or form states, with what must be asked back.

    Raises:
        BadRequest: if it cannot be used as it stands; a text is never opened as a file.

    """
    if not isinstance(given, str):
        raise BadRequest("not a text", where="request")
    check_text(given)
    draft = read_text(given)
    return finish(draft, now=now, time_zone=time_zone)


def read_text(text: str) -> Draft:
    """Every rule over one text; the order decides who sees a stretch first."""
    draft = Draft(Line(text))
    read_commands(draft)
    read_environment(draft)
    read_files(draft)
    read_wishes(draft)
    read_times(draft)
    read_counts(draft)
    read_software(draft)
    read_leftover(draft)
    return draft


def finish(draft: Draft, *, now: datetime, time_zone: str | None) -> Reading:
    """The reading of a draft: counts related, launcher options merged, missing work asked for."""
    shape = resolve_shape(draft)
    launched = draft.fields.pop("launch", None)
    if launched is not None:
        launch, _item, _words = launched
        for name, value in launch.shape.items():
            shape.setdefault(name, value)
        for name, value in launch.fields.items():
            draft.fields.setdefault(name, value)
        for name, value in launch.environment:
            draft.fields.setdefault("environment", []).append(variable(draft.secrets, name, value))
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in draft.fields.items()}
    if shape:
        fields["shapes"] = (Shape(**shape),)
    try:
        request = JobRequest(**fields, sources=tuple(draft.sources))
    except ValidationError as error:
        raise BadRequest(str(error.errors()[0]["msg"]), where="request") from error
    if not (request.command or request.script or request.software or request.containers or request.shapes):
        draft.questions.append(Question(id="command", field="command", words="", text="What should be run?"))
    return Reading(
        request=request, questions=tuple(draft.questions), defaults=tuple(draft.defaults),
        unread=tuple(draft.unread), secrets=draft.secrets, read_at=now, time_zone=time_zone,
    )  # fmt: skip
