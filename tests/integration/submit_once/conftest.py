"""A scheduler in a folder, spoken to over the local transport by the real client, submit step and job script."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import pytest

from dragoman.attempt import Attempt, attempt_tag
from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.model import now
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, SubmitAnswer
from dragoman.shape import Shape
from dragoman.site import Site
from providers.schedulers.base import BaseDialect
from providers.schedulers.client import SchedulerClient
from providers.schedulers.job_script import job_lines
from providers.transports.local import LocalTransport

PROGRAM = Path(__file__).with_name("fakesched.sh")


class FakeDialect(BaseDialect):
    """The language of `fakesched.sh`."""

    name = "fakesched"
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"^accepted (?P<id>\d+)$")
    limit_s = 5.0
    searchable = True

    def render(self, spec: JobSpec) -> str:
        lines = job_lines(spec, job_id="${FAKE_JOB_ID:-}", restart="${FAKE_RESTART:-0}", task="${FAKE_TASK:-}")
        return "\n".join(["#!/bin/sh", *lines, ""])

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        options = [option for option in ("--plain",) if option not in without]
        argv = ("sh", str(PROGRAM), "submit", "--tag", spec.tag, *options, script_path)
        return Command(argv, timeout_s=self.limit_s)

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        if done.rc and "unrecognized option '--plain'" in done.err:
            return SubmitAnswer(refused=done.err, retry_without=("--plain",))
        return super().parse_submit(done)

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        return [Command(("sh", str(PROGRAM), "queue"))]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        if trouble := self.trouble(done):
            return JobAnswers(jobs={}, trouble=trouble)
        asked = {ref.job_id: ref for ref in refs}
        jobs = {}
        for line in done.out.splitlines():
            job_id, word, *_ = line.split(" ")
            if job_id in asked:
                state, _, code = word.partition(":")
                jobs[job_id] = JobStatus(
                    ref=asked[job_id],
                    state=JobState(state.lower()),
                    native_state=word,
                    exit_code=int(code) if code else None,
                )
        return JobAnswers(jobs=jobs, absent=frozenset(asked.keys() - jobs.keys()))

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        return [Command(("sh", str(PROGRAM), "history"))]

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        return self.parse_status(done, refs)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        if not self.searchable:
            return []
        return [Command(("sh", str(PROGRAM), "queue")), Command(("sh", str(PROGRAM), "history"))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        if trouble := self.trouble(done):
            return Answer[JobRef].unknown(trouble)
        for line in done.out.splitlines():
            job_id, _, owner = line.split(" ")
            if owner == tag:
                return Answer[JobRef].ok(JobRef(job_id=job_id, tag=tag))
        return Answer[JobRef].absent("not listed")

    def cancel_command(self, ref: JobRef) -> Command:
        return Command(("sh", str(PROGRAM), "cancel", ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        return Answer[JobRef].ok(JobRef(job_id="1")) if done.rc == 0 else Answer[JobRef].unknown(done.err)


class World:
    """One site: the scheduler's folder, the work root, and clients of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scheduler = root / "scheduler"
        for name in ("jobs", "faults"):
            (self.scheduler / name).mkdir(parents=True)
        self.work_root = root / "work"
        self.environment = {"FAKESCHED": str(self.scheduler), "PATH": os.defpath, "HOME": str(root)}
        self.dialect = FakeDialect()
        self.ran = root / "ran"

    def client(self, *, window_s: float = 1.0, path: str | None = None, grace_s: float = 300.0) -> SchedulerClient:
        site = Site(name="here", scheduler="fakesched", work_root=str(self.work_root), settle_window_s=window_s)
        environment = {**self.environment, "PATH": path or self.environment["PATH"]}
        return SchedulerClient(self.dialect, LocalTransport(environment), site, grace_s=grace_s)

    def attempt(self, number: int = 0, body: str | None = None) -> Attempt:
        tag = attempt_tag("thread", "dispatch", number)
        control = f"{self.work_root}/{tag}"
        spec = JobSpec(
            tag=tag,
            shape=Shape(nodes=1),
            control_dir=control,
            work_dir=f"{control}/work",
            body=body or f"echo ran >>'{self.ran}'\n",
        )
        return Attempt(
            tag=tag, thread_id="thread", step="dispatch", number=number, site="here", scheduler="fakesched", spec=spec,
            intended_at=now(),
        )  # fmt: skip

    def fault(self, name: str, times: int = 1) -> None:
        (self.scheduler / "faults" / name).write_text("x\n" * times)

    def no_fault(self, name: str) -> None:
        (self.scheduler / "faults" / name).unlink(missing_ok=True)

    def jobs(self) -> int:
        """How many jobs the scheduler really took."""
        return len(list((self.scheduler / "jobs").iterdir()))

    def submits(self) -> int:
        """How often the submit command was really called."""
        path = self.scheduler / "submits"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def run_jobs(self) -> None:
        subprocess.check_call(["sh", str(PROGRAM), "run"], env=self.environment)

    def runs(self) -> int:
        """How often a body was really run, counted by the bodies themselves."""
        return len(self.ran.read_text().splitlines()) if self.ran.exists() else 0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def worlds(tmp_path: Path) -> Callable[[str], World]:
    def make(name: str) -> World:
        (tmp_path / name).mkdir()
        return World(tmp_path / name)

    return make
