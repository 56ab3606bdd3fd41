"""PBS, Torque and Flux as programs in a folder, spoken to by the real client over the local transport."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from dragoman.attempt import Attempt, AttemptRecord, attempt_tag
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.model import now
from dragoman.shape import Shape
from dragoman.site import Site
from providers.registry import dialects
from providers.schedulers.client import SchedulerClient
from providers.transports.local import LocalTransport

FAKES = Path(__file__).parents[2] / "fakes"
PROGRAMS = {
    "pbs": ("pbs.py", "openpbs", ["qsub", "qstat", "qselect", "qdel", "qhold", "qrls", "pbsnodes"]),
    "torque": ("pbs.py", "torque", ["qsub", "qstat", "qselect", "qdel", "qhold", "qrls", "pbsnodes"]),
    "flux": ("flux.py", "", ["flux"]),
}


class World:
    """One site with one scheduler."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.root = root
        self.state = root / "scheduler"
        (self.state / "faults").mkdir(parents=True)
        program, flavour, commands = PROGRAMS[name]
        bin_ = root / "bin"
        bin_.mkdir()
        for command in commands:
            words = f"{sys.executable} {FAKES / program} {self.state}"
            words += f" {flavour} {command}" if flavour else ""
            (bin_ / command).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (bin_ / command).chmod(0o755)
        self.path = f"{bin_}:/usr/local/bin:/usr/bin:/bin"
        self.site = Site(name="here", scheduler=name, work_root=str(root / "work"), settle_window_s=1)
        self.numbers = iter(range(100))

    def client(self, *, grace_s: float = 300) -> SchedulerClient:
        transport = LocalTransport({"PATH": self.path, "HOME": str(self.root), "LANG": "C.UTF-8"})
        return SchedulerClient(dialects.get(self.name)(), transport, self.site, grace_s=grace_s)

    def fault(self, name: str) -> None:
        (self.state / "faults" / name).touch()

    def no_fault(self, name: str) -> None:
        (self.state / "faults" / name).unlink()

    def jobs(self) -> int:
        return len(list((self.state / "jobs").glob("*.script")))

    def attempt(self, body: str, **fields: object) -> Attempt:
        number = next(self.numbers)
        tag = attempt_tag("thread", "dispatch", number)
        control = f"{self.site.work_root}/{tag}"
        spec = JobSpec.model_validate(
            {
                "tag": tag, "name": "a job", "shape": Shape(tasks=1), "control_dir": control,
                "work_dir": f"{control}/work", "body": body, "walltime_s": 60, **fields,
            }
        )  # fmt: skip
        return Attempt(tag=tag, thread_id="thread", step="dispatch", number=number, site="here", scheduler=self.name,
                       spec=spec, intended_at=now())  # fmt: skip

    async def submit(self, body: str, **fields: object) -> AttemptRecord:
        attempt = self.attempt(body, **fields)
        client = self.client()
        await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
        return await client.submit(attempt)

    async def until(
        self, ref: JobRef, wanted: Callable[[JobStatus], bool], client: SchedulerClient | None = None
    ) -> JobStatus:
        client = client or self.client()
        end = time.monotonic() + 20
        status = None
        while time.monotonic() < end:
            status = (await client.status([ref])).jobs.get(ref.job_id)
            if status is not None and wanted(status):
                return status
            await anyio.sleep(0.1)
        raise AssertionError(f"it did not come true in time: {status}")

    async def ended(self, ref: JobRef) -> JobStatus:
        return await self.until(ref, lambda status: status.state.final)

    async def running(self, ref: JobRef) -> JobStatus:
        return await self.until(ref, lambda status: status.state is JobState.RUNNING)


@pytest.fixture(params=sorted(PROGRAMS))
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path, request.param)
    yield made
    # Nothing that a test left running outlives it.
    client = made.client()
    found = await client.ours()
    for status in (found.jobs if found is not None else {}).values():
        await client.cancel(status.ref)
