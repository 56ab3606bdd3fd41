"""What providers tell about a site, as typed facts. None always means unknown; sizes are bytes, times seconds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat

from dragoman.kleene import Truth
from dragoman.model import Model, Moment
from dragoman.units import MOST_AMOUNT

__all__ = [
    "Account", "Accounts", "ContainerImage", "ContainerRuntime", "Cpu", "CpuCluster", "FileSystem", "FileSystems",
    "FreeShare", "Gpu", "Gpus", "Interface", "Interfaces", "MemoryFacts", "MpiLibraries", "MpiLibrary", "NodeGroup",
    "NodeGroups", "Package", "Packages", "Presence", "Queue", "QueueDepth", "Queues", "ResourceLimit", "SecurityPolicy",
    "Tenancy", "Workload",
]  # fmt: skip

NonNegativeInt = Annotated[int, Field(ge=0, le=MOST_AMOUNT * 2**20)]
"""Sums of what is told of parts have room too."""


class Presence(Model):
    """That a provider is there: its version and where."""

    version: str | None = None
    path: str | None = None
    detail: str = ""


class Gpu(Model):
    """GPUs of one kind."""

    model: str | None = None
    """As the driver or scheduler names it."""
    count: NonNegativeInt | None = None
    free: NonNegativeInt | None = None
    memory_bytes: NonNegativeInt | None = None
    """Of each."""
    vendor: Literal["nvidia", "amd", "intel"] | None = None
    driver: str | None = None
    partitions: tuple[str, ...] = ()
    """MIG instances or compute partitions, as named by the driver."""


class Gpus(Model):
    """All GPUs a provider sees on one host."""

    kinds: tuple[Gpu, ...] = ()


class FreeShare(Model):
    """What is free now on each of some nodes of a group: all of it together on one node."""

    nodes: NonNegativeInt = 1
    """Nodes with just that free."""
    cpus: NonNegativeInt
    """Counted as the group's `cpus_per_node` is."""
    memory_bytes: NonNegativeInt | None = None
    """Unallocated; None: not told."""
    gpus: tuple[NonNegativeInt | None, ...] | None = ()
    """Of each kind, in the order of the group's `gpus`; None: not told."""


class NodeGroup(Model):
    """Nodes that are alike: same cores, memory and GPUs."""

    queues: tuple[str, ...] = ()
    """The queues that lead to them; empty: every queue."""
    nodes: NonNegativeInt | None = None
    """All nodes of the group, usable or not now."""
    nodes_up: NonNegativeInt | None = None
    """Nodes that are not down, drained or reserved away."""
    nodes_idle: NonNegativeInt | None = None
    """Nodes with nothing running on them."""
    cpus_per_node: NonNegativeInt | None = None
    """What the scheduler gives out one by one: cores, or hardware threads where it counts those."""
    cores_per_node: NonNegativeInt | None = None
    """Physical cores behind `cpus_per_node`; None: the scheduler does not tell."""
    threads_per_core: NonNegativeInt | None = None
    """Hardware threads of each core, whether the scheduler counts them or not."""
    cpus_free: NonNegativeInt | None = None
    """Free CPUs over the whole group, counted as `cpus_per_node` is."""
    largest_free_cpus: NonNegativeInt | None = None
    """Most free CPUs on one node."""
    memory_bytes_per_node: NonNegativeInt | None = None
    memory_free_bytes: NonNegativeInt | None = None
    """Most free (unallocated) memory on one node, which need not be the one with the most free CPUs."""
    free_shares: tuple[FreeShare, ...] | None = None
    """What is free together, node by node. Nodes that are up and not among them: not told; None: of no node."""
    local_disk_bytes: NonNegativeInt | None = None
    gpus: tuple[Gpu, ...] | None = ()
    """Per node; `count` and `free` of each kind are per node and over the group respectively. None: unknown."""
    features: tuple[str, ...] = ()
    example: str | None = None
    """One node's name."""

    @property
    def cpus_per_core(self) -> int:
        """CPUs, as the scheduler counts, that one core is: 2 where hardware threads of two a core are given out.

        1 where the scheduler does not tell of cores: what it gives out is then taken for cores.
        """
        if not self.cpus_per_node or not self.cores_per_node:
            return 1
        return max(round(self.cpus_per_node / self.cores_per_node), 1)


class Queue(Model):
    """A queue or partition with its limits and what stands in it."""

    name: str
    usable: Truth = Truth.UNKNOWN
    """Whether it takes and starts jobs now."""
    reason: str = ""
    default: bool = False
    default_walltime_s: NonNegativeInt | None = None
    max_walltime_s: NonNegativeInt | None = None
    """None: unknown; see `walltime_unlimited`."""
    walltime_unlimited: bool = False
    min_nodes: NonNegativeInt | None = None
    max_nodes: NonNegativeInt | None = None
    max_cpus_per_job: NonNegativeInt | None = None
    max_cpus_per_node: NonNegativeInt | None = None
    max_memory_bytes_per_node: NonNegativeInt | None = None
    max_gpus_per_job: NonNegativeInt | None = None
    jobs_pending: NonNegativeInt | None = None
    jobs_running: NonNegativeInt | None = None
    nodes_total: NonNegativeInt | None = None
    nodes_idle: NonNegativeInt | None = None
    exclusive_nodes: Truth = Truth.UNKNOWN
    shares_cores: bool = False
    """Tasks that state no cores of their own may share cores (a time-shared host)."""
    allowed_accounts: tuple[str, ...] | None = None
    """None: no rule is known."""
    allowed_groups: tuple[str, ...] | None = None
    routes_to: tuple[str, ...] = ()
    """Execution queues behind a routing queue."""
    charge_factor: NonNegativeFloat | None = None


class Workload(Model):
    """The state of a workload manager at one moment."""

    scheduler: str
    version: str | None = None
    cluster: str | None = None
    queues: tuple[Queue, ...] | None = None
    """None: not known; an empty tuple: there are none."""
    groups: tuple[NodeGroup, ...] | None = None
    jobs_pending: NonNegativeInt | None = None
    jobs_running: NonNegativeInt | None = None
    whole_nodes_only: Truth = Truth.UNKNOWN
    observed_at: Moment | None = None


class Queues(Model):
    """The queues or partitions of a workload manager, and nothing else of it."""

    queues: tuple[Queue, ...] = ()


class NodeGroups(Model):
    """The nodes of a workload manager, alike ones together, and nothing else of it."""

    groups: tuple[NodeGroup, ...] = ()


class QueueDepth(Model):
    """How much waits and runs at a workload manager, of everybody's jobs."""

    jobs_pending: NonNegativeInt | None = None
    jobs_running: NonNegativeInt | None = None
    pending_by_queue: dict[str, NonNegativeInt] = {}
    """A job that names several queues counts in each of them."""
    running_by_queue: dict[str, NonNegativeInt] = {}


class Account(Model):
    """An account, allocation or bank that the user may charge."""

    name: str
    balance: float | None = None
    unit: Literal["node-hours", "core-hours", "gpu-hours", "USD", "EUR"] | None = None
    default: bool = False
    qos: tuple[str, ...] = ()


class Accounts(Model):
    """Accounts the user may charge."""

    accounts: tuple[Account, ...] = ()


class Package(Model):
    """One installed version of one package."""

    name: str
    version: str | None = None
    manager: str
    variants: tuple[str, ...] = ()
    compiler: str | None = None
    load: tuple[str, ...] = ()
    """Shell lines that make it usable, in order, safe to put into a job script."""
    prefix: str | None = None
    executable: str | None = None


class Packages(Model):
    """Installed packages that answer to one name."""

    packages: tuple[Package, ...] = ()
    similar: tuple[str, ...] = Field(default=(), max_length=20)
    """Names nearby, when there is no such package."""


class ContainerImage(Model):
    """An image at hand."""

    name: str
    bytes: NonNegativeInt | None = None
    path: str | None = None


class ContainerRuntime(Model):
    """A container runtime and whether it works now."""

    runtime: str
    version: str | None = None
    usable: Truth = Truth.UNKNOWN
    reason: str = ""
    rootless: Truth = Truth.UNKNOWN
    images: tuple[ContainerImage, ...] | None = None


class FileSystem(Model):
    """A mounted file system, or an object store endpoint."""

    mount: str
    kind: str
    source: str | None = None
    size_bytes: NonNegativeInt | None = None
    free_bytes: NonNegativeInt | None = None
    quota_bytes: NonNegativeInt | None = None
    quota_free_bytes: NonNegativeInt | None = None
    writable: Truth = Truth.UNKNOWN
    shared: Truth = Truth.UNKNOWN
    """Whether every node sees it."""
    purge_days: NonNegativeInt | None = None
    healthy: Truth = Truth.UNKNOWN
    reachable: Truth = Truth.UNKNOWN
    """Of an object store: whether its endpoint answers the host that was asked, without credentials."""
    reason: str = ""
    """Why that is so, or is not known."""


class FileSystems(Model):
    """File systems that one provider sees."""

    file_systems: tuple[FileSystem, ...] = ()


class Interface(Model):
    """A network interface or fabric port."""

    name: str
    fabric: str
    up: Truth = Truth.UNKNOWN
    gbit_s: NonNegativeFloat | None = None
    low_latency: Truth = Truth.UNKNOWN
    detail: str = ""


class Interfaces(Model):
    """Interfaces that one provider sees."""

    interfaces: tuple[Interface, ...] = ()


class CpuCluster(Model):
    """Cores of one kind in a processor that has several kinds."""

    model: str | None = None
    sockets: NonNegativeInt | None = None
    cores_per_socket: NonNegativeInt | None = None
    threads_per_core: NonNegativeInt | None = None


class Cpu(Model):
    """Processors of one host (of a site's compute nodes where `hosts` says so)."""

    model: str | None = None
    vendor: str | None = None
    architecture: str | None = None
    microarchitecture: str | None = None
    """archspec's name."""
    sockets: NonNegativeInt | None = None
    cores: NonNegativeInt | None = None
    threads: NonNegativeInt | None = None
    usable: NonNegativeFloat | None = None
    """CPUs that this process may use (affinity and cgroup quota)."""
    features: tuple[str, ...] = ()
    hosts: NonNegativeInt | None = None
    clusters: tuple[CpuCluster, ...] = ()
    """Where there are several kinds of core; empty: one kind."""


class MemoryFacts(Model):
    """Memory of one host."""

    total_bytes: NonNegativeInt | None = None
    available_bytes: NonNegativeInt | None = None
    limit_bytes: NonNegativeInt | None = None
    """cgroup limit, if any."""
    swap_bytes: NonNegativeInt | None = None


class Tenancy(Model):
    """Who else is on a host. Only numbers: nobody's name leaves it."""

    users_logged_in: NonNegativeInt | None = None
    """Different people with a session."""
    sessions: NonNegativeInt | None = None
    users_running: NonNegativeInt | None = None
    """Different people with processes, services left out."""
    others_running: Truth = Truth.UNKNOWN
    """Whether somebody else than this user has processes there: measurements may be disturbed."""
    processes_hidden: Truth = Truth.UNKNOWN
    """Whether users do not see each other's processes (`hidepid`)."""
    load_1m: NonNegativeFloat | None = None
    """Processes that run or wait to, over the last minute."""


class ResourceLimit(Model):
    """A limit that the system sets a user's processes (getrlimit(2)). None: unlimited."""

    name: str
    """As the kernel names it: `open files`, `processes`, `locked memory`."""
    soft: NonNegativeInt | None = None
    hard: NonNegativeInt | None = None
    unit: str = ""


class SecurityPolicy(Model):
    """What a host's policy lets a user do."""

    selinux: Literal["enforcing", "permissive", "disabled"] | None = None
    apparmor: Truth = Truth.UNKNOWN
    fips: Truth = Truth.UNKNOWN
    """Whether only approved ciphers are used."""
    lockdown: str | None = None
    """The kernel's lockdown mode: `none`, `integrity`, `confidentiality`."""
    user_namespaces: Truth = Truth.UNKNOWN
    """Whether this user may make them: containers without root need them."""
    user_namespaces_reason: str = ""
    in_user_namespace: Truth = Truth.UNKNOWN
    """Whether this user is inside one already (a container)."""
    no_new_privileges: Truth = Truth.UNKNOWN
    """Whether setuid programs have no effect here."""
    system_calls_filtered: Truth = Truth.UNKNOWN
    login_needs_job: Truth = Truth.UNKNOWN
    """Whether one may log in only while a job of one's own runs there (pam_slurm_adopt and the like)."""
    limits: tuple[ResourceLimit, ...] = ()


class MpiLibrary(Model):
    """An installed MPI."""

    implementation: str
    version: str | None = None
    launcher: str | None = None
    fabrics: tuple[str, ...] | None = None
    load: tuple[str, ...] = ()
    path: str | None = None


class MpiLibraries(Model):
    """MPI libraries that one provider sees."""

    libraries: tuple[MpiLibrary, ...] = ()
