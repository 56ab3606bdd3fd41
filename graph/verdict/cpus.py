"""Cores and hardware threads: what a request counts, held against what a scheduler counts."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Literal

from dragoman.facts import NodeGroup
from dragoman.model import JsonObject
from dragoman.request import JobRequest
from dragoman.shape import Shape

__all__ = ["COUNTED", "CpuUnit", "as_counted", "cpus_for_one", "cpus_stated", "in_cpus", "unit_of"]

CpuUnit = Literal["cores", "threads", "native"]
"""What the counts of a shape count; `native`: what the scheduler of the site counts."""

COUNTED = "cpus_for_one"
"""Of a proposal's constraints: CPUs of the scheduler for each one that the request counts, where that is not one."""


def unit_of(request: JobRequest, shape: Shape, scheduler: str) -> CpuUnit:
    """Cores, unless threads are asked; a script written for this scheduler counts as it does."""
    if shape.cpus_are is not None:
        return shape.cpus_are
    return "native" if request.script_dialect == scheduler else "cores"


def cpus_for_one(group: NodeGroup, unit: CpuUnit) -> Fraction:
    """CPUs of the scheduler that one core or thread is on these nodes; 1 where the scheduler does not tell of cores."""
    if unit == "native" or not group.cpus_per_node or not group.cores_per_node:
        return Fraction(1)
    if unit == "cores":
        return Fraction(group.cpus_per_core)
    return Fraction(1, max((group.threads_per_core or 1) // group.cpus_per_core, 1))


def as_counted(group: NodeGroup, unit: CpuUnit) -> NodeGroup:
    """The same nodes with their CPUs counted as the request counts."""
    one = cpus_for_one(group, unit)
    if one == 1:
        return group
    names = ("cpus_per_node", "cpus_free", "largest_free_cpus")
    amounts = {name: getattr(group, name) for name in names}
    counted = {name: None if amount is None else int(amount / one) for name, amount in amounts.items()}
    if unit == "cores":  # a node may have fewer CPUs than its threads
        counted["cpus_per_node"] = group.cores_per_node
    shares = group.free_shares and tuple(
        share.model_copy(update={"cpus": int(share.cpus / one)}) for share in group.free_shares
    )
    return group.model_copy(update={**counted, "free_shares": shares})


def in_cpus(shape: Shape, one: Fraction) -> Shape:
    """The shape with its CPUs counted as the scheduler counts: to be asked for, not to be compared."""
    if one == 1:
        return shape
    fields: dict[str, object] = {
        name: ceil(count * one)
        for name in ("cpus_per_task", "cpus_per_node", "cpus")
        if (count := getattr(shape, name)) is not None
    }
    if not fields and shape.task_count is not None and one > 1:
        fields["cpus_per_task"] = ceil(one)  # a core for each task
    if fields and shape.memory is not None and shape.memory.per == "cpu":
        fields["memory"] = shape.memory.model_copy(update={"bytes": max(ceil(shape.memory.bytes / one), 1)})
    return shape.model_copy(update=fields)


def cpus_stated(constraints: JsonObject) -> Fraction:
    """What `COUNTED` says in a proposal's constraints."""
    found = constraints.get(COUNTED)
    return Fraction(found).limit_denominator(64) if isinstance(found, int | float) and found > 0 else Fraction(1)
