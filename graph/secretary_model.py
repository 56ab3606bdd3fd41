"""The secretary with a model: it may look further and explain; what it says never becomes a verdict.

It is asked where the rules ended without an answer, or where only shape, time or budget stand in the way, so that
another shape may be suggested. It gets reading tools only. Its observations are evidence like any other and the rules
judge anew; its suggestions are tried by the rules before they are told; its statements count only with the observations
that they cite.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import anyio
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from dragoman.earlier_run import EarlierRun
from dragoman.errors import DragomanError
from dragoman.kleene import Truth
from dragoman.model import JsonObject, JsonValue
from dragoman.observation import Category, Observation, Outcome
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest
from graph.model.conclusion import CONCLUDE, Conclusion, explained, tried
from graph.model.desk import Session
from graph.model.output import read_as, text_of
from graph.model.prompts import prompt
from graph.model.talk import ModelTrouble, Talk, as_data
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.evaluate import evaluate
from providers.site_view import SiteView
from tools.reading import reading_tools

__all__ = ["consult", "worth_asking"]

_CATEGORIES = {
    "software": Category.SOFTWARE, "container": Category.CONTAINER, "network": Category.NETWORK,
    "storage": Category.STORAGE, "mpi": Category.PARALLEL, "data": Category.STORAGE,
}  # fmt: skip
_MOST_RUNS = 10
_OTHER_SHAPE = frozenset({"shape", "walltime", "budget", "time"})


def worth_asking(proposal: Proposal) -> bool:
    """Whether a model could add anything: nothing was decided, or another shape could fit."""
    if proposal.verdict in (Verdict.UNKNOWN, Verdict.NEEDS_INFORMATION):
        return bool(proposal.checks)
    against = [check for check in proposal.checks if check.result is Truth.NO]
    return bool(against) and all(check.kind in _OTHER_SHAPE for check in against)


async def consult(
    session: Session,
    runtime: SiteView,
    request: JobRequest,
    proposal: Proposal,
    observations: Sequence[Observation],
    earlier: Sequence[EarlierRun] = (),
    conventions: Conventions = STRICT,
) -> tuple[Proposal, Sequence[Observation]]:
    """The proposal after a talk with the model, and the evidence with what it looked at.

    Whatever the model does, the verdict is computed by the rules from observations; where it fails, the proposal stays
    as it was and says so in `model`.
    """
    talk = Talk(session, session.limits.calls)
    seen: list[Observation] = []
    conclusion: Conclusion | None = None
    try:
        conclusion = await _talk(talk, runtime, request, proposal, observations, seen, earlier)
        outcome = "ok" if conclusion is not None else "could not decide: it came to no conclusion"
    except ModelTrouble as trouble:
        outcome = trouble.outcome
    evidence = _newest([*observations, *seen])
    if seen:
        at = runtime.observer.clock()
        with anyio.move_on_after(session.limits.seconds):
            evidence = await _renewed(runtime, evidence, at)
        judged = evaluate(request, runtime.site, evidence, at, proposal.round, conventions)
        proposal = judged.model_copy(update={"seconds": proposal.seconds, "error": proposal.error})
    reasoning = ""
    if conclusion is not None:
        reasoning = explained(conclusion, runtime.site, request, evidence, proposal.verdict)
        added = tried(conclusion, runtime.site, request, evidence, proposal, conventions)
        proposal = proposal.model_copy(update={"suggestions": (*proposal.suggestions, *added)})
    return proposal.model_copy(update={"model": talk.use(outcome, reasoning)}), evidence


async def _talk(
    talk: Talk,
    runtime: SiteView,
    request: JobRequest,
    proposal: Proposal,
    observations: Sequence[Observation],
    seen: list[Observation],
    earlier: Sequence[EarlierRun],
) -> Conclusion | None:
    tools = _tools(runtime, proposal, observations, seen, talk.session.limits.tools)
    observed: list[JsonValue] = [_told(each) for each in observations if each.outcome is not Outcome.ABSENT]
    checks: list[JsonValue] = [check.model_dump(mode="json", exclude={"children"}) for check in proposal.checks]
    given: JsonObject = {
        "site": runtime.site.name,
        "request": {key: value for key, value in request.dump().items() if key not in _NOT_SHOWN},
        "verdict": proposal.verdict.value,
        "checks": checks,
        "observed": observed[:60],
    }
    if earlier:
        own_first = sorted(earlier, key=lambda run: run.site != runtime.site.name)
        given["earlier_runs"] = [run.dump() for run in own_first[:_MOST_RUNS]]
    messages: list[BaseMessage] = [SystemMessage(prompt("secretary")), HumanMessage(as_data(given))]
    asked: Counter[str] = Counter()
    while True:
        only = None if tools else "conclude"
        answer = await talk.say(messages, [*tools, CONCLUDE], only=only, last="conclude")
        wanted = [call for call in answer.tool_calls if call["name"] != "conclude"]
        concluded = next((call for call in answer.tool_calls if call["name"] == "conclude"), None)
        if concluded is not None and not wanted:
            found = _as_conclusion(talk, concluded["args"])
            if found is not None or talk.left < 1:
                return found
            messages += [answer, *(ToolMessage(_MALFORMED, tool_call_id=call["id"]) for call in answer.tool_calls)]
            continue
        if not answer.tool_calls:
            talk.unreadable += len(answer.invalid_tool_calls)
            found, bad = read_as(text_of(answer.content), Conclusion)
            talk.unreadable += bad
            return found
        if talk.left < 1:
            return _as_conclusion(talk, concluded["args"]) if concluded is not None else None
        messages += [answer, *await _answers(tools, answer, asked, talk.session.limits.same_call)]
        if all(count > talk.session.limits.same_call for count in asked.values()):
            raise ModelTrouble("could not decide: it asked the same again and again")


_MALFORMED = "these arguments do not fit: `explanation` and `suggestions` as described, and nothing else"
_NOT_SHOWN = ("command", "script", "environment", "inputs", "outputs", "sources", "notes", "native_options")


def _as_conclusion(talk: Talk, arguments: object) -> Conclusion | None:
    try:
        return Conclusion.model_validate(arguments)
    except ValidationError:
        talk.unreadable += 1
        return None


def _told(observation: Observation) -> JsonObject:
    """An observation as the model sees it; long ones are cut."""
    value = json.dumps(observation.value, ensure_ascii=False) if observation.value is not None else ""
    return {
        "id": observation.id, "provider": observation.provider, "asked": observation.tool,
        "arguments": observation.arguments, "outcome": observation.outcome.value,
        "answer": value[:3000], "reason": observation.reason[:300],
    }  # fmt: skip


def _tools(
    runtime: SiteView, proposal: Proposal, observations: Sequence[Observation], seen: list[Observation], most: int
) -> list[BaseTool]:
    """Reading tools for what is unknown, at providers that are not shown to be absent."""
    wanted = {_CATEGORIES.get(check.kind) for check in proposal.checks if check.result is Truth.UNKNOWN}
    if Category.PARALLEL in wanted:
        wanted.add(Category.SOFTWARE)
    if any(check.kind == "shape" and check.result is Truth.UNKNOWN for check in proposal.checks):
        wanted |= {Category.WORKLOAD, Category.HARDWARE}
    absent = {each.provider for each in observations if each.outcome is Outcome.ABSENT and each.tool != "find_package"}
    return [
        tool
        for tool in reading_tools(runtime, seen=seen.append)
        if (tool.metadata or {}).get("acts") is False
        and Category(str((tool.metadata or {})["provider"]).partition("/")[0]) in wanted
        and (tool.metadata or {})["provider"] not in absent
        and (tool.metadata or {})["verb"] != "estimate"
    ][:most]


async def _answers(tools: Sequence[BaseTool], answer: AIMessage, asked: Counter[str], most: int) -> list[ToolMessage]:
    """What the tools say, all at once; a call that was made often enough, or of no such tool, gets words instead."""
    by_name = {tool.name: tool for tool in tools}
    replies: dict[int, str] = {}

    async def one(place: int, tool: BaseTool, arguments: dict[str, Any]) -> None:
        try:
            replies[place] = as_data(await tool.ainvoke(arguments))
        except (ValidationError, DragomanError, ValueError, TypeError) as error:
            replies[place] = f"these arguments do not fit: {type(error).__name__}"

    async with anyio.create_task_group() as group:
        for place, call in enumerate(answer.tool_calls[:64]):
            key = json.dumps([call["name"], call["args"]], sort_keys=True, default=str)
            asked[key] += 1
            tool = by_name.get(call["name"])
            if call["name"] == "conclude":
                replies[place] = "noted; call it alone when you have the answers"
            elif tool is None:
                replies[place] = "there is no such tool"
            elif asked[key] > most:
                replies[place] = "asked twice already, with the same answer: conclude with what there is"
            else:
                group.start_soon(one, place, tool, dict(call["args"]))
    return [
        ToolMessage(replies.get(place, "too many calls"), tool_call_id=call["id"] or str(place), name=call["name"])
        for place, call in enumerate(answer.tool_calls)
    ]


def _newest(observations: Sequence[Observation]) -> list[Observation]:
    """One answer to each question: the newest that was shown, else the newest."""
    kept: dict[str, Observation] = {}
    for each in observations:
        key = json.dumps([each.provider, each.tool, each.arguments], sort_keys=True)
        old = kept.get(key)
        silent = each.outcome is Outcome.UNKNOWN and old is not None and old.outcome is not Outcome.UNKNOWN
        if old is None or (not silent and each.observed_at >= old.observed_at):
            kept[key] = each
    return list(kept.values())


async def _renewed(runtime: SiteView, observations: Sequence[Observation], at: datetime) -> list[Observation]:
    """What grew too old while the talk went on is asked again; where that fails it is too old to be judged by."""
    renewed = list(observations)
    for place, each in enumerate(observations):
        if (at - each.observed_at).total_seconds() <= each.max_age_s:
            continue
        provider = runtime.provider(each.provider)
        arguments = provider.verbs[each.tool].arguments.model_validate(each.arguments)
        renewed[place] = await runtime.observe(provider, each.tool, arguments)
    return renewed
