"""Queues, nodes and queue depth of a Flux instance (flux-queue(1), flux-resource(1), RFC 20 resource sets)."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.kleene import Truth
from providers.schedulers.flux_read import ANONYMOUS
from providers.schedulers.flux_values import read_duration, read_idset
from providers.schedulers.free_shares import counted_shares
from providers.schedulers.hostlist import expand_hostlist

__all__ = [
    "DEPTH_FORMAT",
    "QUEUE_FORMAT",
    "Rank",
    "group_nodes",
    "read_depth",
    "read_queues",
    "read_ranks",
    "read_requires",
]

QUEUE_FORMAT: Final = "|".join(
    ("{queue}", "{queuem}", "{enabled.ascii}", "{started.ascii}", "{defaults.timelimit!F}", "{limits.timelimit!F}",
     "{limits.range.nnodes}", "{limits.range.ncores}", "{limits.range.ngpus}")
)  # fmt: skip
"""For `flux queue list -no`; `.ascii`, because the signs come with colours, terminal or not."""
DEPTH_FORMAT: Final = "{queue}|{state}"


class Rank(NamedTuple):
    """One node of a resource set."""

    host: str
    cores: int
    gpus: int
    properties: frozenset[str]


def read_ranks(text: str) -> dict[int, Rank] | None:
    """Nodes by rank of `flux resource R`; None where it cannot be read."""
    try:
        execution = json.loads(text[text.index("{") :])["execution"]
        sets = [(read_idset(each["rank"]), each.get("children", {})) for each in execution["R_lite"]]
        hosts = [name for part in execution.get("nodelist", ()) for name in expand_hostlist(str(part))]
        named = {str(name): read_idset(str(ranks)) or [] for name, ranks in execution.get("properties", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if any(ranks is None or not isinstance(children, dict) for ranks, children in sets):
        return None
    properties: dict[int, set[str]] = defaultdict(set)
    for name, members in named.items():
        for rank in members:
            properties[rank].add(name)
    order = sorted(rank for ranks, _ in sets for rank in ranks or ())
    names = dict(zip(order, hosts, strict=False))
    return {
        rank: Rank(
            names.get(rank, f"rank{rank}"), _size(children.get("core")), _size(children.get("gpu")),
            frozenset(properties[rank]),
        )
        for ranks, children in sets
        for rank in ranks or ()
    }  # fmt: skip


def _size(ids: object) -> int:
    return len(read_idset(str(ids)) or ()) if ids is not None else 0


def read_requires(text: str | None) -> dict[str, frozenset[str]] | None:
    """The properties that each queue asks of its nodes, of `flux config get`; None where that is not told."""
    try:
        queues = json.loads(text or "")["queues"]
        # A virtual queue (RFC 33) has the nodes of its parent.
        own = {str(name): queues[queue["parent"]] if "parent" in queue else queue for name, queue in queues.items()}
        return {name: frozenset(map(str, queue.get("requires", ()))) for name, queue in own.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def group_nodes(
    ranks: Mapping[int, Rank],
    free: Mapping[int, Rank] | None,
    down: Mapping[int, Rank] | None,
    queues: Sequence[str],
    requires: Mapping[str, frozenset[str]] | None,
) -> tuple[NodeGroup, ...]:
    """Alike nodes together. Flux does not know of memory."""
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for rank, node in ranks.items():
        alike[node.cores, node.gpus, node.properties].append(rank)
    return tuple(
        _group([(rank, ranks[rank]) for rank in members], free, down, queues, requires) for members in alike.values()
    )


def _group(
    members: list[tuple[int, Rank]],
    free: Mapping[int, Rank] | None,
    down: Mapping[int, Rank] | None,
    queues: Sequence[str],
    requires: Mapping[str, frozenset[str]] | None,
) -> NodeGroup:
    first = members[0][1]
    left = (
        [free.get(rank, Rank(node.host, 0, 0, node.properties)) for rank, node in members] if free is not None else None
    )
    return NodeGroup(
        queues=_leading_here(first, queues, requires),
        nodes=len(members),
        nodes_up=sum(rank not in down for rank, _ in members) if down is not None else None,
        nodes_idle=sum((each.cores, each.gpus) == (first.cores, first.gpus) for each in left)
        if left is not None
        else None,
        cpus_per_node=first.cores,
        cores_per_node=first.cores,  # Flux gives out cores, as hwloc finds them
        cpus_free=sum(each.cores for each in left) if left is not None else None,
        largest_free_cpus=max(each.cores for each in left) if left is not None else None,
        free_shares=counted_shares(
            FreeShare(cpus=each.cores, gpus=(each.gpus,) if first.gpus else ())
            for (rank, _), each in zip(members, left, strict=True)
            if down is None or rank not in down
        )
        if left is not None
        else None,
        gpus=(Gpu(count=first.gpus, free=sum(each.gpus for each in left) if left is not None else None),)
        if first.gpus
        else (),
        features=tuple(sorted(first.properties)),
        example=first.host,
    )


def _leading_here(node: Rank, queues: Sequence[str], requires: Mapping[str, frozenset[str]] | None) -> tuple[str, ...]:
    """Empty: every queue. Without the configuration a queue is taken to ask for the property of its own name."""
    if requires is None:
        named = {name for name in queues if name in node.properties}
        leading = [name for name in queues if name in named] if named else list(queues)
    else:
        leading = [name for name in queues if requires.get(name, frozenset()) <= node.properties]
    if len(leading) == len(queues):
        return ()
    return tuple(leading) or ("-",)  # no queue leads there


def read_queues(
    text: str, depth: Counter[tuple[str, str]] | None, groups: Sequence[NodeGroup] | None
) -> tuple[Queue, ...] | None:
    """Queues of `flux queue list -no QUEUE_FORMAT`; None where a row is not in that format."""
    rows = [line.split("|") for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != 9 for row in rows):
        return None
    return tuple(_queue(row, depth, groups, only=len(rows) == 1) for row in rows)


def _queue(
    row: list[str], depth: Counter[tuple[str, str]] | None, groups: Sequence[NodeGroup] | None, *, only: bool
) -> Queue:
    name, marked, enabled, started, usual, longest, nodes, cores, gpus = (field.strip() for field in row)
    most, default = read_duration(longest), read_duration(usual)
    usable, reason = Truth.YES, ""
    if enabled != "y":
        usable, reason = Truth.NO, "submission to the queue is disabled"
    elif started != "y":
        usable, reason = Truth.NO, "scheduling of the queue is stopped"
    mine = [each for each in groups or () if not each.queues or name in each.queues]
    idle = [each.nodes_idle for each in mine if each.nodes_idle is not None]
    limited = most is not None and math.isfinite(most) and most > 0
    return Queue(
        name=name or ANONYMOUS,
        usable=usable,
        reason=reason,
        default=marked.endswith("*") or (only and not name),
        default_walltime_s=math.ceil(default) if default and math.isfinite(default) else None,
        max_walltime_s=math.ceil(most) if limited and most is not None else None,
        walltime_unlimited=most is not None and not limited,
        min_nodes=_bound(nodes, 0) or None,
        max_nodes=_bound(nodes, 1),
        max_cpus_per_job=_bound(cores, 1),
        max_gpus_per_job=_bound(gpus, 1),
        jobs_pending=_waiting(depth, name) if depth is not None else None,
        jobs_running=sum(
            count for (queue, state), count in depth.items() if queue == name and state in ("RUN", "CLEANUP")
        )
        if depth is not None
        else None,
        nodes_total=sum(each.nodes or 0 for each in mine) if groups is not None else None,
        nodes_idle=sum(idle) if groups is not None and len(idle) == len(mine) else None,
    )


def _waiting(depth: Counter[tuple[str, str]], name: str) -> int:
    waiting = ("DEPEND", "PRIORITY", "SCHED")
    return sum(count for (queue, state), count in depth.items() if queue == name and state in waiting)


def _bound(text: str, which: int) -> int | None:
    """One end of `0-3` or `0-inf`; None where there is no bound."""
    parts = text.split("-")
    word = parts[which] if len(parts) == 2 else ""
    return int(word) if word.isascii() and word.isdigit() else None


def read_depth(text: str) -> Counter[tuple[str, str]] | None:
    """Jobs by queue and state of `flux jobs -Ano DEPTH_FORMAT`; None where a row is not in that format."""
    rows = [tuple(line.strip().rsplit("|", 1)) for line in text.splitlines() if line.strip()]
    if any(len(row) != 2 for row in rows):
        return None
    return Counter((row[0], row[1]) for row in rows)
