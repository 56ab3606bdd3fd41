"""A shape in the units of Flux: slots, with cores and GPUs of each."""

from __future__ import annotations

import math

from dragoman.errors import BadRequest
from dragoman.shape import Shape

__all__ = ["slots_of"]


def slots_of(shape: Shape) -> tuple[int | None, int | None, int]:
    """Number of slots (None: whole nodes), cores and GPUs of each."""
    nodes, tasks = shape.node_count, shape.task_count
    if tasks is None:
        return _without_tasks(shape, nodes)
    tasks = max(tasks, nodes or 1)
    cores = shape.cpus_per_task
    if cores is None and (shape.cpus_per_node is not None or shape.cpus is not None):
        total = shape.cpus if shape.cpus_per_node is None else shape.cpus_per_node * (nodes or 1)
        cores = -(-(total or 1) // tasks)
    gpus = _all_gpus(shape, tasks, nodes)
    if gpus % tasks == 0:
        return tasks, cores, gpus // tasks
    groups = nodes if nodes is not None and gpus % nodes == 0 else math.gcd(tasks, gpus)
    if nodes is not None and groups % nodes:
        raise BadRequest(f"{gpus} GPUs do not divide over {nodes} nodes", where="gpus", cure="state GPUs per node")
    return groups, -(-tasks // groups) * (cores or 1), gpus // groups


def _all_gpus(shape: Shape, tasks: int, nodes: int | None) -> int:
    if shape.gpus is None:
        return 0
    if shape.gpus.per == "node" and nodes is None and tasks > 1:
        raise BadRequest(
            "GPUs per node, and no nodes are stated", where="gpus", cure="state the nodes, or GPUs per task"
        )
    return shape.gpus.count * {"job": 1, "node": nodes or 1, "task": tasks}[shape.gpus.per]


def _without_tasks(shape: Shape, nodes: int | None) -> tuple[int | None, int | None, int]:
    each = shape.cpus_per_node or shape.cpus_per_task
    if nodes is not None:
        if each is None and shape.cpus is not None:
            each = -(-shape.cpus // nodes)
        gpus = _all_gpus(shape, nodes, nodes)
        if gpus % nodes:
            raise BadRequest(f"{gpus} GPUs do not divide over {nodes} nodes", where="gpus", cure="state GPUs per node")
        return (nodes if each is not None or gpus else None), each, gpus // nodes
    if shape.gpus is not None and shape.gpus.per == "job":
        return shape.gpus.count, -(-(shape.cpus or each or 1) // shape.gpus.count), 1
    if each is None and shape.cpus is not None and shape.gpus is None:
        return shape.cpus, None, 0
    return 1, each or shape.cpus, _all_gpus(shape, 1, None)
