"""What a recipe adds to a request at intake, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import BadRequest
from dragoman.request import InputFile, JobRequest, SoftwareNeed
from dragoman.shape import Gpus, Shape
from graph.reading.merge import merge_fields
from graph.with_recipe import with_recipe
from providers.recipes.shelf import shipped_shelf

GPUS = Shape(nodes=2, gpus=Gpus(count=4, per="node"))
LAMMPS = (SoftwareNeed(name="lammps"),)
IN_LJ = (InputFile(source="/h/in.lj", name="in.lj"),)


def completed(**fields: Any) -> JobRequest:
    return with_recipe(JobRequest(**fields), shipped_shelf())


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ("python3", "pi.py"), "shapes": (Shape(tasks=4),)},
        {"command": ("python3", "post.py"), "software": LAMMPS, "shapes": (Shape(tasks=4),)},
        {"command": ("mpirun", "-n", "4", "lmp"), "software": LAMMPS},
        {"command": ("gmx", "mdrun"), "shapes": (Shape(tasks=4),)},
        {"script": "srun lmp\n", "software": LAMMPS},
        {"software": (SoftwareNeed(name="unheard-of"),)},
        {},
    ],
)
def test_what_no_recipe_is_about_stays(fields: dict[str, Any]) -> None:
    assert completed(**fields) == JobRequest(**fields)


def test_a_program_of_mpi_is_started_on_every_task_and_stays_word_for_word() -> None:
    request = completed(command=("lmp", "-in", "in.lj"), shapes=(Shape(tasks=4),))
    assert (request.command, request.launch, request.recipe) == (("lmp", "-in", "in.lj"), "tasks", "lammps")
    assert "started on every task" in request.notes[0]
    assert {(each.field, each.origin) for each in request.sources} == {("recipe", "default"), ("launch", "default")}


@pytest.mark.parametrize(
    ("fields", "launch"),
    [
        ({"command": ("lmp",), "shapes": (Shape(tasks=1),)}, None),
        ({"command": ("lmp",), "shapes": (Shape(tasks=4),), "launch": "once"}, "once"),
        ({"command": ("lmp",), "shapes": (Shape(tasks=4),), "launch_line": ("srun", "-n4")}, None),
        ({"command": ("simpleFoam",), "shapes": (Shape(tasks=4),)}, None),
        ({"command": ("simpleFoam", "-parallel"), "shapes": (Shape(tasks=4),)}, "tasks"),
        ({"command": ("python3", "a.py"), "software": (SoftwareNeed(name="mpi4py"),), "shapes": (Shape(tasks=4),)},
         "tasks"),
        ({"command": ("torchrun", "a.py"), "shapes": (Shape(tasks=4),)}, None),
    ],
)  # fmt: skip
def test_when_a_persons_command_is_started_on_every_task(fields: dict[str, Any], launch: str | None) -> None:
    request = completed(**fields)
    assert request.launch == launch
    assert request.command == fields["command"]


def test_without_a_command_the_recipe_makes_it_and_says_so() -> None:
    request = completed(software=LAMMPS, inputs=IN_LJ, shapes=(GPUS,))
    assert (request.recipe, request.launch, request.command) == ("lammps", "tasks", ())
    assert request.shapes == (GPUS.model_copy(update={"tasks_per_node": 4}),)
    assert request.notes[0].startswith(
        "no command was given: the recipe lammps makes `lmp -in in.lj -sf gpu -pk gpu 4`"
    )
    assert "one task for each gpu, as the recipe lammps says" in request.notes


def test_without_its_input_nothing_is_made_up() -> None:
    request = completed(software=LAMMPS, shapes=(Shape(nodes=4),))
    assert (request.recipe, request.launch, request.command) == (None, None, ())
    assert request.notes == (
        "the recipe lammps would make the command from an input named in.* or *.in or *.lmp or *.lammps",
    )


def test_a_recipe_that_is_named_must_be_able_to() -> None:
    with pytest.raises(BadRequest, match="needs the input script"):
        completed(recipe="lammps")
    with pytest.raises(BadRequest, match="there is no recipe 'nope'"):
        completed(recipe="nope")
    assert completed(recipe="script", inputs=(InputFile(source="/h/a.sh", name="a.sh"),)).recipe == "script"


def test_stated_tasks_are_left_alone() -> None:
    shape = GPUS.model_copy(update={"tasks": 2})
    assert completed(software=LAMMPS, inputs=IN_LJ, shapes=(shape,)).shapes == (shape,)


def test_a_new_command_does_not_follow_the_recipe_of_the_old_one() -> None:
    request = completed(command=("lmp",), shapes=(Shape(tasks=4),))
    edited = merge_fields(request, JobRequest(command=("python3", "a.py")))
    assert (edited.recipe, edited.launch) == (None, None)
    stated = merge_fields(JobRequest(command=("./a",), launch="tasks"), JobRequest(command=("./b",)))
    assert stated.launch == "tasks"


def test_a_new_command_does_not_stand_behind_the_old_launch_line() -> None:
    request = JobRequest(command=("./a",), launch_line=("srun", "-n4"))
    assert merge_fields(request, JobRequest(command=("./b",))).launch_line == ()
