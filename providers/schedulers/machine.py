"""Direct execution on one host as a batch job, in a small queue of its own (`machine_site`), for one user.

Jobs run detached from whoever submitted them and survive it; there is no daemon. The queue is first in, first out,
without backfill, with limits for CPUs, memory and GPUs. It runs no arrays and no heterogeneous jobs.

- CPUs: a job is bound to CPUs of its own (sched_setaffinity(2)), so that a program that starts a thread for each CPU
  keeps to its share. Where a person set more CPUs than the host has, they are only counted.
- Memory: what the whole tree holds is looked at once a second (PSS, so that shared pages count once); a job that holds
  more than its amount is killed as out-of-memory. RLIMIT_AS would count address space, which many programs reserve and
  never use. A job that states no memory is neither counted nor limited.
- GPUs: given by number to one job each, by CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES.
- A job without a walltime runs until it ends.
- A supervisor that dies (kill -9, restart of the host) is noticed by the next question, and its job becomes node-failed
  unless it recorded its end itself. Where systemd-logind ends all processes at logout (`KillUserProcesses=yes`), that
  is what happens to jobs: `loginctl enable-linger` keeps them.
- Nothing watches the queue: a job with a start time starts at the first question after it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest, SiteFileError
from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue, Workload
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.model import JsonObject
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, chunks, one_line
from providers.schedulers.job_script import job_lines
from providers.schedulers.machine_limits import limits_told, within
from providers.schedulers.machine_script import directive_lines, needs, read_machine_script
from providers.schedulers.machine_words import MACHINE_WORDS
from providers.schedulers.script_words import ScriptWords

__all__ = ["RUNNER_PATH", "Machine", "runner_bytes", "runner_digest"]

RUNNER_PATH = Path(__file__).with_name("machine_runner.py")
"""The program as installed here: a local site runs it where it lies."""
PYTHON_OPTIONS = ("-S", "-E", "-I")
"""Without site packages and the environment's settings: a third of the time to start, and nobody's modules."""
SCHEMA = 1


@cache
def runner_bytes() -> bytes:
    """The whole program as one file that `python3 FILE VERB ...` runs (zipapp), the same bytes every time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for path in (RUNNER_PATH, *sorted(RUNNER_PATH.with_name("machine_site").glob("*.py"))):
            name = "__main__.py" if path == RUNNER_PATH else f"machine_site/{path.name}"
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), path.read_bytes())
    return packed.getvalue()


def runner_digest() -> str:
    """SHA-256 of `runner_bytes`: names the file at a remote site, so that each version lies beside the others."""
    return hashlib.sha256(runner_bytes()).hexdigest()


@register_dialect("machine")
class Machine(BaseDialect):
    """The queue of one host.

    Args:
        program: the command line that runs the program at the site; None: this Python and the installed file. For a
            remote site, `(python, *PYTHON_OPTIONS, path)` with the path that `runner_bytes` was written to.
        state: the queue's folder at the site; None: `.dragoman/machine/<host>` in the home of the user there.
        allowed: what the site's file lets jobs have (`machine_limits`).

    """

    name = "machine"
    path_keys = ("python3",)
    script_words: ClassVar[ScriptWords | None] = MACHINE_WORDS
    states: ClassVar = {state.value: state for state in JobState}
    ids_per_command = 1000

    def __init__(
        self,
        *,
        program: Sequence[str] | None = None,
        state: str | None = None,
        allowed: Mapping[str, int] | None = None,
    ) -> None:
        self.program = tuple(program or (sys.executable, *PYTHON_OPTIONS, str(RUNNER_PATH)))
        self.state_options = () if state is None else ("--state", state)
        self.allowed = dict(allowed or {})

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """With the limits of the site's file.

        Raises:
            SiteFileError: one that means nothing.

        """
        try:
            return cls(allowed=limits_told(site.machine))
        except BadRequest as error:
            raise SiteFileError(error.what, where=f"{site.name}: machine.{error.where}", cure=error.cure) from error

    def _argv(self, verb: str, *words: str) -> tuple[str, ...]:
        return (*self.program, verb, *self.state_options, *words)

    def render(self, spec: JobSpec) -> str:
        """The script: what is asked of the queue, then the lines around the body."""
        lines = job_lines(spec, job_id="${DRAGOMAN_JOB_ID:-}", restart="0")
        return "\n".join(["#!/bin/sh", *directive_lines(spec), *lines, ""])

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """Submit; the same tag again gives the same job."""
        return self.act(*self._argv("submit", "--tag", spec.tag, "--", script_path))

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """Taken with its id, refused (nothing is stored before the answer), or in doubt."""
        answer = _read(done)
        if isinstance(answer, str):
            return SubmitAnswer(doubt=answer)
        error = _object(answer.get("error"))
        if error.get("kind") == "failed":
            return SubmitAnswer(doubt=_words(error))
        if error:
            return SubmitAnswer(
                refused=_words(error), reason_class=_CLASSES.get(str(error.get("kind")), ReasonClass.NEVER)
            )
        job = _object(answer.get("job"))
        if done.rc != 0 or not job.get("id"):
            return SubmitAnswer(doubt=f"exit code {done.rc} and no id: {one_line(done.out)}")
        return SubmitAnswer(job=_ref(job), warnings=_notes(answer))

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command:
        """When it would start by the walltimes of those before it; the script need not be there."""
        return self.ask(*self._argv("estimate", "--", " ".join(needs(spec))))

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """Now, or at the latest when those before it have used all their walltime."""
        answer = self._answer(done)
        if isinstance(answer, str):
            return Answer[StartEstimate].unknown(answer)
        seconds = answer.get("seconds")
        known = float(seconds) if isinstance(seconds, int | float) else None
        now = Truth.YES if known == 0 else Truth.NO
        low = None if known is None else 0.0
        return Answer[StartEstimate].ok(
            StartEstimate(now=now, expected_s=known, low_s=low, high_s=known, method="scheduler", made_at=at)
        )

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """One command for all jobs."""
        ids = dict.fromkeys(ref.job_id for ref in refs)
        return [self.ask(*self._argv("status", "--", *part)) for part in chunks(list(ids), self.ids_per_command)]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Waiting, running and ended jobs; absent are those that the queue never had or was told to forget."""
        answer = self._answer(done)
        if isinstance(answer, str):
            return JobAnswers(jobs={}, trouble=answer)
        asked = {ref.job_id: ref for ref in refs}
        host, notes = str(answer.get("host") or ""), _notes(answer)
        jobs, absent = answer.get("jobs"), answer.get("absent")
        if not isinstance(jobs, list) or not isinstance(absent, list):
            return JobAnswers(jobs={}, trouble="an answer without jobs")
        found = {}
        for item in map(_object, jobs):
            ref = asked.get(str(item.get("id")))
            if ref is not None:
                found[ref.job_id] = self._status(item, ref, host, notes)
        return JobAnswers(jobs=found, absent=frozenset(map(str, absent)) & frozenset(asked))

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """Ended jobs lie beside the others."""
        return self.status_commands(refs)

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """As `parse_status`."""
        return self.parse_status(done, refs)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """The job with a tag, in whatever state."""
        return [self.ask(*self._argv("find", "--", tag))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """Tags are kept until the queue is told to forget a job, so that absence is shown."""
        answer = self._answer(done)
        if isinstance(answer, str):
            return Answer[JobRef].unknown(answer)
        job = _object(answer.get("job"))
        if answer.get("outcome") == "ok" and job.get("tag") == tag:
            return Answer[JobRef].ok(_ref(job))
        if answer.get("outcome") == "absent":
            return Answer[JobRef].absent(f"the queue has no job {tag}")
        return Answer[JobRef].unknown(str(answer.get("reason") or "an answer without outcome"))

    def list_tags_commands(self) -> list[Command]:
        """Jobs that wait or run."""
        return [self.ask(*self._argv("list"))]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Those with one of our tags."""
        answer = self._answer(done)
        jobs = answer.get("jobs") if not isinstance(answer, str) else None
        if isinstance(answer, str) or not isinstance(jobs, list):
            return JobAnswers(jobs={}, trouble=answer if isinstance(answer, str) else "an answer without jobs")
        refs = [(item, _ref(item)) for item in map(_object, jobs) if item.get("id")]
        host = str(answer.get("host") or "")
        return JobAnswers(
            jobs={ref.job_id: self._status(item, ref, host, ()) for item, ref in refs if ref.tag is not None}
        )

    def cancel_command(self, ref: JobRef) -> Command:
        """End a job and all its processes; the answer does not wait for that."""
        return self.act(*self._argv("cancel", "--", ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Asked to end or ended; no such job; or unknown."""
        answer = _read(done)
        if isinstance(answer, str):
            return Answer[JobRef].unknown(answer)
        error = _object(answer.get("error"))
        if error.get("kind") == "no-such-job":
            return Answer[JobRef].absent(_words(error))
        job = _object(answer.get("job"))
        if error or done.rc != 0 or not job.get("id"):
            return Answer[JobRef].unknown(_words(error) if error else f"exit code {done.rc} and no job")
        return Answer[JobRef].ok(_ref(job))

    def hold_command(self, ref: JobRef) -> Command:
        """Keep a waiting job from starting."""
        return self.act(*self._argv("hold", "--", ref.job_id))

    def release_command(self, ref: JobRef) -> Command:
        """Let a held job start, in its old place in the order."""
        return self.act(*self._argv("release", "--", ref.job_id))

    def workload_commands(self) -> list[Command]:
        """Limits, what is free, and how many jobs there are."""
        return [self.ask(*self._argv("info"))]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """One queue, one node."""
        if len(done) != 1 or isinstance(done[0], Exception):
            return Answer[Workload].unknown(str(done[0]) if done else "was not asked")
        answer = self._answer(done[0])
        if isinstance(answer, str):
            return Answer[Workload].unknown(answer)
        limits, free = _object(answer.get("limits")), _object(answer.get("free"))
        try:
            return Answer[Workload].ok(_workload(answer, *within(limits, free, self.allowed)))
        except (KeyError, ValueError) as error:
            return Answer[Workload].unknown(f"an answer of another version: {one_line(str(error))}")

    def read_script(self, text: str) -> ScriptReading:
        """A script with `#DRAGOMAN` lines as a request."""
        return read_machine_script(text)

    def _answer(self, done: Completed) -> JsonObject | str:
        """The program's answer, or why there is none."""
        answer = _read(done)
        if isinstance(answer, str):
            return answer
        error = _object(answer.get("error"))
        if error or done.rc != 0:
            return _words(error) if error else f"exit code {done.rc}: {one_line(done.err)}"
        return answer

    def _status(self, item: JsonObject, ref: JobRef, host: str, notes: tuple[str, ...]) -> JobStatus:
        state = self.state(str(item.get("state")))
        started, ended = _number(item, "started"), _number(item, "ended")
        exit_code, signal, rss = (_number(item, name) for name in ("exit_code", "signal", "max_rss"))
        waits = state in (JobState.PENDING, JobState.HELD)
        why = (
            ReasonClass.NEVER
            if item.get("never")
            else ReasonClass.PERSON
            if state is JobState.HELD
            else ReasonClass.WAIT
        )
        return JobStatus(
            ref=ref,
            state=state,
            native_state=str(item.get("state") or ""),
            reason=one_line(str(item.get("reason") or "")),
            reason_class=why if waits else None,
            name=str(item.get("name") or "") or None,
            queue=self.name,
            exit_code=None if exit_code is None or exit_code < 0 else int(exit_code),
            signal=int(signal) if signal else None,
            submitted_at=_moment(_number(item, "submitted")),
            started_at=_moment(started),
            ended_at=_moment(ended),
            elapsed_s=max(0.0, ended - started) if started and ended else None,
            nodes=(host,) if host and started else (),
            restarts=0,
            max_rss_bytes=int(rss) if rss else None,
            cancelled_by="owner" if item.get("cancelled") else None,
            warnings=notes if waits else (),
        )


_CLASSES = {
    "bad-request": ReasonClass.NEVER,
    "too-large": ReasonClass.NEVER,
    "full": ReasonClass.WAIT,
    "busy": ReasonClass.WAIT,
    "wrong-host": ReasonClass.PERSON,
}


def _read(done: Completed) -> JsonObject | str:
    """The JSON on the last line of stdout (banners come before), or why it cannot be read."""
    line = next((line for line in reversed(done.out.splitlines()) if line.strip()), "")
    try:
        answer = json.loads(line)
    except ValueError:
        return f"exit code {done.rc} and no answer: {one_line(done.err) or one_line(done.out) or 'no output'}"
    if done.truncated or not isinstance(answer, dict) or answer.get("schema") != SCHEMA:
        return f"an answer of another version, or cut off: {one_line(line, limit=200)}"
    return answer


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _number(item: JsonObject, name: str) -> float | None:
    value = item.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds and math.isfinite(seconds) else None


def _words(error: JsonObject) -> str:
    what, cure = one_line(str(error.get("what") or "refused")), one_line(str(error.get("cure") or ""))
    return f"{what} ({cure})" if cure else what


def _notes(answer: JsonObject) -> tuple[str, ...]:
    notes = answer.get("notes")
    return tuple(one_line(str(note), limit=500) for note in notes[:20]) if isinstance(notes, list) else ()


def _ref(job: JsonObject) -> JobRef:
    tag = job.get("tag")
    try:
        return JobRef(job_id=str(job["id"]), tag=str(tag) if tag else None)
    except ValueError:  # a tag that another program chose
        return JobRef(job_id=str(job["id"]))


def _workload(answer: JsonObject, limits: JsonObject, free: JsonObject) -> Workload:
    cpus, gpus = _whole(limits, "cpus"), _whole(limits, "gpus")
    cores = _whole(limits, "cores") if "cores" in limits else 0  # a person's limits are of CPUs alone
    memory, running = _whole(limits, "memory"), _whole(answer, "running")
    pending = _whole(answer, "pending") + _whole(answer, "held")
    idle = int(running == 0)
    queue = Queue(
        name="machine", usable=Truth.YES, default=True, walltime_unlimited=True, min_nodes=1, max_nodes=1,
        max_cpus_per_job=cpus, max_cpus_per_node=cpus, max_memory_bytes_per_node=memory or None, max_gpus_per_job=gpus,
        jobs_pending=pending, jobs_running=running, nodes_total=1, nodes_idle=idle, exclusive_nodes=Truth.NO,
        shares_cores=True,
    )  # fmt: skip
    left, cards = _whole(free, "memory") if memory else None, _whole(free, "gpus") if gpus else 0
    group = NodeGroup(
        nodes=1, nodes_up=1, nodes_idle=idle, cpus_per_node=cpus, cores_per_node=cores or None,
        threads_per_core=-(-cpus // cores) if cores else None, cpus_free=_whole(free, "cpus"),
        largest_free_cpus=_whole(free, "cpus"), memory_bytes_per_node=memory or None,
        memory_free_bytes=left,
        free_shares=(FreeShare(cpus=_whole(free, "cpus"), memory_bytes=left, gpus=(cards,) if gpus else ()),),
        gpus=(Gpu(count=gpus, free=cards),) if gpus else (),
        example=str(answer.get("host") or "") or None,
    )  # fmt: skip
    return Workload(
        scheduler="machine", version=str(SCHEMA), queues=(queue,), groups=(group,), jobs_pending=pending,
        jobs_running=running, whole_nodes_only=Truth.NO,
    )  # fmt: skip


def _whole(item: JsonObject, name: str) -> int:
    value = item[name]
    if not isinstance(value, int):
        raise BadRequest(f"{name} is no whole number")
    return value
