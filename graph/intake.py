"""intake: words, a form or a job script become a request; what is ambiguous and matters is asked back."""

from __future__ import annotations

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from graph.awaited_jobs import ask_whose
from graph.local_inputs import with_local_inputs
from graph.node import END_NODE, Goto, Step, goto
from graph.reading.answers import apply_answer, merge_edit
from graph.reading.read import read_request
from graph.reading.reading import Question, Reading
from graph.reading_model import read_unread
from graph.with_recipe import known_recipes, with_recipe

__all__ = ["intake"]

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": ["string", "number"], "description": "one of the options, or your own words"},
        "by": {"type": "string"},
    },
    "required": ["answer"],
}


WORK = Question(
    id="command", field="command", words="",
    text="What is to be run? There is no command, no script, and no recipe that makes one. Put a command between"
    " backticks.",
)  # fmt: skip


async def intake(step: Step) -> Goto:
    """Read the request; ask what only the person can settle; send it to the negotiator."""
    state = step.state
    if state.reading is not None:
        return await _given_again(step)
    if state.asked_at is None:
        # Recorded in a step of its own, so that `tomorrow` means the same when this node runs again.
        return goto(step, "intake", asked_at=step.deps.clock().isoformat(), schema_version=state.schema_version)
    shelf = await known_recipes(step)
    reading, problem = ask_whose(_read(step), step.fleet().sites), ""
    if reading.unread and step.deps.model is not None and not state.model_read:
        return await _read_by_model(step, reading)
    while True:
        while reading.questions or reading.unread:
            ask = _ask if reading.questions else _ask_unread
            try:
                reading, problem = await ask(step, reading, problem), ""
            except BadRequest as error:
                problem = str(error)
        request = with_recipe(await with_local_inputs(reading.request, state.options.base_dir), shelf)
        made = request.command or request.script is not None or request.recipe is not None
        if made or not state.options.dispatch:
            break
        reading = reading.model_copy(update={"questions": (WORK,)})  # asked now, not when it is to be approved
    notes = tuple(dict.fromkeys((*request.notes, *reading.defaults)))
    request = request.model_copy(update={"notes": notes})
    await step.deps.ledger.save_request(step.thread_id, state.round, request.dump())
    for words in notes:
        await step.say(words)
    return goto(step, "negotiator", reading=request.dump(), schema_version=state.schema_version, prepared=None)


async def _read_by_model(step: Step, reading: Reading) -> Goto:
    """Have a model read what the rules could not, in a step of its own: a pause afterwards does not ask it again."""
    assert step.deps.model is not None  # noqa: S101  # by the caller
    sites = [site.name for site in step.fleet().sites]
    read, use = await read_unread(step.deps.model.session(), reading, sites)
    await step.deps.ledger.save_decision(step.thread_id, "model-reading", step.state.round, use.model_dump(mode="json"))
    await step.say(f"{use.model} was asked about words that the rules could not read: {use.outcome}")
    return goto(step, "intake", prepared=read.dump(), model_read=True)


async def _given_again(step: Step) -> Goto:
    """A LangGraph server starts a used thread from the top when it is given new input: it goes on where it was.

    One thread is one request; the job that it may have must not be lost over another one's words.
    """
    state = step.state
    await step.say("one thread is one request: the new input is not taken; begin another thread with it")
    if state.outcome:
        return goto(step, END_NODE)
    if state.attempt is None:
        return goto(step, "negotiator")
    if state.attempt.job is None:
        return goto(step, "dispatcher")
    return goto(step, "data_mover" if state.phase == "out" else "monitor")


def _said(answer: JsonObject) -> str | int | JsonObject:
    """What the person said, in one of the forms that a question takes."""
    said = answer.get("answer")
    return said if isinstance(said, str | int | dict) and not isinstance(said, bool) else str(said)


def _read(step: Step) -> Reading:
    state = step.state
    assert state.asked_at is not None  # noqa: S101  # set by the step before
    if state.prepared is not None:
        try:
            return Reading.model_validate(state.prepared)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(("prepared", *(str(part) for part in first["loc"])))
            raise BadRequest(first["msg"], where=where, cure="give the request alone") from error
    if not isinstance(state.request, str | dict):
        raise BadRequest("there is no request", where="request", cure="write what to run, on what, for how long")
    reading = read_request(
        state.request,
        now=state.asked_at,
        time_zone=state.options.time_zone,
        script_reader=step.deps.script_reader,
        sites=[site.name for site in step.fleet().sites],
    )
    if reading.secrets:
        raise BadRequest(
            f"the request holds secret values ({', '.join(sorted(reading.secrets))}), which must not be stored with it",
            where="environment",
            cure="send it with `dragoman run`, which puts them away, or name a stored secret",
        )
    return reading


async def _ask(step: Step, reading: Reading, problem: str) -> Reading:
    """Put the first question; the answer may bring others. Raises `BadRequest` where it settles nothing."""
    question = reading.questions[0]
    payload: JsonObject = {
        "question": question.text,
        "problem": problem,
        "about": question.dump(),
        "read_so_far": reading.request.dump(),
    }
    answer = await step.pause("question", payload, answer_schema=ANSWER_SCHEMA)
    return apply_answer(reading, question.id, _said(answer))


async def _ask_unread(step: Step, reading: Reading, problem: str) -> Reading:
    """Words that carry meaning and were not understood are never dropped without the person's word."""
    words = "; ".join(reading.unread)
    payload: JsonObject = {
        "question": f"These words were not understood: {words}. Answer `ignore`, or say them differently; a command"
        " goes between backticks.",
        "problem": problem,
        "unread": list(reading.unread),
        "read_so_far": reading.request.dump(),
    }
    answer = (await step.pause("question", payload, answer_schema=ANSWER_SCHEMA)).get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise BadRequest("the answer held no words", where="answer", cure="answer `ignore`, or say them differently")
    left = reading.model_copy(update={"unread": ()})
    if answer.strip().lower() in ("ignore", "yes", "ok"):
        return left
    return merge_edit(
        left, answer, now=step.state.asked_at or step.deps.clock(), time_zone=step.state.options.time_zone
    )
