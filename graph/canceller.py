"""canceller: ends the work in a known state, at the scheduler too, whatever the thread was doing."""

from __future__ import annotations

from dragoman.attempt import AttemptState
from dragoman.errors import TransportError
from dragoman.model import JsonObject
from dragoman.observation import Outcome
from dragoman.transfer import TransferState
from graph.node import Goto, Step, end, goto
from graph.reach import scheduler_at

__all__ = ["canceller"]


async def canceller(step: Step) -> Goto:
    """Settle attempts in flight, cancel transfers and the job, then watch the job to its end."""
    deps = step.deps
    by = await deps.ledger.cancel_requested(step.thread_id) or "its owner"
    await deps.ledger.request_cancel(step.thread_id, by)
    try:
        await _stop_transfers(step)
        submitted = await _stop_jobs(step)
    except TransportError as error:
        await step.say(f"cannot cancel yet: {error}")
        again = deps.clock() + deps.retry_after
        payload: JsonObject = {"why": str(error), "looks_again_at": again.isoformat(), "cancelling": True}
        await step.pause("until", payload, due_at=again)
        return goto(step, "canceller")
    if submitted:
        await step.say("asked the scheduler to cancel; waiting for it to say so")
        return goto(step, "monitor", cancelling=True)
    await step.say(f"cancelled by {by}; nothing was submitted")
    return end(step, "cancelled", f"cancelled by {by}")


async def _stop_transfers(step: Step) -> None:
    for plan, status in await step.deps.ledger.transfers(step.thread_id):
        if status is not None and status.state in (TransferState.ACTIVE, TransferState.PAUSED):
            mover = step.open_site(plan.site).movers[plan.mover]
            await step.deps.ledger.save_transfer(plan.id, await mover.cancel(plan, status.handle))


async def _stop_jobs(step: Step) -> bool:
    """Whether the newest attempt reached a scheduler; each that did is cancelled there, each that did not is barred."""
    submitted = False
    for record in await step.deps.ledger.attempts(step.thread_id):
        scheduler = scheduler_at(step.open_site(record.attempt.site))
        submitted = False
        if record.state in (AttemptState.INTENDED, AttemptState.IN_DOUBT):
            record = await step.deps.ledger.settle_attempt(await scheduler.abandon(record.attempt), epoch=step.epoch)
        if record.state is AttemptState.SUBMITTED and record.job is not None:
            known = await step.deps.ledger.job(record.attempt.tag)
            if known is None or not known.state.final:
                answer = await scheduler.cancel(record.job)
                if answer.outcome is Outcome.UNKNOWN:
                    raise TransportError(answer.reason or "the scheduler gave no answer", where=record.attempt.site)
            submitted = True
    return submitted
