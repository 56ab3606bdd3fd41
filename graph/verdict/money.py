"""What a job costs at a site, and whether the person's budget and the account's balance bear it."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.facts import Account, Queue
from dragoman.kleene import Truth, truth
from dragoman.proposal import Check, Cost, Suggestion
from dragoman.request import JobRequest
from dragoman.site import Site
from dragoman.units import format_duration
from graph.verdict.taken import Taken

__all__ = ["budget_suggestions", "check_balance", "check_budget", "cost_of"]


def cost_of(request: JobRequest, site: Site, queue: Queue | None, taken: Taken | None) -> Cost:
    """What the job is charged at most: its walltime on what it takes. Unknown rates are not zero."""
    charges = site.charges
    rates = [
        (charges.per_node_hour, taken.nodes if taken else None, "nodes"),
        (charges.per_core_hour, taken.cores if taken else None, "cores"),
        (charges.per_gpu_hour, taken.gpus if taken else None, "GPUs"),
    ]
    stated = [(rate, count, what) for rate, count, what in rates if rate is not None]
    if not stated:
        return Cost(unit=charges.currency, basis="the site's charges are not known")
    if all(rate == 0 for rate, _, _ in stated):
        return Cost(amount=0.0, unit=charges.currency, basis="the site charges nothing")
    seconds = request.walltime_s or (queue.default_walltime_s if queue else None)
    if seconds is None:
        return Cost(unit=charges.currency, basis="no walltime is stated")
    unknown = [what for rate, count, what in stated if rate and count is None]
    if unknown:
        return Cost(unit=charges.currency, basis=f"how many {' and '.join(unknown)} it takes is not known")
    factor = next((each.charge_factor for each in site.queues if queue and each.name == queue.name), 1.0)
    tasks = request.array.size if request.array else 1
    hours = seconds / 3600
    amount = sum((rate or 0) * (count or 0) for rate, count, _ in stated) * hours * factor * tasks
    terms = " + ".join(f"{count} {what} x {rate:g}" for rate, count, what in stated if rate)
    many = f" x {tasks} array tasks" if tasks > 1 else ""
    by = f" x factor {factor:g}" if factor != 1 else ""
    basis = f"({terms}) x {format_duration(seconds)}{by}{many}"
    return Cost(amount=round(amount, 6), unit=charges.currency, basis=basis)


def _spent(request: JobRequest, unit: str, cost: Cost, taken: Taken | None) -> float | None:
    """What the job takes at most in a unit; None: not known."""
    if unit.endswith("-hours") and request.walltime_s is not None and taken is not None:
        count = {"node-hours": taken.nodes, "core-hours": taken.cores, "gpu-hours": taken.gpus}
        tasks = request.array.size if request.array else 1
        amount = count[unit]
        return None if amount is None else amount * tasks * request.walltime_s / 3600
    if cost.unit == unit and cost.amount is not None:
        return cost.amount
    return 0.0 if cost.amount == 0 else None


def check_budget(request: JobRequest, cost: Cost, taken: Taken | None, observations: Sequence[str]) -> Check | None:
    """The most that may be spent, in money or in hours; the observations show what nodes the job takes."""
    if request.budget is None:
        return None
    asked = f"asked at most {request.budget.amount:g} {request.budget.unit}"
    spent = _spent(request, request.budget.unit, cost, taken)
    if spent is None:
        return Check(
            requirement="budget", field="budget", kind="budget", result=Truth.UNKNOWN,
            reason=f"cost in {request.budget.unit} is not known, {asked}",
            person_can_settle=request.walltime_s is None, observations=tuple(observations),
        )  # fmt: skip
    return Check(
        requirement="budget", field="budget", kind="budget", result=truth(spent <= request.budget.amount),
        reason=f"{spent:g} {request.budget.unit}, {asked}", observations=tuple(observations),
    )  # fmt: skip


def budget_suggestions(request: JobRequest, cost: Cost, taken: Taken | None) -> list[Suggestion]:
    """The longest walltime that the budget bears, where it does not bear the one asked."""
    if request.budget is None or request.walltime_s is None:
        return []
    spent = _spent(request, request.budget.unit, cost, taken)
    if spent is None or spent <= request.budget.amount:
        return []
    most = int(request.walltime_s * request.budget.amount / spent) // 60 * 60
    if most < 60:
        return []
    words = f"within the budget if walltime is at most {format_duration(most)}"
    return [Suggestion(field="walltime_s", asked=str(request.walltime_s), offered=str(most), words=words)]


def check_balance(
    request: JobRequest, account: str | None, accounts: Sequence[Account], cost: Cost, taken: Taken | None,
    observations: Sequence[str],
) -> Check | None:  # fmt: skip
    """What is left on the account that is charged, where that and the job's cost in its unit are known.

    A job without a walltime is charged for what it runs: a queue's default says nothing about that. An account that is
    used up bears no job that costs anything.
    """
    charged = next((each for each in accounts if each.name == account and each.balance is not None), None)
    if charged is None or charged.balance is None or (cost.amount == 0 and cost.unit == charged.unit):
        return None
    if charged.balance <= 0:
        left = f"{charged.balance:g} {charged.unit or 'units'}"
        return Check(
            requirement="account", field="account", kind="budget", result=Truth.NO,
            reason=f"account {charged.name} has {left} left", observations=tuple(observations),
        )  # fmt: skip
    if charged.unit is None or request.walltime_s is None:
        return None
    spent = cost.amount if cost.unit == charged.unit else None
    if spent is None and cost.unit in ("none", charged.unit):
        spent = _spent(request, charged.unit, cost, taken)
    if spent is None or spent <= charged.balance:
        return None
    return Check(
        requirement="account", field="account", kind="budget", result=Truth.NO,
        reason=f"account {charged.name} has {charged.balance:g} {charged.unit} left, asked {spent:g}",
        observations=tuple(observations),
    )  # fmt: skip
