"""A simulated scheduler tells and estimates, and runs nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.errors import SubmitRefused
from dragoman.job import JobRef, JobSpec
from dragoman.kleene import Truth
from dragoman.observation import Outcome
from dragoman.shape import Gpus, Shape
from providers.schedulers.client import SchedulerClient
from providers.simulated.scheduler import SimulatedScheduler
from providers.simulated.state import SimulatedState

pytestmark = pytest.mark.anyio
AT = datetime(2026, 1, 1, tzinfo=UTC)


def scheduler(**state: Any) -> SimulatedScheduler:
    return SimulatedScheduler("slurm", "granite", SimulatedState.model_validate(state), lambda: AT)


def groups(**group: Any) -> dict[str, Any]:
    return {"scheduler": "slurm", "groups": [{"nodes": 8, "cpus_per_node": 64, **group}]}


def spec(shape: Shape, queue: str | None = None) -> JobSpec:
    return JobSpec(tag="dgm-abcdefabcdef-a1", shape=shape, work_dir="/w", control_dir="/c", body="true", queue=queue)


def attempt() -> Attempt:
    return Attempt(
        tag="dgm-abcdefabcdef-a1", thread_id="t", step="dispatcher", number=1, site="granite", scheduler="slurm",
        spec=spec(Shape()),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "group", "starts"),
    [
        (Shape(nodes=4), {"nodes_idle": 4}, Truth.YES),
        (Shape(nodes=5), {"nodes_idle": 4}, Truth.NO),
        (Shape(nodes=5), {}, None),
        (Shape(cpus=32), {"nodes_idle": 0, "largest_free_cpus": 40}, Truth.YES),
        (Shape(cpus=48), {"nodes_idle": 0, "largest_free_cpus": 40}, Truth.NO),
        (Shape(cpus=32, exclusive=True), {"nodes_idle": 0, "largest_free_cpus": 40}, Truth.NO),
        (Shape(cpus=32, gpus=Gpus(count=1, per="job")), {"nodes_idle": 0, "largest_free_cpus": 40}, Truth.NO),
        (Shape(cpus=129), {"nodes_idle": 3}, Truth.YES),
        (Shape(cpus=129), {"nodes_idle": 2}, Truth.NO),
    ],
)  # fmt: skip
async def test_now_if_it_fits_into_what_is_idle(shape: Shape, group: dict[str, Any], starts: Truth | None) -> None:
    answer = await scheduler(workload=groups(**group), wait_s=600).estimate(spec(shape))
    if starts is None:
        assert answer.outcome is Outcome.UNKNOWN
        return
    assert answer.value is not None
    assert answer.value.now is starts
    assert answer.value.expected_s == (0 if starts is Truth.YES else 600)
    assert answer.value.method == "simulated"


async def test_only_the_groups_behind_the_queue_count() -> None:
    state = groups(nodes_idle=8, queues=["gpu"])
    assert (await scheduler(workload=state).estimate(spec(Shape(nodes=1), "batch"))).outcome is Outcome.UNKNOWN
    there = await scheduler(workload=state).estimate(spec(Shape(nodes=1), "gpu"))
    assert there.value is not None
    assert there.value.now is Truth.YES


async def test_the_workload_is_of_now_absent_or_unknown_as_the_state_says() -> None:
    told = await scheduler(workload=groups()).workload()
    assert told.value is not None
    assert told.value.observed_at == AT
    assert (await scheduler().workload()).outcome is Outcome.ABSENT
    assert (await scheduler(workload=groups(), unknown=["workload"]).workload()).outcome is Outcome.UNKNOWN
    assert (await scheduler(workload=groups(), unknown=["workload/slurm"]).estimate(spec(Shape()))).outcome is (
        Outcome.UNKNOWN
    )


async def test_nothing_runs_here() -> None:
    simulated = scheduler(workload=groups())
    with pytest.raises(SubmitRefused, match="site granite is simulated: it can answer but not run work") as caught:
        await simulated.submit(attempt())
    assert caught.value.reason_class == "never"
    assert (await simulated.reconcile(AttemptRecord(attempt=attempt()))).state is AttemptState.REFUSED
    assert (await simulated.abandon(attempt())).state is AttemptState.ABANDONED
    job = JobRef(job_id="7")
    assert (await simulated.status([job])).absent == {"7"}
    for answer in (await simulated.cancel(job), await simulated.hold(job), await simulated.release(job)):
        assert answer.outcome is Outcome.ABSENT


def test_it_has_what_the_graph_calls_on_a_client() -> None:
    used = {"submit", "reconcile", "abandon", "adopt", "status", "cancel", "hold", "release", "estimate", "workload"}
    assert used <= set(dir(SimulatedScheduler)) & set(dir(SchedulerClient))
