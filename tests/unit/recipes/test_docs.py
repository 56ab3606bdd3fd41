"""What docs/recipes.md shows can be read, and makes what it says."""

from __future__ import annotations

import re
from pathlib import Path

from dragoman.request import InputFile, JobRequest
from dragoman.shape import Gpus, Shape
from dragoman.site import Site
from providers.command_body import plan_body
from providers.commands.layout import layout_of
from providers.commands.means import Loaded, Means, Starter
from providers.commands.plan import plan_run
from providers.fleet import parse_fleet
from providers.recipes.fill import fill_recipe, values_for
from providers.recipes.model import FIELDS, Recipe
from providers.recipes.read import parse_recipe
from providers.recipes.shelf import shipped_shelf

PAGE = (Path(__file__).parents[3] / "docs/recipes.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_sites_file() -> None:
    site = parse_fleet(BLOCKS[0], "sites.yaml").sites[0]
    assert (site.launcher, site.setup, site.container_binds) == ("ibrun", ("module purge",), ("/scratch",))


def test_the_recipe() -> None:
    recipe = parse_recipe(BLOCKS[1], "lammps.yaml")
    layout = layout_of(Shape(nodes=2, tasks_per_node=4, gpus=Gpus(count=4, per="node")))
    values, _ = values_for(recipe, [InputFile(source="/h/in.lj", name="in.lj")], layout)
    assert fill_recipe(recipe, values).command == (
        "lmp_granite", "-in", "in.lj", "-log", "in.lj.log", "-sf", "gpu", "-pk", "gpu", "4",
    )  # fmt: skip


def test_every_field_and_key_is_told() -> None:
    missing = [name for name in (*FIELDS, *Recipe.model_fields) if name not in PAGE and name != "schema_version"]
    assert missing == []


def test_the_command_that_it_shows() -> None:
    shown = re.findall(r"it would run:\n((?:  .*\n)+)", PAGE)[0].splitlines()
    request = JobRequest(
        command=("lmp", "-in", "in.lj"), launch="tasks", shapes=(Shape(nodes=2, tasks_per_node=4, cpus_per_task=8),)
    )
    means = Means(
        "slurm", loaded=(Loaded("lammps 20230802 by modules", ("module load lammps/20230802",)),),
        starter=Starter("srun", words="the scheduler's own"),
    )  # fmt: skip
    plan = plan_run(request, Site(name="granite", scheduler="slurm"), request.shape, means)
    assert plan is not None
    assert [line.strip() for line in shown] == [
        *plan_body(plan).splitlines(), *(f"({note})" for note in plan.notes),
    ]  # fmt: skip


def test_every_shipped_recipe_is_named() -> None:
    words = PAGE.lower()
    names = {
        "python-mpi": "python with and without mpi",
        "quantum-espresso": "quantum espresso",
        "script": "shell scripts",
    }
    for one in shipped_shelf().kept:
        assert names.get(one.name, one.name) in words, one.name
