"""When a job that fits would start: what is free, else what the scheduler expects, held against what it shows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dragoman.kleene import Truth
from dragoman.model import now
from dragoman.observation import Answer
from dragoman.proposal import Proposal, StartEstimate, Verdict
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import Site, TransportConfig
from graph.secretary import ask_secretary
from providers.simulated.scheduler import SimulatedScheduler
from providers.site_runtime import SiteRuntime, open_site

pytestmark = pytest.mark.anyio


def site(idle: int = 0, **state: Any) -> SiteRuntime:
    group = {"queues": ["batch"], "nodes": 4, "nodes_idle": idle, "cpus_per_node": 8}
    queue = {"name": "batch", "usable": "yes", "default": True, "max_walltime_s": 3600, **state.pop("queue", {})}
    workload = {"scheduler": "slurm", "queues": [queue], "groups": [group]}
    given = {"workload": workload, **state}
    return open_site(Site(name="s", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=given))


async def proposal(runtime: SiteRuntime, **fields: Any) -> Proposal:
    request = JobRequest.model_validate({"shapes": (Shape(nodes=2),), "walltime_s": 600, **fields})
    return (await ask_secretary(runtime, request, round_=0, timeout_s=10))[0]


def telling(monkeypatch: pytest.MonkeyPatch, answer: Answer[StartEstimate]) -> list[Any]:
    asked: list[Any] = []

    async def estimate(self: SimulatedScheduler, spec: Any) -> Answer[StartEstimate]:
        asked.append(spec)
        return answer

    monkeypatch.setattr(SimulatedScheduler, "estimate", estimate)
    return asked


async def test_a_busy_site_tells_when() -> None:
    told = await proposal(site(wait_s=7200))
    assert (told.verdict, told.start.now, told.start.expected_s) == (Verdict.BUSY, Truth.NO, 7200)


async def test_the_schedulers_word_is_evidence_and_bounds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    word = StartEstimate(now=Truth.NO, expected_s=900, method="scheduler")
    asked = telling(monkeypatch, Answer[StartEstimate].ok(word))
    told = await proposal(site(), account="proj", qos="high")
    assert (told.verdict, told.start.expected_s, told.start.low_s, told.start.high_s) == (Verdict.BUSY, 900, 0, None)
    assert len(told.start.observations) == 1
    assert told.reasons[0] == "fits queue batch, the scheduler expects to start it in 15 min"
    (spec,) = asked
    assert (spec.shape, spec.walltime_s, spec.queue, spec.account, spec.qos) == (
        Shape(nodes=2), 600, "batch", "proj", "high",
    )  # fmt: skip


async def test_what_the_scheduler_would_start_at_once_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    telling(monkeypatch, Answer[StartEstimate].ok(StartEstimate(now=Truth.YES, expected_s=0, method="scheduler")))
    told = await proposal(site())
    assert (told.verdict, told.start.method) == (Verdict.READY, "scheduler")


async def test_what_the_scheduler_would_never_start_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    telling(monkeypatch, Answer[StartEstimate].absent("Requested node configuration is not available"))
    told = await proposal(site())
    assert told.verdict is Verdict.INCOMPATIBLE
    assert told.reasons == ("the scheduler says: Requested node configuration is not available",)


async def test_no_word_leaves_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    telling(monkeypatch, Answer[StartEstimate].unknown("timed out"))
    told = await proposal(site())
    assert (told.verdict, told.start.expected_s) == (Verdict.BUSY, None)


async def test_nobody_is_asked_where_it_fits_now_or_never(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = telling(monkeypatch, Answer[StartEstimate].unknown("not wanted"))
    assert (await proposal(site(idle=4))).verdict is Verdict.READY
    assert (await proposal(site(idle=4), walltime_s=7200)).verdict is Verdict.INCOMPATIBLE
    assert (await proposal(site(), shapes=(Shape(nodes=5),))).verdict is Verdict.INCOMPATIBLE
    assert asked == []


@pytest.mark.parametrize(
    ("account", "verdict"), [("a", Verdict.READY), (None, Verdict.READY), ("nobodys", Verdict.INCOMPATIBLE)]
)
async def test_accounts_that_the_scheduler_tells(account: str | None, verdict: Verdict) -> None:
    accounts = [{"name": "a", "default": True}, {"name": "b"}]
    told = await proposal(site(idle=4, accounts=accounts), account=account)
    assert (told.verdict, told.account) == (verdict, account or "a")


async def test_the_account_that_would_be_charged_has_to_be_let_in() -> None:
    accounts = [{"name": "a", "default": True}, {"name": "b"}]
    closed = site(idle=4, accounts=accounts, queue={"allowed_accounts": ["b"]})
    assert (await proposal(closed)).verdict is Verdict.INCOMPATIBLE
    assert (await proposal(closed, account="b")).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("wait_s", "within_s", "verdict", "said"),
    [
        (7200, 5 * 86400, Verdict.BUSY, ""),
        (7200, 3 * 3600, Verdict.UNKNOWN, "may end as late as"),
        (7200, 3500, Verdict.INCOMPATIBLE, "cannot be in time"),
        (600, 3 * 3600, Verdict.BUSY, ""),
        (None, 5 * 86400, Verdict.UNKNOWN, "expected start is not known"),
    ],
)
async def test_a_deadline_at_a_busy_site_is_held_against_the_schedulers_word(
    wait_s: int | None, within_s: int, verdict: Verdict, said: str
) -> None:
    told = await proposal(site(wait_s=wait_s), deadline=now() + timedelta(seconds=within_s))
    assert told.verdict is verdict
    (check,) = (each for each in told.checks if each.field == "deadline")
    assert said in check.reason
    if wait_s is not None:
        assert (told.start.expected_s, told.start.low_s, told.start.high_s) == (wait_s, wait_s / 2, wait_s * 2)
        assert check.observations == told.start.observations != ()


async def test_a_deadline_too_near_for_wait_and_run() -> None:
    long = site(wait_s=7200, queue={"max_walltime_s": 86400})
    told = await proposal(long, walltime_s=7200, deadline=now() + timedelta(hours=3))
    assert told.verdict is Verdict.INCOMPATIBLE
    assert told.reasons[0].startswith("cannot be in time")
