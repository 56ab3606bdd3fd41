"""Which recipe counts: the site's before a person's before the shipped one; a wrong file spoils itself alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import RecipeError, UnknownName
from providers.recipes.shelf import read_shelf, shipped_shelf

WANTED = {
    "cp2k", "gromacs", "lammps", "namd", "nextflow", "openfoam", "python", "python-mpi", "pytorch",
    "quantum-espresso", "r", "script", "snakemake",
}  # fmt: skip


def test_the_shipped_ones() -> None:
    assert {one.name for one in shipped_shelf().kept} == WANTED
    assert [one.error for one in shipped_shelf().kept if one.error] == []


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("lmp", "lammps"),
        ("/opt/bin/gmx_mpi", "gromacs"),
        ("gmx", None),
        ("pw.x", "quantum-espresso"),
        ("python3", None),
    ],
)
def test_by_program(program: str, name: str | None) -> None:
    found = shipped_shelf().for_program(program)
    assert (found.name if found else None) == name


async def test_a_folder_comes_before_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "lammps.yaml").write_text("name: lammps\nprograms: [lmp]\ncommand: [lmp_here]\n")
    shelf = await read_shelf([tmp_path, tmp_path / "not-there"])
    assert shelf.at(None).get("lammps").use().command == ("lmp_here",)
    assert shelf.at(None).get("LAMMPS").shipped is False
    assert len(shelf.at(None).kept) == len(WANTED)


async def test_a_recipe_for_some_sites_counts_there_alone(tmp_path: Path) -> None:
    (tmp_path / "frontier.yaml").write_text("name: lammps\nsites: ['front*']\ncommand: [lmp_amd]\n")
    shelf = await read_shelf([tmp_path])
    assert shelf.at("frontier").get("lammps").use().command == ("lmp_amd",)
    assert shelf.at("perlmutter").get("lammps").shipped
    assert shelf.at(None).get("lammps").shipped


async def test_a_wrong_file_spoils_its_own_recipe_alone(tmp_path: Path) -> None:
    (tmp_path / "lammps.yaml").write_text("name: lammps\nlunch: tasks\n")
    (tmp_path / "latin.yml").write_bytes(b"name: \xff\n")
    shelf = (await read_shelf([tmp_path])).at("x")
    with pytest.raises(RecipeError, match=r"lammps\.yaml:2: lunch: there is no such field \(did you mean launch\?\)"):
        shelf.get("lammps").use()
    with pytest.raises(RecipeError, match="cannot be read"):
        shelf.get("latin").use()
    assert shelf.get("gromacs").use().name == "gromacs"


def test_a_name_that_is_none_lists_those_that_are() -> None:
    with pytest.raises(UnknownName, match="there are cp2k, gromacs"):
        shipped_shelf().get("nope")
