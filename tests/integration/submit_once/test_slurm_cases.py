"""Doubtful submits and vanishing jobs as Slurm's users met them, through the whole client."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.attempt import Attempt, AttemptRecord, AttemptState, attempt_tag
from dragoman.errors import NotSettled
from dragoman.job import JobRef, JobSpec, JobState
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.shape import Shape
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.slurm import SlurmDialect
from providers.transports.local import LocalTransport

STUB = Path(__file__).with_name("slurm_stub.py")
TIMED_OUT = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n"
CONTROLLER = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
QUEUE_TIMED_OUT = "slurm_load_jobs error: Socket timed out on send/recv operation\n"
DBD = (
    "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:dbd:6819: "
    "Connection refused\n"
)


class Cluster:
    """Slurm's commands with answers to order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "bin").mkdir()
        for program in ("sbatch", "squeue", "sacct", "scancel"):
            file = root / "bin" / program
            file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{STUB}" "{root}" {program} "$@"\n')
            file.chmod(0o755)

    def answers(self, program: str, *answers: dict[str, Any]) -> None:
        (self.root / f"{program}.json").write_text(json.dumps(answers))

    def calls(self, program: str) -> list[str]:
        file = self.root / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if line.startswith(program)]

    def client(self, **options: Any) -> SchedulerClient:
        environment = {"PATH": f"{self.root / 'bin'}:{os.defpath}", "HOME": str(self.root)}
        site = Site(name="here", scheduler="slurm", work_root=str(self.root / "work"), settle_window_s=1)
        return SchedulerClient(SlurmDialect(), LocalTransport(environment), site, **options)

    def attempt(self, number: int = 0) -> Attempt:
        tag = attempt_tag("thread", "dispatch", number)
        control = f"{self.root}/work/{tag}"
        spec = JobSpec(
            tag=tag, shape=Shape(nodes=1), control_dir=control, work_dir=f"{control}/work", body="true", walltime_s=60
        )
        return Attempt(
            tag=tag, thread_id="thread", step="dispatch", number=number, site="here", scheduler="slurm", spec=spec,
            intended_at=now(),
        )  # fmt: skip


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


async def settled(cluster: Cluster, attempt: Attempt) -> AttemptRecord:
    with anyio.fail_after(20):
        while True:
            try:
                return await cluster.client().submit(attempt)
            except NotSettled:
                await anyio.sleep(0.3)


# Stderr is not failure


@pytest.mark.parametrize(
    ("out", "err", "job_id"),
    [
        (
            "Submitted batch job 3146028\n",
            "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n",
            "3146028",
        ),
        ("17\n", "sbatch: Warning: can't run 1 processes on 2 nodes, setting nnodes to 1\n", "17"),
        ("== Welcome ==\n8\n", "sbatch: error: Socket timed out on send/recv operation\n", "8"),
    ],
)
async def test_exit_code_0_and_an_id_is_a_job(cluster: Cluster, out: str, err: str, job_id: str) -> None:
    cluster.answers("sbatch", {"out": out, "err": err})
    attempt = cluster.attempt()
    record = await cluster.client().submit(attempt)
    assert (record.state, record.job) == (AttemptState.SUBMITTED, JobRef(job_id=job_id, tag=attempt.tag))
    assert (await cluster.client().submit(attempt)).job == record.job
    assert len(cluster.calls("sbatch")) == 1


# Duplicate submit after a time-out


@pytest.mark.parametrize(
    ("err", "where"),
    [
        (TIMED_OUT, "squeue"),
        ("sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received\n", "squeue"),
        (TIMED_OUT, "sacct"),
    ],
)
async def test_taken_in_spite_of_the_time_out(cluster: Cluster, err: str, where: str) -> None:
    cluster.answers("sbatch", {"rc": 1, "err": err, "takes": "812"})
    cluster.answers(where, {"jobs": [{"id": "812", "state": "PENDING"}]})
    attempt = cluster.attempt()
    record = await cluster.client().submit(attempt)
    assert (record.state, record.job, record.adopted) == (
        AttemptState.SUBMITTED,
        JobRef(job_id="812", tag=attempt.tag),
        True,
    )
    assert len(cluster.calls("sbatch")) == 1


async def test_not_taken_is_repeated_once_after_the_window(cluster: Cluster) -> None:
    cluster.answers("sbatch", {"rc": 1, "err": TIMED_OUT}, {"out": "813\n", "takes": "813"})
    attempt = cluster.attempt()
    began = anyio.current_time()
    record = await settled(cluster, attempt)
    assert anyio.current_time() - began > 1
    assert (record.state, record.job) == (AttemptState.SUBMITTED, JobRef(job_id="813", tag=attempt.tag))
    assert len(cluster.calls("sbatch")) == 2
    # Each look-up of the window went to queue and accounting.
    assert len(cluster.calls("squeue")) >= 2
    assert len(cluster.calls("sacct")) >= 2


@pytest.mark.parametrize(("program", "err"), [("squeue", CONTROLLER), ("sacct", DBD), ("squeue", QUEUE_TIMED_OUT)])
async def test_not_repeated_while_a_look_up_fails(cluster: Cluster, program: str, err: str) -> None:
    cluster.answers("sbatch", {"rc": 1, "err": TIMED_OUT})
    cluster.answers(program, {"rc": 1, "err": err})
    attempt = cluster.attempt()
    with pytest.raises(NotSettled):
        await cluster.client().submit(attempt)
    await anyio.sleep(2.1)
    with pytest.raises(NotSettled):
        await cluster.client().submit(attempt)
    assert len(cluster.calls("sbatch")) == 1


# An old or wrapped sbatch


@pytest.mark.parametrize(
    "err",
    [
        "sbatch: unrecognized option '--parsable'\n",
        "sbatch: unrecognized option '--parsable'\nTry \"sbatch --help\" for more information\n",
        "site wrapper v2\nsbatch: error: unknown option: --parsable\n",
    ],
)
async def test_parsable_is_left_out_once_and_that_is_remembered(cluster: Cluster, err: str) -> None:
    cluster.answers(
        "sbatch",
        {"rc": 1, "err": err},
        {"out": "Submitted batch job 41\n", "takes": "41"},
        {"out": "Submitted batch job 42\n", "takes": "42"},
    )
    client = cluster.client()
    first = await client.submit(cluster.attempt(0))
    second = await client.submit(cluster.attempt(1))
    assert [record.job and record.job.job_id for record in (first, second)] == ["41", "42"]
    assert ["--parsable" in line for line in cluster.calls("sbatch")] == [True, False, False]


# A replayed step


@pytest.mark.parametrize("number", [0, 1, 7])
async def test_killed_after_sbatch_and_before_the_checkpoint(cluster: Cluster, number: int) -> None:
    """What the process knew is gone; the folder knows it."""
    cluster.answers("sbatch", {"out": "812\n", "takes": "812"}, {"out": "999\n", "takes": "999"})
    attempt = cluster.attempt(number)
    await cluster.client().submit(attempt)
    intended = AttemptRecord(attempt=attempt)
    again = await cluster.client().reconcile(intended)
    assert (again.state, again.job) == (AttemptState.SUBMITTED, JobRef(job_id="812", tag=attempt.tag))
    assert len(cluster.calls("sbatch")) == 1


# Not reachable is not lost


@pytest.mark.parametrize("err", [QUEUE_TIMED_OUT, CONTROLLER])
async def test_a_controller_that_does_not_answer_shows_nothing(cluster: Cluster, err: str) -> None:
    cluster.answers("squeue", {"rc": 1, "err": err})
    client = cluster.client(grace_s=0)
    for _ in range(2):
        answers = await client.status([JobRef(job_id="812")])
        assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
        assert err.strip() in answers.trouble
    assert cluster.calls("sacct") == []


async def test_an_accounting_that_does_not_answer_shows_nothing(cluster: Cluster) -> None:
    cluster.answers("sacct", {"rc": 1, "err": DBD})
    client = cluster.client(grace_s=0)
    for _ in range(2):
        answers = await client.status([JobRef(job_id="812")])
        assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
        assert "Connection refused" in answers.trouble


# Gone from the queue


async def test_just_submitted_and_seen_nowhere_then_pending(cluster: Cluster) -> None:
    cluster.answers("sacct", {}, {"jobs": [{"id": "900", "state": "PENDING"}]})
    client = cluster.client()
    ref = JobRef(job_id="900")
    first = await client.status([ref])
    assert (dict(first.jobs), first.absent, first.trouble) == ({}, frozenset(), "")
    assert (await client.status([ref])).jobs["900"].state is JobState.PENDING


async def test_just_ended_and_seen_nowhere_then_ended(cluster: Cluster) -> None:
    cluster.answers("squeue", {"jobs": [{"id": "900", "state": "RUNNING"}]}, {})
    cluster.answers("sacct", {}, {"jobs": [{"id": "900", "state": "FAILED", "exit": "3:0"}]})
    client = cluster.client()
    ref = JobRef(job_id="900")
    assert (await client.status([ref])).jobs["900"].state is JobState.RUNNING
    assert dict((await client.status([ref])).jobs) == {}
    told = (await client.status([ref])).jobs["900"]
    assert (told.state, told.exit_code) == (JobState.FAILED, 3)


async def test_seen_nowhere_for_longer_than_its_grace_it_is_absent_and_not_ended(cluster: Cluster) -> None:
    client = cluster.client(grace_s=0.2)
    ref = JobRef(job_id="900")
    assert (await client.status([ref])).absent == frozenset()
    await anyio.sleep(0.25)
    answers = await client.status([ref])
    assert (dict(answers.jobs), answers.absent) == ({}, frozenset({"900"}))


# Cancelling


@pytest.mark.parametrize(
    ("err", "outcome"),
    [("", Outcome.OK), ("scancel: error: Kill job error on job id 812: Invalid job id specified\n", Outcome.ABSENT)],
)
async def test_cancelled_while_in_doubt_the_job_is_found_and_cancelled(
    cluster: Cluster, err: str, outcome: Outcome
) -> None:
    cluster.answers("sbatch", {"rc": 1, "err": TIMED_OUT, "takes": "812"})
    cluster.answers("squeue", {"rc": 1, "err": CONTROLLER}, {"jobs": [{"id": "812", "state": "PENDING"}]})
    cluster.answers("scancel", {"rc": 1 if err else 0, "err": err})
    attempt = cluster.attempt()
    with pytest.raises(NotSettled):
        await cluster.client().submit(attempt)
    record = await cluster.client().abandon(attempt, "ann")
    assert (record.state, record.job) == (AttemptState.SUBMITTED, JobRef(job_id="812", tag=attempt.tag))
    assert record.job is not None
    assert (await cluster.client().cancel(record.job)).outcome is outcome
    assert [line.split()[-1] for line in cluster.calls("scancel")] == ["812"]
