"""What a recipe adds to a request: the command where none was given, and whether it is started on every task.

All of it is noted for the person. A command that was given stays as it is.
"""

from __future__ import annotations

import shlex
from typing import Any

from dragoman.errors import BadRequest, DragomanError
from dragoman.request import JobRequest, Source
from dragoman.shape import Shape
from graph.node import Step
from providers.commands.launchers import is_launcher
from providers.commands.layout import layout_of
from providers.commands.plan import follows_recipe
from providers.recipes.fill import fill_recipe, values_for, without_value
from providers.recipes.model import Recipe
from providers.recipes.shelf import Shelf

__all__ = ["known_recipes", "with_recipe"]


async def known_recipes(step: Step) -> Shelf:
    """The recipes of the person and the centre and those shipped, and after them what only single sites have."""
    general = await step.deps.recipes(None)
    special = [await step.deps.recipes(site) for site in step.fleet().sites if site.recipes is not None]
    kept = (*general.kept, *(one for shelf in special for one in shelf.kept))
    return Shelf(tuple({(one.name, one.where): one for one in kept}.values()))


def with_recipe(request: JobRequest, shelf: Shelf) -> JobRequest:
    """The request as its recipe completes it; unchanged where no recipe is about it.

    Raises:
        BadRequest: the recipe that it names does not exist, is wrong, or cannot make the command.

    """
    if request.script is not None:
        return request
    recipe = _recipe(request, shelf.at(None))
    if recipe is None:
        return request
    return _with_own_command(request, recipe) if request.command else _with_its_command(request, recipe)


def _recipe(request: JobRequest, shelf: Shelf) -> Recipe | None:
    """The one that is named; else that of the program; else that of the software, if it can say what to run."""
    found = None
    if request.recipe is not None:
        name = request.recipe
    elif request.command and not is_launcher(request.command):
        found = shelf.for_program(request.command[0])
        by_software = shelf.for_software(need.name for need in request.software)
        if found is None and by_software is not None and not by_software.use().programs:
            found = by_software
        name = found.name if found is not None else ""
    elif not request.command:
        found = shelf.for_software(need.name for need in request.software)
        name = found.name if found is not None else ""
    else:
        return None
    if not name:
        return None
    try:
        return shelf.get(name).use()
    except DragomanError as error:
        raise BadRequest(error.what, where=error.where or "recipe", cure=error.cure) from error


def _with_own_command(request: JobRequest, recipe: Recipe) -> JobRequest:
    changes: dict[str, Any] = {"recipe": recipe.name}
    sources = [_source(request, "recipe", recipe)]
    notes: list[str] = []
    launched = (
        recipe.launch == "tasks"
        and request.launch is None
        and not request.launch_line
        and not is_launcher(request.command)
        and follows_recipe(recipe, request.command)
    )
    if launched:
        shapes, said = _shapes(request, recipe)
        if any(layout_of(shape).tasks > 1 for shape in shapes):
            changes.update(launch="tasks", shapes=shapes)
            sources.append(_source(request, "launch", recipe))
            notes += [*said, f"the command is started on every task, as the recipe {recipe.name} says for its programs"]
    return _changed(request, changes, sources, notes)


def _with_its_command(request: JobRequest, recipe: Recipe) -> JobRequest:
    if not recipe.command:
        return request
    shapes, said = _shapes(request, recipe)
    layout = layout_of((shapes or request.components or (Shape(),))[0])
    values, chosen = values_for(recipe, request.inputs, layout)
    missing = [field for field in without_value(recipe, values) if field != "site"]
    if missing and request.recipe is None:
        kind = recipe.inputs.get(missing[0])
        what = f"an input named {' or '.join(kind.names)}" if kind is not None else missing[0]
        return _changed(request, {}, [], [f"the recipe {recipe.name} would make the command from {what}"])
    filled = fill_recipe(recipe, {"site": "SITE", **values})
    changes: dict[str, Any] = {"recipe": recipe.name, "shapes": shapes}
    sources = [_source(request, "recipe", recipe)]
    if recipe.launch == "tasks" and request.launch is None:
        changes["launch"] = "tasks"
        sources.append(_source(request, "launch", recipe))
    notes = [
        f"no command was given: the recipe {recipe.name} makes `{shlex.join(filled.command)}`; a site may have its own",
        *said, *chosen,
    ]  # fmt: skip
    return _changed(request, changes, sources, notes)


def _shapes(request: JobRequest, recipe: Recipe) -> tuple[tuple[Shape, ...], list[str]]:
    """The shapes with as many tasks as the recipe wants, where none are stated."""
    shapes, said = [], list[str]()
    for shape in request.shapes:
        tasks: dict[str, int] = {}
        if shape.task_count is None and shape.tasks_per_node is None and shape.cpus is None:
            gpus = shape.gpus
            if recipe.tasks == "gpu" and gpus is not None and gpus.per == "node":
                tasks = {"tasks_per_node": gpus.count}
            elif recipe.tasks == "gpu" and gpus is not None and gpus.per == "job":
                tasks = {"tasks": gpus.count}
            elif recipe.tasks == "node" and shape.nodes is not None:
                tasks = {"tasks_per_node": 1}
        shapes.append(shape.model_copy(update=tasks))
        if tasks:
            said.append(f"one task for each {recipe.tasks}, as the recipe {recipe.name} says")
    return tuple(shapes), list(dict.fromkeys(said))


def _source(request: JobRequest, field: str, recipe: Recipe) -> Source | None:
    stated = any(source.field == field for source in request.sources) or getattr(request, field) is not None
    return None if stated else Source(field=field, words=f"recipe {recipe.name}", origin="default")


def _changed(
    request: JobRequest, changes: dict[str, Any], sources: list[Source | None], notes: list[str]
) -> JobRequest:
    update = {
        **changes,
        "notes": tuple(dict.fromkeys((*request.notes, *(note[:4000] for note in notes)))),
        "sources": (*request.sources, *(source for source in sources if source is not None)),
    }
    return request.model_copy(update=update)
