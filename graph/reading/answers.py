"""Answers to questions and edits of a request, in words or as patches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dragoman.errors import BadRequest
from dragoman.model import JsonValue
from dragoman.request import JobRequest, Source
from dragoman.secrets import redact
from dragoman.shown_secrets import refuse_shown
from graph.reading.commands import split_command
from graph.reading.merge import build_request, merge_fields
from graph.reading.read import read_request
from graph.reading.reading import Option, Question, Reading
from graph.reading.submit_lines import is_submit_line

__all__ = ["apply_answer", "merge_edit"]

_REMOVED = {
    r"gpus?": "shapes.*.gpus", r"deadline": "deadline", r"budget(?: limit)?": "budget",
    r"array": "array",
    r"dependenc(?:y|ies)": "dependencies", r"containers?": "containers",
    r"memory(?: limit| requirement)?": "shapes.*.memory",
    r"account|project": "account", r"queue|partition": "queue", r"sites?(?: restriction)?": "sites",
    r"inputs?": "inputs",
    r"outputs?|results": "outputs", r"(?:time|walltime) limit": "walltime_s", r"environment": "environment",
    r"start (?:time|date)": "start_after",
}  # fmt: skip
_REMOVAL = re.compile(
    r"(?i)(?<![\w-])(?:no|without(?: an?y?| the)?|drop the|remove the|forget the"
    r"|any) (?P<what>{})(?: any ?more)?(?![\w-])".format("|".join(f"(?:{words})" for words in _REMOVED))
)


def _set(holder: Any, parts: list[str], value: JsonValue) -> None:  # noqa: ANN401  # lists and mappings by turns
    """Set one place in nested lists and mappings, making those that are missing."""
    key: Any = parts[0]
    if isinstance(holder, list):
        key = int(parts[0])
        if not 0 <= key < 64:
            raise ValueError(parts[0])
        holder.extend({} for _ in range(key + 1 - len(holder)))
    elif not isinstance(holder, dict):
        raise TypeError(parts[0])
    if len(parts) > 1:
        if isinstance(holder, dict) and key not in holder:
            holder[key] = [] if parts[1].isdigit() else {}
        _set(holder[key], parts[1:], value)
    elif value is None and isinstance(holder, dict):
        holder.pop(key, None)
    else:
        holder[key] = value


def apply_patch(request: JobRequest, patch: Mapping[str, JsonValue]) -> JobRequest:
    """Set dotted paths of a request; None clears.

    Raises:
        BadRequest: if the result is no valid request.

    """
    data: dict[str, Any] = request.model_dump(mode="json", exclude_defaults=True)
    for path, value in patch.items():
        try:
            _set(data, path.split("."), value)
        except (ValueError, TypeError, AttributeError) as error:
            raise BadRequest(
                "there is no such place in a request", where=path[:80], cure="write it like shapes.0.nodes"
            ) from error
    if "command" in patch:
        data.pop("script", None)
    if "script" in patch:
        data.pop("command", None)
    return build_request(data)


def apply_answer(
    reading: Reading | JobRequest, question: str | Question, answer: str | int | Mapping[str, Any]
) -> Reading:
    """The reading with one question answered: by a label, its number from 1, a patch, or one's own words.

    Raises:
        BadRequest: if there is no such question, or the answer does not settle it.

    """
    if isinstance(reading, JobRequest):
        reading = Reading(request=reading, questions=(question,) if isinstance(question, Question) else ())
    asked = (
        question if isinstance(question, Question) else next((q for q in reading.questions if q.id == question), None)
    )
    if asked is None:
        raise BadRequest(
            f"there is no question {str(question)[:64]!r}", where="answer",
            cure=f"open questions: {', '.join(q.id for q in reading.questions) or 'none'}",
        )  # fmt: skip
    left = tuple(q for q in reading.questions if q.id != asked.id)
    chosen = None if isinstance(answer, Mapping) else _option(asked, answer)
    if isinstance(answer, Mapping) or chosen is not None:
        patch: Mapping[str, Any] = chosen.patch if chosen is not None else _patch_of(answer)
        words = chosen.label if chosen is not None else str(patch)
        request = apply_patch(reading.request, patch)
        source = Source(field=asked.field, words=redact(words)[:2000], origin="person")
        if asked.origin == "model" and chosen is not None:
            if not chosen.patch:
                return reading.model_copy(update={"questions": left})
            source = Source(field=asked.field, words=asked.words, origin="model")
        request = request.model_copy(update={"sources": (*request.sources, source)})
        return reading.model_copy(update={"request": request, "questions": left})
    return _own_words(reading, asked, str(answer).strip(), left)


def _patch_of(answer: object) -> dict[str, Any]:
    return {str(path): value for path, value in answer.items()} if isinstance(answer, Mapping) else {}


def _option(asked: Question, answer: str | int) -> Option | None:
    text = str(answer).strip().casefold().rstrip(".)")
    for option in asked.options:
        if option.label.casefold() == text:
            return option
    if text.isdigit():
        having = [o for o in asked.options if re.search(rf"(?<![\w.,:]){text}(?![.,:]?\d)", o.label.casefold())]
        if len(having) > 1:
            raise BadRequest(
                f"{text} can be any of these", where="answer", cure=" / ".join(option.label for option in asked.options)
            )
        if having:
            return having[0]  # the value counts before the number of the option
        return asked.options[int(text) - 1] if 1 <= int(text) <= len(asked.options) else None
    close = [
        option
        for option in asked.options
        if text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", option.label.casefold())
    ]
    if not close and re.fullmatch(r"(?:per|each|on each|for each) ?\w*", text):
        unit = text.split()[-1]
        close = [option for option in asked.options if f"each {unit}" in option.label]
    return close[0] if len(close) == 1 else None


def _own_words(reading: Reading, asked: Question, answer: str, left: tuple[Question, ...]) -> Reading:
    now, zone = reading.read_at or datetime.now(UTC), reading.time_zone
    labels = " / ".join(option.label for option in asked.options)
    if not asked.free or not answer:
        raise BadRequest(
            f"{answer[:80]!r} is no answer to {asked.id}", where="answer", cure=labels or "say it in words"
        )
    base = reading.model_copy(update={"questions": left})
    if asked.field == "command":
        return _command(base, asked, answer, now, zone)
    tries = [answer, f"{asked.words} {answer}"]
    if asked.field in ("deadline", "start_after"):
        word = "by" if asked.field == "deadline" else "after"
        tries += [f"{word} {answer}"]
    if answer.isdigit() and asked.field.endswith("gpus"):
        tries.insert(0, f"{answer} GPUs per node")
    for text in tries:
        found = read_request(text, now=now, time_zone=zone)
        name = asked.field.split(".")[0]
        if getattr(found.request, name, None) not in (None, ()) and not [
            q for q in found.questions if q.field == asked.field
        ]:
            return _merge(base, found)
    raise BadRequest(f"{answer[:80]!r} does not answer {asked.text!r}", where="answer", cure=labels or "say it in full")


def _command(base: Reading, asked: Question, answer: str, now: datetime, zone: str | None) -> Reading:
    """What is to be run, in one's own words: all of it is taken, or none."""
    quoted = re.fullmatch(r"`([^`\n]+)`", answer)
    if quoted:
        return _merge(base, read_request({"command": quoted[1].strip()}, now=now, time_zone=zone))
    found = read_request(answer, now=now, time_zone=zone)
    if found.request.command or found.request.script or found.request.software:
        return _merge(base, found)
    stuck = [question for question in found.questions if question.field == "command" and question.words]
    if stuck:
        raise BadRequest(f"{answer[:80]!r}: {stuck[0].text}", where="answer", cure="put the command between backticks")
    refuse_shown(answer, "answer")  # words that tell a secret are no command
    argv = split_command(answer)
    if not argv or is_submit_line(argv):
        raise BadRequest(f"{answer[:80]!r} is no command", where="answer", cure="write the command line")
    return _merge(base, Reading(request=JobRequest(command=argv)))


def _merge(base: Reading, new: Reading) -> Reading:
    """One reading over another; a missing command is asked for only where both lack one."""
    request = merge_fields(base.request, new.request)
    settled = {source.field for source in new.request.sources}
    work = request.command or request.script or request.software or request.containers or request.shapes
    kept = tuple(
        q for q in base.questions if q.field not in settled and not (q.id == "command" and not q.options and work)
    )
    taken = {q.id for q in kept}
    added = tuple(
        q if q.id not in taken else q.model_copy(update={"id": f"{q.id[:58]}.edit"})
        for q in new.questions if not (q.id == "command" and not q.options and work)
    )  # fmt: skip
    return Reading(
        request=request, questions=kept + added, defaults=tuple(dict.fromkeys(base.defaults + new.defaults)),
        unread=tuple(dict.fromkeys(base.unread + new.unread)), secrets={**base.secrets, **new.secrets},
        read_at=new.read_at or base.read_at, time_zone=base.time_zone or new.time_zone,
    )  # fmt: skip


def merge_edit(
    request: JobRequest | Reading,
    edit: str | Mapping[str, Any],
    *,
    now: datetime | None = None,
    time_zone: str | None = None,
    sites: tuple[str, ...] = (),
) -> Reading:
    """A request with an edit over it: `but 2 hours, on at most 8 nodes`, `no deadline`, or a form.

    Raises:
        BadRequest: if the edit cannot be used; the request is not changed then.

    """
    base = request if isinstance(request, Reading) else Reading(request=request)
    moment = now or base.read_at or datetime.now(UTC)
    zone = time_zone or base.time_zone
    changed, text = base.request, edit
    if isinstance(edit, str):
        removed, text = _removals(edit)
        for field in removed:
            changed = _without(changed, field)
        if not re.search(r"\w", text):
            return base.model_copy(update={"request": changed})
    new = read_request(text, now=moment, time_zone=zone, sites=sites, base=changed.shape)
    return _merge(base.model_copy(update={"request": changed}), new)


def _removals(edit: str) -> tuple[list[str], str]:
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(
            next(path for words, path in _REMOVED.items() if re.fullmatch(words, match["what"], re.IGNORECASE))
        )
        return " "

    return found, _REMOVAL.sub(take, edit)


def _without(request: JobRequest, path: str) -> JobRequest:
    name = path.rsplit(".", 1)[-1]
    sources = tuple(s for s in request.sources if not s.field.endswith(name))
    if path.startswith("shapes."):
        shapes = tuple(shape.model_copy(update={name: None}) for shape in request.shapes)
        return request.model_copy(update={"shapes": tuple(dict.fromkeys(shapes)), "sources": sources})
    empty = JobRequest.model_fields[name].default
    return request.model_copy(update={name: empty, "sources": sources})
