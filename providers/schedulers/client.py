"""A scheduler at a site: all input and output that its dialect, which is pure, does not do."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import anyio
from anyio.lowlevel import RunVar

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.command import Command, Completed
from dragoman.errors import CommandMissing, HostKeyChanged, LoginNeeded
from dragoman.facts import Accounts, Workload
from dragoman.job import JobRef, JobSpec
from dragoman.model import now
from dragoman.observation import Answer, Outcome
from dragoman.proposal import StartEstimate
from dragoman.protocols import Clock, Dialect, JobAnswers, ListsTags, TellsAccounts, Transport
from dragoman.site import Site
from providers.attempts import Attempts
from providers.schedulers.asking import Asker
from providers.schedulers.base import one_line
from providers.schedulers.merging import one_finding, read_all
from providers.schedulers.submitting import Submitter
from providers.schedulers.watching import StatusReader
from providers.schedulers.work_root import IN_HOME, find_work_root

__all__ = ["SchedulerClient"]

_FIND_MARGIN = timedelta(minutes=5)
"""The site's clock may be behind ours: history is asked from this much before the intent."""
_FIND_BACK = timedelta(days=7)
_REFUSED = re.compile(
    r"^(?:denied|error)\b|\b(?:denied:|cannot (?:hold|release)|not permitted|unauthori)", re.IGNORECASE
)
"""Exit code 0 does not mean much to every scheduler."""
_ESTIMATE = (
    'umask 077; mkdir -p "${1%/*}" || exit 125; cat >"$1" || exit 125; f=$1; from=$2; shift 2; '
    'if [ "$from" = script ]; then "$@" <"$f"; else "$@" </dev/null; fi; rc=$?; rm -f "$f"; exit "$rc"'
)


class SchedulerClient:
    """Submits, watches and cancels jobs at one site under one identity.

    Args:
        dialect: the scheduler's language.
        transport: how commands reach the site.
        site: its name, work root, settle window.
        clock: the time that records and answers carry.
        grace_s: a job that neither queue nor accounting shows is called absent only when it was last seen (or first
            asked for) this long ago: accounting lags behind the queue.

    """

    def __init__(
        self, dialect: Dialect, transport: Transport, site: Site, *, clock: Clock = now, grace_s: float = 300.0
    ) -> None:
        self.dialect = dialect
        self.transport = transport
        self.site = site
        # A late step gives up well before others may conclude that it never submitted.
        self.attempts = Attempts(transport, fence_s=max(1, min(20, int(site.settle_window_s / 3))))
        self._clock = clock
        self._asker = Asker(transport)
        self._submitter = Submitter(dialect, self.attempts, site, self._find_attempt, clock)
        self._status = StatusReader(dialect, self._asker, self.attempts, self.control_dir, clock, grace_s=grace_s)
        self._root: str | None = None
        self._workload: tuple[float, Answer[Workload]] | None = None
        self._single: RunVar[anyio.Lock] = RunVar(f"workload-{uuid.uuid4().hex}")

    # Attempts

    async def work_root(self) -> str:
        """The absolute folder for attempts at the site; without one in the site file, `.dragoman` in the home there."""
        if self._root is None:
            self._root = await find_work_root(self.site.work_root or IN_HOME, self.transport, self.site.name)
        return self._root

    async def control_dir(self, tag: str) -> str:
        """The folder of one attempt."""
        return f"{await self.work_root()}/{tag}"

    async def prepare(self, control_dir: str, work_dir: str) -> None:
        """Make an attempt's folders; again is fine. Raises `TransportError`."""
        await self.attempts.prepare(control_dir, work_dir)

    async def submit(self, attempt: Attempt, secrets: Mapping[str, str] | None = None) -> AttemptRecord:
        """Submit once. Calling it again for the same attempt never submits a second time, but tells what is known.

        Args:
            attempt: its intent is already in the ledger.
            secrets: values for the variables of the job that refer to a secret.

        Returns:
            SUBMITTED, REFUSED, ABANDONED, or IN_DOUBT where only a person can tell (`answer` holds the facts).

        Raises:
            NotSettled: perhaps submitted; call again, or `reconcile`, later.
            TransportError: no answer, and perhaps submitted; the same.
            CommandMissing: the site has no submit command; nothing was submitted.
            BadRequest: the job cannot be written for this scheduler; nothing was submitted.

        """
        if any(variable.secret is not None for variable in attempt.spec.environment):
            await self.attempts.write_secrets(attempt.spec, secrets or {})
        return await self._submitter.submit(attempt)

    async def reconcile(self, record: AttemptRecord, *, may_submit: bool = True) -> AttemptRecord:
        """Settle what is not known yet by the folder, then by queue and history; a known record comes back as it is.

        Args:
            record: of an attempt that is intended or in doubt.
            may_submit: submit (again) where the evidence shows that it is safe.

        Raises as `submit` does.

        """
        if record.state not in {AttemptState.INTENDED, AttemptState.IN_DOUBT}:
            return record
        return await self._submitter.reconcile(record.attempt, may_submit=may_submit)

    async def abandon(self, attempt: Attempt, by: str = "its-owner") -> AttemptRecord:
        """See to it that this attempt never runs.

        Returns:
            ABANDONED: it was never submitted and never will be, or no job of it will run its body. SUBMITTED: it has
            become a job, to be cancelled as one. REFUSED: nothing was submitted.

        Raises:
            NotSettled: a step is submitting it at this moment; call again soon.
            TransportError: no answer.

        """
        return await self._submitter.abandon(attempt, "".join(c if c.isalnum() else "-" for c in by)[:64] or "owner")

    async def adopt(self, attempt: Attempt, job_id: str) -> AttemptRecord:
        """Keep a job that a person has found as this attempt's."""
        return AttemptRecord(
            attempt=attempt,
            state=AttemptState.SUBMITTED,
            job=JobRef(
                job_id=job_id,
                tag=attempt.tag,
                array_size=attempt.spec.array.size if attempt.spec.array is not None else None,
            ),
            adopted=True,
            answer="named by a person",
            recorded_at=self._clock(),
        )

    async def find(self, tag: str, since: datetime | None = None) -> Answer[JobRef]:
        """Ask queue and history for a tag: there, shown not to be there, or unknown."""
        commands = self.dialect.find_commands(tag, since or self._clock() - _FIND_BACK)
        return one_finding(await self._asker.ask(commands), lambda done: self.dialect.parse_find(done, tag))

    async def _find_attempt(self, attempt: Attempt) -> Answer[JobRef]:
        return await self.find(attempt.tag, attempt.intended_at - _FIND_MARGIN if attempt.intended_at else None)

    async def ours(self) -> JobAnswers | None:
        """All jobs in the queue that carry a tag of ours; None where this scheduler cannot list them."""
        if not isinstance(self.dialect, ListsTags):
            return None
        return read_all(await self._asker.ask(self.dialect.list_tags_commands()), self.dialect.parse_list_tags)

    # Jobs

    async def status(self, refs: Sequence[JobRef], *, since: datetime | None = None) -> JobAnswers:
        """State of many jobs: the queue in one batch, accounting for those it does not show, then their exit records.

        Args:
            refs: the jobs, with their tags.
            since: when the oldest of them was submitted; None: 30 days ago.

        Returns:
            Those that were seen; those that are absent by every account and past their grace; any other is unknown.

        Raises:
            LoginNeeded: a person renews the credentials first.

        """
        return await self._status.read(refs, since)

    async def history(self, refs: Sequence[JobRef], *, since: datetime | None = None) -> JobAnswers:
        """What the accounting says of jobs, with what they used where it tells; any that it does not show is unknown.

        Args:
            refs: the jobs.
            since: when the oldest of them was submitted; None: 30 days ago.

        """
        return await self._status.history(refs, since)

    async def cancel(self, ref: JobRef) -> Answer[JobRef]:
        """Ask for a job's end. Ok: asked, or it has ended. Absent: no such job. Unknown: try again."""
        return await self._act(self.dialect.cancel_command(ref))

    async def hold(self, ref: JobRef) -> Answer[JobRef]:
        """Hold a pending job. Ok: asked, and the status shows it. Absent: no such job, or this scheduler cannot."""
        return await self._held(self.dialect.hold_command(ref), ref)

    async def release(self, ref: JobRef) -> Answer[JobRef]:
        """Release a held job, as `hold`; a hold that another has set stays, and some schedulers do not say so."""
        return await self._held(self.dialect.release_command(ref), ref)

    async def _act(self, command: Command) -> Answer[JobRef]:
        answer = (await self._asker.ask([command]))[0]
        return (
            Answer[JobRef].unknown(str(answer)) if isinstance(answer, Exception) else self.dialect.parse_cancel(answer)
        )

    async def _held(self, command: Command | None, ref: JobRef) -> Answer[JobRef]:
        if command is None:
            return Answer[JobRef].absent(f"{self.dialect.name} cannot hold jobs")
        answer = (await self._asker.ask([command]))[0]
        if isinstance(answer, Exception):
            return Answer[JobRef].unknown(str(answer))
        words = one_line(f"{answer.err} {answer.out}")
        # Each scheduler says of an unknown job the same words to whoever asks for something about it.
        if self.dialect.parse_cancel(answer).outcome is Outcome.ABSENT:
            return Answer[JobRef].absent(words or "no such job")
        if answer.rc == 0 and _REFUSED.search(words) is None:
            return Answer[JobRef].ok(ref)
        return Answer[JobRef].unknown(words or f"exit code {answer.rc}")

    # The site

    async def estimate(self, spec: JobSpec) -> Answer[StartEstimate]:
        """When the job would start, asked of the scheduler without submitting. Raises `BadRequest`."""
        path = f"{await self.work_root()}/.estimates/{uuid.uuid4().hex}"
        command = self.dialect.estimate_command(spec, path)
        if command is None:
            return Answer[StartEstimate].unknown(f"{self.dialect.name} has no way to ask for a start time")
        script = command.stdin or self.dialect.render(spec).encode()
        wrapped = Command(
            ("/bin/sh", "-c", _ESTIMATE, "dragoman", path, "script" if command.stdin else "none", *command.argv),
            stdin=script,
            environment=command.environment,
            unset=command.unset,
            timeout_s=command.timeout_s,
        )
        done = (await self._asker.ask([wrapped]))[0]
        if isinstance(done, Exception):
            return Answer[StartEstimate].unknown(str(done))
        return self.dialect.parse_estimate(
            Completed(command.argv, done.rc, done.stdout, done.stderr, done.seconds, done.truncated), self._clock()
        )

    async def accounts(self) -> Answer[Accounts]:
        """Accounts the user may charge; unknown where this scheduler does not tell."""
        if not isinstance(self.dialect, TellsAccounts):
            return Answer[Accounts].unknown(
                f"{self.dialect.name} does not tell of accounts, and the site file has none"
            )
        return self.dialect.parse_accounts(await self._asker.ask(self.dialect.accounts_commands()))

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        """Queues and nodes: one snapshot for all who ask within its age, and one question however many ask at once.

        The age counts from when it was wanted: who waited for another's question takes its answer.
        """
        wanted_at = time.monotonic()
        lock = self._single.get(None)
        if lock is None:
            lock = anyio.Lock()
            self._single.set(lock)
        async with lock:
            if self._workload is not None and wanted_at - self._workload[0] <= max_age_s:
                return self._workload[1]
            asked_at = time.monotonic()
            try:
                done = await self._asker.ask(self.dialect.workload_commands())
                answer = self.dialect.parse_workload(done)
            except (LoginNeeded, HostKeyChanged, CommandMissing) as error:
                answer = Answer[Workload].unknown(str(error))
            self._workload = (asked_at, answer)
            return answer
