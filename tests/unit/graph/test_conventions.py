from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from dragoman.errors import BadRequest
from dragoman.facts import ContainerRuntime, Packages, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Verdict
from dragoman.request import ContainerNeed, JobRequest, SoftwareNeed
from dragoman.shape import Shape
from dragoman.site import Site
from graph.verdict.conventions import STRICT, Conventions, read_conventions
from graph.verdict.evaluate import evaluate

Make = Callable[..., Observation]
SITE = Site(name="there", scheduler="slurm")
TEXT = """
name: ours
runtimes_alike: [[docker, podman]]
container_replaces_software: true
urgent_busy: busy
"""


@pytest.fixture
def seen(workload: Workload, observed: Make) -> list[Observation]:
    """Podman is there, docker and the software are not."""
    return [
        observed("workload/slurm", "resources", workload),
        observed("container/podman", "status", ContainerRuntime(runtime="podman", usable=Truth.YES)),
        observed("container/docker", "status", None),
        observed("software/spack", "find_package", None, name="meep"),
    ]


IN_DOCKER = JobRequest(software=(SoftwareNeed(name="meep"),), containers=(ContainerNeed(runtimes=("docker",)),))


def test_strictly_nothing_stands_for_anything_else(seen: list[Observation], at: datetime) -> None:
    proposal = evaluate(IN_DOCKER, SITE, seen, at, 0)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert {check.kind for check in proposal.checks if check.result is Truth.NO} == {"software", "container"}
    assert proposal.constraints == {}


@pytest.mark.parametrize(
    ("customs", "verdict"),
    [
        (Conventions(name="a", runtimes_alike=(("docker", "podman"),)), Verdict.INCOMPATIBLE),
        (Conventions(name="a", container_replaces_software=True), Verdict.INCOMPATIBLE),
        (read_conventions(TEXT, where="here"), Verdict.READY),
    ],
)
def test_customs_are_named_in_the_proposal(
    customs: Conventions, verdict: Verdict, seen: list[Observation], at: datetime
) -> None:
    proposal = evaluate(IN_DOCKER, SITE, seen, at, 0, customs)
    assert (proposal.verdict, proposal.constraints["conventions"]) == (verdict, customs.name)


def test_a_runtime_of_another_group_still_stands_for_none(seen: list[Observation], at: datetime) -> None:
    request = JobRequest(containers=(ContainerNeed(runtimes=("apptainer",)),))
    assert evaluate(request, SITE, seen, at, 0, read_conventions(TEXT, where="here")).verdict is Verdict.INCOMPATIBLE


@pytest.mark.parametrize(
    ("nodes", "strict", "kind"), [(3, Verdict.READY, Verdict.READY), (5, Verdict.INCOMPATIBLE, Verdict.BUSY)]
)
def test_urgent(nodes: int, strict: Verdict, kind: Verdict, seen: list[Observation], at: datetime) -> None:
    request = JobRequest(shapes=(Shape(nodes=nodes),), urgent=True)
    assert evaluate(request, SITE, seen, at, 0).verdict is strict
    assert evaluate(request, SITE, seen, at, 0, read_conventions(TEXT, where="here")).verdict is kind


def test_urgent_where_it_is_not_known_what_is_free(workload: Workload, observed: Make, at: datetime) -> None:
    groups = tuple(group.model_copy(update={"nodes_idle": None}) for group in workload.groups or ())
    blind = observed("workload/slurm", "resources", workload.model_copy(update={"groups": groups}))
    assert evaluate(JobRequest(shapes=(Shape(nodes=2),), urgent=True), SITE, [blind], at, 0).verdict is Verdict.UNKNOWN


def test_an_empty_file_is_strict() -> None:
    assert read_conventions("# nothing\n", where="here") == STRICT


@pytest.mark.parametrize(
    "text", ["[1]", "runtimes_alike: docker", "nobody: true", "urgent_busy: perhaps", "a: [", "name: ''"]
)
def test_what_is_wrong_is_named(text: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_conventions(text, where="file.yaml")
    assert caught.value.where
    assert caught.value.where.startswith("file.yaml")


def test_packages_are_not_asked_of_a_container(seen: list[Observation], at: datetime, observed: Make) -> None:
    """The software check is left out, not taken as satisfied."""
    assert Packages().packages == ()
    proposal = evaluate(IN_DOCKER, SITE, seen, at, 0, read_conventions(TEXT, where="here"))
    assert "software" not in {check.kind for check in proposal.checks}
