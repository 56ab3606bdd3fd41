"""What was not asked, is amiss, or counts in another way does not become a yes, and is no absence either."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import (
    ContainerRuntime,
    FileSystem,
    FileSystems,
    Interfaces,
    MpiLibraries,
    MpiLibrary,
    Package,
    Packages,
    Presence,
    Workload,
)  # fmt: skip
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import ContainerNeed, JobRequest, MpiNeed, NetworkNeed, SoftwareNeed, StorageNeed
from dragoman.shape import Shape
from dragoman.site import Site
from dragoman.versions import VersionRange
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.evaluate import evaluate
from graph.verdict.evidence import Evidence
from graph.verdict.means import check_launch, means_of

Make = Callable[..., Observation]
SITE = Site(name="there", scheduler="slurm")


@pytest.fixture
def judge(workload: Workload, observed: Make, at: datetime) -> Callable[..., Proposal]:
    def make(request: JobRequest, *more: Observation, site: Site = SITE, conventions: Conventions = STRICT) -> Proposal:
        seen = [observed("workload/slurm", "resources", workload), *more]
        return evaluate(request, site, seen, at, 0, conventions)

    return make


@pytest.mark.parametrize(
    ("name", "wanted", "version", "verdict"),
    [
        ("openfoam", ">=11", "2312", Verdict.UNKNOWN),
        ("openfoam", ">=v11", "v2312", Verdict.UNKNOWN),
        ("openfoam", ">=v2306", "11", Verdict.UNKNOWN),
        ("openfoam", ">=v2306", "v2312", Verdict.READY),
        ("openfoam", ">=11", "12", Verdict.READY),
        ("openfoam", "<11", "v2312", Verdict.UNKNOWN),
        ("openfoam", "==11", "v2312", Verdict.INCOMPATIBLE),
        ("thing", ">=3.2", "2024.1", Verdict.UNKNOWN),
        ("gromacs", ">=5.1", "2024.2", Verdict.READY),
        ("lammps", ">=2Aug2023", "20240829", Verdict.READY),
    ],
)
def test_versions_of_another_numbering_have_no_order(
    judge: Any, observed: Make, name: str, wanted: str, version: str, verdict: Verdict
) -> None:
    has = Packages(packages=(Package(name=name, version=version, manager="spack"),))
    request = JobRequest(software=(SoftwareNeed(name=name, version=VersionRange.parse(wanted)),))
    assert judge(request, observed("software/spack", "find_package", has, name=name)).verdict is verdict


@pytest.mark.parametrize("off", ["software/spack", "software/spack.find_package"])
def test_software_of_a_manager_that_is_switched_off_is_not_absent(judge: Any, observed: Make, off: str) -> None:
    site = SITE.model_copy(update={"providers_off": (off, "container/docker")})
    none = observed("software/pip", "find_package", None, name="gromacs")
    told = judge(JobRequest(software=(SoftwareNeed(name="gromacs"),)), none, site=site)
    assert told.verdict is Verdict.UNKNOWN
    assert told.reasons == ("gromacs: not asked, switched off by the sites file: spack",)
    by_pip = JobRequest(software=(SoftwareNeed(name="gromacs", manager="pip"),))
    assert judge(by_pip, none, site=site).verdict is Verdict.INCOMPATIBLE
    there = Packages(packages=(Package(name="gromacs", version="2024.1", manager="pip"),))
    has = observed("software/pip", "find_package", there, name="gromacs")
    assert judge(JobRequest(software=(SoftwareNeed(name="gromacs"),)), has, site=site).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("off", "fields", "verdict"),
    [
        ("container/docker", {"containers": (ContainerNeed(runtimes=("docker",)),)}, Verdict.UNKNOWN),
        ("container/docker", {"containers": (ContainerNeed(),)}, Verdict.UNKNOWN),
        ("container/docker", {"containers": (ContainerNeed(runtimes=("sarus",)),)}, Verdict.INCOMPATIBLE),
        ("network/infiniband", {"networks": (NetworkNeed(low_latency=True),)}, Verdict.UNKNOWN),
        ("network/infiniband", {"networks": (NetworkNeed(fabrics=("omni-path",)),)}, Verdict.INCOMPATIBLE),
        ("storage/lustre", {"storage": (StorageNeed(kinds=("lustre",)),)}, Verdict.UNKNOWN),
        ("storage/lustre", {"storage": (StorageNeed(kinds=("gpfs",)),)}, Verdict.INCOMPATIBLE),
    ],
)
def test_what_is_switched_off_is_not_absent(
    judge: Any, observed: Make, off: str, fields: dict[str, Any], verdict: Verdict
) -> None:
    site = SITE.model_copy(update={"providers_off": (off,)})
    seen = [
        observed("container/podman", "status", None),
        observed("network/ethernet", "interfaces", Interfaces()),
        observed("storage/nfs", "file_systems", FileSystems()),
    ]
    told = judge(JobRequest(**fields), *seen, site=site)
    assert told.verdict is verdict
    assert ("switched off" in told.reasons[0]) is (verdict is Verdict.UNKNOWN)


@pytest.mark.parametrize(
    ("off", "wanted", "verdict"),
    [
        ("parallel/openmpi", ("openmpi",), Verdict.UNKNOWN),
        ("parallel/openmpi.libraries", (), Verdict.UNKNOWN),
        ("software/spack", ("openmpi",), Verdict.UNKNOWN),
        ("software/spack.probe", ("mvapich",), Verdict.UNKNOWN),
        ("parallel/openmpi", ("mvapich",), Verdict.INCOMPATIBLE),
        ("software/spack.versions", ("openmpi",), Verdict.INCOMPATIBLE),
        ("container/docker", (), Verdict.INCOMPATIBLE),
    ],
)
def test_an_mpi_is_not_absent_where_who_would_show_it_is_switched_off(
    judge: Any, observed: Make, off: str, wanted: tuple[str, ...], verdict: Verdict
) -> None:
    site = SITE.model_copy(update={"providers_off": (off,)})
    seen = [observed("parallel/mpich", "libraries", MpiLibraries()), observed("software/pip", "probe", None)]
    told = judge(JobRequest(mpi=MpiNeed(implementations=wanted)), *seen, site=site)
    assert told.verdict is verdict
    assert ("switched off" in told.reasons[0]) is (verdict is Verdict.UNKNOWN)
    has = MpiLibraries(libraries=(MpiLibrary(implementation="openmpi", version="4.1.6"),))
    there = [observed("parallel/openmpi", "libraries", has), observed("software/pip", "probe", Presence())]
    fits = not wanted or "openmpi" in wanted
    assert (judge(JobRequest(mpi=MpiNeed(implementations=wanted)), *there, site=site).fits is Truth.YES) is fits


@pytest.mark.parametrize(
    ("off", "launcher", "result"),
    [
        ("parallel/openmpi", None, Truth.UNKNOWN),
        ("software/spack", None, Truth.UNKNOWN),
        ("parallel/openmpi", "none", Truth.NO),
        ("container/docker", None, Truth.NO),
    ],
)
def test_a_launcher_is_not_absent_where_who_would_show_it_is_switched_off(
    observed: Make, off: str, launcher: str | None, result: Truth
) -> None:
    site = SITE.model_copy(update={"providers_off": (off,), "launcher": launcher})
    evidence = Evidence([observed("parallel/mpich", "libraries", MpiLibraries())], site)
    four = Shape(tasks=4)
    request = JobRequest(command=("./a",), shapes=(four,), launch="tasks")
    check = check_launch(request, site, four, "machine", evidence)
    assert check is not None
    assert check.result is result
    assert ("switched off" in check.reason) is (result is Truth.UNKNOWN)


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ({"healthy": Truth.YES}, Verdict.UNKNOWN),
        ({"healthy": Truth.YES, "writable": Truth.YES}, Verdict.READY),
        ({"healthy": Truth.YES, "writable": Truth.NO}, Verdict.INCOMPATIBLE),
        ({"healthy": Truth.UNKNOWN, "writable": Truth.YES}, Verdict.UNKNOWN),
        ({"healthy": Truth.NO, "writable": Truth.YES}, Verdict.INCOMPATIBLE),
    ],
)
def test_storage_is_written_to_and_works(judge: Any, observed: Make, state: dict[str, Any], verdict: Verdict) -> None:
    disk = FileSystems(file_systems=(FileSystem(mount="/scratch", kind="lustre", **state),))
    seen = observed("storage/lustre", "file_systems", disk)
    assert judge(JobRequest(storage=(StorageNeed(kinds=("lustre",)),)), seen).verdict is verdict


@pytest.mark.parametrize(("written", "fits"), [({}, Truth.YES), ({"healthy": "unknown"}, Truth.UNKNOWN)])
def test_what_the_file_of_a_simulated_site_leaves_out_is_as_it_should_be(
    judge: Any, observed: Make, written: dict[str, str], fits: Truth
) -> None:
    state = {"file_systems": [{"mount": "/scratch", "kind": "lustre", **written}]}
    site = SITE.model_copy(update={"simulated": state})
    disk = FileSystems(file_systems=(FileSystem(mount="/scratch", kind="lustre"),))
    seen = observed("storage/lustre", "file_systems", disk)
    assert judge(JobRequest(storage=(StorageNeed(kinds=("lustre",)),)), seen, site=site).fits is fits


@pytest.mark.parametrize(
    ("asked", "wanted", "there", "version", "verdict"),
    [
        (("singularity",), None, "apptainer", "1.2.5", Verdict.READY),
        (("singularity",), ">=3.5", "apptainer", "1.2.5", Verdict.READY),
        (("singularity",), "<3", "apptainer", "1.2.5", Verdict.UNKNOWN),
        (("docker", "singularity"), ">=3.5", "apptainer", "1.2.5", Verdict.READY),
        (("apptainer",), None, "singularity", "3.8.7", Verdict.INCOMPATIBLE),
        (("singularity",), None, "podman", "5.0.0", Verdict.INCOMPATIBLE),
        (("docker",), None, "apptainer", "1.2.5", Verdict.INCOMPATIBLE),
    ],
)
def test_apptainer_continues_singularity(
    judge: Any, observed: Make, asked: tuple[str, ...], wanted: str | None, there: str, version: str, verdict: Verdict
) -> None:
    runtime = ContainerRuntime(runtime=there, version=version, usable=Truth.YES)
    need = ContainerNeed(runtimes=asked, version=VersionRange.parse(wanted) if wanted else None)
    request = JobRequest(containers=(need,), shapes=(Shape(nodes=1),))
    seen = observed(f"container/{there}", "status", runtime)
    assert judge(request, seen).verdict is verdict
    means = means_of(request, SITE, "slurm", "batch", Evidence([seen]))
    assert means.runtime == (there if verdict is Verdict.READY else None)
    by_name = Conventions(name="by-name", apptainer_is_singularity=False)
    assert judge(request, seen, conventions=by_name).verdict is Verdict.INCOMPATIBLE
