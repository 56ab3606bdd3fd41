"""A container command taken apart: which image, which options, and what runs inside.

What the options are stands in `option_tables`. Where one is not known there, neither is the image: whether the next
word is the option's value or the image cannot be told, and is not guessed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

from providers.probes.container.option_tables import RUNTIMES, Options

__all__ = ["ContainerCommand", "container_command"]


@dataclass(frozen=True, slots=True)
class ContainerCommand:
    """`runtime VERB options image command`."""

    runtime: str
    image: str | None
    """None: unknown, see `doubt`."""
    options: tuple[tuple[str, ...], ...] = ()
    """Each with its value, if it takes one: `("--nv",)`, `("--bind", "/scratch:/scratch")`."""
    command: tuple[str, ...] = ()
    """What runs inside; empty: what the image is made to run, or unknown where the image is."""
    doubt: str = ""
    """Why the image is unknown."""


@dataclass(slots=True)
class _Read:
    """Options at the beginning, and the words from the first that is none."""

    found: list[tuple[str, ...]] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    doubt: str = ""
    image: str | None = None


def container_command(argv: Sequence[str]) -> ContainerCommand | None:
    """Read `apptainer exec`, `docker run`, `ch-run`, `shifter`, `enroot start` and the like; None for other commands.

    An `exec` of Docker or Podman names a container that already runs, not an image, and is none of these.
    """
    words = list(argv)
    runtime = posixpath.basename(words[0]) if words else ""
    form = RUNTIMES.get(runtime)
    if form is None:
        return None
    before = _Read(rest=words[1:])
    if form.verbs:
        before = _options(words[1:], form.before)
        if before.doubt:
            return _maybe(runtime, before, form.verbs)
        rest = before.rest[1:] if before.rest[:1] and before.rest[0] in form.groups else before.rest
        if not rest or rest[0] not in form.verbs:
            return None
        before.rest = rest[1:]
    after = _options(before.rest, form.after)
    options = (*before.found, *after.found)
    if after.doubt:
        return ContainerCommand(runtime, None, options, doubt=after.doubt)
    if form.names_image:
        inside = after.rest[2:] if form.divided and after.rest[1:2] == ["--"] else after.rest[1:]
        return ContainerCommand(runtime, after.rest[0], options, tuple(inside)) if after.rest else None
    if after.image is None:
        doubt = "the command names no image: the batch job or the environment may"
        return ContainerCommand(runtime, None, options, tuple(after.rest), doubt) if after.rest else None
    return ContainerCommand(runtime, after.image, options, tuple(after.rest))


def _maybe(runtime: str, before: _Read, verbs: frozenset[str]) -> ContainerCommand | None:
    """Behind an option that is not known, a verb further on may be one, or a value: it may be such a command."""
    if not verbs & set(before.rest):
        return None
    return ContainerCommand(runtime, None, tuple(before.found), doubt=before.doubt)


def _options(words: Sequence[str], known: Options) -> _Read:
    """Options at the beginning. `--` ends them; one that is not known ends the reading, with a doubt."""
    read = _Read(rest=list(words))
    while read.rest and not read.doubt:
        word = read.rest[0]
        if not word.startswith("-") or word == "-":
            break
        read.rest.pop(0)
        if word == "--":
            break
        name, takes = _long(word, known) if word.startswith("--") else _bundle(word, known)
        if takes is None:
            read.doubt = f"option {name[:60]} is not known here: the word behind it may be its value, or the image"
        elif takes and not read.rest:
            read.doubt = f"option {name[:60]} has no value"
        else:
            value = (read.rest.pop(0),) if takes else ()
            read.found.append((word, *value))
            if name in known.image:
                read.image = value[0] if value else _glued(word, name)
    return read


def _long(word: str, known: Options) -> tuple[str, bool | None]:
    """The option's whole name, and whether the next word is its value; None: not known."""
    name, equals, _ = word.partition("=")
    if name not in known.values | known.flags and known.shortened:
        like = [each for each in known.values | known.flags if each.startswith(name) and each.startswith("--")]
        name = like[0] if len(like) == 1 else name
    if name not in known.values | known.flags:
        return name, False if equals else None  # with its value behind `=` it hides nothing
    return name, name in known.values and not equals


def _bundle(word: str, known: Options) -> tuple[str, bool | None]:
    """`-itv` takes a value as `-v` does, since it is the last of the bundle; `-v/a:/b` carries its own."""
    for place, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        if name in known.values:
            return name, place == len(word) - 1
        if name not in known.flags:
            return name, False if word[place + 1 : place + 2] == "=" else None
    return word, False


def _glued(word: str, name: str) -> str:
    return word.partition("=")[2] if word.startswith("--") else word[word.index(name[1]) + 1 :].removeprefix("=")
