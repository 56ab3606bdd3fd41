"""Reads a request, whatever form it comes in: words, JSON, YAML, or a job script with or without words about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest
from dragoman.said_secrets import said_secrets
from dragoman.secrets import HIDDEN, is_secret_name, redact
from dragoman.shape import Shape
from graph.reading.arrays import read_arrays
from graph.reading.background import hide_failures, hide_stories
from graph.reading.changes import line_with, read_changes, without_outdone, words_change
from graph.reading.choices import read_preference, resolve_alternatives, resolve_components
from graph.reading.commands import read_commands, read_last_word, read_perhaps_command, settle_submit_line
from graph.reading.counts import read_counts, read_scaled_counts
from graph.reading.document import NoForm, looks_like_form, parse_document
from graph.reading.doubtful import ask_about_doubtful
from graph.reading.draft import Draft
from graph.reading.environment import read_environment, variable
from graph.reading.files import read_files
from graph.reading.forms import FORM_FIELDS, read_form
from graph.reading.gpu_facts import read_some_gpus
from graph.reading.gpus import read_gpus
from graph.reading.jobs_before import read_jobs_before
from graph.reading.kept import refuse_secrets, refuse_secrets_of_script
from graph.reading.labelled_software import read_labelled_software
from graph.reading.launchers import Launch
from graph.reading.leftover import read_leftover, read_options
from graph.reading.line import Line, check_text, check_words
from graph.reading.loose_options import read_loose_options
from graph.reading.memory import read_memory, read_space
from graph.reading.merge import build_request, merge_fields, refusal
from graph.reading.moments import read_moments
from graph.reading.nature import hide_named_measures
from graph.reading.only_paths import is_path, only_a_path
from graph.reading.particulars import read_particulars
from graph.reading.past import drop_what_was
from graph.reading.past_labels import tell_past_labels
from graph.reading.people import hide_people
from graph.reading.places import read_exclusive, read_places
from graph.reading.platform import read_platform
from graph.reading.quoted import without_quoted_lines
from graph.reading.reading import Option, Question, Reading
from graph.reading.scheduler_options import told_of, without_secret_values
from graph.reading.script_modules import modules_of
from graph.reading.script_words import only_directives
from graph.reading.scripts import directive, find_script, without_secrets
from graph.reading.shape import resolve_shape
from graph.reading.signature import hide_signature
from graph.reading.sites import read_sites, read_unknown_sites
from graph.reading.software import read_software
from graph.reading.times import read_times
from graph.reading.wishes import read_wishes

__all__ = ["ScriptReader", "read_request"]

ScriptReader = Callable[[str], ScriptReading]
_WORK = {"command", "software", "script"}
_NAME = re.compile(r"(?=\D*[A-Za-z])(?=.*\d|.+[A-Z])[A-Za-z][\w.+-]*\w")


def read_request(
    given: str | Mapping[str, Any],
    *,
    now: datetime,
    time_zone: str | None = None,
    options: Mapping[str, Any] | None = None,
    script_reader: ScriptReader | None = None,
    sites: Sequence[str] = (),
    base: Shape | None = None,
) -> Reading:
    """The request that a text or form states, with what must be asked back.

    Args:
        given: words, JSON, YAML or a job script, or a mapping. A text is never opened as a file.
        now: the moment that `tomorrow` is counted from, with its zone.
        time_zone: IANA name of the person's zone, for times without one.
        options: fields stated apart (command line), which count before the text.
        script_reader: reads a job script; without it directives stay unread.
        sites: names of the fleet, so that `on frontier` is understood.
        base: the shape that an edit is read against.

    Raises:
        BadRequest: if it cannot be used as it stands, or shows a secret where it would be stored.

    """
    if now.tzinfo is None:
        raise BadRequest("the current time has no zone", where="now", cure="give an aware datetime")
    if isinstance(given, str):
        check_text(given)
        reading = _read_string(given, now, time_zone, script_reader, sites, base)
    elif isinstance(given, Mapping):
        reading = _read_mapping(given, now, time_zone, "form")
    else:
        raise BadRequest("a request is a text or a mapping", where="request", cure="give words, JSON, YAML or a script")
    if options:
        reading = over(reading, _read_mapping(options, now, time_zone, "option"))
    reading = _ask_for_work(reading, given)
    refuse_secrets(reading, given)
    return reading


def _read_string(
    text: str, now: datetime, time_zone: str | None, script_reader: ScriptReader | None,
    sites: Sequence[str], base: Shape | None,
) -> Reading:  # fmt: skip
    script = find_script(text)
    if script is not None:
        reading = _read_script(script[0], script_reader, now, time_zone)
        if re.search(r"\w", script[1]):
            words = _read_words(script[1], now, time_zone, sites, reading.request.shape, script_reader, reading.request)
            reading = over(reading, words)
        return reading
    if looks_like_form(text, FORM_FIELDS):
        try:
            return _read_mapping(parse_document(text), now, time_zone, "form")
        except NoForm:
            if text.lstrip().startswith(("{", "[")) or "\n " in text or re.search(r":[ \t]+[\[{\"']", text):
                raise  # a document, not a note with labels of its own
    if is_path(text.strip()):
        return only_a_path(text.strip(), now, time_zone)
    return _read_words(text, now, time_zone, sites, base, script_reader)


def _read_words(
    text: str, now: datetime, time_zone: str | None, sites: Sequence[str], base: Shape | None,
    script_reader: ScriptReader | None, known: JobRequest | None = None,
) -> Reading:  # fmt: skip
    """Every rule over one text, which may be about a script's request; the order decides who sees a stretch first."""
    check_words(text)
    text, quoted = without_quoted_lines(text)
    draft = Draft(Line(text), now, time_zone, known=known)
    told = _by_rules(draft, text, sites, script_reader, stories=False)
    if told and not _WORK & draft.fields.keys():
        whole = Draft(Line(text), now, time_zone, known=known)
        _by_rules(whole, text, sites, script_reader, stories=True)
        if _WORK & whole.fields.keys() or _names_left(whole) - _names_left(draft):
            draft = whole  # what is to be run stands in the story, or may
    if quoted:
        draft.default("quoted lines of an earlier mail (`>`) are not read")
    return _finish(draft, dict(draft.fields), base)


def _names_left(draft: Draft) -> set[str]:
    """Words that look like names of programs, and that no rule has read."""
    left = (draft.line.words(*match.span()) for match in re.finditer(r"[^\s\x00,;:!?()]+", draft.line.open))
    return {word for word in left if _NAME.fullmatch(word)}


def _by_rules(
    draft: Draft, text: str, sites: Sequence[str], script_reader: ScriptReader | None, *, stories: bool
) -> bool:
    """Apply every rule; True if sentences were hidden as stories."""
    read_commands(draft, script_reader)
    read_loose_options(draft, script_reader)
    read_options(draft)
    read_environment(draft)
    draft.unread += [redact(words) for words in draft.line.hide_long()]
    for start, value, end in said_secrets(text, is_secret_name):
        draft.unread.append(f"{redact(text[start:value])}{HIDDEN}")
        draft.line.claim_text(start, end)
    hide_signature(draft, sites)
    hide_people(draft, sites)
    told = not stories and hide_stories(draft)
    tell_past_labels(draft)
    read_changes(draft)
    read_particulars(draft)
    read_jobs_before(draft)
    read_arrays(draft)
    read_moments(draft)
    read_wishes(draft)
    hide_failures(draft)
    read_platform(draft)
    read_space(draft)
    read_files(draft, sites)
    read_places(draft)
    read_sites(draft, sites)
    read_preference(draft)
    read_scaled_counts(draft)
    read_gpus(draft)
    read_memory(draft)
    read_times(draft)
    read_counts(draft)
    read_some_gpus(draft)
    read_exclusive(draft)
    read_last_word(draft)
    read_perhaps_command(draft)
    hide_named_measures(draft)
    read_labelled_software(draft)
    read_software(draft)
    read_unknown_sites(draft)
    return told


def _read_mapping(given: Mapping[str, Any], now: datetime, time_zone: str | None, origin: Any) -> Reading:  # noqa: ANN401  # a literal
    draft = Draft(Line(""), now, time_zone, origin=origin)
    fields = read_form(given, draft)
    fields.update({name: draft.fields[name] for name in ("launched",) if name in draft.fields})
    return _finish(draft, fields, None)


def _finish(draft: Draft, fields: dict[str, Any], base: Shape | None) -> Reading:
    """The reading of a draft: counts related, launcher options merged."""
    shape: dict[str, Any] = fields.pop("shape", {})
    drop_what_was(draft)
    context = _context(shape, base)
    components = resolve_components(draft, context)
    choices = [] if components else resolve_alternatives(draft, context)
    for part in (draft, *draft.parts):
        if part is not draft or not (components or choices):
            shape.update(resolve_shape(part, context))
        if part is not draft:
            draft.questions += part.questions
            draft.defaults += part.defaults
            draft.unread += part.unread
    settle_submit_line(draft, fields)
    read_leftover(draft)
    ask_about_doubtful(draft, fields)
    launch: Launch | None = fields.pop("launched", None)
    if launch is not None:
        _launched(draft, fields, shape, launch)
    for name in ("local_disk_bytes", "exclusive"):
        if name in fields:
            shape[name] = fields.pop(name)
    for part in (draft, *draft.parts):
        for path in part.contested:
            (shape if path.startswith("shapes.0.") else fields).pop(path.removeprefix("shapes.0."), None)
            if path == "shapes.0.nodes":
                shape.pop("nodes_max", None)
    alternative = fields.pop("alternative", None)
    _drop_visible_secrets(draft, fields)
    if components:
        fields["components"] = tuple(each for one in components for each in _shapes({**shape, **one}, None))
    elif choices:
        fields["shapes"] = tuple(each for one in choices for each in _shapes({**shape, **one}, alternative))
    elif shape:
        fields["shapes"] = _shapes(shape, alternative)
    for a, b in draft.line.corrections:
        draft.default(f"{a!r} is read as {b!r}")
    fields["sources"] = tuple(draft.sources)
    return Reading(
        request=build_request(fields), questions=tuple(draft.questions), defaults=tuple(draft.defaults),
        unread=tuple(dict.fromkeys(draft.unread)), secrets=draft.secrets, read_at=draft.now, time_zone=draft.time_zone,
    )  # fmt: skip


def _drop_visible_secrets(draft: Draft, fields: dict[str, Any]) -> None:
    """An address with a password or a signature in it is told, not kept."""
    for name, part in (("inputs", "source"), ("containers", "image")):
        items = fields.get(name) or []
        told = [(item, getattr(item, part, None) or "") for item in items]
        seen = [item for item, address in told if redact(address) != address]
        draft.unread += [f"a secret in an address is not kept: {redact(getattr(item, part))[:500]}" for item in seen]
        if seen:
            fields[name] = [item for item in items if item not in seen]


def _context(shape: Mapping[str, Any], base: Shape | None) -> Shape | None:
    stated = {
        name: value
        for name, value in shape.items()
        if name in ("nodes", "tasks") and isinstance(value, int) and value > 0
    }
    return Shape.model_validate(stated) if stated else base


def _shapes(shape: Mapping[str, Any], alternative: str | None) -> tuple[Shape, ...]:
    try:
        whole = Shape.model_validate(dict(shape))
    except ValidationError as error:
        raise refusal(error, where="shapes.0") from error
    if alternative is None or whole.gpus is None:
        return (whole,)
    plain = whole.model_copy(update={"gpus": None})
    return (plain, whole) if alternative == "cpu" else (whole, plain)


def _launched(draft: Draft, fields: dict[str, Any], shape: dict[str, Any], launch: Launch) -> None:
    launch.shape = without_outdone(draft, shape, launch.shape)
    for name, value in launch.shape.items():
        if name in shape and shape[name] != value and words_change(draft, f"shapes.0.{name}", value):
            draft.default(f"{_plain(shape[name])} counts for {name}, not {_plain(value)} of the line")
        elif name in shape and shape[name] != value:
            draft.questions.append(
                Question(
                    id=f"launch.{name}".replace("_", "-"), field=f"shapes.0.{name}", words=str(value),
                    text=f"The launch line and the words differ in {name}. Which one counts?",
                    options=(Option(label=f"{_plain(shape[name])} (words)",
                                    patch={f"shapes.0.{name}": _plain(shape[name])}),
                             Option(label=f"{_plain(value)} (launch line)", patch={f"shapes.0.{name}": _plain(value)})),
                )
            )  # fmt: skip
            draft.contested.add(f"shapes.0.{name}")
        shape.setdefault(name, value)
    for name, value in launch.fields.items():
        if name in fields and fields[name] != value and words_change(draft, name, value):
            draft.default(f"{fields[name]} counts for {name}, not {value} of the line")
        elif name in fields and fields[name] != value and isinstance(value, str | int):
            draft.questions.append(
                Question(
                    id=f"launch.{name}".replace("_", "-"), field=name, words=str(value),
                    text=f"The line and the words differ in {name}. Which one counts?",
                    options=(Option(label=f"{fields[name]} (words)", patch={name: fields[name]}),
                             Option(label=f"{value} (line)", patch={name: value})),
                )
            )  # fmt: skip
            draft.contested.add(name)
        fields.setdefault(name, value)
    try:
        added = [variable(draft.secrets, name, value) for name, value in launch.environment]
    except ValidationError as error:
        raise refusal(error, where="environment") from error
    stated = {item.name: item.value for item in fields.get("environment", ()) if item.value is not None}
    added = [item for item in added if stated.get(item.name, item.value) == item.value]
    launch.line = line_with(launch.line, launch.environment, stated)
    if launch.line:
        line = " ".join(launch.line)
        if any(item.secret is not None for item in added) or redact(line) != line:
            fields.setdefault("launch", "tasks")  # the line shows a secret: the site's own launcher does it
        else:
            fields["launch_line"] = launch.line
    if added:
        known = tuple(fields.get("environment", ()))
        fields["environment"] = (*known, *(item for item in added if item not in known))


def _plain(value: Any) -> Any:  # noqa: ANN401  # a number or a small model
    return value.model_dump(mode="json", exclude_defaults=True) if hasattr(value, "model_dump") else value


def _read_script(script: str, reader: ScriptReader | None, now: datetime, time_zone: str | None) -> Reading:
    secrets: dict[str, str] = {}
    cleaned, variables = without_secrets(script, secrets)
    unread: tuple[str, ...] = ()
    defaults: tuple[str, ...] = tuple(
        f"{item.name} is kept in the secret store, not in the script" for item in variables
    )
    if reader is None:
        directives = tuple(line.strip()[:2000] for line in cleaned.splitlines() if directive().match(line))
        request = build_request({"script": cleaned})
        unread += directives
    else:
        found = reader(cleaned)
        request = without_secret_values(secrets, found.request)
        unread += tuple(found.problems)
        defaults += told_of(found)
        if only_directives(found.body):
            request = request.model_copy(update={"script": None, "script_dialect": None})
        elif request.script is None and not request.command:
            request = request.model_copy(update={"script": found.body})
    named = [item.name for item in (*variables, *request.environment)]
    refuse_secrets_of_script(cleaned, secrets.values(), named)
    loaded = modules_of(cleaned) if not request.software else ()
    if loaded:
        request = request.model_copy(update={"software": loaded})
    if variables:
        request = merge_fields(request, JobRequest(environment=variables))
    return Reading(request=request, unread=unread, defaults=defaults, secrets=secrets, read_at=now, time_zone=time_zone)


def over(base: Reading, new: Reading) -> Reading:
    """`new` over `base`: its fields count, and it settles questions about them."""
    request = merge_fields(base.request, new.request)
    settled = {source.field for source in new.request.sources}
    kept = tuple(question for question in base.questions if question.field not in settled)
    taken = {question.id for question in kept}
    added = tuple(q if q.id not in taken else q.model_copy(update={"id": f"{q.id[:58]}.again"}) for q in new.questions)
    return base.model_copy(
        update={
            "request": request, "questions": kept + added, "secrets": {**base.secrets, **new.secrets},
            "defaults": tuple(dict.fromkeys(base.defaults + new.defaults)),
            "unread": tuple(dict.fromkeys(base.unread + new.unread)),
        }
    )  # fmt: skip


def _ask_for_work(reading: Reading, given: object) -> Reading:
    """Ask what is to be run where the request holds no work at all."""
    request = reading.request
    work = (
        request.command
        or request.script
        or request.recipe
        or request.software
        or request.containers
        or request.shapes
        or request.components
    )
    if work or any(question.field == "command" for question in reading.questions):
        return reading
    question = Question(id="command", field="command", words="", text="What should be run?")
    return reading.model_copy(update={"questions": (*reading.questions, question)})
