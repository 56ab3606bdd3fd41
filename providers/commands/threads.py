"""Variables that tell programs how many threads each task has."""

from __future__ import annotations

from collections.abc import Collection

from dragoman.request import EnvironmentVariable
from dragoman.shape import Shape

__all__ = ["thread_variables"]


def thread_variables(shape: Shape, stated: Collection[str]) -> tuple[EnvironmentVariable, ...]:
    """OMP_NUM_THREADS where the cores of a task follow from the shape, and nobody has set it.

    MKL, OpenBLAS and BLIS read it too where their own variable is not set. Nothing is set where cores are not stated:
    what a program takes then is its own affair.
    """
    cores = shape.cpus_per_task
    if cores is None and (shape.task_count or 1) == 1 and (shape.node_count or 1) == 1:
        cores = shape.cpus or shape.cpus_per_node
    if cores is None or "OMP_NUM_THREADS" in stated:
        return ()
    return (EnvironmentVariable(name="OMP_NUM_THREADS", value=str(cores)),)
