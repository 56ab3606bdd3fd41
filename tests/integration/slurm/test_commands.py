"""Planned commands on a real Slurm: tasks are started by srun, with cores, and with every argument as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dragoman.job import JobState
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import Site
from graph.planned import line_stays
from providers.command_body import plan_body
from providers.commands.means import Means, Starter
from providers.commands.plan import plan_run

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

SHOW = (
    "import json, os, sys; open('task.' + os.environ['SLURM_PROCID'], 'w').write(json.dumps("
    "[sys.argv[1:], os.environ['SLURM_NTASKS'], os.environ['SLURM_CPUS_PER_TASK'], os.environ['OMP_NUM_THREADS']]))"
)
ARGUMENTS = ("a b", "$(touch hurt)", "-n", "line\nbreak", "ü€", "")
SITE = Site(name="cluster", scheduler="slurm")
SRUN = Means("slurm", starter=Starter("srun", words="the scheduler's own"))


async def run(place: Place, shape: Shape, **fields: Any) -> tuple[JobState, Path]:
    request = JobRequest(command=("python3", "-c", SHOW, *ARGUMENTS), shapes=(shape,), **fields)
    plan = plan_run(request, SITE, shape, SRUN, line_stays=line_stays(request, shape))
    assert plan is not None
    assert plan.before[0] == "srun"
    environment = [each.model_dump() for each in plan.environment]
    client = place.client()
    attempt = place.attempt(body=plan_body(plan), shape=shape.model_dump(), environment=environment)
    record = await place.settled(client, await place.prepared(client, attempt))
    [status] = await place.ended(client, record)
    return status.state, Path(attempt.spec.work_dir)


async def test_the_launcher_starts_every_task_with_its_cores(place: Place) -> None:
    state, folder = await run(place, Shape(nodes=1, tasks=2, cpus_per_task=1), launch="tasks")
    assert state is JobState.COMPLETED, (folder / "stderr.log").read_text()
    told = {file.name: json.loads(file.read_text()) for file in folder.glob("task.*")}
    assert told == {f"task.{n}": [list(ARGUMENTS), "2", "1", "1"] for n in range(2)}
    assert not (folder / "hurt").exists()


async def test_a_launch_line_of_ones_own(place: Place) -> None:
    line = ("srun", "-n", "2", "-c", "1", "--label")
    state, folder = await run(place, Shape(tasks=2, cpus_per_task=1), launch_line=line)
    assert state is JobState.COMPLETED, (folder / "stderr.log").read_text()
    assert {file.name for file in folder.glob("task.*")} == {"task.0", "task.1"}
