"""A recipe: one application's command with its few fields, how it is launched, and what a site wants for it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dragoman.model import Model
from dragoman.request import Line, Name
from dragoman.run_plan import LauncherName

__all__ = ["FIELDS", "Group", "InputKind", "Recipe", "RecipeName", "Word", "fields_of"]

FIELDS = {
    "nodes": "nodes of the job",
    "tasks": "tasks of the whole job",
    "tasks_per_node": "tasks on each node",
    "cpus_per_task": "cores of each task",
    "cpus": "cores of the whole job",
    "gpus": "GPUs of the whole job",
    "gpus_per_node": "GPUs of each node",
    "processes_per_node": "processes that the one task of each node starts by itself",
    "site": "name of the site",
}
"""Fields that every recipe has; those that the request does not state are not known."""

_FIELD = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]{0,31})\}|[{}]")


def fields_of(word: str) -> tuple[str, ...]:
    """Names of the fields in a word.

    Raises:
        ValueError: a brace that belongs to no field; a plain one is written twice.

    """
    found = []
    for match in _FIELD.finditer(word):
        if match[0] in "{}":
            raise ValueError(f"a single {match[0]} in {word[:80]!r}: write a field as {{name}} and a plain brace twice")
        if match[1]:
            found.append(match[1])
    return tuple(found)


def _word(value: object) -> object:
    """Numbers are words too; `yes` and `2.10` are text already (see `providers.site_source`)."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _one_line(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("control characters are not allowed here")
    fields_of(value)
    return value


Word = Annotated[str, BeforeValidator(_word), Field(max_length=4096), AfterValidator(_one_line)]
"""One word of a command, with its fields; it stays one word whatever is put into them."""

RecipeName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
_Field = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=256)]


class Group(Model):
    """Words that are left out unless something holds."""

    when: Literal["gpus", "no-gpus", "several-tasks", "several-nodes", "one-node"]
    words: tuple[Word, ...] = Field(min_length=1)


class InputKind(Model):
    """A kind of input file that the command names."""

    names: tuple[Line, ...] = Field(min_length=1)
    """Patterns of its file's name: `in.*`, `*.inp`."""
    about: Line = ""
    """What it is, for people."""


class Recipe(Model):
    """How one application is run."""

    schema_version: Literal[1] = 1
    name: RecipeName
    about: Line = ""
    """What the application is, in one line."""
    sites: tuple[Line, ...] = ()
    """Patterns of the names of sites that it is for; empty: every site."""
    software: tuple[Name, ...] = ()
    """Names of the packages that bring it, as package managers have them."""
    programs: tuple[Line, ...] = ()
    """Names of its programs: a person's own command that begins with one of them follows this recipe's launch."""
    command: tuple[Word | tuple[Word, ...] | Group, ...] = ()
    """Words of the command; a list in the list is left out where one of its fields is not known."""
    inputs: dict[_Field, InputKind] = {}
    """Kinds of input files; their names are fields of the command."""
    prepare: tuple[tuple[Word, ...] | Group, ...] = ()
    """Commands that run once before it; a group is one that runs only when something holds."""
    finish: tuple[tuple[Word, ...] | Group, ...] = ()
    """Commands that run once after it has succeeded."""
    launch: Literal["once", "tasks"] = "once"
    """Whether the site's launcher starts it on every task, or it is run once and divides its work itself."""
    launch_words: tuple[Line, ...] = ()
    """A person's own command is launched only if it has one of these words (`-parallel`); empty: always."""
    tasks: Literal["gpu", "node"] | None = None
    """Where no tasks are stated: one for each GPU, or one a node."""
    load: tuple[Line, ...] | None = None
    """Shell lines that load it, instead of those that the site's package managers told."""
    setup: tuple[Line, ...] = ()
    """Shell lines after the software is loaded."""
    environment: dict[_Variable, Word] = {}
    """Variables; one whose field is not known is left out. The request's own come first."""
    launcher: LauncherName | None = None
    """What starts its tasks, instead of the site's launcher."""
    launcher_options: tuple[Line, ...] = ()
    """Words that the launcher gets besides."""
    image: Line | None = None
    """Container image to run it in."""
    binds: tuple[Line, ...] = ()
    """Folders that the container sees besides the job's own."""
