"""Partitions, nodes and queue depth."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dragoman.command import Completed
from dragoman.errors import CommandTimeout
from dragoman.facts import Gpu
from dragoman.kleene import Truth
from dragoman.observation import Outcome
from providers.schedulers.slurm import SlurmDialect
from providers.schedulers.slurm_workload import depth_of, group_nodes, read_nodes, read_queues

GIB = 2**30


def node(name: str = "n1", state: str = "IDLE", **fields: object) -> str:
    given = {
        "CPUAlloc": 0,
        "CPUTot": 8,
        "RealMemory": 1024,
        "AllocMem": 0,
        "Gres": "(null)",
        "Partitions": "p",
        **fields,
    }
    pairs = " ".join(f"{key}={value}" for key, value in given.items() if value is not None)
    return f"NodeName={name} State={state} {pairs}\n"


def partition(name: str = "p", **fields: object) -> str:
    given = {
        "State": "UP",
        "MaxTime": "01:00:00",
        "DefaultTime": "NONE",
        "TotalNodes": 4,
        "MaxNodes": "UNLIMITED",
        **fields,
    }
    return f"PartitionName={name} " + " ".join(f"{key}={value}" for key, value in given.items()) + "\n"


@pytest.mark.parametrize(
    ("state", "up", "idle"),
    [
        ("IDLE", True, True), ("MIXED", True, False), ("ALLOCATED", True, False), ("IDLE+DRAIN", False, False),
        ("ALLOCATED+DRAIN+PLANNED", False, False), ("IDLE+PLANNED", True, False), ("DOWN*", False, False),
        ("IDLE+CLOUD+POWERED_DOWN", True, True), ("IDLE*", True, True), ("MIXED+RESERVED", False, False),
        ("IDLE+MAINTENANCE", False, False), ("UNKNOWN", False, False), ("DOWN+DRAIN+NOT_RESPONDING", False, False),
        ("IDLE+COMPLETING", True, False), ("IDLE+BLOCKED", False, False),
    ],
)  # fmt: skip
def test_node_states(state: str, up: bool, idle: bool) -> None:
    (read,) = read_nodes(node(state=state))
    assert (read.up, read.idle) == (up, idle)


def test_free_text_in_a_record_says_nothing() -> None:
    text = (
        "NodeName=worker-0 State=IDLE+DRAIN RealMemory=191356 CfgTRES=cpu=128,mem=1436G,gres/gpu=8 Partitions=p "
        "Reason=[user_problem] State=IDLE Partitions=q alloc_gpus_busy [root@2026-01-01T00:00:00]\n"
    )
    (read,) = read_nodes(text)
    assert not read.up
    assert read.partitions == ("p",)
    assert read.gpus == ((None, 8),)


def test_alike_nodes_are_one_group() -> None:
    text = (
        node("n1", "MIXED", CPUAlloc=3, AllocMem=512)
        + node("n2", "IDLE")
        + node("n3", "DOWN*", CPUAlloc=0)
        + node("n4", "IDLE+PLANNED")
        + node("big", "IDLE", CPUTot=64)
        + node("nowhere", "IDLE", Partitions=None)
    )
    small, big = group_nodes(read_nodes(text))
    assert (small.nodes, small.nodes_up, small.nodes_idle) == (4, 3, 1)
    assert (small.cpus_free, small.largest_free_cpus) == (5 + 8, 8)
    assert small.memory_free_bytes == GIB
    assert (big.nodes, big.cpus_free, big.example) == (1, 64, "big")


@pytest.mark.parametrize(
    ("fields", "gpus"),
    [
        (
            {"Gres": "gpu:a100:4(S:0-3)", "GresUsed": "gpu:a100:1(IDX:2),fs:scratch:0"},
            (Gpu(model="a100", count=4, free=3),),
        ),
        (
            {"Gres": "gpu:a100:4", "AllocTRES": "cpu=3,gres/gpu=2,gres/gpu:a100=2"},
            (Gpu(model="a100", count=4, free=2),),
        ),
        ({"Gres": "gpu:a100:4", "AllocTRES": "cpu=3,gres/gpu=2"}, (Gpu(model="a100", count=4, free=2),)),
        ({"Gres": "gpu:4", "AllocTRES": ""}, (Gpu(model=None, count=4, free=4),)),
        (
            {"Gres": "gpu:a:2,gpu:b:2", "AllocTRES": "gres/gpu=1"},
            (Gpu(model="a", count=2, free=None), Gpu(model="b", count=2, free=None)),
        ),
        ({"Gres": "(null)"}, ()),
        ({"Gres": "gpu::::x"}, None),
    ],
)
def test_gpus(fields: dict[str, str], gpus: tuple[Gpu, ...] | None) -> None:
    (group,) = group_nodes(read_nodes(node(**fields)))
    assert group.gpus == gpus


@pytest.mark.parametrize(
    ("fields", "usable"),
    [
        ({}, Truth.YES),
        ({"State": "DOWN"}, Truth.NO),
        ({"State": "DRAIN"}, Truth.NO),
        ({"State": "INACTIVE"}, Truth.NO),
        ({"RootOnly": "YES"}, Truth.NO),
        ({"ReqResv": "YES"}, Truth.UNKNOWN),
        ({"State": "NEW"}, Truth.UNKNOWN),
    ],
)
def test_usable_partitions(fields: dict[str, str], usable: Truth) -> None:
    (queue,) = read_queues(partition(**fields), None, None)
    assert queue.usable is usable
    assert bool(queue.reason) == (usable is not Truth.YES)


def test_limits() -> None:
    (queue,) = read_queues(
        partition(
            MaxTime="2-00:00:00", DefaultTime="12:00:00", MaxNodes=2, MinNodes=0, MaxCPUsPerNode=64, Default="YES",
            MaxMemPerNode="UNLIMITED", AllowAccounts="a,b", AllowGroups="ALL", OverSubscribe="EXCLUSIVE",
        ),
        None, None,
    )  # fmt: skip
    assert queue.dump() == {
        "name": "p", "usable": "yes", "default": True, "default_walltime_s": 43200, "max_walltime_s": 172800,
        "max_nodes": 2, "max_cpus_per_node": 64, "nodes_total": 4, "exclusive_nodes": "yes",
        "allowed_accounts": ["a", "b"],
    }  # fmt: skip
    (open_end,) = read_queues(partition(MaxTime="UNLIMITED"), None, None)
    assert (open_end.walltime_unlimited, open_end.max_walltime_s, open_end.max_nodes) == (True, None, 4)


def test_depth_counts_waiting_tasks_and_each_named_queue() -> None:
    text = "1|RUNNING|p\n2|PENDING|p,q\n3_[1-10%2]|PENDING|q\n3_11|RUNNING|q\n4|COMPLETED|p\n".replace("|", "\x1f")
    depth = depth_of(text)
    assert depth is not None
    assert (depth.pending, depth.running) == ({"p": 1, "q": 11}, {"p": 1, "q": 1})
    assert (depth.all_pending, depth.all_running) == (11, 2)


def test_depth_of_json_leaves_out_what_ended() -> None:
    live = [{"job_id": number, "job_state": ["PENDING"], "partition": "p"} for number in range(1, 4)]
    ended = [{"job_id": number, "job_state": ["COMPLETED"], "partition": "p"} for number in range(10, 153)]
    depth = depth_of(json.dumps({"jobs": live + ended, "errors": []}))
    assert depth is not None
    assert (depth.all_pending, depth.all_running) == (3, 0)


@pytest.mark.parametrize(
    "text", ["Error executing sinfo: timed out", "1|RUNNING", '{"jobs": [], "errors": ["x"]}', "{"]
)
def test_depth_that_cannot_be_read(text: str) -> None:
    assert depth_of(text) is None


DOWN = "slurm_load_partitions: Unable to contact slurm controller (connect failure)"


def test_unreachable_is_unknown_and_never_empty(slurm: SlurmDialect, done: Callable[..., Completed]) -> None:
    for answers in (
        [done("", DOWN, 1)] * 4,
        [CommandTimeout("no answer within 30 s")] * 4,
        [done("")] * 4,
        [done("Error executing sinfo")] * 4,
        [],
    ):
        answer = slurm.parse_workload(answers)
        assert answer.outcome is Outcome.UNKNOWN
        assert answer.value is None
        assert answer.reason


def test_part_of_an_answer(slurm: SlurmDialect, done: Callable[..., Completed]) -> None:
    config = "ClusterName             = c1\nSLURM_VERSION           = 24.05.4\nSelectType = select/linear\n"
    down = done("", DOWN, 1)
    answer = slurm.parse_workload([done(partition()), down, down, done(config)])
    assert answer.value is not None
    assert answer.value.queues is not None
    assert (answer.value.version, answer.value.cluster) == ("24.05.4", "c1")
    assert answer.value.whole_nodes_only is Truth.YES
    assert answer.value.groups is None
    assert answer.value.jobs_pending is None
    assert answer.value.queues[0].jobs_pending is None
    assert answer.value.queues[0].nodes_idle is None


def test_hidden_jobs_are_no_empty_queue(slurm: SlurmDialect, done: Callable[..., Completed]) -> None:
    config = done("PrivateData             = jobs,usage\n")
    answer = slurm.parse_workload([done(partition()), done(node()), done(""), config])
    assert answer.value is not None
    assert answer.value.jobs_pending is None
    told = slurm.parse_workload([done(partition()), done(node()), done(""), done("PrivateData = none\n")])
    assert told.value is not None
    assert told.value.jobs_pending == 0
