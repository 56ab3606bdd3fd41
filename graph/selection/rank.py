"""Ranks the proposals by a policy and says why each one stands where it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from dragoman.errors import UnknownName
from dragoman.model import JsonObject
from dragoman.proposal import Proposal, Verdict
from dragoman.request import Policy
from dragoman.selection import Ranked, Selection
from graph.selection.keys import POLICIES, facts_of

__all__ = ["nobody_can", "rank"]


def rank(
    proposals: Sequence[Proposal],
    policy: Policy,
    *,
    round_: int,
    seed: int = 0,
    excluded: Collection[str] = (),
    order: Sequence[str] | None = None,
) -> Selection:
    """The selection under a policy. A real site comes before a simulated one, which could only answer, not run.

    Args:
        proposals: of one round.
        policy: its name.
        round_: the round.
        seed: of a random policy.
        excluded: sites that refused, failed or were sent away.
        order: all sites as a policy of the caller's orders them.

    Raises:
        UnknownName: for a policy that does not exist.

    """
    places = {site: place for place, site in reversed(list(enumerate(order)))} if order is not None else {}

    def by_order(proposal: Proposal, seed: int) -> tuple[float | str, ...]:
        return places.get(proposal.site, len(places)), proposal.site

    key = by_order if order is not None else POLICIES.get(policy)
    if key is None:
        raise UnknownName(f"no selection policy {policy!r}", where="policy", cure=f"choose from {', '.join(POLICIES)}")
    able = [each for each in proposals if each.verdict.possible and each.site not in excluded]
    able.sort(key=lambda each: (each.simulated, key(each, seed)))
    best = able[0] if able else None
    ranking = [
        Ranked(site=each.site, rank=place, why=_why(each, best, policy)) for place, each in enumerate(able, start=1)
    ]
    ranking += [
        Ranked(site=each.site, rank=None, why=_why_not(each, excluded))
        for each in sorted(proposals, key=lambda one: one.site)
        if each not in able
    ]
    inputs: JsonObject = {
        each.site: {
            "verdict": each.verdict.value,
            "expected_s": each.start.expected_s,
            "cost": each.cost.amount,
            "cost_unit": each.cost.unit,
            "queue_depth": each.queue_depth,
            "energy_kwh": each.energy_kwh,
        }
        for each in proposals
    }
    why = f"{policy}: {facts_of(best)}" if best else nobody_can(proposals)
    return Selection(
        policy=policy,
        round=round_,
        site=best.site if best else None,
        why=why,
        ranking=tuple(ranking),
        seed=seed,
        inputs=inputs,
    )


def nobody_can(proposals: Sequence[Proposal]) -> str:
    """What is so where no site is selected: that none can, or that of some it is not known."""
    numbers = Counter(each.verdict for each in proposals)
    unknown, open_ = numbers[Verdict.UNKNOWN], numbers[Verdict.NEEDS_INFORMATION]
    if not unknown and not open_:
        return "no site can take the work"
    cannot = numbers[Verdict.INCOMPATIBLE]
    told = [
        (unknown, "unknown"),
        (open_, "needs information" if open_ == 1 else "need information"),
        (cannot, "cannot"),
    ]
    counts = ", ".join(f"{number} {words}" for number, words in told if number)
    return f"no site is known to be able to take the work: {counts}"


def _why(proposal: Proposal, best: Proposal | None, policy: str) -> str:
    if best is None or proposal is best:
        return facts_of(proposal)
    if proposal.simulated and not best.simulated:
        return f"simulated: it can answer but not run; {facts_of(proposal)}"
    return f"{facts_of(proposal)}; by {policy} after {best.site} ({facts_of(best)})"


def _why_not(proposal: Proposal, excluded: Collection[str]) -> str:
    if proposal.site in excluded and proposal.verdict.possible:
        return "refused or failed earlier in this thread"
    return f"{proposal.verdict.value}: {'; '.join(proposal.reasons[:3])}"
