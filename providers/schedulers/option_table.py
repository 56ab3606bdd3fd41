"""One table of options for a dialect: what of a job each says, as text and from text.

Rendering goes through the rows and writes those that the job states; reading finds the row of an option and takes its
value apart. A row that says nothing of a job is not written; an option without a row is kept as it is, is ours to
decide (output files, mail), or is none of the scheduler's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from providers.schedulers.directives import Directive, checked, split_words
from providers.schedulers.option_rows import OwnWord, Row, Unreadable
from providers.schedulers.script_draft import Option, ScriptDraft, take_options

__all__ = ["OptionTable", "as_written"]


def as_written(option: Option) -> str:
    """An option as one directive, in quotes where it holds blanks."""
    value = option.value
    return f'{option.name} "{value}"' if re.search(r"\s", value) else f"{option.name} {value}".strip()


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one submit command."""

    program: str
    counts: Mapping[str, int]
    """All of them, and how many values each takes (-1: perhaps one). `-l` stands for all `-l name` as well."""
    ours: frozenset[str]
    """Those whose purpose we fulfil ourselves; never taken as native options."""
    rows: tuple[Row, ...]
    """Where several have an option, the first that says something of a job reads it."""
    quote: Callable[[str, str], str]
    """A value as it stands in a directive, from the value and the job's field. Raises `BadRequest`."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other spellings, to the one that rows have."""
    long: bool = True
    """One dash begins whole words (`-env`)."""
    many: frozenset[str] = frozenset()
    """Those that may stand several times."""
    quiet: frozenset[str] = frozenset()
    """As written: what is so without them."""
    never: frozenset[str] = frozenset()
    """Further ones that are not taken as native options."""
    example: str = ""
    """A native option, for messages."""
    strict: bool = True
    """Others are problems; else they are passed over and told."""
    split: Callable[[str], tuple[list[Option], str]] | None = None
    """The options of a directive, and what is wrong with the line, where they are not words as a shell has them."""
    lists: frozenset[str] = frozenset()
    """Those whose value is a list `a=1,b=2`, of which each part is an option here (`-l a`) with a row of its own."""
    equals: bool = False
    """A value follows its option behind an equals sign (`--time=1`)."""

    def pairs(self, spec: JobSpec, *, without: Collection[str] = ()) -> list[tuple[str, str]]:
        """Options of what the job states, and the value of each as it stands in a directive.

        Args:
            spec: the job.
            without: options that are not written.

        Raises:
            BadRequest: a value that cannot stand in a directive, or what the scheduler has no word for.

        """
        found: list[tuple[str, str]] = []
        for row in self.rows:
            said = row.write(spec) if row.option not in without else None
            for value in [said] if isinstance(said, str) else said or ():
                found.append((row.option, self.quote(value, row.where) if value else ""))
        return found

    def written(self, spec: JobSpec, *, without: Collection[str] = ()) -> list[str]:
        """The same as directives. Raises `BadRequest`."""
        return [self.join(name, value) if value else name for name, value in self.pairs(spec, without=without)]

    def join(self, name: str, value: str) -> str:
        """An option with its value, as it stands in a directive."""
        return f"{name}={value}" if self.equals or " " in name else f"{name} {value}"

    def own(self, spec: JobSpec, *, never: Collection[str] = ()) -> dict[str, Option]:
        """Native options by their name; those that may stand several times by their text.

        Raises:
            BadRequest: not one option, one that would hide the job or move its files, or that says something else than
                the job does.

        """
        found: dict[str, Option] = {}
        if not spec.native_options:
            return found
        written = {self.options(text)[0][0].name: text for text in self.written(spec)}
        for line in spec.native_options:
            options, problem = self.options(checked(line, where="native_options"))
            if problem or len(options) != 1 or options[0].problem or not self.knows(options[0].name):
                what = f"{line[:120]!r} is not one option of {self.program}"
                raise BadRequest(what, where="native_options", cure=f"write one, such as {self.example}")
            option = options[0]
            if option.name in self.ours | self.never or option.name in never:
                raise BadRequest(f"{option.name} is not taken from a request", where="native_options", cure="delete it")
            told = written.get(option.name) if option.name not in self.many else None
            if told is None:
                found[line if option.name in self.many else option.name] = option
            elif told != self.text(option):
                what = f"{line[:80]!r} contradicts {told[:80]!r}"
                raise BadRequest(what, where="native_options", cure="state one of them")
        return found

    def native(self, spec: JobSpec, *, never: Collection[str] = ()) -> dict[str, str]:
        """The same, as they stand in directives. Raises `BadRequest`."""
        return {key: self.text(option) for key, option in self.own(spec, never=never).items()}

    def text(self, option: Option) -> str:
        """A native option as a directive. Raises `BadRequest`."""
        values = [self.quote(value, "native_options") for value in option.values]
        return self.join(option.name, " ".join(values)) if values else option.name

    def options(self, text: str) -> tuple[list[Option], str]:
        """The options of a directive, and what is wrong with the line."""
        if self.split is not None:
            found, wrong = self.split(text)
        else:
            words, wrong = split_words(text)
            found = take_options(words, self.counts, aliases=self.aliases, long=self.long)
        return [part for one in found for part in (_parts(one) if one.name in self.lists else [one])], wrong

    def knows(self, name: str) -> bool:
        """Whether it is an option of the submit command."""
        return name in self.counts or name.partition(" ")[0] in self.counts

    def read(self, draft: ScriptDraft) -> None:
        """All directives of a script."""
        for directive in draft.parts.directives:
            options, wrong = self.options(directive.text)
            if wrong:
                draft.problem(directive, wrong)
                continue
            for option in options:
                self.take(draft, directive, option)

    def take(self, draft: ScriptDraft, directive: Directive, option: Option) -> None:
        """One option of a directive."""
        row = next((row for row in self.rows if row.option == option.name and row.take is not None), None)
        if option.problem:
            draft.problem(directive, option.problem)
        elif row is not None and row.take is not None:
            try:
                row.take(draft, directive, option)
            except Unreadable as error:
                draft.problem(directive, f"{_spelling(option)} {error}")
            except OwnWord as own:
                self.keep(draft, option)
                if str(own):
                    draft.note(directive, f"{option.written[:80]}: {own}")
        elif option.name in self.ours:
            if option.written not in self.quiet:
                draft.ours(option.written, option.name)
        elif self.knows(option.name):
            self.keep(draft, option)
        elif self.strict:
            draft.problem(directive, f"{_spelling(option)[:40]} is no option of {self.program} (delete it)")
        else:
            draft.ours(option.written, option.name)
            told = f"{option.name[:40]} is no option of {self.program} that is known: it is passed over"
            draft.note(directive, f"{told} (delete it, or put a blank between an option and its value)")

    def keep(self, draft: ScriptDraft, option: Option) -> None:
        """Keep an option as it is."""
        try:
            text = self.text(option)
        except BadRequest:  # said when it is written
            text = as_written(option)
        draft.native(text, None if option.name in self.many else option.name)


def _parts(option: Option) -> Iterator[Option]:
    """`-l a=1,b=2` as `-l a` and `-l b`; a comma belongs to a value where no name follows it."""
    if option.problem:
        yield option
    for part in re.split(r",(?=\s*[A-Za-z][\w.-]*=)", option.value):
        name, _, value = part.strip().partition("=")
        wrong = f"{option.name}: {part.strip()[:60]!r} has no value (write it like name=value)"
        if name:
            yield Option(f"{option.name} {name}", (value,), part.strip(), "" if value else wrong)


def _spelling(option: Option) -> str:
    """The option's name as the script has it, where that is not a part of a longer word."""
    written = option.written.partition(" ")[0].partition("=")[0]
    return option.name if option.written.startswith(option.name) else written
