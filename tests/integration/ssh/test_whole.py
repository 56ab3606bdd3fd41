"""What runs at the site at hand runs unchanged over each transport: probes, attempts, whole jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dragoman.attempt import Attempt, AttemptState
from dragoman.command import Command
from dragoman.job import JobState
from dragoman.model import now
from dragoman.observation import Answer, Outcome
from dragoman.site import Site
from providers.attempts import Attempts
from providers.probed import Question, ask_many, probe_all
from providers.registry import probes
from providers.schedulers.client import SchedulerClient
from providers.schedulers.machine import PYTHON_OPTIONS, Machine, runner_bytes, runner_digest
from providers.site_runtime import open_site
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

if TYPE_CHECKING:
    from pathlib import Path

    from providers.transports.remote import RemoteTransport
    from tests.integration.ssh.conftest import Sshd

pytestmark = pytest.mark.anyio


async def test_every_probe_finds_the_same_as_at_the_site_at_hand(there: RemoteTransport, sshd: Sshd) -> None:
    every = [make() for _, make in probes.items()]
    counted = sshd.count_sessions()
    over = await probe_all(there, every)
    trips = counted()
    path = (await there.run(Command(("/bin/sh", "-c", 'printf %s "$PATH"')))).out
    here = await probe_all(LocalTransport({"PATH": path, "HOME": str(sshd.home)}), every)
    assert {name: answer.outcome for name, answer in over.items()} == {
        name: answer.outcome for name, answer in here.items()
    }
    assert trips <= 6, "probes share round trips"
    questions = [
        Question(
            probe, verb.name, PackageQuery(name="no-such") if verb.verb.arguments is PackageQuery else NoArguments()
        )
        for probe in every
        for verb in probe.verbs
    ]
    for question, answer in zip(questions, await ask_many(there, questions), strict=True):
        assert answer.outcome is not Outcome.UNKNOWN or answer.reason, question


async def test_a_probe_that_hangs_holds_no_other_up(there: RemoteTransport, sshd: Sshd, tmp_path: Path) -> None:
    """One program that hangs for each slow and quick kind: all else is told long before, further rounds included."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("docker", "nvidia-smi", "spack", "ibstat"):
        (folder / name).write_text("#!/bin/sh\nsleep 60\n")
        (folder / name).chmod(0o755)
    (sshd.home / ".profile").write_text(f"PATH={folder}:$PATH; export PATH\n")
    sshd.login_shell("/bin/sh")
    every = [make() for _, make in probes.items()]
    questions = [
        Question(one, verb.name, PackageQuery(name="gcc") if verb.verb.arguments is PackageQuery else NoArguments())
        for one in every for verb in one.verbs
    ]  # fmt: skip
    hanging = {"container/docker", "hardware/nvidia", "software/spack"}
    hanging |= {"network/infiniband", "network/omni-path", "network/roce"}  # all three ask ibstat
    told: dict[int, Answer[Any]] = {}
    with anyio.move_on_after(7):
        await ask_many(there, questions, told=lambda place, answer: told.update({place: answer}))
    silent = {question.probe.id for place, question in enumerate(questions) if place not in told}
    assert silent == hanging
    with anyio.fail_after(30):
        answers = await ask_many(there, [each for each in questions if each.probe.id == "container/docker"])
    assert [(each.outcome, "no end within" in each.reason) for each in answers] == [(Outcome.UNKNOWN, True)] * 2


async def test_an_attempt_is_submitted_once(there: RemoteTransport, sshd: Sshd) -> None:
    attempts = Attempts(there)
    control = f"{sshd.home}/dgm-0123456789ab-a1"
    await attempts.prepare(control, f"{control}/work")
    script = f"#!/bin/sh\n# 'é' $(id)\necho x >>{sshd.home}/submitted; echo Submitted batch job 1\n"
    submit = Command(("/bin/sh", f"{control}/script"))
    looks = []
    for _ in range(2):
        looks.append(await attempts.submit(sshd.job_spec(control), script, submit))
    assert [claimed for _, claimed in looks] == [True, False]
    assert looks[1][0].answers[1].out.strip() == "Submitted batch job 1"
    assert (sshd.home / "submitted").read_text() == "x\n"
    assert (await attempts.look([control]))[control].claims == looks[0][0].claims


async def test_a_whole_job_runs_in_the_queue_of_the_other_host(there: RemoteTransport, sshd: Sshd) -> None:
    program = f"{sshd.home}/.dragoman/machine-{runner_digest()}.pyz"
    await there.write_file(program, runner_bytes())
    dialect = Machine(program=("python3", *PYTHON_OPTIONS, program), state=f"{sshd.home}/queue")
    site = Site(name="there", scheduler="machine", work_root=f"{sshd.home}/work")
    client = SchedulerClient(dialect, there, site)
    control = await client.control_dir("dgm-0123456789ab-a1")
    await client.prepare(control, f"{control}/work")
    spec = sshd.job_spec(control).model_copy(update={"body": "echo done >result; exit 3"})
    attempt = Attempt(
        thread_id="t", step="dispatcher", number=1, tag=spec.tag, site="there", scheduler="machine", spec=spec,
        intended_at=now(),
    )  # fmt: skip
    record = await client.submit(attempt)
    assert record.state is AttemptState.SUBMITTED
    assert record.job is not None
    assert (await client.submit(attempt)).job == record.job
    with anyio.fail_after(60):
        while not (status := (await client.status([record.job])).jobs[record.job.job_id]).state.final:  # noqa: ASYNC110
            await anyio.sleep(0.5)
    assert (status.state, status.exit_code) == (JobState.FAILED, 3)
    assert await there.read_file(f"{control}/work/result") == b"done\n"
    assert (await client.workload()).outcome is Outcome.OK


async def test_a_site_of_the_fleet_is_opened_with_it(sshd: Sshd, kind: str) -> None:
    site = Site(name="there", scheduler="slurm", transport=sshd.config(kind))
    runtime = open_site(site)
    assert runtime.identity == f"{sshd.user}@127.0.0.1:{sshd.port}"
    assert runtime.transport is not None
    assert not runtime.transport.local
    assert "local" not in runtime.movers


@pytest.mark.parametrize("work_root", ["work root", None])
async def test_a_machine_at_another_host_is_used_without_preparing_it(
    sshd: Sshd, there: RemoteTransport, kind: str, work_root: str | None
) -> None:
    """The program is carried there once, by its content, and again where somebody deleted it."""
    folder = f"{sshd.home}/{work_root or '.dragoman'}"
    site = Site(
        name="there", scheduler="machine", transport=sshd.config(kind), work_root=folder if work_root else None,
        settle_window_s=3,
    )  # fmt: skip
    runtime = open_site(site, transport=there)
    counted = sshd.count_sessions()
    assert (await runtime.observe("workload/machine", "resources")).outcome is Outcome.OK
    assert counted() <= 6
    carried = anyio.Path(folder, f"{runner_digest()}.pyz")
    assert await carried.read_bytes() == runner_bytes()
    client = runtime.scheduler
    assert isinstance(client, SchedulerClient)
    control = await client.control_dir("dgm-0123456789ac-a1")
    await client.prepare(control, f"{control}/work")
    spec = sshd.job_spec(control).model_copy(update={"body": "echo done >result"})
    attempt = Attempt(
        thread_id="t", step="dispatcher", number=1, tag=spec.tag, site="there", scheduler="machine", spec=spec,
        intended_at=now(),
    )  # fmt: skip
    record = await client.submit(attempt)
    assert record.state is AttemptState.SUBMITTED, record.answer
    assert record.job is not None
    with anyio.fail_after(60):
        while not (status := (await client.status([record.job])).jobs[record.job.job_id]).state.final:  # noqa: ASYNC110
            await anyio.sleep(0.5)
    assert status.state is JobState.COMPLETED
    await carried.unlink()
    assert (await client.workload(0)).outcome is Outcome.UNKNOWN
    assert (await client.workload(0)).outcome is Outcome.OK
