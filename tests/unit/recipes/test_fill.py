"""Fields are filled from the request; words without a value are left out or asked for."""

from __future__ import annotations

import pytest

from dragoman.errors import BadRequest
from dragoman.request import InputFile
from dragoman.shape import Gpus, Shape
from providers.commands.layout import layout_of
from providers.recipes.fill import fill_recipe, values_for
from providers.recipes.read import parse_recipe

APP = parse_recipe(
    """
name: app
inputs:
  input: {names: ["*.inp", "in.*"], about: the input}
  extra: {names: ["*.inp", "*.xtra"]}
command:
  - app
  - [-t, "{cpus_per_task}"]
  - when: gpus
    words: [-g, "{gpus_per_node}"]
  - when: no-gpus
    words: [-cpu]
  - when: several-nodes
    words: ["--nodes={nodes}"]
  - when: one-node
    words: [--local]
  - when: several-tasks
    words: ["{{{tasks}}}"]
  - [--extra, "{extra}"]
  - "{input}"
prepare:
  - when: several-tasks
    words: [cut, "{tasks}"]
""",
    "app.yaml",
)


def filled(shape: Shape, *names: str) -> tuple[str, ...]:
    inputs = [InputFile(source=f"/h/{name}", name=name) for name in names]
    values, _ = values_for(APP, inputs, layout_of(shape), site="there")
    return fill_recipe(APP, values).command


@pytest.mark.parametrize(
    ("shape", "names", "words"),
    [
        (Shape(), ("a.inp",), "app -cpu --local a.inp"),
        (Shape(tasks=4, cpus_per_task=2), ("sub/a.inp",), "app -t 2 -cpu --local {4} sub/a.inp"),
        (Shape(nodes=2, gpus=Gpus(count=8, per="job")), ("in.x",), "app -g 4 --nodes=2 {2} in.x"),
        (Shape(), ("a.inp", "b.inp"), "app -cpu --local --extra b.inp a.inp"),
        (Shape(), ("in.a", "b.xtra"), "app -cpu --local --extra b.xtra in.a"),
        (Shape(), ("-rf.inp",), "app -cpu --local ./-rf.inp"),
    ],
)
def test_words(shape: Shape, names: tuple[str, ...], words: str) -> None:
    assert " ".join(filled(shape, *names)) == words


def test_what_else_it_runs() -> None:
    values, _ = values_for(APP, [InputFile(source="/h/a.inp", name="a.inp")], layout_of(Shape(tasks=3)))
    assert fill_recipe(APP, values).prepare == (("cut", "3"),)


def test_a_missing_input_is_named() -> None:
    with pytest.raises(BadRequest, match=r"needs the input, and no input is named \*\.inp or in\.\*"):
        filled(Shape(), "other.txt")


def test_a_count_that_is_needed_and_not_stated() -> None:
    """GPUs for the whole job on nodes that nobody counted: how many a node has is not known."""
    with pytest.raises(BadRequest, match="needs gpus_per_node"):
        filled(Shape(tasks=4, gpus=Gpus(count=8, per="job")), "a.inp")


def test_of_several_files_the_first_is_taken_and_that_is_said() -> None:
    inputs = [InputFile(source=f"/h/{name}", name=name) for name in ("in.b", "in.a")]
    values, notes = values_for(APP, inputs, layout_of(Shape()))
    assert values["input"] == "in.b"
    assert notes == ("in.b is taken as the input, not in.a",)
