"""Evidence: asked once, kept for as long as it may be used, and never asked twice at the same time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from dragoman.errors import TransportError, UnknownName
from dragoman.facts import Accounts, Packages, Presence, Workload
from dragoman.job import JobSpec
from dragoman.model import Model
from dragoman.observation import Answer, Category, Outcome
from dragoman.proposal import StartEstimate
from dragoman.protocols import Verb
from dragoman.site import Site
from providers.evidence import Ask, Observer
from providers.probes.base import brief
from providers.slow_facts import SlowFacts
from providers.verbs import PackageQuery, category_verbs
from providers.workload import WorkloadProvider

pytestmark = pytest.mark.anyio
START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class Slow:
    """A provider that counts its calls and takes its time."""

    category, name = Category.SOFTWARE, "slow"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answer: Answer[Any] | Exception = Answer[Packages].ok(Packages(similar=("x",)))

    @property
    def verbs(self) -> dict[str, Verb]:
        return {verb.name: verb for verb in category_verbs(self.category, self.name)}

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        self.calls.append(f"{verb} {getattr(arguments, 'name', '')}".strip())
        await anyio.sleep(0.01)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def observer(clock: Clock) -> Observer:
    return Observer(Site(name="here", scheduler="slurm"), SlowFacts(unknown_s=20), clock)


async def find(observer: Observer, provider: Slow, name: str, max_age_s: float | None = None) -> Any:
    return (await observer.observe_many([Ask(provider, "find_package", PackageQuery(name=name), max_age_s)]))[0]


async def test_a_secret_that_a_program_says_is_in_no_observation(observer: Observer) -> None:
    said = "docker exit 1: tcp://bob:Hunter2pw@db:1 token=hf_abcdefghijklmnopqrst //bob%Hunter2pw@nas/x"
    provider = Slow()
    provider.answer = Answer[Packages].unknown(said)
    failed = await find(observer, provider, "a")
    provider.answer = TransportError(said)
    raised = await find(observer, provider, "b")
    provider.answer = RuntimeError(said)
    broken = await find(observer, provider, "c")
    provider.answer = Answer[Packages].ok(Packages(similar=("x", said, "xoxb-0123456789")))
    told = await find(observer, provider, "d")
    words = "".join(each.model_dump_json() for each in (failed, raised, broken, told))
    assert [each for each in ("Hunter2pw", "hf_abc", "xoxb-01") if each in words] == []
    assert failed.reason.startswith("docker exit 1: tcp://bob:***@db:1 token=***")
    assert told.value["similar"][0] == "x"
    assert told.value["similar"][1:] == [failed.reason, "***"]


def test_a_reason_is_cut_behind_a_secret_not_in_it() -> None:
    words = "x" * 20 + " tcp://bob:Hunter2pwHunter2pw@db:1"
    assert [limit for limit in range(20, 60) if "Hunter2" in brief(words, limit)] == []


async def test_an_observation_says_what_was_asked_where_and_when(observer: Observer) -> None:
    seen = await find(observer, Slow(), "ase")
    assert (seen.site, seen.provider, seen.tool, seen.arguments) == (
        "here",
        "software/slow",
        "find_package",
        {"name": "ase"},
    )
    assert (seen.outcome, seen.observed_at, seen.max_age_s) == (Outcome.OK, START, 3600)
    assert seen.value == {"similar": ["x"]}


async def test_kept_for_its_age_and_no_longer(observer: Observer, clock: Clock) -> None:
    slow = Slow()
    first = await find(observer, slow, "ase")
    clock.now += timedelta(seconds=3600)
    assert (await find(observer, slow, "ase")).id == first.id
    assert (await find(observer, slow, "ase", max_age_s=60)).id != first.id
    assert (await find(observer, slow, "numpy")).id != first.id
    clock.now += timedelta(seconds=3601)
    await find(observer, slow, "ase")
    assert slow.calls == ["find_package ase", "find_package ase", "find_package numpy", "find_package ase"]


async def test_the_clock_may_go_back_but_nothing_from_the_future_is_used(observer: Observer, clock: Clock) -> None:
    slow = Slow()
    await find(observer, slow, "ase")
    clock.now -= timedelta(hours=1)
    await find(observer, slow, "ase")
    assert len(slow.calls) == 2


async def test_unknown_is_asked_again_soon(observer: Observer, clock: Clock) -> None:
    slow = Slow()
    slow.answer = TransportError("connection lost")
    assert (await find(observer, slow, "ase")).outcome is Outcome.UNKNOWN
    clock.now += timedelta(seconds=10)
    assert (await find(observer, slow, "ase")).reason == "connection lost"
    clock.now += timedelta(seconds=11)
    slow.answer = Answer[Packages].absent("no ase")
    assert (await find(observer, slow, "ase")).outcome is Outcome.ABSENT
    assert len(slow.calls) == 2


async def test_a_provider_that_crashes_is_unknown(observer: Observer) -> None:
    slow = Slow()
    slow.answer = ZeroDivisionError("oops")
    seen = await find(observer, slow, "ase")
    assert seen.outcome is Outcome.UNKNOWN
    assert "oops" in seen.reason


async def test_many_who_ask_at_once_ask_once(observer: Observer) -> None:
    slow = Slow()
    seen = []

    async def ask() -> None:
        seen.append((await find(observer, slow, "ase")).id)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)
    assert len(set(seen)) == 1
    assert slow.calls == ["find_package ase"]
    twice = await observer.observe_many([Ask(slow, "probe"), Ask(slow, "probe")])
    assert twice[0].id == twice[1].id


async def test_who_waits_for_a_cancelled_one_asks_itself(observer: Observer) -> None:
    slow = Slow()
    seen = []

    async def cancelled() -> None:
        with anyio.move_on_after(0.002):
            await find(observer, slow, "ase")

    async def patient() -> None:
        seen.append((await find(observer, slow, "ase")).outcome)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancelled)
        await anyio.lowlevel.checkpoint()
        tasks.start_soon(patient)
    assert seen == [Outcome.OK]
    assert len(slow.calls) == 2


async def test_an_unknown_verb_is_the_callers_mistake(observer: Observer) -> None:
    with pytest.raises(UnknownName, match="find_package"):
        await observer.observe_many([Ask(Slow(), "describe")])


class Scheduler:
    def __init__(self, answer: Answer[Workload] | Exception) -> None:
        self.answer = answer

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def estimate(self, spec: JobSpec) -> Answer[StartEstimate]:
        return Answer[StartEstimate].unknown("not asked here")

    async def accounts(self) -> Answer[Accounts]:
        return Answer[Accounts].unknown("not asked here")


async def test_a_snapshot_is_as_old_as_it_says(observer: Observer, clock: Clock) -> None:
    taken = START - timedelta(seconds=8)
    source = Scheduler(Answer[Workload].ok(Workload(scheduler="slurm", version="24.05", observed_at=taken)))
    provider = WorkloadProvider("slurm", source)
    seen = (await observer.observe_many([Ask(provider, "resources")]))[0]
    assert seen.observed_at == taken
    clock.now += timedelta(seconds=3)
    again = (await observer.observe_many([Ask(provider, "resources")]))[0]
    assert again.id != seen.id


async def test_the_workload_provider_passes_on_what_the_scheduler_says() -> None:
    good = WorkloadProvider("slurm", Scheduler(Answer[Workload].ok(Workload(scheduler="slurm", version="24.05"))))
    nothing = good.verbs["probe"].arguments()
    assert (await good.call("probe", nothing)).value == Presence(version="24.05")
    assert (await good.call("accounts", nothing)).outcome is Outcome.UNKNOWN
    for answer in (Answer[Workload].unknown("controller down"), TransportError("controller down")):
        bad = WorkloadProvider("slurm", Scheduler(answer))
        for verb in ("probe", "resources"):
            assert (await bad.call(verb, nothing)).outcome is Outcome.UNKNOWN
            assert (await bad.call(verb, nothing)).reason == "controller down"


async def test_the_least_recently_used_is_dropped(clock: Clock) -> None:
    observer, slow = Observer(Site(name="here", scheduler="slurm"), SlowFacts(most=2), clock), Slow()
    for name in ("a", "b", "a", "c", "a", "b"):
        await find(observer, slow, name)
    assert slow.calls == [f"find_package {name}" for name in ("a", "b", "c", "b")]


async def test_what_a_provider_said_can_be_forgotten(observer: Observer) -> None:
    slow = Slow()
    await find(observer, slow, "a")
    observer.facts.forget("software/other")
    await find(observer, slow, "a")
    observer.facts.forget("software/slow")
    await find(observer, slow, "a")
    assert len(slow.calls) == 2
