"""The workload provider: parts of one snapshot, estimates held against limits, accounts of scheduler and site file."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import LoginNeeded
from dragoman.facts import Account, Accounts, NodeGroup, NodeGroups, Queue, QueueDepth, Queues, Workload
from dragoman.job import JobSpec
from dragoman.kleene import Truth
from dragoman.observation import Answer, Outcome
from dragoman.proposal import StartEstimate
from dragoman.shape import Shape
from providers.verbs import EstimateQuery, NoArguments
from providers.workload import WorkloadProvider

pytestmark = pytest.mark.anyio

QUEUES = (
    Queue(
        name="debug", usable=Truth.YES, default=True, max_walltime_s=3600, max_nodes=4, jobs_pending=2, jobs_running=1
    ),
    Queue(name="long", usable=Truth.YES, walltime_unlimited=True, min_nodes=2, max_cpus_per_job=64),
    Queue(name="closed", usable=Truth.NO, reason="the partition is DOWN"),
)
GROUPS = (NodeGroup(queues=("debug",), nodes=4),)
WHOLE = Workload(scheduler="slurm", queues=QUEUES, groups=GROUPS, jobs_pending=2, jobs_running=1)
SOON = StartEstimate(now=Truth.YES, expected_s=0, method="scheduler")


class Source:
    """A scheduler client that says what it is told to."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[JobSpec] = []

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        found: Answer[Workload] = self.answers.get("workload", Answer[Workload].ok(WHOLE))
        return found

    async def estimate(self, spec: JobSpec) -> Answer[StartEstimate]:
        self.asked.append(spec)
        told = self.answers.get("estimate", Answer[StartEstimate].ok(SOON))
        if isinstance(told, Exception):
            raise told
        found: Answer[StartEstimate] = told
        return found

    async def accounts(self) -> Answer[Accounts]:
        found: Answer[Accounts] = self.answers.get("accounts", Answer[Accounts].unknown("no accounting"))
        return found


async def test_parts_of_the_snapshot() -> None:
    provider = WorkloadProvider("slurm", Source())
    assert (await provider.call("partitions", NoArguments())).value == Queues(queues=QUEUES)
    assert (await provider.call("nodes", NoArguments())).value == NodeGroups(groups=GROUPS)
    assert (await provider.call("queue", NoArguments())).value == QueueDepth(
        jobs_pending=2, jobs_running=1, pending_by_queue={"debug": 2}, running_by_queue={"debug": 1}
    )


@pytest.mark.parametrize("verb", ["partitions", "nodes", "queue"])
async def test_what_was_not_told_is_unknown_and_not_none(verb: str) -> None:
    bare = WorkloadProvider("slurm", Source(workload=Answer[Workload].ok(Workload(scheduler="slurm"))))
    assert (await bare.call(verb, NoArguments())).outcome is Outcome.UNKNOWN
    down = WorkloadProvider("slurm", Source(workload=Answer[Workload].unknown("down")))
    assert (await down.call(verb, NoArguments())).reason == "down"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (EstimateQuery(walltime_s=5 * 86400), "runs jobs for at most 1 h, asked 5 d"),
        (EstimateQuery(shape=Shape(nodes=5), queue="debug"), "at most 4 nodes a job, asked 5"),
        (EstimateQuery(shape=Shape(nodes=1), queue="long"), "at least 2 nodes a job, asked 1"),
        (EstimateQuery(shape=Shape(nodes=2, tasks=65), queue="long"), "at most 64 cores a job"),
        (EstimateQuery(queue="closed"), "the partition is DOWN"),
        (EstimateQuery(queue="nowhere"), "there is no queue nowhere; there are: debug, long, closed"),
        (EstimateQuery(components=(Shape(nodes=3), Shape(nodes=2))), "at most 4 nodes a job, asked 5"),
    ],
)
async def test_a_promise_beyond_a_limit_is_not_believed(query: EstimateQuery, words: str) -> None:
    answer = await WorkloadProvider("slurm", Source()).call("estimate", query)
    assert answer.outcome is Outcome.ABSENT
    assert words in answer.reason


async def test_an_estimate_within_the_limits_is_passed_on() -> None:
    source = Source()
    query = EstimateQuery(shape=Shape(nodes=2, tasks=64), walltime_s=99 * 86400, queue="long", account="a", qos="q")
    answer = await WorkloadProvider("slurm", source).call("estimate", query)
    assert answer.value == SOON
    (spec,) = source.asked
    assert (spec.shape, spec.queue, spec.account, spec.qos) == (query.shape, "long", "a", "q")


async def test_no_estimate_is_unknown() -> None:
    for told in (Answer[StartEstimate].unknown("timed out"), LoginNeeded("expired")):
        answer = await WorkloadProvider("slurm", Source(estimate=told)).call("estimate", EstimateQuery())
        assert answer.outcome is Outcome.UNKNOWN


TOLD = Answer[Accounts].ok(
    Accounts(
        accounts=(Account(name="a", default=True, qos=("normal",)), Account(name="b", balance=3, unit="core-hours"))
    )
)


@pytest.mark.parametrize(
    ("told", "stated", "wanted"),
    [
        (TOLD, (), [("a", True, None), ("b", False, 3)]),
        (TOLD, (Account(name="b", balance=100, unit="USD"),), [("a", True, None), ("b", False, 100)]),
        (TOLD, (Account(name="b", default=True),), [("a", False, None), ("b", True, 3)]),
        (TOLD, (Account(name="c"),), [("a", True, None), ("b", False, 3), ("c", False, None)]),
        (Answer[Accounts].unknown("down"), (Account(name="c"),), [("c", False, None)]),
    ],
)
async def test_accounts_of_scheduler_and_site_file(
    told: Answer[Accounts], stated: tuple[Account, ...], wanted: list[tuple[str, bool, float | None]]
) -> None:
    answer = await WorkloadProvider("slurm", Source(accounts=told), stated).call("accounts", NoArguments())
    assert isinstance(answer.value, Accounts)
    assert [(each.name, each.default, each.balance) for each in answer.value.accounts] == wanted


async def test_no_account_anywhere_is_what_the_scheduler_said() -> None:
    for told in (Answer[Accounts].unknown("down"), Answer[Accounts].absent("none")):
        answer = await WorkloadProvider("slurm", Source(accounts=told)).call("accounts", NoArguments())
        assert (answer.outcome, answer.reason) == (told.outcome, told.reason)
