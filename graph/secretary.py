"""The secretary: speaks for one site about one request, and is gone afterwards."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import datetime

import anyio
from pydantic import BaseModel, ValidationError

from dragoman.kleene import Truth, all_of
from dragoman.observation import Category, Observation, Outcome
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest, MpiNeed, SoftwareNeed
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.cpus import cpus_stated
from graph.verdict.evaluate import evaluate, unknown_proposal
from graph.verdict.software import mpi_packages
from graph.verdict.start import start_query
from providers.commands.plan import wants_launcher
from providers.evidence import Ask, provider_id
from providers.site_view import SiteView
from providers.slow_facts import fact_key
from providers.translation.dispatch import without_foreign_words
from providers.verbs import NoArguments, PackageQuery

__all__ = ["ask_secretary", "questions_for", "recall"]

Question = tuple[Category, str, dict[str, str]]


def questions_for(request: JobRequest) -> list[Question]:
    """What must be observed to decide a request: category, verb and arguments; nothing that no check needs."""
    questions: list[Question] = [(Category.WORKLOAD, "resources", {}), (Category.WORKLOAD, "accounts", {})]
    names = dict.fromkeys(name for need in request.software for name in _names(need))
    questions += [(Category.SOFTWARE, "find_package", {"name": name}) for name in names]
    if request.containers:
        questions.append((Category.CONTAINER, "status", {}))
    if request.networks:
        questions.append((Category.NETWORK, "interfaces", {}))
    if request.storage:
        questions.append((Category.STORAGE, "file_systems", {}))
    if request.mpi is not None or wants_launcher(request):
        questions.append((Category.PARALLEL, "libraries", {}))
    return questions


async def _look_further(file: _File, request: JobRequest, proposal: Proposal) -> bool:
    """What the first answers leave open: an MPI that no launcher shows may be a package that is not loaded.

    Only where it could change the verdict, and only at managers that are there. Whether anything was asked.
    """
    others = all_of(check.result for check in proposal.checks if check.kind != "mpi")
    lacking = any(check.kind == "mpi" and check.result is not Truth.YES for check in proposal.checks)
    if others is Truth.NO or not lacking:
        return False
    managers = [one for one in file.runtime.of(Category.SOFTWARE) if {"probe", "find_package"} <= set(one.verbs)]
    await file.ask([Ask(provider, "probe") for provider in managers])
    absent = {each.provider for each in file.observations if each.outcome is Outcome.ABSENT and each.tool == "probe"}
    await file.ask(
        [
            Ask(provider, "find_package", query)
            for query in [PackageQuery(name=name) for name in mpi_packages(request.mpi or MpiNeed())]
            for provider in managers
            if provider_id(provider) not in absent
        ]
    )
    return True


def _names(need: SoftwareNeed) -> list[str]:
    return [need.name, *(name for other in need.alternatives for name in _names(other))]


def _asks(runtime: SiteView, questions: Sequence[Question]) -> list[Ask]:
    asks: list[Ask] = []
    for category, verb, arguments in questions:
        made: dict[type[BaseModel], BaseModel] = {}
        for provider in runtime.of(category):
            if verb in provider.verbs:
                wanted = provider.verbs[verb].arguments
                if wanted not in made:
                    made[wanted] = wanted.model_validate(arguments)
                asks.append(Ask(provider, verb, made[wanted]))
    return asks


class _File:
    """The evidence of one secretary, gathered question by question, all within its age at the moment `at`."""

    def __init__(self, runtime: SiteView) -> None:
        self.runtime = runtime
        self.at = runtime.observer.clock()
        self._asks: list[Ask] = []
        self._seen: list[Observation] = []

    @property
    def observations(self) -> Sequence[Observation]:
        """What was answered so far."""
        return self._seen

    async def ask(self, asks: Sequence[Ask]) -> bool:
        """Put questions; what grew too old while slower answers came is asked again, once. False: there were none."""
        if not asks:
            return False
        clock = self.runtime.observer.clock
        self._asks += asks
        self._seen = [*self._seen, *await self.runtime.observe_many(asks)]
        at = clock()
        old = [place for place, each in enumerate(self._seen) if _age(each, at) > each.max_age_s]
        if old:
            self.at = at
            again = await self.runtime.observe_many([self._asks[place] for place in old])
            for place, observation in zip(old, again, strict=True):
                self._seen[place] = observation
        return True

    def answered(self, words: str) -> Sequence[Observation]:
        """The answers that came before the time was over; for the others, that they did not come."""
        found: list[Observation] = []
        self.at = self.runtime.observer.clock()
        for ask in self._asks:
            name, arguments = provider_id(ask.provider), ask.arguments or NoArguments()
            kept = self.runtime.observer.facts.get(fact_key(name, ask.verb, arguments), self.at)
            silent = Observation(
                id=f"obs-{uuid.uuid4().hex}",
                site=self.runtime.site.name,
                provider=name,
                tool=ask.verb,
                arguments=arguments.model_dump(mode="json", exclude_defaults=True),
                outcome=Outcome.UNKNOWN,
                reason=words,
                observed_at=self.at,
                max_age_s=ask.provider.verbs[ask.verb].max_age_s,
                simulated=self.runtime.simulated,
            )
            found.append(kept or silent)
        return found


def _age(observation: Observation, at: datetime) -> float:
    return (at - observation.observed_at).total_seconds()


async def ask_secretary(
    runtime: SiteView,
    request: JobRequest,
    *,
    round_: int,
    timeout_s: float,
    conventions: Conventions = STRICT,
) -> tuple[Proposal, Sequence[Observation]]:
    """Observe what the request needs and compute the proposal.

    What a site has not answered in time is unknown, and the rest still counts; a site that answered nothing becomes an
    UNKNOWN proposal. Nothing is raised for a site.
    """
    begun = time.monotonic()
    file = _File(runtime)
    proposal: Proposal | None = None
    with anyio.move_on_after(timeout_s):
        await file.ask(_asks(runtime, questions_for(request)))
        proposal = evaluate(request, runtime.site, file.observations, file.at, round_, conventions)
        further = await _look_further(file, request, proposal) or await _estimates(file, request, proposal)
        if further:
            proposal = evaluate(request, runtime.site, file.observations, file.at, round_, conventions)
            if await _estimates(file, request, proposal):
                proposal = evaluate(request, runtime.site, file.observations, file.at, round_, conventions)
    seconds = time.monotonic() - begun
    if proposal is not None:
        return proposal.model_copy(update={"seconds": seconds}), file.observations
    words = f"no answer within {timeout_s:g} s"
    seen = file.answered(words)
    if all(each.outcome is Outcome.UNKNOWN for each in seen):
        return unknown_proposal(runtime.site, round_, file.at, words, seconds), seen
    proposal = evaluate(request, runtime.site, seen, file.at, round_, conventions)
    return proposal.model_copy(update={"seconds": seconds, "error": words}), seen


def _start_decides(request: JobRequest, proposal: Proposal) -> bool:
    """Whether all but the deadline holds, so that only the expected start is wanted to tell if it ends in time."""
    open_ = [check for check in proposal.checks if check.result is not Truth.YES]
    waits = proposal.start.now is not Truth.YES and proposal.start.expected_s is None
    return waits and request.walltime_s is not None and [check.field for check in open_] == ["deadline"]


async def _estimates(file: _File, request: JobRequest, proposal: Proposal) -> bool:
    """The scheduler's word on when the job would start in the place that was found; whether it was asked."""
    runtime = file.runtime
    if proposal.verdict is not Verdict.BUSY and not _start_decides(request, proposal):
        return False
    one = cpus_stated(proposal.constraints)
    understood = without_foreign_words(request, runtime.site.scheduler)
    query = start_query(understood, proposal.shape_index, proposal.queue, proposal.account, one)
    return await file.ask(
        [
            Ask(provider, "estimate", query)
            for provider in runtime.of(Category.WORKLOAD)
            if "estimate" in provider.verbs and provider.name == runtime.site.scheduler
        ]
    )


def recall(runtime: SiteView, observations: Sequence[Observation]) -> None:
    """Give a newly opened site the evidence that a thread has of it, so that what is young enough is not asked again.

    What was simulated is asked anew: its file may have been written anew, and it costs nothing.
    """
    for observation in observations:
        provider = next((one for one in runtime.providers if provider_id(one) == observation.provider), None)
        if provider is None or observation.tool not in provider.verbs or observation.simulated:
            continue
        try:
            arguments = provider.verbs[observation.tool].arguments.model_validate(observation.arguments)
        except ValidationError:
            continue  # asked by another release, with arguments that this one does not know
        key = fact_key(observation.provider, observation.tool, arguments)
        if runtime.observer.facts.get(key, runtime.observer.clock()) is None:
            runtime.observer.facts.put(key, observation)
