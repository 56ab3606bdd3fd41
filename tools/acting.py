"""Acting tools of a site: they change something there. Never handed to a model that reads what others wrote."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from dragoman.attempt import Attempt
from dragoman.errors import DragomanError
from dragoman.job import JobRef, JobStatus
from dragoman.model import JsonObject, Model
from dragoman.observation import Answer, Outcome
from providers.site_runtime import SiteRuntime
from tools.answers import of_error, of_model, tool_name

__all__ = ["JobQuestion", "JobsQuestion", "JobsSeen", "SubmitOrder", "acting_tools"]


class SubmitOrder(Model):
    """Which intent to submit."""

    attempt: Attempt
    """Stored in the ledger before: submitting it twice is once."""


class JobQuestion(Model):
    """Which job."""

    job: JobRef


class JobsQuestion(Model):
    """Which jobs, all asked for in one batch."""

    jobs: tuple[JobRef, ...] = Field(min_length=1)


class JobsSeen(Model):
    """What was seen of several jobs. One that is in neither list was not seen, which says nothing about it."""

    seen: tuple[JobStatus, ...] = ()
    absent: tuple[str, ...] = ()
    """Ids of jobs that were shown not to be there."""
    trouble: str = ""
    """Why the answer is not to be trusted as a whole."""


def acting_tools(runtime: SiteRuntime) -> list[BaseTool]:
    """Submit, status, cancel, hold and release at the site's scheduler.

    Status changes nothing, but tells of people's jobs: it is marked as acting like the others, so that no secretary
    gets it.
    """
    scheduler = runtime.scheduler

    async def submit(attempt: Attempt) -> Model:
        return await scheduler.submit(attempt)

    async def status(jobs: tuple[JobRef, ...]) -> Model:
        answers = await scheduler.status(jobs)
        return JobsSeen(
            seen=tuple(answers.jobs.values()), absent=tuple(sorted(answers.absent)), trouble=answers.trouble
        )

    async def cancel(job: JobRef) -> Model:
        return await scheduler.cancel(job)

    async def hold(job: JobRef) -> Model:
        return await scheduler.hold(job)

    async def release(job: JobRef) -> Model:
        return await scheduler.release(job)

    return [
        _tool(runtime, "submit", "Submit an attempt whose intent is stored; submitting it again is no second job.",
              SubmitOrder, submit),
        _tool(runtime, "status", "State of several jobs of ours in one batch. A job that is not seen is not finished.",
              JobsQuestion, status),
        _tool(runtime, "cancel", "Ask for a job's end.", JobQuestion, cancel),
        _tool(runtime, "hold", "Hold a pending job until it is released.", JobQuestion, hold),
        _tool(runtime, "release", "Release a held job.", JobQuestion, release),
    ]  # fmt: skip


def _tool(
    runtime: SiteRuntime,
    verb: str,
    description: str,
    arguments: type[BaseModel],
    act: Callable[..., Awaitable[Model]],
) -> BaseTool:
    provider = f"workload/{runtime.site.scheduler}"

    async def call(**given: object) -> JsonObject:
        order = arguments.model_validate(given)
        try:
            answer = await act(**{name: getattr(order, name) for name in type(order).model_fields})
        except DragomanError as error:
            return of_error(error)
        return _of_answer(answer)

    return StructuredTool(
        name=tool_name("workload", runtime.site.scheduler, verb),
        description=f"{provider} at site {runtime.site.name}: {description}",
        args_schema=arguments,
        coroutine=call,
        metadata={"acts": True, "site": runtime.site.name, "provider": provider, "verb": verb},
    )


def _of_answer(answer: Model) -> JsonObject:
    if not isinstance(answer, Answer):
        return of_model(answer)
    if answer.value is not None:
        return of_model(answer.value)
    unknown = answer.outcome is Outcome.UNKNOWN
    return {"ok": False, "outcome": answer.outcome.value, "what": answer.reason, "transient": unknown}
