"""The site's terms and the person's: sites wanted, required statements, deadline, urgency, energy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from dragoman.kleene import Truth, truth
from dragoman.proposal import Check, StartEstimate
from dragoman.request import JobRequest
from dragoman.site import Site
from graph.verdict.taken import Taken
from providers.registry import dialects
from providers.translation.dispatch import foreign_words

__all__ = ["awaited", "check_deadline", "check_terms", "check_urgent", "energy_kwh", "start_after_jobs"]


def check_terms(request: JobRequest, site: Site, account: str | None, accounts: Sequence[str] = ()) -> list[Check]:
    """Sites that the person named or ruled out, and what a job at this site must state.

    Args:
        request: what is asked.
        site: whose terms they are.
        account: that would be charged.
        accounts: names of those that the person has there.

    """
    checks = []
    if request.sites:
        wanted = truth(site.name in request.sites)
        checks.append(_check("sites", wanted, f"only at {', '.join(request.sites)} by the request"))
    if site.name in request.sites_not:
        checks.append(_check("sites_not", Truth.NO, "ruled out by the request"))
    if "account" in site.required and account is None:
        words = "the site wants an account and none is stated"
        checks.append(_check("account", Truth.UNKNOWN, words, person_can_settle=True, options=accounts))
    if "walltime" in site.required and request.walltime_s is None:
        words = "the site wants a walltime and none is stated"
        checks.append(_check("walltime_s", Truth.UNKNOWN, words, person_can_settle=True))
    if request.account is not None and site.accounts and request.account not in {each.name for each in site.accounts}:
        names = ", ".join(each.name for each in site.accounts)
        checks.append(_check("account", Truth.NO, f"account {request.account} is not among yours here: {names}"))
    if _reads_scripts_alone(site):
        words = f"jobs are not handed to {site.scheduler} from here: only its scripts are read"
        checks.append(_check("scheduler", Truth.UNKNOWN, words))
    for field, why in foreign_words(request, site.scheduler).items():
        checks.append(_check(field, Truth.UNKNOWN, why, person_can_settle=True))
    return checks


def _reads_scripts_alone(site: Site) -> bool:
    """Whether nothing can be submitted there, whatever the site has free; a simulated site runs no work anyway."""
    known = site.simulated is None and site.scheduler in dialects.names()
    return known and bool(getattr(dialects.get(site.scheduler), "only_scripts", False))


def awaited(request: JobRequest) -> str:
    """The jobs that this one starts after, in words; empty: none."""
    names = [
        f"job {one.job_id}" if one.job_id is not None
        else f"thread {one.thread_id}" if one.thread_id is not None
        else "jobs of its name"
        for one in request.dependencies
    ]  # fmt: skip
    return ", ".join(dict.fromkeys(names))[:300]


def start_after_jobs(request: JobRequest, start: StartEstimate) -> StartEstimate:
    """What is free now says nothing of a job that waits for others: when they end is not known."""
    if not request.dependencies or start.now is Truth.NO:
        return start
    return StartEstimate(made_at=start.made_at, method="dependencies")


def check_deadline(request: JobRequest, start: StartEstimate, at: datetime) -> Check | None:
    """Whether it ends in time, if it starts when expected and runs its whole walltime."""
    if request.deadline is None:
        return None
    words, ids = f"asked by {request.deadline.isoformat()}", start.observations
    walltime = request.walltime_s
    begin = max(at, request.start_after) if request.start_after else at
    if walltime is not None and begin + timedelta(seconds=walltime) > request.deadline:
        return _time_check(Truth.NO, f"too long to end in time even when started at once, {words}")
    waits = [0.0, 0.0] if start.now is Truth.YES else [start.low_s, start.high_s]
    if walltime is None or waits[0] is None:
        reason = "no walltime is stated" if walltime is None else "expected start is not known"
        return _time_check(Truth.UNKNOWN, f"{reason}, {words}", person_can_settle=walltime is None, observations=ids)
    # A wait until the wished start is told from now on, as any other.
    earliest = max(begin, at + timedelta(seconds=waits[0])) + timedelta(seconds=walltime)
    last = waits[1] if waits[1] is not None else max(waits[0], start.expected_s or 0.0)
    latest = max(begin, at + timedelta(seconds=last)) + timedelta(seconds=walltime)
    if earliest > request.deadline:
        reason = f"cannot be in time: would end at {earliest.isoformat(timespec='minutes')} at the earliest, {words}"
        return _time_check(Truth.NO, reason, observations=ids)
    if latest > request.deadline or waits[1] is None:
        reason = f"may end as late as {latest.isoformat(timespec='minutes')}"
        if waits[1] is None:
            reason = f"expected to end by {latest.isoformat(timespec='minutes')}, which may become later"
        return _time_check(Truth.UNKNOWN, f"{reason}, {words}", observations=ids)
    return _time_check(Truth.YES, f"ends by {latest.isoformat(timespec='minutes')}, {words}", observations=ids)


def check_urgent(request: JobRequest, start: StartEstimate) -> Check | None:
    """Whether it starts now, where that was asked."""
    if not request.urgent:
        return None
    words = {
        Truth.YES: "free now",
        Truth.NO: "not free now, asked to start now",
        Truth.UNKNOWN: "whether it is free now is not known, asked to start now",
    }[start.now]
    return Check(
        requirement="start now", field="urgent", kind="time", result=start.now, reason=words,
        observations=start.observations,
    )  # fmt: skip


def energy_kwh(request: JobRequest, site: Site, taken: Taken | None) -> float | None:
    """Energy of the whole walltime at the site's stated power for each node."""
    if site.charges.watts_per_node is None or taken is None or request.walltime_s is None:
        return None
    return site.charges.watts_per_node * taken.nodes * request.walltime_s / 3_600_000


def _check(
    field: str, result: Truth, reason: str, *, person_can_settle: bool = False, options: Sequence[str] = ()
) -> Check:
    return Check(
        requirement=field, field=field, kind="policy", result=result, reason=reason,
        person_can_settle=person_can_settle, options=tuple(dict.fromkeys(options)),
    )  # fmt: skip


def _time_check(
    result: Truth, reason: str, *, person_can_settle: bool = False, observations: tuple[str, ...] = ()
) -> Check:
    return Check(
        requirement="deadline", field="deadline", kind="time", result=result, reason=reason,
        person_can_settle=person_can_settle, observations=observations,
    )  # fmt: skip
