"""What a job is charged for: what it asks, or the whole of its nodes where it shares them with nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from dragoman.facts import NodeGroup
from dragoman.kleene import sum_of
from dragoman.shape import Shape
from graph.verdict.demand import Demand, gpus_per_node

__all__ = ["Taken", "taken_by", "taken_together"]


@dataclass(frozen=True, slots=True)
class Taken:
    """Amounts of a whole job; None: not known."""

    nodes: int
    cores: int | None
    gpus: int | None


def taken_by(shape: Shape, demand: Demand, groups: Sequence[NodeGroup], whole: bool) -> Taken:
    """The most that the demand takes on nodes of these kinds.

    Args:
        shape: which may want its nodes for itself.
        demand: as it is laid on them.
        groups: the kinds that may hold it, their CPUs counted as the request counts.
        whole: whether nodes go to one job only in any case. A job that is alone on them has all that is on them.

    """
    if not whole and shape.exclusive is not True:
        return Taken(demand.nodes, demand.total_cores, demand.total_gpus)
    cores = [None if each.cpus_per_node is None else ceil(each.cpus_per_node * demand.cores_for_one) for each in groups]
    gpus = [gpus_per_node(each) for each in groups]
    return Taken(demand.nodes, _most(cores, demand.nodes), _most(gpus, demand.nodes))


def taken_together(parts: Sequence[Taken | None]) -> Taken | None:
    """All parts of one job; None where a part is not known."""
    known = [each for each in parts if each is not None]
    if len(known) < len(parts):
        return None
    return Taken(
        nodes=sum(each.nodes for each in known),
        cores=sum_of(each.cores for each in known),
        gpus=sum_of(each.gpus for each in known),
    )


def _most(amounts: Sequence[int | None], nodes: int) -> int | None:
    known = [each for each in amounts if each is not None]
    return max(known, default=0) * nodes if len(known) == len(amounts) else None
