"""selector: ranks the proposals by policy; where none can take the work, says what would and asks."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest, Policy
from dragoman.selection import Selection
from graph.editing import edited_request
from graph.node import Goto, Step, end, goto
from graph.selection.agentic import rank_with_model
from graph.selection.rank import nobody_can, rank

__all__ = ["selector"]

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "edit": {"description": "words or fields that change the request", "type": ["string", "object"]},
        "again": {"description": "true: ask the sites again, nothing changed", "type": "boolean"},
        "stop": {"description": "true: give up", "type": "boolean"},
    },
}


async def selector(step: Step) -> Goto:
    """Rank; go to approval, or ask the person what may change."""
    state, deps = step.state, step.deps
    proposals = await deps.ledger.proposals(step.thread_id, state.round)
    policy = (state.reading.objective if state.reading else None) or state.options.policy
    kind = f"selection-{len(state.excluded)}"
    selection = await _selection(step, proposals, policy, kind)
    await deps.ledger.save_decision(step.thread_id, kind, state.round, selection.dump())
    if selection.site is not None:
        await step.say(f"{selection.site} is first by {selection.why}", site=selection.site)
        if not state.options.dispatch:
            return end(step, "selected", selection.why, selection=selection.dump())
        return goto(step, "approval", selection=selection.dump())
    if not state.options.dispatch:
        return end(step, "no-site", nobody_can(proposals), selection=selection.dump())
    await step.say(nobody_can(proposals))
    problem = ""
    while True:
        answer = await step.pause("question", _nothing_fits(proposals, problem), answer_schema=ANSWER_SCHEMA)
        said = str(answer.get("answer") or "").strip()
        if answer.get("stop") or said.lower() == "stop":
            return end(step, "no-site", nobody_can(proposals), selection=selection.dump())
        if answer.get("again") or said.lower() == "again":
            return goto(step, "negotiator", round=state.round + 1, excluded=[], selection={})
        edit = answer.get("edit") or said
        if isinstance(edit, str | dict) and edit:
            try:
                request = await edited_request(step, state.reading or JobRequest(), edit)
                break
            except BadRequest as error:
                problem = str(error)
        else:
            problem = "the answer held neither an edit nor again nor stop"
    round_ = state.round + 1
    await deps.ledger.save_request(step.thread_id, round_, request.dump())
    await step.say("the request was changed")
    return goto(step, "negotiator", reading=request.dump(), round=round_, excluded=[], selection={})


async def _selection(step: Step, proposals: Sequence[Proposal], policy: Policy, kind: str) -> Selection:
    """By the policy; a model's ranking is made once, and read again from what was stored."""
    state, deps = step.state, step.deps
    if policy != "agentic":
        return rank(proposals, policy, round_=state.round, seed=state.options.seed, excluded=state.excluded)
    for each in await deps.ledger.decisions(step.thread_id):
        if (each["kind"], each["round"]) == (kind, state.round):
            return Selection.model_validate(each["record"])
    session = deps.model.session() if deps.model is not None else None
    return await rank_with_model(
        session, proposals, round_=state.round, seed=state.options.seed, excluded=state.excluded
    )


def _nothing_fits(proposals: Sequence[Proposal], problem: str) -> JsonObject:
    """What is missing at each site, and the nearest change with which it would fit."""
    order = {Verdict.NEEDS_INFORMATION: 0, Verdict.UNKNOWN: 1}
    ranked = sorted(proposals, key=lambda each: (order.get(each.verdict, 2), not each.suggestions, each.site))
    so = nobody_can(proposals)
    return {
        "question": f"{so[0].upper()}{so[1:]}. Change the request, ask again, or stop?",
        "problem": problem,
        "sites": [
            {
                "site": each.site,
                "verdict": each.verdict.value,
                "missing": list(each.reasons[:4]),
                "would_fit": [suggestion.words for suggestion in each.suggestions[:3]],
            }
            for each in ranked[:40]
        ],
        "more_sites": max(0, len(ranked) - 40),
    }
