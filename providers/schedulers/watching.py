"""Reads the state of many jobs in few round trips: queue, then accounting, then the attempts' own records."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from dragoman.command import Completed
from dragoman.errors import TransportError
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.protocols import Clock, Dialect, JobAnswers
from providers.attempt_look import AttemptLook
from providers.attempts import Attempts
from providers.schedulers.asking import Asker
from providers.schedulers.base import chunks
from providers.schedulers.job_script import DUPLICATE_RC
from providers.schedulers.merging import by_exit_record, needs_look, read_all, union

__all__ = ["StatusReader"]

_AT_ONCE = 500
_HISTORY_BACK = timedelta(days=30)
_MOST_REMEMBERED = 100_000


class StatusReader:
    """The question about many jobs.

    Args:
        dialect: the scheduler's language.
        asker: puts the questions.
        attempts: the folders of attempts.
        control_dir: where the folder of a tag lies.
        clock: the time of an answer.
        grace_s: how long a job that is not seen anywhere is not yet called absent.

    """

    def __init__(
        self,
        dialect: Dialect,
        asker: Asker,
        attempts: Attempts,
        control_dir: Callable[[str], Awaitable[str]],
        clock: Clock,
        *,
        grace_s: float,
    ) -> None:
        self._dialect = dialect
        self._asker = asker
        self._attempts = attempts
        self._control_dir = control_dir
        self._clock = clock
        self._grace_s = grace_s
        self._seen: dict[str, float] = {}
        """By job id, when it was last seen or first asked for (monotonic)."""

    async def read(self, refs: Sequence[JobRef], since: datetime | None = None) -> JobAnswers:
        """What is known of these jobs now; see `SchedulerClient.status`."""
        if not refs:
            return JobAnswers(jobs={})
        unique = list({ref.job_id: ref for ref in refs}.values())
        answers, looks = await self._three_sources(unique, since)
        followed = await self._follow(unique, answers, looks, since)
        jobs = {**answers.jobs, **followed}
        at = self._clock()
        stamped = {
            job_id: status if status.seen_at else status.model_copy(update={"seen_at": at})
            for job_id, status in jobs.items()
        }
        absent = frozenset() if answers.trouble else answers.absent - jobs.keys()
        return JobAnswers(jobs=stamped, absent=self._past_grace(unique, stamped, absent), trouble=answers.trouble)

    async def _three_sources(
        self, refs: Sequence[JobRef], since: datetime | None
    ) -> tuple[JobAnswers, dict[str, AttemptLook]]:
        queue = union([await self._queue(part) for part in chunks(refs, _AT_ONCE)])
        missing = [ref for ref in refs if ref.job_id in queue.absent]
        history, kept = await self._history(missing, since)
        jobs = {**queue.jobs, **history.jobs}
        asked = [
            ref
            for ref in refs
            if ref.tag is not None
            and needs_look(jobs.get(ref.job_id))
            and (ref.job_id in jobs or ref.job_id in queue.absent)
        ]
        looks, trouble = await self._looks(asked)
        for ref in asked:
            look = looks.get(ref.job_id)
            if look is None:
                continue
            said = jobs.get(ref.job_id)
            status = by_exit_record(ref, said, look, accounting_may_come=kept and self._in_grace(ref.job_id))
            if status is not None:
                jobs[ref.job_id] = status
        # Accounting that lags or forgets says nothing of its own accord; the grace is there for that.
        absent = frozenset() if history.trouble else queue.absent
        unread = {ref.job_id for ref in asked if ref.job_id not in looks}
        words = "; ".join(dict.fromkeys(text for text in (queue.trouble, history.trouble, trouble) if text))
        return JobAnswers(jobs=jobs, absent=frozenset(absent - jobs.keys() - unread), trouble=words), looks

    async def _queue(self, refs: Sequence[JobRef]) -> JobAnswers:
        done = await self._asker.ask(self._dialect.status_commands(refs))
        return read_all(done, lambda one: self._dialect.parse_status(one, refs))

    async def _history(self, refs: Sequence[JobRef], since: datetime | None) -> tuple[JobAnswers, bool]:
        """What the accounting says, and whether there is one."""
        back = since or self._clock() - _HISTORY_BACK
        parts: list[JobAnswers] = []
        kept = False
        for part in chunks(refs, _AT_ONCE):
            commands = self._dialect.history_commands(part, back)
            kept = kept or bool(commands)
            if commands:
                parts.append(read_all(await self._asker.ask(commands), _reader(self._dialect, part)))
        return union(parts), kept

    async def _looks(self, refs: Sequence[JobRef]) -> tuple[dict[str, AttemptLook], str]:
        if not refs:
            return {}, ""
        try:
            folders = {ref.job_id: await self._control_dir(ref.tag or "") for ref in refs}
            looks = await self._attempts.look(list(dict.fromkeys(folders.values())))
        except TransportError as error:
            return {}, str(error)
        return {job_id: looks[path] for job_id, path in folders.items() if not looks[path].trouble}, ""

    async def _follow(
        self, refs: Sequence[JobRef], answers: JobAnswers, looks: dict[str, AttemptLook], since: datetime | None
    ) -> dict[str, JobStatus]:
        """A job that ended as a duplicate did not run its attempt: the one that owns it is what is asked about."""
        owners = {
            ref.job_id: JobRef(job_id=look.owner, cluster=ref.cluster, tag=ref.tag)
            for ref in refs
            if (status := answers.jobs.get(ref.job_id)) is not None
            and status.exit_code == DUPLICATE_RC
            and (look := looks.get(ref.job_id)) is not None
            and look.owner not in {"", ref.job_id}
        }
        if not owners:
            return {}
        told, _ = await self._three_sources(list(owners.values()), since)
        unseen = "a duplicate of job {}, which runs the attempt and is not seen now"
        return {
            job_id: told.jobs.get(owner.job_id)
            or answers.jobs[job_id].model_copy(
                update={"state": JobState.UNKNOWN, "exit_code": None, "reason": unseen.format(owner.job_id)}
            )
            for job_id, owner in owners.items()
        }

    def _in_grace(self, job_id: str) -> bool:
        return time.monotonic() - self._seen.setdefault(job_id, time.monotonic()) <= self._grace_s

    def _past_grace(self, refs: Sequence[JobRef], jobs: dict[str, JobStatus], absent: frozenset[str]) -> frozenset[str]:
        for ref in refs:
            if ref.job_id in jobs:
                self._seen[ref.job_id] = time.monotonic()
        gone = frozenset(job_id for job_id in absent if not self._in_grace(job_id))
        if len(self._seen) > _MOST_REMEMBERED:
            asked = {ref.job_id for ref in refs}
            self._seen = {job_id: at for job_id, at in self._seen.items() if job_id in asked}
        return gone


def _reader(dialect: Dialect, refs: Sequence[JobRef]) -> Callable[[Completed], JobAnswers]:
    return lambda done: dialect.parse_history(done, refs)
