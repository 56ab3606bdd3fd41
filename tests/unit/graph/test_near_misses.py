"""What would make it possible, said so that a person can change the request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import Account, Accounts, FileSystem, FileSystems, Package, Packages, Presence, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import Budget, JobRequest, MpiNeed, SoftwareNeed, StorageNeed
from dragoman.shape import Gpus, Memory, Shape
from dragoman.site import Charges, Site
from dragoman.versions import VersionRange
from graph.verdict.evaluate import evaluate

Make = Callable[..., Observation]
SITE = Site(name="there", scheduler="slurm", charges=Charges(currency="USD", per_node_hour=2))
GIB = 2**30


@pytest.fixture
def judge(workload: Workload, observed: Make, at: datetime) -> Callable[..., Proposal]:
    def make(request: JobRequest, *more: Observation, site: Site = SITE) -> Proposal:
        return evaluate(request, site, [observed("workload/slurm", "resources", workload), *more], at, 0)

    return make


def words(proposal: Proposal) -> list[str]:
    return [suggestion.words for suggestion in proposal.suggestions]


def test_a_version_too_old(judge: Any, observed: Make) -> None:
    has = Packages(packages=(Package(name="meep", version="4.3", manager="spack"),))
    request = JobRequest(software=(SoftwareNeed(name="meep", version=VersionRange.parse(">=4.4")),))
    proposal = judge(request, observed("software/spack", "find_package", has, name="meep"))
    assert words(proposal) == ["has meep 4.3, asked >=4.4"]


def test_a_version_of_zeros_is_a_version(judge: Any, observed: Make) -> None:
    has = Packages(packages=(Package(name="meep", version="0.0.0", manager="conda"),))
    request = JobRequest(software=(SoftwareNeed(name="meep", version=VersionRange.parse(">=3.7.8")),))
    proposal = judge(request, observed("software/conda", "find_package", has, name="meep"))
    assert proposal.verdict is Verdict.INCOMPATIBLE


def test_free_against_asked(judge: Any) -> None:
    proposal = judge(JobRequest(shapes=(Shape(nodes=5),)))
    assert (proposal.verdict, proposal.reasons[0]) == (
        Verdict.BUSY, "fits queue batch, not free now (3 nodes free, asked 5)",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Shape(nodes=1, memory=Memory(bytes=600 * GIB, per="node")), "fits in queue gpu with at most 512 GiB a node"),
        (
            Shape(nodes=1, gpus=Gpus(count=8, per="node", model="a100")),
            "fits in queue gpu with at most 4 a100 GPUs a node",
        ),
        (Shape(tasks=1, cpus_per_task=48), None),
        (Shape(tasks=1, cpus_per_task=100), "fits in queue gpu with at most 64 cores a node"),
        (Shape(nodes=12), "has 10 nodes, asked 12"),
        (Shape(nodes=1, gpus=Gpus(count=2, per="node", model="h100")), None),
    ],
)
def test_nodes_that_lack_one_thing(judge: Any, shape: Shape, said: str | None) -> None:
    found = words(judge(JobRequest(shapes=(shape,))))
    assert (said in found) if said else not found


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            JobRequest(shapes=(Shape(nodes=12),), walltime_s=2 * 86400),
            {
                "fits in queue batch with a walltime of at most 1 d and at most 10 nodes",
                "fits in queue gpu with a walltime of at most 1 h and at most 2 nodes",
            },
        ),
        (
            JobRequest(shapes=(Shape(nodes=1, memory=Memory(bytes=600 * GIB, per="node")),), walltime_s=2 * 86400),
            {
                "fits in queue batch with a walltime of at most 1 d and at most 128 GiB a node",
                "fits in queue gpu with a walltime of at most 1 h and at most 512 GiB a node",
            },
        ),
        (
            JobRequest(
                shapes=(Shape(nodes=1, memory=Memory(bytes=600 * GIB, per="node"), tasks=1, cpus_per_task=100),),
                walltime_s=2 * 86400,
            ),
            set(),
        ),
    ],
    ids=["nodes and time", "memory and time", "two things of a node"],
)
def test_what_has_to_change_together_is_said_together(judge: Any, request_: JobRequest, said: set[str]) -> None:
    assert set(words(judge(request_))) == said


def test_the_tighter_of_two_bounds_of_nodes_is_offered(workload: Workload, observed: Make, at: datetime) -> None:
    limited = Queue(name="batch", usable=Truth.YES, default=True, max_nodes=11)
    told = observed("workload/slurm", "resources", workload.model_copy(update={"queues": (limited,)}))
    proposal = evaluate(JobRequest(shapes=(Shape(nodes=12),)), SITE, [told], at, 0)
    assert words(proposal) == ["has 10 nodes, asked 12"]


def test_a_change_that_would_not_be_enough_is_not_suggested(workload: Workload, observed: Make, at: datetime) -> None:
    closed = Queue(name="batch", usable=Truth.NO, reason="queue batch is drained", max_walltime_s=3600)
    told = observed("workload/slurm", "resources", workload.model_copy(update={"queues": (closed,)}))
    proposal = evaluate(JobRequest(shapes=(Shape(nodes=1),), walltime_s=7200), SITE, [told], at, 0)
    assert (proposal.verdict, words(proposal)) == (Verdict.INCOMPATIBLE, [])


def test_a_smaller_part_is_not_suggested_that_would_not_leave_room_for_the_others(judge: Any) -> None:
    proposal = judge(JobRequest(components=(Shape(nodes=11), Shape(nodes=3))))
    assert (proposal.verdict, words(proposal)) == (Verdict.INCOMPATIBLE, [])


def test_memory_of_gpus_is_told(judge: Any) -> None:
    proposal = judge(JobRequest(shapes=(Shape(gpus=Gpus(count=1, per="job", memory_bytes=80 * GIB)),)))
    assert "4 nvidia_a100 of 40 GiB a node, asked 1 GPUs of 80 GiB" in "; ".join(proposal.reasons)


def test_a_walltime_that_the_budget_bears(judge: Any) -> None:
    request = JobRequest(shapes=(Shape(nodes=2),), walltime_s=7200, budget=Budget(amount=4, unit="USD"))
    proposal = judge(request)
    assert (proposal.verdict, words(proposal)) == (
        Verdict.INCOMPATIBLE, ["within the budget if walltime is at most 1 h"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("balance", "unit", "walltime", "verdict"),
    [
        (3.0, "USD", 3600, Verdict.INCOMPATIBLE),
        (4.0, "USD", 3600, Verdict.READY),
        (1.0, "USD", None, Verdict.READY),
        (None, "USD", 3600, Verdict.READY),
        (1.0, "gpu-hours", 3600, Verdict.READY),
    ],
)
def test_what_is_left_on_the_account(
    judge: Any, observed: Make, balance: float | None, unit: Any, walltime: int | None, verdict: Verdict
) -> None:
    told = Accounts(accounts=(Account(name="p1", balance=balance, unit=unit, default=True),))
    request = JobRequest(shapes=(Shape(nodes=2),), walltime_s=walltime)
    proposal = judge(request, observed("workload/slurm", "accounts", told))
    assert proposal.verdict is verdict
    if verdict is Verdict.INCOMPATIBLE:
        assert proposal.reasons == ("account p1 has 3 USD left, asked 4",)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"max_cpus_per_node": 16}, "at most 16 cores a node, asked 20"),
        ({"max_memory_bytes_per_node": 32 * GIB}, "at most 32 GiB a node, asked 64 GiB"),
        ({"max_cpus_per_job": 30}, "at most 30 cores a job, asked 40"),
        ({"max_nodes": 1}, "at most 1 node a job, asked 2"),
    ],
)
def test_limits_of_a_queue(
    limit: dict[str, int], reason: str, workload: Workload, observed: Make, at: datetime
) -> None:
    only = Queue(name="batch", usable=Truth.YES, default=True, **limit)  # type: ignore[arg-type]  # limits are numbers
    narrow = observed("workload/slurm", "resources", workload.model_copy(update={"queues": (only,)}))
    shape = Shape(nodes=2, cpus_per_node=20, tasks=2, cpus_per_task=20, memory=Memory(bytes=64 * GIB, per="node"))
    proposal = evaluate(JobRequest(shapes=(shape,)), SITE, [narrow], at, 0)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert reason in "; ".join(proposal.reasons)


@pytest.mark.parametrize(("kind", "result"), [("local-scratch", Truth.YES), ("xfs", Truth.YES), ("lustre", Truth.NO)])
def test_a_disk_of_the_node_is_local_scratch_whatever_its_format(
    judge: Any, observed: Make, kind: str, result: Truth
) -> None:
    disk = FileSystems(file_systems=(FileSystem(mount="/local", kind="xfs", healthy=Truth.YES, writable=Truth.YES),))
    request = JobRequest(storage=(StorageNeed(kinds=(kind,)),))
    assert judge(request, observed("storage/local-scratch", "file_systems", disk)).fits is result


def test_an_mpi_may_be_a_package_and_is_not_absent_before_packages_were_looked_through(
    judge: Any, observed: Make
) -> None:
    request = JobRequest(mpi=MpiNeed())
    assert judge(request).fits is Truth.UNKNOWN
    none = observed("software/spack", "probe", None)
    assert judge(request, none).fits is Truth.NO
    there = observed("software/spack", "probe", Presence())
    has = Packages(packages=(Package(name="mvapich2", version="2.3.7", manager="spack"),))
    package = observed("software/spack", "find_package", has, name="mvapich2")
    assert judge(request, there, package).fits is Truth.YES
    other = JobRequest(mpi=MpiNeed(implementations=("openmpi",)))
    assert judge(other, there, package).fits is Truth.NO
    assert judge(JobRequest(mpi=MpiNeed(implementations=("mvapich",))), there, package).fits is Truth.YES


def test_queue_depth_as_text_is_a_number(at: datetime) -> None:
    made = Proposal.model_validate(
        {"site": "a", "verdict": "READY", "fits": "yes", "queue_depth": "12", "made_at": at}
    )  # fmt: skip
    assert made.queue_depth == 12
