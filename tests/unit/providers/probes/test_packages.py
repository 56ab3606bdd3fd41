"""Names of packages: exact, and nearby only as a hint."""

import pytest

from dragoman.facts import Package
from dragoman.observation import Outcome
from providers.probes.packages import package_answer, pep503, similar_names


def test_a_package_is_not_what_contains_its_name() -> None:
    packages = [Package(name="py-torchvision", version="0.18", manager="spack")]
    answer = package_answer("torch", packages, known=["py-torchvision"])
    assert answer.value is not None
    assert answer.value.packages == ()
    assert answer.value.similar == ("py-torchvision",)


def test_case_does_not_tell_names_apart() -> None:
    answer = package_answer("GROMACS", [Package(name="gromacs", version="2024.2", manager="modules")])
    assert answer.value is not None
    assert answer.value.packages[0].version == "2024.2"


def test_nothing_nearby_is_absence() -> None:
    assert package_answer("lammps", [], known=["gcc"]).outcome is Outcome.ABSENT


@pytest.mark.parametrize(("name", "nearby"), [("gromcas", ("gromacs",)), ("gromacs-mpi", ("gromacs",)), ("r", ())])
def test_nearby(name: str, nearby: tuple[str, ...]) -> None:
    assert similar_names(name, ["gromacs", "lammps", "R"]) == nearby


def test_pep_503() -> None:
    assert pep503("Zope._-Interface") == "zope-interface"
