"""The shape of a job: how many nodes, tasks, CPUs and GPUs, how much memory, and per what."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from dragoman.model import Model

__all__ = ["Gpus", "Memory", "Shape"]


class Memory(Model):
    """An amount of memory, and what it is counted per."""

    bytes: PositiveInt
    per: Literal["node", "task", "cpu", "gpu", "job"]


class Gpus(Model):
    """A number of GPUs, what it is counted per, and which will do."""

    count: PositiveInt
    per: Literal["node", "task", "job"]
    model: str | None = Field(default=None, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._\-]*$")
    """Model as the field names it, lower case, such as `a100` or `mi250x`; None: any."""
    memory_bytes: PositiveInt | None = None
    """At least this much memory on each GPU."""
    vendor: Literal["nvidia", "amd", "intel"] | None = None


class Shape(Model):
    """What one job, or one component of a heterogeneous job, is made of. None: not stated."""

    nodes: PositiveInt | None = None
    nodes_max: PositiveInt | None = None
    """Upper end of a range of nodes; `nodes` is its lower end."""
    tasks: PositiveInt | None = None
    """MPI ranks or processes of the whole job."""
    tasks_per_node: PositiveInt | None = None
    cpus_per_task: PositiveInt | None = None
    """CPUs of each task; see `cpus_are`."""
    cpus_per_node: PositiveInt | None = None
    cpus: PositiveInt | None = None
    """Cores of the whole job, where tasks are not stated."""
    cpus_are: Literal["cores", "threads"] | None = None
    """What the counts of CPUs count: physical cores, or hardware threads. None: cores, but in a job script what its
    scheduler counts."""
    gpus: Gpus | None = None
    memory: Memory | None = None
    local_disk_bytes: PositiveInt | None = None
    """Free space on each node's own disk."""
    exclusive: bool | None = None
    constraint: str | None = Field(default=None, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")
    """Node features, in the scheduler's own expression."""

    @model_validator(mode="after")
    def _range(self) -> Shape:
        if self.nodes_max is not None and self.nodes_max < (self.nodes or 1):
            raise ValueError("nodes_max is smaller than nodes")
        return self

    @property
    def node_count(self) -> int | None:
        """Nodes as stated, or implied by tasks and tasks per node."""
        if self.nodes is not None:
            return self.nodes
        if self.tasks is not None and self.tasks_per_node is not None:
            return -(-self.tasks // self.tasks_per_node)
        return None

    @property
    def task_count(self) -> int | None:
        """Tasks as stated, or implied by nodes and tasks per node."""
        if self.tasks is not None:
            return self.tasks
        if self.nodes is not None and self.tasks_per_node is not None:
            return self.nodes * self.tasks_per_node
        return None

    @property
    def total_cpus(self) -> int | None:
        """Cores of the whole job as far as stated; None where only the site can tell (whole nodes)."""
        if self.cpus is not None:
            return self.cpus
        if self.cpus_per_node is not None and self.node_count is not None:
            return self.cpus_per_node * self.node_count
        if self.task_count is not None:
            return self.task_count * (self.cpus_per_task or 1)
        if self.cpus_per_task is not None:
            return self.cpus_per_task * (self.nodes or 1)
        return None

    @property
    def total_gpus(self) -> int | None:
        """GPUs of the whole job; 0 where none are asked for, None where the total depends on something not stated."""
        if self.gpus is None:
            return 0
        factor = {"job": 1, "node": self.node_count or 1, "task": self.task_count or 1}[self.gpus.per]
        return self.gpus.count * factor

    def memory_bytes_per_node(self, nodes: int, cpus_per_node: int, gpus_per_node: int) -> int | None:
        """Memory asked of each node when the job lies on `nodes` nodes; None where none is stated."""
        if self.memory is None:
            return None
        tasks = self.tasks_per_node or -(-(self.task_count or nodes) // nodes)
        factor = {"node": 1.0, "task": tasks, "cpu": cpus_per_node, "gpu": gpus_per_node, "job": 1 / nodes}
        return round(self.memory.bytes * factor[self.memory.per])
