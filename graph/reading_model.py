"""Words that the rules could not read, read by a model: each reading quotes its words and is put as a question."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field, ValidationError

from dragoman.errors import BadRequest
from dragoman.model import JsonValue
from dragoman.proposal import ModelUse
from dragoman.request import JobRequest
from graph.model.conclusion import plain_value
from graph.model.desk import Session
from graph.model.output import read_as, text_of
from graph.model.prompts import prompt
from graph.model.talk import ModelTrouble, Talk, as_data
from graph.reading.answers import apply_patch
from graph.reading.lexicon import PADDING
from graph.reading.reading import Option, Question, Reading

__all__ = ["read_unread"]

_SHAPE = ("nodes", "tasks", "tasks_per_node", "cpus_per_task", "cpus", "gpus", "memory", "exclusive")
_FIELDS = (
    *(f"shapes.0.{name}" for name in _SHAPE),
    *("walltime_s", "software.N.name", "software.N.version", "containers.N.runtimes", "containers.N.image"),
    *("networks.N.fabrics", "networks.N.low_latency", "storage.N.kinds", "storage.N.mount", "mpi", "start_after"),
    *("deadline", "urgent", "objective", "budget", "sites", "sites_not", "account", "queue", "qos", "array", "name"),
)
_MAY_ADD = re.compile("|".join(re.escape(field).replace("N", r"\d{1,2}") for field in _FIELDS))
MOST = 8


class ModelReading(BaseModel):
    """What some words mean."""

    field: str = Field(max_length=64)
    value: Any
    words: str = Field(max_length=500)


class Readings(BaseModel):
    """All of them."""

    readings: list[ModelReading] = Field(default_factory=list, max_length=32)


_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "readings",
        "description": "What the unread words mean. Call it once.",
        "parameters": {
            "type": "object",
            "properties": {
                "readings": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "field": {"type": "string", "description": "one of the fields that are listed"},
                            "value": {"type": "string", "description": "its value, as JSON"},
                            "words": {"type": "string", "description": "the words as they stand"},
                        },
                        "required": ["field", "value", "words"],
                    },
                }
            },
            "required": ["readings"],
        },
    },
}


async def read_unread(
    session: Session, reading: Reading, sites: Collection[str] | None = None
) -> tuple[Reading, ModelUse]:
    """The reading with the model's readings as questions; words that it could not read stay unread.

    A reading may only add, and counts when the person has said so; its origin is `model` then. `sites` are the names of
    the fleet: others are never put to the person.
    """
    talk = Talk(session, 2)  # one, and once more where it is not answered
    given: dict[str, JsonValue] = {
        "unread": [*reading.unread],
        "read_so_far": {key: value for key, value in reading.request.dump().items() if key not in _NOT_SHOWN},
        "fields": [*_FIELDS],
        "now": reading.read_at.isoformat() if reading.read_at else None,
        "time_zone": reading.time_zone,
    }
    try:
        answer = await talk.say(
            [SystemMessage(prompt("reader")), HumanMessage(as_data(given))], [_TOOL], only="readings"
        )
    except ModelTrouble as trouble:
        return reading, talk.use(trouble.outcome)
    found: Readings | None = None
    for call in answer.tool_calls:
        try:
            found = Readings.model_validate(call["args"])
        except ValidationError:
            talk.unreadable += 1
    if found is None:
        found, bad = read_as(text_of(answer.content), Readings)
        talk.unreadable += bad
    questions = _questions(reading, found.readings if found else [], sites)
    quoted = {token for question in questions for token in _tokens(question.words)}
    left = tuple(words for words in reading.unread if not quoted.issuperset(_tokens(words)))
    kept = reading.model_copy(update={"questions": (*reading.questions, *questions), "unread": left})
    return kept, talk.use("ok" if found else "no answer that could be read")


_NOT_SHOWN = ("command", "script", "environment", "inputs", "outputs", "sources")


def _questions(reading: Reading, found: list[ModelReading], sites: Collection[str] | None) -> list[Question]:
    questions: list[Question] = []
    unread = {token for words in reading.unread for token in _tokens(words)}
    for each in found[:MOST]:
        if (
            not _quotes(unread, each.words)
            or not _MAY_ADD.fullmatch(each.field)
            or _stated(reading.request, each.field)
        ):
            continue
        value = plain_value(each.value)
        if each.field in ("sites", "sites_not") and sites is not None and not _all_of(sites, value):
            continue
        try:
            apply_patch(reading.request, {each.field: value})
        except (BadRequest, ValueError):
            continue
        questions.append(
            Question(
                id=f"model-{len(questions) + 1}",
                field=each.field,
                words=each.words,
                text=f"The rules could not read {' '.join(each.words.split())[:200]!r}. A model reads it as"
                f" {each.field} = {str(value)[:200]}. Is that what you mean?",
                options=(Option(label="yes", patch={each.field: value}), Option(label="no, ignore these words")),
                origin="model",
            )
        )
    return questions


def _all_of(sites: Collection[str], value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(name in sites for name in value)


def _tokens(words: str) -> list[str]:
    return re.findall(r"[^\W_][\w.+:/-]*", words.casefold())


def _quotes(unread: Collection[str], words: str) -> bool:
    """Whether words are a quotation of what was not read: nothing of their own but padding, and not padding alone."""
    own = [token for token in _tokens(words) if token not in PADDING or token in unread]
    return bool(own) and all(token in unread for token in own)


def _stated(request: JobRequest, path: str) -> bool:
    """Whether the request has something there already: a model may only add."""
    value: Any = request.dump()
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit():
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return False
    return True
