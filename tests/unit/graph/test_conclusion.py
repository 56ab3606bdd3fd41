"""A model's sentence counts only where every name in it was observed or asked for; a real citation is not enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.facts import Package, Packages, Workload
from dragoman.observation import Observation
from dragoman.proposal import Verdict
from dragoman.request import JobRequest
from dragoman.site import Site
from graph.model.conclusion import Conclusion, Statement, explained

SITE = Site(name="there", scheduler="slurm")
REQUEST = JobRequest.model_validate({"software": [{"name": "lammps"}], "walltime_s": 3600})


@pytest.fixture
def told(observed: Callable[..., Observation], workload: Workload) -> Callable[[str], bool]:
    has = Packages(packages=(Package(name="gromacs", version="2024.2", manager="spack", load=("x",)),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("software/spack", "find_package", has, name="gromacs"),
        observed("software/pip", "find_package", None, reason="pip said 'frob' is broken", name="gromacs"),
    ]

    def make(text: str) -> bool:
        one = Statement(text=text, cites=["software/spack.find_package"])
        return text in explained(Conclusion(explanation=[one]), SITE, REQUEST, seen)

    return make


@pytest.mark.parametrize(
    "text",
    [
        "Use queue express.",
        "The express queue is free.",
        "Try the 'express' one.",
        "The gpu_long one has room.",
        "Load openmpi@4.1.6 first.",
        "Load gromacs/2023.1 first.",
        "The module tree has intel-2023 too.",
        "Go to the frontier cluster.",
        "The numpy package is there.",
    ],
)
def test_a_name_that_nobody_saw(told: Callable[[str], bool], text: str) -> None:
    assert not told(text)


@pytest.mark.parametrize(
    "text",
    [
        "The batch queue has 3 idle nodes.",
        "Queue gpu is full, and no other queue has GPUs.",
        "gromacs/2024.2 and gromacs@2024.2 are the same package.",
        "lammps was not found by spack.",
        "The default queue takes 'walltime_s' of a day; this site has 32 cpus_per_node.",
        "pip said 'frob' is broken on site there.",
        "Each node has 40 GiB GPUs and two-socket boards, a well-known set-up.",
    ],
)
def test_names_that_were_seen_or_asked_for(told: Callable[[str], bool], text: str) -> None:
    assert told(text)


@pytest.fixture
def said(observed: Callable[..., Observation], workload: Workload) -> Callable[[str, Verdict], str]:
    has = Packages(packages=(Package(name="gromacs", version="2024.2", manager="spack", load=("x",)),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("software/spack", "find_package", has, name="gromacs"),
        observed("software/spack", "find_package", Packages(packages=()), name="openfoam"),
    ]
    request = JobRequest.model_validate({"software": [{"name": "openfoam", "version": ">=4.3"}, {"name": "gromacs"}]})

    def make(text: str, verdict: Verdict) -> str:
        one = Statement(text=text, cites=["software/spack.find_package"])
        return explained(Conclusion(explanation=[one]), SITE, request, seen, verdict)

    return make


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.INCOMPATIBLE, Verdict.NEEDS_INFORMATION, Verdict.BUSY])
@pytest.mark.parametrize(
    "text",
    [
        "This site is READY; openfoam 4.3 is installed and free now.",
        "**ready**, start at will.",
        "All nodes are free at the moment.",
        "It is not busy and available.",
        "No doubt it is free.",
        "It starts immediately.",
        "openfoam 4.3 is installed.",
        "openfoam/4.3 can be loaded.",
        "openfoam is installed by spack.",
        "gromacs 2023.1 is here.",
        "GROMACS version 5.1 was seen.",
        "hdf5 1.14 is here.",
        "This is \uff32\uff25\uff21\uff24\uff39.",
    ],
)
def test_words_against_the_verdict_or_the_evidence(
    said: Callable[[str, Verdict], str], text: str, verdict: Verdict
) -> None:
    shown = said(text, verdict)
    assert shown.startswith("left out: 1 statement (")
    assert text not in shown


@pytest.mark.parametrize(
    "text",
    [
        "openfoam 4.3 was asked for and spack does not know it.",
        "openfoam is not installed.",
        "No node of queue gpu is free.",
        "gromacs 2024.2 is installed by spack.",
        "It would fit with 2.5 hours.",
        "The batch queue has 3 idle nodes.",
    ],
)
def test_words_that_may_stand_are_shown_as_the_models(said: Callable[[str, Verdict], str], text: str) -> None:
    assert said(text, Verdict.UNKNOWN) == f"the model says: {text} [cites software/spack.find_package]"


def test_room_may_be_spoken_of_where_the_site_is_ready(said: Callable[[str, Verdict], str]) -> None:
    assert "the model says: Nodes are free now." in said("Nodes are free now.", Verdict.READY)
    assert said("The site is INCOMPATIBLE.", Verdict.READY).startswith("left out: 1 statement (contradicts")
