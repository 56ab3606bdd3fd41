"""What a person may answer to an approval, and how the answer is read, whatever form it came in."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from dragoman.errors import BadRequest
from dragoman.model import JsonObject, Model, Moment
from graph.reading.read import read_request

__all__ = ["ANSWER_SCHEMA", "ApprovalAnswer", "read_answer"]

FORMS = "approve, approve SITE, edit WORDS, refuse REASON, or hold TIME"

_WORDS = {
    "approve": "approve",
    "approved": "approve",
    "refuse": "refuse",
    "reject": "refuse",
    "edit": "edit",
    "hold": "hold",
}
_ALONE = {"yes": "approve", "y": "approve", "ok": "approve", "no": "refuse", "n": "refuse"}
"""Only where nothing follows: `no, at twin` is no refusal."""


class ApprovalAnswer(Model):
    """The answer to an approval. Words do as well: `approve`, `approve SITE`, `edit WORDS`, `refuse`, `hold TIME`."""

    decision: Literal["approve", "refuse", "edit", "hold"] = Field(description="what is to happen")
    site: str = Field(default="", max_length=200, description="with approve: another site of the ranking")
    edit: str | dict[str, Any] = Field(
        default="", description="with edit: words (`but 2 hours, on at most 8 nodes`) or fields that change the request"
    )
    hold_until: Moment | None = Field(
        default=None, description="with hold: when to ask the sites and the person again (ISO 8601 with zone)"
    )
    reason: str = Field(default="", max_length=2000, description="kept with the decision")
    by: str = Field(default="", max_length=200, description="who decides; empty: a person")


ANSWER_SCHEMA: dict[str, Any] = ApprovalAnswer.model_json_schema()
"""What LangGraph shows as the interrupt's `response_schema`."""


def read_answer(raw: JsonObject, *, now: datetime, time_zone: str | None = None) -> ApprovalAnswer:
    """Read an object with a `decision`, words, or JSON in words; other keys of an event are passed over.

    Args:
        raw: as the thread was resumed; bare words are under `answer`.
        now: what times in words count from.
        time_zone: IANA zone of times without one.

    Raises:
        BadRequest: it says nothing that can be done; what and how is in the error. Nothing was changed.

    """
    given = raw if raw.get("decision") is not None else _from_words(raw.get("answer"))
    fields: dict[str, Any] = {
        key: value for key, value in given.items() if key in ApprovalAnswer.model_fields and value is not None
    }
    if isinstance(fields.get("hold_until"), str):
        fields["hold_until"] = _moment(str(fields["hold_until"]), now, time_zone)
    fields.setdefault("by", raw.get("by") or "")
    try:
        answer = ApprovalAnswer.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{first['msg']}", where=where, cure=f"answer {FORMS}") from error
    if (answer.decision == "edit") != bool(answer.edit):
        raise BadRequest("an edit and only an edit needs what to change", where="edit", cure="answer edit WORDS")
    if (answer.decision == "hold") != (answer.hold_until is not None):
        raise BadRequest("a hold and only a hold needs a time", where="hold_until", cure="answer hold TIME")
    return answer


def _from_words(said: object) -> JsonObject:
    if isinstance(said, dict):
        return said
    text = said.strip() if isinstance(said, str) else ""
    if text.startswith("{"):
        try:
            parsed = json.loads(text)
        except ValueError as error:
            raise BadRequest(f"is no JSON: {error}", where="answer", cure=f"answer {FORMS}") from error
        if isinstance(parsed, dict):
            return parsed
    first, _, rest = text.partition(" ")
    word, rest = first.lower().rstrip(":,.;!"), rest.strip()
    decision = _WORDS.get(word) or (None if rest else _ALONE.get(word))
    if decision is None:
        raise BadRequest(f"{str(said)[:80]!r} is no decision", where="answer", cure=f"answer {FORMS}")
    match decision:
        case "approve":
            return {"decision": decision, "site": rest.removeprefix("at ").strip()}
        case "refuse":
            return {"decision": decision, "reason": rest}
        case "edit":
            return {"decision": decision, "edit": rest}
        case _:
            return {"decision": decision, "hold_until": rest.removeprefix("until ").strip() or None}


def _moment(text: str, now: datetime, time_zone: str | None) -> datetime:
    """A time in ISO 8601 with its zone, or in the words that a request's earliest start may be given in."""
    try:
        return TypeAdapter(AwareDatetime).validate_python(text)
    except ValidationError:
        pass
    found = read_request(f"start after {text}", now=now, time_zone=time_zone)
    moment = found.request.start_after
    if moment is None or found.unread or any(question.field == "start_after" for question in found.questions):
        raise BadRequest(f"{text[:80]!r} is no moment", where="hold_until", cure="give it as 2026-12-01T08:00+01:00")
    return moment
