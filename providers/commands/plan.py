"""The plan to run a command at one site: software loaded, launcher and container put before it, the command as it is.

A person's command is never changed: what is put before it stands in the plan, and is shown before anybody approves. A
command that starts its tasks or its container by itself gets no second launcher or container.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dragoman.errors import BadRequest
from dragoman.request import EnvironmentVariable, JobRequest
from dragoman.run_plan import RunPlan
from dragoman.shape import Shape
from dragoman.site import Site
from providers.commands.containers import RUNTIMES, Contained, container_words
from providers.commands.launchers import (
    MPI_LAUNCHERS,
    SCHEDULERS_OF,
    is_launcher,
    launcher_name,
    launcher_words,
    own_launcher,
    works_under,
)
from providers.commands.layout import Layout, layout_of
from providers.commands.means import Means, Starter
from providers.commands.threads import thread_variables
from providers.probes.container.command_line import container_command
from providers.recipes.fill import Filled, fill_recipe, recipe_environment, values_for
from providers.recipes.model import Recipe

__all__ = ["follows_recipe", "plan_run", "wants_launcher"]

_EXPORT = re.compile(r"^\s*export ([A-Za-z_]\w*)=", re.MULTILINE)
"""Variables that a recipe's own lines set: tasks at other nodes and in containers need them too."""


@dataclass(slots=True)
class _Around:
    """What has been put around the command so far."""

    setup: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    contained: list[str] = field(default_factory=list)
    image: str | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to run, and what it is put together from."""

    request: JobRequest
    site: Site
    layout: Layout
    means: Means
    recipe: Recipe | None
    command: tuple[str, ...]
    names: tuple[str, ...]
    """Of its environment's variables."""


def wants_launcher(request: JobRequest) -> bool:
    """Whether the site's launcher may have to start the command, by the request alone."""
    if request.script is not None or request.launch == "once" or is_launcher(request.command):
        return False
    return request.launch == "tasks" or bool(request.launch_line)


def follows_recipe(recipe: Recipe, command: Sequence[str]) -> bool:
    """Whether a person's own command is launched as the recipe says."""
    return not recipe.launch_words or any(word in recipe.launch_words for word in command)


def plan_run(
    request: JobRequest,
    site: Site,
    shape: Shape,
    means: Means,
    recipe: Recipe | None = None,
    *,
    where: str = "",
    shared: bool = False,
    line_stays: bool = True,
) -> RunPlan | None:
    """How the request's command runs at the site; None where a script says it all, or nothing is to be run.

    Args:
        request: what is asked; its command stays word for word.
        site: its own launcher, set-up lines and binds.
        shape: what the job gets there.
        means: what was observed there.
        recipe: the one that the request follows, for this site.
        where: where the recipe lies, for people.
        shared: there are fewer cores than tasks.
        line_stays: the launch line that the command was written behind still says what the shape says.

    """
    if request.script is not None:
        image = _image(request, None) if means.scheduler == "kubernetes" else None
        return RunPlan(image=image.removeprefix("docker://")) if image is not None else None
    if not request.command and recipe is None:
        return None
    layout = layout_of(shape, shared=shared)
    stated = tuple(variable.name for variable in request.environment)
    try:
        if recipe is not None and recipe.tasks == "node" and not request.command:
            layout = _one_a_node(layout, recipe)
        filled, environment, notes = _command(request, site, layout, recipe, stated)
        named = (*stated, *(each.name for each in environment))
        environment = (*environment, *thread_variables(_share(shape, layout), named))
        names = tuple(each.name for each in (*environment, *request.environment))
        if recipe is not None and not (request.command and "/" in request.command[0]):
            names = tuple(dict.fromkeys((*names, *_EXPORT.findall("\n".join(recipe.setup)))))
        around = _Around(notes=list(notes))
        job = _Job(request, site, layout, means, recipe, filled.command, names)
        _load(around, job)
        launched = _launch(around, job, line_stays=line_stays)
        _contain(around, job, launched=launched)
        if around.before + around.contained and filled.command[0].startswith("-"):
            raise BadRequest(
                f"a program named {filled.command[0][:80]!r} would be read as an option", where="command",
                cure="write its folder before it: ./-name",
            )  # fmt: skip
    except BadRequest as error:
        # No command: shown without what is missing around it, it would look as if that were run.
        return RunPlan(recipe=where, problem=str(error)[:1000])
    inside = " ".join(around.contained)
    return RunPlan(
        setup=tuple(dict.fromkeys(around.setup)),
        prepare=tuple(_line(inside, command) for command in filled.prepare),
        before=(*around.before, *around.contained),
        command=filled.command,
        finish=tuple(_line(inside, command) for command in filled.finish),
        environment=environment,
        image=around.image,
        recipe=where if recipe is not None else "",
        notes=tuple(dict.fromkeys(note for note in around.notes if note)),
    )


def _line(inside: str, command: Sequence[str]) -> str:
    words = " ".join(map(shlex.quote, command))
    return f"{inside} {words}" if inside else words


def _command(
    request: JobRequest, site: Site, layout: Layout, recipe: Recipe | None, stated: Sequence[str]
) -> tuple[Filled, tuple[EnvironmentVariable, ...], tuple[str, ...]]:
    """The person's command as it is, or the recipe's; and the recipe's variables."""
    if recipe is None:
        return Filled(request.command), (), ()
    values, notes = values_for(recipe, request.inputs, layout, site=site.name)
    environment = recipe_environment(recipe, values, stated)
    if request.command:
        return Filled(request.command), environment, ()
    return fill_recipe(recipe, values), environment, notes


def _one_a_node(layout: Layout, recipe: Recipe) -> Layout:
    """The layout of a recipe whose task starts a node's processes by itself: one task, which has all of its cores.

    Raises:
        BadRequest: several tasks whose nodes are not stated.

    """
    if layout.nodes is None and layout.tasks > 1:
        raise BadRequest(
            f"the recipe {recipe.name} starts one task on each node, and its processes by itself",
            where="shapes.0.nodes", cure="state the nodes, or give the command",
        )  # fmt: skip
    each = layout.tasks_per_node or 1
    return replace(
        layout,
        tasks=layout.nodes or 1,
        tasks_per_node=1,
        cpus_per_task=layout.cpus_per_task * each if layout.cpus_per_task is not None else None,
        gpus_per_task=None,
        processes_per_node=each if each > 1 else layout.gpus_per_node,
    )


def _share(shape: Shape, layout: Layout) -> Shape:
    """The shape with the cores of each process, where a task starts several."""
    cores = layout.cpus_per_task or shape.cpus_per_node or (shape.cpus if (layout.nodes or 1) == 1 else None)
    if not layout.processes_per_node or cores is None:
        return shape
    return shape.model_copy(update={"cpus_per_task": max(cores // layout.processes_per_node, 1)})


def _load(around: _Around, job: _Job) -> None:
    request, recipe, means = job.request, job.recipe, job.means
    around.setup += job.site.setup
    own = bool(request.command) and "/" in request.command[0]
    if recipe is not None and recipe.load is not None and not own:
        around.setup += recipe.load
        if recipe.load:
            around.notes.append(f"software is loaded as the recipe {recipe.name} says")
    elif request.containers and _image(request, recipe) is not None:
        if means.loaded:
            around.notes.append("software is taken from the image: nothing is loaded beside it")
    else:
        for package in means.loaded:
            around.setup += package.lines
            around.notes.append(f"{package.words} {'is loaded' if package.lines else 'is there as it is'}")
    if recipe is not None and not own:
        around.setup += recipe.setup


def _launch(around: _Around, job: _Job, *, line_stays: bool) -> bool:
    """Put the launcher before the command, or say why there is none. Whether tasks are started by one."""
    request, site, layout, means, recipe = job.request, job.site, job.layout, job.means, job.recipe
    own = own_launcher(job.command)
    if own is not None:
        there = SCHEDULERS_OF.get(own, (means.scheduler,))
        if means.scheduler not in there and own != site.launcher:
            around.notes.append(
                f"the command starts its tasks with {own}, which {site.name} may not have; it stays as it is"
            )
        return True
    if request.launch == "once":
        return False
    if request.components:
        around.notes.append("a job of several components starts its own tasks: the command is run once, on the first")
        return False
    line = launcher_name(request.launch_line)
    if line is not None:
        if line_stays and works_under(line, means.scheduler):
            around.before += map(shlex.quote, request.launch_line)
            if line in MPI_LAUNCHERS and means.starter is not None:
                around.setup += means.starter.load if _is_mpi(means.starter) else ()
            return True
        why = "is not this scheduler's" if line_stays else "says other counts than the request now does"
        around.notes.append(f"the launch line {shlex.join(request.launch_line)} {why}: the site's launcher is used")
    elif request.launch != "tasks" and (recipe is None or request.command or recipe.launch == "once"):
        if layout.tasks > 1:
            around.notes.append(
                f"the command is run once, not on each of {layout.tasks} tasks: write it behind a launcher "
                "(mpirun -n ...) or state `launch: tasks` to start it on each"
            )
        return False
    if layout.tasks == 1 and line is None:
        return False
    starter = means.starter
    if recipe is not None and recipe.launcher is not None:
        kept = starter if starter is not None and starter.program == recipe.launcher else None
        starter = None if recipe.launcher == "none" else kept or Starter(recipe.launcher, words=f"recipe {recipe.name}")
    if starter is None:
        if layout.tasks == 1:
            return False
        why = means.no_starter or "the recipe names no launcher"
        raise BadRequest(
            f"{layout.tasks} tasks cannot be started at {site.name}: {why}",
            where="launch", cure="name the site's launcher in the sites file, or state `launch: once`",
        )  # fmt: skip
    around.setup += starter.load
    around.before += launcher_words(
        starter.program,
        layout,
        implementation=starter.implementation,
        scheduler=means.scheduler,
        options=(*site.launcher_options, *(recipe.launcher_options if recipe is not None else ())),
        exported=(*job.names, *(("PATH", "LD_LIBRARY_PATH") if job.means.loaded or around.setup else ())),
    )
    around.notes.append(f"{starter.program} starts it on {layout.tasks} tasks ({starter.words or 'the sites file'})")
    if layout.tasks_per_node == 1 and layout.nodes and layout.nodes > 1:
        around.notes.append("that is one task a node: state tasks, or tasks a node, for more")
    return True


def _is_mpi(starter: Starter) -> bool:
    return (launcher_name([starter.program]) or "") in MPI_LAUNCHERS


def _image(request: JobRequest, recipe: Recipe | None) -> str | None:
    named = next((need.image for need in request.containers if need.image), None)
    return named or (recipe.image if recipe is not None and not request.command else None)


def _contain(around: _Around, job: _Job, *, launched: bool) -> None:
    """Put the container before the command, where the request names an image."""
    request, layout, means, recipe = job.request, job.layout, job.means, job.recipe
    if container_command(job.command) is not None:
        return
    image = _image(request, recipe)
    if image is None:
        if request.containers and means.scheduler != "kubernetes":
            around.notes.append("no image is named: the command is not put into a container")
        return
    if means.scheduler == "kubernetes":
        around.image = image.removeprefix("docker://")
        return
    if launched and own_launcher(job.command) is not None:
        around.notes.append("the command starts with its own launcher, which then runs inside of the container")
    if means.runtime is None or means.runtime not in RUNTIMES:
        raise BadRequest(
            f"no container runtime can run {image}: {means.no_runtime or 'none was seen'}", where="containers.0",
            cure="name a runtime that the site has",
        )  # fmt: skip
    staged = any(each.name == image.removeprefix("./") for each in request.inputs)
    there = dict(means.images)
    name = image if staged else there.get(image.rpartition("/")[2], image) if "://" not in image else image
    vendor = means.vendor or "nvidia"
    made = container_words(
        means.runtime,
        Contained(
            image=name,
            staged=staged,
            gpus=vendor if layout.gpus else "",
            binds=(*job.site.container_binds, *(recipe.binds if recipe is not None else ())),
            variables=tuple(dict.fromkeys((*job.names, "DRAGOMAN_TAG", "DRAGOMAN_TASKS"))),
            launched=launched and bool(around.before),
        ),
    )
    around.setup += made.setup
    around.contained += made.words
    around.notes.append(f"{means.runtime} runs it in the image {name}")
    around.notes += made.notes
    if layout.gpus and means.vendor is None:
        around.notes.append("the GPUs' vendor is not known and taken to be NVIDIA")
