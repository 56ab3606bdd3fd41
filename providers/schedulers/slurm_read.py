"""A script for sbatch, read back as a request.

Nothing is dropped silently: an option is turned into a word of ours, kept as a native option (and listed in
`not_carried`, because another scheduler will not know it), listed in `not_carried` alone where it is ours to decide
(output files, mail, working directory), or is a problem with its line and cure. Slurm's own defaults of meaning are
kept: `--mem` and `--gres` are per node, `--gpus` is for the whole job, `--time=30` is minutes, a later option wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import ValidationError

from dragoman.job import TAG_PATTERN
from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest, Source
from dragoman.shape import Shape
from providers.schedulers.directives import Directive, ScriptParts, find_source, split_script
from providers.schedulers.slurm_fields import JOB_FIELDS, SHAPE_FIELDS, Taken, Unreadable
from providers.schedulers.slurm_options import Option, split_words, take_options

__all__ = ["read_slurm_script"]

_OURS = frozenset({"output", "error", "chdir", "open-mode", "mail-type", "mail-user", "comment", "input"})
"""Options whose purpose we fulfil ourselves."""
_GPU_OPTIONS = frozenset({"gpus", "gpus-per-node", "gpus-per-task", "gres"})
_NO_JOB = frozenset(
    {"wrap", "test-only", "wait", "parsable", "help", "usage", "version", "quiet", "verbose", "bcast", "export-file"}
)
_OUR_NAME = re.compile(rf"\.(?={TAG_PATTERN.removeprefix('^')})")


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.job: dict[str, object] = {}
        self.shapes: list[dict[str, object]] = [{}]
        self.native: dict[tuple[int, str], str] = {}
        self.not_carried: dict[tuple[int, str], str] = {}
        self.sources: dict[str, Source] = {}
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.gpus_from: dict[int, str] = {}
        """The option that each component's GPUs were read from."""

    @property
    def component(self) -> int:
        return len(self.shapes) - 1

    def problem(self, line: int, words: str) -> None:
        self.problems.append(f"line {line}: {words}")

    def note(self, line: int, words: str) -> None:
        self.notes.append(_printable(f"line {line}: {words}"))


def read_slurm_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    parts = split_script(text, "#SBATCH")
    reading = _Reading()
    for directive in parts.directives:
        words, wrong = split_words(directive.text)
        if wrong:
            reading.problem(directive.line, wrong)
            continue
        for option in take_options(words):
            _take(reading, option, directive)
    _tell_of_others(reading, parts)
    return ScriptReading(
        request=_request(reading, parts),
        body=parts.body,
        interpreter=parts.interpreter,
        problems=tuple(reading.problems),
        not_carried=tuple(reading.not_carried.values()),
    )


def _take(reading: _Reading, option: Option, directive: Directive) -> None:
    name, value = option.name, option.value
    if option.problem:
        reading.problem(directive.line, option.problem)
    elif name == "hetjob":
        reading.shapes.append({})
    elif name in SHAPE_FIELDS:
        _take_shape(reading, option, directive)
    elif name in JOB_FIELDS and reading.component == 0:
        _take_job(reading, option, directive)
    elif name in _OURS:
        if not (name == "mail-type" and (value or "").upper() == "NONE"):
            reading.not_carried[reading.component, name] = option.written
    elif name in _NO_JOB:
        reading.not_carried[reading.component, name] = option.written
        reading.note(directive.line, f"--{name} has no place in a job script and is left out")
    else:
        _keep_native(reading, option, directive)


def _take_shape(reading: _Reading, option: Option, directive: Directive) -> None:
    shape = reading.shapes[-1]
    try:
        taken = SHAPE_FIELDS[option.name](option.value or "")
    except Unreadable as error:
        reading.problem(directive.line, f"--{option.name}: {error}")
        return
    _forget_native(reading, option.name)
    for native in taken.native:
        _keep_native(reading, option._replace(value=native.partition("=")[2] or None), directive)
    if option.name in _GPU_OPTIONS and not _gpus_may_be_set(reading, option, taken, directive):
        return
    for field, value in taken.fields.items():
        shape[field] = value
        path = f"components.{reading.component}.{field}" if reading.component else f"shapes.0.{field}"
        _remember(reading, path, option, directive, said=value is not None)
    if taken.note:
        reading.note(directive.line, taken.note)


def _gpus_may_be_set(reading: _Reading, option: Option, taken: Taken, directive: Directive) -> bool:
    """Two options may speak of GPUs: the later one replaces the same option's earlier word, never the other's."""
    key, before = reading.component, reading.gpus_from.get(reading.component)
    if before is not None and before != option.name:
        if taken.fields:
            _keep_native(reading, option, directive)
            reading.note(directive.line, f"--{option.name} comes beside --{before}: it is kept for Slurm only")
        return False
    if before is not None:
        reading.shapes[-1].pop("gpus", None)
    if taken.fields:
        reading.gpus_from[key] = option.name
    return True


def _take_job(reading: _Reading, option: Option, directive: Directive) -> None:
    try:
        taken = JOB_FIELDS[option.name](option.value or "")
    except Unreadable as error:
        reading.problem(directive.line, f"--{option.name}: {error}")
        return
    _forget_native(reading, option.name)
    if taken.native:
        _keep_native(reading, option, directive)
    for field in taken.clears:
        reading.job.pop(field, None)
        reading.sources.pop(field, None)
    for field, value in taken.fields.items():
        reading.job[field] = value
        _remember(reading, field, option, directive, said=value is not None)
    if taken.note:
        reading.note(directive.line, taken.note)


def _remember(reading: _Reading, path: str, option: Option, directive: Directive, *, said: bool) -> None:
    before = reading.sources.get(path)
    if before is not None and before.words != option.written:
        reading.note(directive.line, f"{option.written} replaces {before.words}")
    if said:
        reading.sources[path] = find_source(path, option.written, directive)
    else:
        reading.sources.pop(path, None)


def _forget_native(reading: _Reading, name: str) -> None:
    reading.native.pop((reading.component, name), None)
    reading.not_carried.pop((reading.component, name), None)


def _keep_native(reading: _Reading, option: Option, directive: Directive) -> None:
    key = reading.component, option.name
    text = f"--{option.name}" + (f"={_quoted(option.value)}" if option.value is not None else "")
    reading.native.pop(key, None)
    reading.native[key] = text if not reading.component else f"hetjob {reading.component} {text}"
    reading.not_carried[key] = option.written
    if not option.known:
        reading.note(directive.line, f"--{option.name} is not sbatch's own: a plugin of the site has to know it")
    if reading.component and option.name in JOB_FIELDS:
        reading.note(directive.line, f"--{option.name} of component {reading.component} is kept for Slurm only")


def _quoted(value: str) -> str:
    if re.fullmatch(r"[\w\-.,:;=+@/%\[\]*^~()&|<>]*", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tell_of_others(reading: _Reading, parts: ScriptParts) -> None:
    for late in parts.ignored:
        reading.note(late.line, f"#SBATCH{late.text[:200]} comes after the first command: Slurm ignores it")
    for alike in parts.lookalikes:
        reading.note(alike.line, f"{alike.text[:200]!r} is a comment to Slurm (directives begin with #SBATCH)")
    if parts.foreign:
        lines = ", ".join(str(one.line) for one in parts.foreign[:10])
        reading.note(parts.foreign[0].line, f"directives of another scheduler are not read (lines {lines})")


def _request(reading: _Reading, parts: ScriptParts) -> JobRequest:
    several = len(reading.shapes) > 1
    shapes = tuple(_shape(reading, index) for index in range(len(reading.shapes)))
    sources = reading.sources
    if several:
        sources = {key.replace("shapes.0.", "components.0."): source for key, source in sources.items()}
    name = reading.job.get("name")
    if isinstance(name, str):
        reading.job["name"] = _OUR_NAME.split(name)[0]
    fields: dict[str, object] = {
        **reading.job,
        "script": parts.body if parts.body.strip() else None,
        "components" if several else "shapes": shapes if several or shapes[0] != Shape() else (),
        "native_options": tuple(reading.native.values()),
        "sources": tuple(source.model_copy(update={"field": field}) for field, source in sources.items()),
    }
    return _valid(reading, fields)


def _shape(reading: _Reading, index: int) -> Shape:
    try:
        return Shape.model_validate(reading.shapes[index])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "shape"
        reading.problems.append(f"{where}: {first['msg']}")
        return Shape()


def _valid(reading: _Reading, fields: Mapping[str, object]) -> JobRequest:
    """The request; a field whose value is not taken becomes a problem and is left out."""
    left = dict(fields)
    while True:
        try:
            return JobRequest.model_validate({**left, "notes": tuple(note[:4000] for note in reading.notes)})
        except ValidationError as error:
            first = error.errors()[0]
            field = str(first["loc"][0])
            if field not in left:
                raise
            at = next((source for key, source in reading.sources.items() if key == field), None)
            told = f"{at.words!r}: " if at is not None else ""
            reading.problems.append(_printable(f"{told}{field} is not usable ({first['msg']})"))
            del left[field]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
