from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from dragoman.facts import (
    ContainerRuntime,
    Interface,
    Interfaces,
    MpiLibraries,
    MpiLibrary,
    Package,
    Packages,
    Workload,
)
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Verdict
from dragoman.request import Budget, ContainerNeed, JobRequest, MpiNeed, NetworkNeed, SoftwareNeed
from dragoman.shape import Gpus, Memory, Shape
from dragoman.site import Charges, Site
from dragoman.versions import VersionRange
from graph.verdict.evaluate import evaluate

SITE = Site(name="there", scheduler="slurm", charges=Charges(currency="USD", per_node_hour=2.0))
Make = Callable[..., Observation]


@pytest.mark.parametrize(
    ("shape", "verdict", "reason"),
    [
        (Shape(nodes=2), Verdict.READY, "fits queue batch, free now"),
        (Shape(nodes=5), Verdict.BUSY, "fits queue batch, not free now"),
        (Shape(nodes=12), Verdict.INCOMPATIBLE, "queue batch: 10 nodes, asked 12"),
        (Shape(tasks=64), Verdict.READY, "fits queue batch, free now"),
        (Shape(tasks=400), Verdict.INCOMPATIBLE, "queue batch: 10 nodes, asked 13"),
        (Shape(cpus_per_task=48), Verdict.BUSY, "fits queue gpu, not free now"),
        (Shape(gpus=Gpus(count=8, per="job", model="a100")), Verdict.BUSY, "fits queue gpu, not free now"),
        (Shape(nodes=1, gpus=Gpus(count=8, per="job")), Verdict.INCOMPATIBLE, "no GPUs a node, asked 8 GPUs"),
        (Shape(gpus=Gpus(count=1, per="job", memory_bytes=80 * 2**30)), Verdict.INCOMPATIBLE, "GPUs"),
        (Shape(nodes=1, memory=Memory(bytes=256 * 2**30, per="node")), Verdict.BUSY, "fits queue gpu"),
        (Shape(nodes=1, memory=Memory(bytes=2**40, per="node")), Verdict.INCOMPATIBLE, "128 GiB a node, asked 1 TiB"),
    ],
)
def test_shape_decides(
    shape: Shape, verdict: Verdict, reason: str, workload: Workload, observed: Make, at: datetime
) -> None:
    proposal = evaluate(JobRequest(shapes=(shape,)), SITE, [observed("workload/slurm", "resources", workload)], at, 0)
    assert proposal.verdict is verdict
    assert reason in "; ".join(proposal.reasons)


def test_walltime_is_held_against_the_queue_that_holds_the_shape(
    workload: Workload, observed: Make, at: datetime
) -> None:
    request = JobRequest(shapes=(Shape(gpus=Gpus(count=4, per="job")),), walltime_s=7200)
    proposal = evaluate(request, SITE, [observed("workload/slurm", "resources", workload)], at, 0)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert [s.words for s in proposal.suggestions] == ["fits in queue gpu if walltime is at most 1 h"]


def test_nothing_observed_is_unknown_and_never_ready(at: datetime) -> None:
    proposal = evaluate(JobRequest(shapes=(Shape(nodes=1),)), SITE, [], at, 0)
    assert proposal.verdict is Verdict.UNKNOWN


def test_evidence_past_its_age_is_not_used(workload: Workload, observed: Make, at: datetime) -> None:
    seen = observed("workload/slurm", "resources", workload)
    proposal = evaluate(JobRequest(shapes=(Shape(nodes=1),)), SITE, [seen], at + timedelta(seconds=61), 0)
    assert proposal.verdict is Verdict.UNKNOWN


LAMMPS = Packages(packages=(Package(name="lammps", version="20230802", manager="spack"),))


@pytest.mark.parametrize(
    ("wanted", "result"),
    [("2Aug2023", Truth.YES), (">=2Aug2023", Truth.YES), (">=2Sep2023", Truth.NO), ("!=2Aug2023", Truth.NO)],
)
def test_a_package_is_judged_by_its_own_version(
    wanted: str, result: Truth, workload: Workload, observed: Make, at: datetime
) -> None:
    request = JobRequest(software=(SoftwareNeed(name="lammps", version=VersionRange.parse(wanted)),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("software/spack", "find_package", LAMMPS, name="lammps"),
    ]
    proposal = evaluate(request, SITE, seen, at, 0)
    assert proposal.fits is result
    if result is Truth.NO:
        assert proposal.suggestions[0].words.startswith("has lammps 20230802, asked ")


def test_a_manager_that_gave_no_answer_keeps_absence_unknown(workload: Workload, observed: Make, at: datetime) -> None:
    request = JobRequest(software=(SoftwareNeed(name="gromacs"),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("software/pip", "find_package", None, name="gromacs"),
        observed("software/spack", "find_package", None, reason="time-out after 20 s", name="gromacs"),
    ]
    proposal = evaluate(request, SITE, seen, at, 0)
    assert proposal.verdict is Verdict.UNKNOWN
    assert proposal.reasons == ("gromacs: time-out after 20 s",)
    absent_everywhere = evaluate(request, SITE, seen[:2], at, 0)
    assert absent_everywhere.verdict is Verdict.INCOMPATIBLE


def test_a_container_runtime_stands_for_no_other(workload: Workload, observed: Make, at: datetime) -> None:
    docker = ContainerRuntime(runtime="docker", version="26.1", usable=Truth.YES)
    seen = [observed("workload/slurm", "resources", workload), observed("container/docker", "status", docker)]
    for runtimes, verdict in (
        (("docker",), Verdict.READY),
        (("apptainer",), Verdict.INCOMPATIBLE),
        ((), Verdict.READY),
    ):
        request = JobRequest(containers=(ContainerNeed(runtimes=runtimes),))
        assert evaluate(request, SITE, seen, at, 0).verdict is verdict


def test_an_mpi_library_is_no_fabric(workload: Workload, observed: Make, at: datetime) -> None:
    mpi = MpiLibraries(libraries=(MpiLibrary(implementation="openmpi", version="5.0.3"),))
    slow = Interfaces(interfaces=(Interface(name="eth0", fabric="ethernet", up=Truth.YES, low_latency=Truth.NO),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("parallel/openmpi", "libraries", mpi),
        observed("network/ethernet", "interfaces", slow),
    ]
    both = JobRequest(mpi=MpiNeed(implementations=("openmpi",)), networks=(NetworkNeed(low_latency=True),))
    assert evaluate(both, SITE, seen, at, 0).verdict is Verdict.INCOMPATIBLE
    assert evaluate(JobRequest(mpi=both.mpi), SITE, seen, at, 0).verdict is Verdict.READY


def test_unknown_latency_is_not_low(workload: Workload, observed: Make, at: datetime) -> None:
    ports = Interfaces(interfaces=(Interface(name="hsn0", fabric="other", up=Truth.YES),))
    seen = [observed("workload/slurm", "resources", workload), observed("network/ethernet", "interfaces", ports)]
    proposal = evaluate(JobRequest(networks=(NetworkNeed(low_latency=True),)), SITE, seen, at, 0)
    assert proposal.verdict is Verdict.UNKNOWN


def test_alternative_shapes_the_preferred_one_first(workload: Workload, observed: Make, at: datetime) -> None:
    request = JobRequest(shapes=(Shape(nodes=1, gpus=Gpus(count=8, per="node")), Shape(nodes=2)))
    proposal = evaluate(request, SITE, [observed("workload/slurm", "resources", workload)], at, 0)
    assert (proposal.verdict, proposal.shape_index, proposal.queue) == (Verdict.READY, 1, "batch")


def test_cost_and_budget(workload: Workload, observed: Make, at: datetime) -> None:
    seen = [observed("workload/slurm", "resources", workload)]
    request = JobRequest(shapes=(Shape(nodes=2),), walltime_s=5400, budget=Budget(amount=5, unit="USD"))
    proposal = evaluate(request, SITE, seen, at, 0)
    assert (proposal.cost.amount, proposal.cost.unit, proposal.verdict) == (6.0, "USD", Verdict.INCOMPATIBLE)
    hours = request.model_copy(update={"budget": Budget(amount=3, unit="node-hours")})
    assert evaluate(hours, SITE, seen, at, 0).verdict is Verdict.READY
    timeless = JobRequest(shapes=(Shape(nodes=2),), budget=Budget(amount=5, unit="USD"))
    undecided = evaluate(timeless, SITE, seen, at, 0)
    assert (undecided.verdict, undecided.cost.amount) == (Verdict.NEEDS_INFORMATION, None)


def test_deadline(workload: Workload, observed: Make, at: datetime) -> None:
    seen = [observed("workload/slurm", "resources", workload)]
    soon = at + timedelta(hours=2)
    cases = {3600: Verdict.READY, 10800: Verdict.INCOMPATIBLE, None: Verdict.NEEDS_INFORMATION}
    for walltime, verdict in cases.items():
        request = JobRequest(shapes=(Shape(nodes=1),), walltime_s=walltime, deadline=soon)
        assert evaluate(request, SITE, seen, at, 0).verdict is verdict
    busy = JobRequest(shapes=(Shape(nodes=5),), walltime_s=3600, deadline=soon)
    assert evaluate(busy, SITE, seen, at, 0).verdict is Verdict.UNKNOWN


def test_every_check_cites_what_it_rests_on(workload: Workload, observed: Make, at: datetime) -> None:
    request = JobRequest(shapes=(Shape(nodes=1),), software=(SoftwareNeed(name="lammps"),))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed("software/spack", "find_package", LAMMPS, name="lammps"),
    ]
    proposal = evaluate(request, SITE, seen, at, 0)
    cited = {check.kind: check.observations for check in proposal.checks}
    assert cited == {"shape": ("workload/slurm.resources",), "software": ("software/spack.find_package",)}


@pytest.mark.parametrize("scheduler", ["cobalt", "moab"])
def test_a_site_whose_scripts_alone_are_read_is_never_ready(
    scheduler: str, workload: Workload, observed: Make, at: datetime
) -> None:
    site = SITE.model_copy(update={"scheduler": scheduler})
    seen = [observed(f"workload/{scheduler}", "resources", workload)]
    proposal = evaluate(JobRequest(shapes=(Shape(nodes=2),)), site, seen, at, 0)
    assert (proposal.verdict, proposal.fits) == (Verdict.UNKNOWN, Truth.UNKNOWN)
    assert f"jobs are not handed to {scheduler} from here: only its scripts are read" in proposal.reasons
    far = evaluate(JobRequest(shapes=(Shape(nodes=99),)), site, seen, at, 0)
    assert far.verdict is Verdict.INCOMPATIBLE
