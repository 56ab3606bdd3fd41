"""The policy `agentic`: a model puts the able sites into an order. It sees numbers and names, no text of a site.

The ranking is stored and a replay reads it. Sites that it leaves out come after the others, sites that it makes up are
left out; where it fails, the policy `soonest` decides and the selection says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field, ValidationError

from dragoman.model import JsonValue
from dragoman.proposal import Proposal
from dragoman.selection import Selection
from graph.model.desk import Session
from graph.model.output import read_as, text_of
from graph.model.prompts import prompt
from graph.model.talk import ModelTrouble, Talk, as_data
from graph.selection.rank import rank

__all__ = ["rank_with_model"]

MOST = 100
"""Sites that the model is shown: the soonest ones."""


class Order(BaseModel):
    """Names of sites, the best first."""

    sites: list[str] = Field(max_length=1000)
    why: str = Field(default="", max_length=2000)


_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "rank",
        "description": "All sites, the best first. Call it once.",
        "parameters": {
            "type": "object",
            "properties": {
                "sites": {"type": "array", "items": {"type": "string"}},
                "why": {"type": "string", "description": "what decided, in one sentence"},
            },
            "required": ["sites", "why"],
        },
    },
}


async def rank_with_model(
    session: Session | None, proposals: Sequence[Proposal], *, round_: int, seed: int, excluded: Collection[str] = ()
) -> Selection:
    """The selection in the model's order; by `soonest` where there is no model or no usable order."""
    plain = rank(proposals, "soonest", round_=round_, seed=seed, excluded=excluded)
    able = [each.site for each in plain.ranking if each.rank is not None]
    if session is None or len(able) < 2:
        why = "no model is configured" if session is None else "there is nothing to choose"
        return plain.model_copy(update={"policy": "agentic", "why": f"{plain.why} (soonest: {why})"})
    talk = Talk(session, 2)  # one, and once more where it is not answered
    shown: dict[str, JsonValue] = {site: plain.inputs[site] for site in able[:MOST]}
    try:
        order = await _order(talk, shown)
        outcome = "ok" if order else "no order that could be read"
    except ModelTrouble as trouble:
        order, outcome = None, trouble.outcome
    named = list(dict.fromkeys(site for site in (order.sites if order else ()) if site in shown))
    use = talk.use(outcome, order.why if order else "").model_dump(mode="json")
    inputs = {**plain.inputs, "model": use}
    if not named:
        why = f"{plain.why} (soonest: the model's order could not be used: {outcome})"
        return plain.model_copy(update={"policy": "agentic", "why": why, "inputs": inputs})
    ranked = rank(proposals, "agentic", round_=round_, seed=seed, excluded=excluded, order=(*named, *able))
    return ranked.model_copy(update={"inputs": inputs})


async def _order(talk: Talk, shown: dict[str, JsonValue]) -> Order | None:
    messages = [SystemMessage(prompt("selector")), HumanMessage(as_data(shown))]
    answer = await talk.say(messages, [_TOOL], only="rank")
    for call in answer.tool_calls:
        try:
            return Order.model_validate(call["args"])
        except ValidationError:
            talk.unreadable += 1
    found, bad = read_as(text_of(answer.content), Order)
    talk.unreadable += bad
    return found
