"""A recipe's file, read with line numbers: every error names its line, its field and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from dragoman.errors import RecipeError, SiteFileError
from providers.recipes.model import FIELDS, Group, Recipe, Word, fields_of
from providers.site_source import SiteSource

__all__ = ["MOST_BYTES", "parse_recipe"]

MOST_BYTES = 2**18

Loc = tuple[int | str, ...]


def parse_recipe(text: str, name: str) -> Recipe:
    """The recipe that a file's text describes.

    Args:
        text: YAML.
        name: the file's, for messages.

    Raises:
        RecipeError: with `file:line: field` and the cure.

    """
    try:
        source = SiteSource(name, text)
    except SiteFileError as error:
        if error.what == "holds no sites":
            raise RecipeError("holds no recipe", where=error.where, cure="begin it with `name:`") from error
        raise RecipeError(error.what, where=error.where, cure=error.cure) from error
    try:
        recipe = Recipe.model_validate(source.data)
    except ValidationError as error:
        raise _wrong(source, error) from error
    _check_fields(source, recipe)
    if recipe.command == () and not recipe.programs and not recipe.software:
        raise _at(source, ("name",), "says neither a command nor what it is about", "add command, programs or software")
    return recipe


def _wrong(source: SiteSource, error: ValidationError) -> RecipeError:
    """The first complaint; unions are told by the part that fits best, and unknown fields with their nearest."""
    complaints = error.errors(include_url=False)
    # Of a word that is neither text nor a list nor a group, what the writer meant shows in what was written.
    first = next((each for each in complaints if each["type"] not in ("string_type", "tuple_type")), complaints[0])
    loc = tuple(
        part for part in first["loc"]
        if not (isinstance(part, str) and (part.startswith(("function-", "tuple[", "constrained-")) or part == "Group"))
    )  # fmt: skip
    if first["type"] == "extra_forbidden":
        inside = loc[:1] in (("command",), ("prepare",), ("finish",))
        known = Group.model_fields if inside else Recipe.model_fields
        if loc[:1] == ("inputs",):
            known = {"names": Recipe.model_fields["name"], "about": Recipe.model_fields["about"]}
        near = difflib.get_close_matches(str(loc[-1]), known, 1, 0.5)
        cure = f"did you mean {near[0]}?" if near else f"its fields are {', '.join(known)}"
        return _at(source, loc, "there is no such field", cure)
    told = source.error_of(error) if first is complaints[0] else None
    generic = told is None or "schema of sites files" in told.cure or "64GiB" in told.cure
    expected = first.get("ctx", {}).get("expected", "the known words")
    cures = {
        "bool_type": "write it in quotes",
        "literal_error": f"one of {expected}",
        "value_error": "see docs/recipes.md",
        "missing": f"add {loc[-1]}",
    }
    cure = cures.get(first["type"], "see docs/recipes.md") if generic or told is None else told.cure
    return _at(source, loc, first["msg"].removeprefix("Value error, "), cure)


def _check_fields(source: SiteSource, recipe: Recipe) -> None:
    known = {*FIELDS, *recipe.inputs}
    for twice in FIELDS.keys() & recipe.inputs.keys():
        raise _at(source, ("inputs", twice), f"{twice} is a field of every recipe", "give the kind another name")
    for loc, word in _words(recipe):
        for field in fields_of(word):
            if field not in known:
                near = difflib.get_close_matches(field, known, 1, 0.7)
                cure = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(sorted(known))}"
                raise _at(source, loc, f"there is no field {{{field}}}", cure)
    first = recipe.command[0] if recipe.command else "x"
    if not isinstance(first, str) or first.startswith("-") or not first:
        raise _at(source, ("command", 0), "the command does not begin with a program", "write the program first")
    for name in ("prepare", "finish"):
        for index, command in enumerate(getattr(recipe, name)):
            words = command.words if isinstance(command, Group) else command
            if not words or not words[0] or words[0].startswith("-"):
                raise _at(source, (name, index), "the command does not begin with a program", "write the program first")


def _words(recipe: Recipe) -> Iterator[tuple[Loc, str]]:
    parts: Sequence[Word | tuple[Word, ...] | Group] = recipe.command
    for index, part in enumerate(parts):
        if isinstance(part, str):
            yield ("command", index), part
        elif isinstance(part, Group):
            yield from ((("command", index, "words", at), word) for at, word in enumerate(part.words))
        else:
            yield from ((("command", index, at), word) for at, word in enumerate(part))
    for name in ("prepare", "finish"):
        for index, command in enumerate(getattr(recipe, name)):
            inside: Loc = (name, index, "words") if isinstance(command, Group) else (name, index)
            words = command.words if isinstance(command, Group) else command
            yield from (((*inside, at), word) for at, word in enumerate(words))
    yield from ((("environment", variable), word) for variable, word in recipe.environment.items())


def _at(source: SiteSource, loc: Loc, what: str, cure: str) -> RecipeError:
    told = source.error(loc, what, cure)
    return RecipeError(told.what, where=told.where, cure=told.cure)
