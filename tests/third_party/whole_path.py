"""The whole path of a dialect that is installed beside Dragoman; run by `test_third_party`, where it is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from dragoman.attempt import Attempt, attempt_tag
from dragoman.errors import BadRequest, NotSettled
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.kleene import Truth
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.shape import Shape
from dragoman.site import Site
from graph.reading.read import read_request
from providers.fleet import load_fleet
from providers.registry import dialects
from providers.schedulers.client import SchedulerClient
from providers.script_reading import read_any_script
from providers.transports.local import LocalTransport

COMMANDS = Path(__file__).parent / "pjm_commands.py"


@pytest.fixture
def client(tmp_path: Path) -> SchedulerClient:
    (tmp_path / "bin").mkdir()
    for name in ("pjsub", "pjstat", "pjdel"):
        file = tmp_path / "bin" / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{COMMANDS}" "{tmp_path}" {name} "$@"\n')
        file.chmod(0o755)
    site = Site(name="here", scheduler="pjm", work_root=str(tmp_path / "work"), settle_window_s=1)
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.defpath}", "HOME": str(tmp_path)}
    return SchedulerClient(dialects.get("pjm")(), LocalTransport(environment), site)


async def submitted(client: SchedulerClient, root: Path, body: str, **fields: object) -> JobRef | str:
    """The job, or the scheduler's words where it refused."""
    tag = attempt_tag(str(root), body, 0)
    control = f"{root}/work/{tag}"
    given = {"shape": Shape(nodes=1, tasks=2), "walltime_s": 60, **fields}
    spec = JobSpec.model_validate(
        {"tag": tag, "control_dir": control, "work_dir": f"{control}/work", "body": body, **given}
    )
    attempt = Attempt(tag=tag, thread_id="t", step="dispatch", number=0, site="here", scheduler="pjm", spec=spec,
                      intended_at=now())  # fmt: skip
    await client.prepare(spec.control_dir, spec.work_dir)
    with anyio.fail_after(20):
        while True:
            try:
                record = await client.submit(attempt)
            except NotSettled:
                await anyio.sleep(0.2)
                continue
            return record.job or str(record.answer)


async def ended(client: SchedulerClient, ref: JobRef) -> JobStatus:
    with anyio.fail_after(20):
        while True:
            status = (await client.status([ref])).jobs.get(ref.job_id)
            if status is not None and status.state.final:
                return status
            await anyio.sleep(0.1)


@pytest.mark.parametrize(
    ("body", "state", "code"), [("true\n", JobState.COMPLETED, 0), ("exit 3\n", JobState.FAILED, 3)]
)
async def test_a_job_runs_and_its_end_comes_back(
    client: SchedulerClient, tmp_path: Path, body: str, state: JobState, code: int
) -> None:
    ref = await submitted(client, tmp_path, body)
    assert isinstance(ref, JobRef)
    status = await ended(client, ref)
    assert (status.state, status.exit_code) == (state, code)


async def test_a_job_is_cancelled(client: SchedulerClient, tmp_path: Path) -> None:
    ref = await submitted(client, tmp_path, f"touch '{tmp_path}/begun'\nsleep 60\n")
    assert isinstance(ref, JobRef)
    with anyio.fail_after(20):
        while not (tmp_path / "begun").exists():  # noqa: ASYNC110  # the job is another process
            await anyio.sleep(0.1)
    assert (await client.cancel(ref)).outcome is Outcome.OK
    assert (await ended(client, ref)).state is JobState.CANCELLED


async def test_a_refusal_is_told_in_its_words(client: SchedulerClient, tmp_path: Path) -> None:
    assert "rscgrp nosuch does not exist" in str(await submitted(client, tmp_path, "true\n", queue="nosuch"))


async def test_its_queues_and_nodes_are_told(client: SchedulerClient) -> None:
    answer = await client.workload()
    assert answer.value is not None
    queues = [(queue.name, queue.usable, queue.nodes_idle) for queue in answer.value.queues or ()]
    assert queues == [("small", Truth.YES, 12), ("large", Truth.NO, 0)]
    assert [group.cpus_per_node for group in answer.value.groups or ()] == [48, 48]


def test_a_site_may_name_it(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("sites:\n  - name: fugaku\n    scheduler: pjm\n    transport: {kind: local}\n")
    assert [site.scheduler for site in load_fleet(file).sites] == ["pjm"]


def test_its_scripts_are_known_by_their_directives() -> None:
    reading = read_any_script(
        '#!/bin/bash\n#PJM -L "node=4,elapse=01:00:00"\n#PJM -g proj\n#PJM --mpi proc=16\n./app\n'
    )
    request = reading.request
    assert (request.script_dialect, request.shape, request.walltime_s, request.account, reading.problems) == (
        "pjm", Shape(nodes=4, tasks=16), 3600, "proj", (),
    )  # fmt: skip
    wrong = read_any_script("#!/bin/sh\n#PJM -L node=x\n./app\n").problems
    assert wrong == ("line 2: node 'x' is no number (write a whole number from 1)",)


def test_a_request_may_be_one_of_its_scripts() -> None:
    script = '#PJM -L "node=2,elapse=00:05:00"\necho $PJM_JOBID\n'
    for given in (script, f"please run this:\n```\n{script}```"):
        reading = read_request(given, now=now(), script_reader=read_any_script)
        assert (reading.request.script_dialect, reading.request.shape.nodes, reading.unread) == ("pjm", 2, ())


def test_what_it_has_no_row_for_is_refused() -> None:
    spec = JobSpec(tag="dgm-0123456789ab-a0", shape=Shape(cpus=3), work_dir="/w/w", control_dir="/w", body="x\n")
    with pytest.raises(BadRequest, match="no equivalent of cpus"):
        dialects.get("pjm")().render(spec)
