"""Hardware threads are not cores: what each scheduler tells of both (case PH10 and variants)."""

from __future__ import annotations

import json

import pytest

from dragoman.facts import NodeGroup
from providers.schedulers.flux_workload import group_nodes as flux_groups
from providers.schedulers.flux_workload import read_ranks
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


def counts(group: NodeGroup) -> tuple[int | None, int | None, int | None, int]:
    return group.cpus_per_node, group.cores_per_node, group.threads_per_core, group.cpus_per_core


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("CoresPerSocket=64 CPUTot=256 CPUEfctv=256 Sockets=2 ThreadsPerCore=2", (256, 128, 2, 2)),
        # `CPUs=` in slurm.conf is the number of cores: threads are there and are not given out
        ("CoresPerSocket=64 CPUTot=128 CPUEfctv=128 Sockets=2 ThreadsPerCore=2", (128, 128, 2, 1)),
        # one core is kept for the system, with both its threads
        ("CoresPerSocket=64 CPUTot=128 CPUEfctv=126 Sockets=1 ThreadsPerCore=2", (126, 63, 2, 2)),
        ("CoresPerSocket=17 CPUTot=272 Sockets=4 ThreadsPerCore=4", (272, 68, 4, 4)),
        ("CoresPerSocket=8 CPUTot=16 Sockets=2 ThreadsPerCore=1", (16, 16, 1, 1)),
        ("CPUTot=256", (256, None, None, 1)),
        ("CoresPerSocket=0 CPUTot=256 Sockets=2 ThreadsPerCore=N/A", (256, None, None, 1)),
    ],
)
def test_slurm(record: str, expected: tuple[int | None, ...]) -> None:
    (group,) = slurm_groups(slurm_nodes(f"NodeName=n1 State=IDLE CPUAlloc=0 Partitions=p RealMemory=1 {record}\n"))
    assert counts(group) == expected


def test_nodes_of_as_many_cpus_and_fewer_cores_are_no_one_group() -> None:
    text = "".join(
        f"NodeName={name} State=IDLE CPUAlloc=0 Partitions=p Sockets=2 CPUTot=64 {more}\n"
        for name, more in (("a", "CoresPerSocket=32 ThreadsPerCore=1"), ("b", "CoresPerSocket=16 ThreadsPerCore=2"))
    )
    assert [counts(group) for group in slurm_groups(slurm_nodes(text))] == [(64, 64, 1, 1), (64, 32, 2, 2)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"np": "32", "total_cores": "16", "total_threads": "32"}, (32, 16, 2, 2)),
        ({"np": "16", "total_cores": "16", "total_threads": "32"}, (16, 16, 2, 1)),
        ({"np": "16"}, (16, None, None, 1)),
        ({"resources_available.ncpus": "64", "pcpus": "128"}, (64, None, None, 1)),
        # more slots than the hardware has threads: an administrator's own number
        ({"np": "100", "total_cores": "16", "total_threads": "32"}, (100, None, 2, 1)),
    ],
)
def test_pbs_and_torque(values: dict[str, str], expected: tuple[int | None, ...]) -> None:
    (group,) = pbs_groups([Record("n1", {"state": "free", **values})], [])
    assert counts(group) == expected


@pytest.mark.parametrize(
    ("slots", "cores", "threads", "expected"),
    [
        ("64", "32", "64", (64, 32, 2, 2)), ("32", "32", "64", (32, 32, 2, 1)), ("16", "32", "64", (16, 16, 2, 1)),
        ("48", "32", "64", (48, 32, 2, 2)), ("64", "-", "-", (64, None, None, 1)), ("99", "32", "64", (99, None, 2, 1)),
    ],
)  # fmt: skip
def test_grid_engine(slots: str, cores: str, threads: str, expected: tuple[int | None, ...]) -> None:
    facts = {"num_proc": "64", "m_socket": "2", "m_core": cores, "m_thread": threads, "mem_total": "256G"}
    queue = {"qtype_string": "BP", "slots_used": "0", "slots": slots, "state_string": ""}
    hosts = sge_hosts(
        "<qhost><host name='n1'>"
        + "".join(f"<hostvalue name='{name}'>{value}</hostvalue>" for name, value in facts.items())
        + "<queue name='all.q'>"
        + "".join(f"<queuevalue qname='all.q' name='{name}'>{value}</queuevalue>" for name, value in queue.items())
        + "</queue></host></qhost>"
    )
    assert hosts is not None
    (group,) = sge_groups(hosts)
    assert counts(group) == expected


BHOSTS = "HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV\nhost1 ok - {slots} 0 0 0 0 0\n"


@pytest.mark.parametrize(
    ("slots", "told", "expected"),
    [
        (176, "host1 2 22 4", (176, 44, 4, 4)),
        (44, "host1 2 22 4", (44, 44, 4, 1)),
        (8, "host1 - - -", (8, None, None, 1)),
        (8, None, (8, None, None, 1)),
        (200, "host1 2 22 4", (200, None, 4, 1)),
    ],
)
def test_lsf(slots: int, told: str | None, expected: tuple[int | None, ...]) -> None:
    table = f"HOST_NAME nprocs ncores nthreads\n{told}\n" if told else None
    (group,) = lsf_groups(lsf_hosts(BHOSTS.format(slots=slots), None, None, table), {})
    assert counts(group) == expected


def oar(**properties: list[int]) -> str:
    number = len(next(iter(properties.values())))
    rows = [
        {"network_address": "n1", "type": "default", "state": "Alive", "host": "n1"}
        | {name: values[index] for name, values in properties.items()}
        for index in range(number)
    ]
    return json.dumps({str(index + 1): row for index, row in enumerate(rows)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (oar(core=[1, 1, 2, 2], thread=[1, 2, 3, 4]), (4, 2, 2, 2)),
        (oar(core=[1, 2, 3, 4]), (4, 4, None, 1)),
        (oar(core=[1, 2], thread_count=[4, 4], core_count=[2, 2]), (2, 2, 2, 1)),
        (oar(core=[0, 0, 0, 0]), (4, None, None, 1)),
        (oar(core=[7, 7, 7, 7]), (4, None, None, 1)),
    ],
)
def test_oar(text: str, expected: tuple[int | None, ...]) -> None:
    nodes = oar_nodes(text)
    assert nodes is not None
    (group,) = oar_groups(nodes)
    assert counts(group) == expected


def test_flux_gives_out_cores() -> None:
    ranks = read_ranks(
        json.dumps({"execution": {"R_lite": [{"rank": "0", "children": {"core": "0-63"}}], "nodelist": ["n1"]}})
    )
    assert ranks is not None
    (group,) = flux_groups(ranks, None, None, (), None)
    assert counts(group) == (64, 64, None, 1)


THREADS = "feature.node.kubernetes.io/cpu-hardware_multithreading"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({THREADS: "true", "kubernetes.io/arch": "amd64"}, (64, 32, 2, 2)),
        ({THREADS: "false", "kubernetes.io/arch": "arm64"}, (64, 64, 1, 1)),
        ({THREADS: "true", "kubernetes.io/arch": "ppc64le"}, (64, None, None, 1)),
        ({}, (64, None, None, 1)),
    ],
)
def test_kubernetes(labels: dict[str, str], expected: tuple[int | None, ...]) -> None:
    node = {
        "kind": "Node",
        "metadata": {"name": "n1", "labels": labels},
        "status": {"allocatable": {"cpu": "64"}, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    (group,) = kubernetes_groups(kubernetes_nodes([node], []), "default")
    assert counts(group) == expected
