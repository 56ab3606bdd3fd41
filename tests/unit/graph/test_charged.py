"""What a job is charged for, and what that says of its budget."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import Gpu, NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import Budget, JobRequest
from dragoman.shape import Gpus, Shape
from dragoman.site import Charges, Site
from graph.verdict.evaluate import evaluate

Make = Callable[..., Observation]
SITE = Site(
    name="there",
    scheduler="slurm",
    charges=Charges(currency="USD", per_core_hour=1, per_gpu_hour=10, watts_per_node=500),
)


@pytest.fixture
def judge(observed: Make, at: datetime) -> Callable[..., Proposal]:
    def make(*shapes: Shape, components: bool = False, node: dict[str, Any] | None = None, **more: Any) -> Proposal:
        group = NodeGroup.model_validate(
            {"nodes": 4, "nodes_idle": 4, "cpus_per_node": 16, "gpus": (Gpu(count=2, free=2),), **(node or {})}
        )
        queue = Queue(
            name="q", usable=Truth.YES, max_walltime_s=86400, exclusive_nodes=more.pop("exclusive_nodes", Truth.NO)
        )
        told = Workload(
            scheduler="slurm", queues=(queue,), groups=(group,), whole_nodes_only=more.pop("whole", Truth.NO)
        )
        fields = {"walltime_s": 3600, "components" if components else "shapes": shapes, **more}
        request = JobRequest.model_validate(fields)
        return evaluate(request, SITE, [observed("workload/slurm", "resources", told)], at, 0)

    return make


@pytest.mark.parametrize(
    ("fields", "shape", "cost"),
    [
        ({}, Shape(nodes=2), 2),
        ({"whole": Truth.YES}, Shape(nodes=2), 2 * 16 + 2 * 2 * 10),
        ({"exclusive_nodes": Truth.YES}, Shape(tasks=3), 16 + 2 * 10),
        ({"whole": Truth.YES}, Shape(nodes=1, gpus=Gpus(count=1, per="node")), 16 + 2 * 10),
        ({}, Shape(nodes=2, exclusive=True), 2 * 16 + 2 * 2 * 10),
        ({"whole": Truth.YES, "node": {"threads_per_core": 2, "cpus_per_node": 32, "cores_per_node": 16, "gpus": ()}},
         Shape(nodes=2), 2 * 16),
        ({"whole": Truth.YES, "node": {"gpus": None}}, Shape(nodes=2), None),
    ],
    ids=["shared", "whole nodes", "a queue of whole nodes", "one of two GPUs", "alone", "threads", "GPUs not told"],
)  # fmt: skip
def test_whole_nodes_are_paid_for_as_whole_nodes(
    judge: Any, fields: dict[str, Any], shape: Shape, cost: float | None
) -> None:
    assert judge(shape, **fields).cost.amount == cost


@pytest.mark.parametrize(
    ("amount", "verdict"), [(31, Verdict.INCOMPATIBLE), (71, Verdict.INCOMPATIBLE), (72, Verdict.READY)]
)
def test_a_budget_bears_what_is_charged(judge: Any, amount: float, verdict: Verdict) -> None:
    told = judge(Shape(nodes=2), whole=Truth.YES, budget=Budget(amount=amount, unit="USD"))
    assert told.verdict is verdict


def test_what_it_takes_is_not_known(judge: Any) -> None:
    told = judge(Shape(nodes=1), whole=Truth.YES, node={"gpus": None}, budget=Budget(amount=1000, unit="USD"))
    assert (told.verdict, told.cost.basis) == (Verdict.UNKNOWN, "how many GPUs it takes is not known")


def test_all_parts_of_a_job_are_charged(judge: Any) -> None:
    told = judge(Shape(tasks=4, nodes=1), Shape(nodes=2, gpus=Gpus(count=1, per="node")), components=True)
    assert (told.cost.amount, told.energy_kwh) == (4 + 2 + 2 * 10, 1.5)
    hours = judge(Shape(nodes=1), Shape(nodes=2), components=True, budget=Budget(amount=2, unit="node-hours"))
    assert hours.verdict is Verdict.INCOMPATIBLE
