"""What the policies order by. A key is a tuple: smaller is better; unknown comes last and stays eligible."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from dragoman.proposal import Proposal, Verdict
from dragoman.units import format_duration

__all__ = ["POLICIES", "Key", "first_ready", "min_cost", "min_energy", "queue_depth", "run_anytime", "soonest"]

Key = Callable[[Proposal, int], tuple[float | str, ...]]

_LAST = float("inf")


def _known(value: float | None) -> float:
    return _LAST if value is None else float(value)


def _later(proposal: Proposal) -> float:
    return 0.0 if proposal.verdict is Verdict.READY else 1.0


def first_ready(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """READY before BUSY, then the one that answered first."""
    return _later(proposal), proposal.made_at.timestamp(), proposal.site


def soonest(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """Shortest expected wait, then the cheaper."""
    return _known(proposal.start.expected_s), _later(proposal), _known(proposal.cost.amount), proposal.site


def min_cost(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """Lowest known charge, then the sooner."""
    return _known(proposal.cost.amount), _known(proposal.start.expected_s), _later(proposal), proposal.site


def queue_depth(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """Fewest pending jobs; an unknown depth ranks last but is eligible."""
    return _known(proposal.queue_depth), _later(proposal), _known(proposal.start.expected_s), proposal.site


def min_energy(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """Least energy by the sites' stated power, then the cheaper."""
    return _known(proposal.energy_kwh), _known(proposal.cost.amount), proposal.site


def run_anytime(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """Any that can take it, drawn by the seed, whether free now or later."""
    return (hashlib.sha256(f"{seed}:{proposal.site}".encode()).hexdigest(),)


def random_ready(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
    """READY before BUSY, drawn by the seed among those."""
    return _later(proposal), *run_anytime(proposal, seed)


POLICIES: dict[str, Key] = {
    "first-ready": first_ready,
    "soonest": soonest,
    "min-cost": min_cost,
    "queue-depth": queue_depth,
    "min-energy": min_energy,
    "run-anytime": run_anytime,
    "random": random_ready,
}


def facts_of(proposal: Proposal) -> str:
    """What a policy compared, in words."""
    start = (
        "start not known"
        if proposal.start.expected_s is None
        else f"starts in {format_duration(proposal.start.expected_s)}"
    )
    if proposal.start.expected_s == 0:
        start = "starts now"
    cost = "cost not known" if proposal.cost.amount is None else f"costs {proposal.cost.amount:g}"
    return f"{start}, {cost}{'' if proposal.cost.unit == 'none' else ' ' + proposal.cost.unit}"
