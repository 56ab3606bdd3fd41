"""A job script on its way to a request: what every reader of directives keeps, whatever the scheduler.

Nothing is dropped silently. A directive becomes a field of the request, or is kept as a native option (and listed in
`not_carried`, because another scheduler will not know it), or is listed in `not_carried` alone where it is ours to
decide (output files, mail, working directory), or is a problem with its line and cure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from dragoman.job import TAG_PATTERN
from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest, Source
from dragoman.shape import Shape
from providers.schedulers.directives import Directive, find_source, split_script

__all__ = ["OUR_NAME", "Option", "ScriptDraft", "read_name", "read_number", "take_options"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]{0,127}", re.ASCII)
OUR_NAME = re.compile(rf"\.(?={TAG_PATTERN.removeprefix('^')})")


class Option(NamedTuple):
    """One option of a directive line."""

    name: str
    """With its dashes, as the table names it."""
    values: tuple[str, ...]
    written: str
    problem: str = ""

    @property
    def value(self) -> str:
        """Its values as one text."""
        return " ".join(self.values)


def take_options(
    words: list[str], table: Mapping[str, int], *, aliases: Mapping[str, str] | None = None, long: bool = False
) -> list[Option]:
    """The options of a line's words.

    Args:
        words: as the scheduler separates them.
        table: option to the number of its values; -1: one value if the next word is no option.
        aliases: other spellings of an option.
        long: one dash begins whole words (`-env`): a letter after it stands for no value that is glued to an option.

    """
    found: list[Option] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, given = word.partition("=") if word.startswith("--") else (word, "", "")
        name = (aliases or {}).get(name, name)
        count = table.get(name)
        if not word.startswith("-") or len(word) < 2:
            found.append(Option("", (), word, f"{word[:60]!r} is no option (options begin with a dash; quote blanks)"))
        elif equals:
            wrong = f"{name} takes no value (delete ={given[:60]})" if count == 0 else ""
            wrong = wrong or ("" if given or count is None else f"{name} has no value (give one or delete the line)")
            found.append(Option(name, (given,), word, wrong))
        elif (
            count is None
            and name[:2] in table
            and not name.startswith("--")
            and table[name[:2]] == 1
            and not (long and name[2:3].isalpha())
        ):
            found.append(Option(name[:2], (name[2:],), word))
        elif count is None:
            extra = [rest.pop(0)] if rest and not rest[0].startswith("-") else []
            found.append(Option(name, tuple(extra), " ".join([word, *extra])))
        else:
            want = count if count >= 0 else int(bool(rest) and not rest[0].startswith("-"))
            values = tuple(rest[:want])
            del rest[:want]
            short = len(values) < want or any(not value for value in values)
            wrong = f"{name} has no value (give one or delete the line)" if short else ""
            found.append(Option(name, values, " ".join([word, *values]), wrong))
    return found


def read_name(text: str) -> str | None:
    """A name that a request takes, or None."""
    return text if _NAME.fullmatch(text) else None


def read_number(text: str, *, least: int = 1) -> int | None:
    """A whole number from `least`, or None."""
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) >= least else None


class ScriptDraft:
    """What has been read so far.

    Args:
        text: the script.
        scheduler: its name, for messages.
        prefix: how its directives begin.
        shell: what runs the script where its first line does not say.
        whole_file: directives count wherever they stand.
        glued: no blank has to follow the prefix.

    """

    def __init__(
        self, text: str, scheduler: str, prefix: str, *, shell: str = "/bin/sh", whole_file: bool = False,
        glued: bool = False,
    ) -> None:  # fmt: skip
        self.parts = split_script(text, prefix, default_interpreter=shell, whole_file=whole_file, glued=glued)
        self.scheduler = scheduler
        self.prefix = prefix
        self.job: dict[str, object] = {}
        self.shapes: list[dict[str, object]] = [{}]
        """Of each component of a heterogeneous job; else one."""
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.deferred: dict[str, tuple[Directive, Option]] = {}
        """Options by name that are read when all others are, because those tell what they mean."""
        self._native: dict[str, str] = {}
        self._not_carried: dict[str, str] = {}
        self._sources: dict[str, Source] = {}
        self._replaced: list[str] = []

    @property
    def shape(self) -> dict[str, object]:
        """The shape that directives speak of now."""
        return self.shapes[-1]

    @property
    def component(self) -> int:
        """The number of that shape, from 0."""
        return len(self.shapes) - 1

    def problem(self, directive: Directive, words: str) -> None:
        """Something that the scheduler would refuse, with its cure."""
        self.problems.append(_printable(f"line {directive.line}: {words}"))

    def note(self, directive: Directive, words: str) -> None:
        """Something that the person may want to know."""
        self.notes.append(_printable(f"line {directive.line}: {words}"))

    def set(self, directive: Directive, written: str, **fields: object) -> None:
        """Fields of the job; a later word replaces an earlier one, and the person is told."""
        for field, value in fields.items():
            self.job[field] = value
            self._remember(field, directive, written, said=value is not None)

    def defer(self, directive: Directive, option: Option) -> None:
        """Put off what only the other options tell the meaning of; a later one replaces it."""
        self.deferred[option.name] = directive, option

    def add(self, directive: Directive, written: str, field: str, value: object) -> None:
        """One more of a field of the job that takes several."""
        before = self.job.get(field)
        self.job[field] = (*(before if isinstance(before, tuple) else ()), value)
        self._replaced.append(written)  # the first of them is the source
        self._sources.setdefault(field, find_source(field, written, directive))

    def imply(self, field: str, value: object, by: str) -> None:
        """A field of the shape that another one says too, if nothing else was said of it."""
        if field not in self.shape:
            self.shape[field] = value
            if (source := self._sources.get(f"shapes.0.{by}")) is not None:
                self._sources[f"shapes.0.{field}"] = source

    def begin_component(self, directive: Directive, written: str) -> None:
        """What follows is of the next component of a heterogeneous job."""
        self.shapes.append({})
        self._sources.setdefault("components", find_source("components", written, directive))

    def unsay(self, *fields: str) -> None:
        """Fields of the job that a later word takes back."""
        for field in fields:
            self.job.pop(field, None)
            before = self._sources.pop(field, None)
            self._replaced += [before.words] if before is not None else []

    def set_shape(self, directive: Directive, written: str, **fields: object) -> None:
        """Fields of the shape."""
        for field, value in fields.items():
            self.shape[field] = value
            path = f"components.{self.component}" if self.component else "shapes.0"
            self._remember(f"{path}.{field}", directive, written, said=value is not None)

    def name(self, directive: Directive, option: Option, field: str) -> None:
        """A field that takes a name."""
        name = read_name(option.value)
        if name is None:
            words = "is not usable (letters, digits, blank and . _ + @ / : - only, at most 128)"
            self.problem(directive, f"{option.name}: {option.value[:60]!r} {words}")
        else:
            self.set(directive, option.written, **{field: name})

    def job_name(self, directive: Directive, option: Option) -> None:
        """The job's name, changed where a request would not take it."""
        text = OUR_NAME.split(option.value)[0]
        cleaned = text if read_name(text) else re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:128]
        if cleaned != text:
            self.note(directive, f"the job's name {text[:60]!r} becomes {cleaned!r}")
        if cleaned:
            self.set(directive, option.written, name=cleaned)

    def native(self, written: str, key: str | None = None, *, said: str | None = None) -> None:
        """An option that stays as it is; a later one with the same key replaces it.

        Args:
            written: as a native option has it.
            key: which option it is; None: by itself.
            said: as the script has it, where that differs.

        """
        key = key or written
        self._native.pop(key, None)
        self._native[key] = written
        self.ours(said or written, key)

    def forget(self, key: str) -> None:
        """An option that was kept, and that a later word replaces by one that is understood."""
        self._native.pop(key, None)
        before = self._not_carried.pop(key, None)
        self._replaced += [before] if before is not None else []

    def ours(self, written: str, key: str | None = None) -> None:
        """An option whose purpose we fulfil ourselves, or that has no place in a job script."""
        before = self._not_carried.get(key or written)
        self._replaced += [before] if before not in (None, written) else []
        self._not_carried[key or written] = written

    def finish(self) -> ScriptReading:
        """The request; a field whose value is not taken becomes a problem and is left out."""
        for late in self.parts.ignored:
            self.note(
                late, f"{self.prefix}{late.text[:200]} comes after the first command: {self.scheduler} ignores it"
            )
        for alike in self.parts.lookalikes:
            self.note(alike, f"{alike.text[:200]!r} is a comment (directives begin with {self.prefix})")
        if self.parts.foreign:
            lines = ", ".join(str(one.line) for one in self.parts.foreign[:10])
            self.note(self.parts.foreign[0], f"directives of another scheduler are not read (lines {lines})")
        shapes = tuple(map(self._shape, self.shapes))
        sources = self._sources
        several = len(self.shapes) > 1
        if several:
            sources = {path.replace("shapes.0.", "components.0."): source for path, source in sources.items()}
        fields: dict[str, object] = {
            **self.job,
            "script": self.parts.body if self.parts.body.strip() else None,
            "components" if several else "shapes": shapes if several or shapes[0] != Shape() else (),
            "native_options": tuple(self._native.values()),
            "sources": tuple(source.model_copy(update={"field": path}) for path, source in sources.items()),
        }
        request = self._request(fields)
        return ScriptReading(
            request=request,
            body=self.parts.body,
            interpreter=self.parts.interpreter,
            problems=tuple(self.problems),
            not_carried=tuple(self._not_carried.values()),
            replaced=tuple(dict.fromkeys(self._replaced)),
        )

    def _remember(self, path: str, directive: Directive, written: str, *, said: bool) -> None:
        before = self._sources.get(path)
        if before is not None and before.words != written:
            self.note(directive, f"{written} replaces {before.words}")
            self._replaced.append(before.words)
        if said:
            self._sources[path] = find_source(path, written, directive)
        else:
            self._sources.pop(path, None)
            self._replaced.append(written)

    def _shape(self, fields: dict[str, object]) -> Shape:
        try:
            return Shape.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "shape"
            self.problems.append(_printable(f"{where}: {first['msg']}"))
            return Shape()

    def _request(self, fields: dict[str, object]) -> JobRequest:
        while True:
            try:
                return JobRequest.model_validate({**fields, "notes": tuple(note[:4000] for note in self.notes)})
            except ValidationError as error:
                first = error.errors()[0]
                field = str(first["loc"][0])
                if field not in fields:
                    raise
                source = self._sources.get(field)
                told = f"{source.words!r}: " if source is not None else ""
                self.problems.append(_printable(f"{told}{field} is not usable ({first['msg']})"))
                del fields[field]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
