"""What each scheduler tells free is told together, node by node: not the most of each over several nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.facts import FreeShare, NodeGroup
from providers.schedulers.flux_workload import Rank
from providers.schedulers.flux_workload import group_nodes as flux_groups
from providers.schedulers.free_shares import MOST_SHARES, counted_shares, nothing_free
from providers.schedulers.htcondor_status import group_slots
from providers.schedulers.kubernetes_workload import group_nodes as kubernetes_groups
from providers.schedulers.kubernetes_workload import read_nodes as kubernetes_nodes
from providers.schedulers.lsf_workload import group_hosts as lsf_groups
from providers.schedulers.lsf_workload import read_hosts as lsf_hosts
from providers.schedulers.oar_workload import group_nodes as oar_groups
from providers.schedulers.oar_workload import read_nodes as oar_nodes
from providers.schedulers.pbs_records import Record
from providers.schedulers.pbs_workload import group_nodes as pbs_groups
from providers.schedulers.sge_workload import group_hosts as sge_groups
from providers.schedulers.sge_workload import read_hosts as sge_hosts
from providers.schedulers.slurm_workload import group_nodes as slurm_groups
from providers.schedulers.slurm_workload import read_nodes as slurm_nodes

MIB, GIB = 2**20, 2**30


def slurm() -> tuple[NodeGroup, ...]:
    lines = [
        f"NodeName=n{number} CPUAlloc={cpus} CPUTot=64 RealMemory=524288 AllocMem={memory} Gres=gpu:a100:4"
        f" GresUsed=gpu:a100:{gpus} Partitions=batch State={state}"
        for number, (cpus, memory, gpus, state) in enumerate(
            [(4, 491520, 4, "MIXED"), (60, 65536, 0, "MIXED"), (0, 0, 0, "IDLE+PLANNED"), (0, 0, 0, "DOWN")]
        )
    ]
    return slurm_groups(slurm_nodes("\n".join(lines)))


def pbs() -> tuple[NodeGroup, ...]:
    has = {"resources_available.ncpus": "64", "resources_available.mem": "512gb", "resources_available.ngpus": "4"}
    nodes = [
        Record(name, {**has, "state": state, **{f"resources_assigned.{key}": value for key, value in used.items()}})
        for name, state, used in (
            ("n0", "free", {"ncpus": "4", "mem": "480gb", "ngpus": "4"}),
            ("n1", "free", {"ncpus": "60", "mem": "64gb", "ngpus": "0"}),
            ("n2", "job-exclusive", {"ncpus": "1"}),
            ("n3", "down", {}),
        )
    ]
    return pbs_groups(nodes, [])


def kubernetes() -> tuple[NodeGroup, ...]:
    def node(name: str, ready: str) -> dict[str, Any]:
        return {
            "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "4"},
                       "conditions": [{"type": "Ready", "status": ready}]},
        }  # fmt: skip

    def pod(where: str, cpu: str, memory: str, gpus: str) -> dict[str, Any]:
        asked = {"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpus}
        return {
            "kind": "Pod", "spec": {"nodeName": where, "containers": [{"resources": {"requests": asked}}]},
            "status": {"phase": "Running"},
        }  # fmt: skip

    pods = [pod("n0", "4", "480Gi", "4"), pod("n1", "60", "64Gi", "0"), pod("n2", "64", "512Gi", "4")]
    nodes = [node("n0", "True"), node("n1", "True"), node("n2", "True"), node("n3", "False")]
    return kubernetes_groups(kubernetes_nodes(nodes, pods), "default")


def htcondor() -> tuple[NodeGroup, ...]:
    def machine(name: str, cpus: int, memory: int, gpus: int, state: str = "Unclaimed") -> dict[str, Any]:
        return {
            "Machine": name, "State": state, "SlotType": "Partitionable", "Cpus": cpus, "Memory": memory, "GPUs": gpus,
            "TotalCpus": 64, "TotalMemory": 524288, "TotalGPUs": 4,
        }  # fmt: skip

    return group_slots(
        [machine("n0", 60, 32768, 0), machine("n1", 4, 458752, 4), machine("n2", 0, 0, 0, "Claimed"),
         machine("n3", 64, 524288, 4, "Owner")]
    )  # fmt: skip


ONE = FreeShare(cpus=60, memory_bytes=32 * GIB, gpus=(0,))
OTHER = FreeShare(cpus=4, memory_bytes=448 * GIB, gpus=(4,))


@pytest.mark.parametrize("told", [slurm, pbs, kubernetes, htcondor])
def test_cpus_memory_and_gpus_are_told_of_one_node_each(told: Any) -> None:
    (group,) = told()
    assert group.largest_free_cpus == 60
    assert group.memory_free_bytes == 448 * GIB
    assert group.free_shares == (ONE, OTHER, nothing_free(1))


def test_fixed_slots_of_a_machine_are_not_one() -> None:
    fixed = [
        {"Machine": "n0", "State": state, "SlotType": "Static", "Cpus": 8, "Memory": 16384, "GPUs": 0, "TotalCpus": 32,
         "TotalMemory": 65536, "TotalGPUs": 0}
        for state in ("Unclaimed", "Unclaimed", "Unclaimed", "Claimed")
    ]  # fmt: skip
    (group,) = group_slots(fixed)
    assert (group.cpus_free, group.largest_free_cpus, group.memory_free_bytes) == (24, 8, 16 * GIB)
    assert group.free_shares == (FreeShare(nodes=3, cpus=8, memory_bytes=16 * GIB),)


def test_flux_tells_cores_and_gpus_of_each_rank() -> None:
    ranks = {rank: Rank(f"n{rank}", 8, 4, frozenset()) for rank in range(4)}
    free = {0: Rank("n0", 8, 0, frozenset()), 1: Rank("n1", 1, 4, frozenset()), 3: Rank("n3", 8, 4, frozenset())}
    (group,) = flux_groups(ranks, free, {3: ranks[3]}, ["batch"], None)
    assert group.free_shares == (
        FreeShare(cpus=8, gpus=(0,)), FreeShare(cpus=1, gpus=(4,)), FreeShare(cpus=0, gpus=(0,)),
    )  # fmt: skip
    (untold,) = flux_groups(ranks, None, None, ["batch"], None)
    assert untold.free_shares is None


def test_oar_tells_memory_only_with_the_whole_node() -> None:
    resources = [
        {
            "network_address": host,
            "type": "default",
            "state": "Alive",
            "core": number + 1,
            "memnode": "1024",
            "jobs": jobs,
        }
        for number, (host, jobs) in enumerate([("a", None), ("a", None), ("b", "7"), ("b", None)])
    ]
    nodes = oar_nodes(json.dumps({str(number): one for number, one in enumerate(resources)}))
    assert nodes is not None
    (group,) = oar_groups(nodes)
    assert group.free_shares == (FreeShare(cpus=2, memory_bytes=GIB), FreeShare(cpus=1))


def test_lsf_tells_memory_only_of_an_unused_host() -> None:
    hosts = (
        "HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV\n"
        "a ok - 8 0 0 0 0 0\nb ok - 8 3 3 0 0 0\nc closed_Full - 8 8 8 0 0 0\nd unavail - 8 0 0 0 0 0\n"
    )
    memory = "HOST_NAME type model cpuf ncpus maxmem maxswp server RESOURCES\n" + "".join(
        f"{name} X86 m 1 8 16G 0M Yes ()\n" for name in "abcd"
    )
    (group,) = lsf_groups(lsf_hosts(hosts, memory, None), {"normal": frozenset("abcd")})
    assert group.free_shares == (
        FreeShare(cpus=8, memory_bytes=16 * GIB, gpus=None), FreeShare(cpus=5, gpus=None), FreeShare(cpus=0, gpus=None),
    )  # fmt: skip


def test_grid_engine_tells_slots_and_memory_of_each_host() -> None:
    def host(name: str, used: int, left: str) -> str:
        return (
            f'<host name="{name}"><hostvalue name="mem_total">64.0G</hostvalue>'
            f'<resourcevalue name="h_vmem" dominance="hc">{left}</resourcevalue><queue name="all.q">'
            f'<queuevalue name="qtype_string">BP</queuevalue><queuevalue name="slots_used">{used}</queuevalue>'
            '<queuevalue name="slots">16</queuevalue><queuevalue name="state_string"></queuevalue></queue></host>'
        )

    hosts = sge_hosts(f"<qhost>{host('a', 0, '4.000G')}{host('b', 15, '60.000G')}</qhost>")
    assert hosts is not None
    (group,) = sge_groups(hosts)
    assert group.free_shares == (
        FreeShare(cpus=16, memory_bytes=4 * GIB, gpus=None), FreeShare(cpus=1, memory_bytes=60 * GIB, gpus=None),
    )  # fmt: skip


def test_many_different_shares_are_cut_to_those_that_hold_most() -> None:
    many = [FreeShare(cpus=cpus, memory_bytes=(200 - cpus) * MIB if cpus % 2 else 0) for cpus in range(200)]
    told = counted_shares([*many, *many])
    assert len(told) == MOST_SHARES
    assert all(each.nodes == 2 for each in told)
    assert {1, 199} <= {each.cpus for each in told if each.memory_bytes}, "the most memory and the most CPUs"
    assert counted_shares(many[:3] * 2) == tuple(each.model_copy(update={"nodes": 2}) for each in many[2::-1])
