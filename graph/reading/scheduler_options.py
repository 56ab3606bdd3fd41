"""What a scheduler's own options say, in a script, a submit line or by themselves, as the reader of its scripts has it.

Secret values go to the secret store, options that show one are not kept, and of the others it is told what becomes of
them.
"""

from __future__ import annotations

from typing import Any

from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest, Source
from dragoman.secrets import redact
from graph.reading.draft import Draft
from graph.reading.environment import variable

__all__ = ["state_options", "told_of", "without_secret_values"]

_OF_THE_SCRIPT = {
    "script", "script_dialect", "command", "shapes", "components", "sources", "schema_version", "launch_line",
}  # fmt: skip


def without_secret_values(secrets: dict[str, str], request: JobRequest) -> JobRequest:
    """The request with the values of its secret variables in `secrets`, and without options and words that show one."""
    variables = tuple(
        item if item.value is None else variable(secrets, item.name, item.value) for item in request.environment
    )
    options = tuple(item for item in request.native_options if redact(item) == item)
    sources = tuple(item.model_copy(update={"words": redact(item.words)}) for item in request.sources)
    changed = {"environment": variables, "native_options": options, "sources": sources}
    return request.model_copy(
        update={name: value for name, value in changed.items() if value != getattr(request, name)}
    )


def told_of(reading: ScriptReading) -> tuple[str, ...]:
    """A sentence for each option that another scheduler will not be given."""
    own = set(reading.request.native_options)
    return tuple(
        f"for its own kind of scheduler only: {item}" if item in own else f"not carried over: {redact(item)}"
        for item in reading.not_carried
        if item not in own or redact(item) == item
    )


def state_options(
    draft: Draft, reading: ScriptReading, words: str, start: int
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The fields of the shape and of the request that options state, told and with their words in the draft.

    None where they make a job of several parts, which is left for the person.
    """
    for sentence in told_of(reading):
        draft.default(sentence)
    request = without_secret_values(draft.secrets, reading.request)
    if request.components or len(request.shapes) > 1:
        draft.unread.append(words)
        return None
    shape = {name: getattr(request.shape, name) for name in request.shape.model_fields_set}
    stated = {name: getattr(request, name) for name in request.model_fields_set - _OF_THE_SCRIPT}
    draft.sources += [
        Source(field=path, words=words, origin="text", start=start)
        for path in (*(f"shapes.0.{name}" for name in shape), *stated)
    ]
    return shape, stated
