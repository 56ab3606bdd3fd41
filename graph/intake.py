"""intake: words, a form or a job script become a request; what is ambiguous and matters is asked back."""

from __future__ import annotations

from dragoman.model import JsonObject
from graph.node import Goto, Step, goto
from graph.reading.read import apply_answer, read_request

__all__ = ["intake"]


async def intake(step: Step) -> Goto:
    """Read the request; ask what only the person can settle; send it to the negotiator."""
    state = step.state
    if state.asked_at is None:
        # Recorded in a step of its own, so that `tomorrow` means the same when this node runs again.
        return goto(step, "intake", asked_at=step.deps.clock().isoformat(), schema_version=state.schema_version)
    reading = read_request(state.request, now=state.asked_at)
    while reading.questions:
        question = reading.questions[0]
        asked: JsonObject = question.model_dump(mode="json")
        answer = await step.pause("question", {"question": asked, "read_so_far": reading.request.dump()})
        reading = apply_answer(reading, question.id, answer.get("answer"))
    request = reading.request
    await step.deps.ledger.save_request(step.thread_id, state.round, request.dump())
    for words in reading.defaults:
        await step.say(words)
    return goto(step, "negotiator", reading=request.dump(), schema_version=state.schema_version)
