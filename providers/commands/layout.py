"""How many tasks a command is started on, and what each of them has, as far as launchers must be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.shape import Shape

__all__ = ["Layout", "layout_of"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Counts of one job; None: not stated, and up to scheduler and launcher."""

    tasks: int
    nodes: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    cpus: int | None = None
    """Cores of the whole job."""
    gpus_per_task: int | None = None
    gpus_per_node: int | None = None
    gpus: int = 0
    vendor: Literal["nvidia", "amd", "intel"] | None = None
    """Of the GPUs, where it is known."""
    processes_per_node: int | None = None
    """That one task of a node starts by itself."""
    shared: bool = False
    """There are fewer cores than tasks, and tasks share them."""

    @property
    def several_nodes(self) -> bool:
        """Whether tasks may lie on more than one node. Not stated: they may, where there is more than one task."""
        return self.tasks > 1 if self.nodes is None else self.nodes > 1


def layout_of(shape: Shape, *, shared: bool = False) -> Layout:
    """The layout of a shape. Nodes without tasks: one task a node."""
    tasks, nodes = shape.task_count, shape.node_count
    if tasks is None:
        tasks = nodes or 1
    per_node = shape.tasks_per_node
    if per_node is None and nodes is not None and tasks % nodes == 0:
        per_node = tasks // nodes
    gpus = shape.gpus
    per_task = gpus.count if gpus is not None and gpus.per == "task" else None
    on_node = None
    if gpus is not None:
        whole = gpus.count % (nodes or 1) == 0 and (nodes is not None or tasks == 1)
        on_node = {
            "node": gpus.count,
            "task": gpus.count * per_node if per_node is not None else gpus.count if tasks == 1 else None,
            "job": gpus.count // (nodes or 1) if whole else None,
        }[gpus.per]
    return Layout(
        tasks=tasks,
        nodes=nodes,
        tasks_per_node=per_node,
        cpus_per_task=shape.cpus_per_task,
        cpus=shape.total_cpus,
        gpus_per_task=per_task,
        gpus_per_node=on_node,
        gpus=shape.total_gpus or 0,
        vendor=gpus.vendor if gpus is not None else None,
        shared=shared,
    )
