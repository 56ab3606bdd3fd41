"""negotiator: asks the secretary of every site at once; each proposal is stored as it comes."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from dragoman.errors import DragomanError, UnknownName
from dragoman.model import JsonObject
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest
from dragoman.site import Site
from dragoman.units import format_duration
from graph.node import Goto, Step, goto
from graph.secretary import ask_secretary
from graph.verdict.evaluate import unknown_proposal

__all__ = ["negotiator", "small"]


async def negotiator(step: Step) -> Goto:
    """Ask all sites that have not answered in this round yet; a site's failure is that site's alone."""
    state, deps = step.state, step.deps
    request = state.reading or JobRequest()
    sites = _sites(step, request)
    answered = {each.site: each for each in await deps.ledger.proposals(step.thread_id, state.round)}
    waiting = [site for site in sites if site.name not in answered]
    await step.say(f"asking {len(waiting)} sites", sites=[site.name for site in waiting])
    limiter = anyio.CapacityLimiter(deps.sites_at_once)
    stop_early = ((state.reading and state.reading.objective) or state.options.policy) == "first-ready"
    async with anyio.create_task_group() as group:

        async def ask(site: Site) -> None:
            async with limiter:
                proposal = await _ask(step, site, request)
            answered[site.name] = proposal
            if stop_early and proposal.verdict is Verdict.READY and not proposal.simulated:
                group.cancel_scope.cancel()

        for site in waiting:
            group.start_soon(ask, site)
    return goto(step, "selector", proposals={name: small(each) for name, each in sorted(answered.items())})


def _sites(step: Step, request: JobRequest) -> Sequence[Site]:
    sites = step.deps.fleet().sites
    named = step.state.options.site
    if named is None:
        return sites
    chosen = [site for site in sites if site.name == named]
    if not chosen:
        there = ", ".join(site.name for site in sites)
        raise UnknownName(f"no site {named!r}", where="site", cure=f"the fleet has {there}")
    return chosen


async def _ask(step: Step, site: Site, request: JobRequest) -> Proposal:
    deps, at = step.deps, step.deps.clock()
    try:
        runtime = deps.open_site(site.name)
        proposal, observations = await ask_secretary(
            runtime, request, round_=step.state.round, at=at, timeout_s=deps.site_timeout_s
        )
    except DragomanError as error:
        proposal, observations = unknown_proposal(site, step.state.round, at, str(error)), ()
    await deps.ledger.save_observations(step.thread_id, observations)
    await deps.ledger.save_proposal(step.thread_id, proposal)
    await step.say(f"{site.name}: {proposal.verdict}", site=site.name, verdict=proposal.verdict.value)
    return proposal


def small(proposal: Proposal) -> JsonObject:
    """At most 300 bytes for the state, so that Studio and checkpoints stay light; all of it is in the ledger."""
    reason = "; ".join(proposal.reasons)
    expected = proposal.start.expected_s
    return {
        "verdict": proposal.verdict.value,
        "why": reason if len(reason) <= 120 else reason[:119] + "…",
        "start": "now" if expected == 0 else format_duration(expected),
        "cost": proposal.cost.amount,
        "unit": proposal.cost.unit,
    }
