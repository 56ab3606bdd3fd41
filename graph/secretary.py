"""The secretary: speaks for one site about one request, and is gone afterwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

import anyio

from dragoman.observation import Category, Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest, SoftwareNeed
from graph.verdict.evaluate import evaluate, unknown_proposal
from graph.verdict.start import start_query
from providers.evidence import Ask
from providers.site_runtime import SiteRuntime

__all__ = ["ask_secretary", "questions_for"]

Question = tuple[Category, str, dict[str, str]]


def questions_for(request: JobRequest) -> list[Question]:
    """What must be observed to decide a request: category, verb and arguments; nothing that no check needs."""
    questions: list[Question] = [(Category.WORKLOAD, "resources", {}), (Category.WORKLOAD, "accounts", {})]
    names = [name for need in request.software for name in _names(need)]
    names += list(request.mpi.implementations) if request.mpi else []
    questions += [(Category.SOFTWARE, "find_package", {"name": name}) for name in dict.fromkeys(names)]
    if request.containers:
        questions.append((Category.CONTAINER, "status", {}))
    if request.networks:
        questions.append((Category.NETWORK, "interfaces", {}))
    if request.storage:
        questions.append((Category.STORAGE, "file_systems", {}))
    if request.mpi is not None:
        questions.append((Category.PARALLEL, "libraries", {}))
    return questions


def _names(need: SoftwareNeed) -> list[str]:
    return [need.name, *(name for other in need.alternatives for name in _names(other))]


async def ask_secretary(
    runtime: SiteRuntime, request: JobRequest, *, round_: int, at: datetime, timeout_s: float
) -> tuple[Proposal, Sequence[Observation]]:
    """Observe what the request needs and compute the proposal.

    A site that does not answer in time, or whose runtime fails, becomes an UNKNOWN proposal; nothing is raised for it.
    """
    begun = time.monotonic()
    observations: list[Observation] = []
    asks = [
        Ask(provider, verb, provider.verbs[verb].arguments.model_validate(arguments))
        for category, verb, arguments in questions_for(request)
        for provider in runtime.of(category)
        if verb in provider.verbs
    ]
    proposal: Proposal | None = None
    with anyio.move_on_after(timeout_s):
        observations = await runtime.observe_many(asks)
        proposal = _proposal(runtime, request, observations, at, round_)
        if proposal.verdict is Verdict.BUSY:
            # A scheduler that is slow with this leaves the proposal without an expected start, not without a verdict.
            observations = [*observations, *await _estimates(runtime, request, proposal)]
            proposal = _proposal(runtime, request, observations, at, round_)
    seconds = time.monotonic() - begun
    if proposal is None:
        words = f"no answer within {timeout_s:g} s"
        return unknown_proposal(runtime.site, round_, at, words, seconds), observations
    return proposal.model_copy(update={"seconds": seconds}), observations


def _proposal(
    runtime: SiteRuntime, request: JobRequest, observations: Sequence[Observation], at: datetime, round_: int
) -> Proposal:
    latest = max((each.observed_at for each in observations), default=at)
    return evaluate(request, runtime.site, observations, max(at, latest), round_)


async def _estimates(runtime: SiteRuntime, request: JobRequest, proposal: Proposal) -> list[Observation]:
    """The scheduler's word on when the job would start in the place that was found."""
    query = start_query(request, proposal.shape_index, proposal.queue, proposal.account)
    asks = [
        Ask(provider, "estimate", query)
        for provider in runtime.of(Category.WORKLOAD)
        if "estimate" in provider.verbs and provider.name == runtime.site.scheduler
    ]
    return await runtime.observe_many(asks)
