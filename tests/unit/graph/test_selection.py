from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from dragoman.kleene import Truth
from dragoman.proposal import Cost, Proposal, StartEstimate, Verdict
from dragoman.request import JobRequest, Policy, Source
from dragoman.selection import ApprovalRule
from dragoman.shape import Shape
from graph.approval import allowing_rule
from graph.selection.keys import POLICIES
from graph.selection.rank import rank

_FITS = {
    Verdict.READY: Truth.YES,
    Verdict.BUSY: Truth.YES,
    Verdict.INCOMPATIBLE: Truth.NO,
    Verdict.NEEDS_INFORMATION: Truth.UNKNOWN,
    Verdict.UNKNOWN: Truth.UNKNOWN,
}


def offer(
    site: str, verdict: Verdict, at: datetime, *, start: float | None = None, cost: float | None = None,
    depth: int | None = None, simulated: bool = False,
) -> Proposal:  # fmt: skip
    return Proposal(
        site=site, verdict=verdict, fits=_FITS[verdict], start=StartEstimate(expected_s=start),
        cost=Cost(amount=cost, unit="USD"), queue_depth=depth, simulated=simulated, made_at=at,
        reasons=("because",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("first-ready", ["late", "early", "queue", "slow"]),
        ("soonest", ["early", "late", "slow", "queue"]),
        ("min-cost", ["late", "slow", "early", "queue"]),
        ("queue-depth", ["slow", "early", "queue", "late"]),
    ],
)
def test_order(policy: Policy, order: list[str], at: datetime) -> None:
    proposals = [
        offer("early", Verdict.READY, at + timedelta(seconds=2), start=0, cost=9, depth=3),
        offer("late", Verdict.READY, at, start=0, cost=None, depth=None).model_copy(update={"cost": Cost(amount=0)}),
        offer("slow", Verdict.BUSY, at, start=600, cost=1, depth=1),
        offer("queue", Verdict.BUSY, at, start=None, cost=None, depth=4),
        offer("never", Verdict.INCOMPATIBLE, at),
    ]
    if policy == "soonest":
        proposals[1] = proposals[1].model_copy(update={"cost": Cost(amount=10)})
    selection = rank(proposals, policy, round_=0)
    assert [each.site for each in selection.ranking if each.rank] == order
    assert selection.site == order[0]
    assert selection.ranking[-1].why == "INCOMPATIBLE: because"


def test_unknown_depth_ranks_last_and_stays_eligible(at: datetime) -> None:
    only = rank([offer("a", Verdict.READY, at)], "queue-depth", round_=0)
    assert only.site == "a"


def test_the_verdict_field_decides_and_no_word_in_the_reasons(at: datetime) -> None:
    kept = offer("a", Verdict.READY, at).model_copy(update={"reasons": ("no INCOMPATIBLE constraints found",)})
    assert rank([kept], "soonest", round_=0).site == "a"


def test_simulated_sites_come_after_real_ones(at: datetime) -> None:
    proposals = [offer("twin", Verdict.READY, at, start=0, simulated=True), offer("real", Verdict.BUSY, at)]
    selection = rank(proposals, "soonest", round_=0)
    assert [each.site for each in selection.ranking] == ["real", "twin"]
    assert selection.ranking[1].why.startswith("simulated")


def test_the_same_seed_draws_the_same(at: datetime) -> None:
    proposals = [offer(name, Verdict.READY, at) for name in "abcdef"]
    draws = {seed: rank(proposals, "random", round_=0, seed=seed).site for seed in range(20)}
    assert draws == {seed: rank(proposals[::-1], "random", round_=0, seed=seed).site for seed in range(20)}
    assert len(set(draws.values())) > 1


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ("", "no site can take the work"),
        ("INCOMPATIBLE INCOMPATIBLE", "no site can take the work"),
        ("UNKNOWN", "no site is known to be able to take the work: 1 unknown"),
        (
            "UNKNOWN NEEDS_INFORMATION UNKNOWN INCOMPATIBLE",
            "no site is known to be able to take the work: 2 unknown, 1 needs information, 1 cannot",
        ),
        (
            "NEEDS_INFORMATION NEEDS_INFORMATION",
            "no site is known to be able to take the work: 2 need information",
        ),
    ],
)
def test_nobody_is_selected_and_what_is_so_is_said(verdicts: str, words: str, at: datetime) -> None:
    proposals = [offer(f"s{place}", Verdict(word), at) for place, word in enumerate(verdicts.split())]
    selection = rank(proposals, "soonest", round_=0)
    assert (selection.site, selection.why) == (None, words)


def test_every_policy_ranks_every_able_proposal(at: datetime) -> None:
    proposals = [offer("a", Verdict.READY, at), offer("b", Verdict.BUSY, at, start=3, cost=1, depth=0)]
    for policy in POLICIES:
        assert {each.site for each in rank(proposals, policy, round_=0).ranking if each.rank} == {"a", "b"}  # type: ignore[arg-type]  # keys are the policies


RULE = ApprovalRule(name="cheap and small", sites=("a",), max_cost=5, max_walltime_s=3600, max_nodes=2)
SMALL = JobRequest(shapes=(Shape(nodes=1),), walltime_s=600)


@pytest.mark.parametrize(
    ("change", "request_", "allowed"),
    [
        ({}, SMALL, True),
        ({"site": "b"}, SMALL, False),
        ({"cost": Cost(amount=5.01)}, SMALL, False),
        ({"cost": Cost(amount=None)}, SMALL, False),
        ({}, SMALL.model_copy(update={"walltime_s": None}), False),
        ({}, SMALL.model_copy(update={"walltime_s": 3601}), False),
        ({}, SMALL.model_copy(update={"shapes": ()}), False),
        ({"simulated": True}, SMALL, False),
        ({}, SMALL.model_copy(update={"sources": (Source(field="walltime_s", words="x", origin="model"),)}), False),
    ],
)
def test_a_written_rule_allows_only_what_is_known_to_be_within_it(
    change: dict[str, object], request_: JobRequest, allowed: bool, at: datetime
) -> None:
    proposal = offer("a", Verdict.READY, at, cost=1).model_copy(update=change)
    assert (allowing_rule(proposal, (RULE,), request_) is RULE) is allowed
