"""Many sites at once: none waits for another, what came is kept, and enough is enough."""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio
import pytest

from dragoman.kleene import Truth
from dragoman.ledger import SiteAnswer
from dragoman.model import now
from dragoman.proposal import Proposal, Verdict
from dragoman.site import Fleet, Site
from graph.asking import Asking, ask_sites


def fleet(count: int) -> Sequence[Site]:
    return Fleet(sites=tuple(Site(name=f"s{number:03}", scheduler="machine") for number in range(count))).sites


def answer(site: Site, verdict: Verdict = Verdict.BUSY) -> SiteAnswer:
    return SiteAnswer(Proposal(site=site.name, verdict=verdict, fits=Truth.YES, made_at=now()))


class Sites:
    """Sites that take their time."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.running = 0
        self.most = 0
        self.order: list[str] = []
        self.writes: list[int] = []
        self.kept: list[str] = []

    async def ask(self, site: Site) -> SiteAnswer:
        self.order.append(site.name)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await anyio.sleep(self.seconds.get(site.name, 0.01))
        finally:
            self.running -= 1
        return answer(site, Verdict.READY if site.name == "s007" else Verdict.BUSY)

    async def keep(self, answers: Sequence[SiteAnswer]) -> None:
        await anyio.sleep(0.005)
        self.writes.append(len(answers))
        for each in answers:
            self.kept.append(each.proposal.site)


def never(_: SiteAnswer) -> bool:
    return False


async def test_places_bound_how_many_are_asked_at_once() -> None:
    sites = Sites({})
    assert await ask_sites(fleet(60), sites.ask, sites.keep, never, Asking(places=8)) == 60
    assert sites.most == 8
    assert len(sites.kept) == 60
    assert sum(sites.writes) == 60
    assert len(sites.writes) < 60


async def test_slow_sites_delay_nobody() -> None:
    """More silent sites than places: each gives its place away."""
    silent = {f"s{number:03}": 1.2 for number in range(12)}
    sites = Sites(silent)
    await ask_sites(fleet(60), sites.ask, sites.keep, never, Asking(places=4, patience_s=0.05))
    late = [name in silent for name in sites.kept]
    assert late == sorted(late), "kept in the order in which they answer"
    assert len(sites.kept) == 60


async def test_places_lent_are_bounded() -> None:
    sites = Sites({f"s{number:03}": 0.3 for number in range(60)})
    await ask_sites(fleet(60), sites.ask, sites.keep, never, Asking(places=4, patience_s=0.01))
    assert sites.most <= 16


async def test_one_by_one() -> None:
    sites = Sites({})
    await ask_sites(fleet(9), sites.ask, sites.keep, never, Asking(mode="serial"))
    assert (sites.most, sites.order) == (1, [f"s{number:03}" for number in range(9)])


async def test_in_batches() -> None:
    sites = Sites({"s001": 0.2})
    begun = time.monotonic()
    await ask_sites(fleet(12), sites.ask, sites.keep, never, Asking(mode="batched", batch=5, pause_s=0.05))
    assert (sites.most, len(sites.kept)) == (5, 12)
    assert sites.order.index("s005") == 5
    assert time.monotonic() - begun > 0.3


@pytest.mark.parametrize("mode", ["at-once", "serial", "batched"])
async def test_enough_is_enough(mode: str) -> None:
    sites = Sites({f"s{number:03}": 30.0 for number in range(8, 60)})
    with anyio.fail_after(10):
        count = await ask_sites(
            fleet(60), sites.ask, sites.keep, lambda each: each.proposal.verdict is Verdict.READY,
            Asking(mode=mode, places=60),  # type: ignore[arg-type]  # one of the modes
        )  # fmt: skip
    assert "s007" in sites.kept
    assert count == len(sites.kept) < 60


async def test_what_cannot_be_kept_stops_the_round() -> None:
    async def broken(_: Sequence[SiteAnswer]) -> None:
        raise RuntimeError("no database")

    sites = Sites({f"s{number:03}": 60.0 for number in range(1, 9)})
    with anyio.fail_after(30), pytest.raises(BaseExceptionGroup):
        await ask_sites(fleet(9), sites.ask, broken, never, Asking())
