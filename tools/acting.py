"""Acting tools of a site: they change something there. Never handed to a model that reads what others wrote."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, create_model

from dragoman.attempt import Attempt
from dragoman.errors import DragomanError
from dragoman.job import JobRef, JobStatus
from dragoman.model import JsonObject, Model, Moment
from dragoman.observation import Answer, Outcome
from dragoman.protocols import Dialect, JobAnswers
from providers.schedulers.client import SchedulerClient
from providers.site_runtime import SiteRuntime
from providers.translation.translate import dialect_named
from tools.answers import of_error, of_invalid, of_model, tool_name
from tools.job_order import JobOrder, submit_order
from tools.order_fields import order_model

__all__ = ["HistoryQuestion", "JobQuestion", "JobsQuestion", "JobsSeen", "SubmitOrder", "acting_tools"]


class SubmitOrder(Model):
    """What to submit: a job, or an attempt whose intent is kept in a ledger. Exactly one of them."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    job: JobOrder | None = None
    attempt: Attempt | None = None
    """Stored in the ledger before: submitting it twice is once."""


class JobQuestion(Model):
    """Which job."""

    job: JobRef


class JobsQuestion(Model):
    """Which jobs, all asked for in one batch."""

    jobs: tuple[JobRef, ...] = Field(min_length=1)


class HistoryQuestion(JobsQuestion):
    """Which jobs, and how far to look back."""

    since: Moment | None = None
    """When the oldest of them was submitted, with its zone; None: 30 days ago."""


class JobsSeen(Model):
    """What was seen of several jobs. One that is in neither list was not seen, which says nothing about it."""

    seen: tuple[JobStatus, ...] = ()
    absent: tuple[str, ...] = ()
    """Ids of jobs that were shown not to be there."""
    trouble: str = ""
    """Why the answer is not to be trusted as a whole."""


_SUBMIT = (
    "Submit a job to the scheduler, with a key of your own choosing: the same key is the same job however often it is"
    " submitted, so after any doubt or time-out call it again with the same key, and use a new key only for a new job."
    " The answer has the job's reference. Ask for an estimate first where it matters when the job starts."
)
_STATUS = (
    "State of several jobs of ours in one batch, with the reason for waiting, the end and the exit code. Ask for all"
    " jobs at once and not more often than every few seconds. A job that is not seen is not finished."
)
_HISTORY = (
    "What the accounting says of several jobs of ours: how they ended, when, and the most memory they held. It lags"
    " behind by seconds; for jobs that may still wait or run ask for their status."
)


def acting_tools(runtime: SiteRuntime) -> list[BaseTool]:
    """Submit, status, history, cancel, hold and release at the site's scheduler.

    What this scheduler cannot is not among them: the order that submit takes has its fields only, and one that holds no
    jobs has neither hold nor release. Of a scheduler whose scripts are only read there are none.

    Status and history change nothing, but tell of people's jobs: they are marked as acting like the others, so that no
    secretary gets them.
    """
    scheduler = runtime.scheduler
    dialect = scheduler.dialect if isinstance(scheduler, SchedulerClient) else dialect_named(runtime.site.scheduler)
    if getattr(dialect, "only_scripts", False):
        return []

    async def submit(job: Model | None, attempt: Attempt | None) -> Model:
        order = JobOrder.model_validate(job.model_dump()) if job is not None else None
        return await submit_order(runtime, order, attempt)

    async def status(jobs: tuple[JobRef, ...]) -> Model:
        return _seen(await scheduler.status(jobs))

    async def history(jobs: tuple[JobRef, ...], since: datetime | None) -> Model:
        return _seen(await scheduler.history(jobs, since=since))

    async def cancel(job: JobRef) -> Model:
        return await scheduler.cancel(job)

    async def hold(job: JobRef) -> Model:
        return await scheduler.hold(job)

    async def release(job: JobRef) -> Model:
        return await scheduler.release(job)

    tools = [
        _tool(runtime, "submit", _SUBMIT, _submit_order(dialect), submit),
        _tool(runtime, "status", _STATUS, JobsQuestion, status),
        _tool(runtime, "history", _HISTORY, HistoryQuestion, history),
        _tool(runtime, "cancel", "Ask for a job's end. Its status tells when it has ended.", JobQuestion, cancel),
    ]
    if dialect.hold_command(JobRef(job_id="1")) is not None:
        tools += [
            _tool(runtime, "hold", "Keep a job that waits from starting until it is released.", JobQuestion, hold),
            _tool(runtime, "release", "Let a held job start when its turn comes.", JobQuestion, release),
        ]
    return tools


def _submit_order(dialect: Dialect) -> type[SubmitOrder]:
    """The order with the fields that this scheduler takes."""
    fields: dict[str, Any] = {"job": (order_model(dialect) | None, None)}
    return create_model("SubmitOrder", __base__=SubmitOrder, __module__=__name__, __doc__=SubmitOrder.__doc__, **fields)


def _seen(answers: JobAnswers) -> JobsSeen:
    return JobsSeen(seen=tuple(answers.jobs.values()), absent=tuple(sorted(answers.absent)), trouble=answers.trouble)


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
        handle_validation_error=of_invalid,  # type: ignore[arg-type]  # data is taken as it is, not only text
        metadata={"acts": True, "site": runtime.site.name, "provider": provider, "verb": verb},
    )


def _of_answer(answer: Model) -> JsonObject:
    if not isinstance(answer, Answer):
        return of_model(answer)
    if answer.value is not None:
        return of_model(answer.value)
    unknown = answer.outcome is Outcome.UNKNOWN
    return {"ok": False, "outcome": answer.outcome.value, "what": answer.reason, "transient": unknown}
