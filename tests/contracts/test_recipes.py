"""What every shipped recipe must do: make a command that every scheduler can be handed, whichever it is."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from dragoman.job import JobSpec
from dragoman.request import InputFile, JobRequest
from dragoman.shape import Gpus, Shape
from dragoman.site import Site
from providers.command_body import plan_body
from providers.commands.means import Means, Starter
from providers.commands.plan import plan_run
from providers.recipes.model import Recipe
from providers.recipes.shelf import shipped_shelf
from providers.registry import dialects

RECIPES = {one.name: one.use() for one in shipped_shelf().kept}
WRITING = [name for name, make in dialects.items() if not getattr(make, "only_scripts", False)]
SHAPES = {
    "one-core": Shape(tasks=1),
    "one-node": Shape(nodes=1, tasks=4, cpus_per_task=2),
    "gpus": Shape(nodes=1, tasks_per_node=4, gpus=Gpus(count=4, per="node")),
}


def request_for(recipe: Recipe, shape: Shape) -> JobRequest:
    names = [kind.names[0].replace("*", "my $(x) file") for kind in recipe.inputs.values()]
    return JobRequest(
        shapes=(shape,),
        inputs=tuple(InputFile(source=f"/home/me/{name}", name=name) for name in names),
        recipe=recipe.name,
        launch="tasks" if recipe.launch == "tasks" else None,
    )


def body_for(recipe: Recipe, shape: Shape, scheduler: str) -> str:
    means = Means(scheduler, starter=Starter("mpiexec", "openmpi"))
    plan = plan_run(request_for(recipe, shape), Site(name="there", scheduler=scheduler), shape, means, recipe)
    assert plan is not None
    assert plan.problem == ""
    return plan_body(plan)


@pytest.mark.parametrize("dialect", WRITING)
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_scheduler_can_be_handed_it(name: str, dialect: str, shape: Shape) -> None:
    body = body_for(RECIPES[name], shape, dialect)
    spec = JobSpec(
        tag="dgm-0123456789ab-a0", shape=shape, walltime_s=60, work_dir="/work/t/work", control_dir="/work/t",
        body=body, native_options=("-pe mpi 4",) if dialect == "sge" else (),
    )  # fmt: skip
    script = dialects.get(dialect)().render(spec)
    for line in body.splitlines():
        # Kubernetes writes JSON, the others shell.
        assert line in script or line.replace("\\", "\\\\").replace('"', '\\"') in script


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_it_is_a_shell_script_with_its_inputs_as_words(name: str, shape: Shape, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    body = body_for(recipe, shape, "machine")
    done = subprocess.run(["sh", "-n"], input=body, text=True, capture_output=True, check=False)  # noqa: TID251  # a test may block
    assert (done.returncode, done.stderr) == (0, "")
    words = [word for line in body.splitlines() for word in shlex.split(line)]
    for given in request_for(recipe, shape).inputs:
        assert given.name in words


@pytest.mark.parametrize("name", RECIPES)
def test_it_tells_what_it_is(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.about
    assert recipe.command
    assert all(kind.about for kind in recipe.inputs.values())
