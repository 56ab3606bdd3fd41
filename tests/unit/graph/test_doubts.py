"""What nothing shows does not become READY: of queues, accounts, marks of nodes, and jobs that come before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from dragoman.facts import Account, Accounts, ContainerRuntime, Interface, Interfaces, NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import Budget, ContainerNeed, Dependency, JobRequest, NetworkNeed
from dragoman.shape import Shape
from dragoman.site import Charges, QueueLimits, Site
from graph.verdict.evaluate import evaluate

Make = Callable[..., Observation]
SITE = Site(name="there", scheduler="slurm")
DAY = 86400
NODES = NodeGroup(nodes=4, nodes_idle=4, cpus_per_node=8, memory_bytes_per_node=2**36)
QUEUE: dict[str, Any] = {"name": "batch", "usable": Truth.YES, "max_walltime_s": 40 * DAY}


@pytest.fixture
def judge(observed: Make, at: datetime) -> Callable[..., Proposal]:
    def make(
        queues: list[dict[str, Any]], *more: Observation, site: Site = SITE, groups: tuple[NodeGroup, ...] = (NODES,),
        **fields: Any,
    ) -> Proposal:  # fmt: skip
        told = tuple(Queue.model_validate({**QUEUE, **each}) for each in queues)
        workload = Workload(scheduler="slurm", queues=told, groups=groups)
        request = JobRequest(**{"shapes": (Shape(nodes=1),), **fields})
        return evaluate(request, site, [observed("workload/slurm", "resources", workload), *more], at, 0)

    return make


def accounts(observed: Make, *found: Account) -> Observation:
    return observed("workload/slurm", "accounts", Accounts(accounts=found))


def test_a_queue_of_which_it_is_not_known_whether_it_takes_jobs(judge: Any) -> None:
    doubtful = {"name": "odd", "usable": Truth.UNKNOWN, "reason": "qstat timed out", "default": True}
    told = judge([doubtful])
    assert (told.verdict, told.reasons) == (
        Verdict.UNKNOWN, ("whether queue odd takes jobs is not known: qstat timed out",),
    )  # fmt: skip
    assert told.checks[1].observations == ("workload/slurm.resources",)
    other = judge([doubtful, {}])
    assert (other.verdict, other.queue) == (Verdict.READY, "batch")
    assert judge([doubtful, {}], queue="odd").verdict is Verdict.UNKNOWN
    assert judge([doubtful, {}], shapes=(Shape(nodes=5),)).verdict is Verdict.INCOMPATIBLE


@pytest.mark.parametrize(("written", "verdict"), [({}, Verdict.READY), ({"usable": "unknown"}, Verdict.UNKNOWN)])
def test_a_simulated_queue_without_usable_is_in_use(judge: Any, written: dict[str, str], verdict: Verdict) -> None:
    state: Any = {"workload": {"scheduler": "slurm", "queues": [{"name": "batch", **written}]}}
    site = SITE.model_copy(update={"simulated": state})
    assert judge([{"usable": Truth.UNKNOWN}], site=site).verdict is verdict


@pytest.mark.parametrize(
    ("queue", "walltime", "verdict"),
    [
        ({"max_walltime_s": None}, 30 * DAY, Verdict.UNKNOWN),
        ({"max_walltime_s": None}, DAY + 1, Verdict.UNKNOWN),
        ({"max_walltime_s": None}, DAY, Verdict.READY),
        ({"max_walltime_s": None, "default_walltime_s": 2 * DAY}, 2 * DAY, Verdict.READY),
        ({"max_walltime_s": None, "walltime_unlimited": True}, 30 * DAY, Verdict.READY),
        ({}, 30 * DAY, Verdict.READY),
        ({}, 50 * DAY, Verdict.INCOMPATIBLE),
    ],
)
def test_a_limit_that_is_not_told_bears_a_day(
    judge: Any, queue: dict[str, Any], walltime: int, verdict: Verdict
) -> None:
    assert judge([queue], walltime_s=walltime).verdict is verdict


def test_a_limit_that_the_sites_file_tells_counts(judge: Any) -> None:
    site = SITE.model_copy(update={"queues": (QueueLimits(name="batch", max_walltime=60 * DAY),)})
    told = judge([{"max_walltime_s": None}], site=site, walltime_s=30 * DAY)
    assert (told.verdict, len(told.reasons)) == (Verdict.READY, 1)
    short = judge([{"max_walltime_s": None}], walltime_s=600)
    assert short.reasons[1] == "not checked: the queue's longest walltime, which is not told"


def test_queues_for_some_accounts_and_groups(judge: Any, observed: Make) -> None:
    closed = {"allowed_accounts": ("physics",)}
    assert judge([closed]).verdict is Verdict.NEEDS_INFORMATION
    assert judge([closed], account="physics").verdict is Verdict.READY
    assert judge([closed], account="chemistry").verdict is Verdict.INCOMPATIBLE
    assert judge([closed], accounts(observed, Account(name="physics"))).verdict is Verdict.READY
    groups = judge([{"allowed_groups": ("wheel",)}])
    assert (groups.verdict, groups.reasons) == (
        Verdict.UNKNOWN, ("queue batch is for groups wheel alone, and yours are not known",),
    )  # fmt: skip
    assert judge([{"name": "own", "allowed_groups": ("wheel",), "default": True}, {}]).queue == "batch"


MARKED = NODES.model_copy(update={"queues": ("batch",), "features": ("haswell", "ib")})
NEWER = NODES.model_copy(update={"queues": ("new",), "features": ("skylake", "ib"), "nodes": 2, "nodes_idle": 0})


@pytest.mark.parametrize(
    ("constraint", "verdict", "queue"),
    [
        ("haswell", Verdict.READY, "batch"),
        ("Haswell&ib", Verdict.READY, "batch"),
        ("skylake", Verdict.BUSY, "new"),
        ("knl|skylake", Verdict.BUSY, "new"),
        ("[haswell|skylake]", Verdict.READY, "batch"),
        ("haswell*2", Verdict.READY, "batch"),
        ("haswell&skylake", Verdict.INCOMPATIBLE, None),
        ("knl", Verdict.INCOMPATIBLE, None),
        ("ib&(haswell|knl)", Verdict.UNKNOWN, "batch"),
        ("mem>100", Verdict.UNKNOWN, "batch"),
    ],
)
def test_what_a_node_must_be_is_held_against_what_nodes_are(
    judge: Any, constraint: str, verdict: Verdict, queue: str | None
) -> None:
    shape = Shape(nodes=1, constraint=constraint)
    told = judge([{}, {"name": "new"}], groups=(MARKED, NEWER), shapes=(shape,))
    assert (told.verdict, told.queue) == (verdict, queue)
    assert judge([{}], shapes=(shape,)).verdict is Verdict.UNKNOWN


def test_as_many_nodes_as_are_marked(judge: Any) -> None:
    shape = Shape(nodes=5, constraint="haswell")
    mixed = (MARKED, MARKED.model_copy(update={"features": ("ib",)}))
    assert judge([{}], groups=mixed, shapes=(Shape(nodes=5),)).verdict is Verdict.READY
    assert judge([{}], groups=mixed, shapes=(shape,)).verdict is Verdict.INCOMPATIBLE


def test_what_nothing_tells_of_is_said_not_to_be_checked(judge: Any, observed: Make) -> None:
    fields: dict[str, Any] = {"qos": "premium", "reservation": "nope", "licenses": ("abaqus:5",)}
    told = judge([{}], **fields)
    assert told.reasons == (
        "fits queue batch, free now", "not checked: QOS premium; reservation nope; licences abaqus:5",
    )  # fmt: skip
    has = accounts(observed, Account(name="a", default=True, qos=("normal", "long")))
    refused = judge([{}], has, **fields)
    assert (refused.verdict, refused.reasons) == (
        Verdict.INCOMPATIBLE, ("account a may use QOS long, normal, asked premium",),
    )  # fmt: skip
    fine = judge([{}], has, qos="long")
    assert (fine.verdict, fine.reasons) == (Verdict.READY, ("fits queue batch, free now",))


@pytest.mark.parametrize("walltime", [None, 3600])
@pytest.mark.parametrize("left", [0, -5])
def test_an_account_that_is_used_up(judge: Any, observed: Make, left: float, walltime: int | None) -> None:
    spent = accounts(observed, Account(name="a", balance=left, unit="node-hours", default=True))
    told = judge([{}], spent, walltime_s=walltime)
    assert (told.verdict, told.reasons) == (Verdict.INCOMPATIBLE, (f"account a has {left} node-hours left",))
    free = SITE.model_copy(update={"charges": Charges(currency="node-hours", per_node_hour=0)})
    assert judge([{}], spent, site=free, walltime_s=walltime).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("dependency", "words"),
    [
        (Dependency(kind="afterok", job_id="4711"), "waits for job 4711"),
        (Dependency(kind="afterany", thread_id="t-1"), "waits for thread t-1"),
        (Dependency(kind="singleton"), "waits for jobs of its name"),
    ],
)
def test_a_job_that_waits_for_another_does_not_start_now(judge: Any, dependency: Dependency, words: str) -> None:
    told = judge([{}], dependencies=(dependency,))
    assert (told.verdict, told.start.now, told.start.expected_s) == (Verdict.BUSY, Truth.UNKNOWN, None)
    assert told.reasons == (f"fits queue batch, {words}",)
    assert judge([{}], dependencies=(dependency,), urgent=True).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("told", "site", "said"),
    [
        ((), SITE, ("not checked: account chem42",)),
        ((Account(name="chem42"),), SITE, ()),
        ((), Site(name="there", scheduler="slurm", accounts=(Account(name="chem42"),)), ()),
        ((), Site(name="there", scheduler="slurm", default_account="chem42"), ()),
    ],
    ids=["nothing tells of it", "its accounting does", "the site file lists it", "the site file charges it"],
)
def test_an_account_of_which_nothing_tells(
    judge: Any, observed: Make, told: tuple[Account, ...], site: Site, said: tuple[str, ...]
) -> None:
    proposal = judge([{}], *([accounts(observed, *told)] if told else []), site=site, account="chem42")
    assert proposal.verdict is Verdict.READY
    assert proposal.reasons[1:] == said


def test_what_money_is_judged_by_is_cited(judge: Any, observed: Make) -> None:
    priced = Site(name="there", scheduler="slurm", charges=Charges(currency="USD", per_node_hour=2))
    left = accounts(observed, Account(name="p1", balance=1.0, unit="USD", default=True))
    proposal = judge([{}], left, site=priced, walltime_s=3600, budget=Budget(amount=1, unit="USD"))
    cited = {each.field: each.observations for each in proposal.checks if each.kind == "budget"}
    assert cited == {
        "budget": ("workload/slurm.resources",),
        "account": ("workload/slurm.accounts", "workload/slurm.resources"),
    }


def test_a_container_runtime_that_may_not_work(judge: Any, observed: Make) -> None:
    runtime = ContainerRuntime(runtime="apptainer", version="1.3.6")
    proposal = judge(
        [{}], observed("container/apptainer", "status", runtime), containers=(ContainerNeed(runtimes=("apptainer",)),)
    )
    assert (proposal.verdict, proposal.reasons) == (
        Verdict.UNKNOWN, ("apptainer 1.3.6 (whether it works is not known)",),
    )  # fmt: skip


def test_a_fabric_that_may_be_down(judge: Any, observed: Make) -> None:
    ports = Interfaces(interfaces=(Interface(name="ib0", fabric="infiniband"),))
    proposal = judge(
        [{}], observed("network/infiniband", "interfaces", ports), networks=(NetworkNeed(fabrics=("infiniband",)),)
    )
    assert (proposal.verdict, proposal.reasons) == (
        Verdict.UNKNOWN, ("has infiniband, of which it is not known whether it is up or as fast as asked",),
    )  # fmt: skip


def test_a_wish_to_start_later_is_given_as_the_reason(judge: Any, at: datetime) -> None:
    later = at + timedelta(days=2)
    proposal = judge([{}], start_after=later)
    assert (proposal.verdict, proposal.reasons) == (
        Verdict.BUSY, (f"fits queue batch, not before {later.isoformat(timespec='minutes')}, as asked",),
    )  # fmt: skip
