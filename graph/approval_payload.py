"""What an approval shows: one screen for a person, at most 64 KB whatever the request and the fleet are.

Its JSON Schema is docs/approval.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from dragoman.kleene import Truth
from dragoman.model import JsonObject, JsonValue, Model
from dragoman.proposal import Check, Proposal
from dragoman.request import JobRequest
from dragoman.selection import Ranked, Selection
from dragoman.units import format_bytes, format_duration
from graph.approval_answer import FORMS, ApprovalAnswer
from providers.command_body import plan_body

__all__ = ["MOST_BYTES", "ApprovalPayload", "ApprovalProposal", "approval_schema", "payload_for"]

MOST_BYTES = 64 * 1024
"""Of the payload as ASCII JSON, which is never shorter than what goes over the wire."""


class ApprovalProposal(Model):
    """One site's proposal, as far as it takes to decide."""

    site: str = Field(description="its name")
    rank: NonNegativeInt | None = Field(description="1 is the best")
    why: str = Field(description="why it stands there")
    verdict: str = Field(description="READY: fits and can start now; BUSY: fits and starts later")
    queue: str | None = Field(description="where it would be submitted; null: the scheduler has none, or chooses")
    account: str | None = Field(description="what would be charged; null: the site's default")
    start: str = Field(description="`now`, a duration such as `2 h`, or `unknown`")
    start_method: str = Field(description="who says so")
    cost: NonNegativeFloat | None = Field(description="at most this; null: not known")
    cost_unit: str = Field(description="currency or unit of the site; `none`: it charges nothing")
    cost_basis: str = Field(description="how the cost was computed")
    command: str = Field(default="", description="the whole command there; empty: as the request has it")
    simulated: bool = Field(description="it can answer but not run work")
    checks: tuple[str, ...] = Field(description="failed and unknown ones first: `no: software lammps: has 2020`")
    more_checks: NonNegativeInt = Field(description="how many are not shown")


class ApprovalPayload(Model):
    """The value of the interrupt of the node `approval`."""

    wait_id: str = Field(default="", description="the wait in the ledger that the answer ends")
    kind: Literal["approval"] = Field(default="approval", description="what the thread waits for")
    question: str = Field(description="the question in words")
    problem: str = Field(
        default="", description="why the answer before this one could not be used; empty: none was given"
    )
    answers: str = Field(
        default=FORMS, description="what to answer in words; an object of the answer's schema does too"
    )
    selected: str = Field(description="the site that `approve` alone approves")
    policy: str = Field(description="what the proposals were ranked by")
    why: str = Field(description="why the selected site comes first")
    charge: str = Field(description="what the selected site would charge at most, in words")
    request: JsonObject = Field(description="as understood; what is long is cut, and says so")
    notes: tuple[str, ...] = Field(description="defaults that were taken, and what else to know")
    command: str = Field(
        default="", description="the whole command at the selected site, with what is put before it; empty: the script"
    )
    command_notes: tuple[str, ...] = Field(default=(), description="what was put before or around the command, and why")
    script: str | None = Field(description="exactly what would be submitted at the selected site; cut where it says so")
    script_note: str = Field(description="what to know of the script, or why there is none")
    transfers: tuple[str, ...] = Field(description="what is moved there first")
    more_transfers: NonNegativeInt = Field(description="how many are not shown")
    proposals: tuple[ApprovalProposal, ...] = Field(description="the best, at most ten")
    other_sites: tuple[str, ...] = Field(description="a line for each other site")
    more_sites: NonNegativeInt = Field(description="how many are not shown")
    evidence: str = Field(description="where all of it is")


class _Size(NamedTuple):
    """How much is shown."""

    sites: int
    checks: int
    text: int
    items: int
    script: int
    others: int


_SIZES = (
    _Size(10, 12, 4000, 30, 16000, 20000),
    _Size(10, 6, 1000, 12, 8000, 12000),
    _Size(5, 4, 300, 6, 4000, 6000),
    _Size(3, 2, 120, 4, 1000, 3000),
    _Size(1, 1, 60, 2, 300, 1000),
)


def payload_for(
    request: JobRequest,
    selection: Selection,
    able: Sequence[Proposal],
    *,
    script: str | None = None,
    script_note: str = "",
    problem: str = "",
    evidence: str = "",
) -> JsonObject:
    """The payload without `wait_id` and `kind`, which the pause adds: the most that fits into `MOST_BYTES`.

    Args:
        request: as understood.
        selection: the ranking; its site is asked about.
        able: proposals that can be approved, the best first; not empty.
        script: what would be submitted at the selected site.
        script_note: about it, or why there is none.
        problem: with the answer before.
        evidence: where to read on.

    """
    for size in _SIZES:
        payload = _payload(request, selection, able, size, script)
        payload.update(problem=problem[:500], script_note=script_note[:500], evidence=evidence[:300])
        if len(json.dumps(payload)) <= MOST_BYTES - 200:
            return payload
    # Only names of absurd length get here; what is left is short by itself.
    payload["request"] = {"cut": payload["evidence"]}
    return payload


def _payload(
    request: JobRequest, selection: Selection, able: Sequence[Proposal], size: _Size, script: str | None
) -> JsonObject:
    ranked = {each.site: each for each in selection.ranking}
    shown = [each.site for each in able[: size.sites]]
    others = [each for each in selection.ranking if each.site not in shown]
    line = max(24, min(300, size.others // max(1, len(others))))
    told = others[: size.others // line]
    first = able[0]
    payload = ApprovalPayload(
        question=f"Run it at {selection.site}?",
        selected=selection.site or "",
        policy=selection.policy,
        why=_cut(selection.why, 500),
        charge=_charge(first),
        request=_request(request, size),
        notes=tuple(_cut(each, min(300, size.text)) for each in request.notes[: size.items]),
        command=_cut(_command(first), size.text),
        command_notes=tuple(
            _cut(each, min(300, size.text)) for each in (first.run.notes if first.run else ())[: size.items]
        ),
        script=None if script is None else _cut(script, size.script),
        script_note="",
        transfers=tuple(
            _cut(f"{each.source} ({format_bytes(each.bytes)})", min(300, size.text))
            for each in request.inputs[: size.items]
        ),
        more_transfers=max(0, len(request.inputs) - size.items),
        proposals=tuple(_proposal(each, ranked.get(each.site), size) for each in able[: size.sites]),
        other_sites=tuple(_cut(f"{each.site}: {each.why}", line) for each in told),
        more_sites=len(others) - len(told),
        evidence="",
    )
    dumped: JsonObject = payload.model_dump(mode="json", exclude={"wait_id", "kind"})
    return dumped


def _proposal(proposal: Proposal, ranked: Ranked | None, size: _Size) -> ApprovalProposal:
    checks = sorted(proposal.checks, key=lambda check: [Truth.NO, Truth.UNKNOWN, Truth.YES].index(check.result))
    expected = proposal.start.expected_s
    return ApprovalProposal(
        site=proposal.site,
        rank=ranked.rank if ranked else None,
        why=_cut(ranked.why if ranked else "", 300),
        verdict=proposal.verdict.value,
        queue=proposal.queue,
        account=proposal.account,
        start="now" if expected == 0 else format_duration(expected),
        start_method=proposal.start.method,
        cost=proposal.cost.amount,
        cost_unit=proposal.cost.unit,
        cost_basis=_cut(proposal.cost.basis, 200),
        command=_cut(_command(proposal), min(1000, size.text)),
        simulated=proposal.simulated,
        checks=tuple(_check(check) for check in checks[: size.checks]),
        more_checks=max(0, len(checks) - size.checks),
    )


def _command(proposal: Proposal) -> str:
    """What the job runs there, set-up lines included; empty where the request's own script says it all."""
    return plan_body(proposal.run).rstrip("\n") if proposal.run is not None and proposal.run.command else ""


def _check(check: Check) -> str:
    mark = {Truth.YES: "yes", Truth.NO: "no", Truth.UNKNOWN: "unknown"}[check.result]
    return _cut(f"{mark}: {check.requirement}: {check.reason}", 240)


def _charge(proposal: Proposal) -> str:
    amount = "an amount not known" if proposal.cost.amount is None else f"{proposal.cost.amount:g}"
    unit = "" if proposal.cost.unit == "none" else f" {proposal.cost.unit}"
    return _cut(f"{amount}{unit}" + (f": {proposal.cost.basis}" if proposal.cost.basis else ""), 300)


def _request(request: JobRequest, size: _Size) -> JsonObject:
    """The request without what stands elsewhere in the payload or serves only readers of the ledger."""
    data = request.dump()
    for name in ("sources", "notes"):
        data.pop(name, None)
    return {key: _shortened(value, size) for key, value in data.items()}


def _shortened(value: JsonValue, size: _Size) -> JsonValue:
    if isinstance(value, str):
        return _cut(value, size.text)
    if isinstance(value, list):
        kept = [_shortened(each, size) for each in value[: size.items]]
        return kept if len(value) <= size.items else [*kept, f"[{len(value) - size.items} more]"]
    if isinstance(value, dict):
        return {key: _shortened(each, size) for key, each in value.items()}
    return value


def _cut(text: str, most: int) -> str:
    """The beginning of a text, and how much is missing."""
    if len(text) <= most:
        return text
    if most < 80:
        return text[: most - 1] + "…"
    kept = text[: most - 30]
    return (
        f"{kept}\n[{len(text) - len(kept)} more characters]"
        if "\n" in kept
        else f"{kept} [{len(text) - len(kept)} more]"
    )


def approval_schema() -> dict[str, Any]:
    """JSON Schema of the payload and of the answer, for docs/approval.schema.json."""
    payload, answer = ApprovalPayload.model_json_schema(), ApprovalAnswer.model_json_schema()
    definitions = {**payload.pop("$defs", {}), "ApprovalPayload": payload, "ApprovalAnswer": answer}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Approval",
        "description": "The value and the response_schema of the interrupt with which a thread asks for approval.",
        "type": "object",
        "properties": {
            "value": {"$ref": "#/$defs/ApprovalPayload"},
            "response": {"anyOf": [{"$ref": "#/$defs/ApprovalAnswer"}, {"type": "string"}]},
        },
        "$defs": definitions,
    }
