"""Threads of the real graph over the test's own database, with a scheduler whose jobs end when the test says so."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from checkpoints.open import open_checkpoints
from continuation.engine import Engine
from continuation.lease import holder_name
from continuation.streams import SiteStreams
from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, SubmitAnswer
from dragoman.selection import ApprovalRule
from dragoman.settings import Settings, read_settings
from dragoman.site import Charges, Fleet, Site
from dragoman.thread import ThreadRow
from graph.state import Options
from interfaces.app import App
from interfaces.requests import take_request
from interfaces.sites import Sites
from providers.schedulers.base import BaseDialect
from providers.schedulers.client import SchedulerClient
from providers.schedulers.job_script import job_lines
from providers.site_runtime import SiteRuntime, open_site
from providers.transports.local import LocalTransport


class Told(BaseDialect):
    """Job ids from a counter in a file; states from a file for each job, with why it never starts; all is counted."""

    name = "told"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def render(self, spec: JobSpec) -> str:
        return "\n".join(["#!/bin/sh", *job_lines(spec, job_id="x", restart="0"), ""])

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        words = 'echo "$1" >>"$0/submits"; n=$(wc -l <"$0/submits"); echo "$1" >"$0/job.$n"; echo "$n"'
        return Command(("/bin/sh", "-c", words, str(self.folder), spec.tag))

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        return SubmitAnswer(job=JobRef(job_id=done.out.strip())) if done.out.strip() else SubmitAnswer(doubt="nothing")

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        words = 'echo look >>"$0/looks"; for each; do echo "$each $(cat "$0/state.$each" 2>/dev/null)"; done'
        return [Command(("/bin/sh", "-c", words, str(self.folder), *(ref.job_id for ref in refs)))]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        states = dict(line.split(" ", 1) for line in done.out.splitlines())
        jobs = {}
        for ref in refs:
            state, _, reason = (states[ref.job_id].strip() or "running").partition(" ")
            jobs[ref.job_id] = JobStatus(
                ref=ref,
                state=JobState(state),
                exit_code=0 if state == "completed" else None,
                reason=reason,
                reason_class=ReasonClass.NEVER if reason else None,
            )
        return JobAnswers(jobs=jobs)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        return [Command(("/bin/sh", "-c", 'grep -lx "$1" "$0"/job.* || true', str(self.folder), tag))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        number = done.out.strip().rpartition(".")[2]
        return Answer[JobRef].ok(JobRef(job_id=number, tag=tag)) if number else Answer[JobRef].absent("not there")

    def cancel_command(self, ref: JobRef) -> Command:
        return Command(("/bin/sh", "-c", 'echo cancelled >"$0/state.$1"', str(self.folder), ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        return Answer[JobRef].ok(JobRef(job_id="1"))


class ToldSites(Sites):
    """One site whose scheduler is told."""

    def open(self, name: str) -> SiteRuntime:
        if name not in self._open:
            import dataclasses

            runtime = open_site(self.site(name))
            assert runtime.transport is not None
            client = SchedulerClient(Told(self.folder), runtime.transport, runtime.site)
            self._open[name] = dataclasses.replace(runtime, scheduler=client)
        return self._open[name]

    folder: Path


class Desk:
    """A dragoman process's app, without the process."""

    def __init__(self, app: App, folder: Path) -> None:
        self.app = app
        self.folder = folder
        self.ledger = app.checkpoints.ledger

    def engine(self, **options: Any) -> Engine:
        """As another process would have it."""
        return Engine(self.app.graph, self.ledger, holder_name(), **options)

    async def ask(self, approve: str = "auto", command: Sequence[str] = ("true",)) -> str:
        words = {"command": [*command], "shapes": [{"tasks": 1}], "walltime_s": 60}
        row, _ = await take_request(self.app, words, Options(approve="auto" if approve == "auto" else "ask"))
        return row.thread_id

    async def row(self, thread_id: str) -> ThreadRow:
        row = await self.ledger.thread(thread_id)
        assert row is not None
        return row

    def submits(self) -> list[str]:
        path = self.folder / "submits"
        return path.read_text().split() if path.exists() else []

    def looks(self) -> int:
        path = self.folder / "looks"
        return len(path.read_text().split()) if path.exists() else 0

    def tell(self, job_id: str, state: str) -> None:
        (self.folder / f"state.{job_id}").write_text(state)

    async def settle(self, thread_id: str, *statuses: str, seconds: float = 30) -> ThreadRow:
        with anyio.fail_after(seconds):
            while True:
                await self.app.service.catch_up()
                row = await self.row(thread_id)
                if row.status.value in (statuses or ("done",)):
                    return row
                await anyio.sleep(0.05)


def settings_of(database: str, folder: Path) -> Settings:
    rules = (ApprovalRule(name="all", sites=("local",), max_cost=0.0),)
    return read_settings(
        data_dir=folder / "data", DATABASE_URL=database, sites_file=None, approval_rules=rules, file_latency_s=0.2
    )


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """One desk."""
    (tmp_path / "told").mkdir()
    site = Site(
        name="local", scheduler="machine", work_root=str(tmp_path / "site"), min_poll_interval_s=0.1,
        max_poll_interval_s=0.5, settle_window_s=3, charges=Charges(currency="none", per_core_hour=0, per_gpu_hour=0),
    )  # fmt: skip
    sites = ToldSites(None, Fleet(sites=(site,)))
    sites.folder = tmp_path / "told"
    app = App(settings_of(database, tmp_path), open_checkpoints(settings_of(database, tmp_path)), sites, holder_name())
    yield Desk(app, tmp_path / "told")
    await app.aclose()


FAKES = Path(__file__).parents[2] / "fakes"


class FakeSites(Sites):
    """One site whose scheduler is a program in a folder."""

    folder: Path

    def open(self, name: str) -> SiteRuntime:
        if name not in self._open:
            transport = LocalTransport({"PATH": f"{self.folder / 'bin'}:{os.defpath}", "HOME": str(self.folder)})
            self._open[name] = open_site(self.site(name), transport=transport)
        return self._open[name]


@pytest.fixture
async def fake_desk(
    request: pytest.FixtureRequest, database: str, tmp_path: Path
) -> AsyncIterator[Callable[..., Awaitable[Desk]]]:
    """Desks at one site with a scheduler that has a stream of events; each call is another process's."""
    folder = tmp_path / "scheduler"
    for name in ("bin", "faults"):
        (folder / name).mkdir(parents=True)
    kubectl, flux = (f'exec "{sys.executable}" -S -E "{FAKES / one}" "{folder}"' for one in ("kubectl.py", "flux.py"))
    for command, words in (("kubectl", f"{kubectl} kubectl"), ("flux", flux)):
        (folder / "bin" / command).write_text(f'#!/bin/sh\n{words} "$@"\n')
        (folder / "bin" / command).chmod(0o755)
    apps: list[App] = []

    async def make(scheduler: str, **bounds: float) -> Desk:
        site = Site.model_validate(
            {
                "name": "local", "scheduler": scheduler, "work_root": str(tmp_path / "site"), "settle_window_s": 3,
                "paths": {"namespace": "team", "image": "busybox"} if scheduler == "kubernetes" else {},
                "charges": Charges(currency="none", per_core_hour=0, per_gpu_hour=0),
                "min_poll_interval_s": 0.1, "max_poll_interval_s": 60.0, **bounds,
            }
        )  # fmt: skip
        sites = FakeSites(None, Fleet(sites=(site,)))
        sites.folder = folder
        settings = settings_of(database, tmp_path)
        apps.append(App(settings, open_checkpoints(settings), sites, f"{holder_name()}-{len(apps)}"))
        service = apps[-1].service
        service.ends = [each for each in service.ends if isinstance(each, SiteStreams)]  # as for a site elsewhere
        return Desk(apps[-1], folder)

    yield make
    for app in apps:
        await app.aclose()
