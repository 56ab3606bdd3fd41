"""What the client does beside submitting: folders, secrets, estimates, holding, one snapshot of the site for all."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.attempt import AttemptState
from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import Queue, Workload
from dragoman.job import JobRef, JobSpec
from dragoman.observation import Answer, Outcome
from dragoman.proposal import StartEstimate
from dragoman.request import ArrayRange, ArraySpec, EnvironmentVariable
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.transports.local import LocalTransport

World = Any


async def test_without_a_work_root_attempts_lie_in_the_home_at_the_site(world: World) -> None:
    client = SchedulerClient(world.dialect, LocalTransport(world.environment), Site(name="here", scheduler="fakesched"))
    assert await client.control_dir("dgm-0123456789ab-a0") == f"{world.root}/.dragoman/dgm-0123456789ab-a0"


async def test_an_attempts_folder_is_its_owners_only(world: World) -> None:
    attempt = world.attempt()
    for _ in range(2):
        await world.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    folder = world.work_root / attempt.tag
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "work").is_dir()


async def test_secrets_reach_the_job_and_no_script(world: World) -> None:
    attempt = world.attempt(body=f"printf '%s' \"$TOKEN\" >'{world.ran}'")
    variables = (EnvironmentVariable(name="TOKEN", secret="hub"),)
    attempt = attempt.model_copy(update={"spec": attempt.spec.model_copy(update={"environment": variables})})
    client = world.client()
    await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    with pytest.raises(BadRequest, match="no secret 'hub'"):
        await client.submit(attempt)
    assert world.submits() == 0
    assert (await client.submit(attempt, {"hub": "s3cret"})).state is AttemptState.SUBMITTED
    file = Path(attempt.spec.control_dir) / "secrets/TOKEN"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    world.run_jobs()
    assert world.ran.read_text() == "s3cret"
    holding = [path for path in world.root.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]
    assert sorted(holding) == sorted([file, world.ran])
    await client.attempts.forget_secrets(attempt.spec.control_dir)
    assert not file.exists()


async def test_jobs_are_looked_up_by_their_tags(world: World) -> None:
    attempt = world.attempt()
    client = world.client()
    assert (await client.find(attempt.tag)).outcome is Outcome.ABSENT
    await client.submit(attempt)
    assert (await client.find(attempt.tag)).value == JobRef(job_id="1", tag=attempt.tag)
    world.fault("history-down")
    assert (await client.find("dgm-000000000000-a0")).outcome is Outcome.UNKNOWN
    assert await client.ours() is None


async def test_what_a_scheduler_cannot_do_is_said(world: World) -> None:
    held = await world.client().hold(JobRef(job_id="1"))
    assert (held.outcome, held.reason) == (Outcome.ABSENT, "fakesched cannot hold jobs")
    assert (await world.client().estimate(world.attempt().spec)).outcome is Outcome.UNKNOWN


async def test_an_estimate_leaves_nothing_behind_and_submits_nothing(world: World) -> None:
    def command(spec: JobSpec, script_path: str) -> Command:
        return Command(("sh", "-c", 'wc -c <"$1"; cat', "x", script_path), stdin=world.dialect.render(spec).encode())

    def parse(done: Completed, at: datetime) -> Answer[StartEstimate]:
        count, _, rest = done.out.partition("\n")
        assert int(count) == len(rest.encode())
        return Answer[StartEstimate].ok(StartEstimate(expected_s=float(count), made_at=at))

    world.dialect.estimate_command = command
    world.dialect.parse_estimate = parse
    spec = world.attempt().spec
    told = await world.client().estimate(spec)
    assert told.value is not None
    assert told.value.expected_s == len(world.dialect.render(spec).encode())
    assert [path for path in world.work_root.rglob("*") if path.is_file()] == []
    assert world.submits() == 0


async def test_many_who_ask_about_the_site_share_one_question(world: World) -> None:
    asked = world.root / "asked"

    def parse(done: Sequence[Completed | Exception]) -> Answer[Workload]:
        return Answer[Workload].ok(Workload(scheduler="fakesched", queues=(Queue(name="batch"),)))

    world.dialect.workload_commands = lambda: [Command(("sh", "-c", f"sleep 0.1; echo x >>'{asked}'"))]
    world.dialect.parse_workload = parse
    client = world.client()
    answers: list[Answer[Workload]] = []

    async def one() -> None:
        answers.append(await client.workload())

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
    assert len(answers) == 20
    assert asked.read_text() == "x\n"
    await client.workload(max_age_s=0)
    assert asked.read_text() == "x\nx\n"


async def test_the_number_of_an_array_s_tasks_is_kept_with_its_job(world: World) -> None:
    attempt = world.attempt()
    array = ArraySpec(ranges=(ArrayRange(first=1, last=9, step=2), ArrayRange(first=20, last=21)))
    attempt = attempt.model_copy(update={"spec": attempt.spec.model_copy(update={"array": array})})
    client = world.client()
    for record in (await client.submit(attempt), await client.submit(attempt), await client.adopt(attempt, "1")):
        assert record.job == JobRef(job_id="1", tag=attempt.tag, array_size=7)
