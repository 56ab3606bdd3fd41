"""A model's sentence counts only where every name in it was observed or asked for; a real citation is not enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.facts import Package, Packages, Workload
from dragoman.observation import Observation
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
