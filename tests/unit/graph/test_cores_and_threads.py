"""A request for cores is held against cores, whatever the scheduler counts (case PH10 and variants)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from typing import Any

import pytest

from dragoman.facts import NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import JobRequest
from dragoman.shape import Memory, Shape
from dragoman.site import Charges, Site
from graph.job_spec import job_spec
from graph.reading.read import read_request
from graph.verdict.cpus import as_counted, in_cpus
from graph.verdict.evaluate import evaluate

SITE = Site(name="there", scheduler="slurm", charges=Charges(currency="USD", per_core_hour=1))
THREADS = NodeGroup(
    nodes=4, nodes_idle=4, cpus_per_node=256, cores_per_node=128, threads_per_core=2, largest_free_cpus=256
)
CORES = THREADS.model_copy(update={"cpus_per_node": 128, "largest_free_cpus": 128})
UNTOLD = NodeGroup(nodes=4, nodes_idle=4, cpus_per_node=256, largest_free_cpus=256)

Judge = Callable[..., Proposal]


@pytest.fixture
def judge(observed: Callable[..., Observation], at: datetime) -> Judge:
    def make(shape: Shape, group: NodeGroup = THREADS, dialect: str | None = None, **limits: Any) -> Proposal:
        queue = Queue(name="batch", usable=Truth.YES, default=True, **limits)
        workload = Workload(scheduler="slurm", queues=(queue,), groups=(group,))
        request = JobRequest(shapes=(shape,), walltime_s=3600, script_dialect=dialect)
        return evaluate(request, SITE, [observed("workload/slurm", "resources", workload)], at, 0)

    return make


def one_node(cpus: int, **more: Any) -> Shape:
    return Shape(nodes=1, cpus_per_task=cpus, **more)


@pytest.mark.parametrize(
    ("shape", "group", "fits"),
    [
        (one_node(128), THREADS, True),
        (one_node(256), THREADS, False),
        (one_node(129), THREADS, False),
        (one_node(256, cpus_are="threads"), THREADS, True),
        (one_node(257, cpus_are="threads"), THREADS, False),
        (one_node(256, cpus_are="threads"), CORES, True),
        (one_node(256), CORES, False),
        (one_node(256), UNTOLD, True),
        (Shape(nodes=1, tasks=128), THREADS, True),
        (Shape(nodes=1, tasks=256), THREADS, False),
        (Shape(nodes=1, cpus_per_node=192), THREADS, False),
    ],
)
def test_what_one_node_holds(judge: Judge, shape: Shape, group: NodeGroup, fits: bool) -> None:
    assert judge(shape, group).verdict is (Verdict.READY if fits else Verdict.INCOMPATIBLE)


def test_the_words_tell_both(judge: Judge) -> None:
    assert judge(one_node(256)).reasons == (
        "queue batch: 128 cores a node (256 hardware threads), asked 256",
    )  # fmt: skip
    assert "256 hardware threads a node, asked 257" in judge(one_node(257, cpus_are="threads")).reasons[0]


def test_cores_without_nodes_are_spread_over_as_many_as_they_need(judge: Judge) -> None:
    proposal = judge(Shape(cpus=512))
    assert proposal.verdict is Verdict.READY
    assert judge(Shape(cpus=513)).verdict is Verdict.INCOMPATIBLE
    assert judge(Shape(cpus=1024, cpus_are="threads")).verdict is Verdict.READY


def test_a_script_of_this_scheduler_counts_as_it_does(judge: Judge) -> None:
    assert judge(one_node(256), dialect="slurm").verdict is Verdict.READY
    assert judge(one_node(256), dialect="pbs").verdict is Verdict.INCOMPATIBLE


def test_limits_are_in_what_the_scheduler_counts(judge: Judge) -> None:
    assert judge(one_node(64), max_cpus_per_node=128).verdict is Verdict.READY
    refused = judge(one_node(65), max_cpus_per_node=128)
    assert (refused.verdict, "at most 128 CPUs a node, asked 130" in refused.reasons[0]) == (
        Verdict.INCOMPATIBLE, True,
    )  # fmt: skip
    assert judge(one_node(65), max_cpus_per_job=128).verdict is Verdict.INCOMPATIBLE


@pytest.mark.parametrize(
    ("shape", "dialect", "cost"),
    [
        (one_node(64), None, 64),
        (one_node(128), "slurm", 64),
        (one_node(128, cpus_are="threads"), None, 64),
    ],
)
def test_core_hours_are_of_cores(judge: Judge, shape: Shape, dialect: str | None, cost: float) -> None:
    assert judge(shape, dialect=dialect).cost.amount == cost


@pytest.mark.parametrize(
    ("shape", "group", "asked"),
    [
        (one_node(64), THREADS, {"cpus_per_task": 128}),
        (Shape(nodes=1, tasks=64), THREADS, {"tasks": 64, "cpus_per_task": 2}),
        (one_node(64, cpus_are="threads"), THREADS, {"cpus_per_task": 64}),
        (one_node(65, cpus_are="threads"), CORES, {"cpus_per_task": 33}),
        (one_node(64), CORES, {"cpus_per_task": 64}),
        (one_node(64), UNTOLD, {"cpus_per_task": 64}),
        (one_node(4, memory=Memory(bytes=2**30, per="cpu")), THREADS,
         {"cpus_per_task": 8, "memory": Memory(bytes=2**29, per="cpu")}),
    ],
)  # fmt: skip
def test_the_scheduler_is_asked_for_what_makes_so_many_cores(
    judge: Judge, shape: Shape, group: NodeGroup, asked: dict[str, object]
) -> None:
    proposal = judge(shape, group)
    request = JobRequest(command=("true",), shapes=(shape,), walltime_s=3600)
    spec = job_spec(request, SITE, proposal, tag="dgm-aaaaaaaaaaaa-a1", control_dir="/w/a", work_dir="/w/a/work")
    assert {name: getattr(spec.shape, name) for name in asked} == asked
    stated = {variable.name: variable.value for variable in spec.environment}
    told = str(shape.cpus_per_task) if shape.cpus_per_task else None
    assert stated.get("DRAGOMAN_CPUS_PER_TASK") == told


def test_free_cpus_are_counted_alike() -> None:
    part = THREADS.model_copy(update={"largest_free_cpus": 7, "cpus_free": 21})
    counted = as_counted(part, "cores")
    assert (counted.largest_free_cpus, counted.cpus_free) == (3, 10)


def test_nothing_stated_stays_so() -> None:
    assert in_cpus(Shape(nodes=2), Fraction(2)) == Shape(nodes=2)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("lammps on 1 node with 256 hardware threads, 1 hour", Shape(nodes=1, cpus=256, cpus_are="threads")),
        ("2 nodes, 256 hardware threads per node, 2 hours", Shape(nodes=2, cpus_per_node=256, cpus_are="threads")),
        ("8 tasks with 4 OpenMP threads each on 1 node, 1 hour", Shape(nodes=1, tasks=8, cpus_per_task=4)),
    ],
)
def test_threads_are_asked_in_words(words: str, asked: Shape, at: datetime) -> None:
    reading = read_request(words, now=at)
    assert (reading.request.shapes, reading.questions) == ((asked,), ())
