"""Written rules that approve by themselves what a person wrote down beforehand (see docs/approval.md)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dragoman.proposal import Proposal
from dragoman.request import JobRequest
from dragoman.selection import Approval, ApprovalRule

__all__ = ["allowing_rule", "approved_by_rule"]


def approved_by_rule(
    able: Sequence[Proposal], rules: Sequence[ApprovalRule], request: JobRequest, at: datetime
) -> Approval | None:
    """The best-ranked proposal that a rule allows; None: a person has to be asked."""
    for proposal in able:
        rule = allowing_rule(proposal, rules, request)
        if rule is not None:
            return Approval(decision="approve", site=proposal.site, by="rule", rule=rule.name, at=at)
    return None


def allowing_rule(proposal: Proposal, rules: Sequence[ApprovalRule], request: JobRequest) -> ApprovalRule | None:
    """The first written rule that approves this proposal; what is unknown is within no limit.

    Nothing is allowed at a simulated site, nor where a model read part of the request.
    """
    if proposal.simulated or any(source.origin == "model" for source in request.sources):
        return None
    return next((rule for rule in rules if _allows(rule, proposal, request)), None)


def _allows(rule: ApprovalRule, proposal: Proposal, request: JobRequest) -> bool:
    return (
        (not rule.sites or proposal.site in rule.sites)
        and proposal.verdict.value in rule.verdicts
        and (rule.cost_unit is None or proposal.cost.unit == rule.cost_unit)
        and _within(proposal.cost.amount, rule.max_cost)
        and _within(request.walltime_s, rule.max_walltime_s)
        and _within(request.shape.node_count, rule.max_nodes)
    )


def _within(value: float | None, limit: float | None) -> bool:
    return limit is None or (value is not None and value <= limit)
