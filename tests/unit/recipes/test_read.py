"""A recipe that is wrong is told with file, line, field and cure."""

from __future__ import annotations

import pytest

from dragoman.errors import RecipeError
from providers.recipes.model import Group, Recipe, fields_of
from providers.recipes.read import parse_recipe

GOOD = """\
name: app
about: an application
software: [app]
programs: [app, app_mpi]
inputs:
  input:
    names: ["*.inp", in.*]
    about: the input
command:
  - app
  - -n
  - 4
  - [-t, "{cpus_per_task}"]
  - when: gpus
    words: [-g, "{gpus_per_node}"]
  - "{input}"
launch: tasks
environment:
  APP_VERSION: 2.10
  APP_ON: yes
"""


def test_a_recipe() -> None:
    recipe = parse_recipe(GOOD, "app.yaml")
    assert recipe.command == (
        "app", "-n", "4", ("-t", "{cpus_per_task}"), Group(when="gpus", words=("-g", "{gpus_per_node}")), "{input}",
    )  # fmt: skip
    assert recipe.environment == {"APP_VERSION": "2.10", "APP_ON": "yes"}
    assert Recipe.model_validate(recipe.dump()) == recipe


@pytest.mark.parametrize(
    ("change", "where", "what", "cure"),
    [
        (("launch: tasks", "lunch: tasks"), "app.yaml:17: lunch", "no such field", "did you mean launch?"),
        (("launch: tasks", "launch: maybe"), "app.yaml:17: launch", "'once' or 'tasks'", "one of 'once' or 'tasks'"),
        (("name: app", "name: My App"), "app.yaml:1: name", "match pattern", "it must match"),
        (("name: app\n", ""), "app.yaml:1: name", "required", "add name"),
        (("{input}", "{imput}"), "app.yaml:16: command.5", "there is no field {imput}", "did you mean {input}?"),
        (("{cpus_per_task}", "{cores}"), "app.yaml:13: command.3.1", "there is no field {cores}", "there are"),
        (("{gpus_per_node}", "{gpu"), "app.yaml:15: command.4", "a single {", "docs/recipes.md"),
        (("when: gpus", "when: gpu"), "app.yaml:14: command.4", "'gpus', 'no-gpus'", "one of 'gpus'"),
        (("when: gpus", "if: gpus"), "app.yaml:14: command.4", "", ""),
        (("  - app\n  - -n", "  - -n"), "app.yaml:10: command.0", "does not begin with a program", "program first"),
        (("    about: the input", "    abuot: the input"), "app.yaml:8: inputs.input", "no such field", "mean about?"),
        (("  input:", "  tasks:"), "app.yaml:6: inputs.tasks", "a field of every recipe", "another name"),
        (('  - -n\n', '  - "a\\nb"\n'), "app.yaml:11: command.1", "control characters", "docs/recipes.md"),
        (("launch: tasks", "launch: tasks\nlaunch: once"), "app.yaml:18: launch", "written twice", "keep one"),
        (("software: [app]", "software: [app"), "app.yaml:", "not YAML", "mend that line"),
        (("APP_ON: yes", "APP-ON: yes"), "app.yaml:20: environment.APP-ON", "match pattern", ""),
        (("APP_ON: yes", "APP_ON: '{nodse}'"), "app.yaml:20: environment.APP_ON", "no field {nodse}", "{nodes}"),
    ],
)  # fmt: skip
def test_what_is_wrong(change: tuple[str, str], where: str, what: str, cure: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(RecipeError) as caught:
        parse_recipe(GOOD.replace(*change, 1), "app.yaml")
    assert caught.value.where.startswith(where)
    assert what in caught.value.what
    assert cure in caught.value.cure
    assert caught.value.cure


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "name: x\n"])
def test_what_is_no_recipe(text: str) -> None:
    with pytest.raises(RecipeError):
        parse_recipe(text, "app.yaml")


def test_fields_and_plain_braces() -> None:
    assert fields_of("a{nodes}b{{c}}{tasks}") == ("nodes", "tasks")
    for wrong in ("{", "}", "{a b}", "{A}", "{}", "${x"):
        with pytest.raises(ValueError, match="a single"):
            fields_of(wrong)
