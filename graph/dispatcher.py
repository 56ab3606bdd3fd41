"""dispatcher: hands the job to the site's scheduler, exactly once, and owns it from then on."""

from __future__ import annotations

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.errors import SubmitInDoubt, SubmitRefused, TransportError
from dragoman.job import JobState, JobStatus
from dragoman.model import JsonObject
from dragoman.selection import Selection
from dragoman.site import Site
from graph.described import described_otherwise
from graph.job_spec import spec_for
from graph.node import Goto, Step, end, goto
from graph.reach import scheduler_at
from graph.state import CurrentAttempt

__all__ = ["dispatcher"]

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"enum": ["look-again", "adopt", "not-there", "stop"]},
        "job_id": {"type": "string", "description": "with adopt: the scheduler's id of the job"},
        "by": {"type": "string"},
    },
    "required": ["answer"],
}


async def dispatcher(step: Step) -> Goto:
    """Store the intent, submit (or settle what an earlier run of this step left in doubt), go to the monitor.

    Refused: back to the selector for the next-ranked site. In doubt: a person decides. No connection: look again later.
    """
    state, deps = step.state, step.deps
    current = state.attempt
    assert current is not None  # noqa: S101  # the data mover made it
    if await deps.ledger.attempt(current.tag) is None and (
        (back := await described_otherwise(step, current.site)) is not None
    ):
        return back
    runtime = step.open_site(current.site)
    scheduler = scheduler_at(runtime)
    record = await deps.ledger.intend(await _attempt(step, runtime.site, current), epoch=step.epoch)
    try:
        if record.state is AttemptState.INTENDED:
            record = await scheduler.submit(record.attempt, await _secrets(step, record.attempt))
        elif record.state is AttemptState.IN_DOUBT:
            record = await scheduler.reconcile(record)
        record = await deps.ledger.settle_attempt(record, epoch=step.epoch)
    except SubmitInDoubt as error:
        return await _ask(step, record, str(error))
    except TransportError as error:
        return await _later(step, current.site, str(error))
    except SubmitRefused as error:
        refused = record.model_copy(
            update={"state": AttemptState.REFUSED, "answer": error.what[:4000], "reason_class": error.reason_class}
        )
        record = await deps.ledger.settle_attempt(refused, epoch=step.epoch)
    if record.state is AttemptState.SUBMITTED and record.job is not None:
        how = "found" if record.adopted else "submitted"
        await step.say(f"{how} as job {record.job.job_id} at {current.site}", tag=current.tag, job_id=record.job.job_id)
        status = JobStatus(ref=record.job, state=JobState.SUBMITTED, seen_at=deps.clock())
        kept = await deps.ledger.save_job(current.tag, status)
        update = current.model_copy(update={"job": record.job, "submitted_at": deps.clock()})
        return goto(step, "monitor", attempt=update.dump(), job=kept.dump())
    if record.state is AttemptState.IN_DOUBT:
        return await _ask(step, record, record.answer)
    return await _refused(step, current, record)


async def _refused(step: Step, current: CurrentAttempt, record: AttemptRecord) -> Goto:
    """The next-ranked site, if there is one; where waiting helps and there is none, the same site later."""
    state, deps = step.state, step.deps
    why = record.answer or record.state.value
    await step.say(f"{current.site} refused: {why}", site=current.site)
    excluded = [*state.excluded, current.site]
    selection = Selection.model_validate(state.selection)
    others = [each.site for each in selection.ranking if each.rank is not None and each.site not in excluded]
    if record.reason_class == "wait" and not others:
        again = deps.clock() + deps.retry_after
        payload: JsonObject = {"why": why, "site": current.site, "looks_again_at": again.isoformat()}
        await step.pause("until", payload, due_in_s=step.deps.retry_after.total_seconds())
        return goto(step, "data_mover", attempt=None, phase="in")
    if state.attempts_made >= state.options.most_attempts:
        return end(step, "failed", f"{current.site} refused: {why}", excluded=excluded)
    return goto(step, "selector", excluded=excluded, attempt=None)


async def _secrets(step: Step, attempt: Attempt) -> dict[str, str]:
    keys = {each.secret for each in attempt.spec.environment if each.secret is not None}
    return {key: value for key in keys if (value := await step.deps.secret(key)) is not None}


async def _attempt(step: Step, site: Site, current: CurrentAttempt) -> Attempt:
    return Attempt(
        tag=current.tag,
        thread_id=step.thread_id,
        step=step.name,
        number=current.number,
        site=current.site,
        scheduler=site.scheduler,
        spec=await spec_for(step, site, current),
        described=current.described,
        intended_at=step.deps.clock(),
    )


async def _later(step: Step, site: str, why: str) -> Goto:
    """The site cannot be reached: whether the job was taken is settled when it can be again."""
    await step.say(f"{site} cannot be reached: {why}", site=site)
    again = step.deps.clock() + step.deps.retry_after
    await step.pause(
        "until",
        {"why": why, "site": site, "looks_again_at": again.isoformat()},
        site=site,
        due_in_s=step.deps.retry_after.total_seconds(),
    )
    return goto(step, "dispatcher")


async def _ask(step: Step, record: AttemptRecord, why: str) -> Goto:
    """Neither presence nor absence of the job could be shown: the person looks at the site and tells."""
    question: JsonObject = {
        "question": (
            f"It cannot be shown whether {record.attempt.site} took the job. Look there for the name or comment "
            f"{record.attempt.tag}: adopt it by its id, say that it is not there, look again, or stop?"
        ),
        "why": why,
        "tag": record.attempt.tag,
        "site": record.attempt.site,
    }
    answer = await step.pause("question", question, site=record.attempt.site, answer_schema=ANSWER_SCHEMA)
    scheduler = scheduler_at(step.open_site(record.attempt.site))
    by = str(answer.get("by") or "person")
    match answer.get("answer"):
        case "adopt" if answer.get("job_id"):
            settled = await scheduler.adopt(record.attempt, str(answer["job_id"]))
        case "not-there":
            settled = record.model_copy(
                update={"state": AttemptState.REFUSED, "answer": f"not there, says {by}", "reason_class": "unknown"}
            )
            await scheduler.abandon(record.attempt)
        case "stop":
            return goto(step, "canceller")
        case _:
            return goto(step, "dispatcher")
    await step.deps.ledger.settle_attempt(settled, epoch=step.epoch)
    return goto(step, "dispatcher")
