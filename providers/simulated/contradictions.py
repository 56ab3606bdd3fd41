"""What cannot be true of a simulated state: more free than there is, one thing described twice, a GPU of nobody's.

Answered from, such a state would drop a part silently or tell of a site that cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.facts import Gpu, NodeGroup, Queue, Workload
from dragoman.model import Model
from dragoman.units import MOST_AMOUNT
from providers.misspelt import Misspelt, described_twice
from providers.simulated.state import SimulatedState

__all__ = ["contradiction"]

_Loc = tuple[int | str, ...]
_AT_MOST: dict[str, tuple[tuple[str, str], ...]] = {
    "groups": (
        ("nodes_up", "nodes"), ("nodes_idle", "nodes_up"), ("nodes_idle", "nodes"),
        ("largest_free_cpus", "cpus_per_node"), ("largest_free_cpus", "cpus_free"),
        ("memory_free_bytes", "memory_bytes_per_node"),
    ),
    "queues": (
        ("nodes_idle", "nodes_total"), ("min_nodes", "max_nodes"), ("default_walltime_s", "max_walltime_s"),
    ),
    "file_systems": (("free_bytes", "size_bytes"), ("quota_free_bytes", "quota_bytes")),
    "gpus": (("free", "count"),),
    "cpu": (("sockets", "cores"), ("cores", "threads"), ("usable", "threads")),
    "memory": (("available_bytes", "total_bytes"),),
    "tenancy": (("users_logged_in", "sessions"),),
}  # fmt: skip
"""Of each part: fields that are never more than another one."""
_FIRST_WORD = re.compile(r"\s*(nvidia|amd|intel)\b", re.IGNORECASE)


def contradiction(state: SimulatedState, scheduler: str) -> Misspelt | None:
    """The first part that contradicts another one or the site; places count from the state.

    Args:
        state: of the site.
        scheduler: the site's.

    """
    workload = state.workload
    if workload is not None and workload.scheduler != scheduler:
        what = f"{workload.scheduler!r} is not the scheduler of the site, {scheduler!r}"
        return Misspelt(("workload", "scheduler"), what, f"write {scheduler}")
    return next(_all(state), None)


def _all(state: SimulatedState) -> Iterator[Misspelt]:
    yield from _beyond((), state.model_dump(exclude_defaults=True, exclude={"packages"}))
    for loc, table, part in _parts(state):
        yield from _too_much(loc, part, table)
    for number, gpu in enumerate(state.gpus):
        yield from _of_nobody(("gpus", number), gpu)
    if state.workload is not None:
        yield from _in_groups(state.workload)
    yield from _twice(state)


def _beyond(loc: _Loc, value: object) -> Iterator[Misspelt]:
    if isinstance(value, int) and value > MOST_AMOUNT:
        yield Misspelt(loc, f"{value} is more than any site has", f"write at most {MOST_AMOUNT}")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _beyond((*loc, key), part)
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from _beyond((*loc, number), part)


def _parts(state: SimulatedState) -> Iterator[tuple[_Loc, str, Model]]:
    if state.workload is not None:
        for number, group in enumerate(state.workload.groups or ()):
            yield ("workload", "groups", number), "groups", group
        for number, queue in enumerate(state.workload.queues or ()):
            yield ("workload", "queues", number), "queues", queue
    for number, storage in enumerate(state.file_systems):
        yield ("file_systems", number), "file_systems", storage
    for number, gpu in enumerate(state.gpus):
        yield ("gpus", number), "gpus", gpu
    for name in ("cpu", "memory", "tenancy"):
        if (part := getattr(state, name)) is not None:
            yield (name,), name, part


def _too_much(loc: _Loc, part: Model, table: str) -> Iterator[Misspelt]:
    for less, more in _AT_MOST[table]:
        small, large = getattr(part, less), getattr(part, more)
        if small is not None and large is not None and small > large:
            yield _more((*loc, less), small, large, more)


def _more(loc: _Loc, small: float, large: float, what: str) -> Misspelt:
    return Misspelt(loc, f"{loc[-1]} is {small}, and {what} only {large}", f"write at most {large}")


def _of_nobody(loc: _Loc, gpu: Gpu) -> Iterator[Misspelt]:
    if gpu.vendor is None:
        what = f"whose GPU {gpu.model!r} is cannot be seen" if gpu.model else "a GPU without vendor and model"
        yield Misspelt((*loc, "vendor"), what, "add vendor: nvidia, amd or intel")
    elif gpu.model and (word := _FIRST_WORD.match(gpu.model)) and word[1].lower() != gpu.vendor:
        yield Misspelt((*loc, "vendor"), f"{gpu.model!r} is not of {gpu.vendor}", f"write {word[1].lower()}")


def _in_groups(workload: Workload) -> Iterator[Misspelt]:
    groups = workload.groups or ()
    for number, group in enumerate(groups):
        loc: _Loc = ("workload", "groups", number)
        nodes = group.nodes_up if group.nodes_up is not None else group.nodes
        yield from _in_shares((*loc, "free_shares"), group, nodes)
        if nodes is None:
            continue
        if group.cpus_free is not None and group.cpus_per_node is not None:
            most = nodes * group.cpus_per_node
            if group.cpus_free > most:
                yield _more((*loc, "cpus_free"), group.cpus_free, most, f"{nodes} x cpus_per_node")
        for kind, gpu in enumerate(group.gpus or ()):
            if gpu.free is not None and gpu.count is not None and gpu.free > gpu.count * nodes:
                yield _more((*loc, "gpus", kind, "free"), gpu.free, gpu.count * nodes, f"{nodes} x count")
    for number, queue in enumerate(workload.queues or ()):
        there = _nodes_behind(queue, groups)
        if there is not None and queue.nodes_idle is not None and queue.nodes_idle > there:
            place = ("workload", "queues", number, "nodes_idle")
            yield _more(place, queue.nodes_idle, there, "the nodes of its groups")


def _in_shares(loc: _Loc, group: NodeGroup, nodes: int | None) -> Iterator[Misspelt]:
    kinds = group.gpus or ()
    for number, share in enumerate(group.free_shares or ()):
        place = (*loc, number)
        if group.cpus_per_node is not None and share.cpus > group.cpus_per_node:
            yield _more((*place, "cpus"), share.cpus, group.cpus_per_node, "cpus_per_node")
        memory = group.memory_bytes_per_node
        if memory is not None and share.memory_bytes is not None and share.memory_bytes > memory:
            yield _more((*place, "memory_bytes"), share.memory_bytes, memory, "memory_bytes_per_node")
        if share.gpus is not None and len(share.gpus) != len(kinds):
            what = f"gpus tells of {len(share.gpus)} kinds, and the group has {len(kinds)}"
            yield Misspelt((*place, "gpus"), what, "write one number for each kind, in their order")
    total = sum(share.nodes for share in group.free_shares or ())
    if nodes is not None and total > nodes:
        yield Misspelt(loc, f"its shares are of {total} nodes, and the group has {nodes}", f"write at most {nodes}")


def _nodes_behind(queue: Queue, groups: tuple[NodeGroup, ...]) -> int | None:
    mine = [group.nodes for group in groups if not group.queues or queue.name in group.queues]
    known = [nodes for nodes in mine if nodes is not None]
    return sum(known) if mine and len(known) == len(mine) else None


def _twice(state: SimulatedState) -> Iterator[Misspelt]:
    queues = (state.workload.queues if state.workload is not None else None) or ()
    found = (
        described_twice(("accounts",), "name", [each.name for each in state.accounts]),
        described_twice(("containers",), "runtime", [each.runtime for each in state.containers]),
        described_twice(("file_systems",), "mount", [each.mount for each in state.file_systems]),
        described_twice(("interfaces",), "name", [f"{each.name} ({each.fabric})" for each in state.interfaces]),
        described_twice(("workload", "queues"), "name", [each.name for each in queues]),
    )
    yield from (each for each in found if each is not None)
