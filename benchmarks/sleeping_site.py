"""A site for measuring sleeping threads: its scheduler is a file that names ended jobs, and counts questions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from checkpoints.open import open_checkpoints
from continuation.lease import holder_name
from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.observation import Answer
from dragoman.protocols import Dialect, JobAnswers, SubmitAnswer
from dragoman.settings import Settings
from dragoman.site import Fleet, Site
from interfaces.app import App
from interfaces.sites import Sites
from providers.schedulers.base import BaseDialect
from providers.schedulers.client import SchedulerClient
from providers.schedulers.job_script import job_lines
from providers.site_runtime import SiteRuntime, open_site
from providers.workload import WorkloadProvider

FIRST_ID = 10_000_000


class SleepingDialect(BaseDialect):
    """Job ids of eight digits; every job runs until the file `ended` names it, or holds `all`."""

    name = "sleeping"
    ids_per_command = 100_000

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def render(self, spec: JobSpec) -> str:
        return "\n".join(["#!/bin/sh", *job_lines(spec, job_id="x", restart="0"), ""])

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        return Command(("/bin/echo", str(FIRST_ID)))

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        return SubmitAnswer(job=JobRef(job_id=done.out.strip()))

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        words = 'echo "$1" >>"$0/calls"; cat "$0/ended"'
        return [Command(("/bin/sh", "-c", words, str(self.folder), str(len(refs))))]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        ended = set(done.out.split())
        return JobAnswers(
            jobs={
                ref.job_id: JobStatus(ref=ref, state=JobState.COMPLETED, exit_code=0)
                if ref.job_id in ended
                else JobStatus(ref=ref, state=JobState.RUNNING)
                for ref in refs
            }
        )

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        return []

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        return Answer[JobRef].unknown("not searchable")

    def cancel_command(self, ref: JobRef) -> Command:
        return Command(("/bin/true",))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        return Answer[JobRef].unknown("nothing is cancelled here")

    def calls(self) -> list[int]:
        """How many jobs each question was about."""
        path = self.folder / "calls"
        return [int(line) for line in path.read_text().split()] if path.exists() else []


class BenchSites(Sites):
    """Sites of one kind of scheduler."""

    dialect: Callable[[], Dialect]

    def open(self, name: str) -> SiteRuntime:
        if name not in self._open:
            runtime = open_site(self.site(name))
            assert runtime.transport is not None
            client = SchedulerClient(self.dialect(), runtime.transport, runtime.site)
            for provider in runtime.providers:
                if isinstance(provider, WorkloadProvider) and self.dialect is not None:
                    provider.source = client if client.dialect.name != "sleeping" else provider.source
            self._open[name] = replace(runtime, scheduler=client)
        return self._open[name]


@asynccontextmanager
async def bench_app(settings: Settings, site: Site, dialect: Callable[[], Dialect]) -> AsyncIterator[App]:
    """An app whose one site has this scheduler."""
    sites = BenchSites(None, Fleet(sites=(site,)))
    sites.dialect = dialect
    app = App(settings, open_checkpoints(settings), sites, holder_name())
    try:
        yield app
    finally:
        await app.aclose()
