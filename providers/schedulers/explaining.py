"""Why a job waits, where the scheduler tells it only when it is asked about that one job: asked once, and for few."""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.command import Completed
from dragoman.job import JobStatus
from dragoman.protocols import Dialect, Explains
from providers.schedulers.asking import Asker

__all__ = ["Explainer"]

_AT_ONCE = 10
_MOST_REMEMBERED = 10_000


class Explainer:
    """Adds the scheduler's own reason to jobs that need a person.

    Args:
        dialect: the scheduler's language; one that does not explain single jobs is never asked.
        asker: puts the questions.

    """

    def __init__(self, dialect: Dialect, asker: Asker) -> None:
        self._dialect = dialect
        self._asker = asker
        self._told: dict[tuple[str, str], JobStatus] = {}
        """By job id and its state, so that a job is asked about again only when its state has changed."""

    async def explained(self, jobs: Mapping[str, JobStatus]) -> dict[str, JobStatus]:
        """The same jobs; those that it was told about have the reason. No answer leaves a job as it was.

        Raises as `Asker.ask` does.

        """
        dialect = self._dialect
        if not isinstance(dialect, Explains):
            return dict(jobs)
        wanted = {job_id: status for job_id, status in jobs.items() if dialect.wants_explanation(status)}
        unasked = [status for job_id, status in wanted.items() if (job_id, status.native_state) not in self._told]
        some = unasked[:_AT_ONCE]
        answers = await self._asker.ask([dialect.explain_command(status.ref) for status in some])
        if len(self._told) > _MOST_REMEMBERED:
            self._told.clear()
        for status, done in zip(some, answers, strict=True):
            told = dialect.parse_explain(done, status) if isinstance(done, Completed) else status
            if told.reason != status.reason:
                self._told[status.ref.job_id, status.native_state] = told
        return {job_id: self._with_reason(job_id, status, wanted) for job_id, status in jobs.items()}

    def _with_reason(self, job_id: str, status: JobStatus, wanted: Mapping[str, JobStatus]) -> JobStatus:
        told = self._told.get((job_id, status.native_state)) if job_id in wanted else None
        if told is None:
            return status
        return status.model_copy(update={"reason": told.reason, "reason_class": told.reason_class})
