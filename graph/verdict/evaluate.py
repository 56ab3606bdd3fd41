"""A site's proposal, computed from the request and what was observed. Pure: the same inputs give the same verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dragoman.facts import Account, Accounts, Workload
from dragoman.kleene import Truth, all_of
from dragoman.model import JsonObject
from dragoman.observation import Category, Observation, Outcome
from dragoman.proposal import Check, Proposal, StartEstimate, Verdict, verdict_of
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import Site
from dragoman.units import format_duration
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.cpus import COUNTED
from graph.verdict.doubts import check_constraint, check_qos, not_checked, queue_doubts, with_constraint
from graph.verdict.evidence import Evidence
from graph.verdict.means import check_launch
from graph.verdict.money import budget_suggestions, check_balance, check_budget, cost_of
from graph.verdict.placement import Placement, place
from graph.verdict.software import check_mpi, check_software, software_suggestions
from graph.verdict.start import check_estimate, start_of
from graph.verdict.storage import check_storage
from graph.verdict.surroundings import check_container, check_network
from graph.verdict.terms import awaited, check_deadline, check_terms, check_urgent, energy_kwh, start_after_jobs
from providers.translation.dispatch import without_foreign_words

__all__ = ["evaluate", "unknown_proposal"]


def evaluate(
    request: JobRequest,
    site: Site,
    observations: Sequence[Observation],
    at: datetime,
    round_: int,
    conventions: Conventions = STRICT,
) -> Proposal:
    """Hold every requirement against the observations that are within their age, and draw the verdict.

    Args:
        request: what is asked.
        site: the site's own terms.
        observations: the evidence.
        at: now; older observations than their `max_age_s` are not used.
        round_: the negotiation round, kept in the proposal.
        conventions: what may stand for what; kept in the proposal where it is not the strict reading.

    """
    fresh = [each for each in observations if (at - each.observed_at).total_seconds() <= each.max_age_s]
    evidence = Evidence(fresh, site)
    account = request.account or _default_account(site, evidence)
    charged = request if request.account else request.model_copy(update={"account": account})
    understood = without_foreign_words(request, site.scheduler)
    placement, more, depth, scheduler = _placement(charged, understood, site, evidence)
    accounts = _accounts(site, evidence)
    checks = [placement.check, *more, *check_terms(request, site, account, [each.name for each in accounts])]
    checks += _account_checks(request, site, evidence)
    inside = bool(request.containers) and conventions.container_replaces_software
    checks += [check_software(each, f"software.{i}", evidence) for i, each in enumerate(request.software) if not inside]
    checks += [
        check_container(each, f"containers.{i}", evidence, conventions, scheduler or site.scheduler)
        for i, each in enumerate(request.containers)
    ]
    checks += [check_network(each, f"networks.{i}", evidence) for i, each in enumerate(request.networks)]
    checks += [check_storage(each, f"storage.{i}", evidence) for i, each in enumerate(request.storage)]
    if request.mpi is not None:
        checks.append(check_mpi(request.mpi, evidence))
    shape = request.shape_at(placement.shape_index)
    launch = check_launch(request, site, shape, scheduler or site.scheduler, evidence)
    checks += [launch] if launch is not None else []
    start = start_after_jobs(understood, start_of(understood, placement, account, evidence, at))
    refused = check_estimate(understood, placement, account, evidence)
    if refused is not None:
        checks.append(refused)
    cost = cost_of(request, site, placement.queue, placement.taken)
    sized = placement.check.observations
    owed = (*(each.observation.id for each in evidence.of(Category.WORKLOAD, "accounts", Accounts)), *sized)
    checks += [
        check
        for check in (
            check_budget(request, cost, placement.taken, sized),
            check_balance(request, account, accounts, cost, placement.taken, owed),
            check_qos(charged, accounts),
            check_deadline(request, start, at),
            check_urgent(request, start) if conventions.urgent_busy == "incompatible" else None,
        )
        if check is not None
    ]
    fits = all_of(check.result for check in checks)
    settle = all(check.person_can_settle for check in checks if check.result is Truth.UNKNOWN)
    suggestions = [
        s for i, each in enumerate(request.software) for s in software_suggestions(each, f"software.{i}", evidence)
    ]
    return Proposal(
        site=site.name,
        round=round_,
        verdict=verdict_of(fits, start.now, person_can_settle=settle),
        fits=fits,
        start=start,
        checks=tuple(checks),
        reasons=_reasons(
            request, checks, fits, start, placement, not_checked(charged, site, placement.queue, accounts)
        ),
        cost=cost,
        shape_index=placement.shape_index,
        queue=placement.queue.name if placement.queue and fits is not Truth.NO else None,
        account=account,
        scheduler=scheduler or site.scheduler,
        queue_depth=depth,
        constraints={**_shared(request, placement), **_counted(placement), **_customs(conventions)},
        suggestions=(*placement.suggestions, *suggestions, *budget_suggestions(request, cost, placement.taken)),
        simulated=site.simulated is not None,
        energy_kwh=energy_kwh(request, site, placement.taken),
        made_at=at,
    )


def unknown_proposal(site: Site, round_: int, at: datetime, error: str, seconds: float = 0.0) -> Proposal:
    """What a site's error, silence or time-out becomes: UNKNOWN for that site only."""
    return Proposal(
        site=site.name, round=round_, verdict=Verdict.UNKNOWN, fits=Truth.UNKNOWN, reasons=(error[:500],),
        scheduler=site.scheduler, simulated=site.simulated is not None, made_at=at, seconds=seconds, error=error[:2000],
    )  # fmt: skip


def _placement(
    request: JobRequest, understood: JobRequest, site: Site, evidence: Evidence
) -> tuple[Placement, list[Check], int | None, str]:
    """The place found, what else must hold of it, how many jobs wait, and the scheduler's name.

    `understood` is the request as far as this scheduler understands its words.
    """
    seen = evidence.of(Category.WORKLOAD, "resources", Workload)
    known = [each for each in seen if each.value is not None]
    ids = [each.observation.id for each in seen]
    if not known:
        reasons = "; ".join(dict.fromkeys(each.observation.reason for each in seen)) or "no workload manager was seen"
        absent = bool(seen) and all(each.observation.outcome is Outcome.ABSENT for each in seen)
        if absent:
            check = Check(
                requirement="a workload manager", field="shapes", kind="shape", result=Truth.NO, reason=reasons,
                observations=tuple(ids),
            )  # fmt: skip
            return Placement(check, Truth.NO), [], None, ""
        return place(request, site, None, reasons, ids), [], None, ""
    chosen = next((each for each in known if each.provider == site.scheduler), known[0])
    assert chosen.value is not None  # noqa: S101  # `known` holds no others
    ids = [chosen.observation.id]
    placement, doubts = _surest(request, site, with_constraint(understood, chosen.value), evidence, ids)
    marks = check_constraint(understood, placement.shape_index, chosen.value, ids)
    return placement, [*doubts, *marks], chosen.value.jobs_pending, chosen.value.scheduler


def _surest(
    request: JobRequest, site: Site, workload: Workload, evidence: Evidence, ids: Sequence[str]
) -> tuple[Placement, list[Check]]:
    """A place in a queue of which all is known, else the best of all queues with what is not known of it."""
    queues = workload.queues or ()
    doubts = {each.name: queue_doubts(request, site, each, evidence) for each in queues}
    sure = tuple(each for each in queues if not doubts[each.name])
    if sure and len(sure) < len(queues):
        placement = place(request, site, workload.model_copy(update={"queues": sure}), "", ids)
        if placement.check.result is Truth.YES:
            return placement, []
    placement = place(request, site, workload, "", ids)
    name = placement.queue.name if placement.queue is not None else ""
    found = doubts.get(name, []) if placement.check.result is not Truth.NO else []
    return placement, [each.model_copy(update={"observations": tuple(ids)}) for each in found]


def _shared(request: JobRequest, placement: Placement) -> JsonObject:
    """That tasks share cores, where the host is time-shared and has fewer cores than tasks."""
    queue, demand = placement.queue, placement.demand
    if queue is None or demand is None or not queue.shares_cores:
        return {}
    shape = (request.shapes or (Shape(),))[placement.shape_index]
    tasks = shape.task_count or 1
    return {"cpus": demand.total_cpus} if demand.total_cpus < tasks and not shape.cpus else {}


def _counted(placement: Placement) -> JsonObject:
    """What the scheduler has to be asked for each core, where it counts hardware threads."""
    one = placement.demand.cpus_for_one if placement.demand is not None else 1
    return {} if one == 1 else {COUNTED: float(one)}


def _customs(conventions: Conventions) -> JsonObject:
    """The name of the customs that it was judged by, where they are not the strict ones."""
    return {} if conventions == STRICT else {"conventions": conventions.name}


def _account_checks(request: JobRequest, site: Site, evidence: Evidence) -> list[Check]:
    """An account that the scheduler's accounting does not know for this user is refused at submit, or worse, after."""
    seen = [each for each in evidence.of(Category.WORKLOAD, "accounts", Accounts) if each.value is not None]
    names = [account.name for each in seen if each.value is not None for account in each.value.accounts]
    if request.account is None or site.accounts or not names or request.account in names:
        return []
    return [
        Check(
            requirement="account", field="account", kind="policy", result=Truth.NO,
            reason=f"account {request.account} is not among yours here: {', '.join(dict.fromkeys(names))}"[:1000],
            observations=tuple(each.observation.id for each in seen),
        )
    ]  # fmt: skip


def _accounts(site: Site, evidence: Evidence) -> list[Account]:
    """Those that the site file names, and those that the site tells of."""
    seen = evidence.of(Category.WORKLOAD, "accounts", Accounts)
    return [*site.accounts, *(account for each in seen if each.value for account in each.value.accounts)]


def _default_account(site: Site, evidence: Evidence) -> str | None:
    if site.default_account:
        return site.default_account
    accounts = _accounts(site, evidence)
    named = [each.name for each in accounts if each.default] or list(dict.fromkeys(each.name for each in accounts))
    return named[0] if len(named) == 1 else None


def _reasons(
    request: JobRequest, checks: Sequence[Check], fits: Truth, start: StartEstimate, placement: Placement, left: str
) -> tuple[str, ...]:
    if fits is not Truth.YES:
        return tuple(dict.fromkeys(check.reason for check in checks if check.result is fits and check.reason))[:8]
    where = f"fits queue {placement.queue.name}" if placement.queue else "fits"
    when = {Truth.YES: "free now", Truth.NO: "not free now", Truth.UNKNOWN: "start not known"}[start.now]
    if placement.free and start.now is not Truth.YES:
        when += f" ({placement.free})"
    if start.method == "scheduler" and start.expected_s is not None:
        then = "at once" if start.now is Truth.YES else f"in {format_duration(start.expected_s)}"
        when = f"the scheduler expects to start it {then}"
    if start.method == "dependencies":
        when = f"waits for {awaited(request)}"
    if start.method == "start-after" and request.start_after is not None:
        when = f"not before {request.start_after.isoformat(timespec='minutes')}, as asked"
    settled = [check.reason for check in checks if check.kind in ("software", "container", "mpi", "network", "storage")]
    shared = [f"tasks share {cpus} cores" for cpus in _shared(request, placement).values()]
    return (f"{where}, {when}", *([left] if left else []), *shared, *dict.fromkeys(settled))[:8]
