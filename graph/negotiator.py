"""negotiator: asks the secretary of every site; each proposal is stored as it comes, with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.config import get_stream_writer

from dragoman.earlier_run import EarlierRun
from dragoman.errors import DragomanError, UnknownName
from dragoman.ledger import SiteAnswer
from dragoman.model import JsonObject, JsonValue
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest
from dragoman.site import Site
from dragoman.site_meaning import site_digest
from dragoman.units import counted, format_duration
from graph.asking import Asking, ask_sites
from graph.model.desk import Session
from graph.node import Goto, Step, goto
from graph.planned import planned
from graph.script import writable
from graph.secretary import ask_secretary, recall
from graph.secretary_model import consult, worth_asking
from graph.verdict.evaluate import unknown_proposal

__all__ = ["negotiator", "small"]


async def negotiator(step: Step) -> Goto:
    """Ask all sites that have not answered in this round yet; a site's failure is that site's alone.

    Under `first-ready` the first real site that is READY ends the round: the others are not waited for.
    """
    state, deps = step.state, step.deps
    request = state.reading or JobRequest()
    sites = _sites(step, request)
    stored = await deps.ledger.proposals(step.thread_id, state.round)
    answered = {each.site: small(each) for each in stored}
    waiting = [site for site in sites if site.name not in answered]
    first_ready = (request.objective or state.options.policy) == "first-ready"
    simulated_only = all(site.simulated is not None for site in sites)

    def enough(verdict: object, simulated: bool) -> bool:
        return first_ready and verdict == Verdict.READY.value and (simulated_only or not simulated)

    real = {site.name: site.simulated is None for site in sites}
    if any(enough(each["verdict"], not real.get(name, True)) for name, each in answered.items()):
        waiting = []
    if waiting:
        names: list[JsonValue] = [site.name for site in waiting[:100]]
        await step.say(f"asking {counted(len(waiting), 'site')}", sites=names)
    known = await _known(step) if waiting and (state.round or answered) else {}

    spent = sum(each.model.most_usd or 0.0 for each in stored if each.model is not None)
    session = deps.model.session(spent) if deps.model is not None else None
    earlier = await deps.ledger.earlier_runs(request.application) if session is not None and waiting else []

    async def ask(site: Site) -> SiteAnswer:
        proposal, observations = await _ask(step, site, request, known.get(site.name, ()), session, earlier)
        if site.simulated is None:
            proposal = proposal.model_copy(update={"site_digest": site_digest(site)})
            recipes = await deps.recipes(site)
            proposal = planned(proposal, request, site, observations, recipes, conventions=deps.conventions)
            proposal = writable(step, request, proposal)
        words = f"{site.name}: {proposal.verdict}"
        return SiteAnswer(proposal, tuple(observations), words, step.line_key(words))

    async def keep(answers: Sequence[SiteAnswer]) -> None:
        new = await deps.ledger.save_answers(step.thread_id, step.name, answers)
        for each in answers:
            answered[each.proposal.site] = small(each.proposal)
            if each.proposal.site in new:
                verdict = each.proposal.verdict.value
                writer({"step": step.name, "words": each.words, "site": each.proposal.site, "verdict": verdict})

    writer = get_stream_writer()
    how = Asking(
        mode=state.options.asking,
        places=deps.sites_at_once,
        patience_s=deps.site_patience_s,
        batch=state.options.batch,
        pause_s=state.options.batch_pause_s,
    )
    count = await ask_sites(
        waiting, ask, keep, lambda each: enough(each.proposal.verdict.value, each.proposal.simulated), how
    )
    if count < len(waiting):
        await step.say(f"{len(waiting) - count} sites were not waited for: one is ready")
    return goto(step, "selector", proposals={name: answered[name] for name in sorted(answered)})


async def _known(step: Step) -> dict[str, list[Observation]]:
    """Evidence of earlier rounds, or of a run that was cut off: what is young enough is not asked again."""
    found: dict[str, list[Observation]] = {}
    for observation in await step.deps.ledger.observations(step.thread_id):
        found.setdefault(observation.site, []).append(observation)
    return found


def _sites(step: Step, request: JobRequest) -> Sequence[Site]:
    sites = step.fleet().sites
    named = step.state.options.site
    if named is None:
        return sites
    chosen = [site for site in sites if site.name == named]
    if not chosen:
        there = ", ".join(site.name for site in sites)
        raise UnknownName(f"no site {named!r}", where="site", cure=f"the fleet has {there}")
    return chosen


async def _ask(
    step: Step,
    site: Site,
    request: JobRequest,
    known: Sequence[Observation],
    session: Session | None,
    earlier: Sequence[EarlierRun],
) -> tuple[Proposal, Sequence[Observation]]:
    deps = step.deps
    try:
        runtime = step.open_site(site.name).view  # a secretary asks, and nothing within its reach acts
        recall(runtime, known)
        proposal, observations = await ask_secretary(
            runtime,
            request,
            round_=step.state.round,
            timeout_s=step.state.options.site_timeout_s or deps.site_timeout_s,
            conventions=deps.conventions,
        )
    except DragomanError as error:
        return unknown_proposal(site, step.state.round, deps.clock(), str(error)), ()
    if session is None or not worth_asking(proposal):
        return proposal, observations
    return await consult(session, runtime, request, proposal, observations, earlier, deps.conventions)


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
