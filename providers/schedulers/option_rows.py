"""One option of a submit command: what of a job it says, as text and from text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dragoman.job import JobSpec
from providers.schedulers.base import format_clock
from providers.schedulers.directives import Directive
from providers.schedulers.script_draft import Option, ScriptDraft, read_name, read_number

__all__ = [
    "Fields", "OwnWord", "Row", "Take", "Unreadable", "clock", "counted", "name_of", "named", "number", "queues",
    "says",
]  # fmt: skip

Take = Callable[[ScriptDraft, Directive, Option], None]
Fields = Mapping[str, object]
"""Fields of a request; those of its shape begin with `shape.`."""


class Unreadable(Exception):
    """A value that the scheduler would refuse; the text names value and cure."""


class OwnWord(Exception):
    """A value that no word of ours says: the option is kept for its scheduler, and the text, if any, is told."""


@dataclass(frozen=True, slots=True)
class Row:
    """One option."""

    option: str
    write: Callable[[JobSpec], str | Sequence[str] | None] = lambda spec: None
    """Its value, bare, or one for each time it stands there; empty: it takes none; None: the job does not say it."""
    take: Take | None = None
    """What it says of a job; None: nothing, so that it is kept as it is. Raises `Unreadable`, `OwnWord`."""
    where: str = "native_options"
    """The job's field, for messages."""


def says(read: Callable[[str], Fields | None], only: str = "") -> Take:
    """A reader of a value as what is done with an option.

    Args:
        read: the fields that a value says; None: no word of ours exists for it. Raises `Unreadable`.
        only: what the person is told where it is kept for this scheduler alone.

    """

    def take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
        found = read(option.value)
        if found is None:
            raise OwnWord(only)
        for name, value in found.items():
            if name.startswith("shape."):
                draft.set_shape(directive, option.written, **{name.removeprefix("shape."): value})
            else:
                draft.set(directive, option.written, **{name: value})

    return take


def number(text: str, *, least: int = 1) -> int:
    """A whole number. Raises `Unreadable`."""
    found = read_number(text, least=least)
    if found is None:
        expands = "the scheduler expands no variables: write the number"
        raise Unreadable(
            f"{text[:60]!r} is no number ({expands if '$' in text else f'write a whole number from {least}'})"
        )
    return found


def counted(option: str, told: str) -> Row:
    """An option that takes a whole number, which a field of the shape is."""

    def write(spec: JobSpec) -> str | None:
        stated = getattr(spec.shape, told)
        return str(stated) if stated is not None else None

    return Row(option, write, says(lambda text: {f"shape.{told}": number(text)}), told)


def clock(option: str, read: Callable[[str], int | None]) -> Row:
    """An option that takes the job's longest time as HH:MM:SS.

    Args:
        option: its name.
        read: seconds of a time as this scheduler takes it; None: it is none.

    """

    def take(text: str) -> Fields:
        seconds = read(text)
        if not seconds:
            raise Unreadable(f"{text[:60]!r} is no time (write it like 02:00:00)")
        return {"walltime_s": seconds}

    def write(spec: JobSpec) -> str | None:
        return format_clock(spec.walltime_s) if spec.walltime_s is not None else None

    return Row(option, write, says(take), "walltime_s")


def name_of(text: str) -> str:
    """A name that a request takes. Raises `Unreadable`."""
    if read_name(text) is None:
        raise Unreadable(f"{text[:60]!r} is not usable (letters, digits, blank and . _ + @ / : - only, at most 128)")
    return text


def named(option: str, told: str) -> Row:
    """An option that takes a name, which a field of the job is."""
    return Row(option, lambda spec: getattr(spec, told), says(lambda text: {told: name_of(text)}), told)


def queues(option: str, separator: str, *, others: str = "") -> Row:
    """An option that takes one or more queues.

    Args:
        option: its name.
        separator: what stands between them; empty: it takes one.
        others: signs of names that are no queues of ours, and that are kept as they are.

    """

    def write(spec: JobSpec) -> str | None:
        if separator:
            return separator.join(spec.queues) or spec.queue
        return spec.queue or "".join(spec.queues[:1]) or None

    def read(text: str) -> Fields | None:
        names = tuple(one.strip() for one in (text.split(separator) if separator else [text]) if one.strip())
        if others and (not names or any(read_name(one) is None or set(others) & set(one) for one in names)):
            return None
        first = name_of(names[0] if names else "")
        return {"queue": first, "queues": tuple(map(name_of, names)) if len(names) > 1 else ()}

    return Row(option, write, says(read), "queue")
