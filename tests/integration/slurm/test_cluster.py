"""The throw-away Slurm itself: an ordinary account submits, watches, cancels, and the faults are real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]


async def submit(slurm: Slurm, *options: str) -> str:
    rc, out, err = await slurm.run("sbatch", "--parsable", *options)
    assert rc == 0, err
    assert out.strip().isdigit(), out
    return out.strip()


async def until(slurm: Slurm, wanted: str, *command: str) -> None:
    seen = ""
    with anyio.move_on_after(25):
        while wanted not in seen.split():
            seen = (await slurm.run(*command))[1]
            await anyio.sleep(0.3)
    assert wanted in seen.split()


async def test_a_job_runs_as_the_ordinary_account_and_is_in_the_accounts(slurm: Slurm) -> None:
    job = await submit(slurm, "--output=smoke.out", "--wrap=id -un; exit 3")
    await until(slurm, "FAILED|3:0", "sacct", "-nXP", "-j", job, "-o", "State,ExitCode")
    assert slurm.user != "root"
    assert (await anyio.Path(slurm.work_dir / "smoke.out").read_text()).strip() == slurm.user


async def test_a_running_job_is_cancelled(slurm: Slurm) -> None:
    job = await submit(slurm, "--wrap=sleep 300")
    await until(slurm, "RUNNING", "squeue", "-h", "-j", job, "-o", "%T")
    assert (await slurm.run("scancel", job))[0] == 0
    await until(slurm, "CANCELLED", "sacct", "-nXP", "-j", job, "-o", "State")


async def test_a_lost_answer_leaves_a_job_and_only_as_often_as_asked(slurm: Slurm) -> None:
    await slurm.submit_filter("lost-answer", times=1)
    rc, out, err = await slurm.run("sbatch", "--job-name=lost1", "--wrap=sleep 300")
    assert (rc, out) == (1, "")
    assert "Socket timed out on send/recv operation" in err
    await until(slurm, "lost1", "squeue", "-h", "--me", "-o", "%j")
    await submit(slurm, "--wrap=true")


async def test_a_lost_request_leaves_none(slurm: Slurm) -> None:
    await slurm.submit_filter("lost-request")
    assert (await slurm.run("sbatch", "--job-name=lost2", "--wrap=sleep 300"))[0] == 1
    assert "lost2" not in (await slurm.run("squeue", "-h", "--me", "-o", "%j"))[1]


@pytest.mark.campaign
async def test_a_stopped_controller_is_an_error_and_comes_back_with_its_jobs(slurm: Slurm) -> None:
    job = await submit(slurm, "--wrap=sleep 300")
    await slurm.ctld_stop()
    assert (await slurm.run("squeue", "-h"))[0] == 1
    await slurm.ctld_start()
    await until(slurm, job, "squeue", "-h", "-o", "%i")


@pytest.mark.campaign
async def test_a_lost_node_ends_or_requeues_its_job(slurm: Slurm) -> None:
    job = await submit(slurm, "--no-requeue", "-p", "gpu", "-w", "gpu02", "--gres=gpu:a100:1", "--wrap=sleep 300")
    await until(slurm, "RUNNING", "squeue", "-h", "-j", job, "-o", "%T")
    await slurm.node_fail("gpu02")
    await until(slurm, "NODE_FAIL", "sacct", "-nXP", "-j", job, "-o", "State")


async def test_limits_of_partitions_are_enforced_only_when_asked(slurm: Slurm) -> None:
    await submit(slurm, "-p", "small", "--time=60", "--wrap=true")
    await slurm.variant(enforce="ALL")
    try:
        rc, _, err = await slurm.run("sbatch", "-p", "small", "--time=60", "--wrap=true")
    finally:
        await slurm.variant()
    assert rc != 0
    assert "time limit" in err
