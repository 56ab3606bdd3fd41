"""From a request to what runs: software loaded, tasks launched, recipes followed, all of it shown before approval."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest


def local(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in document["proposals"] if each["site"] == "local")
    return found


def test_a_virtual_environment_is_activated_before_the_command(dragoman: Any, tmp_path: Path) -> None:
    venv = tmp_path / "my venv"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = venv / "lib" / f"python{version}" / "site-packages"
    (packages / "whose-1.5.dist-info").mkdir(parents=True)
    (packages / "whose-1.5.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: whose\nVersion: 1.5\n")
    (packages / "whose.py").write_text("WORDS = 'of the environment'\n")
    (venv / "bin").mkdir()
    base = Path(sys.base_prefix) / "bin" / f"python{version}"
    (venv / "bin" / "python3").symlink_to(base)
    (venv / "bin" / "python").symlink_to("python3")
    (venv / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    _activate(venv)
    sites = dragoman.sites.read_text().replace(
        "scheduler: machine\n", f"scheduler: machine\n    paths: {{pip: {venv}}}\n"
    )
    dragoman.sites.write_text(sites)
    form = {
        "command": ["python3", "-c", "import whose; print(whose.WORDS)"], "tasks": 1, "walltime_s": 120,
        "software": [{"name": "whose", "version": ">=1.5", "manager": "pip"}],
    }  # fmt: skip
    document = dragoman.run(json.dumps(form), "--approve", "auto").document
    assert document["state"] == "completed", document
    assert dragoman.result(document, "stdout.log") == "of the environment\n"
    lines = local(document)["command"].splitlines()
    assert str(venv) in lines[0]
    assert lines[-1] == "python3 -c 'import whose; print(whose.WORDS)'"
    assert "whose 1.5 by pip is loaded" in local(document)["command_notes"]


def _activate(venv: Path) -> None:
    """As `python -m venv` writes it, as far as a job needs it."""
    (venv / "bin" / "activate").write_text(
        f"VIRTUAL_ENV='{venv}'; export VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"; export PATH\n"
    )


@pytest.mark.usefixtures("programs")
def test_a_module_is_loaded_before_the_command(dragoman: Any, tmp_path: Path) -> None:
    modules, programs = tmp_path / "modulefiles" / "greet", tmp_path / "opt"
    modules.mkdir(parents=True)
    programs.mkdir()
    (programs / "greet").write_text('#!/bin/sh\necho "hello $1"\n')
    (programs / "greet").chmod(0o755)
    (modules / "1.0").write_text(f"#%Module1.0\nprepend-path PATH {programs}\n")
    dragoman.environment["MODULEPATH"] = str(modules.parent)
    form = {"command": ["greet", "$(id) you"], "tasks": 1, "walltime_s": 120, "software": [{"name": "greet"}]}
    document = dragoman.run(json.dumps(form), "--approve", "auto").document
    assert document["state"] == "completed", document
    assert dragoman.result(document, "stdout.log") == "hello $(id) you\n"
    assert local(document)["command"].splitlines()[-3:-2] == ["module load greet/1.0"]


AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANK = "echo rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"


@pytest.mark.usefixtures("programs")
def test_a_launch_line_runs_as_it_was_written(dragoman: Any) -> None:
    (dragoman.folder / "rank.sh").write_text(RANK)
    form = {"command": "mpirun -np 2 --oversubscribe sh rank.sh", "walltime": "2 minutes", "environment": AS_ROOT}
    document = dragoman.run(json.dumps(form), "--approve", "auto").document
    assert document["state"] == "completed", document
    assert local(document)["command"] == "mpirun -np 2 --oversubscribe sh rank.sh"
    assert sorted(dragoman.result(document, "stdout.log").splitlines()) == ["rank 0", "rank 1"]


@pytest.mark.usefixtures("programs")
def test_tasks_are_started_where_the_request_says_so_and_once_where_it_does_not(dragoman: Any) -> None:
    (dragoman.folder / "rank.sh").write_text(RANK)
    form = {"command": ["sh", "rank.sh"], "tasks": 2, "walltime_s": 120, "environment": AS_ROOT}
    once = dragoman.run(json.dumps(form), "--approve", "auto").document
    assert dragoman.result(once, "stdout.log") == "rank\n"
    assert "run once, not on each of 2 tasks" in local(once)["command_notes"][0]
    each = dragoman.run(json.dumps({**form, "launch": "tasks"}), "--approve", "auto").document
    assert each["state"] == "completed", each
    assert sorted(dragoman.result(each, "stdout.log").splitlines()) == ["rank 0", "rank 1"]


def test_a_recipe_of_the_site_makes_the_command_and_a_person_sees_it_first(dragoman: Any, tmp_path: Path) -> None:
    folder = tmp_path / "recipes"
    folder.mkdir()
    recipe = folder / "count.yaml"
    recipe.write_text('name: count\ninputs: {data: {names: ["*.dat"]}}\ncommand: [wc, -l, "{data}"]\n')
    assert dragoman("recipes", "check", str(recipe)).code == 0
    sites = dragoman.sites.read_text().replace("scheduler: machine\n", "scheduler: machine\n    recipes: recipes\n")
    dragoman.sites.write_text(sites)
    listed = dragoman("recipes", "list", "--site", "local", "--sites", str(dragoman.sites), "--json").document
    assert {each["name"]: each["shipped"] for each in listed["recipes"]}["count"] is False
    (dragoman.folder / "my file.dat").write_text("a\nb\n")
    form = {"recipe": "count", "inputs": ["my file.dat"], "tasks": 1, "walltime_s": 120}
    paused = dragoman.run(json.dumps(form)).document
    assert paused["state"] == "waiting-approval", paused
    assert paused["waiting_for"]["asked"]["command"] == "wc -l 'my file.dat'"
    thread = paused["thread_id"]
    done = dragoman("approve", thread, "--wait", "--sites", str(dragoman.sites), "--json").document
    assert done["state"] == "completed", done
    assert dragoman.result(done, "stdout.log") == "2 my file.dat\n"


def test_a_wrong_recipe_is_told_with_line_field_and_cure(dragoman: Any) -> None:
    file = dragoman.folder / "app.yaml"
    file.write_text("name: app\ncommand: [app]\nlunch: tasks\n")
    done = dragoman("recipes", "check", str(file))
    assert done.code == 2
    assert done.err.strip().endswith("app.yaml:3: lunch: there is no such field (did you mean launch?)")
    told = dragoman("recipes", "check", str(file), "--json")
    assert (told.code, told.document["ok"], told.document["cure"]) == (2, False, "did you mean launch?")


def test_with_json_too_the_thread_and_its_steps_are_told_on_stderr(dragoman: Any) -> None:
    done = dragoman("ask", "1 task for 1 minute: sh -c true", "--sites", str(dragoman.sites), "--json")
    first, *steps = done.err.splitlines()
    assert first == f"thread {done.document['thread_id']}"
    assert any("local: READY" in step for step in steps)


def test_how_sites_are_asked_is_chosen_with_the_request(dragoman: Any) -> None:
    words = ("ask", "1 task for 1 minute: sh -c true", "--sites", str(dragoman.sites), "--json", "--asking")
    bad = dragoman(*words, "batched:0")
    assert (bad.code, "--asking" in bad.err) == (2, True)
    done = dragoman(*words, "serial@2")
    first, second = (each for each in done.document["timeline"] if each["words"] in ("local: READY", "twin: READY"))
    assert (datetime.fromisoformat(second["at"]) - datetime.fromisoformat(first["at"])).total_seconds() >= 1.9
