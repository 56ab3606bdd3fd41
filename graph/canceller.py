"""canceller: ends the work in a known state, at the scheduler too, whatever the thread was doing."""

from __future__ import annotations

from dragoman.attempt import AttemptState
from dragoman.errors import TransportError
from dragoman.model import JsonObject
from dragoman.observation import Outcome
from dragoman.transfer import TransferState
from graph.node import Goto, Step, end, goto
from graph.reach import scheduler_at
from graph.state import CurrentAttempt

__all__ = ["canceller"]


async def canceller(step: Step) -> Goto:
    """Settle attempts in flight, cancel transfers and the job, then watch the job to its end."""
    deps = step.deps
    by = await deps.ledger.cancel_requested(step.thread_id) or "its owner"
    await deps.ledger.request_cancel(step.thread_id, by)
    try:
        await _stop_transfers(step)
        watched = await _stop_jobs(step)
    except TransportError as error:
        await step.say(f"cannot cancel yet: {error}")
        again = deps.clock() + deps.retry_after
        payload: JsonObject = {"why": str(error), "looks_again_at": again.isoformat(), "cancelling": True}
        await step.pause("until", payload, due_in_s=step.deps.retry_after.total_seconds())
        return goto(step, "canceller")
    if watched is not None:
        await step.say("asked the scheduler to cancel; waiting for it to say so")
        return goto(step, "monitor", cancelling=True, attempt=watched.dump())
    await step.say(f"cancelled by {by}; nothing was submitted")
    return end(step, "cancelled", f"cancelled by {by}")


async def _stop_transfers(step: Step) -> None:
    for plan, status in await step.deps.ledger.transfers(step.thread_id):
        if status is not None and status.state in (TransferState.ACTIVE, TransferState.PAUSED):
            mover = step.open_site(plan.site).movers[plan.mover]
            await step.deps.ledger.save_transfer(plan.id, await mover.cancel(plan, status.handle))


async def _stop_jobs(step: Step) -> CurrentAttempt | None:
    """Each attempt that reached a scheduler is cancelled there, each that did not is barred.

    Returns the newest one, if it reached a scheduler, for the monitor to see it to its end; None where the newest never
    ran, or where one that had ended before was to be followed by another that was not begun.
    """
    at, watched = step.state.attempt, None
    for record in await step.deps.ledger.attempts(step.thread_id):
        scheduler = scheduler_at(step.open_site(record.attempt.site, record.attempt.described))
        watched = None
        if record.state in (AttemptState.INTENDED, AttemptState.IN_DOUBT):
            record = await step.deps.ledger.settle_attempt(await scheduler.abandon(record.attempt), epoch=step.epoch)
        if record.state is AttemptState.SUBMITTED and record.job is not None:
            known = await step.deps.ledger.job(record.attempt.tag)
            if known is None or not known.state.final:
                answer = await scheduler.cancel(record.job)
                if answer.outcome is Outcome.UNKNOWN:
                    raise TransportError(answer.reason or "the scheduler gave no answer", where=record.attempt.site)
            elif at is None or at.tag != record.attempt.tag:
                continue
            # The state may not know of the job yet: whoever submitted it may have died right after.
            watched = CurrentAttempt(
                tag=record.attempt.tag,
                number=record.attempt.number,
                site=record.attempt.site,
                control_dir=record.attempt.spec.control_dir,
                work_dir=record.attempt.spec.work_dir,
                job=record.job,
                submitted_at=record.recorded_at,
                described=record.attempt.described,
            )
    return watched
