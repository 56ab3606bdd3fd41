"""What a secretary observes: what came in time counts, what grew old is asked again, what is known is not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from dragoman.observation import Outcome
from dragoman.proposal import Verdict
from dragoman.request import JobRequest
from dragoman.site import Site, TransportConfig
from graph.secretary import ask_secretary, recall
from providers.simulated.provider import SimulatedProvider
from providers.simulated.scheduler import SimulatedScheduler
from providers.site_runtime import SiteRuntime, open_site

GROUP = {"queues": ["batch"], "nodes": 10, "nodes_idle": 8, "cpus_per_node": 32, "gpus": []}
WORKLOAD = {"scheduler": "slurm", "queues": [{"name": "batch", "usable": "yes", "default": True}], "groups": [GROUP]}
PACKAGES = [{"name": "lammps", "version": "20230802", "manager": "spack"}]


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runtime(clock: Clock) -> SiteRuntime:
    state: dict[str, Any] = {"workload": WORKLOAD, "packages": PACKAGES}
    site = Site(name="here", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=state)
    return open_site(site, clock=clock)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each provider was really asked."""
    counts: Counter[str] = Counter()
    call, workload = SimulatedProvider.call, SimulatedScheduler.workload

    async def counted(self: SimulatedProvider, verb: str, arguments: Any) -> Any:
        counts[f"{self.category.value}/{self.name}"] += 1
        return await call(self, verb, arguments)

    async def counted_workload(self: SimulatedScheduler, max_age_s: float = 10.0) -> Any:
        counts["workload"] += 1
        return await workload(self, max_age_s)

    monkeypatch.setattr(SimulatedProvider, "call", counted)
    monkeypatch.setattr(SimulatedScheduler, "workload", counted_workload)
    return counts


def request(**fields: Any) -> JobRequest:
    return JobRequest.model_validate({"shapes": [{"nodes": 2}], **fields})


LAMMPS = request(software=[{"name": "lammps"}])


def slow(runtime: SiteRuntime, name: str, seconds: float) -> None:
    """Make one provider slow."""
    provider = runtime.provider(name)
    assert isinstance(provider, SimulatedProvider)
    provider.state = provider.state.model_copy(update={"answer_s": seconds})


async def test_what_came_in_time_counts(runtime: SiteRuntime) -> None:
    slow(runtime, "software/conda", 30)
    proposal, seen = await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=0.2)
    assert proposal.verdict is Verdict.READY
    assert proposal.error == "no answer within 0.2 s"
    silent = [each for each in seen if each.provider == "software/conda"]
    assert [(each.outcome, each.reason) for each in silent] == [(Outcome.UNKNOWN, "no answer within 0.2 s")]


async def test_what_did_not_come_is_unknown_and_not_absent(runtime: SiteRuntime) -> None:
    slow(runtime, "software/spack", 30)
    proposal, _ = await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=0.2)
    assert proposal.verdict is Verdict.UNKNOWN
    assert "no answer within 0.2 s" in proposal.reasons[0]


async def test_what_grew_old_while_another_answer_came_is_asked_again(
    runtime: SiteRuntime, clock: Clock, asked: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow list of modules must not turn a fresh queue into one that is too old to judge by."""
    call = SimulatedProvider.call

    async def slow_spack(self: SimulatedProvider, verb: str, arguments: Any) -> Any:
        answer = await call(self, verb, arguments)
        if self.name == "spack":
            clock.go(50)
        return answer

    slow(runtime, "software/spack", 0.05)
    monkeypatch.setattr(SimulatedProvider, "call", slow_spack)
    proposal, seen = await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=5)
    assert proposal.verdict is Verdict.READY
    assert asked["workload"] == 2
    assert all((proposal.made_at - each.observed_at).total_seconds() <= each.max_age_s for each in seen)


async def test_after_an_edit_only_what_changed_is_asked(
    runtime: SiteRuntime, clock: Clock, asked: Counter[str]
) -> None:
    await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=5)
    before = Counter(asked)
    clock.go(5)
    edited = request(software=[{"name": "lammps"}], storage=[{"kinds": ["lustre"]}])
    await ask_secretary(runtime, edited, round_=1, timeout_s=5)
    assert {name.partition("/")[0] for name in asked - before} == {"storage"}
    clock.go(30)
    again = Counter(asked)
    await ask_secretary(runtime, edited, round_=2, timeout_s=5)
    assert set(asked - again) == {"workload"}


async def test_another_process_knows_what_the_thread_knows(clock: Clock, runtime: SiteRuntime) -> None:
    """Evidence of a real site is taken over as long as it is young enough; a simulated one is asked anew."""
    _, seen = await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=5)
    real = [each.model_copy(update={"simulated": False}) for each in seen]
    other = open_site(runtime.site, clock=clock)
    clock.go(60)
    recall(other, real)
    _, found = await ask_secretary(other, LAMMPS, round_=1, timeout_s=5)
    same = {each.id for each in real} & {each.id for each in found}
    assert {each.provider.partition("/")[0] for each in found if each.id in same} == {"software"}
    assert all(each.id not in same for each in found if each.tool == "resources")
    third = open_site(runtime.site, clock=clock)
    recall(third, seen)
    _, anew = await ask_secretary(third, LAMMPS, round_=1, timeout_s=5)
    assert not {each.id for each in seen} & {each.id for each in anew}


async def test_packages_are_looked_through_for_an_mpi_only_where_that_can_matter(
    runtime: SiteRuntime, asked: Counter[str]
) -> None:
    wanted = request(mpi={}, containers=[{"runtimes": ["docker"]}])
    proposal, _ = await ask_secretary(runtime, wanted, round_=0, timeout_s=5)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert not [name for name in asked if name.startswith("software/")]
    proposal, seen = await ask_secretary(runtime, request(mpi={}), round_=0, timeout_s=5)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    looked = {each.provider for each in seen if each.tool == "find_package"}
    assert looked == {"software/spack"}


async def test_a_site_that_says_nothing_at_all(runtime: SiteRuntime) -> None:
    for provider in runtime.providers:
        if isinstance(provider, SimulatedProvider):
            provider.state = provider.state.model_copy(update={"answer_s": 30})
    scheduler = runtime.scheduler
    assert isinstance(scheduler, SimulatedScheduler)
    scheduler.state = scheduler.state.model_copy(update={"answer_s": 30})
    with anyio.fail_after(20):
        proposal, _ = await ask_secretary(runtime, LAMMPS, round_=0, timeout_s=0.1)
    assert (proposal.verdict, proposal.error) == (Verdict.UNKNOWN, "no answer within 0.1 s")
