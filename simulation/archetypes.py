"""Simulated sites from an archetype and a seed: the same seed makes the same site on every Python and machine.

Three archetypes: `hpc` (batch scheduler, fast fabric, parallel file system, modules), `cloud` (mostly Kubernetes,
Ethernet, object store, images) and `standalone` (one host). The parts of a site are drawn so that they fit together:
an MPI speaks the site's fabric, the GPUs of the host are those of the nodes, and no more is idle than there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from dragoman.facts import Account, MemoryFacts
from dragoman.site import Charges, Fleet, Site, TransportConfig
from providers.simulated.state import SimulatedState
from simulation.dice import Dice
from simulation.site_parts import (
    cpu,
    ethernet,
    fabric,
    file_system,
    gpu_kinds,
    host_gpus,
    mpi,
    packages,
    runtimes,
    workload,
)

__all__ = ["Archetype", "archetype_fleet", "archetype_site"]

Archetype = Literal["hpc", "cloud", "standalone"]
MIX: tuple[tuple[Archetype, float], ...] = (("hpc", 0.4), ("cloud", 0.4), ("standalone", 0.2))
GIB = 2**30


def archetype_fleet(count: int, seed: int, mix: Sequence[tuple[Archetype, float]] = MIX) -> Fleet:
    """A fleet of that many sites, `count` at least 1; the first sites stay the same when the fleet grows."""
    kinds: list[Archetype] = [Dice("fleet", seed, index).weighted(mix) for index in range(count)]
    return Fleet(sites=tuple(archetype_site(kind, f"{seed}-{index}") for index, kind in enumerate(kinds)))


def archetype_site(archetype: Archetype, seed: int | str, name: str | None = None) -> Site:
    """One site of that archetype."""
    dice = Dice("site", archetype, seed)
    scheduler, state = _MAKERS[archetype](dice)
    return Site(
        name=name or f"{archetype}-{seed}",
        description=f"simulated {archetype} site",
        scheduler=scheduler,
        transport=TransportConfig(kind="none"),
        simulated=state.dump(),
        charges=_charges(archetype, dice.of("charges")),
    )


def _charges(archetype: Archetype, dice: Dice) -> Charges:
    if archetype == "standalone":
        return Charges(currency="none", per_core_hour=0.0, per_gpu_hour=0.0)
    if archetype == "cloud":
        core = round(dice.between(0.02, 0.06), 4)
        return Charges(currency="USD", per_core_hour=core, per_gpu_hour=round(dice.between(0.4, 4.0), 2))
    return Charges(currency="node-hours", per_node_hour=round(dice.between(0.5, 1.5), 2))


def _often(dice: Dice, options: Sequence[tuple[str, float]]) -> list[str]:
    return [name for name, often in options if dice.chance(often)]


def _hpc(dice: Dice) -> tuple[str, SimulatedState]:
    scheduler = dice.weighted((("slurm", 0.5), ("pbs", 0.2), ("flux", 0.15), ("lsf", 0.15)))
    density = dice.between(0.3, 1.0)
    net = dice.weighted((("infiniband", 0.5), ("omni-path", 0.2), ("slingshot", 0.3)))
    processors, cores = cpu(dice.of("cpu"), 2)
    nodes = dice.whole_log(32, 6000)
    gpus = gpu_kinds(dice.of("gpus"), 0.65, (4, 8))
    shared = dice.weighted((("lustre", 0.5), ("gpfs", 0.25), ("beegfs", 0.15), ("nfs", 0.1)))
    managers = ["modules", *_often(dice, (("spack", 0.6), ("conda", 0.5), ("easybuild", 0.2)))]
    container_names = _often(dice, (("apptainer", 0.6), ("singularity", 0.3), ("podman", 0.25)))
    memory = cores * dice.pick((2, 4, 8)) * GIB
    return scheduler, SimulatedState(
        workload=workload(dice.of("workload"), scheduler, nodes, cores, memory, gpus, ("debug", "batch", "long")),
        accounts=(
            Account(
                name=f"proj{dice.whole(100, 999)}",
                balance=float(dice.whole_log(50, 100000)),
                unit="node-hours",
                default=True,
            ),
        ),
        packages=packages(dice.of("packages"), managers, density),
        managers=tuple(managers),
        containers=runtimes(dice.of("containers"), container_names),
        file_systems=(
            file_system(dice.of("shared"), shared, f"/{shared}/scratch", 100, 20000, shared=True),
            *((file_system(dice.of("home"), "nfs", "/home", 1, 50, shared=True),) if shared != "nfs" else ()),
            file_system(dice.of("local"), "xfs", "/local", 1, 4, shared=False),
        ),
        interfaces=(ethernet(dice.of("ethernet"), (1, 10, 25)), fabric(net, dice.of("fabric"))),
        cpu=processors,
        memory=MemoryFacts(total_bytes=memory),
        gpus=host_gpus(gpus),
        mpi=mpi(dice.of("mpi"), net),
        wait_s=float(dice.whole_log(60, 200000)),
    )  # fmt: skip


def _cloud(dice: Dice) -> tuple[str, SimulatedState]:
    scheduler = dice.weighted((("kubernetes", 0.8), ("slurm", 0.2)))
    processors, _ = cpu(dice.of("cpu"), 1)
    cores = dice.pick((4, 8, 16, 32, 64, 96))
    gpus = gpu_kinds(dice.of("gpus"), 0.4, (1, 2, 4, 8))
    managers = _often(dice, (("conda", 0.6), ("pip", 0.8)))
    container_names = [dice.weighted((("docker", 0.8), ("podman", 0.2)))]
    queues = ("default",) if scheduler == "kubernetes" else ("batch",)
    memory = cores * dice.pick((2, 4, 8)) * GIB
    low_latency = dice.chance(0.15)
    return scheduler, SimulatedState(
        workload=workload(dice.of("workload"), scheduler, dice.whole_log(2, 300), cores, memory, gpus, queues),
        packages=packages(dice.of("packages"), managers, dice.between(0.2, 0.8)),
        managers=tuple(managers),
        containers=runtimes(dice.of("containers"), container_names),
        file_systems=(
            file_system(dice.of("s3"), "s3", "s3://data", 100, 1000, shared=True),
            *((file_system(dice.of("nfs"), "nfs", "/shared", 1, 20, shared=True),) if dice.chance(0.5) else ()),
            file_system(dice.of("local"), "ext4", "/scratch", 1, 2, shared=False),
        ),
        interfaces=(
            ethernet(dice.of("ethernet"), (10, 25, 50, 100)),
            *((fabric("roce", dice.of("fabric")),) if low_latency else ()),
        ),
        cpu=processors.model_copy(update={"sockets": 1, "cores": cores, "threads": cores, "usable": float(cores)}),
        memory=MemoryFacts(total_bytes=memory),
        gpus=host_gpus(gpus),
        mpi=mpi(dice.of("mpi"), "roce" if low_latency else "ethernet") if dice.chance(0.3) else (),
        wait_s=float(dice.whole_log(30, 3600)),
    )  # fmt: skip


def _standalone(dice: Dice) -> tuple[str, SimulatedState]:
    processors, _ = cpu(dice.of("cpu"), 1)
    cores = dice.pick((2, 4, 8, 16, 32))
    gpus = gpu_kinds(dice.of("gpus"), 0.35, (1, 2))
    managers = ["pip", *_often(dice, (("conda", 0.4), ("spack", 0.15)))]
    container_names = _often(dice, (("docker", 0.5), ("podman", 0.3)))
    memory = cores * dice.pick((2, 4, 8)) * GIB
    return "machine", SimulatedState(
        workload=workload(dice.of("workload"), "machine", 1, cores, memory, gpus, ("machine",)),
        packages=packages(dice.of("packages"), managers, dice.between(0.1, 0.5)),
        managers=tuple(managers),
        containers=runtimes(dice.of("containers"), container_names),
        file_systems=(file_system(dice.of("local"), dice.pick(("ext4", "xfs", "btrfs")), "/", 1, 4, shared=False),),
        interfaces=(ethernet(dice.of("ethernet"), (1, 10)),),
        cpu=processors.model_copy(update={"sockets": 1, "cores": cores, "threads": cores, "usable": float(cores)}),
        memory=MemoryFacts(total_bytes=memory),
        gpus=host_gpus(gpus),
        mpi=mpi(dice.of("mpi"), "ethernet") if dice.chance(0.25) else (),
    )


_MAKERS: dict[Archetype, Callable[[Dice], tuple[str, SimulatedState]]] = {
    "hpc": _hpc, "cloud": _cloud, "standalone": _standalone,
}  # fmt: skip
