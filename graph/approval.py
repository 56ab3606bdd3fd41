"""approval: pauses with what a person needs on one screen; written rules may answer by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from dragoman.proposal import Proposal
from dragoman.request import JobRequest
from dragoman.selection import Approval, Selection
from graph.approval_answer import ANSWER_SCHEMA, read_answer
from graph.approval_payload import payload_for
from graph.approval_rules import allowing_rule, approved_by_rule
from graph.editing import edited_request
from graph.node import Goto, Step, end, goto
from graph.pausing import wait_id
from graph.script import script_for

__all__ = ["allowing_rule", "approval"]


async def approval(step: Step) -> Goto:
    """Have a rule or a person decide: approve (this site or another), edit, hold, or refuse."""
    state, deps = step.state, step.deps
    request = state.reading or JobRequest()
    selection = Selection.model_validate(state.selection)
    proposals = {each.site: each for each in await deps.ledger.proposals(step.thread_id, state.round)}
    able = [proposals[ranked.site] for ranked in selection.ranking if ranked.rank is not None]
    held = (state.decision or {}).get("hold_until")
    if held:
        answer = await step.pause("until", {"hold_until": held}, due_at=datetime.fromisoformat(str(held)))
        if answer.get("event") == "time":
            return await _held(step)
        decided, problem = await _by_person(step, answer, request, able)
    else:
        rule = await _rule(step, request, able)
        decided, problem = rule, ""
    while decided is None:
        script, note = await script_for(step, request, proposals[selection.site or ""])
        payload = payload_for(
            request, selection, able, script=script, script_note=note, problem=problem,
            evidence=f"dragoman show {step.thread_id}",
        )  # fmt: skip
        answer = await step.pause("approval", payload, answer_schema=ANSWER_SCHEMA)
        decided, problem = await _by_person(step, answer, request, able)
    return await _decided(step, decided, request, proposals)


async def _rule(step: Step, request: JobRequest, able: Sequence[Proposal]) -> Approval | None:
    """A written rule's decision. Once a person was asked, or has held it, no rule answers in their place."""
    state, deps = step.state, step.deps
    if state.options.approve != "auto" or (state.decision or {}).get("decision") == "hold":
        return None
    if await deps.ledger.wait(wait_id(step.thread_id, step.waits)) is not None:
        return None
    own = state.options.approval_rules
    rules = deps.approval_rules if own is None or step.epoch is None else own
    decided = approved_by_rule(able, rules, request, deps.clock())
    if decided is None:
        return None
    script, _ = await script_for(step, request, next(each for each in able if each.site == decided.site))
    return None if script is None else decided


async def _held(step: Step) -> Goto:
    """The time has come: the proposals may be old, so the sites are asked again before the person is."""
    state = step.state
    await step.say("the hold is over: asking the sites again")
    waited: JsonObject = {**(state.decision or {}), "hold_until": None}
    return goto(step, "negotiator", decision=waited, round=state.round + 1, excluded=[], selection={})


async def _by_person(
    step: Step, answer: JsonObject, request: JobRequest, able: Sequence[Proposal]
) -> tuple[Approval | None, str]:
    """The decision in a person's answer; or what is wrong with the answer, and the question has to be put again."""
    at, options = step.deps.clock(), step.state.options
    try:
        said = read_answer(answer, now=at, time_zone=options.time_zone)
        site, edited = None, None
        if said.decision == "approve":
            names = [each.site for each in able]
            site = said.site or names[0]
            if site not in names:
                raise BadRequest(
                    f"{site} cannot take the work", where="site", cure=f"approve one of {', '.join(names)}"
                )
            script, note = await script_for(step, request, able[names.index(site)])
            if script is None and not able[names.index(site)].simulated:
                raise BadRequest(f"the script {note}", where=site, cure="edit the request, or refuse it")
        if said.decision == "edit":
            edited = await edited_request(step, request, said.edit)
    except BadRequest as error:
        return None, str(error)
    decided = Approval(
        decision=said.decision, site=site, by=said.by or "person", reason=said.reason,
        edited_request=edited.dump() if edited else None, hold_until=said.hold_until, at=at,
    )  # fmt: skip
    return decided, ""


async def _decided(step: Step, decided: Approval, request: JobRequest, proposals: Mapping[str, Proposal]) -> Goto:
    """Keep the decision and go where it leads."""
    state, ledger = step.state, step.deps.ledger
    if decided.decision == "approve":
        decided = decided.model_copy(update={"site_digest": proposals[decided.site or ""].site_digest})
    if decided.decision == "edit":
        edited = JobRequest.model_validate(decided.edited_request)
        await ledger.save_request(step.thread_id, state.round + 1, edited.dump())
        await step.say(f"the request was changed by {decided.by}")
        return goto(
            step, "negotiator", reading=edited.dump(), round=state.round + 1, excluded=[], selection={}, decision={}
        )
    await ledger.save_decision(step.thread_id, f"approval-{step.waits}", state.round, decided.dump())
    if decided.decision == "hold":
        await step.say(f"held until {decided.hold_until} by {decided.by}")
        return goto(step, "approval", decision=decided.dump())
    if decided.decision == "refuse":
        await step.say(f"refused by {decided.by}: {decided.reason}".rstrip(": "))
        return end(step, "refused", decided.reason or f"refused by {decided.by}", decision=decided.dump())
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
