"""How a package was built: what is told decides, what no module tells is not known."""

from __future__ import annotations

import pytest

from dragoman.facts import Package
from dragoman.kleene import Truth
from dragoman.request import SoftwareNeed
from graph.verdict.software import admits


@pytest.mark.parametrize(
    ("manager", "there", "asked", "result"),
    [
        ("spack", ("+cuda", "~mpi"), ("+cuda",), Truth.YES),
        ("spack", ("+cuda", "~mpi"), ("cuda",), Truth.YES),
        ("spack", ("+cuda", "~mpi"), ("cuda", "-mpi"), Truth.YES),
        ("spack", ("+cuda", "~mpi"), ("mpi",), Truth.NO),
        ("spack", ("+cuda",), ("+rocm",), Truth.NO),
        ("spack", ("build_type=Release",), ("build_type=Debug",), Truth.NO),
        ("spack", (), ("+cuda",), Truth.UNKNOWN),
        ("modules", (), ("+cuda",), Truth.UNKNOWN),
        ("modules", ("foss-2023a",), ("mpi",), Truth.UNKNOWN),
        ("modules", ("cuda",), ("+cuda",), Truth.YES),
        ("conda", ("build=py311_0",), ("cuda",), Truth.UNKNOWN),
        ("easybuild", (), ("build_type=Release",), Truth.UNKNOWN),
    ],
)
def test_variants(manager: str, there: tuple[str, ...], asked: tuple[str, ...], result: Truth) -> None:
    package = Package(name="gromacs", version="2024.2", manager=manager, variants=there)
    assert admits(package, SoftwareNeed(name="gromacs", variants=asked)) is result
