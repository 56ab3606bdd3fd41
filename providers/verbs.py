"""What can be asked of each kind of provider, once: real and simulated ones share these, so they cannot drift apart."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveInt

from dragoman import facts
from dragoman.model import Model
from dragoman.observation import Category
from dragoman.proposal import StartEstimate
from dragoman.protocols import Verb
from dragoman.request import ArraySpec, Line, Name
from dragoman.shape import Shape

__all__ = [
    "ACCOUNTS", "CONTAINER_STATUS", "CPU", "ESTIMATE", "FILE_SYSTEMS", "FIND_PACKAGE", "GPUS", "INTERFACES",
    "LIBRARIES", "MEMORY", "NODES", "PARTITIONS", "POLICY", "PROBE", "QUEUE", "RESOURCES", "TENANCY", "EstimateQuery",
    "NoArguments",
    "PackageQuery", "category_verbs",
]  # fmt: skip

PackageName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]*$")]

_DAY, _HOUR, _MINUTE = 86400.0, 3600.0, 60.0


class NoArguments(Model):
    """The question takes no arguments."""


class PackageQuery(Model):
    """Which package is looked for."""

    name: PackageName
    """Exact name of the package, such as `gromacs`; no version and no pattern. Case does not matter."""


class EstimateQuery(Model):
    """A job as far as its start depends on it; what is left out is up to the site."""

    shape: Shape = Shape()
    components: tuple[Shape, ...] = ()
    """Of a heterogeneous job: all at once; `shape` is then the first."""
    walltime_s: PositiveInt | None = None
    """Longest run time in seconds."""
    queue: Name | None = None
    account: Name | None = None
    qos: Name | None = None
    reservation: Name | None = None
    array: ArraySpec | None = None
    native_options: tuple[Line, ...] = ()
    """Options of this very scheduler, as its submit command takes them."""


PROBE = Verb(
    "probe",
    "Whether this provider is at the site, its version and where. Use it first, before other questions to the same"
    " provider; not for what is free or installed: that it is here does not mean that a job can have it.",
    NoArguments, facts.Presence, _HOUR,
)  # fmt: skip
RESOURCES = Verb(
    "resources",
    "Queues with their limits, nodes in total, up and idle, cores, memory and GPUs of nodes, and jobs waiting. Use it"
    " for everything about the size and start of a job at once; not for software, and not for balances of accounts.",
    NoArguments, facts.Workload, 10.0,
)  # fmt: skip
PARTITIONS = Verb(
    "partitions",
    "Queues or partitions: whether each takes jobs now and why not, longest and default walltime in seconds, most nodes"
    " and cores a job, who may use it. Use it to choose a queue for a walltime and a size; not for what nodes have.",
    NoArguments, facts.Queues, 60.0,
)  # fmt: skip
NODES = Verb(
    "nodes",
    "Nodes, alike ones together: how many there are, are up and idle, cores, bytes of memory and GPUs of each, what is"
    " free, and which queues lead to them. Use it to see whether nodes have the cores, memory and"
    " GPUs that a job needs; not for limits of queues, and not for their order.",
    NoArguments, facts.NodeGroups, 10.0,
)  # fmt: skip
QUEUE = Verb(
    "queue",
    "How many jobs of everybody wait and run, in all and in each queue; unknown where others' jobs are hidden. Use it"
    " to compare how busy queues are; not for the state of your own jobs, and not as a time of waiting.",
    NoArguments, facts.QueueDepth, 10.0,
)  # fmt: skip
ESTIMATE = Verb(
    "estimate",
    "When a job of this shape would start if it were submitted now, by the scheduler's own reckoning; nothing is"
    " submitted. Absent: it could never start as it is, and why. Use it once the shape of the job is settled; not as a"
    " promise, for jobs end early and others come before, and not to look for shapes by trying many.",
    EstimateQuery, StartEstimate, 60.0,
)  # fmt: skip
ACCOUNTS = Verb(
    "accounts",
    "Accounts, allocations or banks that the user may charge here, with balances where they are told. Use it before a"
    " job is charged, to choose an account and see what is left on it; not for prices, and not for quotas of disks.",
    NoArguments, facts.Accounts, 10 * _MINUTE,
)  # fmt: skip
FIND_PACKAGE = Verb(
    "find_package",
    "Installed versions of one package by its exact name, as this package manager has them, with the lines that load"
    " it. A dependency's version is never the package's. Where there is none the answer is absent, or has no packages"
    " and names nearby. Use it for each program that a job names, at every package manager of the site; not for"
    " container runtimes, MPI launchers or hardware, and not for what could be installed.",
    PackageQuery, facts.Packages, _HOUR,
)  # fmt: skip
CONTAINER_STATUS = Verb(
    "status",
    "Whether this container runtime works now for this user, its version, whether it needs no root, images at hand."
    " Use it where a job brings an image or names a runtime; not for another runtime, whose answer may differ, and not"
    " to pull or build images.",
    NoArguments, facts.ContainerRuntime, 5 * _MINUTE,
)  # fmt: skip
FILE_SYSTEMS = Verb(
    "file_systems",
    "Mounted file systems of this kind with size, free space and quota in bytes, and whether they can be written; of"
    " object stores, whether they can be reached. Use it for room for inputs and results, and for which path to stage"
    " to; not for a node's memory, and not for whether a certain file is there.",
    NoArguments, facts.FileSystems, _MINUTE,
)  # fmt: skip
INTERFACES = Verb(
    "interfaces",
    "Network interfaces or fabric ports of this kind on the host that answers: up or down, speed in Gbit/s, low latency"
    " or not. Use it where a job needs a fabric or a bandwidth between nodes; not to conclude it from an MPI library,"
    " and not for how fast data comes from another site.",
    NoArguments, facts.Interfaces, _HOUR,
)  # fmt: skip
CPU = Verb(
    "describe",
    "Processors: model, sockets, physical cores, hardware threads, instruction sets, and how many may be used here."
    " Use it for needs of an architecture or instruction set; not for how many cores a queue gives a job: a login host"
    " often differs from compute nodes.",
    NoArguments, facts.Cpu, _DAY,
)  # fmt: skip
MEMORY = Verb(
    "describe",
    "Memory of the host in bytes, what is available, and the limit of the control group. Use it for jobs that run on"
    " this very host; not for memory of compute nodes, which the workload manager tells, and not for disks.",
    NoArguments, facts.MemoryFacts, _MINUTE,
)  # fmt: skip
GPUS = Verb(
    "describe",
    "GPUs of this vendor in the host: model, number, memory of each, driver. A driver fault is unknown, not none. Use"
    " it for needs of a GPU model, its memory or driver on this host; not for GPUs of compute nodes, which the workload"
    " manager tells, and not for CUDA or ROCm as packages.",
    NoArguments, facts.Gpus, _HOUR,
)  # fmt: skip
TENANCY = Verb(
    "tenancy",
    "How many people are logged in at the host that answers and have processes there, its load, and whether users see"
    " each other's processes. Use it to tell a shared host from one's own before measuring on it; not for a scheduler's"
    " queue, and not for who they are.",
    NoArguments, facts.Tenancy, _MINUTE,
)  # fmt: skip
POLICY = Verb(
    "policy",
    "What the host's policy lets a user do: SELinux, AppArmor, FIPS, user namespaces, limits of processes, and whether"
    " a login needs a job there. Use it where containers, many files or locked memory are needed; not for quotas of"
    " disks and not for limits of queues.",
    NoArguments, facts.SecurityPolicy, _HOUR,
)  # fmt: skip
LIBRARIES = Verb(
    "libraries",
    "Installed MPI libraries of this make with version, launcher, the lines that load them and the fabrics they were"
    " built for. Use it where a job starts by MPI, to match its launcher and library; not as proof that a fabric is"
    " there, and not for programs that were built with it.",
    NoArguments, facts.MpiLibraries, _HOUR,
)  # fmt: skip

_OF_CATEGORY: dict[Category, tuple[Verb, ...]] = {
    Category.WORKLOAD: (PROBE, RESOURCES, PARTITIONS, NODES, QUEUE, ESTIMATE, ACCOUNTS),
    Category.SOFTWARE: (PROBE, FIND_PACKAGE),
    Category.CONTAINER: (PROBE, CONTAINER_STATUS),
    Category.STORAGE: (PROBE, FILE_SYSTEMS),
    Category.NETWORK: (PROBE, INTERFACES),
    Category.PARALLEL: (PROBE, LIBRARIES),
}


def category_verbs(category: Category, name: str) -> tuple[Verb, ...]:
    """The verbs that every provider of a category has; hardware is told apart by the provider's name."""
    if category is Category.HARDWARE:
        if name == "host":
            return PROBE, TENANCY, POLICY
        return PROBE, {"cpu": CPU, "memory": MEMORY}.get(name, GPUS)
    return _OF_CATEGORY[category]
