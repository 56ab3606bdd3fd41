"""Components of one heterogeneous job are needed at once: whether the nodes hold them beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from dragoman.facts import NodeGroup, Queue
from dragoman.kleene import Truth, sum_of
from dragoman.shape import Shape
from dragoman.units import counted
from graph.verdict.demand import Demand
from graph.verdict.free import idle_nodes, idle_of

__all__ = ["Laid", "hold_together", "start_together"]


@dataclass(frozen=True, slots=True)
class Laid:
    """One component, and the groups of the queue, by their place, that can hold it."""

    shape: Shape
    demand: Demand
    start: Truth
    """Alone."""
    sure: tuple[int, ...]
    able: tuple[int, ...]
    """Surely or perhaps."""


def hold_together(laid: Sequence[Laid], groups: Sequence[NodeGroup], whole_nodes: bool) -> tuple[Truth, str]:
    """Whether the queue's nodes hold all components, each on nodes of its own, and why not.

    Slurm's backfill scheduler has to find different nodes for the components before it starts one (Slurm's manual,
    "Heterogeneous Job Support", limitations). Components that state no nodes may still come to share some.
    """
    nodes = [group.nodes for group in groups]
    if _met([(one.demand.nodes, one.sure) for one in laid], [count or 0 for count in nodes]):
        return Truth.YES, ""
    stated = [one for one in laid if whole_nodes or one.shape.exclusive or one.shape.node_count is not None]
    asked = sum(one.demand.nodes for one in stated)
    if not _met([(one.demand.nodes, one.able) for one in stated], nodes):
        return Truth.NO, f"{_there(nodes)} for its components together, asked {asked} at once"
    cpus = [(ceil(one.demand.total_cpus * one.demand.cpus_for_one), one.able) for one in laid]
    there = [_times(group.nodes, group.cpus_per_node) for group in groups]
    if not _met(cpus, there):
        return Truth.NO, f"not enough CPUs for its components together, asked {sum(each for each, _ in cpus)} at once"
    gpus = [(one.demand.total_gpus, one.able) for one in laid]
    if not _met(gpus, [_times(group.nodes, _gpus(group)) for group in groups]):
        return Truth.NO, f"not enough GPUs for its components together, asked {sum(each for each, _ in gpus)} at once"
    every = sum(one.demand.nodes for one in laid)
    return Truth.UNKNOWN, f"{_there(nodes)} for components that take {every}, unless some of them share a node"


def start_together(
    laid: Sequence[Laid], groups: Sequence[NodeGroup], queue: Queue, whole_nodes: bool
) -> tuple[Truth, str]:
    """Whether all components can start at once on what is free, and what is free where they cannot."""
    wants = [(one.demand.nodes, one.sure) for one in laid]
    asked = sum(amount for amount, _ in wants)
    least, most = ([_idle(laid, place, group, which) for place, group in enumerate(groups)] for which in (min, max))
    short = queue.nodes_idle is not None and queue.nodes_idle < asked
    if not short and _met(wants, [count or 0 for count in least]):
        return Truth.YES, ""
    free = idle_nodes(groups, queue)
    words = "" if free is None or free >= asked else f"{counted(free, 'node')} free, asked {asked} at once"
    if any(one.start is Truth.NO for one in laid):
        return Truth.NO, words
    may_share = [one for one in laid if one.demand.nodes == 1 and not one.shape.exclusive and not whole_nodes]
    alone = [one for one in laid if one not in may_share]
    if sum(one.demand.nodes for one in alone) > (queue.nodes_idle if queue.nodes_idle is not None else asked):
        return Truth.NO, words
    if not _met([(one.demand.nodes, one.able) for one in alone], most):
        return Truth.NO, words
    return Truth.UNKNOWN, words


def _idle(laid: Sequence[Laid], place: int, group: NodeGroup, which: Callable[[list[int]], int]) -> int | None:
    """Idle nodes of a group that each of the components (`min`), or any (`max`), could have."""
    told = [idle_of(one.shape, one.demand, group) for one in laid if place in one.able]
    known = [each for each in told if each is not None]
    if len(known) < len(told):
        return None
    return which(known) if known else 0


def _met(wants: Sequence[tuple[int, Sequence[int]]], stocks: Sequence[int | None]) -> bool:
    """Whether every amount can be taken from the stocks that it may take from. None: as much as anybody wants."""
    everything = sum(amount for amount, _ in wants)
    left = [everything if stock is None else stock for stock in stocks]
    taken = [dict.fromkeys(places, 0) for _, places in wants]
    for who, (amount, _) in enumerate(wants):
        while amount:
            path = _path(who, taken, left)
            if path is None:
                return False
            spare = min([amount, left[path[-1][1]], *(taken[one][place] for one, place in _given_up(path))])
            for one, place in path:
                taken[one][place] += spare
            for one, place in _given_up(path):
                taken[one][place] -= spare
            left[path[-1][1]] -= spare
            amount -= spare
    return True


def _given_up(path: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What the later ones along the path leave to those before them."""
    return [(then[0], place) for (_, place), then in pairwise(path)]


def _path(who: int, taken: Sequence[dict[int, int]], left: Sequence[int]) -> list[tuple[int, int]] | None:
    """Who takes from which stock, each step but the last from another who goes on to a stock of his own."""
    paths: list[list[tuple[int, int]]] = [[(who, place)] for place in taken[who]]
    seen = set(taken[who])
    for path in paths:
        place = path[-1][1]
        if left[place] > 0:
            return path
        for other, has in enumerate(taken):
            if has.get(place):
                paths += [[*path, (other, then)] for then in has if then not in seen]
                seen |= set(has)
    return None


def _there(nodes: Sequence[int | None]) -> str:
    total = sum_of(nodes)
    return "too few nodes" if total is None else counted(total, "node")


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other


def _gpus(group: NodeGroup) -> int | None:
    if group.gpus is None:
        return None
    counts = [kind.count for kind in group.gpus]
    return None if None in counts else sum(count or 0 for count in counts)
