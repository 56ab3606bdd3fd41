"""Versions in the words of sentences: lists of which one will do, exclusions, and who installed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("MATLAB R2023b or R2024a, 1 node", ["R2023b", "R2024a"]),
        ("Abaqus 2023 or 2024 on 1 node", ["2023", "2024"]),
        ("CP2K 2023.1, 2023.2 or 2024.1, 2 nodes", ["2023.1", "2023.2", "2024.1"]),
        ("Stata 17 or 18, 1 node", ["17", "18"]),
    ],
)
def test_versions_of_which_one_will_do(read: Callable[..., Any], text: str, versions: list[str]) -> None:
    reading = read(text)
    (need,) = reading.request.software
    assert [str(one.version).removeprefix("==") for one in (need, *need.alternatives)] == versions
    assert {one.name for one in (need, *need.alternatives)} == {text.split()[0]}
    assert not reading.unread


@pytest.mark.parametrize("text", ["Abaqus 2023 or 24 cores", "Stata 17 or 18 cores", "GROMACS 2024.1 or newer, 1 node"])
def test_a_count_behind_or_is_no_version(read: Callable[..., Any], text: str) -> None:
    assert read(text).request.software[0].alternatives == ()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("HOOMD-blue may be used in any version but 4.3.0, 1 node", "!=4.3.0"),
        ("JAX has to be present in a version from 0.4.25 up to, but not including, 0.5.", ">=0.4.25,<0.5"),
        ("OpenFOAM, releases 2206 through 2312, on eight nodes", ">=2206,<=2312"),
        ("Qiskit with version 1.2 or later, 1 node", ">=1.2"),
    ],
)
def test_ranges_in_sentences(read: Callable[..., Any], text: str, version: str) -> None:
    assert str(read(text).request.software[0].version) == version


def test_who_installed_it_is_no_software(read: Callable[..., Any]) -> None:
    (need,) = read("Psi4 1.9 has to be available through conda, 1 node").request.software
    assert (need.name, need.manager) == ("Psi4", "conda")
    assert "Spack" not in {need.name for need in read("PETSc, installed with Spack, 1 node").request.software}


@pytest.mark.parametrize(
    "text", ["gromacs 2024.x, 1 core", "openfoam 12.x on 2 nodes", "quantum espresso 7.x on 2 nodes"]
)
def test_a_series_of_versions_is_no_file_of_a_program(read: Callable[..., Any], text: str) -> None:
    found = read(text).request
    assert found.command == ()
    assert found.script is None
    assert len(found.software) == 1
    assert len(found.software[0].version.bounds) == 2


def test_what_begins_a_request_is_software_beside_another(read: Callable[..., Any]) -> None:
    assert {need.name for need in read("PyTorch with CUDA 12.1 on 1 GPU").request.software} == {"PyTorch", "CUDA"}
    told = read("STAR-CCM+ is what we use in the lab, but here I'd like SU2 8.0.1 instead. 5 nodes")
    assert [need.name for need in told.request.software] == ["SU2"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("STAR-CCM+ 18.06.007-R8 on 64 cores", "==18.06.007-R8"), ("MATLAB R2023b-R2024a, 1 core", ">=R2023b,<=R2024a"),
        ("LAMMPS stable_2Aug2023_update3 on 4 nodes", "==stable_2Aug2023_update3"),
    ],
)  # fmt: skip
def test_releases_with_a_sign(read: Callable[..., Any], text: str, version: str) -> None:
    assert str(read(text).request.software[0].version) == version
