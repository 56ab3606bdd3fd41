"""A recipe's command with its fields filled. A value is put into its word as it is and can make no other word of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dragoman.errors import BadRequest
from dragoman.request import EnvironmentVariable, InputFile
from providers.commands.layout import Layout
from providers.recipes.model import Group, Recipe, fields_of

__all__ = ["Filled", "fill_recipe", "recipe_environment", "values_for", "without_value"]

_FIELD = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Filled:
    """A recipe's words for one job at one site."""

    command: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    finish: tuple[tuple[str, ...], ...] = ()


def values_for(
    recipe: Recipe, inputs: Sequence[InputFile], layout: Layout, *, site: str = ""
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is known of the recipe's fields, and notes on what had to be chosen.

    A kind of input is the first file that matches its first pattern, then its second, and so on; each file is taken
    once.
    """
    cpus = layout.cpus
    if recipe.launch == "once" and cpus is not None and (layout.nodes or 1) > 1:
        cpus = cpus // (layout.nodes or 1) or 1  # it runs on the first node alone
    counts = {
        "nodes": layout.nodes, "tasks": layout.tasks, "tasks_per_node": layout.tasks_per_node,
        "cpus_per_task": layout.cpus_per_task, "cpus": cpus, "gpus": layout.gpus or None,
        "gpus_per_node": layout.gpus_per_node, "processes_per_node": layout.processes_per_node,
    }  # fmt: skip
    values = {name: str(count) for name, count in counts.items() if count is not None}
    if site:
        values["site"] = site
    notes: list[str] = []
    taken: set[str] = set()
    for field, kind in recipe.inputs.items():
        for pattern in kind.names:
            fitting = [one.name for one in inputs if one.name not in taken and _fits(one.name, pattern)]
            if fitting:
                values[field] = fitting[0]
                taken.add(fitting[0])
                if len(fitting) > 1:
                    notes.append(f"{fitting[0]} is taken as {kind.about or field}, not {', '.join(fitting[1:6])}")
                break
    return values, tuple(notes)


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.rpartition("/")[2], pattern)


def without_value(recipe: Recipe, values: Mapping[str, str]) -> tuple[str, ...]:
    """Fields that the command needs and that have no value."""
    needed = [field for part in recipe.command if isinstance(part, str) for field in fields_of(part)]
    needed += [
        field for part in recipe.command if isinstance(part, Group) and _holds(part, values)
        for word in part.words for field in fields_of(word)
    ]  # fmt: skip
    around = [*_commands(recipe.prepare, values), *_commands(recipe.finish, values)]
    needed += [field for words in around for word in words for field in fields_of(word)]
    return tuple(dict.fromkeys(field for field in needed if field not in values))


def fill_recipe(recipe: Recipe, values: Mapping[str, str]) -> Filled:
    """The recipe's commands.

    Raises:
        BadRequest: it makes no command, or a field that it needs has no value.

    """
    if not recipe.command:
        raise BadRequest(f"the recipe {recipe.name} makes no command", where="command", cure="give the command")
    missing = without_value(recipe, values)
    if missing:
        field = missing[0]
        kind = recipe.inputs.get(field)
        if kind is None:
            raise BadRequest(
                f"the recipe {recipe.name} needs {field}", where="shapes.0", cure=f"state {field}, or give the command"
            )
        raise BadRequest(
            f"the recipe {recipe.name} needs {kind.about or field}, and no input is named {' or '.join(kind.names)}",
            where="inputs", cure="name the input file, or give the command",
        )  # fmt: skip
    words: list[str] = []
    for part in recipe.command:
        if isinstance(part, str):
            words.append(_filled(part, values, recipe))
        elif isinstance(part, Group):
            words += [_filled(word, values, recipe) for word in part.words] if _holds(part, values) else []
        elif all(field in values for word in part for field in fields_of(word)):
            words += [_filled(word, values, recipe) for word in part]
    return Filled(
        tuple(words),
        *(
            tuple(tuple(_filled(word, values, recipe) for word in each) for each in _commands(commands, values))
            for commands in (recipe.prepare, recipe.finish)
        ),
    )


def _commands(commands: Sequence[tuple[str, ...] | Group], values: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Those that run for this job."""
    return [
        each.words if isinstance(each, Group) else each
        for each in commands
        if not isinstance(each, Group) or _holds(each, values)
    ]


def recipe_environment(
    recipe: Recipe, values: Mapping[str, str], stated: Sequence[str]
) -> tuple[EnvironmentVariable, ...]:
    """The recipe's variables that can be filled and that the request does not state itself."""
    return tuple(
        EnvironmentVariable(name=name, value=_filled(word, values, recipe))
        for name, word in recipe.environment.items()
        if name not in stated and all(field in values for field in fields_of(word))
    )


def _holds(group: Group, values: Mapping[str, str]) -> bool:
    several_nodes = int(values.get("nodes", "1")) > 1
    return {
        "gpus": "gpus" in values,
        "no-gpus": "gpus" not in values,
        "several-tasks": int(values.get("tasks", "1")) > 1,
        "several-nodes": several_nodes,
        "one-node": not several_nodes,
    }[group.when]


def _filled(word: str, values: Mapping[str, str], recipe: Recipe) -> str:
    """A file whose name begins with a dash is named by its folder, so that no program takes it for an option."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        text = values[match[1]]
        leads = match.start() == 0 and match[1] in recipe.inputs and text.startswith("-")
        return f"./{text}" if leads else text

    return _FIELD.sub(value, word)
