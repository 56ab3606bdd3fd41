"""What is free now is not what is there: shapes held against hand-made nodes that are partly busy."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import ArrayRange, ArraySpec, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from dragoman.site import Site, TransportConfig
from graph.secretary import ask_secretary
from graph.verdict.demand import gpu_kind_fits
from graph.verdict.evaluate import evaluate
from graph.verdict.gpu_models import model_fits
from providers.site_runtime import open_site
from providers.translation.translate import dialect_named

GIB = 2**30
SITE = Site(name="there", scheduler="slurm")
Judge = Callable[..., Proposal]


@pytest.fixture
def judge(observed: Callable[..., Observation], at: datetime) -> Judge:
    """Holds a request against groups of nodes behind one queue."""

    def judged(request: JobRequest | Shape, *groups: NodeGroup, queue: Any = None, **fields: Any) -> Proposal:
        asked = JobRequest(shapes=(request,)) if isinstance(request, Shape) else request
        one = Queue(name="batch", usable=Truth.YES, default=True, **(queue or {}))
        workload = Workload(scheduler="slurm", queues=(one,), groups=groups, **fields)
        return evaluate(asked, SITE, [observed("workload/slurm", "resources", workload)], at, 0)

    return judged


def nodes(count: int, idle: int | None, **more: Any) -> NodeGroup:
    return NodeGroup.model_validate({"nodes": count, "nodes_idle": idle, "cpus_per_node": 32, **more})


def several(*components: Shape) -> JobRequest:
    return JobRequest(components=components)


@pytest.mark.parametrize(
    ("components", "verdict", "start"),
    [
        ((Shape(nodes=6), Shape(nodes=6)), Verdict.INCOMPATIBLE, Truth.NO),
        ((Shape(nodes=5), Shape(nodes=5)), Verdict.BUSY, Truth.NO),
        ((Shape(nodes=4), Shape(nodes=4)), Verdict.READY, Truth.YES),
        ((Shape(nodes=4), Shape(nodes=4), Shape(nodes=1)), Verdict.BUSY, Truth.UNKNOWN),
        ((Shape(nodes=4), Shape(nodes=4), Shape(nodes=3)), Verdict.INCOMPATIBLE, Truth.NO),
        ((Shape(tasks=192), Shape(tasks=192)), Verdict.INCOMPATIBLE, Truth.NO),
        ((Shape(tasks=160), Shape(tasks=144)), Verdict.BUSY, Truth.NO),
        ((Shape(tasks=1), Shape(nodes=7)), Verdict.READY, Truth.YES),
    ],
)
def test_components_are_needed_at_once(
    components: tuple[Shape, ...], verdict: Verdict, start: Truth, judge: Judge
) -> None:
    proposal = judge(several(*components), nodes(10, 8, largest_free_cpus=32))
    assert (proposal.verdict, proposal.start.now) == (verdict, start)


def test_components_say_what_is_there_for_them_together(judge: Judge) -> None:
    six = several(Shape(nodes=6), Shape(nodes=6))
    assert judge(six, nodes(10, 8)).reasons == ("queue batch: 10 nodes for its components together, asked 12 at once",)
    five = several(Shape(nodes=5), Shape(nodes=5))
    assert judge(five, nodes(10, 8)).reasons == ("fits queue batch, not free now (8 nodes free, asked 10 at once)",)


def test_each_component_takes_nodes_that_can_hold_it(judge: Judge) -> None:
    big = nodes(3, 3, cpus_per_node=64)
    small = nodes(4, 4)
    wide = Shape(nodes=2, cpus_per_node=64)
    assert judge(several(Shape(nodes=5), wide), big, small).verdict is Verdict.READY
    assert judge(several(wide, Shape(nodes=5)), big, small).verdict is Verdict.READY
    assert judge(several(Shape(nodes=6), wide), big, small).verdict is Verdict.INCOMPATIBLE
    assert judge(several(wide, wide), big, small).verdict is Verdict.INCOMPATIBLE
    idle = big.model_copy(update={"nodes_idle": 1})
    assert judge(several(Shape(nodes=4), wide), idle, small).verdict is Verdict.BUSY


def test_components_that_state_no_nodes_may_share_one(judge: Judge) -> None:
    small = several(Shape(tasks=4), Shape(tasks=8))
    assert judge(small, nodes(1, 1)).verdict is Verdict.UNKNOWN
    assert judge(small, nodes(1, 1), whole_nodes_only=Truth.YES).verdict is Verdict.INCOMPATIBLE
    assert judge(several(Shape(tasks=20), Shape(tasks=20)), nodes(1, 1)).verdict is Verdict.INCOMPATIBLE
    cards = Gpu(model="a100", count=4, free=4)
    six = several(*(Shape(tasks=1, gpus=Gpus(count=3, per="job")) for _ in range(2)))
    assert judge(six, nodes(1, 1, gpus=(cards,))).verdict is Verdict.INCOMPATIBLE


@pytest.mark.parametrize(
    ("dialect", "script"),
    [
        ("slurm", "#!/bin/bash\n#SBATCH -N {0}\n#SBATCH hetjob\n#SBATCH -N {1}\nsrun ./a\n"),
        ("pbs", "#!/bin/bash\n#PBS -l select={0}:ncpus=8:mem=4gb+{1}:ncpus=16\n#PBS -l place=scatter\n./a\n"),
    ],
)
@pytest.mark.parametrize(
    ("counts", "verdict"), [((6, 7), Verdict.INCOMPATIBLE), ((4, 6), Verdict.BUSY), ((3, 5), Verdict.READY)]
)
def test_components_of_a_script_are_needed_at_once(
    dialect: str, script: str, counts: tuple[int, int], verdict: Verdict, judge: Judge
) -> None:
    request = dialect_named(dialect).read_script(script.format(*counts)).request
    assert len(request.components) == 2
    assert judge(request, nodes(10, 8, memory_bytes_per_node=64 * GIB)).verdict is verdict


def test_an_unknown_number_of_nodes_holds_no_components_for_sure(judge: Judge) -> None:
    proposal = judge(several(Shape(nodes=2), Shape(nodes=2)), nodes(4, 4).model_copy(update={"nodes": None}))
    assert proposal.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("asked", "told", "same"),
    [
        ("A100", "NVIDIA A100-SXM4-80GB", Truth.YES),
        ("a100", "a100_80g", Truth.YES),
        ("a100", "nvidia_a100", Truth.YES),
        ("a100", "NVIDIA A100 80GB PCIe", Truth.YES),
        ("h100", "NVIDIA H100 NVL", Truth.YES),
        ("h100", "nvidia_h100_80gb_hbm3", Truth.YES),
        ("v100", "Tesla V100-SXM2-32GB", Truth.YES),
        ("v100", "NVIDIATeslaV100", Truth.YES),
        ("teslav100", "Tesla V100-PCIE-16GB", Truth.YES),
        ("mi250x", "AMD Instinct MI250X", Truth.YES),
        ("RTX A6000", "NVIDIA RTX A6000", Truth.YES),
        ("a6000", "NVIDIA RTX A6000", Truth.YES),
        ("rtxa6000", "RTX_A6000", Truth.YES),
        ("rtx3090", "NVIDIA GeForce RTX 3090", Truth.YES),
        ("3090", "GeForceRTX3090", Truth.YES),
        ("l40s", "NVIDIA L40S", Truth.YES),
        ("gh200", "NVIDIA GH200 480GB", Truth.YES),
        ("a100-80gb", "NVIDIA A100-SXM4-80GB", Truth.YES),
        ("A10", "NVIDIA A100-SXM4-80GB", Truth.NO),
        ("h20", "NVIDIA H200", Truth.NO),
        ("h200", "NVIDIA GH200 480GB", Truth.NO),
        ("l4", "NVIDIA L40S", Truth.NO),
        ("l40", "NVIDIA L40S", Truth.NO),
        ("v100", "Tesla V100S-PCIE-32GB", Truth.NO),
        ("mi250", "AMD Instinct MI250X", Truth.NO),
        ("a10", "NVIDIA A10G", Truth.NO),
        ("t4", "NVIDIA T400", Truth.NO),
        ("rtx 6000", "NVIDIA RTX A6000", Truth.NO),
        ("rtx 6000", "NVIDIA RTX 6000 Ada Generation", Truth.NO),
        ("rtx 3090", "NVIDIA GeForce RTX 3090 Ti", Truth.NO),
        ("a100", "a100_1g.5gb", Truth.NO),
        ("a100", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", Truth.NO),
        ("1g.5gb", "a100_1g.5gb", Truth.YES),
        ("a100_3g.20gb", "nvidia_a100_3g.20gb", Truth.YES),
        ("a100-80gb", "NVIDIA A100-SXM4-40GB", Truth.NO),
        ("a100-sxm4", "NVIDIA A100 80GB PCIe", Truth.NO),
        ("a100-80gb", "nvidia_a100", Truth.UNKNOWN),
        ("rtx 3090 ti", "rtx3090", Truth.UNKNOWN),
        ("a100", "gpu", Truth.UNKNOWN),
        ("a100", "NVIDIA A100X-whatever A100", Truth.UNKNOWN),
        ("nvidia", "nvidia_a100", Truth.YES),
        ("amd", "nvidia_a100", Truth.NO),
    ],
)
def test_a_model_is_a_whole_word(asked: str, told: str, same: Truth) -> None:
    assert model_fits(asked, told) is same


def test_a_card_of_another_model_is_not_the_one_asked_for(judge: Judge) -> None:
    shape = Shape(nodes=1, gpus=Gpus(count=2, per="node", model="a10"))
    a100 = Gpu(model="NVIDIA A100-SXM4-80GB", count=4, free=16)
    assert judge(shape, nodes(4, 4, gpus=(a100,))).verdict is Verdict.INCOMPATIBLE
    a10 = a100.model_copy(update={"model": "NVIDIA A10"})
    assert judge(shape, nodes(4, 4, gpus=(a10,))).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("asked", "told", "fits"),
    [
        (48 * GIB, 44 * GIB, Truth.NO),
        (48 * GIB, 46068 * 2**20, Truth.YES),
        (80 * GIB, 81559 * 2**20, Truth.YES),
        (12 * GIB, 11441 * 2**20, Truth.YES),
        (80 * GIB, 72 * GIB, Truth.NO),
        (40 * GIB, None, Truth.UNKNOWN),
    ],
)
def test_memory_of_a_card_is_what_it_is_sold_with(asked: int, told: int | None, fits: Truth) -> None:
    assert gpu_kind_fits(Gpu(memory_bytes=told), Gpus(count=1, per="job", memory_bytes=asked)) is fits


def kinds(a100: int | None, v100: int | None) -> tuple[Gpu, ...]:
    return (Gpu(model="a100", count=4, free=a100), Gpu(model="v100", count=4, free=v100))


@pytest.mark.parametrize(
    ("gpus", "start"),
    [
        (kinds(0, 4), Truth.NO),
        (kinds(1, 3), Truth.NO),
        (kinds(None, 4), Truth.UNKNOWN),
        (kinds(2, 0), Truth.YES),
        ((Gpu(count=4, free=4), Gpu(model="a100", count=4, free=0)), Truth.UNKNOWN),
    ],
)
def test_free_gpus_of_another_kind_do_not_count(gpus: tuple[Gpu, ...], start: Truth, judge: Judge) -> None:
    shape = Shape(tasks=1, gpus=Gpus(count=2, per="job", model="a100"))
    proposal = judge(shape, nodes(1, 0, largest_free_cpus=16, gpus=gpus))
    assert proposal.start.now is start
    assert proposal.verdict is (Verdict.READY if start is Truth.YES else Verdict.BUSY)


@pytest.mark.parametrize(
    ("count", "asked", "free", "start"),
    [
        (4, 4, 4, Truth.UNKNOWN),
        (4, 1, 4, Truth.UNKNOWN),
        (4, 4, 3, Truth.NO),
        (4, 1, 13, Truth.YES),  # no node can be without one
        (4, 1, 12, Truth.UNKNOWN),
        (1, 4, 4, Truth.YES),
    ],
)
def test_gpus_that_are_free_over_many_nodes_are_not_on_one(
    count: int, asked: int, free: int, start: Truth, judge: Judge
) -> None:
    shape = Shape(nodes=1, gpus=Gpus(count=asked, per="node"))
    cards = Gpu(model="a100", count=4, free=free)
    proposal = judge(shape, nodes(count, 0, largest_free_cpus=16, gpus=(cards,)))
    assert proposal.start.now is start
    assert proposal.verdict is (Verdict.READY if start is Truth.YES else Verdict.BUSY)


def test_idle_nodes_have_their_gpus_free_unless_they_are_told_not_to_be(judge: Judge) -> None:
    shape = Shape(nodes=2, gpus=Gpus(count=4, per="node"))
    for free, verdict in ((None, Verdict.READY), (8, Verdict.READY), (7, Verdict.BUSY), (0, Verdict.BUSY)):
        cards = Gpu(model="a100", count=4, free=free)
        assert judge(shape, nodes(4, 2, gpus=(cards,))).verdict is verdict


@pytest.mark.parametrize(("free", "start"), [(None, Truth.UNKNOWN), (127 * GIB, Truth.NO), (128 * GIB, Truth.YES)])
def test_free_memory_that_is_not_told_is_unknown(free: int | None, start: Truth, judge: Judge) -> None:
    shape = Shape(tasks=4, memory=Memory(bytes=128 * GIB, per="node"))
    busy = nodes(1, 0, largest_free_cpus=16, memory_bytes_per_node=256 * GIB, memory_free_bytes=free)
    proposal = judge(shape, busy)
    assert proposal.start.now is start
    assert proposal.verdict is (Verdict.READY if start is Truth.YES else Verdict.BUSY)


def big(count: int, idle: int, **more: Any) -> NodeGroup:
    return nodes(count, idle, cpus_per_node=64, memory_bytes_per_node=512 * GIB, **more)


def share(cpus: int, gib: int | None, *gpus: int | None, count: int = 1) -> FreeShare:
    return FreeShare(nodes=count, cpus=cpus, memory_bytes=None if gib is None else gib * GIB, gpus=gpus)


ASKED = Shape(nodes=1, cpus_per_node=60, memory=Memory(bytes=400 * GIB, per="node"))


@pytest.mark.parametrize(
    ("count", "told", "start"),
    [
        (8, {}, Truth.UNKNOWN),
        (2, {}, Truth.UNKNOWN),
        (1, {}, Truth.YES),  # no other node
        (2, {"cpus_free": 124}, Truth.YES),  # no node can be without so many CPUs
        (2, {"cpus_free": 123}, Truth.UNKNOWN),
        (8, {"largest_free_cpus": 59}, Truth.NO),
        (8, {"memory_free_bytes": 399 * GIB}, Truth.NO),
    ],
)
def test_the_most_cpus_and_the_most_memory_may_be_free_on_different_nodes(
    count: int, told: dict[str, Any], start: Truth, judge: Judge
) -> None:
    group = big(count, 0, **{"largest_free_cpus": 60, "memory_free_bytes": 400 * GIB, **told})
    proposal = judge(ASKED, group)
    assert proposal.start.now is start
    assert proposal.verdict is (Verdict.READY if start is Truth.YES else Verdict.BUSY)
    assert judge(Shape(nodes=1, cpus_per_node=59), group).start.now is Truth.YES


@pytest.mark.parametrize(
    ("shares", "start"),
    [
        ((share(60, 100), share(4, 400)), Truth.NO),
        ((share(63, 399), share(59, 512)), Truth.NO),
        ((share(60, 400), share(0, 0)), Truth.YES),
        ((share(64, 512), share(0, 0)), Truth.YES),
        ((share(60, None), share(4, 400)), Truth.UNKNOWN),
        ((share(60, 100),), Truth.UNKNOWN),  # what the other node has free is not told
    ],
)
def test_what_is_told_node_by_node_counts_on_one_node(
    shares: tuple[FreeShare, ...], start: Truth, judge: Judge
) -> None:
    most = {"largest_free_cpus": 64, "memory_free_bytes": 512 * GIB}
    proposal = judge(ASKED, big(2, 0, free_shares=shares, **most))
    assert proposal.start.now is start
    assert proposal.verdict is (Verdict.READY if start is Truth.YES else Verdict.BUSY)


A100 = (Gpu(model="a100", count=4, free=8), Gpu(model="v100", count=4, free=8))


@pytest.mark.parametrize(
    ("shares", "start"),
    [
        ((share(32, 300, 4, 0, count=3), share(0, 0, 0, 4)), Truth.YES),
        ((share(32, 300, 4, 0, count=2), share(64, 512, 4, 4), share(0, 0, 0, 0)), Truth.YES),
        ((share(32, 300, 4, 0, count=2), share(64, 512, 0, 4, count=2)), Truth.NO),  # of another kind
        ((share(32, 300, 4, 0, count=2), share(64, 100, 4, 4, count=2)), Truth.NO),
        ((share(32, 300, 4, 0, count=2), share(16, 512, 4, 4, count=2)), Truth.NO),
        ((share(32, 300, 4, 0, count=2), share(64, 512, None, 4, count=2)), Truth.UNKNOWN),
    ],
)
def test_several_nodes_need_cpus_memory_and_gpus_on_each(
    shares: tuple[FreeShare, ...], start: Truth, judge: Judge
) -> None:
    shape = Shape(
        nodes=3, cpus_per_node=32, memory=Memory(bytes=256 * GIB, per="node"),
        gpus=Gpus(count=4, per="node", model="a100"),
    )  # fmt: skip
    busy = big(4, 0, largest_free_cpus=64, memory_free_bytes=512 * GIB, gpus=A100, free_shares=shares)
    assert judge(shape, busy).start.now is start
    whole = judge(shape, busy, whole_nodes_only=Truth.YES)
    assert whole.verdict is Verdict.BUSY


def test_a_node_is_idle_for_a_job_only_with_all_that_it_takes(judge: Judge) -> None:
    """Two fixed slots of one machine (HTCondor), or an idle node whose GPUs are lost."""
    slots = big(1, 1, largest_free_cpus=32, free_shares=(share(32, 256, count=2),))
    assert judge(Shape(nodes=1, cpus_per_node=64), slots).verdict is Verdict.BUSY
    assert judge(Shape(nodes=1, cpus_per_node=32), slots).verdict is Verdict.READY
    lost = big(2, 1, gpus=(Gpu(count=4, free=4),), free_shares=(share(64, 512, 0), share(0, 0, 4)))
    assert judge(Shape(nodes=1, gpus=Gpus(count=4, per="node")), lost).verdict is Verdict.BUSY
    assert judge(Shape(nodes=1, cpus_per_node=64), lost).verdict is Verdict.READY


def test_threads_and_cores_of_a_share_are_counted_alike(judge: Judge) -> None:
    both = big(2, 0, cores_per_node=32, largest_free_cpus=60, memory_free_bytes=400 * GIB,
               free_shares=(share(60, 400), share(0, 0)))  # fmt: skip
    for cores, verdict in ((30, Verdict.READY), (31, Verdict.BUSY)):
        shape = Shape(nodes=1, cpus_per_node=cores, memory=Memory(bytes=400 * GIB, per="node"))
        assert judge(shape, both).verdict is verdict


@pytest.mark.parametrize(("idle", "verdict"), [(0, Verdict.BUSY), (1, Verdict.READY)])
def test_a_free_node_that_the_queue_does_not_call_idle_does_not_count(
    idle: int, verdict: Verdict, judge: Judge
) -> None:
    free = big(2, 1, free_shares=(share(64, 512), share(0, 0)))
    assert judge(ASKED, free, queue={"nodes_idle": idle}).verdict is verdict


@pytest.mark.parametrize(
    ("queue", "fields", "verdict"),
    [
        ({}, {}, Verdict.READY),
        ({"exclusive_nodes": Truth.NO}, {"whole_nodes_only": Truth.NO}, Verdict.READY),
        ({}, {"whole_nodes_only": Truth.YES}, Verdict.BUSY),
        ({"exclusive_nodes": Truth.YES}, {}, Verdict.BUSY),
    ],
)
def test_whole_nodes_are_not_free_in_part(
    queue: dict[str, Any], fields: dict[str, Any], verdict: Verdict, judge: Judge
) -> None:
    busy = nodes(4, 0, largest_free_cpus=16)
    assert judge(Shape(tasks=4), busy, queue=queue, **fields).verdict is verdict
    assert judge(Shape(tasks=4), nodes(4, 1), queue=queue, **fields).verdict is Verdict.READY


@pytest.mark.parametrize(
    ("told", "verdict"), [(0, Verdict.BUSY), (1, Verdict.BUSY), (2, Verdict.READY), (9, Verdict.READY)]
)
def test_where_queue_and_nodes_contradict_each_other_fewer_are_idle(told: int, verdict: Verdict, judge: Judge) -> None:
    proposal = judge(Shape(nodes=2), nodes(8, 8, largest_free_cpus=32), queue={"nodes_idle": told})
    assert proposal.verdict is verdict
    one = judge(Shape(tasks=4), nodes(8, 8, largest_free_cpus=32), queue={"nodes_idle": told})
    assert one.verdict is (Verdict.READY if told else Verdict.BUSY)
    untold = judge(Shape(nodes=2), nodes(8, None), queue={"nodes_idle": told})
    assert untold.verdict is Verdict.BUSY


def test_nodes_that_are_called_idle_have_to_be_up_and_have_their_cores_free(judge: Judge) -> None:
    assert judge(Shape(nodes=2), nodes(8, 8, nodes_up=1)).verdict is Verdict.BUSY
    assert judge(Shape(nodes=2, cpus_per_node=32), nodes(8, 8, largest_free_cpus=16)).verdict is Verdict.BUSY


def test_an_array_is_ready_where_its_first_tasks_start_now(judge: Judge) -> None:
    many = JobRequest(shapes=(Shape(nodes=1),), array=ArraySpec(ranges=(ArrayRange(first=1, last=1000),)))
    assert judge(many, nodes(10, 8)).verdict is Verdict.READY
    assert judge(many, nodes(10, 0)).verdict is Verdict.BUSY


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("request_", "groups"),
    [
        (several(Shape(nodes=5), Shape(nodes=5)), [{"nodes": 10, "nodes_idle": 8}]),
        (
            JobRequest(shapes=(Shape(nodes=2, gpus=Gpus(count=1, per="node", model="a100")),)),
            [{"nodes": 9, "nodes_idle": 8}, {"nodes": 4, "nodes_idle": 0, "gpus": [{"model": "a100", "count": 4}]}],
        ),
    ],
)
async def test_a_simulated_scheduler_knows_no_better_than_what_it_told(
    request_: JobRequest, groups: list[dict[str, Any]]
) -> None:
    workload: dict[str, Any] = {
        "scheduler": "slurm",
        "queues": [{"name": "batch", "usable": "yes", "default": True}],
        "groups": [{"queues": ["batch"], "cpus_per_node": 32, **group} for group in groups],
    }
    site = Site(name="s", scheduler="slurm", transport=TransportConfig(kind="none"), simulated={"workload": workload})
    told = (await ask_secretary(open_site(site), request_, round_=0, timeout_s=10))[0]
    assert (told.verdict, told.start.now) == (Verdict.BUSY, Truth.NO)


def test_a_job_that_lies_on_fewer_of_the_larger_nodes_needs_no_more_of_them(judge: Judge) -> None:
    large, small = nodes(10, 4, cpus_per_node=128), nodes(10, 10)
    assert judge(Shape(tasks=1280), large, small).verdict is Verdict.BUSY
    assert judge(Shape(tasks=512), small, large).verdict is Verdict.READY
    assert judge(Shape(tasks=320), large.model_copy(update={"nodes_idle": 0}), small).verdict is Verdict.READY
    assert judge(Shape(tasks=1920), large, small).verdict is Verdict.INCOMPATIBLE
    assert judge(several(Shape(tasks=1280), Shape(nodes=11)), large, small).verdict is Verdict.UNKNOWN
    assert judge(several(Shape(tasks=1280), Shape(nodes=10)), large, small).verdict is Verdict.BUSY
    assert judge(several(Shape(tasks=512), Shape(nodes=10)), large, small).verdict is Verdict.READY
    assert judge(several(Shape(tasks=512), Shape(nodes=11)), small, large).verdict is Verdict.BUSY
