"""Reads the state of many jobs in few round trips: queue, then accounting, then the attempts' own records."""

from __future__ import annotations

import functools
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from dragoman.command import Command, Completed
from dragoman.errors import TransportError
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.protocols import Clock, Dialect, JobAnswers, TellsUsage
from providers.attempt_look import AttemptLook
from providers.attempts import Attempts
from providers.schedulers.asking import Asker
from providers.schedulers.base import chunks
from providers.schedulers.explaining import Explainer
from providers.schedulers.job_script import DUPLICATE_RC
from providers.schedulers.merging import by_exit_record, needs_look, partly_seen, read_all, union, with_accounts

__all__ = ["StatusReader"]

log = logging.getLogger(__name__)

_HISTORY_BACK = timedelta(days=30)
_LAG_S = 15.0
"""How far an accounting may be behind the queue before an end is told without its reason."""
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
        self._explainer = Explainer(dialect, asker)
        self._attempts = attempts
        self._control_dir = control_dir
        self._clock = clock
        self._grace_s = grace_s
        self._seen: dict[str, float] = {}
        """By job id, when it was last seen or first asked for (monotonic)."""
        self._failed: dict[str, float] = {}
        """By job id, when it was first seen to have failed without a word why (monotonic)."""
        self._logged: set[str] = set()
        self._at_once = max(int(getattr(dialect, "ids_per_command", 400)), 1)
        self._plain = False
        """The accounting had trouble with the fuller question: the next one is plain."""

    async def read(self, refs: Sequence[JobRef], since: datetime | None = None) -> JobAnswers:
        """What is known of these jobs now; see `SchedulerClient.status`."""
        if not refs:
            return JobAnswers(jobs={})
        unique = list({ref.job_id: ref for ref in refs}.values())
        answers, looks = await self._three_sources(unique, since)
        followed = await self._follow(unique, answers, looks, since)
        jobs = {**answers.jobs, **followed}
        jobs = await self._explainer.explained(jobs)
        self._log_unknown(jobs)
        at = self._clock()
        stamped = {
            job_id: status if status.seen_at else status.model_copy(update={"seen_at": at})
            for job_id, status in jobs.items()
        }
        absent = frozenset() if answers.trouble else answers.absent - jobs.keys()
        return JobAnswers(jobs=stamped, absent=self._past_grace(unique, stamped, absent), trouble=answers.trouble)

    async def history(self, refs: Sequence[JobRef], since: datetime | None = None) -> JobAnswers:
        """What the accounting says; see `SchedulerClient.history`."""
        if not refs:
            return JobAnswers(jobs={})
        unique = list({ref.job_id: ref for ref in refs}.values())
        told, kept = await self._history(unique, [], since)
        return JobAnswers(told.jobs, trouble=told.trouble or ("" if kept else f"{self._dialect.name} keeps no history"))

    async def _three_sources(
        self, refs: Sequence[JobRef], since: datetime | None
    ) -> tuple[JobAnswers, dict[str, AttemptLook]]:
        queue = await self._ask(refs, self._dialect.status_commands, self._dialect.parse_status)
        # A clean answer that does not show a job is no word of its absence, and reason enough to ask the history.
        missing = [ref for ref in refs if ref.job_id not in queue.jobs and not queue.trouble]
        missing = missing or [ref for ref in refs if ref.job_id in queue.absent]
        missing += [ref for ref in refs if (one := queue.jobs.get(ref.job_id)) is not None and partly_seen(one)]
        ended = [ref for ref in refs if (seen := queue.jobs.get(ref.job_id)) is not None and seen.state.final]
        history, kept = await self._history(missing, ended, since)
        known = {job_id: with_accounts(status, history.jobs.get(job_id)) for job_id, status in queue.jobs.items()}
        jobs = {**history.jobs, **known}
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
        for ref in ended if kept else ():
            told = history.jobs.get(ref.job_id)
            if (told is None or not told.state.final) and self._reason_may_come(jobs[ref.job_id]):
                lagging = {"state": JobState.COMPLETING, "reason": "it ended, and the accounting does not tell why yet"}
                jobs[ref.job_id] = jobs[ref.job_id].model_copy(update=lagging)
        # Accounting that lags or forgets says nothing of its own accord; the grace is there for that.
        absent = frozenset() if history.trouble else queue.absent
        unread = {ref.job_id for ref in asked if ref.job_id not in looks}
        words = "; ".join(dict.fromkeys(text for text in (queue.trouble, history.trouble, trouble) if text))
        return JobAnswers(jobs=jobs, absent=frozenset(absent - jobs.keys() - unread), trouble=words), looks

    async def _ask(
        self,
        refs: Sequence[JobRef],
        commands: Callable[[Sequence[JobRef]], list[Command]],
        parse: Callable[[Completed, Sequence[JobRef]], JobAnswers],
    ) -> JobAnswers:
        """All clusters in one round trip; a job is absent by the answers of its own cluster."""
        groups: dict[str | None, list[JobRef]] = {}
        for ref in refs:
            groups.setdefault(ref.cluster, []).append(ref)
        asked = [pair for group in groups.values() for pair in _questions(group, commands, self._at_once)]
        answers = iter(await self._asker.ask([command for _, some in asked for command in some]))
        return union(
            [
                read_all(itertools.islice(answers, len(some)), functools.partial(_parsed, parse, part))
                for part, some in asked
            ]
        )

    async def _history(
        self, missing: Sequence[JobRef], ended: Sequence[JobRef], since: datetime | None
    ) -> tuple[JobAnswers, bool]:
        """What the accounting says of jobs that left the queue and adds to those that ended, and whether there is one.

        In one question. When that has trouble (a job with very many steps), the next one asks for less, for what the
        missing ones did has to be known and what they used has not.
        """
        back = since or self._clock() - _HISTORY_BACK
        dialect = self._dialect
        fuller = isinstance(dialect, TellsUsage) and not self._plain
        refs = [*missing, *ended] if fuller else missing
        if not refs:
            self._plain = False
            return JobAnswers(jobs={}), False
        asks = dialect.usage_commands if fuller and isinstance(dialect, TellsUsage) else dialect.history_commands
        told = await self._ask(refs, lambda some: asks(some, back), dialect.parse_history)
        self._plain = fuller and bool(told.trouble)
        kept = bool(asks(refs[:1], back))
        return JobAnswers(told.jobs, told.absent, told.trouble if missing else ""), kept

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
            ref.job_id: ref.model_copy(update={"job_id": look.owner})
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

    def _log_unknown(self, jobs: Mapping[str, JobStatus]) -> None:
        """Once for each word of the scheduler that is in no table of ours, so that somebody adds it."""
        for status in jobs.values():
            word = status.native_state
            if status.state is JobState.UNKNOWN and word and word not in self._logged and len(self._logged) < 1000:
                self._logged.add(word)
                log.warning(
                    "%s says %r of job %s, which is taken for unknown",
                    self._dialect.name,
                    word,
                    status.ref.job_id,
                    extra={"action": "unknown-state", "state": word},
                )

    def _reason_may_come(self, status: JobStatus) -> bool:
        """Whether to wait for it: a failure of which neither queue nor job told a code was killed, or never began."""
        if status.state is not JobState.FAILED or status.exit_code is not None or status.signal is not None:
            return False
        return time.monotonic() - self._failed.setdefault(status.ref.job_id, time.monotonic()) <= _LAG_S

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
            self._failed = {job_id: at for job_id, at in self._failed.items() if job_id in asked}
        return gone


def _questions(
    refs: Sequence[JobRef], commands: Callable[[Sequence[JobRef]], list[Command]], at_once: int
) -> list[tuple[list[JobRef], list[Command]]]:
    """Questions, each with the jobs that it is about, so that no answer is looked through for all the others.

    A question that is the same for other jobs too (all of the user's) is put once.
    """
    found: list[tuple[list[JobRef], list[Command]]] = []
    for part in chunks(refs, at_once):
        asked = commands(part)
        if found and found[-1][1] == asked:
            found[-1][0].extend(part)
        else:
            found.append(([*part], asked))
    return found


def _parsed(
    parse: Callable[[Completed, Sequence[JobRef]], JobAnswers], refs: Sequence[JobRef], done: Completed
) -> JobAnswers:
    return parse(done, refs)
