"""A job spec through the dialect, a transport and the queue, as the dispatcher does it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.request import EnvironmentVariable
from dragoman.shape import Memory, Shape

TAG = "dgm-abcdefghijkl-a1"


@pytest.fixture
def spec_of(tmp_path: Path) -> Callable[..., JobSpec]:
    def build(body: str, **rest: Any) -> JobSpec:
        control = tmp_path / TAG
        (control / "work dir").mkdir(parents=True, exist_ok=True)
        return JobSpec(
            tag=TAG,
            shape=Shape(tasks=1, memory=Memory(bytes=2**30, per="job")),
            walltime_s=60,
            work_dir=str(control / "work dir"),
            control_dir=str(control),
            body=body,
            **rest,
        )

    return build


async def dispatch(queue: Any, spec: JobSpec) -> JobRef:
    path = f"{spec.control_dir}/script"
    await queue.transport.write_file(path, queue.dialect.render(spec).encode())
    answer = queue.dialect.parse_submit(await queue.transport.run(queue.dialect.submit_command(spec, path)))
    assert answer.job is not None
    assert answer.job.tag == TAG
    ref: JobRef = answer.job
    return ref


async def end_of(queue: Any, ref: JobRef) -> JobStatus:
    with anyio.fail_after(20):
        while True:
            [command] = queue.dialect.status_commands([ref])
            answers = queue.dialect.parse_status(await queue.transport.run(command), [ref])
            status: JobStatus = answers.jobs[ref.job_id]
            if status.state.final:
                return status
            await anyio.sleep(0.05)


@pytest.mark.parametrize(("body", "state", "code"), [("exit 0", JobState.COMPLETED, 0), ("exit 3", JobState.FAILED, 3)])
async def test_from_spec_to_recorded_end(
    queue: Any, spec_of: Callable[..., JobSpec], body: str, state: JobState, code: int
) -> None:
    given = (EnvironmentVariable(name="ODD", value="a 'b'\n$HOME"),)
    spec = spec_of(f'printf %s "$ODD"; pwd >&2; {body}\n', environment=given)
    ref = await dispatch(queue, spec)
    assert await dispatch(queue, spec) == ref
    status = await end_of(queue, ref)
    assert (status.state, status.exit_code, status.restarts) == (state, code, 0)
    assert await queue.transport.read_file(f"{spec.work_dir}/stdout.log") == b"a 'b'\n$HOME"
    assert await queue.transport.read_file(f"{spec.work_dir}/stderr.log") == f"{spec.work_dir}\n".encode()
    record = (await queue.transport.read_file(f"{spec.control_dir}/exit")).decode().splitlines()
    assert f"rc {code}" in record
    assert f"job {ref.job_id}" in record
    [command] = queue.dialect.find_commands(TAG, now())
    assert queue.dialect.parse_find(await queue.transport.run(command), TAG).value == ref


async def test_killed_supervisor_after_the_scripts_own_record_is_no_loss(
    queue: Any, spec_of: Callable[..., JobSpec]
) -> None:
    spec = spec_of("exit 6\n")
    script = queue.dialect.render(spec).replace('exit "$dgm_rc"', "sleep 300")
    assert "sleep 300" in script
    await queue.transport.write_file(f"{spec.control_dir}/script", script.encode())
    done = await queue.transport.run(queue.dialect.submit_command(spec, f"{spec.control_dir}/script"))
    ref = queue.dialect.parse_submit(done).job
    await queue.until(ref.job_id, "completing")
    supervisor = (await queue.job(ref.job_id))["supervisor"][0]
    import os
    import signal

    os.kill(supervisor, signal.SIGKILL)
    status = await end_of(queue, ref)
    assert (status.state, status.exit_code) == (JobState.FAILED, 6)


async def test_cancel_through_the_dialect(queue: Any, spec_of: Callable[..., JobSpec]) -> None:
    ref = await dispatch(queue, spec_of("sleep 300\n"))
    done = await queue.transport.run(queue.dialect.cancel_command(ref))
    assert queue.dialect.parse_cancel(done).outcome is Outcome.OK
    status = await end_of(queue, ref)
    assert (status.state, status.cancelled_by) == (JobState.CANCELLED, "owner")
    absent = await queue.transport.run(queue.dialect.cancel_command(JobRef(job_id="99")))
    assert queue.dialect.parse_cancel(absent).outcome is Outcome.ABSENT


async def test_workload_and_estimate_of_the_real_queue(queue: Any, spec_of: Callable[..., JobSpec]) -> None:
    done = await queue.transport.run_many(queue.dialect.workload_commands())
    workload = queue.dialect.parse_workload(done).value
    assert workload.groups[0].cpus_per_node == 8
    estimate = queue.dialect.estimate_command(spec_of("true"), "")
    assert queue.dialect.parse_estimate(await queue.transport.run(estimate), now()).value.now.value == "yes"
