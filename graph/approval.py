"""approval: pauses with what a person needs on one screen; written rules may answer by themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from dragoman.kleene import Truth
from dragoman.model import JsonObject, JsonValue
from dragoman.proposal import Check, Proposal
from dragoman.request import JobRequest
from dragoman.selection import Approval, ApprovalRule, Selection
from dragoman.units import format_bytes, format_duration
from graph.node import Goto, Step, end, goto
from graph.reading.answers import merge_edit

__all__ = ["ANSWER_SCHEMA", "MOST_BYTES", "allowing_rule", "approval", "payload_for"]

MOST_BYTES = 64 * 1024

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "decision": {"enum": ["approve", "refuse", "edit", "hold"]},
        "site": {"type": "string", "description": "another site of the ranking; default: the first"},
        "edit": {"type": ["string", "object"], "description": "with edit: words or fields that change the request"},
        "hold_until": {"type": "string", "format": "date-time", "description": "with hold: when to ask again"},
        "reason": {"type": "string"},
        "by": {"type": "string"},
    },
    "required": ["decision"],
}


async def approval(step: Step) -> Goto:
    """Have a rule or a person decide: approve (this site or another), edit, hold, or refuse."""
    state, deps = step.state, step.deps
    proposals = {each.site: each for each in await deps.ledger.proposals(step.thread_id, state.round)}
    selection = Selection.model_validate(state.selection)
    able = [proposals[ranked.site] for ranked in selection.ranking if ranked.rank is not None]
    request = state.reading or JobRequest()
    if state.decision and state.decision.get("hold_until"):
        await _hold(step, str(state.decision["hold_until"]))
        return goto(step, "approval", decision={})
    decided = _by_rule(able, deps.approval_rules, request, deps.clock()) if state.options.approve == "auto" else None
    if decided is None:
        answer = await step.pause("approval", payload_for(request, selection, able), answer_schema=ANSWER_SCHEMA)
        decided = await _by_person(step, answer, able)
    if decided is None:
        return goto(step, "approval")
    if decided.decision == "hold":
        await step.say(f"held until {decided.hold_until} by {decided.by}")
        return goto(step, "approval", decision=decided.dump())
    if decided.decision == "refuse":
        await deps.ledger.save_decision(step.thread_id, _kind(step), state.round, decided.dump())
        await step.say(f"refused by {decided.by}: {decided.reason}".rstrip(": "))
        return end(step, "refused", decided.reason or f"refused by {decided.by}", decision=decided.dump())
    if decided.decision == "edit":
        edited = JobRequest.model_validate(decided.edited_request)
        await deps.ledger.save_request(step.thread_id, state.round + 1, edited.dump())
        await step.say(f"the request was changed by {decided.by}")
        return goto(step, "negotiator", reading=edited.dump(), round=state.round + 1, excluded=[], selection={})
    await deps.ledger.save_decision(step.thread_id, _kind(step), state.round, decided.dump())
    rule = f" by the rule {decided.rule!r}" if decided.rule else f" by {decided.by}"
    await step.say(f"{decided.site} approved{rule}", site=decided.site)
    chosen = proposals[decided.site or ""]
    prediction: JsonObject = {
        "site": chosen.site,
        "start_s": chosen.start.expected_s,
        "walltime_s": request.walltime_s,
        "cost": chosen.cost.amount,
        "cost_unit": chosen.cost.unit,
        "method": chosen.start.method,
    }
    return goto(step, "data_mover", decision=decided.dump(), phase="in", prediction=prediction, attempt=None)


async def _hold(step: Step, until: str) -> None:
    await step.pause("until", {"hold_until": until}, due_at=datetime.fromisoformat(until))


def _kind(step: Step) -> str:
    return f"approval-{step.state.waits}"


def allowing_rule(proposal: Proposal, rules: Sequence[ApprovalRule], request: JobRequest) -> ApprovalRule | None:
    """The first written rule that approves this proposal; what is unknown is within no limit."""
    for rule in rules:
        cost, walltime, nodes = proposal.cost.amount, request.walltime_s, request.shape.node_count
        if rule.sites and proposal.site not in rule.sites:
            continue
        if rule.max_cost is not None and (cost is None or cost > rule.max_cost):
            continue
        if rule.cost_unit is not None and proposal.cost.unit != rule.cost_unit:
            continue
        if rule.max_walltime_s is not None and (walltime is None or walltime > rule.max_walltime_s):
            continue
        if rule.max_nodes is not None and (nodes is None or nodes > rule.max_nodes):
            continue
        if proposal.verdict.value not in rule.verdicts or proposal.simulated:
            continue
        if any(source.origin == "model" for source in request.sources):
            continue
        return rule
    return None


def _by_rule(
    able: Sequence[Proposal], rules: Sequence[ApprovalRule], request: JobRequest, at: datetime
) -> Approval | None:
    for proposal in able:
        rule = allowing_rule(proposal, rules, request)
        if rule is not None:
            return Approval(decision="approve", site=proposal.site, by="rule", rule=rule.name, at=at)
    return None


async def _by_person(step: Step, answer: JsonObject, able: Sequence[Proposal]) -> Approval | None:
    """The decision in a person's answer; None where the question has to be put again."""
    names = [each.site for each in able]
    decision, by = answer.get("decision"), str(answer.get("by") or "person")[:200]
    reason = str(answer.get("reason") or "")[:2000]
    at = step.deps.clock()
    if decision == "approve":
        site = str(answer.get("site") or names[0])
        if site not in names:
            await step.say(f"cannot approve {site}: it is not among {', '.join(names)}")
            return None
        return Approval(decision="approve", site=site, by=by, reason=reason, at=at)
    edit = answer.get("edit")
    if decision == "edit" and isinstance(edit, str | dict):
        edited = merge_edit(step.state.reading or JobRequest(), edit, now=at).request
        return Approval(decision="edit", by=by, reason=reason, edited_request=edited.dump(), at=at)
    if decision == "hold" and answer.get("hold_until"):
        return Approval.model_validate(
            {"decision": "hold", "by": by, "reason": reason, "hold_until": answer["hold_until"], "at": at}
        )
    if decision == "refuse":
        return Approval(decision="refuse", by=by, reason=reason, at=at)
    await step.say(f"cannot use the answer {str(decision)[:80]!r}: approve, refuse, edit or hold")
    return None


def payload_for(request: JobRequest, selection: Selection, able: Sequence[Proposal]) -> JsonObject:
    """One screen: ten proposals with failed and unknown checks, a line for each other site, what is asked.

    At most `MOST_BYTES`: what is least needed is shortened first, and what was left out is counted.
    """
    for sites, checks, script in ((10, 12, 8000), (10, 6, 4000), (5, 4, 2000), (3, 2, 500), (1, 1, 0)):
        payload = _payload(request, selection, able, sites, checks, script)
        if len(json.dumps(payload).encode()) <= MOST_BYTES:
            break
    return payload


def _payload(
    request: JobRequest, selection: Selection, able: Sequence[Proposal], sites: int, checks: int, script: int
) -> JsonObject:
    ranked = {each.site: each for each in selection.ranking}
    shown = {each.site for each in able[:sites]}
    lines: list[JsonValue] = [f"{each.site}: {each.why}"[:300] for each in selection.ranking if each.site not in shown]
    transfers: list[JsonValue] = [
        f"{each.source} ({format_bytes(each.bytes)})"[:300] for each in request.inputs[: sites * 5]
    ]
    return {
        "question": f"Run it at {selection.site}?",
        "selected": selection.site,
        "policy": selection.policy,
        "why": selection.why,
        "request": _shown(request, script),
        "proposals": [
            {
                "site": each.site,
                "rank": ranked[each.site].rank,
                "why": ranked[each.site].why[:500],
                "verdict": each.verdict.value,
                "queue": each.queue,
                "account": each.account,
                "start": "now" if each.start.expected_s == 0 else format_duration(each.start.expected_s),
                "start_method": each.start.method,
                "cost": each.cost.amount,
                "cost_unit": each.cost.unit,
                "cost_basis": each.cost.basis[:300],
                "simulated": each.simulated,
                "checks": [*(_line(check) for check in _telling(each.checks)[:checks])],
            }
            for each in able[:sites]
        ],
        "other_sites": lines[: sites * 10],
        "more_sites": max(0, len(lines) - sites * 10),
        "transfers": transfers,
    }


def _telling(checks: Sequence[Check]) -> list[Check]:
    """Failed and unknown ones first."""
    return sorted(checks, key=lambda check: [Truth.NO, Truth.UNKNOWN, Truth.YES].index(check.result))


def _line(check: Check) -> str:
    mark = {Truth.YES: "yes", Truth.NO: "no", Truth.UNKNOWN: "unknown"}[check.result]
    return f"{mark}: {check.requirement}: {check.reason}"[:300]


def _shown(request: JobRequest, most: int) -> JsonObject:
    """The request without what only readers of the ledger need; long text cut, and said so."""
    shown = request.dump()
    shown.pop("sources", None)
    if len(request.script or "") > most:
        rest = len(request.script or "") - most
        shown["script"] = f"{(request.script or '')[:most]}\n[{rest} more characters: see `dragoman show`]"
    for name in ("command", "inputs", "environment", "outputs", "notes", "native_options"):
        items = shown.get(name)
        if isinstance(items, list) and len(json.dumps(items)) > most + 500:
            shown[name] = [f"[{len(items)} items: see `dragoman show`]"]
    return shown
