"""`recipes`: which there are, what one says, and whether a file is one. No site is asked and no database opened."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NoReturn

import anyio
import yaml
from rich.table import Table

from dragoman.errors import RecipeError
from dragoman.model import JsonObject
from dragoman.settings import Settings, read_settings
from dragoman.shape import Gpus, Shape
from interfaces.cli.running import emit, run_command, tell
from interfaces.cli.tables import clean, console
from interfaces.recipes import RecipeFolders
from interfaces.sites import Sites
from providers.commands.layout import layout_of
from providers.recipes.fill import fill_recipe, values_for
from providers.recipes.model import Recipe
from providers.recipes.read import parse_recipe
from providers.recipes.shelf import Kept, Shelf

__all__ = ["check", "list_recipes", "show"]

_EXAMPLE = Shape(nodes=2, tasks_per_node=4, cpus_per_task=8, gpus=Gpus(count=4, per="node"))


def list_recipes(site: str | None, sites: str | None, *, as_json: bool) -> NoReturn:
    """Print the recipes that count, the person's own and the site's before the shipped ones."""

    async def command() -> int:
        shelf = await _shelf(site, sites)
        kept = sorted(shelf.kept, key=lambda one: one.name)
        if as_json:
            emit({"recipes": [_line(one) for one in kept]})
            return 0
        table = Table("recipe", "about", "software", "from")
        for one in kept:
            about = one.recipe.about if one.recipe is not None else f"cannot be used: {one.error}"
            software = ", ".join(one.recipe.software) if one.recipe is not None else ""
            table.add_row(
                clean(one.name), clean(about), clean(software), "shipped" if one.shipped else clean(one.where)
            )
        console().print(table)
        return 0

    run_command(command)


def show(name: str, site: str | None, sites: str | None, *, as_json: bool) -> NoReturn:
    """Print one recipe, with the command that it makes as an example."""

    async def command() -> int:
        kept = (await _shelf(site, sites)).get(name)
        recipe = kept.use()
        if as_json:
            emit({**_line(kept), "recipe": recipe.dump(), "example": _example(recipe)})
            return 0
        tell(f"# {clean(recipe.name)} ({'shipped' if kept.shipped else clean(kept.where)})")
        console().print(clean(yaml.safe_dump(recipe.dump(), sort_keys=False, allow_unicode=True)), soft_wrap=True)
        example = _example(recipe)
        if example:
            told = f"on 2 nodes with 4 tasks, 4 GPUs and 32 cores each: {example}"
            for line in told.splitlines():
                console().print(f"# {clean(line)}", soft_wrap=True)  # so that all of it is the recipe's file
        return 0

    run_command(command)


def check(file: str, *, as_json: bool) -> NoReturn:
    """Whether a file is a recipe; the error names line, field and cure, and the command ends with 2."""

    async def command() -> int:
        try:
            text = (await anyio.Path(file).read_bytes()).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"cannot be read: {error}", where=file, cure="name a readable UTF-8 file") from error
        try:
            recipe = parse_recipe(text, file)
        except RecipeError as error:
            if not as_json:
                raise
            emit({"file": file, "ok": False, "error": error.what, "where": error.where, "cure": error.cure})
            return error.exit_code
        if as_json:
            emit({"file": file, "ok": True, "name": recipe.name, "example": _example(recipe)})
        else:
            tell(f"{file}: the recipe {recipe.name} can be used")
        return 0

    run_command(command)


def _settings(sites: str | None) -> Settings:
    return read_settings(**({"sites_file": Path(sites).absolute()} if sites is not None else {}))


async def _shelf(site: str | None, sites: str | None) -> Shelf:
    settings = _settings(sites)
    folders = RecipeFolders(settings)
    if site is None:
        return (await folders.shelf(None)).at(None)
    fleet = await Sites.read(settings.sites_file)
    return (await folders.shelf(fleet.site(site))).at(site)


def _line(kept: Kept) -> JsonObject:
    recipe = kept.recipe
    return {
        "name": kept.name,
        "about": recipe.about if recipe is not None else "",
        "software": [*recipe.software] if recipe is not None else [],
        "programs": [*recipe.programs] if recipe is not None else [],
        "sites": [*recipe.sites] if recipe is not None else [],
        "shipped": kept.shipped,
        "file": kept.where,
        "error": str(kept.error) if kept.error is not None else "",
    }


def _example(recipe: Recipe) -> str:
    """The command for a small job, with each input's first pattern as its name; empty where the recipe makes none."""
    if not recipe.command:
        return ""
    values, _ = values_for(recipe, (), layout_of(_EXAMPLE), site="SITE")
    named = {field: kind.names[0].replace("*", "NAME") for field, kind in recipe.inputs.items()}
    return shlex.join(fill_recipe(recipe, {**named, **values}).command)
