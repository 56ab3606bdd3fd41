"""The parts that simulated sites are put together from, each drawn from its own dice."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.facts import (
    ContainerRuntime,
    Cpu,
    FileSystem,
    FreeShare,
    Gpu,
    Interface,
    MpiLibrary,
    NodeGroup,
    Package,
    Queue,
    Workload,
)
from dragoman.kleene import Truth, truth
from simulation.catalogue import APPLICATIONS, CPUS, GPUS, LIBRARIES, MPI, PYTHON
from simulation.dice import Dice

__all__ = [
    "cpu",
    "ethernet",
    "fabric",
    "file_system",
    "gpu_kinds",
    "host_gpus",
    "mpi",
    "packages",
    "runtimes",
    "workload",
]

GIB = 2**30


def cpu(dice: Dice, sockets: int) -> tuple[Cpu, int]:
    """The processors of one node, and its physical cores."""
    vendor, model, family, per_socket = dice.pick(CPUS)
    cores = per_socket * sockets
    threads = cores * (1 if vendor == "ARM" else dice.pick((1, 2)))
    architecture = "aarch64" if vendor == "ARM" else "x86_64"
    return Cpu(
        model=model, vendor=vendor, architecture=architecture, microarchitecture=family,
        sockets=sockets, cores=cores, threads=threads, usable=float(threads),
    ), cores  # fmt: skip


def gpu_kinds(dice: Dice, often: float, counts: Sequence[int]) -> tuple[Gpu, ...]:
    """GPUs of one node: one kind or none."""
    if not dice.chance(often):
        return ()
    vendor, model, gib = dice.pick(GPUS)
    return (Gpu(model=model, count=dice.pick(counts), memory_bytes=gib * GIB, vendor=vendor),)  # type: ignore[arg-type]


def host_gpus(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The same GPUs as the probes of one host would see them."""
    return tuple(gpu.model_copy(update={"free": None}) for gpu in gpus)


def workload(
    dice: Dice, scheduler: str, nodes: int, cores: int, memory: int, gpus: tuple[Gpu, ...], queues: Sequence[str]
) -> Workload:
    """Queues and groups of nodes: those with GPUs apart from the others."""
    gpu_nodes = (nodes if nodes < 4 else dice.whole(1, nodes // 2)) if gpus else 0
    plain = nodes - gpu_nodes
    busy = dice.weighted(((dice.between(0.0, 0.6), 0.5), (dice.between(0.85, 1.0), 0.5)))
    names = (*queues, "gpu") if gpu_nodes and plain else tuple(queues)
    groups = [
        _group(dice, count, cores, memory, kinds, on, busy)
        for count, kinds, on in (
            (plain, (), tuple(queues)),
            (gpu_nodes, gpus, ("gpu",) if plain else tuple(queues)),
        )
        if count
    ]
    idle = sum(group.nodes_idle or 0 for group in groups)
    used = sum(group.nodes_up or 0 for group in groups) - idle
    pending = 0 if idle > nodes // 4 else dice.whole_log(1, 4 * nodes + 4)
    return Workload(
        scheduler=scheduler,
        queues=tuple(_queue(name, "batch" if "batch" in names else names[0], groups) for name in names),
        groups=tuple(groups),
        jobs_pending=pending,
        jobs_running=min(used, dice.whole_log(1, nodes + 1)),
        whole_nodes_only=truth(scheduler != "kubernetes" and nodes > 500),
    )


def _group(
    dice: Dice, count: int, cores: int, memory: int, gpus: tuple[Gpu, ...], queues: tuple[str, ...], busy: float
) -> NodeGroup:
    up = count - (dice.whole(0, count // 20) if count >= 20 else 0)
    idle = min(up, round(up * (1 - busy)))
    part = 0 if idle else dice.whole(0, cores // 2)
    kinds = tuple(gpu.model_copy(update={"free": (gpu.count or 0) * idle}) for gpu in gpus)
    return NodeGroup(
        queues=queues, nodes=count, nodes_up=up, nodes_idle=idle, cpus_per_node=cores,
        cpus_free=idle * cores + part, largest_free_cpus=cores if idle else part,
        memory_bytes_per_node=memory, memory_free_bytes=memory if idle else memory * part // cores,
        free_shares=_shares(up, idle, part, cores, memory, gpus),
        local_disk_bytes=dice.pick((0, 400, 1600)) * GIB, gpus=kinds,
    )  # fmt: skip


def _shares(up: int, idle: int, part: int, cores: int, memory: int, gpus: tuple[Gpu, ...]) -> tuple[FreeShare, ...]:
    """Idle nodes, or a part of one node; nothing on the others."""
    none = (0,) * len(gpus)
    rows = (
        FreeShare(nodes=idle, cpus=cores, memory_bytes=memory, gpus=tuple(gpu.count or 0 for gpu in gpus)),
        FreeShare(nodes=int(part > 0), cpus=part, memory_bytes=memory * part // cores, gpus=none),
        FreeShare(nodes=up - idle - int(part > 0), cpus=0, memory_bytes=0, gpus=none),
    )
    return tuple(row for row in rows if row.nodes > 0)


def _queue(name: str, default: str, groups: Sequence[NodeGroup]) -> Queue:
    mine = [group for group in groups if name in group.queues]
    total = sum(group.nodes or 0 for group in mine)
    hours = {"debug": 1, "long": 168, "gpu": 24, "batch": 48}.get(name)
    return Queue(
        name=name,
        usable=Truth.YES,
        default=name == default,
        default_walltime_s=None if hours is None else min(hours, 1) * 3600,
        max_walltime_s=None if hours is None else hours * 3600,
        walltime_unlimited=hours is None,
        max_nodes=max(1, min(total, 8)) if name == "debug" else max(1, total),
        nodes_total=total,
        nodes_idle=sum(group.nodes_idle or 0 for group in mine),
    )


def packages(dice: Dice, managers: Sequence[str], density: float) -> tuple[Package, ...]:
    """Software of each manager from the catalogue, the denser the more."""
    found: list[Package] = []
    for manager in managers:
        own = dice.of(manager)
        python = manager in ("conda", "pip")
        catalogue = PYTHON if python else APPLICATIONS | LIBRARIES
        for name in own.some(sorted(catalogue), round(len(catalogue) * density)):
            for version in own.some(catalogue[name], own.whole(1, 1 if python else 2)):
                load = {"spack": (f"spack load {name}@{version}",), "conda": (), "pip": ()}.get(
                    manager, (f"module load {name}/{version}",)
                )
                found.append(Package(name=name, version=version, manager=manager, load=load))
    return tuple(found)


def runtimes(dice: Dice, names: Sequence[str]) -> tuple[ContainerRuntime, ...]:
    """Container runtimes that work."""
    versions = {
        "apptainer": "1.2.5",
        "singularity": "3.8.7",
        "podman": "4.6.1",
        "docker": "24.0.7",
    }
    return tuple(
        ContainerRuntime(
            runtime=name, version=versions[name], usable=Truth.YES, rootless=truth(name != "docker")
        )
        for name in names
    )  # fmt: skip


def file_system(dice: Dice, kind: str, mount: str, low_tb: int, high_tb: int, *, shared: bool) -> FileSystem:
    """A file system that is up, of a size between two amounts of TB."""
    size = dice.whole_log(low_tb, high_tb) * 10**12
    return FileSystem(
        mount=mount, kind=kind, size_bytes=size, free_bytes=round(size * dice.between(0.02, 0.9)),
        writable=Truth.YES, shared=truth(shared), healthy=Truth.YES,
    )  # fmt: skip


def ethernet(dice: Dice, speeds: Sequence[int]) -> Interface:
    """A plain Ethernet interface of one of these speeds in Gbit/s."""
    return Interface(
        name="eth0", fabric="ethernet", up=Truth.YES, gbit_s=float(dice.pick(speeds)), low_latency=Truth.NO
    )


def fabric(fabric: str, dice: Dice) -> Interface:
    """A low-latency port."""
    names = {"infiniband": "mlx5_0", "omni-path": "hfi1_0", "slingshot": "hsn0", "roce": "mlx5_1"}
    speed = {"omni-path": 100.0, "slingshot": 200.0}.get(fabric) or float(dice.pick((100, 200, 400)))
    return Interface(name=names[fabric], fabric=fabric, up=Truth.YES, gbit_s=speed, low_latency=Truth.YES)


def mpi(dice: Dice, fabric: str) -> tuple[MpiLibrary, ...]:
    """MPI libraries built for a fabric."""
    choices = ["openmpi", "mpich", "intel-mpi", "mvapich"]
    names = ["cray-mpich"] if fabric == "slingshot" else dice.some(choices, dice.whole(1, 2))
    return tuple(
        MpiLibrary(
            implementation=name, version=dice.pick(MPI[name]), launcher="mpirun" if name != "cray-mpich" else "srun",
            fabrics=("ethernet",) if fabric == "ethernet" else ("ethernet", fabric),
            load=(f"module load {name}",),
        )
        for name in names
    )  # fmt: skip
